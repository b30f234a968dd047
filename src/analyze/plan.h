/* SPDX-License-Identifier: MIT
 *
 * plan.h - what the engine does for one execution of a block by one thread.
 *
 * A plan is made from the block's definition at its first execution by the thread.  Each access carries an
 * inline cache: the range of an object that it keeps and the cell that this gives, so that an access that stays
 * within a variable, or within its own stack frame, costs two compares.  Accesses stand in groups of
 * NM_LANES, each of their figures in an array of its own, so that one vector instruction compares a whole group
 * (lanes.h).  What else is known of an access is its origin, in one list of the engine.
 */
#ifndef NM_PLAN_H
#define NM_PLAN_H

#include <stddef.h>
#include <stdint.h>

enum { NM_PREFETCH = 3, NM_LANES = 4 };

/* Hot.  A word is what stands behind the address in a struct nm_ref: cell, size, kind, weight.  References are
 * counted here and drained to their cells when a lane turns to another cell, at the end, and often enough that 32
 * bits do not overflow: the cells' own counters are spread too wide to be touched for every reference. */
struct nm_lanes {
	uint64_t low[NM_LANES], length[NM_LANES]; /* the kept range is [low, low + length); length 0: none */
	uint64_t kept[NM_LANES];                  /* word for the kept range; its cell may be 0 */
	uint64_t own[NM_LANES];   /* word for the running function's stack frame, 0 until needed */
	uint64_t count[NM_LANES]; /* not drained: references by `kept`, and << 32 those by `own` */
};

/* An access, where its lane does not know the cell. */
struct nm_origin {
	struct nm_lanes *lanes;
	uint32_t site, place;
	uint32_t block; /* heap block found last, */
	uint16_t again; /* how many times in a row */
	uint8_t lane;
	uint8_t listed; /* in the engine's list of ranges that end with a mapping */
};

/* An access that keeps the range of a heap block, in the block's list of them. */
struct nm_cacher {
	uint32_t origin, next;
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
	uint8_t fetched; /* bytes of the run in which it leaves that are executed, for --instr */
};

/* The cold part of a plan. */
struct nm_plan_tables {
	struct nm_side_exit *exit;
	struct nm_fetch *fetch;
	uint32_t exits, fetches, accesses;
};

/* Half a cache line, so that a plan with one group is three. */
struct nm_plan {
	uint32_t usual; /* addresses that follow the header, if nothing is to be done singly; else too many */
	uint16_t instructions; /* of the whole block */
	uint8_t end;           /* enum nm_wire_exit_kind */
	uint8_t fills;         /* all bits: its function copies or clears memory (resolve.c) */
	uint32_t first_origin; /* of its accesses, which follow each other in the engine's list */
	uint32_t stack_object; /* the frame of the block's function */
	uint64_t call_pc;      /* last instruction: the call, if end is CALL */
	struct nm_plan_tables *tables;
	struct nm_lanes lanes[];
};
_Static_assert(sizeof(struct nm_plan) == 32 && sizeof(struct nm_lanes) == 160,
	       "one group: three cache lines");

enum { NM_SINGLY = 1 << 16 /* more addresses than any block has */ };

static inline struct nm_lanes *nm_plan_lanes(struct nm_plan *plan, size_t access)
{
	return &plan->lanes[access / NM_LANES];
}

static inline unsigned nm_lane_kind(const struct nm_lanes *lanes, unsigned lane)
{
	return lanes->kept[lane] >> 48 & 0xff;
}

static inline unsigned nm_plan_kind(const struct nm_plan *plan, size_t access)
{
	return nm_lane_kind(&plan->lanes[access / NM_LANES], access % NM_LANES);
}

#endif
