/* SPDX-License-Identifier: MIT
 *
 * drmemtrace.c - the output of DynamoRIO's view tool (drrun -t drmemtrace -tool view -indir ...).
 *
 *     Output format:
 *     <--record#-> <--instr#->: <Wrkld.Tid> <record details>
 *     ------------------------------------------------------------
 *               86          62: W0.T296231 <marker: timestamp 13319413770947383>
 *               87          63: W0.T296231 ifetch       2 byte(s) @ 0x0000000000401026 0f 05  syscall
 *               88          63: W0.T296231 read 8 byte(s) @ 0x00007ffd4c2a81f8 by PC 0x0000000000401026
 *
 * Until 2025 the thread was a number without a workload; until 2022 there was one number and a T before the
 * thread: these are read too. Prefetches are of data: into instruction caches, and by hardware, are skipped, as
 * are markers, flushes, second lines of long encodings, and everything after "View tool results". The writes of
 * an instruction that disassembles to MOVNT are non-temporal. Data of an instruction that is missing (filters
 * drop some) gets an instruction of its own at the given PC. DynamoRIO writes size 0 if it does not know it, as
 * for xsave: we take 1 byte.
 */
#include <string.h>

#include "importer.h"

enum { FEW = 2 }; /* records that are certain, among other lines */

struct drmemtrace_state {
	int over, fetched; /* an instruction is open */
	int streams;       /* its writes are non-temporal */
	uint64_t thread, pc;
};

struct drmemtrace_line {
	enum { PASSED_OVER, OVER, FETCH, DATA } kind;
	unsigned flags; /* of data: NM_WIRE_* */
	int has_pc;
	uint64_t thread, size, address, pc;
};

static int starts_with(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }

/* Whether a line is a heading, a rule or a marker, not a record. */
static int is_frame(const char *s)
{
	return starts_with(s, "Output format:") || starts_with(s, "<") || starts_with(s, "----");
}

/* "N byte(s) @ 0x...", and perhaps "by PC 0x...", somewhere behind the word. */
static const char *parse_place(const char *s, struct drmemtrace_line *l)
{
	static const char between[] = " byte(s) @ ", by[] = " by PC ";

	s += strcspn(s, "0123456789");
	if (!import_decimal(&s, &l->size) || !starts_with(s, between))
		return "a size and \"byte(s) @\" were expected";
	s += sizeof between - 1;
	if (!import_hex(&s, &l->address))
		return "an address was expected behind the @";
	s += starts_with(s, by) ? sizeof by - 1 : strlen(s);
	l->has_pc = import_hex(&s, &l->pc);
	return NULL;
}

static const char *parse_details(const char *s, struct drmemtrace_line *l)
{
	static const struct {
		const char *word;
		int kind;
		unsigned flags;
	} words[] = {{"ifetch ", FETCH, 0},
		     {"non-fetched ", FETCH, 0},
		     {"read ", DATA, NM_WIRE_READ},
		     {"write ", DATA, NM_WIRE_WRITE},
		     {"pref ", DATA, NM_WIRE_PREFETCH},
		     {"pref-r ", DATA, NM_WIRE_PREFETCH},
		     {"pref-w ", DATA, NM_WIRE_PREFETCH},
		     {"pref-NTA ", DATA, NM_WIRE_PREFETCH | NM_WIRE_NON_TEMPORAL},
		     {"pref-r-L1", DATA, NM_WIRE_PREFETCH},
		     {"pref-w-L1", DATA, NM_WIRE_PREFETCH},
		     {"pref-r-L2", DATA, NM_WIRE_PREFETCH | NM_WIRE_TO_L2},
		     {"pref-w-L2", DATA, NM_WIRE_PREFETCH | NM_WIRE_TO_L2},
		     {"pref-r-L3", DATA, NM_WIRE_PREFETCH | NM_WIRE_TO_L3},
		     {"pref-w-L3", DATA, NM_WIRE_PREFETCH | NM_WIRE_TO_L3}};

	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (starts_with(s, words[i].word)) {
			l->kind = words[i].kind;
			l->flags = words[i].flags;
			return parse_place(s + strcspn(s, " "), l);
		}
	return NULL;
}

/* "W0.T296231", "T296231" or "296231": threads of different workloads may have the same number. */
static int parse_thread(const char **at, struct drmemtrace_line *l)
{
	uint64_t workload = 0;
	const char *s = *at;

	if (*s == 'W') {
		s++;
		if (!import_decimal(&s, &workload) || *s++ != '.')
			return 0;
	}
	s += *s == 'T';
	if (!import_decimal(&s, &l->thread))
		return 0;
	l->thread ^= workload << 48;
	*at = s;
	return 1;
}

/* Behind a colon: "W0.T296231 read ...". *ret_is_record: there is a thread, and what follows is known. */
static const char *parse_record(const char *s, struct drmemtrace_line *l, int *ret_is_record)
{
	const char *fault;

	import_blanks(&s);
	*ret_is_record = 0;
	if (!parse_thread(&s, l) || (*s && *s != ' ' && *s != '\t'))
		return "a thread was expected behind the colon";
	import_blanks(&s);
	fault = parse_details(s, l);
	*ret_is_record = !fault && (l->kind >= FETCH || *s == '<');
	return fault;
}

/* The numbers before the colon. */
static int parse_numbers(const char **at)
{
	const char *s = *at;
	uint64_t number;

	import_blanks(&s);
	if (!import_decimal(&s, &number))
		return 0;
	import_blanks(&s);
	import_decimal(&s, &number);
	if (*s++ != ':')
		return 0;
	*at = s;
	return 1;
}

/* Behind other text: numbers and a record at one of the colons. */
static int find_record(const char *line, struct drmemtrace_line *l)
{
	int is_record = 0;

	for (const char *colon = strchr(line, ':'); colon && !is_record; colon = strchr(colon + 1, ':')) {
		if (colon == line || colon[-1] < '0' || colon[-1] > '9')
			continue;
		*l = (struct drmemtrace_line){0};
		parse_record(colon + 1, l, &is_record);
	}
	return is_record && l->kind >= FETCH;
}

static const char *parse_line(const char *s, struct drmemtrace_line *l)
{
	const char *line = s, *fault;
	int is_record;

	*l = (struct drmemtrace_line){0};
	if (starts_with(s, "View tool results")) {
		l->kind = OVER;
		return NULL;
	}
	if (is_frame(s) || !s[strspn(s, " \t")])
		return NULL;
	fault = parse_numbers(&s) ? parse_record(s, l, &is_record) : "the number of a record was expected";
	if (!fault)
		return NULL;
	if (find_record(line, l))
		return "other text stands before a record";
	*l = (struct drmemtrace_line){0};
	return fault;
}

static int is_record(const char *line)
{
	struct drmemtrace_line l;

	return !is_frame(line) && !parse_line(line, &l) && l.kind != OVER;
}

static int is_access(const char *line)
{
	struct drmemtrace_line l;

	return !is_frame(line) && !parse_line(line, &l) && l.kind >= FETCH;
}

static int probe_drmemtrace(const uint8_t *bytes, size_t count)
{
	static const char head[] = "Output format:\n<--record#";
	unsigned yes, no, certain, without;

	if (count >= sizeof head - 1 && !memcmp(bytes, head, sizeof head - 1))
		return 100;
	import_count_lines(bytes, count, is_record, &yes, &no);
	import_count_lines(bytes, count, is_access, &certain, &without);
	return yes && !no ? 80 : certain >= FEW ? 60 : 0;
}

/* The instruction at pc begins, in the line's thread. */
static int begin_instruction(struct nm_import *import, const struct drmemtrace_line *l, uint64_t pc,
			     uint64_t bytes, struct nm_error *err)
{
	struct drmemtrace_state *state = import->state;

	state->fetched = 1;
	state->pc = pc;
	state->thread = l->thread;
	if (builder_thread(&import->builder, l->thread))
		return nm_fail_memory(err);
	return import_instruction(import, pc, bytes, err);
}

static int is_of_another(const struct drmemtrace_state *state, const struct drmemtrace_line *l)
{
	return !state->fetched || state->thread != l->thread || (l->has_pc && state->pc != l->pc);
}

static int read_line(struct nm_import *import, struct nm_error *err)
{
	struct drmemtrace_state *state = import->state;
	struct drmemtrace_line l;
	const char *fault;
	char *line;
	int status = input_line(import->input, &line, err);

	if (status <= 0 || state->over)
		return status;
	fault = parse_line(line, &l);
	if (fault)
		import_pass_over(import, fault);
	state->over = l.kind == OVER;
	if (l.kind < FETCH)
		return 1;
	if (l.kind == FETCH) {
		state->streams = strstr(line, " movnt") || strstr(line, " vmovnt");
		return begin_instruction(import, &l, l.address, l.size, err);
	}
	if (is_of_another(state, &l)) {
		state->streams = 0;
		if ((status = begin_instruction(import, &l, l.pc, 1, err)) < 0)
			return status;
	}
	if (l.flags & NM_WIRE_WRITE && state->streams)
		l.flags |= NM_WIRE_NON_TEMPORAL;
	return import_reference(import, l.address, l.size ? l.size : 1, l.flags, err);
}

const struct nm_importer nm_import_drmemtrace = {.name = "drmemtrace",
						 .summary = "DynamoRIO: the text of drmemtrace's view tool",
						 .probe = probe_drmemtrace,
						 .read = read_line,
						 .state_bytes = sizeof(struct drmemtrace_state)};
