/* SPDX-License-Identifier: MIT
 *
 * values.c - what completes the value of an option: its choices, files, machines, columns, or names of the profile.
 */
#include <stdio.h>
#include <string.h>

#include "completion.h"
#include "machine.h"
#include "metrics.h"

/* By the option's name. */
static const struct {
	const char *option, *sql;
} queries[] = {
    {"object", "SELECT DISTINCT object FROM objects"},
    {"evictor", "SELECT DISTINCT object FROM objects"},
    {"victim", "SELECT DISTINCT object FROM objects"},
    {"function", "SELECT DISTINCT function FROM counts WHERE function IS NOT NULL"},
    {"file", "SELECT DISTINCT file FROM counts WHERE file IS NOT NULL"},
    {"process", "SELECT process FROM processes"},
    {"level", "SELECT DISTINCT level FROM levels"},
};

/* "host|zen3|...", made once. */
static const char *machine_choices(void)
{
	static char words[4096];
	size_t count, n = (size_t)snprintf(words, sizeof words, "host");
	const struct nm_machine *table = nm_machine_table(&count);

	for (size_t i = 0; i < count && n < sizeof words; i++)
		n += (size_t)snprintf(words + n, sizeof words - n, "|%s", table[i].name);
	return words;
}

/* "references|reads|...", made once. */
static const char *column_choices(void)
{
	static char words[4096];
	size_t n = 0;

	for (unsigned i = 0; nm_metric_at(i) && n < sizeof words; i++)
		n += (size_t)snprintf(words + n, sizeof words - n, "%s%s", i ? "|" : "",
				      nm_metric_at(i)->name);
	return words;
}

struct nm_value_completion nm_value_completion(const struct nm_command *command,
					       const struct nm_option *option)
{
	const char *choices = nm_option_choices(command, option);

	if (choices)
		return (struct nm_value_completion){NM_VALUE_WORDS, choices, NULL};
	if (!strcmp(option->value, "FILE"))
		return (struct nm_value_completion){NM_VALUE_FILES, NULL, NULL};
	if (!strcmp(option->value, "DIR"))
		return (struct nm_value_completion){NM_VALUE_FOLDERS, NULL, NULL};
	if (!strcmp(option->name, "machine"))
		return (struct nm_value_completion){NM_VALUE_WORDS, machine_choices(), NULL};
	if (!strcmp(option->name, "columns") || !strcmp(option->value, "COLUMN"))
		return (struct nm_value_completion){NM_VALUE_WORDS, column_choices(), NULL};
	for (unsigned i = 0; i < sizeof queries / sizeof *queries; i++)
		if (!strcmp(option->name, queries[i].option))
			return (struct nm_value_completion){NM_VALUE_NAMES, NULL, queries[i].sql};
	return (struct nm_value_completion){NM_VALUE_NONE, NULL, NULL};
}

static int is_among(const char *operands, const char *const *words)
{
	for (; *words; words++)
		if (strstr(operands, *words))
			return 1;
	return 0;
}

enum nm_operand_files nm_operand_files(const struct nm_command *command)
{
	static const char *const any[] = {"FILE|", "FILE ", "NEST", "TRACE", "PLAN", NULL},
				 *const profiles[] = {"PROFILE", "BEFORE", NULL};
	static const char file[] = "FILE";

	if (!strcmp(command->operands, file) || is_among(command->operands, any))
		return NM_FILES_ALL;
	return is_among(command->operands, profiles) ? NM_FILES_PROFILES : NM_FILES_NONE;
}

void nm_completion_operands(const struct nm_command *command, FILE *out)
{
	const char *word, *summary = NULL;

	for (unsigned i = 0; (word = command->words(i, &summary)); i++)
		fprintf(out, "%s%s", i ? " " : "", word);
}

void nm_completion_words(const char *list, FILE *out)
{
	for (; *list; list++)
		fputc(*list == '|' ? ' ' : *list, out);
}
