/* SPDX-License-Identifier: MIT
 *
 * drmemtrace.c - what DynamoRIO's view tool writes (drrun -t drmemtrace -tool view -indir ...).
 *
 *     Output format:
 *     <--record#-> <--instr#->: <---tid---> <record details>
 *     ------------------------------------------------------------
 *               86          62:      296231 <marker: timestamp 13319413770947383>
 *               87          63:      296231 ifetch       2 byte(s) @ 0x0000000000401026 0f 05  syscall
 *               88          63:      296231 read         8 byte(s) @ 0x00007ffd4c2a81f8 by PC 0x0000000000401026
 *
 * Before it knew of instruction numbers the tool wrote one number and a T before the thread: both forms are read.  Markers,
 * prefetches and second lines of long encodings are passed over, and all behind "View tool results".
 */
#include <string.h>

#include "importer.h"

struct drmemtrace_state {
	int over;
};

struct drmemtrace_line {
	enum { PASSED_OVER, OVER, FETCH, READ, WRITE } kind;
	uint64_t thread, size, address;
};

static int starts_with(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }

/* What stands around the records. */
static int is_frame(const char *s)
{
	return starts_with(s, "Output format:") || starts_with(s, "<--record#") || starts_with(s, "----");
}

/* "N byte(s) @ 0x..." somewhere behind the word. */
static const char *parse_place(const char *s, struct drmemtrace_line *l)
{
	static const char between[] = " byte(s) @ ";

	s += strcspn(s, "0123456789");
	if (!nm_import_decimal(&s, &l->size) || !starts_with(s, between))
		return "a size and \"byte(s) @\" were expected";
	s += sizeof between - 1;
	return nm_import_hex(&s, &l->address) ? NULL : "an address was expected behind the @";
}

static const char *parse_details(const char *s, struct drmemtrace_line *l)
{
	static const struct {
		const char *word;
		int kind;
	} words[] = {{"ifetch ", FETCH}, {"non-fetched instr ", FETCH}, {"read ", READ}, {"write ", WRITE}};

	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (starts_with(s, words[i].word)) {
			l->kind = words[i].kind;
			return parse_place(s + strlen(words[i].word), l);
		}
	return NULL;
}

static const char *parse(const char *s, struct drmemtrace_line *l)
{
	uint64_t number;

	*l = (struct drmemtrace_line){0};
	if (starts_with(s, "View tool results")) {
		l->kind = OVER;
		return NULL;
	}
	if (is_frame(s) || !s[strspn(s, " \t")])
		return NULL;
	nm_import_blanks(&s);
	if (!nm_import_decimal(&s, &number))
		return "the number of a record was expected";
	nm_import_blanks(&s);
	nm_import_decimal(&s, &number);
	if (*s++ != ':')
		return "a colon was expected behind the numbers";
	nm_import_blanks(&s);
	s += *s == 'T';
	if (!nm_import_decimal(&s, &l->thread))
		return "a thread was expected behind the colon";
	nm_import_blanks(&s);
	return parse_details(s, l);
}

static int is_record(const char *line)
{
	struct drmemtrace_line l;

	return !is_frame(line) && !parse(line, &l) && l.kind != OVER;
}

static int probe(const uint8_t *bytes, size_t count)
{
	static const char head[] = "Output format:\n<--record#";
	unsigned yes, no;

	if (count >= sizeof head - 1 && !memcmp(bytes, head, sizeof head - 1))
		return 100;
	nm_import_count_lines(bytes, count, is_record, &yes, &no);
	return yes && !no ? 80 : 0;
}

static int read_line(struct nm_import *import, struct nm_error *err)
{
	struct drmemtrace_state *state = import->state;
	struct drmemtrace_line l;
	const char *fault;
	char *line;
	int status = nm_input_line(import->input, &line, err);

	if (status <= 0 || state->over)
		return status;
	fault = parse(line, &l);
	if (fault)
		return nm_import_fail(import, err, fault);
	state->over = l.kind == OVER;
	if (l.kind < FETCH)
		return 1;
	if (l.kind == FETCH) {
		if (nm_builder_thread(&import->builder, l.thread))
			return nm_fail(err, NM_ENOMEM, "out of memory");
		return nm_import_instruction(import, l.address, l.size, err);
	}
	return nm_import_reference(import, l.address, l.size, l.kind == READ ? NM_WIRE_READ : NM_WIRE_WRITE,
				   err);
}

const struct nm_importer nm_import_drmemtrace = {.name = "drmemtrace",
						 .summary = "DynamoRIO: the text of drmemtrace's view tool",
						 .probe = probe,
						 .read = read_line,
						 .state_bytes = sizeof(struct drmemtrace_state)};
