/* SPDX-License-Identifier: MIT
 *
 * pass_pmu.c - what a processor's samplers would have shown of this run (simulated_pmu.h), and what their interrupts
 * do to the caches.
 *
 * Caches of the pass's own (lru_misses.h) tell which lines each reference loads and which lines leave. For each
 * sampler there is a copy of them, where at each interrupt the handler touches its lines, always the same ones, and
 * the next one of a ring of records. All samplers see the first caches, so they do not depend on each other.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lru_misses.h"
#include "pass.h"
#include "vector.h"

enum { RECORD = 64, RING = 512 << 10, FOLD = 1 << 16 };
static const uint64_t handler_memory = UINT64_C(0xffff888000000000),
		      ring_memory = UINT64_C(0xffff888010000000);

struct watch {
	struct nm_pmu_sampler sampler;
	struct nm_lru_misses *copy; /* NULL: the handler touches nothing */
	size_t done;                /* references of the batch that the copy has run */
	uint64_t records;
};

struct pmu {
	const struct nm_pmu *spec;
	const struct nm_coalesced_table *coalesced;
	struct nm_lru_misses *caches; /* that are sampled */
	unsigned level;
	int has_tags; /* a sampler sees references that load nothing, too */
	struct watch watches[NM_PMU_SAMPLERS];
	/* for each line that the current reference has loaded, the key that had loaded the evicted one; 0: none was */
	struct nm_vec(uint32_t) victims;
	struct nm_vec(struct nm_lru_misses_ref) refs; /* of the batch, with key 0 those of handlers */
	struct nm_lru_misses_ref *handler;
	struct nm_vec(struct nm_result_pmu_sample) rows; /* by keys */
	size_t fold_at;
	int status;
};

static void pmu_release(void *self)
{
	struct pmu *p = self;

	for (unsigned i = 0; i < p->spec->count; i++)
		nm_lru_misses_free(p->watches[i].copy);
	nm_lru_misses_free(p->caches);
	nm_vec_free(&p->victims);
	nm_vec_free(&p->refs);
	nm_vec_free(&p->rows);
	free(p->handler);
	free(p);
}

static unsigned pmu_needs(const struct nm_engine_options *options)
{
	return options->pmu && nm_pmu_needs_instructions(options->pmu) ? NM_PASS_CLOCK : 0u;
}

static void take_load(void *self, uint32_t victim)
{
	struct pmu *p = self;

	if (nm_vec_push(&p->victims, victim))
		p->status = NM_ENOMEM;
}

static int make_watches(struct pmu *p, const struct nm_machine *machine)
{
	p->handler = calloc(p->spec->handler + 1, sizeof *p->handler);
	if (!p->handler)
		return NM_ENOMEM;
	for (unsigned i = 0; i < p->spec->handler; i++)
		p->handler[i] = (struct nm_lru_misses_ref){
		    .address = handler_memory + (uint64_t)i * machine->levels[p->level].line, .size = 1};
	for (unsigned i = 0; i < p->spec->count; i++) {
		p->has_tags |= p->spec->samplers[i].rule == NM_PMU_IBS;
		nm_pmu_sampler_init(&p->watches[i].sampler, p->spec, i);
		p->watches[i].copy = p->spec->handler ? nm_lru_misses_new(machine) : NULL;
		if (p->spec->handler && !p->watches[i].copy)
			return NM_ENOMEM;
	}
	return 0;
}

static int pmu_make(void **ret_self, const struct nm_pass_setup *setup, struct nm_error *err)
{
	const struct nm_machine *machine = setup->options->machine;
	struct pmu *p;
	int status;

	if (!setup->options->pmu)
		return 0;
	status = nm_lru_misses_check(machine, "samples of a PMU", err);
	p = status ? NULL : calloc(1, sizeof *p);
	if (!p)
		return status ? status : nm_fail_memory(err);
	p->spec = setup->options->pmu;
	p->coalesced = setup->coalesced;
	p->fold_at = FOLD;
	status = nm_pmu_level(p->spec, machine, &p->level, err);
	if (!status && !(p->caches = nm_lru_misses_new(machine)))
		status = nm_fail_memory(err);
	if (!status && nm_lru_misses_watch(p->caches, p->level, take_load, p))
		status = nm_fail_memory(err);
	if (!status && make_watches(p, machine))
		status = nm_fail_memory(err);
	if (status)
		pmu_release(p);
	else
		*ret_self = p;
	return status;
}

/* ---- samples -------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct nm_result_pmu_sample *s = a, *y = b;

	if (s->sampler != y->sampler)
		return s->sampler > y->sampler ? 1 : -1;
	if (s->attr != y->attr)
		return s->attr > y->attr ? 1 : -1;
	return (s->victim > y->victim) - (s->victim < y->victim);
}

/* Equal rows become one. */
static void fold_rows(struct pmu *p)
{
	size_t n = 0;

	if (p->rows.count)
		qsort(p->rows.at, p->rows.count, sizeof *p->rows.at, by_key);
	for (size_t i = 0; i < p->rows.count; i++)
		if (n && !by_key(&p->rows.at[n - 1], &p->rows.at[i]))
			p->rows.at[n - 1].count += p->rows.at[i].count;
		else
			p->rows.at[n++] = p->rows.at[i];
	p->rows.count = n;
	p->fold_at = 2 * n > FOLD ? 2 * n : FOLD;
}

static int keep_sample(struct pmu *p, unsigned sampler, uint32_t key, uint32_t victim)
{
	const int has_victim = p->spec->samplers[sampler].rule == NM_PMU_MISS;

	if (p->rows.count == p->fold_at)
		fold_rows(p);
	return nm_vec_push(
	    &p->rows, (struct nm_result_pmu_sample){
			  .sampler = sampler, .attr = key, .victim = has_victim ? victim : 0, .count = 1});
}

/* Shows a sampler a reference whose loads are known. 0 or NM_ENOMEM. */
static int show_reference(struct pmu *p, unsigned sampler, const struct nm_ref *ref, uint64_t instruction)
{
	const size_t count = p->victims.count ? p->victims.count : 1;
	struct nm_pmu_occurrence o = {.instruction = instruction,
				      .is_access = ref->kind != NM_REF_FETCH,
				      .is_load = ref->kind == NM_REF_READ,
				      .is_fill = p->victims.count > 0};
	int status = 0;

	assert(sampler < NM_PMU_SAMPLERS);
	for (size_t i = 0; i < count && !status; i++) {
		o.is_further = i > 0;
		if (nm_pmu_sampler_see(&p->watches[sampler].sampler, &o))
			status = keep_sample(p, sampler, ref->attr, p->victims.at[i]);
	}
	return status;
}

/* ---- interrupts ------------------------------------------------------------------------------------ */

static const uint64_t no_shift[] = {0};

static void advance_watch(struct pmu *p, struct watch *w)
{
	if (w->copy)
		nm_lru_misses_run(w->copy, p->refs.at + w->done, p->refs.count - w->done, no_shift);
	w->done = p->refs.count;
}

static void interrupt_watch(struct pmu *p, struct watch *w, uint64_t times)
{
	advance_watch(p, w);
	for (; w->copy && times; times--) {
		const struct nm_lru_misses_ref record = {
		    .address = ring_memory + w->records++ * RECORD % RING, .size = RECORD};

		nm_lru_misses_run(w->copy, p->handler, p->spec->handler, no_shift);
		nm_lru_misses_run(w->copy, &record, 1, no_shift);
	}
}

/* ---- references ------------------------------------------------------------------------------------ */

static int take_reference(struct pmu *p, const struct nm_ref *ref, uint64_t instruction)
{
	const struct nm_lru_misses_ref copied = {.address = ref->address,
						 .key = ref->attr,
						 .size = ref->size,
						 .is_fetch = ref->kind == NM_REF_FETCH};
	int status;

	p->victims.count = 0;
	nm_lru_misses_run(p->caches, &copied, 1, no_shift);
	status = p->status ? p->status : nm_vec_push(&p->refs, copied);
	if (!ref->weight || (!p->victims.count && !p->has_tags))
		return status;
	for (unsigned i = 0; i < p->spec->count && !status; i++) {
		struct watch *w = &p->watches[i];
		const uint64_t before = w->sampler.interrupts;

		status = show_reference(p, i, ref, instruction);
		if (w->sampler.interrupts != before)
			interrupt_watch(p, w, w->sampler.interrupts - before);
	}
	return status;
}

static int pmu_batch(void *self, const struct nm_pass_batch *b)
{
	struct pmu *p = self;
	const size_t keys = atomic_load_explicit(&p->coalesced->attrs, memory_order_relaxed);
	struct nm_ref refs[NM_COALESCED_MAX];
	int status;

	status = nm_lru_misses_reserve(p->caches, keys);
	for (unsigned i = 0; i < p->spec->count && !status; i++)
		if (p->watches[i].copy)
			status = nm_lru_misses_reserve(p->watches[i].copy, keys);
	for (size_t i = 0; i < b->count && !status; i++) {
		const unsigned n = nm_pass_expand(p->coalesced, &b->refs[i], refs);

		for (unsigned j = 0; j < n && !status; j++)
			status = take_reference(p, &refs[j], b->clock ? b->clock[i] : 0);
	}
	for (unsigned i = 0; i < p->spec->count; i++) {
		advance_watch(p, &p->watches[i]);
		p->watches[i].done = 0;
	}
	p->refs.count = 0;
	return status;
}

/* ---- the result ------------------------------------------------------------------------------------ */

static void finish_watch(const struct pmu *p, const struct watch *w, const struct nm_pass_merge *merge,
			 const struct nm_result *result, struct nm_result_pmu_sampler *to)
{
	const uint64_t *misses = w->copy ? nm_lru_misses_by_key(w->copy, p->level) : NULL;
	const size_t keys = w->copy ? nm_lru_misses_keys(w->copy) : 0;

	to->interrupts = w->sampler.interrupts;
	to->tagged_accesses = w->sampler.tagged_accesses;
	to->handler_misses = keys ? misses[0] : 0;
	for (size_t key = 1; key < keys && key < merge->key_count; key++)
		if (nm_pass_counts_key(merge, result, key))
			to->program_misses += misses[key];
}

static int pmu_finish(void *self, const struct nm_pass_merge *merge, struct nm_result *result)
{
	struct pmu *p = self;

	fold_rows(p);
	result->pmu.spec = *p->spec;
	result->pmu.level = p->level;
	for (unsigned i = 0; i < p->spec->count; i++)
		finish_watch(p, &p->watches[i], merge, result, &result->pmu.samplers[i]);
	for (size_t i = 0; i < p->rows.count; i++) {
		struct nm_result_pmu_sample *row = &p->rows.at[i];
		const int has_victim = row->victim && nm_pass_counts_key(merge, result, row->victim);

		row->attr = merge->keys[row->attr];
		row->victim = has_victim ? merge->keys[row->victim] : UINT32_MAX;
	}
	result->pmu_samples = p->rows.at;
	result->pmu_sample_count = p->rows.count;
	memset(&p->rows, 0, sizeof p->rows);
	return 0;
}

const struct nm_pass nm_pass_pmu = {.name = "pmu",
				    .needs = pmu_needs,
				    .make = pmu_make,
				    .batch = pmu_batch,
				    .finish = pmu_finish,
				    .free = pmu_release};
