/* SPDX-License-Identifier: MIT
 *
 * engine_priv.h - the engine's state, shared by its files:
 *   engine.c, inherit.c      its life; forked children
 *   feed.c                   the loop over records, and the end
 *   execute/                 executions of blocks become batches of references; knows nothing of the engine
 *   events.c, sampled.c      all other records
 *   submit.c, schedules.c    batches go to the passes, merged into an order of threads
 *   layouts/                 the same references, as candidate layouts of the data would make them
 *   memory.c                 what passes learn between batches
 *   processes/               one machine for all processes
 *   passes/, program.c       the analyses, and what they may ask of the engine
 *   naming/                  when the stream has ended: names of objects, code, attribution keys as source
 *                            lines
 */
#ifndef NM_ENGINE_PRIV_H
#define NM_ENGINE_PRIV_H

#include "areas.h"
#include "attribution.h"
#include "calls.h"
#include "contexts.h"
#include "engine.h"
#include "namer.h"
#include "pass.h"
#include "perf_map.h"
#include "regions.h"
#include "replay.h"
#include "sampled.h"
#include "sampler.h"
#include "space.h"
#include "workers.h"

struct nm_schedules;
struct nm_layouts;
struct nm_visits;
struct nm_machine_member;

struct nm_ranges nm_vec(struct nm_range);

struct nm_child {
	uint32_t ordinal;
	struct nm_engine *engine;
};

/* The passes, and what they must be told before the next batch. */
struct nm_pass_feed {
	struct nm_passes passes;
	int has_passes;
	size_t keys_announced; /* attribution keys that the passes were told of, if one needs them */
	int memory_changed;
	int broken_promise; /* a pass failed with NM_EPLUGIN; set while a batch runs, read when none does */
};

/* Where batches go (submit.c). */
struct nm_output {
	struct nm_workers *workers;
	uint64_t submitted;               /* batches */
	struct nm_interleave *interleave; /* NULL: the machine has one core */
	struct nm_schedules *schedules;   /* further orders of the threads, or NULL */
	struct nm_layouts *layouts;       /* candidates, or NULL */
	struct nm_visits *visits;         /* of a structure, or NULL */
	struct nm_machine_member *member; /* of the one machine of all processes, or NULL */
};

struct nm_engine {
	struct nm_replay replay;
	struct nm_output output;
	struct nm_pass_feed feed;
	struct nm_sampler sampler; /* shared by the passes */
	struct nm_sampled sampled;

	/* The process. */
	struct nm_attributions attrs;
	struct nm_calls *calls; /* NULL unless contexts are asked for */
	struct nm_regions regions;
	struct nm_threads threads; /* that have not ended, in no order */
	uint32_t threads_started;  /* the last one has this number */
	struct nm_space space;
	struct nm_areas areas; /* empty unless a pass needs them */
	struct nm_contexts contexts;
	struct nm_vec(struct nm_child) children;
	struct nm_wire_process process; /* strings borrowed from the store */
	const char *name, *command;
	int started, exit_status;
	int has_pieces; /* of pools' memory */
	uint64_t lost;

	/* What names are made of. */
	struct nm_namer namer;
	struct nm_perf_map perf_map;

	/* What was asked for. */
	struct nm_engine_options options;
	struct nm_symbols *symbols;
	struct nm_machine machine;
};

/* An engine that waits to be fed has no passes yet, whose models take most of its memory. */
int nm_engine_new_without_passes(struct nm_engine **ret_engine, const struct nm_engine_options *options,
				 struct nm_error *err);
int nm_engine_make_passes(struct nm_engine *engine, struct nm_error *err);
void nm_engine_free_threads(struct nm_engine *engine);
void nm_engine_free_thread(struct nm_thread *thread); /* what it holds; the arena has the thread itself */

/* submit.c: merges what the program's threads do, where the machine has several cores. 0 or NM_ENOMEM. */
int nm_engine_interleave(struct nm_engine *engine);

/* submit.c: the outputs of the batch builder; arg is the engine. 0 or an error code. */
int nm_engine_submit(void *arg, const struct nm_thread_batch *batch);
int nm_engine_sample(void *arg);

/* submit.c: submits the batch that is being filled, and what merging holds back. 0 or an error code. */
int nm_engine_drain_threads(struct nm_engine *engine);

/* Waits until all passes have run all batches. 0 or a code. */
int nm_engine_drain_passes(struct nm_engine *engine);

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

/* inherit.c */
int nm_engine_fork(struct nm_engine *engine, uint32_t ordinal, struct nm_error *err);

/* events.c */
int nm_engine_event(struct nm_engine *engine, const struct nm_wire_record *r, struct nm_error *err);

/* destructors.c: which variables destructors destroy that no code of the user's calls. 0 or NM_ENOMEM. */
int nm_engine_find_destroyed(struct nm_result *result);

/* chains.c: names heap buckets that differ in their chains only. */
int nm_engine_name_chains(struct nm_engine *engine, struct nm_result *result);

/* code.c: adds the code of the functions that loaded lines. */
int nm_engine_list_code(struct nm_engine *engine, struct nm_result *result);

/* merge.c: from the passes' counts per engine attribution key to merged attribution keys; objects as
 * nm_namer_objects gave them. */
int nm_engine_merge(struct nm_engine *engine, struct nm_result *result, const uint32_t *objects);

#endif
