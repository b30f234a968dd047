/* SPDX-License-Identifier: MIT
 *
 * debugger_priv.h - the debugger's own state: its current checkpoint, on a timeline shared with other
 * debuggers.
 */
#ifndef NM_DEBUGGER_PRIV_H
#define NM_DEBUGGER_PRIV_H

#include "checkpoints.h"
#include "debugger.h"

/* Settings of a nest, "NAME=VALUE"; the list is ended by a NULL behind `count`. */
struct nm_settings {
	struct nm_vec(const char *) list;
	struct nm_strings strings;
};

struct nm_debugger {
	struct nm_debugger_source source;
	struct nm_settings settings;        /* of a nest that was changed; else empty */
	struct nm_checkpoints *checkpoints; /* NULL: at rest, and has settings */
	struct nm_checkpoint current;       /* without a descriptor: at rest */
	struct nm_checkpoint_report report; /* of the current checkpoint */
	struct nm_vec(struct nm_breakpoint) breakpoints;
	uint32_t last_id;
	uint64_t
	    interrupted_at; /* where time ended a run to a breakpoint, if nothing has moved since; or 0 */
};

/* evicted.c: the reference that evicted a line from a level, before the current position and, if the line is
 * back, before its latest load. */
struct nm_departure {
	int is_resident;
	struct nm_found_slot found; /* the line's slot, if it is cached */
	uint64_t evicted_at;        /* position; 0: it never left */
	struct nm_effect left;
};
int nm_debugger_evicted(struct nm_debugger *debugger, unsigned level, unsigned core, uint64_t address,
			struct nm_departure *ret_departure, struct nm_error *err);

void nm_settings_done(struct nm_settings *settings);

/* The same nest from the start with other settings, which it takes over, at the position where it was, as far
 * as it goes; breakpoints remain. After a failure nothing has changed. Settings of the start remain the base
 * of further ones. */
int nm_debugger_restart(struct nm_debugger *debugger, struct nm_settings *settings, struct nm_error *err);

/* Simulates the current checkpoint again after nm_debugger_rest(). A debugger at rest only has a position. */
int nm_debugger_wake(struct nm_debugger *debugger, struct nm_error *err);

/* References and misses by line of memory, between two positions, malloc'ed. */
int nm_debugger_lines(struct nm_debugger *debugger, uint64_t from, uint64_t to, unsigned level,
		      struct nm_line_sum **ret_lines, size_t *ret_count, struct nm_error *err);

/* The sums at a position other than the current one, as nm_checkpoint_sums(). */
int nm_debugger_sums(struct nm_debugger *debugger, uint64_t position, unsigned level, int by_set,
		     struct nm_sums **ret_sums, size_t *ret_count, struct nm_error *err);

#endif
