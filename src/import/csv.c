/* SPDX-License-Identifier: MIT
 *
 * csv.c - comma-separated values whose first line names the columns.
 *
 *     addr,rw,size,object,file,line
 *     0x1000,r,8,A,matmul.c,12
 *     4096,w,8,"A(i,j)",matmul.c,13
 *
 * addr and rw are required; pc, size, thread, object, function, file and line are optional; other columns are
 * ignored. Numbers are decimal, or hexadecimal with 0x. rw: r, read, load, l or 0; w, write, store, s or 1.
 * Fields may be quoted, with a quote doubled. Each line is an instruction of its own. Without a size an
 * access has 8 bytes, or less up to the next multiple of 8.
 *
 * Each source line without a pc gets a made-up one, since the wire names code by pc.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "importer.h"

enum column { ADDR, RW, PC, SIZE, THREAD, OBJECT, FUNCTION, FILE_NAME, LINE, COLUMNS };

static const char *const names[COLUMNS] = {"addr",   "rw",       "pc",   "size", "thread",
					   "object", "function", "file", "line"};

enum { MAX_FIELDS = 64, DEFAULT_SIZE = 8, PLACE_STEP = 16, TEXT_ROOM = 4096 };

struct csv_state {
	int has_header;
	int where[COLUMNS]; /* index of the column's field; -1: there is none */
	char *fields[MAX_FIELDS];
	unsigned count, columns; /* fields of this line, of the first */
	struct nm_map pc_of;     /* text of a source line -> its made-up pc */
	struct nm_map place_at;  /* pc -> text of its source line */
	struct nm_strings texts;
};

static void done(void *state)
{
	struct csv_state *s = state;

	nm_map_done(&s->pc_of);
	nm_map_done(&s->place_at);
	nm_strings_done(&s->texts);
}

/* ---- fields ---- */

/* Removes the quotes of the field at `at`, and returns its end; NULL: the quote is not closed. */
static char *unquote(char *at)
{
	char *to = at, *from = at + 1;

	for (;; from++) {
		if (!*from)
			return NULL;
		if (*from == '"' && *++from != '"')
			break;
		*to++ = *from;
	}
	if (*from && *from != ',')
		return NULL;
	if (!*from) {
		*to = '\0';
		return from;
	}
	*to = '\0';
	return from;
}

/* Splits a line in place. NULL, or the fault. */
static const char *split(struct csv_state *s, char *line)
{
	for (s->count = 0;; line++) {
		char *end = *line == '"' ? unquote(line) : line + strcspn(line, ",");
		int last;

		if (!end)
			return "a quoted field does not end";
		if (s->count == MAX_FIELDS)
			return "there are more than 64 fields";
		last = !*end;
		*end = '\0';
		s->fields[s->count++] = line;
		if (last)
			return NULL;
		line = end;
	}
}

static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		s[--n] = '\0';
	return s;
}

/* The field of a column, "" if there is none. */
static const char *field(struct csv_state *s, enum column column)
{
	return s->where[column] < 0 ? "" : trim(s->fields[s->where[column]]);
}

static int number(const char *text, uint64_t *ret_number)
{
	int hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

	return (hex ? nm_import_hex(&text, ret_number) : nm_import_decimal(&text, ret_number)) && !*text;
}

/* ---- the header ---- */

static const char *read_header(struct csv_state *s, char *line)
{
	const char *fault;

	if (!strncmp(line, "\xef\xbb\xbf", 3)) /* a byte order mark */
		line += 3;
	fault = split(s, line);
	for (unsigned c = 0; c < COLUMNS; c++) {
		s->where[c] = -1;
		for (unsigned i = 0; i < s->count && !fault; i++)
			if (!strcasecmp(trim(s->fields[i]), names[c]))
				s->where[c] = (int)i;
	}
	s->columns = s->count;
	s->has_header = 1;
	if (!fault && (s->where[ADDR] < 0 || s->where[RW] < 0))
		fault = "the first line must name the columns, with addr and rw among them";
	return fault;
}

static int probe(const uint8_t *bytes, size_t count)
{
	struct csv_state s = {0};
	char line[1024];
	size_t n = 0;

	while (n < count && n < sizeof line - 1 && bytes[n] != '\n' && bytes[n])
		n++;
	memcpy(line, bytes, n);
	line[n] = '\0';
	line[strcspn(line, "\r")] = '\0';
	return read_header(&s, line) ? 0 : 95;
}

/* ---- rows ---- */

static unsigned flags_of(const char *rw)
{
	static const char *const reads[] = {"r", "read", "l", "load", "0"};
	static const char *const writes[] = {"w", "write", "s", "store", "1"};

	for (unsigned i = 0; i < 5; i++) {
		if (!strcasecmp(rw, reads[i]))
			return NM_WIRE_READ;
		if (!strcasecmp(rw, writes[i]))
			return NM_WIRE_WRITE;
	}
	return 0;
}

struct row {
	uint64_t address, pc, size, thread, line;
	unsigned flags;
};

static const char *read_row(struct csv_state *s, char *line, struct row *row)
{
	static const struct {
		enum column column;
		const char *fault;
	} numbers[] = {{ADDR, "addr is no number"},
		       {PC, "pc is no number"},
		       {SIZE, "size is no number"},
		       {THREAD, "thread is no number"},
		       {LINE, "line is no number"}};
	uint64_t *to[] = {&row->address, &row->pc, &row->size, &row->thread, &row->line};
	const char *fault = split(s, line);

	*row = (struct row){0};
	if (!fault && s->count < s->columns)
		fault = "there are fewer fields than columns";
	for (unsigned i = 0; i < 5 && !fault; i++) {
		const char *text = field(s, numbers[i].column);

		if ((*text || numbers[i].column == ADDR) && !number(text, to[i]))
			fault = numbers[i].fault;
	}
	if (fault)
		return fault;
	row->flags = flags_of(field(s, RW));
	if (!row->flags)
		return "rw is neither a read nor a write";
	return row->line > UINT32_MAX ? "line is out of range" : NULL;
}

/* Names the source line, if the row has one. */
static int tell_place(struct nm_import *import, struct row *row)
{
	struct csv_state *s = import->state;
	const char *function = field(s, FUNCTION), *file = field(s, FILE_NAME), *stored;
	char text[TEXT_ROOM];
	uint64_t pc;

	if (!*function && !*file && !row->line)
		return 0;
	snprintf(text, sizeof text, "%s\n%s\n%u", function, file, (unsigned)row->line);
	stored = nm_intern(&s->texts, text);
	if (!stored)
		return NM_ENOMEM;
	if (s->where[PC] < 0) {
		pc = nm_map_get(&s->pc_of, (uintptr_t)stored, 0);
		if (!pc) {
			pc = PLACE_STEP * (s->pc_of.count + 1);
			if (nm_map_put(&s->pc_of, (uintptr_t)stored, pc))
				return NM_ENOMEM;
		}
		row->pc = pc;
	}
	if (nm_map_get(&s->place_at, row->pc, 0) == (uintptr_t)stored || row->pc >> 48)
		return 0;
	return nm_map_put(&s->place_at, row->pc, (uintptr_t)stored) ||
		       nm_builder_place(&import->builder, row->pc, function, file, (uint32_t)row->line)
		   ? NM_ENOMEM
		   : 0;
}

static int import_row(struct nm_import *import, struct row *row, struct nm_error *err)
{
	struct csv_state *s = import->state;
	int status, taken;

	if (!row->size)
		row->size = nm_import_size(row->address, DEFAULT_SIZE);
	status = nm_import_check(import, row->address, row->size, err);
	if (status)
		return status;
	status = tell_place(import, row);
	if (!status && s->where[THREAD] >= 0)
		status = nm_builder_thread(&import->builder, row->thread);
	if (!status && s->where[OBJECT] >= 0)
		status =
		    nm_builder_object(&import->builder, row->address, (unsigned)row->size, field(s, OBJECT));
	if (status)
		return nm_fail_memory(err);
	taken = nm_import_instruction(import, row->pc, 1, err);
	return taken < 0 ? taken : nm_import_reference(import, row->address, row->size, row->flags, err);
}

static int read_line(struct nm_import *import, struct nm_error *err)
{
	struct csv_state *s = import->state;
	const char *fault;
	struct row row;
	char *line;
	int status = nm_input_line(import->input, &line, err);

	if (status <= 0 || !*line)
		return status;
	if (!s->has_header) {
		fault = read_header(s, line);
		return fault ? nm_import_fail(import, err, fault) : 1;
	}
	fault = read_row(s, line, &row);
	return fault ? nm_import_fail(import, err, fault) : import_row(import, &row, err);
}

const struct nm_importer nm_import_csv = {.name = "csv",
					  .summary = "columns named in the first line: addr, rw, ...",
					  .probe = probe,
					  .read = read_line,
					  .state_bytes = sizeof(struct csv_state),
					  .done = done};
