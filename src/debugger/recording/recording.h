/* SPDX-License-Identifier: MIT
 *
 * recording.h - a run of the debugger as bytes, from which a page can show what the debugger shows, without
 * a cache model and without a server.
 *
 * A recording is a *description* of the whole run, and *windows*: the contents of the caches at a position,
 * followed by the effects of each reference, in *chunks*, and for the main one by the *earlier* departures of
 * its lines. docs/format/recorded-run.md has the format.
 */
#ifndef NM_RECORDING_H
#define NM_RECORDING_H

#include "debugger.h"

enum { NM_CHUNK_REFERENCES = 1 << 13 };

struct nm_recording_part {
	const char *kind; /* "run": the description, JSON; "window", "chunk", "earlier" */
	uint64_t from;    /* position before the first reference */
	uint64_t count;   /* references of a chunk */
	const void *bytes;
	size_t size;
};

struct nm_recording_sink {
	/* Takes a part, and reduces `room`. *ret_fits = 0: it did not fit and was not taken. */
	int (*put)(struct nm_recording_sink *self, const struct nm_recording_part *part, int *ret_fits,
		   struct nm_error *err);
	size_t room; /* bytes */
};

struct nm_recording_window {
	uint64_t first; /* number of the first reference; 0: automatic */
	uint64_t count; /* 0: as many as fit */
};

/* Records the references of the window, or as many of them as fit: *ret_recorded. NM_EINVAL: there are no
 * such references, or an address is too large for a page. */
int nm_debugger_record(struct nm_debugger *debugger, const struct nm_recording_window *window,
		       struct nm_recording_sink *sink, struct nm_recording_window *ret_recorded,
		       struct nm_error *err);

#endif
