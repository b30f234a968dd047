/* SPDX-License-Identifier: MIT
 *
 * checkpoint.h - a checkpoint of the simulation: the state of the caches at one position.
 *
 * A checkpoint can run forward, report its state, and be *copied*. To go back, the debugger copies the nearest
 * earlier checkpoint and runs the copy forward. A checkpoint is a process; a copy is forked, and the kernel copies
 * pages on write. So a copy is exact for any state, including a plug-in's own memory. In a page, which has no
 * processes, a checkpoint is an image of the simulation's memory (page/checkpoint_page.c).
 */
#ifndef NM_CHECKPOINT_H
#define NM_CHECKPOINT_H

#include <sys/types.h>

#include "caches.h"
#include "condition.h"
#include "record.h"

struct nm_checkpoint {
	int fd; /* of the socket to its process; the process ends when it is closed; -1: none */
	pid_t process;
	uint64_t position;
	uint64_t
	    changed; /* bytes that the original had changed since its previous copy, which only this copy holds */
};

struct nm_stop {
	struct nm_condition
	    condition; /* without steps: stop when the line at `line` leaves the level, in this core's cache */
	uint64_t line;
	uint32_t id, level, core;
	uint64_t skip; /* matches that do not stop; a run counts it down */
};

enum nm_run_flags { NM_RUN_LAST = 1 /* runs to the end, and reports the last match */ };

/* The report after a run: the last reference and its effects, and the match. */
struct nm_checkpoint_report {
	uint64_t position;
	uint64_t matched;    /* position of a match; 0: none */
	uint32_t matched_by; /* id of the stop */
	int32_t status;
	uint32_t effect_count;
	struct nm_effect effects[NM_EFFECTS];
	struct nm_effect left; /* of the match of a stop without a condition: the line that left */
};

/* Starts the first checkpoint, at position 0, which takes over the caches. */
int nm_checkpoint_start(struct nm_checkpoint *ret_checkpoint, struct nm_caches *caches,
			const struct nm_shared_record *record, struct nm_error *err);

/* Copies a checkpoint. */
int nm_checkpoint_copy(const struct nm_checkpoint *checkpoint, struct nm_checkpoint *ret_copy,
		       struct nm_error *err);

/* Runs forward to a position, or until one of the stops holds. NM_EPLUGIN, NM_ENOMEM: from the model. */
int nm_checkpoint_run(struct nm_checkpoint *checkpoint, uint64_t to, unsigned flags, struct nm_stop *stops,
		      unsigned stop_count, struct nm_checkpoint_report *ret_report, struct nm_error *err);

/* malloc'ed arrays: slots of sets [from, to) of a level's cache of a core; its sums by attribution key or
 * set. */
int nm_checkpoint_slots(const struct nm_checkpoint *checkpoint, unsigned level, unsigned core, uint64_t from,
			uint64_t to, struct nm_slot **ret_slots, struct nm_error *err);
int nm_checkpoint_sums(const struct nm_checkpoint *checkpoint, unsigned level, int by_set,
		       struct nm_sums **ret_sums, size_t *ret_count, struct nm_error *err);

/* Runs forward to a position, and counts the references and misses of each line of memory at a level. */
struct nm_line_sum {
	uint64_t line, references, misses;
	uint32_t attr; /* of the last reference */
};
int nm_checkpoint_lines(struct nm_checkpoint *checkpoint, uint64_t to, unsigned level,
			struct nm_line_sum **ret_lines, size_t *ret_count, struct nm_error *err);

struct nm_found_slot {
	int32_t is_there;
	uint32_t way;
	uint64_t set;
	struct nm_slot slot;
};
int nm_checkpoint_find(const struct nm_checkpoint *checkpoint, unsigned level, unsigned core,
		       uint64_t address, struct nm_found_slot *ret_found, struct nm_error *err);

/* Bytes of writable memory of a checkpoint; shared pages are divided equally among their processes (PSS). 0:
 * unknown. */
uint64_t nm_checkpoint_memory(const struct nm_checkpoint *checkpoint);

void nm_checkpoint_end(struct nm_checkpoint *checkpoint);

#endif
