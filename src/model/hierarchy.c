/* SPDX-License-Identifier: MIT
 *
 * hierarchy.c - passes references to the levels where they enter.
 *
 * fast.c does the work: each reference enters at the first level of its side, and misses go outwards in
 * order, so every level sees requests in the order of the program.
 *
 * Counting rules (hierarchy.h has the contract) decided here:
 * - A credit that does not find its line in the next level goes on to the one after; past the last it is
 *   dropped. It is a write-back of the level that the line left, if the line was dirty.
 * - Lines resident at the end are credited from the first level outwards; that is not an eviction.
 */
#include "hierarchy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "coalesced.h"
#include "general.h"
#include "hierarchy_priv.h"

const struct nm_cache *nm_hierarchy_unit(const struct nm_hierarchy *h, unsigned level, unsigned core)
{
	assert(level < h->count && core < h->cores);
	return unit_of(h, level, core);
}

const struct nm_cache *nm_hierarchy_level(const struct nm_hierarchy *h, unsigned level)
{
	assert(level < h->count);
	return unit_of(h, level, 0);
}

unsigned nm_hierarchy_simulated(const struct nm_hierarchy *h, unsigned level) { return h->same[level]; }

void nm_hierarchy_use(struct nm_hierarchy *h, const struct nm_lookup *lookup)
{
	assert(lookup != &nm_lookup_general);
	for (unsigned u = 0; u < unit_count(h); u++)
		if (!h->units[u].general)
			h->units[u].lookup = lookup;
}

void nm_hierarchy_watch(struct nm_hierarchy *h, const struct nm_monitor *monitor)
{
	h->sink.monitor = *monitor;
	for (unsigned level = 0; level < h->count; level++)
		assert(h->same[level] == level);
	for (unsigned u = 0; u < unit_count(h); u++) {
		h->units[u].sink = &h->sink;
		h->units[u].chained = 0;
	}
}

void nm_hierarchy_watch_uncounted(struct nm_hierarchy *h) { h->sink.watches_uncounted = 1; }

void nm_hierarchy_set_sampler(struct nm_hierarchy *h, struct nm_sampler *sampler)
{
	assert(!h->sampler);
	for (unsigned core = 0; core < h->cores; core++) {
		struct nm_cache *c = entry_levels_of(h, core)->entry[0];

		if (c && c->words <= NM_SAMPLE_WORDS) {
			c->sampler = sampler;
			h->sampler = sampler;
			for (c = next_of_machine(h, c, core); c; c = next_of_machine(h, c, core))
				c->upper_sampler = sampler;
		}
	}
}

int nm_hierarchy_sample_rest(struct nm_hierarchy *h)
{
	struct nm_cache *last = NULL;

	if (!h->sampler)
		return 0;
	nm_sampler_next(h->sampler);
	for (unsigned core = 0; core < h->cores; core++) {
		struct nm_cache *c = entry_levels_of(h, core)->entry[0];

		if (c && c->sampler && c != last)
			nm_sampler_rest(c);
		last = c;
	}
	return h->sampler->failed ? NM_ENOMEM : 0;
}

int nm_hierarchy_set_memory(struct nm_hierarchy *h, const struct nm_range *ranges, size_t count)
{
	return pages_set(&h->pages, ranges, count);
}

int nm_hierarchy_add_instructions(struct nm_hierarchy *h, const uint32_t *instructions, size_t count)
{
	if (nm_vec_reserve(&h->queue.instructions, count))
		return NM_ENOMEM;
	memcpy(h->queue.instructions.at + h->queue.instructions.count, instructions,
	       count * sizeof *instructions);
	h->queue.instructions.count += count;
	return 0;
}

void nm_hierarchy_set_core(struct nm_hierarchy *h, unsigned core)
{
	h->core = core < h->cores ? core : 0;
	h->homes.running = h->core;
	if (h->coverage)
		nm_coverage_set_core(h->coverage, h->core);
}

void nm_hierarchy_synchronise(struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < h->coherent_count; i++)
		nm_coherence_synchronise(h->coherent[i].coherence, h->core);
}

struct nm_coherence *nm_hierarchy_coherence(const struct nm_hierarchy *h, unsigned level)
{
	assert(level < h->count);
	for (unsigned i = 0; i < h->coherent_count; i++)
		if (h->coherent[i].first == level)
			return h->coherent[i].coherence;
	return NULL;
}

static void run_paged(struct nm_hierarchy *h, const struct nm_pager *pager, const struct nm_ref *refs,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		pager_take(pager, &h->pages, &refs[i]);
}

/* Runs references one by one, data and fetches mixed. */
static void run_any(struct nm_cache *const entry[2], const struct nm_ref *refs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct nm_ref *r = &refs[i];
		struct nm_cache *c = entry[r->kind == NM_REF_FETCH];

		if (!c)
			continue;
		*(r->kind == NM_REF_WRITE ? &c->counters.writes : &c->counters.reads) += r->weight;
		c->lookup->any(c, r);
		if (c->queue)
			nm_prefetch_issue(c->queue);
	}
}

/* Runs references one by one in all machines: of a monitored hierarchy, so that the events of a reference are
 * consecutive; of one with hints, for the time. */
static void run_in_step(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		h->sink.asked.reference += refs[i].weight;
		for (unsigned m = 0; m < h->machines; m++) {
			const struct entry_levels *in = &entry_levels_of(h, h->core)[m];

			if (in->pager)
				run_paged(h, in->pager, &refs[i], 1);
			else
				run_any(in->entry, &refs[i], 1);
		}
		h->queue.now += refs[i].weight;
	}
}

static void take_prefetch(struct nm_hierarchy *h, const struct nm_software_prefetch *p)
{
	for (unsigned m = 0; m < h->machines; m++) {
		struct nm_cache *first = entry_levels_of(h, h->core)[m].entry[0];

		if (first)
			nm_general_take_prefetch(first, p);
	}
}

/* A summary of a batch. */
struct survey {
	uint32_t attr; /* the largest; coalesced references have none */
	int plain;     /* all are reads and writes that count, perhaps coalesced; */
	int grouped;   /* some are coalesced */
};

static struct survey look_over(const struct nm_ref *refs, size_t count)
{
	struct survey s = {.plain = 1};

	for (size_t i = 0; i < count; i++) {
		if (nm_ref_is_coalesced(&refs[i]))
			s.grouped = 1;
		else if (refs[i].attr > s.attr)
			s.attr = refs[i].attr;
		s.plain &= refs[i].kind != NM_REF_FETCH && refs[i].weight;
	}
	return s;
}

static void run_machine(struct nm_cache *const entry[2], const struct nm_ref *refs, size_t count, int plain)
{
	struct nm_cache *c = entry[0];

	if (!plain)
		run_any(entry, refs, count);
	else if (c)
		c->lookup->plain(c, refs, (uint32_t)count);
}

/* Whether all entry levels take coalesced references. */
static int takes_groups(const struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < h->machines * h->cores; i++) {
		const struct nm_cache *c = h->entry_levels[i].entry[0];

		if (h->entry_levels[i].pager || (c && !nm_cache_takes_coalesced(c)))
			return 0;
	}
	return !h->sink.monitor.event && !h->hints;
}

int nm_hierarchy_set_coalesced(struct nm_hierarchy *h, const struct nm_coalesced_table *coalesced)
{
	assert(!h->apart);
	h->coalesced = coalesced;
	for (unsigned u = 0; u < unit_count(h); u++)
		h->units[u].coalesced = coalesced;
	h->one_by_one = !takes_groups(h);
	h->apart = malloc(NM_BATCH * sizeof *h->apart);
	return h->apart ? 0 : NM_ENOMEM;
}

static void run_all(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count, int plain)
{
	if (h->sink.monitor.event || h->hints) {
		run_in_step(h, refs, count);
		return;
	}
	for (unsigned m = 0; m < h->machines; m++) {
		const struct entry_levels *in = &entry_levels_of(h, h->core)[m];

		if (in->pager)
			run_paged(h, in->pager, refs, count);
		else
			run_machine(in->entry, refs, count, plain);
	}
}

/* The same, with each member of a coalesced reference by itself. */
static void run_apart(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (nm_ref_is_coalesced(&refs[i])) {
			const struct nm_coalesced *c = nm_coalesced_at(h->coalesced, refs[i].attr);

			for (uint32_t k = 0; k < c->members; k++)
				h->apart[n++] = nm_coalesced_member_ref(&refs[i], &c->member[k]);
		} else {
			h->apart[n++] = refs[i];
		}
		if (n + NM_COALESCED_MAX > NM_BATCH || i + 1 == count) {
			run_all(h, h->apart, n, look_over(h->apart, n).plain);
			n = 0;
		}
	}
}

static void run_part(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count, const struct survey *s)
{
	if (s->grouped && (h->one_by_one || !s->plain))
		run_apart(h, refs, count);
	else
		run_all(h, refs, count, s->plain);
}

/* Runs references [from, to) of a batch, of one core, with the hints up to there. */
static void run_hinted(struct nm_hierarchy *h, const struct nm_ref *refs, size_t from, size_t to,
		       const struct survey *s)
{
	const unsigned core = h->core;

	for (; h->due_count && h->due->before < to; h->due++, h->due_count--) {
		const struct nm_cache_hint *hint = h->due;

		run_part(h, refs + from, hint->before - from, s);
		from = hint->before;
		if (hint->is_store) {
			h->queue.streams = 1;
			run_part(h, refs + from++, 1, s);
			h->queue.streams = 0;
		} else {
			nm_hierarchy_set_core(h, hint->core);
			take_prefetch(h, &hint->prefetch);
			nm_hierarchy_set_core(h, core);
		}
	}
	run_part(h, refs + from, to - from, s);
}

void nm_hierarchy_allow_uncounted(struct nm_hierarchy *h) { h->uncounted = 1; }

void nm_hierarchy_prefetch_host(struct nm_hierarchy *h, const struct nm_ref *next) { h->expected = next; }

/* The running core will prefetch, on the host, the part of the next batch that lies where its own turn lies in
 * this one. */
static void prefetch_host(struct nm_hierarchy *h, size_t from)
{
	struct nm_cache *first = entry_levels_of(h, h->core)->entry[0];

	if (first)
		first->expected = h->expected ? h->expected + from : NULL;
}

/* Builds with checks go through all levels after batches of so many references, not after each step. */
enum { CHECKED = 16 };

/* The code of the unit that failed. */
static int fault_of(const struct nm_hierarchy *h)
{
	int fault = (h->sampler && h->sampler->failed) || h->homes.failed ? NM_ENOMEM : 0;

	for (unsigned i = 0; i < h->coherent_count; i++)
		if (nm_coherence_failed(h->coherent[i].coherence))
			fault = NM_ENOMEM;
	for (unsigned u = 0; u < unit_count(h); u++) {
		const struct nm_cache *c = &h->units[u];

		if (c->failed || (c->general && c->general->replacement.failed))
			fault = c->failed == NM_EPLUGIN ? NM_EPLUGIN : NM_ENOMEM;
	}
	return fault;
}

int nm_hierarchy_run_time_slices(struct nm_hierarchy *h, const struct nm_ref *refs,
				 const struct nm_time_slice *time_slices, size_t time_slice_count)
{
	const size_t count = time_slices[time_slice_count - 1].end;
	const uint32_t announced =
	    h->coalesced ? atomic_load_explicit(&h->coalesced->attrs, memory_order_relaxed) : 0;
	struct survey survey = {.plain = 1};
	uint32_t attrs = announced;

	if (!announced || h->one_by_one || !h->data_only || h->uncounted) {
		survey = look_over(refs, count);
		attrs = survey.grouped && announced > survey.attr ? announced : survey.attr + 1;
	}
	for (size_t i = 0; i < h->due_count; i++)
		attrs = h->due[i].prefetch.attr < attrs ? attrs : h->due[i].prefetch.attr + 1;
	for (unsigned u = 0; u < unit_count(h); u++)
		if (nm_counters_reserve(&h->units[u].counters, attrs))
			h->broken = NM_ENOMEM;
	if (h->coverage && nm_coverage_reserve(h->coverage, attrs))
		h->broken = NM_ENOMEM;
	if (h->broken)
		return h->broken;
	if (h->sampler)
		nm_sampler_next(h->sampler);
	for (unsigned i = 0; i < h->coherent_count; i++)
		nm_coherence_next_batch(h->coherent[i].coherence);
	for (size_t i = 0, from = 0; i < time_slice_count; from = time_slices[i++].end) {
		nm_hierarchy_set_core(h, time_slices[i].core);
		if (time_slices[i].synchronised)
			nm_hierarchy_synchronise(h);
		prefetch_host(h, from);
		run_hinted(h, refs, from, time_slices[i].end, &survey);
	}
	for (; h->due_count; h->due++, h->due_count--) {
		nm_hierarchy_set_core(h, h->due->core);
		take_prefetch(h, &h->due->prefetch);
	}
	h->broken = fault_of(h);
	NM_CHECK(h->broken || count < CHECKED || nm_hierarchy_is_valid(h));
	return h->broken;
}

int nm_hierarchy_prefetch(struct nm_hierarchy *h, const struct nm_software_prefetch *p)
{
	assert(!h->finished);
	assert(h->hints);
	for (unsigned u = 0; u < unit_count(h); u++)
		if (nm_counters_reserve(&h->units[u].counters, p->attr + 1))
			h->broken = NM_ENOMEM;
	if (h->broken)
		return h->broken;
	take_prefetch(h, p);
	h->broken = fault_of(h);
	return h->broken;
}

int nm_hierarchy_follows_hints(const struct nm_hierarchy *h) { return h->hints; }

int nm_hierarchy_set_hints(struct nm_hierarchy *h, const struct nm_cache_hint *hints, size_t count)
{
	if (!count || h->broken)
		return h->broken;
	h->broken = hierarchy_take_hints(h);
	h->due = hints;
	h->due_count = h->hints ? count : 0;
	return h->broken;
}

int nm_hierarchy_run(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count)
{
	const struct nm_time_slice all = {(uint16_t)count, (uint16_t)h->core, 0};

	assert(count <= NM_BATCH);
	return nm_hierarchy_run_time_slices(h, refs, &all, 1);
}

int nm_hierarchy_store_past(struct nm_hierarchy *h, const struct nm_ref *write)
{
	int status;

	assert(h->hints && write->kind == NM_REF_WRITE);
	h->queue.streams = 1;
	status = nm_hierarchy_run(h, write, 1);
	h->queue.streams = 0;
	return status;
}

int nm_hierarchy_finish(struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < h->coherent_count && !h->finished; i++)
		nm_coherence_finish(h->coherent[i].coherence);
	for (unsigned u = 0; u < unit_count(h) && !h->finished && !h->broken; u++) {
		struct nm_cache *c = &h->units[u];

		uint64_t next = 0;

		for (uint32_t slot; (slot = nm_cache_next_resident(c, next)) != NM_NO_SLOT;
		     next = (uint64_t)slot + 1) {
			nm_cache_charge(c, slot);
			if (c->general && c->general->prefetched)
				nm_prefetch_tracker_end(c, slot);
			nm_cache_credit_residency(c, slot);
		}
		if (nm_counters_flush(&c->counters))
			h->broken = NM_ENOMEM;
	}
	h->finished = 1;
	return h->broken;
}
