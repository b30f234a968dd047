/* SPDX-License-Identifier: MIT
 *
 * plan.h - what the engine does for one execution of a block by one thread.
 *
 * A plan is made from the block's definition at its first execution by the thread.  Each access carries an
 * inline cache: the range of the object that it touched last and the cell that this gives, so that an
 * access that stays within a variable, or within its own stack frame, costs two compares.
 */
#ifndef NM_PLAN_H
#define NM_PLAN_H

#include <stdint.h>

enum { NM_PREFETCH = 3 };

/* Hot: 32 bytes, two to a cache line.  References are counted here and drained to their cells when the
 * access turns to another object, at the end, and often enough that 32 bits do not overflow: the cells'
 * own counters are spread too wide to be touched for every reference. */
struct nm_access {
	uint64_t low; /* the cached range is [low, low + length); length 0: none */
	uint32_t length;
	uint32_t count;    /* references to `cell` that are not drained yet */
	uint32_t cell;     /* of the object that was found last */
	uint32_t own_cell; /* of the running function's stack frame, 0 until needed */
	uint32_t own_count;
	uint32_t rest; /* the last four bytes of its struct nm_ref: size, kind, weight */
};
_Static_assert(sizeof(struct nm_access) == 32, "two accesses share a cache line");

static inline unsigned nm_access_kind(const struct nm_access *a) { return a->rest >> 16 & 0xff; }

/* What is needed only when the object changes. */
struct nm_access_origin {
	uint32_t place, object;
	uint32_t block, visits; /* heap block found last, how many times in a row */
	uint8_t listed;         /* in the engine's list of ranges that end with a mapping */
};

/* An access that caches the range of a heap block, in the block's list of them. */
struct nm_cacher {
	struct nm_access *access;
	uint32_t next;
};

/* A run of instructions within one cache line, for --instr. */
struct nm_fetch {
	uint64_t address;
	uint32_t cell;
	uint16_t first; /* index of its first instruction in the block */
	uint8_t instructions, bytes;
};

struct nm_side_exit {
	uint16_t accesses, instructions;
};

/* The cold part of a plan. */
struct nm_plan_origin {
	struct nm_side_exit *exit; /* [exits] */
	struct nm_fetch *fetch;
	uint32_t fetches;
	struct nm_access_origin access[];
};

/* What an execution needs comes first, in 32 bytes: a block with one access is one cache line. */
struct nm_plan {
	uint16_t accesses, instructions, exits;
	uint8_t end;           /* enum nm_wire_exit_kind */
	uint8_t prefetches;    /* some accesses are prefetches: they are no references */
	uint32_t stack_object; /* the frame of the block's function */
	struct nm_side_exit first_exit;
	uint64_t call_pc; /* last instruction: the call, if end is CALL */
	struct nm_plan_origin *origin;
	struct nm_access access[];
};
_Static_assert(sizeof(struct nm_plan) == 32, "half a cache line");

#endif
