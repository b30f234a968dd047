/* SPDX-License-Identifier: MIT
 *
 * engine_priv.h - the engine's state, shared by its files:
 *   engine.c, inherit.c     its life, the loop over records; forked children
 *   events.c, memory.c, sampled.c   records that are not executions; what passes learn between batches
 *   execute/                executions of blocks become references: batch builder, decoder, resolver
 *   passes/, program.c      what analyses see of them, and may ask of the engine
 *   naming/                 when the stream has ended: names of objects, code, attribution keys as source
 *                           lines
 */
#ifndef NM_ENGINE_PRIV_H
#define NM_ENGINE_PRIV_H

#include "attribution.h"
#include "batch_builder.h"
#include "calls.h"
#include "contexts.h"
#include "decoder.h"
#include "engine.h"
#include "frames.h"
#include "inline_cache.h"
#include "pass.h"
#include "resolver.h"
#include "sampled.h"
#include "sampler.h"
#include "signals.h"
#include "space.h"

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

struct nm_ranges nm_vec(struct nm_range);

struct nm_child {
	uint32_t ordinal;
	struct nm_engine *engine;
};

/* execute.c, once per instruction set. Runs the NM_WIRE_BLOCK records from words[0] on, as many as follow
 * each other in the count words. Returns the number of words that they took, or a negative code. */
typedef long nm_execute_function(struct nm_engine *engine, const uint64_t *words, size_t count,
				 struct nm_error *err);
nm_execute_function nm_execute_plain, nm_execute_avx2;

/* engine.c: the i-th of them that this processor can run, the fastest first; NULL behind the last. */
nm_execute_function *nm_execute_supported(unsigned i);

/* What passes learn between batches, and what they do not know yet. */
struct nm_pass_feed {
	struct nm_passes passes;
	size_t keys_announced; /* attribution keys that the passes know, if one needs them */
	int memory_changed;
	int broken_promise; /* a pass failed with NM_EPLUGIN; set while a batch runs, read when none does */
};

struct nm_engine {
	nm_execute_function *execute;

	/* What runs: written by each call, switch of threads or signal. */
	struct nm_decoded_block **decoded_blocks; /* of the running thread */
	size_t decoded_room;
	struct nm_stack_window window;
	struct nm_stack *stack; /* the running one */
	struct nm_thread *thread;
	int single_step; /* blocks are executed by single steps: for fetches, in a pause, while an allocation is
			  * followed, by context, in some handlers of signals */
	int measuring, fetching;
	int has_paused;      /* some references do not count */
	uint64_t clock;      /* instructions of all threads */
	uint64_t unmeasured; /* instructions */

	struct nm_batch_builder builder;
	struct nm_decoder decoder;
	struct nm_resolver resolver;
	struct nm_attributions attrs;
	struct nm_calls *calls; /* NULL unless contexts are asked for */
	struct nm_pass_feed feed;
	struct nm_sampler sampler; /* shared by the passes */
	struct nm_sampled sampled;

	/* The process. */
	struct nm_vec(struct nm_thread *) threads;
	struct nm_space space;
	struct nm_contexts contexts;
	struct nm_vec(struct nm_child) children;
	struct nm_wire_process process; /* strings borrowed from the store */
	const char *command;
	int started, exit_status;
	uint64_t lost;
	struct nm_map frame_types; /* of the functions of instructions, or NULL (program.c) */

	/* The order. */
	struct nm_engine_options options;
	struct nm_symbols *symbols;
	struct nm_machine machine;
	uint32_t fetch_line; /* bytes of a line of the first level that takes fetches */
};

/* single_step.c: executes the block at header, with n addresses. */
int nm_engine_single_step(struct nm_engine *engine, const uint64_t *header, size_t n, struct nm_error *err);

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
	return e->feed.passes.needs & NM_PASS_KEYS && e->feed.keys_announced < nm_engine_attr_count(e);
}
static inline int nm_engine_must_announce(const struct nm_engine *e)
{
	return e->feed.memory_changed || nm_engine_has_new_keys(e);
}

static inline int nm_engine_resolve_pending(struct nm_engine *e)
{
	return e->resolver.pending_count || e->builder.bursts.taken < e->builder.count
		   ? nm_engine_resolve_list(e)
		   : 0;
}

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

/* validate.c: whether what is remembered is what would be found now, between two records. For tests and
 * checks. */
int nm_engine_is_valid(struct nm_engine *engine);

/* inherit.c */
int nm_engine_fork(struct nm_engine *engine, uint32_t ordinal, struct nm_error *err);

/* events.c */
int nm_engine_event(struct nm_engine *engine, const struct nm_wire_record *r, struct nm_error *err);

/* names.c: unique names for all objects, and no figures yet; (*ret_index)[object] is the merged object's
 * index in result->objects. */
int nm_engine_name_objects(struct nm_engine *engine, struct nm_result *result, uint32_t **ret_index);

/* chains.c: names of heap buckets that differ in their chains only. */
int nm_engine_name_chains(struct nm_engine *engine, struct nm_result *result);

/* call_names.c: the structure that blocks of `bytes` bytes are made of that were allocated in a context, or
 * NULL. */
const struct nm_type *nm_engine_allocated_type(struct nm_engine *engine, uint32_t context, uint64_t bytes);

/* code.c: the code of what loaded lines. */
int nm_engine_list_code(struct nm_engine *engine, struct nm_result *result);

/* merge.c: from the passes' counts per engine attribution key to merged attribution keys; objects as
 * nm_engine_name_objects gave them. */
int nm_engine_merge(struct nm_engine *engine, struct nm_result *result, const uint32_t *objects);

#endif
