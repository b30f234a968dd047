/* SPDX-License-Identifier: MIT
 *
 * checkpoints.h - the whole run of a program, and the checkpoints of it that are kept. Debuggers at different
 * positions of one run share its timeline.
 *
 * Kept checkpoints, *checkpoints*, are at multiples of `interval`. If they are more than NM_CHECKPOINTS, or
 * take more memory than NM_MEMORY_MOST, every second one is dropped and the interval doubles. A few other
 * checkpoints are kept shortly before recently visited positions, denser near these, so that returning there is
 * fast.
 */
#ifndef NM_CHECKPOINTS_H
#define NM_CHECKPOINTS_H

#include "checkpoint.h"
#include "debug_program.h"
#include "debugger.h"
#include "vector.h"

enum {
	NM_CHECKPOINTS = 256,
	NM_LEAST_CHECKPOINTS = 16, /* kept whatever memory they take */
	NM_NEAR_CHECKPOINTS = 12,
	NM_LEAST_INTERVAL = 1 << 16, /* references, which run in an instant */
	NM_MEMORY_MOST = 800 << 20,  /* bytes */
};

struct nm_checkpoints {
	unsigned users; /* debuggers */
	struct nm_debug_program program;
	struct nm_machine machine;
	struct nm_caches *caches; /* as at position 0 */
	struct nm_shared_record record;
	struct nm_vec(struct nm_checkpoint) regular; /* by position; [0] is at 0 */
	struct nm_checkpoint near[NM_NEAR_CHECKPOINTS];
	unsigned next_near;
	uint64_t interval;
	uint64_t memory; /* estimated memory of all checkpoints */
	struct nm_reference_reader *reader;
};

/* Reads the references. The timeline has one user, and one checkpoint, at position 0. Codes of
 * nm_debugger_open(). */
int nm_checkpoints_open(struct nm_checkpoints **ret_checkpoints, const struct nm_debugger_source *source,
			struct nm_error *err);
/* Removes a user; the last one frees the timeline. */
void nm_checkpoints_leave(struct nm_checkpoints *checkpoints);

/* A copy of the latest kept checkpoint at or before a position. */
int nm_checkpoints_fetch(struct nm_checkpoints *checkpoints, uint64_t position,
			 struct nm_checkpoint *ret_checkpoint, struct nm_error *err);
/* Keeps a copy of a checkpoint, so that returning to it is fast. */
void nm_checkpoints_mark(struct nm_checkpoints *checkpoints, const struct nm_checkpoint *checkpoint);
/* Runs a checkpoint forward to a position, or until a stop holds or time is up; keeps checkpoints on the way. */
int nm_checkpoints_advance(struct nm_checkpoints *checkpoints, struct nm_checkpoint *checkpoint, uint64_t to,
			   struct nm_stop *stops, unsigned stop_count, double deadline,
			   enum nm_stopped *ret_stopped, struct nm_checkpoint_report *ret_report,
			   struct nm_error *err);
/* Moves a checkpoint to a position, forward or back; starts it if it has no descriptor. */
int nm_checkpoints_go(struct nm_checkpoints *checkpoints, struct nm_checkpoint *checkpoint, uint64_t position,
		      struct nm_checkpoint_report *ret_report, struct nm_error *err);

#endif
