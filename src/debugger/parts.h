/* SPDX-License-Identifier: MIT
 *
 * parts.h - what is debugged, as bytes: a page that holds them needs no other file (docs/format/view.md).
 *
 * First comes the *run*: the machine, the settings, and of a trace the names of its keys. Then come the files of
 * a loop nest, or the references of a trace.
 */
#ifndef NM_PARTS_H
#define NM_PARTS_H

#include "debug_program.h"

struct nm_debugger;

struct nm_program_part {
	const char *kind; /* "file", "blocks", "run" */
	uint64_t count;   /* references of blocks */
	const void *bytes;
	size_t size;
};

struct nm_part_sink {
	/* Takes a part. *ret_fits = 0: there is no room, and it was not taken. */
	int (*put)(struct nm_part_sink *self, const struct nm_program_part *part, int *ret_fits,
		   struct nm_error *err);
};

/* Writes all parts; of a trace as many references from the first as there is room for: *ret_total. NM_EINVAL:
 * a level has a plug-in, which a page cannot run; NM_ENOSPC: there is no room for the names. */
int nm_parts_write(const struct nm_debugger *debugger, struct nm_part_sink *sink, uint64_t *ret_total,
		   struct nm_error *err);

/* ---- reading them ---- */

/* What a run says. Texts are those of the program. */
struct nm_parts_run {
	struct nm_machine machine;
	struct nm_debug_program program;      /* of a nest only names and path */
	struct nm_vec(const char *) settings; /* ended by NULL */
	uint64_t from, to;
	int is_trace;
};

/* Reads a run, ended by NUL; *ret is to be zero. 0, NM_EFORMAT: it makes no sense; NM_ENOMEM. */
int nm_parts_read_run(struct nm_parts_run *ret, const char *text, struct nm_error *err);
void nm_parts_run_done(struct nm_parts_run *run);

/* Appends the references of a part of kind "blocks". The same codes. */
int nm_parts_read_blocks(struct nm_references *references, const struct nm_program_part *part,
			 struct nm_error *err);

#endif
