/* SPDX-License-Identifier: MIT
 *
 * recording.h - a run of the debugger as bytes, from which a page answers as the debugger does, without a
 * model and without a server.
 *
 * A recording is a *description* of the whole run, and *windows*: what the caches hold at a position, and then
 * in *chunks* what each reference does. docs/format/recorded-run.md has the bytes.
 */
#ifndef NM_RECORDING_H
#define NM_RECORDING_H

#include "debugger.h"

enum { NM_CHUNK_REFERENCES = 1 << 13 };

struct nm_recording_part {
	const char *kind; /* "run": the description, JSON; "window", "chunk" */
	uint64_t from;    /* position before the first reference */
	uint64_t count;   /* references of a chunk */
	const void *bytes;
	size_t size;
};

struct nm_recording_sink {
	/* Takes a part, and lowers `room`. *ret_fits = 0: there is no room for it, and it was not taken. */
	int (*put)(struct nm_recording_sink *self, const struct nm_recording_part *part, int *ret_fits,
		   struct nm_error *err);
	size_t room; /* bytes */
};

struct nm_recording_window {
	uint64_t first; /* number of the first reference; 0: as is best */
	uint64_t count; /* 0: as many as there is room for */
};

/* Records the references of the window, or as many of them as there is room for: *ret_recorded. NM_EINVAL:
 * there are no such references, or an address is too large for a page. */
int nm_debugger_record(struct nm_debugger *debugger, const struct nm_recording_window *window,
		       struct nm_recording_sink *sink, struct nm_recording_window *ret_recorded,
		       struct nm_error *err);

#endif
