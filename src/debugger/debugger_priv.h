/* SPDX-License-Identifier: MIT
 *
 * debugger_priv.h - the debugger's own state: the moment that is looked at, and those that are kept.
 *
 * Kept moments, *checkpoints*, lie at multiples of `interval`; when they are more than NM_CHECKPOINTS, or all
 * together take more memory than NM_MEMORY_MOST, every second one goes and the interval doubles. A few others
 * lie before positions that were gone to, the closer the denser, so that the next ways there are short.
 */
#ifndef NM_DEBUGGER_PRIV_H
#define NM_DEBUGGER_PRIV_H

#include "debug_program.h"
#include "debugger.h"
#include "moment.h"
#include "vector.h"

enum {
	NM_CHECKPOINTS = 256,
	NM_LEAST_CHECKPOINTS = 16, /* whatever memory they take */
	NM_NEAR_MOMENTS = 12,
	NM_LEAST_INTERVAL = 1 << 16, /* references that are run in a moment's time */
	NM_MEMORY_MOST = 800 << 20,  /* bytes */
};

struct nm_debugger {
	struct nm_debugger_source source;
	struct nm_debug_program program;
	struct nm_machine machine;
	struct nm_caches *caches; /* as at position 0 */
	struct nm_shared_record record;
	struct nm_moment current;
	struct nm_vec(struct nm_moment) checkpoints; /* by position; [0] is at 0 */
	struct nm_moment near[NM_NEAR_MOMENTS];
	unsigned next_near;
	uint64_t interval;
	uint64_t memory;                /* about what the states of checkpoints take */
	struct nm_moment_report report; /* of the current moment */
	struct nm_vec(struct nm_breakpoint) breakpoints;
	uint32_t last_id;
	struct nm_reference_reader *reader;
};

/* timeline.c: a new moment of the latest kept state that is not behind a position. */
int nm_timeline_fetch(struct nm_debugger *debugger, uint64_t position, struct nm_moment *ret_moment,
		      struct nm_error *err);
int nm_timeline_start(struct nm_debugger *debugger, struct nm_error *err);
void nm_timeline_end(struct nm_debugger *debugger);
/* Makes the way back to the current position short. */
void nm_timeline_mark(struct nm_debugger *debugger);
/* Runs the current moment forward, keeping checkpoints on the way. *ret_matched: position of a match, or
 * 0. */
int nm_timeline_advance(struct nm_debugger *debugger, uint64_t to, const struct nm_stop *stops,
			unsigned stop_count, double deadline, enum nm_stopped *ret_stopped, uint32_t *ret_id,
			struct nm_error *err);

/* evicted.c: who made a line leave a level before the current position, and before it came back if it is
 * there. */
struct nm_departure {
	int is_resident;
	struct nm_found_slot found; /* if it is */
	uint64_t evicted_at;        /* position; 0: it never left */
	struct nm_effect left;
};
int nm_debugger_evicted(struct nm_debugger *debugger, unsigned level, unsigned core, uint64_t address,
			struct nm_departure *ret_departure, struct nm_error *err);

/* Settings of a nest, "NAME=VALUE". */
struct nm_settings {
	struct nm_vec(const char *) list;
	struct nm_strings strings;
};

/* The same nest from the start with other settings (ended by NULL), at the position where it was, as far as
 * it goes; breakpoints stay. After a failure nothing has changed. Settings of the start stay the base of
 * further ones. */
int nm_debugger_restart(struct nm_debugger *debugger, const char *const *settings, struct nm_error *err);

/* References and misses by line of memory, between two positions, malloc'ed. */
int nm_debugger_lines(struct nm_debugger *debugger, uint64_t from, uint64_t to, unsigned level,
		      struct nm_line_tally **ret_lines, size_t *ret_count, struct nm_error *err);

/* The state of sums at a position other than the current one: tallies as nm_moment_tallies(). */
int nm_debugger_tallies(struct nm_debugger *debugger, uint64_t position, unsigned level, int by_set,
			struct nm_tally **ret_tallies, size_t *ret_count, struct nm_error *err);

#endif
