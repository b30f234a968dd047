/* SPDX-License-Identifier: MIT
 *
 * import.c - the table of formats, choosing one, and helpers that they share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "importer.h"
#include "peek.h"

/* One more format: a file with its struct nm_importer, and a row. */
static const struct nm_importer *const importers[] = {
    &nm_import_lackey, &nm_import_din, &nm_import_drmemtrace, &nm_import_csv, &nm_import_champsim};

enum { COUNT = sizeof importers / sizeof *importers, PROBE_BYTES = 8192, ENOUGH_WORDS = 1 << 14 };

const char *nm_import_format_at(size_t i, const char **ret_summary)
{
	if (i >= COUNT)
		return NULL;
	*ret_summary = importers[i]->summary;
	return importers[i]->name;
}

const char *nm_import_format(const struct nm_import *import) { return import->importer->name; }

/* ---- choosing ---- */

static const struct nm_importer *named(const char *format)
{
	for (size_t i = 0; i < COUNT; i++)
		if (!strcmp(importers[i]->name, format))
			return importers[i];
	return NULL;
}

static const struct nm_importer *surest(const uint8_t *bytes, size_t count)
{
	const struct nm_importer *best = NULL;
	int most = 0;

	for (size_t i = 0; i < COUNT; i++) {
		int sure = importers[i]->probe(bytes, count);

		if (sure > most) {
			most = sure;
			best = importers[i];
		}
	}
	return best;
}

static int choose(struct nm_import *import, const char *path, const char *format, struct nm_error *err)
{
	const uint8_t *bytes;
	size_t count;
	int status;

	if (format) {
		import->importer = named(format);
		return import->importer ? 0
					: nm_fail(err, NM_EINVAL, "there is no trace format \"%s\"", format);
	}
	status = nm_input_peek(import->input, PROBE_BYTES, &bytes, &count, err);
	if (status)
		return status;
	import->importer = surest(bytes, count);
	return import->importer ? 0
				: nm_fail(err, NM_EFORMAT, "%s is in no trace format that is known", path);
}

/* The process gets the file's name. */
static int start(struct nm_import *import, const char *path, struct nm_error *err)
{
	const char *slash = strrchr(path, '/');

	import->state = calloc(1, import->importer->state_bytes + 1);
	if (!import->state || nm_builder_start(&import->builder, slash ? slash + 1 : path))
		return nm_fail_memory(err);
	return 0;
}

int nm_import_take(struct nm_import **ret_import, const struct nm_peeked_input *peeked, const char *path,
		   const char *format, struct nm_error *err)
{
	struct nm_import *import = calloc(1, sizeof *import);
	int status;

	if (!import) {
		close(peeked->fd);
		return nm_fail_memory(err);
	}
	status = nm_input_take(&import->input, peeked, err);
	if (!status)
		status = choose(import, path, format, err);
	if (!status)
		status = start(import, strcmp(path, "-") ? path : "standard input", err);
	if (status) {
		nm_import_free(import);
		return status;
	}
	*ret_import = import;
	return 0;
}

int nm_import_open(struct nm_import **ret_import, const char *path, const char *format, struct nm_error *err)
{
	struct nm_peeked_input peeked;
	int status = nm_peek_input(&peeked, path, err);

	return status ? status : nm_import_take(ret_import, &peeked, path, format, err);
}

void nm_import_free(struct nm_import *import)
{
	if (!import)
		return;
	if (import->state && import->importer->done)
		import->importer->done(import->state);
	free(import->state);
	nm_builder_done(&import->builder);
	nm_input_close(import->input);
	free(import);
}

struct nm_wire_words *nm_import_words(struct nm_import *import) { return &import->builder.words; }

/* ---- reading ---- */

/* What was read before a fault is given first; the fault comes with the next call. */
int nm_import_next(struct nm_import *import, const uint64_t **ret_words, size_t *ret_count,
		   struct nm_error *err)
{
	struct nm_builder *b = &import->builder;
	int status = 1;

	if (import->ended)
		return 0;
	if (b->given) {
		b->words.count = 0;
		b->given = 0;
	}
	if (import->fault.code) {
		import->ended = 1;
		if (err)
			*err = import->fault;
		return import->fault.code;
	}
	while (status > 0 && b->words.count < ENOUGH_WORDS)
		status = import->importer->read(import, &import->fault);
	if (!status) {
		import->ended = 1;
		status = nm_builder_exit(b) ? nm_fail_memory(&import->fault) : 0;
	} else if (status < 0 && nm_builder_flush(b)) {
		nm_fail_memory(&import->fault);
	}
	b->given = 1;
	*ret_words = b->words.at;
	*ret_count = b->words.count;
	return 1;
}

/* ---- shared ---- */

int nm_import_fail(const struct nm_import *import, struct nm_error *err, const char *what)
{
	return nm_fail(err, NM_EFORMAT, "line %llu: %s",
		       (unsigned long long)nm_input_line_number(import->input), what);
}

void nm_import_blanks(const char **at) { *at += strspn(*at, " \t"); }

static int number(const char **at, unsigned base, uint64_t *ret_number)
{
	const char *s = *at;
	uint64_t n = 0;

	for (;; s++) {
		unsigned digit = *s >= '0' && *s <= '9'   ? (unsigned)(*s - '0')
				 : *s >= 'a' && *s <= 'f' ? (unsigned)(*s - 'a' + 10)
				 : *s >= 'A' && *s <= 'F' ? (unsigned)(*s - 'A' + 10)
							  : 16;

		if (digit >= base)
			break;
		if (n > (UINT64_MAX - digit) / base)
			return 0;
		n = n * base + digit;
	}
	if (s == *at)
		return 0;
	*at = s;
	*ret_number = n;
	return 1;
}

int nm_import_hex(const char **at, uint64_t *ret_number)
{
	const char *s = *at;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	if (!number(&s, 16, ret_number))
		return 0;
	*at = s;
	return 1;
}

int nm_import_decimal(const char **at, uint64_t *ret_number) { return number(at, 10, ret_number); }

void nm_import_count_lines(const uint8_t *bytes, size_t count, nm_line_check *is_line, unsigned *ret_yes,
			   unsigned *ret_no)
{
	char line[512];
	const uint8_t *end;

	*ret_yes = *ret_no = 0;
	for (size_t at = 0; at < count; at = (size_t)(end - bytes) + 1) {
		size_t n;

		end = memchr(bytes + at, '\n', count - at);
		if (!end && at) /* cut by the end of what we see */
			return;
		end = end ? end : bytes + count;
		n = (size_t)(end - bytes) - at;
		n = n < sizeof line ? n : sizeof line - 1;
		memcpy(line, bytes + at, n);
		line[n] = '\0';
		line[strcspn(line, "\r")] = '\0';
		if (line[0] && is_line(line))
			++*ret_yes;
		else if (line[0])
			++*ret_no;
	}
}

int nm_import_instruction(struct nm_import *import, uint64_t pc, uint64_t bytes, struct nm_error *err)
{
	if (pc >> 48)
		return nm_import_fail(import, err, "the address of the instruction is out of range");
	if (!bytes || bytes > UINT8_MAX)
		return nm_import_fail(import, err, "the length of the instruction must be 1 to 255");
	return nm_builder_instruction(&import->builder, pc, (unsigned)bytes) ? nm_fail_memory(err) : 1;
}

int nm_import_check(const struct nm_import *import, uint64_t address, uint64_t size, struct nm_error *err)
{
	if (address >> 63 || address + size > 1ull << 63)
		return nm_import_fail(import, err, "the address is out of range");
	if (!size || size > UINT16_MAX)
		return nm_import_fail(import, err, "the size must be 1 to 65535");
	return 0;
}

int nm_import_reference(struct nm_import *import, uint64_t address, uint64_t size, unsigned flags,
			struct nm_error *err)
{
	int status = nm_import_check(import, address, size, err);

	if (status)
		return status;
	return nm_builder_access(&import->builder, address, (unsigned)size, flags) ? nm_fail_memory(err) : 1;
}
