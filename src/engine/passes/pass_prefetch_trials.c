/* SPDX-License-Identifier: MIT
 *
 * pass_prefetch_trials.c - see prefetch_whatif.h. Each thread's executions of each load are a sequence.
 */
#include "prefetch_whatif.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"

struct trials_pass {
	struct nm_prefetch_whatif *whatif;
	const struct nm_engine *program;
	const struct nm_coalesced_table *coalesced;
	struct nm_prefetch_trials *trials;
	struct nm_vec(uint32_t) sequences; /* by key; 0: not to be prefetched */
};

static unsigned trials_needs(const struct nm_engine_options *options)
{
	(void)options;
	return NM_PASS_KEYS | NM_PASS_INSTRUCTIONS;
}

static void trials_free(void *self)
{
	struct trials_pass *p = self;

	nm_prefetch_trials_free(p->trials);
	nm_vec_free(&p->sequences);
	free(p);
}

static int trials_make(void **ret_self, const struct nm_pass_setup *setup, struct nm_error *err)
{
	struct trials_pass *p = calloc(1, sizeof *p);

	if (!p)
		return nm_fail_memory(err);
	p->whatif = setup->options->pass_arg;
	p->program = setup->program;
	p->coalesced = setup->coalesced;
	p->trials =
	    nm_prefetch_trials_new(p->whatif->trials, p->whatif->trial_count, setup->options->threads);
	if (!p->trials) {
		trials_free(p);
		return nm_fail_memory(err);
	}
	*ret_self = p;
	return 0;
}

/* Which of the loads a site is, from 1; 0: none. */
static uint32_t place_number(const struct nm_prefetch_whatif *w, const struct nm_result_site *site)
{
	for (uint32_t i = 0; i < w->place_count; i++) {
		const struct nm_prefetch_place *p = &w->places[i];

		if (p->address == site->address && !p->module == !site->module &&
		    (!p->module || !strcmp(p->module, site->module)))
			return i + 1;
	}
	return 0;
}

static int trials_keys(void *self, const struct nm_attribution *attributions, size_t count)
{
	struct trials_pass *p = self;
	const struct nm_engine *e = p->program;
	int status = 0;

	for (size_t i = 0; i < count && !status; i++) {
		const struct nm_attribution *a = &attributions[i];
		const int is_one = p->sequences.count > 0; /* key 0 is none */
		const uint32_t place = is_one ? place_number(p->whatif, &e->attrs.sites.at[a->site]) : 0,
			       thread = is_one ? e->regions.lanes.at[a->lane].thread : 0;

		status = nm_vec_push(&p->sequences,
				     place ? place + (thread - 1) * (uint32_t)p->whatif->place_count : 0);
	}
	return status ? status : nm_prefetch_trials_reserve(p->trials, p->sequences.count);
}

static int trials_batch(void *self, const struct nm_pass_batch *b)
{
	struct trials_pass *p = self;
	struct nm_ref refs[NM_COALESCED_MAX];
	int status = 0;

	for (size_t i = 0; i < b->count && !status; i++) {
		const unsigned n = nm_pass_expand(p->coalesced, &b->refs[i], refs);

		for (unsigned k = 0; k < n && !status; k++) {
			const struct nm_ref *r = &refs[k];
			const struct nm_lru_misses_ref ref = {
			    .address = r->address, .key = r->weight ? r->attr : 0, .size = r->size};

			status = nm_prefetch_trials_add(
			    p->trials, &ref, r->kind == NM_REF_READ ? p->sequences.at[r->attr] : 0);
		}
	}
	return status;
}

/* ---- the result ---- */

static enum nm_prefetch_share share_of(const struct trials_pass *p, const struct nm_pass_merge *merge,
				       const struct nm_result *result, const uint8_t *are_loaded, size_t key)
{
	assert(key < p->sequences.count);
	if (p->sequences.at[key])
		return NM_OF_LOADS;
	return are_loaded[result->attrs[merge->keys[key]].object] ? NM_OF_OBJECTS : NM_OF_REST;
}

static void add_counts(struct nm_prefetch_counts *to, const struct nm_prefetch_counts *c)
{
	to->prefetches += c->prefetches;
	to->redundant += c->redundant;
	to->useful += c->useful;
	to->covered += c->covered;
	to->polluted += c->polluted;
	for (unsigned depth = 0; depth <= NM_MAX_DEPTH; depth++) {
		to->late[depth] += c->late[depth];
		to->rest[depth] += c->rest[depth];
	}
}

static int trials_finish(void *self, const struct nm_pass_merge *merge, struct nm_result *result)
{
	struct trials_pass *p = self;
	struct nm_prefetch_whatif *w = p->whatif;
	const uint64_t lines = nm_prefetch_trials_lines(p->trials);
	uint8_t *are_loaded = calloc(result->object_count + 1, 1);

	if (!are_loaded || nm_prefetch_trials_end(p->trials)) {
		free(are_loaded);
		return NM_ENOMEM;
	}
	for (size_t key = 1; key < p->sequences.count; key++)
		if (p->sequences.at[key])
			are_loaded[result->attrs[merge->keys[key]].object] = 1;
	for (unsigned i = 0; i < w->trial_count; i++) {
		struct nm_prefetch_sums *sums = &w->sums[i];

		add_counts(&sums->counts, nm_prefetch_trials_counts(p->trials, i));
		for (size_t key = 1; key < p->sequences.count; key++) {
			const enum nm_prefetch_share share = share_of(p, merge, result, are_loaded, key);

			for (unsigned k = 0; k < NM_MAX_DEPTH && nm_pass_counts_key(merge, result, key); k++)
				sums->misses[share][k] += nm_prefetch_trials_misses(p->trials, i, key, k);
		}
	}
	w->lines = lines > w->lines ? lines : w->lines;
	free(are_loaded);
	return 0;
}

const struct nm_pass nm_pass_prefetch_trials = {.name = "prefetch trials",
						.needs = trials_needs,
						.make = trials_make,
						.batch = trials_batch,
						.keys = trials_keys,
						.finish = trials_finish,
						.free = trials_free};
