/* SPDX-License-Identifier: MIT
 *
 * import.c - the table of formats, and choosing one.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "import.h"
#include "importer.h"

/* One more format: a file with its struct nm_importer, and a row. */
static const struct nm_importer *const importers[] = {&nm_import_lackey,     &nm_import_din,
						      &nm_import_drmemtrace, &nm_import_csv,
						      &nm_import_champsim,   &nm_import_cloudsuite};

enum { COUNT = sizeof importers / sizeof *importers, PROBE_BYTES = NM_INPUT_AHEAD, ENOUGH_WORDS = 1 << 14 };

const char *nm_import_format_at(size_t i, const char **ret_summary)
{
	if (i >= COUNT)
		return NULL;
	*ret_summary = importers[i]->summary;
	return importers[i]->name;
}

const char *nm_import_format(const struct nm_import *import) { return import->importer->name; }

/* ---- choosing ---- */

static const struct nm_importer *format_named(const char *format)
{
	for (size_t i = 0; i < COUNT; i++)
		if (!strcmp(importers[i]->name, format))
			return importers[i];
	return NULL;
}

static const struct nm_importer *surest_format(const uint8_t *bytes, size_t count)
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

/* Nothing fits: what the file is instead, or what a table of references lacks. */
static int fail_unknown(const uint8_t *bytes, size_t count, const char *path, struct nm_error *err)
{
	const char *elsewhere = known_elsewhere(bytes, count);
	const char *lacks = elsewhere ? NULL : csv_lacks(bytes, count);

	if (elsewhere)
		return nm_fail(err, NM_EFORMAT, "%s %s", path, elsewhere);
	if (lacks)
		return nm_fail(err, NM_EFORMAT, "%s is a table of no references: %s", path, lacks);
	return nm_fail(
	    err, NM_EFORMAT,
	    "%s is in no trace format that is known; if it is lackey, din, drmemtrace, csv, champsim or "
	    "cloudsuite, say so with --format",
	    path);
}

static int choose_format(struct nm_import *import, const char *path, const char *format, struct nm_error *err)
{
	const uint8_t *bytes;
	size_t count;
	int status;

	if (format) {
		import->importer = format_named(format);
		return import->importer ? 0
					: nm_fail(err, NM_EINVAL, "there is no trace format \"%s\"", format);
	}
	status = input_peek(import->input, PROBE_BYTES, &bytes, &count, err);
	if (status)
		return status;
	import->importer = surest_format(bytes, count);
	return import->importer ? 0 : fail_unknown(bytes, count, path, err);
}

/* The process gets the file's name. */
static int start_process(struct nm_import *import, const char *path, struct nm_error *err)
{
	const char *slash = strrchr(path, '/');

	import->state = calloc(1, import->importer->state_bytes + 1);
	if (!import->state || builder_start(&import->builder, slash ? slash + 1 : path))
		return nm_fail_memory(err);
	return 0;
}

int nm_import_take(struct nm_import **ret_import, const struct nm_peeked_input *peeked, const char *path,
		   const struct nm_import_options *options, struct nm_error *err)
{
	struct nm_import *import = calloc(1, sizeof *import);
	int status;

	if (!import) {
		close(peeked->fd);
		return nm_fail_memory(err);
	}
	import->takes_kernel = options && options->kernel;
	status = input_take(&import->input, peeked, err);
	if (!status)
		status = choose_format(import, path, options ? options->format : NULL, err);
	if (!status)
		status = start_process(import, strcmp(path, "-") ? path : "standard input", err);
	if (status) {
		nm_import_free(import);
		return status;
	}
	*ret_import = import;
	return 0;
}

int nm_import_open(struct nm_import **ret_import, const char *path, const struct nm_import_options *options,
		   struct nm_error *err)
{
	struct nm_peeked_input peeked;
	int status = nm_peek_input(&peeked, path, err);

	return status ? status : nm_import_take(ret_import, &peeked, path, options, err);
}

void nm_import_free(struct nm_import *import)
{
	if (!import)
		return;
	if (import->state && import->importer->done)
		import->importer->done(import->state);
	free(import->state);
	builder_done(&import->builder);
	input_close(import->input);
	free(import);
}

struct nm_wire_words *nm_import_words(struct nm_import *import) { return &import->builder.words; }

uint64_t nm_import_references(const struct nm_import *import) { return import->references; }

int nm_import_remark(const struct nm_import *import, unsigned i, char *text, size_t room)
{
	const struct nm_import_passed *p = &import->passed;
	const int kernel = p->kernel_instructions || p->kernel_references;

	assert(room > 0);
	if (p->lines && i == 0) {
		snprintf(
		    text, room,
		    "%" PRIu64 " of %" PRIu64 " lines have no %s record, or other text before one, and that "
		    "was skipped; the first is line %" PRIu64 ": %s",
		    p->lines, input_line_number(import->input), import->importer->name, p->first, p->why);
		return 1;
	}
	if (!kernel || i != (p->lines ? 1 : 0))
		return 0;
	snprintf(text, room,
		 "%" PRIu64 " instructions and %" PRIu64
		 " references of the kernel were skipped (--kernel counts them)",
		 p->kernel_instructions, p->kernel_references);
	return 1;
}

/* ---- reading ---- */

static int fail_empty(const struct nm_import *import, struct nm_error *err)
{
	char why[sizeof err->text - 40];

	if (!nm_import_remark(import, 0, why, sizeof why))
		return nm_fail(err, NM_EFORMAT, "there is no reference");
	return nm_fail(err, NM_EFORMAT, "there is no reference: %s", why);
}

/* Records before a fault are returned first, the fault with the next call. */
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
	if (!status && !import->references)
		status = fail_empty(import, &import->fault);
	if (!status) {
		import->ended = 1;
		status = builder_exit(b) ? nm_fail_memory(&import->fault) : 0;
	} else if (status < 0 && builder_flush(b)) {
		nm_fail_memory(&import->fault);
	}
	b->given = 1;
	*ret_words = b->words.at;
	*ret_count = b->words.count;
	return 1;
}
