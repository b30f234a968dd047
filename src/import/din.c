/* SPDX-License-Identifier: MIT
 *
 * din.c - the two text formats of Dinero: "din", a label and a hexadecimal address, and "extended din", a
 * letter, an address and a size, both hexadecimal. The rest of the line is ignored.
 *
 *     2 401000        an instruction is fetched
 *     0 7fff0010      it reads
 *     w 7fff0010 10   it writes, 16 bytes
 *
 * Labels are 0 or r, a read; 1 or w, a write; 2 or i, an instruction; 3 or m, miscellaneous: a read that
 * starts no prefetch; 4 or c, copy back, and 5 or v, invalidate, which concern the caches themselves and are
 * skipped. Reads and writes belong to the instruction before them. Without a size an access has 4 bytes, or
 * less up to the next multiple of 4: Dinero takes the whole word that holds the address. Other lines are passed
 * over, as long as they are fewer.
 */
#include <string.h>

#include "importer.h"

enum { DEFAULT_SIZE = 4 };
enum { READ, WRITE, FETCH, MISCELLANEOUS, COPY_BACK, INVALIDATE };

struct din_line {
	int label, extended;
	uint64_t address, size;
};

/* 0 if there is no label. */
static int parse_label(const char **at, struct din_line *l)
{
	static const char letters[] = "rwimcvRWIMCV";
	const char *letter = **at ? strchr(letters, **at) : NULL;

	l->extended = letter != NULL;
	if (letter)
		l->label = (int)(letter - letters) % 6;
	else if (**at >= '0' && **at <= '5')
		l->label = **at - '0';
	else
		return 0;
	++*at;
	return **at == ' ' || **at == '\t';
}

static int word_ends(const char *s) { return !*s || *s == ' ' || *s == '\t'; }

static const char *parse_line(const char *s, struct din_line *l)
{
	import_blanks(&s);
	if (!parse_label(&s, l))
		return "a label 0 to 5 (or r, w, i, m, c, v) and a blank were expected";
	import_blanks(&s);
	if (!import_hex(&s, &l->address))
		return "a hexadecimal address was expected";
	if (!word_ends(s))
		return "the address is no hexadecimal number";
	if (!l->extended) {
		l->size = import_size(l->address, DEFAULT_SIZE);
		return NULL;
	}
	import_blanks(&s);
	return import_hex(&s, &l->size) && word_ends(s) ? NULL : "a hexadecimal size was expected";
}

static int is_din(const char *line)
{
	struct din_line l;

	return !parse_line(line, &l);
}

static int probe_din(const uint8_t *bytes, size_t count)
{
	unsigned yes, no;

	import_count_lines(bytes, count, is_din, &yes, &no);
	return !yes ? 0 : !no ? 70 : yes > 1 && yes > no ? 30 : 0;
}

static int read_line(struct nm_import *import, struct nm_error *err)
{
	struct din_line l;
	const char *fault;
	char *line;
	int status = input_line(import->input, &line, err);

	if (status <= 0 || !line[strspn(line, " \t")])
		return status;
	fault = parse_line(line, &l);
	if (fault)
		return import_pass_over(import, fault);
	if (l.label > MISCELLANEOUS)
		return 1;
	if (l.label == FETCH)
		return import_instruction(import, l.address, l.size, err);
	return import_reference(import, l.address, l.size, l.label == WRITE ? NM_WIRE_WRITE : NM_WIRE_READ,
				err);
}

const struct nm_importer nm_import_din = {.name = "din",
					  .summary = "Dinero: label and address, or letter, address and size",
					  .probe = probe_din,
					  .read = read_line};
