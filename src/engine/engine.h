/* SPDX-License-Identifier: MIT
 *
 * engine.h - turns the stream of one process image into a result.
 */
#ifndef NM_ENGINE_H
#define NM_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "estimator.h"
#include "event_query.h"
#include "interleave.h"
#include "machine.h"
#include "result.h"
#include "simulated_pmu.h"
#include "symbol.h"
#include "workers.h"

#include "phase_plan.h"
#include "window.h"

struct nm_candidate;
struct nm_engine;
struct nm_one_machine;
struct nm_oracle;
struct nm_run_part;
struct nm_pass;
struct nm_visit_log;

/* An estimator and its sampling rate. */
struct nm_estimate_request {
	const struct nm_estimator *estimator;
	double rate; /* in (0, 1] */
};

enum { NM_MAX_ESTIMATES = 8, NM_RELOCATIONS = 63 };

struct nm_engine_options {
	const struct nm_machine *machine;
	struct nm_symbols *symbols; /* borrowed */
	/* 1: all work in the caller's; 2: decoding in the caller's, passes in another; more: separate passes
	 * (pass.h) in one more */
	unsigned threads;
	int instructions;   /* simulate instruction fetches too */
	int by_instruction; /* sites are instructions instead of lines; keep their code */
	int contexts;       /* count by call chain too */
	int heap_chains;    /* contexts, and heap blocks of different chains are different objects */
	int distances;      /* stack and reuse distances */
	int perf_maps;      /* the program runs now: maps of code that it generates are its own */
	struct nm_estimate_request estimates[NM_MAX_ESTIMATES]; /* of curves */
	unsigned estimate_count;
	uint64_t distance_limit; /* bytes; longer distances share one bin; 0: no limit */
	/* the folders of the user's sources, separated by colons (user_code.h); NULL: by rule; borrowed */
	const char *user_folders;
	const char *const *allocators; /* functions that allocate for their callers; borrowed */
	size_t allocator_count;
	/* functions that hand out pieces of memory, "NAME", "NAME:ARGUMENT" or "NAME=BYTES"; borrowed */
	const char *const *pools;
	size_t pool_count;
	const struct nm_event_query *event_query; /* which single events to keep, or NULL; borrowed */
	struct nm_oracle *oracle;                 /* for levels with policy=opt, or NULL; borrowed */
	struct nm_run_window window;              /* what counts of each process; zeros: all */
	int paused;                               /* nothing counts before nm_session_pause */
	const struct nm_phase_plans *phases; /* to count by, found by an earlier pass, or NULL; borrowed */
	struct nm_thread_order order;        /* of threads, where the machine has several cores */
	unsigned schedules;   /* orders that are simulated, `order` and those after it; 0: one */
	unsigned relocations; /* of memory, that are simulated too; at most NM_RELOCATIONS */
	/* layouts of the program's data that are simulated too, on one core (candidate.h); they note what they met;
	 * borrowed */
	struct nm_candidate *candidates;
	size_t candidate_count;
	struct nm_visit_log
	    *visits;        /* how its structure is visited (visit_log.h), on one core, or NULL; borrowed */
	int on_one_machine; /* all processes run on one machine, instead of one each: */
	struct nm_one_machine *one_machine; /* which the session makes; else NULL; borrowed */
	const struct nm_pmu *pmu;           /* samplers of a simulated PMU, or NULL; borrowed */
	struct nm_idle idle;                /* for the other thread, until the engine is freed */
	/* the caller's own pass (pass.h) instead of all others, and what its `make` finds; or NULL */
	const struct nm_pass *pass;
	void *pass_arg;
	const struct nm_run_part
	    *part; /* of a run that several processes simulate (part.h), or NULL; borrowed */
};

int nm_engine_new(struct nm_engine **ret_engine, const struct nm_engine_options *options,
		  struct nm_error *err);
void nm_engine_free(struct nm_engine *engine);

/* Before it is fed: counts by phase. 0 or NM_ENOMEM. */
int nm_engine_follow_phases(struct nm_engine *engine, const struct nm_phase_plan *plan);

/* Feeds whole records (a chunk). The words are not kept. After an error only nm_engine_finish, which
 * reports what was seen before it, and nm_engine_free may be called. */
int nm_engine_feed(struct nm_engine *engine, const uint64_t *words, size_t count, struct nm_error *err);

/* The same up to the first fork: then its child is to be taken before the rest, words[*ret_taken] and on, is
 * fed. */
int nm_engine_feed_to_fork(struct nm_engine *engine, const uint64_t *words, size_t count, size_t *ret_taken,
			   struct nm_error *err);

/* Ends the run. *ret_result is the caller's (nm_result_free); its strings are the symbol store's. */
int nm_engine_finish(struct nm_engine *engine, struct nm_result *ret_result, struct nm_error *err);

/* What is fed from now on moves lines but does not count, or counts again; so it is with children forked then. */
void nm_engine_pause(struct nm_engine *engine, int paused);

/* Around fork(), with all batches run: 0 or a code, then no fork may be made. The child's engine goes on in its
 * caller. */
int nm_engine_before_fork(struct nm_engine *engine);
void nm_engine_after_fork(struct nm_engine *engine, int is_child);

/* References so far, for progress reports. */
uint64_t nm_engine_references(const struct nm_engine *engine);

/* The latest fork that the stream has reported: an engine that starts as the child does, with the parent's code,
 * heap and call stack, but with cold caches and nothing counted. Gives each child once; NULL if there is none.
 * The engine is the caller's. */
struct nm_engine *nm_engine_take_child(struct nm_engine *engine, uint32_t *ret_ordinal);

/* ---- processes/: one machine for all processes ---- */

int nm_one_machine_new(struct nm_one_machine **ret_machine, const struct nm_engine_options *options,
		       struct nm_error *err);
void nm_one_machine_free(struct nm_one_machine *machine);

/* Has a new engine take part, whose options name the machine. before: of the image that it replaces, or NULL. 0 or
 * NM_ENOMEM. */
int nm_engine_join(struct nm_engine *engine, const struct nm_engine *before);

/* The stream of a part has ended: ends its threads; whether all its references have been merged with others', so that
 * it may be finished. 0 or NM_ENOMEM. */
int nm_engine_stop(struct nm_engine *engine, struct nm_error *err);
int nm_engine_is_merged(const struct nm_engine *engine);

/* Merges what need not wait for what is yet to come; or all. 0 or a code. */
int nm_one_machine_settle(struct nm_one_machine *machine, int all, struct nm_error *err);

/* The engine's part in its machine, which outlives it; NULL: it has none. */
struct nm_machine_member *nm_engine_member(const struct nm_engine *engine);

/* As nm_engine_before_fork. */
int nm_one_machine_before_fork(struct nm_one_machine *machine);
void nm_one_machine_after_fork(struct nm_one_machine *machine, int is_child);

/* Ends the run of all, when all are finished; then the counts of a member's caches are added to its result, which has
 * none yet. 0 or a code. */
int nm_one_machine_finish(struct nm_one_machine *machine, struct nm_error *err);
int nm_member_add_counts(const struct nm_machine_member *member, struct nm_result *result,
			 struct nm_error *err);

/* What only the machine as a whole has, evictions and coherence: a result whose attributions are its keys; whose they
 * are, by member, and which of the member's result. 0: nobody's. */
const struct nm_result *nm_one_machine_result(const struct nm_one_machine *machine);
const struct nm_machine_member *nm_one_machine_owner(const struct nm_one_machine *machine, uint32_t key,
						     uint32_t *ret_attr);

#endif
