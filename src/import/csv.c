/* SPDX-License-Identifier: MIT
 *
 * csv.c - a table whose first line names the columns.
 *
 *     addr,rw,size,object,file,line
 *     0x1000,r,8,A,matmul.c,12
 *     4096,w,8,"A(i,j)",matmul.c,13
 *
 * An address and a direction are required; pc, size, thread, object, function, file and line are optional; other
 * columns are ignored. columns[] has the names that each may have. What separates the columns is what separates
 * them in the first line: commas, semicolons, tabs, bars or blanks. Numbers are decimal, or hexadecimal with 0x;
 * a column of addresses that begins with digits a to f or leading zeros is hexadecimal as a whole. Fields may be
 * quoted, with a quote doubled. Each line is an instruction of its own. Without a size an access has 8 bytes, or
 * less up to the next multiple of 8. Lines that are no rows, such as comments, are passed over.
 *
 * Each source line without a pc gets a made-up one, since the wire names code by pc.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "importer.h"

enum column { ADDR, RW, PC, SIZE_OF, THREAD, OBJECT, FUNCTION, FILE_NAME, LINE, COLUMNS };

/* Names by bars, the first one ours; blanks, dashes and underscores are left out, and capitals are small. */
static const char *const columns[COLUMNS] = {
    "addr|address|vaddr|virtualaddress|dataaddr|dataaddress|memaddr|memoryaddress|ea|va|location",
    "rw|r/w|read/write|readwrite|op|operation|type|access|accesstype|kind|mode|iswrite|write|dir|direction",
    "pc|ip|rip|eip|instr|instruction|insn|iaddr|instructionaddress|instructionpointer|codeaddress",
    "size|bytes|length|len|width|accesssize",
    "thread|tid|threadid",
    "object|variable|var|symbol|array",
    "function|func|fn",
    "file|source|sourcefile|filename",
    "line|lineno|linenumber",
};

static const char separators[] = ",;\t| ";

enum { MAX_FIELDS = 64, DEFAULT_SIZE = 8, PLACE_STEP = 16, TEXT_ROOM = 4096, LINE_ROOM = 4096 };

struct csv_state {
	int has_header;
	char separator;
	int hex[COLUMNS];   /* numbers of the column are hexadecimal without 0x */
	int where[COLUMNS]; /* index of the column's field; -1: there is none */
	char *fields[MAX_FIELDS];
	unsigned count, columns; /* fields of this line, of the first */
	struct nm_map pc_of;     /* text of a source line -> its made-up pc */
	struct nm_map place_at;  /* pc -> text of its source line */
	struct nm_strings texts;
};

static void free_state(void *state)
{
	struct csv_state *s = state;

	nm_map_done(&s->pc_of);
	nm_map_done(&s->place_at);
	nm_strings_done(&s->texts);
}

/* ---- fields ---- */

/* Removes the quotes of the field at `at`, and returns its end; NULL: the quote is not closed. */
static char *unquote_field(char *at, char separator)
{
	char *to = at, *from = at + 1;

	for (;; from++) {
		if (!*from)
			return NULL;
		if (*from == '"' && *++from != '"')
			break;
		*to++ = *from;
	}
	if (*from && *from != separator)
		return NULL;
	*to = '\0';
	return from;
}

static char *end_of_field(char *at, char separator)
{
	while (*at && *at != separator)
		at++;
	return at;
}

/* Splits a line in place. NULL, or the fault. */
static const char *split_line(struct csv_state *s, char *line)
{
	for (s->count = 0;; line++) {
		char *end;
		int last;

		if (s->separator == ' ') /* any number of them */
			import_blanks((const char **)&line);
		end = *line == '"' ? unquote_field(line, s->separator) : end_of_field(line, s->separator);
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

static char *trim_blanks(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		s[--n] = '\0';
	return s;
}

/* The field of a column, "" if there is none. */
static const char *field_of(struct csv_state *s, enum column column)
{
	return s->where[column] < 0 ? "" : trim_blanks(s->fields[s->where[column]]);
}

static int parse_number(const char *text, int is_hex, uint64_t *ret_number)
{
	int hex = is_hex || (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'));

	return (hex ? import_hex(&text, ret_number) : import_decimal(&text, ret_number)) && !*text;
}

/* ---- the header ---- */

/* Whether a column's title is one of the names "a|b|c". */
static int is_titled(const char *title, const char *names)
{
	char plain[64];
	size_t n = 0, length;

	for (; *title && n < sizeof plain - 1; title++)
		if (!strchr(" \t_-", *title))
			plain[n++] = (char)(*title >= 'A' && *title <= 'Z' ? *title - 'A' + 'a' : *title);
	plain[n] = '\0';
	for (; *names; names += length + (names[length] == '|')) {
		length = strcspn(names, "|");
		if (length == n && !strncmp(names, plain, n))
			return 1;
	}
	return 0;
}

/* The columns of a header with this separator; changes the line. Whether addr and rw are among them. */
static int read_titles(struct csv_state *s, char *line, char separator)
{
	s->separator = separator;
	if (split_line(s, line))
		return 0;
	for (unsigned c = 0; c < COLUMNS; c++) {
		s->where[c] = -1;
		for (unsigned i = 0; i < s->count && s->where[c] < 0; i++)
			if (is_titled(trim_blanks(s->fields[i]), columns[c]))
				s->where[c] = (int)i;
	}
	s->columns = s->count;
	return s->where[ADDR] >= 0 && s->where[RW] >= 0;
}

/* NULL, or the fault. */
static const char *read_header(struct csv_state *s, const char *line)
{
	char copy[LINE_ROOM];
	int has_addr = 0, has_rw = 0;

	if (!strncmp(line, "\xef\xbb\xbf", 3)) /* a byte order mark */
		line += 3;
	if (*line == '#') /* some write their titles as a comment */
		line++;
	import_blanks(&line);
	for (const char *separator = separators; *separator; separator++) {
		snprintf(copy, sizeof copy, "%s", line);
		if (read_titles(s, copy, *separator)) {
			s->has_header = 1;
			return NULL;
		}
		has_addr |= s->where[ADDR] >= 0 && *separator != ' '; /* a sentence is no table */
		has_rw |= s->where[RW] >= 0 && s->count > 1 && *separator != ' ';
	}
	return has_addr ? "no column has the title rw, which tells reads from writes (r or w)"
	       : has_rw ? "no column has the title addr"
			: "the first line must name the columns, with addr and rw among them";
}

/* The i-th line, without its end, of text that may be cut; 0: there are no more. */
static int line_of(const uint8_t *bytes, size_t count, size_t *at, char *line)
{
	const char ending = input_line_end(bytes, count);
	size_t n = 0;

	if (*at >= count)
		return 0;
	while (*at + n < count && bytes[*at + n] != (uint8_t)ending)
		n++;
	snprintf(line, LINE_ROOM, "%.*s", (int)n, (const char *)bytes + *at);
	line[strcspn(line, "\r")] = '\0';
	*at += n + 1;
	return 1;
}

static int probe_csv(const uint8_t *bytes, size_t count)
{
	struct csv_state s = {0};
	char line[LINE_ROOM];
	int sure = 95;

	for (size_t at = 0; line_of(bytes, count, &at, line);) {
		if (!read_header(&s, line))
			return sure;
		if (*line && *line != '#')
			sure = 50; /* behind something else */
	}
	return 0;
}

const char *csv_lacks(const uint8_t *bytes, size_t count)
{
	struct csv_state s = {0};
	char line[LINE_ROOM];
	const char *lacks = NULL;

	for (size_t at = 0; !lacks && line_of(bytes, count, &at, line);)
		if (*line && *line != '#')
			lacks = read_header(&s, line);
	return lacks && !strncmp(lacks, "no ", 3) ? lacks : NULL;
}

/* Whether the numbers of a column that are to come have hexadecimal digits, or leading zeros. */
static int find_hex(struct nm_import *import, enum column column, struct nm_error *err)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	struct csv_state *s = import->state;
	char line[LINE_ROOM];
	const uint8_t *bytes;
	size_t count;
	int status = input_peek(import->input, NM_INPUT_AHEAD, &bytes, &count, err);

	for (size_t at = 0;
	     !status && s->where[column] >= 0 && !s->hex[column] && line_of(bytes, count, &at, line);) {
		const char *text;
		size_t n;

		if (split_line(s, line) || s->count < s->columns)
			continue;
		text = field_of(s, column);
		n = strlen(text);
		s->hex[column] =
		    n && strspn(text, hex) == n && (strcspn(text, hex + 10) < n || (*text == '0' && n > 1));
	}
	return status;
}

/* ---- rows ---- */

static unsigned flags_of(const char *rw)
{
	static const char *const reads[] = {"r", "read", "l", "load", "0", "ld", "rd", "false"};
	static const char *const writes[] = {"w", "write", "s", "store", "1", "st", "wr", "true"};

	for (unsigned i = 0; i < sizeof reads / sizeof *reads; i++) {
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
		       {SIZE_OF, "size is no number"},
		       {THREAD, "thread is no number"},
		       {LINE, "line is no number"}};
	uint64_t *to[] = {&row->address, &row->pc, &row->size, &row->thread, &row->line};
	const char *fault = *line == '#' ? "a comment" : split_line(s, line);

	*row = (struct row){0};
	if (!fault && s->count < s->columns)
		fault = "there are fewer fields than columns";
	for (unsigned i = 0; i < 5 && !fault; i++) {
		const char *text = field_of(s, numbers[i].column);

		if ((*text || numbers[i].column == ADDR) &&
		    !parse_number(text, s->hex[numbers[i].column], to[i]))
			fault = numbers[i].fault;
	}
	if (fault)
		return fault;
	row->flags = flags_of(field_of(s, RW));
	if (!row->flags)
		return "rw is neither a read nor a write (r, read, load, l, 0; w, write, store, s, 1)";
	return row->line > UINT32_MAX ? "line is out of range" : NULL;
}

/* Names the source line, if the row has one. */
static int tell_place(struct nm_import *import, struct row *row)
{
	struct csv_state *s = import->state;
	const char *function = field_of(s, FUNCTION), *file = field_of(s, FILE_NAME), *stored;
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
		       builder_place(&import->builder, row->pc, function, file, (uint32_t)row->line)
		   ? NM_ENOMEM
		   : 0;
}

static int import_row(struct nm_import *import, struct row *row, struct nm_error *err)
{
	struct csv_state *s = import->state;
	int status, taken;

	import->in_kernel = 0;
	if (!row->size)
		row->size = import_size(row->address, DEFAULT_SIZE);
	if (!import_takes(import, &row->address, row->size))
		return 1;
	status = tell_place(import, row);
	if (!status && s->where[THREAD] >= 0)
		status = builder_thread(&import->builder, row->thread);
	if (!status && s->where[OBJECT] >= 0)
		status =
		    builder_object(&import->builder, row->address, (unsigned)row->size, field_of(s, OBJECT));
	if (status)
		return nm_fail_memory(err);
	taken = import_instruction(import, row->pc, 1, err);
	return taken < 0 ? taken : import_reference(import, row->address, row->size, row->flags, err);
}

static int begin_table(struct nm_import *import, const char *line, struct nm_error *err)
{
	struct csv_state *s = import->state;
	const char *fault = read_header(s, line);
	int status;

	if (fault)
		return import_pass_over(import, *line == '#' ? "a comment" : fault);
	status = find_hex(import, ADDR, err);
	if (!status)
		status = find_hex(import, PC, err);
	return status ? status : 1;
}

static int read_line(struct nm_import *import, struct nm_error *err)
{
	struct csv_state *s = import->state;
	const char *fault;
	struct row row;
	char *line;
	int status = input_line(import->input, &line, err);

	if (status <= 0 || !*line)
		return status;
	if (!s->has_header)
		return begin_table(import, line, err);
	fault = read_row(s, line, &row);
	return fault ? import_pass_over(import, fault) : import_row(import, &row, err);
}

const struct nm_importer nm_import_csv = {.name = "csv",
					  .summary = "columns named in the first line: addr, rw, ...",
					  .probe = probe_csv,
					  .read = read_line,
					  .state_bytes = sizeof(struct csv_state),
					  .done = free_state};
