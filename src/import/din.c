/* SPDX-License-Identifier: MIT
 *
 * din.c - Dinero's "din": lines of a label and a hexadecimal address, and in the extended form a size in bytes.
 *
 *     2 401000        an instruction is fetched
 *     0 7fff0010      it reads
 *     1 7fff0010 8    it writes, 8 bytes
 *
 * Labels may be the letters i, r, w.  Labels 3 and 4 are for Dinero itself (an access of no kind, a flush): passed over.  What
 * follows the size is passed over as Dinero does.  Reads and writes belong to the instruction before them.  Without sizes an access has 4 bytes,
 * as in Dinero, or less up to the next multiple of 4.
 */
#include <string.h>

#include "importer.h"

enum { DEFAULT_SIZE = 4, FETCH = 2 };

/* 0 to 4, or -1. */
static int label_of(const char **at)
{
	static const char letters[] = "rwi";
	const char *letter = **at ? strchr(letters, **at) : NULL;
	int label = letter ? (int)(letter - letters) : **at >= '0' && **at <= '4' ? **at - '0' : -1;

	++*at;
	return label >= 0 && (**at == ' ' || **at == '\t') ? label : -1;
}

struct din_line {
	int label, has_size;
	uint64_t address, size;
};

static const char *parse(const char *s, struct din_line *l)
{
	nm_import_blanks(&s);
	l->label = label_of(&s);
	if (l->label < 0)
		return "a label 0 to 4 (or r, w, i) and a blank were expected";
	nm_import_blanks(&s);
	if (!nm_import_hex(&s, &l->address))
		return "a hexadecimal address was expected";
	if (*s && *s != ' ' && *s != '\t')
		return "the address is no hexadecimal number";
	nm_import_blanks(&s);
	l->has_size = nm_import_decimal(&s, &l->size);
	return NULL;
}

static int is_din(const char *line)
{
	struct din_line l;

	return !parse(line, &l);
}

static int probe(const uint8_t *bytes, size_t count)
{
	unsigned yes, no;

	nm_import_count_lines(bytes, count, is_din, &yes, &no);
	return yes && !no ? 70 : 0;
}

static int read_line(struct nm_import *import, struct nm_error *err)
{
	struct din_line l;
	const char *fault;
	char *line;
	int status = nm_input_line(import->input, &line, err);

	if (status <= 0 || !line[strspn(line, " \t")])
		return status;
	fault = parse(line, &l);
	if (fault)
		return nm_import_fail(import, err, fault);
	if (!l.has_size)
		l.size = nm_import_size(l.address, DEFAULT_SIZE);
	if (l.label > FETCH)
		return 1;
	if (l.label == FETCH)
		return nm_import_instruction(import, l.address, l.size, err);
	return nm_import_reference(import, l.address, l.size, l.label ? NM_WIRE_WRITE : NM_WIRE_READ, err);
}

const struct nm_importer nm_import_din = {
    .name = "din", .summary = "Dinero: label, address, perhaps size", .probe = probe, .read = read_line};
