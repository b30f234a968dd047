/* SPDX-License-Identifier: MIT
 *
 * import.h - traces of other tools, as a stream.
 *
 *     nm_import_open(&import, "trace.din.gz", NULL, err);
 *     while ((status = nm_import_next(import, &words, &count, err)) > 0)
 *             ...one stream, whole records...
 *     nm_import_free(import);
 */
#ifndef NM_IMPORT_H
#define NM_IMPORT_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

struct nm_import;

struct nm_import_options {
	const char *format; /* NULL: detected from the beginning */
	int kernel;         /* take instructions and data of the kernel's half of the addresses, too */
};

/* path "-" is standard input; options may be NULL. NM_EFORMAT: unknown format; NM_EINVAL: there is no format of
 * that name. */
int nm_import_open(struct nm_import **ret_import, const char *path, const struct nm_import_options *options,
		   struct nm_error *err);

/* The same from a peeked input (files.h); takes over its descriptor. */
struct nm_peeked_input;
int nm_import_take(struct nm_import **ret_import, const struct nm_peeked_input *peeked, const char *path,
		   const struct nm_import_options *options, struct nm_error *err);
void nm_import_free(struct nm_import *import);

/* 1 and the next records, valid until the next call; 0 at the end. Lines that are none of the format's are passed
 * over. NM_EFORMAT names the line or byte where the file is damaged, and earlier records are good; or it says
 * that the file has no reference at all. */
int nm_import_next(struct nm_import *import, const uint64_t **ret_words, size_t *ret_count,
		   struct nm_error *err);

/* The references so far. */
uint64_t nm_import_references(const struct nm_import *import);

/* The i-th thing that a user should know about what was read (lines that were passed over, the kernel's part) as a
 * sentence without its subject, in `text`: 1, or 0 if there are no more. */
int nm_import_remark(const struct nm_import *import, unsigned i, char *text, size_t room);

/* Its stream before the first nm_import_next, which holds the process record; the caller may append whole
 * records. */
struct nm_wire_words;
struct nm_wire_words *nm_import_words(struct nm_import *import);

/* The name of its format. */
const char *nm_import_format(const struct nm_import *import);

/* The name of the i-th format, and one line on it; NULL behind the last. */
const char *nm_import_format_at(size_t i, const char **ret_summary);

#endif
