/* SPDX-License-Identifier: MIT
 *
 * description.c - reads a machine from a text with one level per line.
 *
 * The lines are joined into one SPEC, without blanks and comments, with the position in the text of each
 * character. So only spec.c knows the syntax of a level, and faults are still shown in their line.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"

enum { ROOM = 4096 };

struct description {
	const char *text, *file;
	char spec[ROOM];
	size_t from[ROOM]; /* offset in the text, per character of spec */
	size_t length;
	struct nm_machine *machine;
	struct nm_error *err;
};

static int fail_at_offset(const struct description *d, size_t offset, const char *what)
{
	const char *start = d->text + offset, *end = start + strcspn(start, "\n");
	char line[400];
	unsigned number = 1;

	for (const char *c = d->text; c < start; c++)
		number += *c == '\n';
	for (size_t n = 0; n < sizeof line / 2 && start > d->text && start[-1] != '\n'; n++)
		start--;
	snprintf(line, sizeof line, "%.*s", (int)(end - start), start);
	for (char *c = line; *c; c++)
		/* one byte per column, so that the caret is at the right place */
		if (!isprint((unsigned char)*c))
			*c = isspace((unsigned char)*c) ? ' ' : '?';
	return nm_fail_at(d->err, line, (int)(d->text + offset - start), "%s:%u: %s", d->file, number, what);
}

static int add_character(struct description *d, char c, size_t offset)
{
	if (d->length + 1 == ROOM)
		return fail_at_offset(d, offset, "the levels take more than 4095 characters");
	d->from[d->length] = offset;
	d->spec[d->length++] = c;
	return 0;
}

/* The rest of a line that starts with a word, or NULL. */
static const char *rest_behind(const char *line, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(line, word, n) && (line[n] == ' ' || line[n] == '\t')
		   ? line + n + strspn(line + n, " \t")
		   : NULL;
}

static void keep_word(char *to, size_t room, const char *from, const char *end)
{
	while (end > from && isspace((unsigned char)end[-1]))
		end--;
	snprintf(to, room, "%.*s", (int)(end - from), from);
	for (; *to; to++)
		if ((unsigned char)*to < ' ')
			*to = ' ';
}

static int read_line(struct description *d, const char *line, const char *end)
{
	const char *rest;
	int status = 0;

	if ((rest = rest_behind(line, "machine"))) {
		keep_word(d->machine->name, sizeof d->machine->name, rest, end);
		return *d->machine->name ? 0
					 : fail_at_offset(d, (size_t)(rest - d->text), "a name is missing");
	}
	if ((rest = rest_behind(line, "source"))) {
		keep_word(d->machine->description, sizeof d->machine->description, rest, end);
		return 0;
	}
	if (d->length)
		status = add_character(d, ':', (size_t)(line - d->text));
	for (const char *c = line; c < end && *c != '#' && !status; c++)
		if (!isspace((unsigned char)*c))
			status = add_character(d, *c, (size_t)(c - d->text));
	return status;
}

int nm_machine_read(const char *text, const char *file, struct nm_machine *ret_machine, struct nm_error *err)
{
	struct nm_machine machine = {.count = 0}, levels;
	struct description d = {.text = text, .file = file, .machine = &machine, .err = err};
	struct nm_error inner = {.column = -1};
	int status = 0;

	snprintf(machine.name, sizeof machine.name, "%.63s", file);
	for (const char *line = text, *end; *line && !status; line = *end ? end + 1 : end) {
		line += strspn(line, " \t\r");
		end = line + strcspn(line, "\n");
		if (line < end && *line != '#')
			status = read_line(&d, line, end);
	}
	d.spec[d.length] = 0;
	d.from[d.length] = d.length ? d.from[d.length - 1] + 1 : 0;
	if (status)
		return status;
	if (!d.length)
		return nm_fail(err, NM_EINVAL, "%s describes no level", file);
	status = nm_machine_parse(d.spec, &levels, &inner);
	if (status)
		return inner.column >= 0 ? fail_at_offset(&d, d.from[inner.column], inner.text)
					 : nm_fail(err, (enum nm_code)status, "%s: %s", file, inner.text);
	memcpy(levels.name, machine.name, sizeof levels.name);
	memcpy(levels.description, machine.description, sizeof levels.description);
	if (!*levels.description)
		snprintf(levels.description, sizeof levels.description, "as described by the user");
	*ret_machine = levels;
	return 0;
}
