/* SPDX-License-Identifier: MIT
 *
 * options.c - see options.h.
 *
 * Dropped: getopt_long, which does not suggest what was meant and cannot share its table with help and
 * completion.
 */
#include "options.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

struct parser {
	const struct nm_command *command;
	char *into;
	char **next; /* the next argument */
	int status;
};

int nm_usage(const struct nm_command *command, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	nm_message("%s (see nearmiss %s --help)", text, command->name);
	return NM_STATUS_USAGE;
}

const char *nm_option_choices(const struct nm_command *command, const struct nm_option *option)
{
	static char list[400];
	const char *word, *summary = NULL;
	size_t n = 0;

	if (option->choices || option->kind != NM_OPTION_CHOICE)
		return option->choices;
	for (unsigned i = 0; (word = command->formats(i, &summary)) && n < sizeof list; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? "|" : "", word);
	assert(n < sizeof list);
	return list;
}

/* Which of "a|b|c" a word is, or -1. */
static int choice_index(const char *choices, const char *word)
{
	size_t n = strlen(word), length;
	int i;

	for (i = 0; *choices; i++, choices += length + (choices[length] != '\0')) {
		length = strcspn(choices, "|");
		if (length == n && !strncmp(choices, word, n))
			return i;
	}
	return -1;
}

static int parse_number(const char *text, int64_t *ret_number)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || *end || errno || value < 0)
		return -1;
	*ret_number = value;
	return 0;
}

static int add_value(struct parser *parser, struct nm_option_list *list, const char *shown, const char *value)
{
	if (list->count == NM_OPTION_LIST_ROOM) {
		parser->status =
		    nm_usage(parser->command, "%s may be given at most %d times", shown, NM_OPTION_LIST_ROOM);
		return -1;
	}
	list->at[list->count++] = value;
	return 0;
}

/* shown: the option as it was typed, for messages. 0, or -1 with the status set. */
static int set_option(struct parser *parser, const struct nm_option *option, const char *shown,
		      const char *value)
{
	void *to = parser->into + option->offset;

	switch (option->kind) {
	case NM_OPTION_FLAG: *(int *)to = 1; return 0;
	case NM_OPTION_CLEAR: *(int *)to = 0; return 0;
	case NM_OPTION_TEXT: *(const char **)to = value; return 0;
	case NM_OPTION_ONCE:
		if (!*(const char **)to) {
			*(const char **)to = value;
			return 0;
		}
		parser->status = nm_usage(parser->command, "%s is given twice: %s and %s", shown,
					  *(const char **)to, value);
		return -1;
	case NM_OPTION_LIST: return add_value(parser, to, shown, value);
	case NM_OPTION_NUMBER:
		if (!parse_number(value, to))
			return 0;
		parser->status = nm_usage(parser->command, "%s takes a number, not \"%s\"", shown, value);
		return -1;
	case NM_OPTION_CHOICE:
		*(int *)to = choice_index(nm_option_choices(parser->command, option), value);
		if (*(int *)to >= 0)
			return 0;
		parser->status = nm_usage(parser->command, "%s takes one of %s, not \"%s\"", shown,
					  nm_option_choices(parser->command, option), value);
		return -1;
	}
	return -1;
}

static int refuse_unknown(struct parser *parser, const char *shown, const char *typed)
{
	const struct nm_command *command = parser->command;
	const char *words[64], *near;
	unsigned i, n = 0;

	for (i = 0; i < command->option_count && n < 62; i++)
		words[n++] = command->options[i].name;
	words[n++] = "help";
	words[n] = NULL;
	near = typed ? nm_nearest(typed, words) : NULL;
	if (near)
		parser->status = nm_usage(command, "unknown option %s: did you mean --%s?", shown, near);
	else
		parser->status = nm_usage(command, "unknown option %s", shown);
	return -1;
}

static int print_help(struct parser *parser)
{
	nm_command_help(parser->command, stdout);
	parser->status = NM_STATUS_OK;
	return -1;
}

static int long_option(struct parser *parser, char *argument)
{
	const char *value = strchr(argument, '=');
	size_t n = value ? (size_t)(value - argument) : strlen(argument);
	char shown[80];
	unsigned i;

	snprintf(shown, sizeof shown, "%.*s", (int)n, argument);
	if (!strcmp(shown, "--help"))
		return print_help(parser);
	for (i = 0; i < parser->command->option_count; i++) {
		const struct nm_option *option = &parser->command->options[i];

		if (strcmp(option->name, shown + 2))
			continue;
		if (value && !option->value) {
			parser->status = nm_usage(parser->command, "%s takes no value", shown);
			return -1;
		}
		if (option->value && !value && !*parser->next) {
			parser->status =
			    nm_usage(parser->command, "%s needs a value: %s", shown, option->value);
			return -1;
		}
		return set_option(parser, option, shown,
				  value           ? value + 1
				  : option->value ? *parser->next++
						  : NULL);
	}
	return refuse_unknown(parser, shown, shown + 2);
}

/* "-n5", "-n 5", "-ab". */
static int short_options(struct parser *parser, const char *letters)
{
	while (*letters) {
		const struct nm_option *option = NULL;
		char shown[3] = {'-', *letters++, '\0'};
		const char *value = NULL;
		unsigned i;

		if (shown[1] == 'h')
			return print_help(parser);
		for (i = 0; i < parser->command->option_count; i++)
			if (parser->command->options[i].letter == shown[1])
				option = &parser->command->options[i];
		if (!option)
			return refuse_unknown(parser, shown, NULL);
		if (option->value) {
			value = *letters ? letters : *parser->next ? *parser->next++ : NULL;
			letters = "";
			if (!value) {
				parser->status =
				    nm_usage(parser->command, "%s needs a value: %s", shown, option->value);
				return -1;
			}
		}
		if (set_option(parser, option, shown, value))
			return -1;
	}
	return 0;
}

int nm_options_parse(const struct nm_command *command, int argc, char **argv, void *into,
		     struct nm_operands *ret_operands, int *ret_status)
{
	struct parser parser = {.command = command, .into = into, .next = argv + 1};
	char **to = argv + 1; /* operands move up, in order */
	int status = 0;

	(void)argc;
	while (*parser.next) {
		char *argument = *parser.next++;

		if (!strcmp(argument, "--")) {
			break;
		} else if (argument[0] != '-' || !argument[1]) {
			*to++ = argument;
			if (command->stops_at_operand)
				break;
		} else {
			status = argument[1] == '-' ? long_option(&parser, argument)
						    : short_options(&parser, argument + 1);
			if (status) {
				*ret_status = parser.status;
				return 0;
			}
		}
	}
	while (*parser.next)
		*to++ = *parser.next++;
	*to = NULL;
	ret_operands->at = argv + 1;
	ret_operands->count = (int)(to - (argv + 1));
	return 1;
}

static void option_help(const struct nm_command *command, const struct nm_option *option, FILE *out)
{
	enum { COLUMN = 28 };
	const char *choices = nm_option_choices(command, option);
	char left[120];
	int n;

	n = option->letter ? snprintf(left, sizeof left, "  -%c, --%s", option->letter, option->name)
			   : snprintf(left, sizeof left, "      --%s", option->name);
	if (option->value)
		n += snprintf(left + n, sizeof left - (size_t)n, "=%s", choices ? choices : option->value);
	fprintf(out, "%-*s%s%s\n", COLUMN, left, n >= COLUMN ? "  " : "", option->help);
}

/* The heading before an option, if it begins a group. */
static void print_heading(const struct nm_option_group *group, const char *name, FILE *out)
{
	while (group->first && strcmp(group->first, name))
		group++;
	if (group->first)
		fprintf(out, "\n%s:\n", group->title);
}

static void words_help(const struct nm_command *command, FILE *out)
{
	const char *word, *summary = NULL;

	fprintf(out, "\n%s:\n", command->words_title);
	for (unsigned i = 0; (word = command->words(i, &summary)); i++)
		fprintf(out, "  %-10s  %s\n", word, summary);
}

void nm_command_help(const struct nm_command *command, FILE *out)
{
	unsigned i;

	fprintf(out, "Usage: nearmiss %s%s%s%s\n\n%s\n", command->name,
		command->option_count ? " [OPTION...]" : "", *command->operands ? " " : "", command->operands,
		command->summary);
	if (command->words)
		words_help(command, out);
	if (command->details)
		fprintf(out, "\n%s", command->details);
	if (!command->groups)
		fputs("\nOptions:\n", out);
	for (i = 0; i < command->option_count; i++) {
		if (command->groups)
			print_heading(command->groups, command->options[i].name, out);
		option_help(command, &command->options[i], out);
	}
	fputs(command->groups ? "\n" : "", out);
	fputs("  -h, --help                print this\n", out);
}
