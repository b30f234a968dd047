/* SPDX-License-Identifier: MIT
 *
 * engine_priv.h - the engine's state, shared by its files:
 *   engine.c   life, the loop over records
 *   execute.c  blocks become references, calls become frames (the hot path)
 *   single_step.c   the same where it is rare, an access at a time
 *   decoded_block.c     what to do for a block
 *   resolve.c  the attribution key of a reference, where the access does not know it
 *   grouped.c  the same of accesses that share an address word
 *   events.c   every other record
 *   inherit.c  forked children
 *   names.c    names for objects when the stream has ended
 *   chains.c   the same where heap buckets are told apart by call chain
 *   code.c     the code of what missed
 *   program.c  what passes may ask of the engine
 *   memory.c   huge pages, and what else passes are told between batches
 *   merge.c    attribution keys to source terms: the result
 */
#ifndef NM_ENGINE_PRIV_H
#define NM_ENGINE_PRIV_H

#include "attribution.h"
#include "bursts.h"
#include "calls.h"
#include "coalesced.h"
#include "contexts.h"
#include "decode.h"
#include "decoded_block.h"
#include "engine.h"
#include "frames.h"
#include "inline_cache.h"
#include "instruction_clock.h"
#include "pass.h"
#include "sampler.h"
#include "signals.h"
#include "space.h"
#include "workers.h"

enum { NM_KNOWN = 1 << 30, NM_DEBITED = 1 << 29 };

struct nm_thread {
	uint32_t wire;   /* the collector's number */
	uint32_t number; /* 1, 2, ... in order of starts */
	int live;
	struct nm_decoded_block **decoded_blocks; /* by block id; nm_undecoded_block where there is none */
	size_t decoded_room;
	struct nm_frames frames;
	struct nm_wrapper_probe probe;
	struct nm_signals signals;
};

/* A block's definition, from which each thread makes its decoded block. */
struct nm_definition {
	uint64_t *words; /* copy of the record's payload, in a definition store */
	uint32_t count;
};

/* Where definitions live: shared with the engines of forked children, which go on using them. */
struct nm_definition_store {
	unsigned users;
	struct nm_definition_store *older; /* the parent's, kept alive */
	struct nm_arena arena;
};

struct nm_ranges nm_vec(struct nm_range);

struct nm_child {
	uint32_t ordinal;
	struct nm_engine *engine;
};

/* execute.c, once per instruction set.  Runs the NM_WIRE_BLOCK records from words[0] on, as many as follow
 * each other in the count words.  Returns the number of words that they took, or a negative code. */
typedef long nm_execute_function(struct nm_engine *engine, const uint64_t *words, size_t count,
				 struct nm_error *err);
nm_execute_function nm_execute_plain, nm_execute_avx2;

/* engine.c: the i-th of them that this processor can run, the fastest first; NULL behind the last. */
nm_execute_function *nm_execute_supported(unsigned i);

/* The bucket of a block that is being filled before the stream tells of it, and the stack that led there: a string
 * instruction clears byte by byte, and each would walk the stack again. */
enum { NM_FILLING_DEPTH = 64 };

struct nm_filling {
	struct nm_frame frames[NM_FILLING_DEPTH];
	size_t count;
	uint32_t object; /* 0: none is known */
};

struct nm_engine {
	nm_execute_function *execute;

	/* The hot path's. */
	struct nm_ref *batch;
	size_t batched, batched_fetches;
	size_t pending_count;
	uint64_t
	    clock; /* instructions of all, but for those of runs of decoded blocks since nm_engine_drain */
	struct nm_decoded_block **decoded_blocks; /* of the running thread */
	size_t decoded_room;
	struct nm_stack_window window;
	struct nm_stack *stack; /* the running one */
	struct nm_thread *thread;
	int single_step; /* blocks are executed by single steps: for fetches, in a pause, under a watch, by context, in some
		     handlers of signals */
	int measuring, fetching;
	int memory_changed;     /* the passes do not know yet what memory there is */
	unsigned core;          /* of the running thread */
	int core_changed;       /* and the passes do not know yet */
	size_t attrs_announced; /* keys that the passes know, if one needs them */
	struct nm_attributions attrs;
	struct nm_calls *calls; /* NULL unless contexts are asked for */
	uint64_t unmeasured;    /* instructions */
	uint64_t references; /* of the batches that were handed over, of groups one until nm_engine_drain */
	uint64_t drain_at;   /* references at which nm_engine_drain is due */

	struct nm_vec(struct nm_thread *) threads;
	struct nm_vec(struct nm_definition) definitions;   /* by block id */
	struct nm_vec(struct nm_decoded_tables) tables;    /* of decoded blocks */
	struct nm_vec(struct nm_access_site) access_sites; /* of all accesses of all decoded blocks, */
	struct nm_vec(uint32_t) access_instructions;       /* and what instruction each is of */
	struct nm_filling filling;
	struct nm_vec(uint32_t) listed; /* access sites that keep the range of a mapping or variable */
	struct nm_coalesced_table *coalesced;
	struct nm_map coalesced_of; /* access site << 26 | object, or a hash of attribution keys -> group */
	struct nm_recent_attr *coalesced_recent;             /* before it, by hash */
	struct nm_vec(struct nm_range_holder) range_holders; /* [0] is none */
	uint32_t free_holder;
	struct nm_space space;
	struct nm_contexts contexts;
	struct nm_arena arena; /* decoded blocks */
	struct nm_workers *workers;
	struct nm_passes passes;
	uint64_t batches;   /* that were handed over */
	int broken_promise; /* a pass failed with NM_EPLUGIN; set while a batch runs, read when none does */

	struct nm_engine_options options;
	struct nm_definition_store *definition_store;
	struct nm_vec(struct nm_child) children;
	struct nm_symbols *symbols;
	struct nm_machine machine;
	uint32_t fetch_line;            /* bytes of a line of the first level that takes fetches */
	struct nm_wire_process process; /* strings borrowed from the store */
	const char *command;
	int started, exit_status;
	uint64_t lost;

	/* References that wait for their attribution key: index in the batch (with NM_KNOWN if the object is
	 * known and holds the place of the attribution key, with NM_DEBITED if the access site has its
	 * debit) and << 32 the access site. */
	uint64_t open[NM_BATCH + NM_ENTRIES];

	/* The decoded block whose execution is underway while open entries are looked after, and how many
	 * accesses were served. */
	const struct nm_decoded_block *underway;
	uint32_t served;

	struct nm_bursts bursts;
	struct nm_sampler sampler; /* shared by the passes */
	struct nm_map frame_types; /* of the functions of instructions, or NULL (program.c) */
	struct nm_instruction_clock *instruction_clock; /* NULL unless an event is waited for */
	uint64_t instructions; /* for them: measured, up to that of the reference that is made */
};

/* single_step.c: the block at header, with n addresses; hands the batch to the passes. */
int nm_engine_single_step(struct nm_engine *engine, const uint64_t *header, size_t n, struct nm_error *err);
int nm_engine_flush(struct nm_engine *engine);

/* single_step.c: the running thread or its stack is another; whether blocks are executed by single steps may
 * have changed; makes the stack around slot, or that of an index, the running one. */
void nm_engine_run_thread(struct nm_engine *engine);
void nm_engine_choose_path(struct nm_engine *engine);
int nm_engine_switch_stack(struct nm_engine *engine, uint64_t slot);
int nm_engine_run_stack(struct nm_engine *engine, size_t index);

/* wrapper_probe.c: watches a block that the running thread has just allocated; the thread, which watches
 * one, has executed this many accesses of a block. */
void nm_engine_probe_wrapper(struct nm_engine *engine, uint32_t context, unsigned levels, uint64_t address,
			     uint64_t size);
void nm_engine_probe_block(struct nm_engine *engine, uint32_t id, const struct nm_decoded_block *decoded,
			   const uint64_t *words, struct nm_side_exit left);

/* memory.c */
int nm_engine_announce(struct nm_engine *engine);
static inline size_t nm_engine_attr_count(const struct nm_engine *e)
{
	return e->calls ? e->calls->attrs.count : e->attrs.list.count;
}
static inline int nm_engine_has_new_keys(const struct nm_engine *e)
{
	return e->passes.needs & NM_PASS_KEYS && e->attrs_announced < nm_engine_attr_count(e);
}
static inline int nm_engine_must_announce(const struct nm_engine *e)
{
	return e->memory_changed || e->core_changed || nm_engine_has_new_keys(e);
}

/* decoded_block.c: keeps a definition; makes the running thread's decoded block of a block (NULL: *err tells
 * why). */
int nm_engine_define(struct nm_engine *engine, const struct nm_wire_record *r, struct nm_error *err);
struct nm_decoded_block *nm_engine_decode_block(struct nm_engine *engine, uint32_t id, struct nm_error *err);

/* resolve.c: the attribution key for one reference that its entry does not know, counted (0: memory is
 * exhausted); of open entries of the group from access `at` on, whose references are the batch's next; of
 * all references that are open; entries' counters to their attribution keys; kept ranges that may have lost
 * their meaning: those of mappings, of heap blocks that are gone, all. */
uint32_t nm_engine_resolve(struct nm_engine *engine, const struct nm_decoded_block *decoded,
			   uint32_t access_site, uint64_t address);
int nm_engine_defer(struct nm_engine *engine, const struct nm_decoded_block *decoded, size_t at,
		    unsigned entries);
int nm_engine_resolve_list(struct nm_engine *engine);
static inline int nm_engine_resolve_pending(struct nm_engine *engine)
{
	return engine->pending_count || engine->bursts.taken < engine->batched
		   ? nm_engine_resolve_list(engine)
		   : 0;
}
void nm_engine_drain(struct nm_engine *engine);
void nm_engine_forget_mapped_ranges(struct nm_engine *engine);
void nm_engine_forget_released_blocks(struct nm_engine *engine);
void nm_engine_forget_ranges(struct nm_engine *engine);

/* grouped.c, all 0 when memory is exhausted: the attribution key of an access site in an object; the group
 * of an access site whose accesses are all in one object; are each in its own.  At the end: shares what
 * groups counted out to the attribution keys in them. */
uint32_t nm_engine_attribute(struct nm_engine *engine, uint32_t access_site, uint32_t object);
uint32_t nm_engine_coalesced(struct nm_engine *engine, uint32_t access_site, uint32_t object);
uint32_t nm_engine_mixed_coalesced(struct nm_engine *engine, uint32_t access_site, const uint32_t *objects);
void nm_engine_share(struct nm_engine *engine);

/* The call or return that ends the decoded block's block, of the frame at slot, which is on the running
 * stack; there is room for one more. */
static inline void nm_engine_put_frame(struct nm_engine *e, const struct nm_decoded_block *decoded,
				       uint64_t slot)
{
	struct nm_stack *s = e->stack;

	if (decoded->end == NM_WIRE_RETURN) {
		nm_frames_pop(&e->thread->frames, s, slot);
		nm_stack_window_own(&e->window, nm_stack_top(s));
	} else {
		nm_stack_put(s, slot, decoded->call_pc, decoded->stack_object);
		nm_stack_window_own(&e->window, slot + 8);
	}
}

/* The same wherever it is; single_step.c: where it is not so. */
int nm_engine_change_any_frame(struct nm_engine *engine, const struct nm_decoded_block *decoded,
			       uint64_t slot);
static inline int nm_engine_change_frame(struct nm_engine *e, const struct nm_decoded_block *decoded,
					 uint64_t slot)
{
	if (__builtin_expect(slot - e->window.low >= e->window.length ||
				 e->stack->frames.count == e->stack->frames.room,
			     0))
		return nm_engine_change_any_frame(e, decoded, slot);
	nm_engine_put_frame(e, decoded, slot);
	return 0;
}

/* inherit.c */
struct nm_definition_store *nm_definition_store_new(struct nm_definition_store *older);
void nm_definition_store_release(struct nm_definition_store *book);
int nm_engine_fork(struct nm_engine *engine, uint32_t ordinal, struct nm_error *err);

/* events.c */
int nm_engine_event(struct nm_engine *engine, const struct nm_wire_record *r, struct nm_error *err);

/* names.c: unique names for all objects, and no figures yet; (*ret_index)[object] is the merged object's
 * index in result->objects. */
int nm_engine_name_objects(struct nm_engine *engine, struct nm_result *result, uint32_t **ret_index);

/* chains.c: names of heap buckets that differ in their chains only. */
int nm_engine_name_chains(struct nm_engine *engine, struct nm_result *result);

/* names.c: the structure that blocks of `bytes` bytes are made of that were allocated in a context, or NULL.
 * */
const struct nm_type *nm_engine_allocated_type(struct nm_engine *engine, uint32_t context, uint64_t bytes);

/* code.c: the code of what loaded lines. */
int nm_engine_list_code(struct nm_engine *engine, struct nm_result *result);

/* merge.c: from the passes' counts per engine attribution key to merged attribution keys; objects as
 * nm_engine_name_objects gave them. */
int nm_engine_merge(struct nm_engine *engine, struct nm_result *result, const uint32_t *objects);

#endif
