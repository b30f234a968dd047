/* SPDX-License-Identifier: MIT
 *
 * lackey.c - traces of valgrind --tool=lackey --trace-mem=yes.
 *
 *     I  04001090,3    an instruction of 3 bytes
 *      L 1ffefffe80,8  it loads
 *      S 1ffefffe78,8  it stores
 *      M 0421c7cc,4    it loads and stores the same bytes: a read and a write
 *
 * Valgrind's own messages (==4711== ...) and superblocks (SB 04001090, from --trace-superblocks) are skipped.
 * So is what the program wrote into the same file; where that has no end of line, a record stands behind it in its
 * line, with the eight digits and more that Lackey always writes.
 *
 * A locked addition or exchange is a load and a compare-and-swap to Valgrind, which Lackey writes as L and M
 * of the same bytes. The processor reads once and writes once, and so it is counted.
 */
#include <string.h>

#include "importer.h"

enum { DIGITS = 8, FEW = 3 }; /* of an address, at least; of certain records among other lines */

struct lackey_line {
	char kind; /* I, L, S, M; 0: nothing to count */
	uint64_t address, size;
};

struct lackey_state {
	struct lackey_line last; /* the line before */
};

/* A record that is the whole text. */
static const char *parse_record(const char *s, struct lackey_line *l, ptrdiff_t least_digits)
{
	static const char starts[][4] = {"I  ", " L ", " S ", " M "};
	const char *digits;
	unsigned i = 0;

	*l = (struct lackey_line){0};
	while (i < 4 && strncmp(s, starts[i], 3))
		i++;
	if (i == 4)
		return "\"I  \", \" L \", \" S \" or \" M \" was expected";
	digits = s += 3;
	if (!import_hex(&s, &l->address) || s - digits < least_digits || *s++ != ',')
		return "an address and a comma were expected";
	if (!import_decimal(&s, &l->size) || *s)
		return "a size was expected behind the comma";
	l->kind = "ILSM"[i];
	return NULL;
}

static int is_valgrinds(const char *s)
{
	return !strncmp(s, "==", 2) || !strncmp(s, "--", 2) || !strncmp(s, "SB ", 3) || !*s;
}

/* kind is 0 if there is no record; the text says why, or that there is other text before it. */
static const char *parse_line(const char *s, struct lackey_line *l)
{
	const char *fault = parse_record(s, l, 1);

	if (!fault || is_valgrinds(s))
		return NULL;
	for (const char *at = s; *at && !l->kind; at++)
		if (strchr("I ", *at) && !parse_record(at, l, DIGITS))
			return "other text stands before a record";
	*l = (struct lackey_line){0};
	return fault;
}

static int is_lackey(const char *line)
{
	struct lackey_line l;

	return !parse_line(line, &l);
}

static int has_reference(const char *line)
{
	struct lackey_line l;

	return !parse_line(line, &l) && l.kind;
}

static int is_certain(const char *line)
{
	struct lackey_line l;

	return !parse_record(line, &l, DIGITS);
}

static int probe_lackey(const uint8_t *bytes, size_t count)
{
	unsigned yes, no, with_access, certain, without;

	import_count_lines(bytes, count, is_lackey, &yes, &no);
	import_count_lines(bytes, count, has_reference, &with_access, &without);
	import_count_lines(bytes, count, is_certain, &certain, &without);
	return with_access && !no ? 90 : certain >= FEW ? 60 : 0;
}

/* Whether the trace repeats the load of a locked instruction with its store. */
static int is_told(const struct lackey_line *last, const struct lackey_line *l)
{
	return l->kind == 'M' && last->kind == 'L' && last->address == l->address && last->size == l->size;
}

static int read_line(struct nm_import *import, struct nm_error *err)
{
	struct lackey_state *state = import->state;
	struct lackey_line l, last = state->last;
	const char *fault;
	char *line;
	int status = input_line(import->input, &line, err);

	if (status <= 0)
		return status;
	fault = parse_line(line, &l);
	if (fault)
		import_pass_over(import, fault);
	if (!l.kind)
		return 1;
	state->last = l;
	if (l.kind == 'I')
		return import_instruction(import, l.address, l.size, err);
	if (l.kind != 'S' && !is_told(&last, &l))
		status = import_reference(import, l.address, l.size, NM_WIRE_READ, err);
	if (status > 0 && l.kind != 'L')
		status = import_reference(import, l.address, l.size, NM_WIRE_WRITE, err);
	return status;
}

const struct nm_importer nm_import_lackey = {.name = "lackey",
					     .summary = "valgrind --tool=lackey --trace-mem=yes",
					     .probe = probe_lackey,
					     .read = read_line,
					     .state_bytes = sizeof(struct lackey_state)};
