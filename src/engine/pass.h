/* SPDX-License-Identifier: MIT
 *
 * pass.h - a pass: one analysis of the references of a program. This file is the contract between engine and
 * passes.
 *
 * A pass is one file pass_<topic>.c with a `const struct nm_pass`, and a row in passes.c.
 * docs/extending/pass.md is the guide. Callbacks that a pass does not need are NULL.
 *
 * Threads. The *decoding thread* follows the program and makes batches. The *simulation thread* runs them, up
 * to NM_BATCHES_IN_FLIGHT batches later; it is the same thread if the user asked for one. Passes that are
 * `separate` may have a simulation thread of their own. A callback belongs to one kind of thread, as stated
 * below. There are no locks between them, so they must not share what one of them writes. make, ending,
 * finish and free are called while no batch runs. The engine calls one callback of a pass at a time on each
 * thread.
 *
 * Determinism. What a pass does may depend on nothing but the references and their order: never on time or
 * threads.
 */
#ifndef NM_PASS_H
#define NM_PASS_H

#include <assert.h>
#include <stddef.h>

#include "areas.h"
#include "attribution.h"
#include "coalesced.h"
#include "engine.h"
#include "estimator.h"
#include "hierarchy.h"
#include "program.h"
#include "result.h"
#include "sampler.h"

/* A batch: up to NM_BATCH references in program order, or, where the machine has several cores, in the order
 * in which src/interleave merges those of the threads; `time_slices` then says which core made which. No reference
 * is in two batches. The arrays are gone when the callback returns. A thread switch of the program may fall
 * anywhere in it, a change of memory or of keys only between two batches.
 *
 * A reference (struct nm_ref, hierarchy.h) is one of:
 *   - a load or store (weight 1): address, size, kind, and its *key* in `attr`;
 *   - a run of instruction fetches (kind NM_REF_FETCH), if the user asked for --instr: `weight` instructions,
 *     one key;
 *   - a coalesced access (nm_ref_is_coalesced): `weight` loads and stores at constant distances, each with a
 *     key of its own; `attr` is then a number in the table of coalesced accesses. nm_pass_expand gives the
 *     single references.
 *   - made while measuring is off (weight 0): a load, store or fetch that moves lines in caches but is not
 *     counted. Its object is nm_space.unmeasured.
 * Keys are dense numbers from 1. A key stands for an attribution (thread, site, object); or, if the user
 * asked for call chains, for an attribution in a context. nm_program_attribution tells which, on the decoding
 * thread; on the simulation thread count by key, and translate in `finish`. */
struct nm_pass_batch {
	const struct nm_ref *refs;
	size_t count;
	/* of each reference: instructions executed up to and including its own; NULL without NM_PASS_CLOCK */
	const uint64_t *clock;
	const struct nm_time_slice *time_slices; /* hierarchy.h; NULL: there is one core */
	size_t time_slice_count;
	const struct nm_cache_hint *hints; /* hierarchy.h */
	size_t hint_count;
	int uncounted;             /* some references may not count */
	uint64_t instructions;     /* measured ones, executed when the batch was made */
	const struct nm_ref *next; /* where the next batch will lie, to be prefetched; NULL: not known */
};

/* References [from, end) of a batch that is sampled (bursts.h), just made, while the program's state is that
 * of their moment. None is coalesced, and `attr` is the attribution (never a context's key). */
struct nm_pass_sample {
	const struct nm_ref *refs;
	size_t from, end;
	const uint32_t *access;       /* access site of each, or NM_NO_ACCESS: a fetch */
	const uint32_t *instructions; /* of each access site: a dense number of its instruction */
	/* of each access site: its address waits for the load before it in a chain of pointers */
	const uint8_t *chases;
	const uint64_t *frame_end; /* of each: the end of the running function's stack frame */
	uint64_t burst, batch;     /* numbers of the burst (from 1) and the batch (from 0) */
	uint64_t left;             /* batches left in this burst, this one included */
};

/* What a pass asks of the engine: bits.  Each costs. */
enum nm_pass_need {
	NM_PASS_MEMORY = 1,       /* `memory` is called; batches end where mappings change */
	NM_PASS_KEYS = 2,         /* `keys` is called: both threads meet after each batch that has new ones */
	NM_PASS_INSTRUCTIONS = 8, /* sites are instructions, not lines */
	NM_PASS_AREAS = 16,       /* setup->areas has the memory; batches end where it gets more */
	NM_PASS_CLOCK =
	    4 /* batches have a clock: the engine executes one access after another, which is slow */
};

/* What passes share. */
struct nm_pass_setup {
	const struct nm_engine_options *options;
	struct nm_engine *program; /* NULL in tests of a pass alone */
	const struct nm_coalesced_table *coalesced;
	const struct nm_areas *areas; /* does not change while a batch runs; empty without NM_PASS_AREAS */
	/* samples of misses and residencies of the first data level, by the cache pass: a list for each
	 * batch, to be read in `retired` and `ending` */
	struct nm_sampler *sampler;
	struct nm_one_machine
	    *one_machine; /* keys are of all its processes, and there is no program; or NULL */
};

/* From the engine's numbers to the result's, in `finish`; the result has its objects, sites and attributions
 * then. */
struct nm_pass_merge {
	struct nm_engine *program;
	size_t key_count;         /* of batches: keys are below */
	const uint32_t *keys;     /* key of a batch -> index in result->attrs */
	const uint32_t *contexts; /* key of a batch -> index in result->context_attrs; NULL: no call chains */
	const uint32_t *attrs;    /* attribution, as samples have it -> index in result->attrs */
	const uint32_t *objects;  /* object -> index in result->objects */
};

/* All that return int return 0, NM_ENOMEM, or (batch) NM_EPLUGIN. */
struct nm_pass {
	const char *name;
	/* Its batches may be ahead of those of other passes, or behind: it has no clock, and does not use the
	 * sampler. */
	int separate;

	/* Before make: which nm_pass_need bits, for these options. */
	unsigned (*needs)(const struct nm_engine_options *options);

	/* *ret_self is what the other callbacks get; NULL on success: the pass is off in this run. */
	int (*make)(void **ret_self, const struct nm_pass_setup *setup, struct nm_error *err);

	/* Simulation thread. */
	int (*batch)(void *self, const struct nm_pass_batch *batch);

	/* Either thread, while no batch runs, before the batch that they hold for: the memory that can have
	 * huge pages; the attributions of the next keys, from the first one that was not announced (key 0,
	 * which is none, is the first of all). */
	int (*memory)(void *self, const struct nm_range *ranges, size_t count);
	int (*keys)(void *self, const struct nm_attribution *attributions, size_t count);

	/* Decoding thread. */
	int (*sample)(void *self, struct nm_engine *program, const struct nm_pass_sample *sample);
	void (*released)(void *self, uint64_t address, uint64_t size,
			 uint32_t object); /* a heap block, just before */
	/* Every batch, NM_BATCHES_IN_FLIGHT batches late: all passes have run it. */
	int (*retired)(void *self, struct nm_engine *program, uint64_t batch);

	/* Of sampled recordings, which have no batches: a reuse sample, whose keys are attributions, as it
	 * ends; those that nothing ended come last. */
	int (*reuse)(void *self, const struct nm_reuse_sample *sample);

	/* The last batch was run; the program may still be asked.  In the order of the table. */
	int (*ending)(void *self, struct nm_engine *program);

	/* Adds the pass's figures to the result; free follows at once. */
	int (*finish)(void *self, const struct nm_pass_merge *merge, struct nm_result *result);
	void (*free)(void *self);
};

extern const struct nm_pass nm_pass_cache, nm_pass_distances, nm_pass_estimates, nm_pass_fields, nm_pass_pmu,
    nm_pass_relocations, nm_pass_strides;

/* ---- helpers for passes (passes.c) ----------------------------------------------------------------- */

/* The single references of r, in program order; ret_refs has room for NM_COALESCED_MAX.  Returns how many. */
static inline unsigned nm_pass_expand(const struct nm_coalesced_table *table, const struct nm_ref *r,
				      struct nm_ref *ret_refs)
{
	const struct nm_coalesced *c;

	if (!nm_ref_is_coalesced(r)) {
		*ret_refs = *r;
		return 1;
	}
	c = nm_coalesced_at(table, r->attr);
	assert(c->members == r->weight);
	for (uint32_t i = 0; i < c->members; i++)
		ret_refs[i] = nm_coalesced_member_ref(r, &c->member[i]);
	return c->members;
}

/* Rows of `width` sums by one number become rows by another: row i is added to row to[i]. For `finish`: with
 * merge->keys and result->attr_count, sums by key become sums by attribution of the result. Row 0 of `sums`,
 * of none, is left out. Returns rows + 1 rows that the caller frees; NULL: out of memory. */
uint64_t *nm_pass_sum(const uint32_t *to, size_t rows, const uint64_t *sums, size_t count, size_t width);

/* Whether what a key of a batch was charged is to be counted. For `finish`. */
int nm_pass_counts_key(const struct nm_pass_merge *merge, const struct nm_result *result, size_t key);

/* How many references to data each of the result's attributions made; malloc'ed. For `finish`. NULL: out of
 * memory. */
uint64_t *nm_pass_references(const struct nm_pass_merge *merge, const struct nm_result *result);

/* ---- the engine's side (passes.c) --------------------------------------------------------------- */

enum { NM_MAX_PASSES = 16 };

/* The passes of one engine, in the order of the table. */
struct nm_passes {
	const struct nm_pass *const *table; /* borrowed from the options, if it is the caller's own pass */
	unsigned count;
	unsigned needs;
	void *self[NM_MAX_PASSES]; /* NULL: off */
};

/* Which passes get a batch: those that are not separate, those that are, or both. */
enum nm_pass_part { NM_PASSES_TOGETHER = 1, NM_PASSES_SEPARATE = 2, NM_PASSES_ALL = 3 };

unsigned nm_passes_need(const struct nm_engine_options *options);
int nm_passes_make(struct nm_passes *passes, const struct nm_pass_setup *setup, struct nm_error *err);
int nm_passes_have_separate(const struct nm_passes *passes); /* one that is on */
int nm_passes_batch(struct nm_passes *passes, enum nm_pass_part part, const struct nm_pass_batch *batch);
int nm_passes_memory(struct nm_passes *passes, const struct nm_range *ranges, size_t count);
int nm_passes_keys(struct nm_passes *passes, const struct nm_attribution *attributions, size_t count);
int nm_passes_sample(struct nm_passes *passes, struct nm_engine *program,
		     const struct nm_pass_sample *sample);
void nm_passes_released(struct nm_passes *passes, uint64_t address, uint64_t size, uint32_t object);
int nm_passes_retired(struct nm_passes *passes, struct nm_engine *program, uint64_t batch);
int nm_passes_reuse(struct nm_passes *passes, const struct nm_reuse_sample *sample);
int nm_passes_ending(struct nm_passes *passes, struct nm_engine *program);
int nm_passes_finish(struct nm_passes *passes, const struct nm_pass_merge *merge, struct nm_result *result);
void nm_passes_free(struct nm_passes *passes);

#endif
