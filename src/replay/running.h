/* SPDX-License-Identifier: MIT
 *
 * running.h - the threads of the program, and which of them runs.
 */
#ifndef NM_RUNNING_H
#define NM_RUNNING_H

#include <stddef.h>
#include <stdint.h>

#include "contexts.h"
#include "frames.h"
#include "inline_cache.h"
#include "map.h"
#include "regions.h"
#include "signals.h"
#include "vector.h"
#include "window.h"

/* The code of a thread in a region (regions.h). */
struct nm_lane {
	uint32_t number, region;
	/* by block id, of library code the one executed last; nm_undecoded_block where there is none */
	struct nm_decoded_block **decoded_blocks;
	size_t decoded_room;
	struct nm_map library_blocks; /* (block id << 32 | the user's call) -> decoded block */
};

struct nm_thread {
	uint32_t wire;   /* the collector's number */
	uint32_t number; /* 1, 2, ... in order of starts */
	int live;
	struct nm_lane *lane;                  /* the one that runs */
	struct nm_vec(struct nm_lane *) lanes; /* [0]: outside of all regions */
	struct nm_open_regions open;
	struct nm_open_calls open_calls; /* of functions that the window names, the latest last */
	struct nm_frames frames;
	struct nm_wrapper_probe probe;
	struct nm_signals signals;
};

struct nm_threads nm_vec(struct nm_thread *);

struct nm_running {
	struct nm_stack_window window;
	struct nm_stack *stack; /* of the thread */
	struct nm_thread *thread;
	struct nm_decoded_block *last; /* executed; never NULL */
	/* Calls and returns below this leave the frames alone whose ranges entries keep (resolve.c). */
	uint64_t kept_frames;
};

#endif
