/* SPDX-License-Identifier: MIT
 *
 * hierarchy.c - wires levels, hands out references, puts the figures together.
 *
 * The work is done in lookup.c: each reference enters at the first level of its side, and what misses there goes
 * outwards at once, so levels see everything in the order of the program.
 *
 * Counting rules (hierarchy.h has the contract) decided here:
 *   - A settlement that does not find its line in the next level goes on to the one after; past the last
 *     it is forgotten.  It is a write-back of the level that the line left, if the line was dirty.
 *   - Lines resident at the end are settled from the first level outwards; that is no eviction.
 *   - The references of a level that takes fills are the fills of the levels above it.
 */
#include "hierarchy.h"

#include <stdlib.h>
#include <string.h>

#include "custom.h"
#include "foresight.h"
#include "pages.h"

struct nm_hierarchy {
	struct nm_cache levels[NM_MAX_LEVELS];
	struct nm_cache
	    *entry[NM_MAX_LEVELS][2]; /* per machine: where data and where fetches go first, or NULL */
	struct nm_pager *pagers[NM_MAX_LEVELS]; /* per machine: instead, if it is a TLB; or NULL */
	struct nm_pages pages;
	unsigned count, machines;
	const struct nm_lookup *lookup; /* of the levels that are not custom */
	struct nm_teller teller;
	struct nm_foresight *foresight; /* or NULL; borrowed */
	int broken;                     /* why: a code */
	int finished;
};

/* One machine: its levels of a side feed each other.  Of a TLB those that take pages of a size; else pages is 0. */
static void wire_side(struct nm_hierarchy *h, const struct nm_machine *machine, unsigned first,
		      enum nm_level_side mine, unsigned pages, struct nm_cache **ret_entry)
{
	struct nm_cache *before = NULL;

	for (unsigned i = first; i < h->count; i++) {
		enum nm_level_side side = machine->levels[i].side;
		struct nm_cache *c = &h->levels[i];

		if ((side != mine && side != NM_SIDE_UNIFIED) || (pages & ~machine->levels[i].pages) ||
		    !nm_machine_same(machine->levels[first].name, machine->levels[i].name))
			continue;
		if (before) {
			before->next = c;
			c->first = 0;
		} else {
			*ret_entry = c;
		}
		before = c;
	}
}

/* A TLB: what is referenced at each level is counted there. */
static int wire_pages(struct nm_hierarchy *h, const struct nm_machine *machine, unsigned first)
{
	struct nm_pager *p = h->pagers[h->machines] = calloc(1, sizeof *p);

	if (!p)
		return NM_ENOMEM;
	p->huge = machine->levels[first].huge;
	for (unsigned size = 0; size < NM_PAGE_SIZES; size++) {
		wire_side(h, machine, first, NM_SIDE_DATA, 1u << size, &p->entry[0][size]);
		wire_side(h, machine, first, NM_SIDE_INSTRUCTION, 1u << size, &p->entry[1][size]);
	}
	return 0;
}

static int wire_levels(struct nm_hierarchy *h, const struct nm_machine *machine)
{
	for (unsigned i = 0; i < h->count; i++)
		h->levels[i].first = !machine->levels[i].pages;
	for (unsigned i = 0; i < h->count; i++) {
		int seen = 0;

		for (unsigned j = 0; j < i; j++)
			seen |= nm_machine_same(machine->levels[j].name, machine->levels[i].name);
		if (seen)
			continue;
		if (machine->levels[i].pages) {
			if (wire_pages(h, machine, i))
				return NM_ENOMEM;
		} else {
			wire_side(h, machine, i, NM_SIDE_DATA, 0, &h->entry[h->machines][0]);
			wire_side(h, machine, i, NM_SIDE_INSTRUCTION, 0, &h->entry[h->machines][1]);
		}
		h->machines++;
	}
	return 0;
}

static int outside(const struct nm_cache *c, const struct nm_cache *lower)
{
	for (c = c->next; c && c != lower;)
		c = c->next;
	return c != NULL;
}

/* Whether a level needs more than lookup.c does, for its own sake or that of those outside it. */
static int needs_custom(const struct nm_hierarchy *h, const struct nm_machine *machine, unsigned i)
{
	const struct nm_level_spec *l = &machine->levels[i];

	if (l->policy != NM_POLICY_LRU || l->index != NM_INDEX_MODULO || l->write_through || l->no_allocate ||
	    l->inclusion != NM_NON_INCLUSIVE || *l->plugin)
		return 1;
	for (unsigned j = i + 1; j < h->count; j++) {
		enum nm_inclusion inclusion = machine->levels[j].inclusion;

		if (inclusion == NM_EXCLUSIVE && h->levels[i].next == &h->levels[j])
			return 1;
		if (inclusion == NM_INCLUSIVE && l->ways >= NM_WIDE_WAYS &&
		    outside(&h->levels[i], &h->levels[j]))
			return 1;
	}
	return 0;
}

/* Levels are made from the first outwards: an exclusive one must know how much those above it hold. */
static int make_level(struct nm_hierarchy *h, const struct nm_machine *machine, unsigned i,
		      struct nm_error *err)
{
	struct nm_cache *c = &h->levels[i];
	struct nm_standing standing = {.custom = needs_custom(h, machine, i)};

	for (unsigned j = 0; j < i; j++)
		if (machine->levels[i].inclusion == NM_EXCLUSIVE && h->levels[j].next == c)
			standing.loans += h->levels[j].places + 1; /* one is asked for before one leaves */
	if (machine->levels[i].policy == NM_POLICY_OPT &&
	    !(standing.future = nm_foresight_take(h->foresight, i)))
		return nm_fail(err, NM_ENOMEM, "out of memory");
	if (nm_cache_init(c, &machine->levels[i], &standing))
		return nm_fail(err, NM_ENOMEM, "out of memory for the model of level %s",
			       machine->levels[i].name);
	for (unsigned j = 0; j < i; j++)
		if (machine->levels[i].inclusion == NM_INCLUSIVE && outside(&h->levels[j], c))
			c->custom->above[c->custom->above_count++] = &h->levels[j];
	return *c->spec.plugin ? nm_plugin_open(&c->custom->plugin, &c->spec, err) : 0;
}

/* Whether a level gets the fills of one other and nothing else. */
static int has_one_source(const struct nm_hierarchy *h, const struct nm_cache *c)
{
	unsigned sources = 0;

	for (unsigned m = 0; m < h->machines; m++)
		for (unsigned side = 0; side < 2; side++) {
			sources += h->entry[m][side] == c;
			for (unsigned size = 0; h->pagers[m] && size < NM_PAGE_SIZES; size++)
				sources += h->pagers[m]->entry[side][size] == c;
		}
	for (unsigned i = 0; i < h->count; i++)
		sources += h->levels[i].next == c;
	return sources == 1;
}

/* Where what is known of a line that leaves can be handed on by lookup.c itself, and where the next level
 * knows what is cold. */
static void find_short_cuts(struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < h->count; i++) {
		struct nm_cache *c = &h->levels[i];
		int like = c->next && c->line_shift == c->next->line_shift;

		c->flat = like && !c->masks && !c->next->spec.write_through;
		c->told = like && !c->next->custom && has_one_source(h, c->next);
	}
}

int nm_hierarchy_new(struct nm_hierarchy **ret_hierarchy, const struct nm_machine *machine,
		     struct nm_error *err)
{
	return nm_hierarchy_new_foreseeing(ret_hierarchy, machine, NULL, err);
}

int nm_hierarchy_new_foreseeing(struct nm_hierarchy **ret_hierarchy, const struct nm_machine *machine,
				struct nm_foresight *foresight, struct nm_error *err)
{
	int code = nm_machine_check(machine, err);
	if (!code)
		code = nm_machine_check_present(machine, foresight != NULL, err);
	if (code)
		return code;
	struct nm_hierarchy *h = calloc(1, sizeof *h);
	if (!h)
		return nm_fail(err, NM_ENOMEM, "out of memory for the cache model");
	h->foresight = foresight;
	h->count = machine->count;
	h->lookup = nm_lookup_supported(0);
	if (wire_levels(h, machine))
		code = nm_fail(err, NM_ENOMEM, "out of memory for the cache model");
	for (unsigned i = 0; i < h->count && !code; i++)
		code = make_level(h, machine, i, err);
	if (code) {
		nm_hierarchy_free(h);
		return code;
	}
	find_short_cuts(h);
	*ret_hierarchy = h;
	return 0;
}

void nm_hierarchy_free(struct nm_hierarchy *h)
{
	if (!h)
		return;
	for (unsigned i = 0; i < h->count; i++)
		nm_cache_done(&h->levels[i]);
	for (unsigned m = 0; m < h->machines; m++)
		free(h->pagers[m]);
	nm_pages_done(&h->pages);
	free(h);
}

const struct nm_cache *nm_hierarchy_level(const struct nm_hierarchy *h, unsigned level)
{
	return &h->levels[level];
}

void nm_hierarchy_use(struct nm_hierarchy *h, const struct nm_lookup *lookup)
{
	h->lookup = lookup;
	for (unsigned i = 0; i < h->count; i++)
		if (!h->levels[i].custom)
			h->levels[i].lookup = lookup;
}

void nm_hierarchy_watch(struct nm_hierarchy *h, const struct nm_monitor *monitor)
{
	h->teller.monitor = *monitor;
	for (unsigned i = 0; i < h->count; i++) {
		h->levels[i].teller = &h->teller;
		h->levels[i].level = (uint8_t)i;
	}
	nm_hierarchy_use(h, &nm_lookup_watched);
}

int nm_hierarchy_set_memory(struct nm_hierarchy *h, const struct nm_range *ranges, size_t count)
{
	return nm_pages_set(&h->pages, ranges, count);
}

static void run_paged(struct nm_hierarchy *h, unsigned machine, const struct nm_ref *refs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		nm_pager_take(h->pagers[machine], &h->pages, &refs[i]);
}

/* One by one, data and fetches mixed. */
static void run_any(struct nm_cache *const entry[2], const struct nm_ref *refs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct nm_ref *r = &refs[i];
		struct nm_cache *c = entry[r->kind == NM_REF_FETCH];

		if (!c)
			continue;
		*(r->kind == NM_REF_WRITE ? &c->tally.writes : &c->tally.reads) += r->weight;
		c->lookup->any(c, r);
	}
}

/* Watched: one by one in all machines, so that events of one reference follow each other. */
static void run_told(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		h->teller.asked.reference += refs[i].weight;
		for (unsigned m = 0; m < h->machines; m++) {
			if (h->pagers[m])
				run_paged(h, m, &refs[i], 1);
			else
				run_any(h->entry[m], &refs[i], 1);
		}
	}
}

static void run_machine(struct nm_cache *const entry[2], const struct nm_ref *refs, size_t count,
			const struct nm_survey *survey)
{
	struct nm_cache *c = entry[0];

	if (!c || !survey->plain) {
		run_any(entry, refs, count);
		return;
	}
	c->tally.reads += count - survey->writes;
	c->tally.writes += survey->writes;
	c->lookup->plain(c, refs, (uint32_t)count);
}

int nm_hierarchy_run(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count)
{
	struct nm_survey survey;

	h->lookup->survey(refs, (uint32_t)count, &survey);
	for (unsigned i = 0; i < h->count; i++)
		if (nm_tally_reach(&h->levels[i].tally, survey.cell + 1u))
			h->broken = NM_ENOMEM;
	if (h->broken)
		return h->broken;
	if (h->teller.monitor.event)
		run_told(h, refs, count);
	for (unsigned m = 0; m < h->machines && !h->teller.monitor.event; m++) {
		if (h->pagers[m])
			run_paged(h, m, refs, count);
		else
			run_machine(h->entry[m], refs, count, &survey);
	}
	for (unsigned i = 0; i < h->count; i++) {
		const struct nm_cache *c = &h->levels[i];

		if (c->failed || (c->custom && c->custom->replacement.failed))
			h->broken = c->failed == NM_EPLUGIN ? NM_EPLUGIN : NM_ENOMEM;
	}
	return h->broken;
}

int nm_hierarchy_finish(struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < h->count && !h->finished && !h->broken; i++) {
		struct nm_cache *c = &h->levels[i];

		for (uint32_t place = 0; place < c->places; place++)
			if (c->tags[place] < NM_NO_VICTIM) {
				nm_cache_charge(c, place);
				nm_cache_settle(c, place);
			}
		if (nm_tally_settle(&c->tally))
			h->broken = NM_ENOMEM;
	}
	h->finished = 1;
	return h->broken;
}

/* A cell's figures, put together from both sides of its loads. */
static struct nm_counts counts_of(const struct nm_hierarchy *h, const struct nm_cache *c, size_t cell)
{
	const struct nm_loads *l = &c->tally.loads[cell];
	const struct nm_stays *s = &c->tally.stays[cell];
	struct nm_counts n = {.reads = c->first ? 0 : c->tally.own[cell][0],
			      .writes = c->first ? 0 : c->tally.own[cell][1],
			      .read_misses = l->fills[0] - l->extra[0],
			      .write_misses = l->fills[1] + l->around - l->extra[1],
			      .cold = l->of_class[NM_MISS_COLD],
			      .capacity = l->of_class[NM_MISS_CAPACITY],
			      .conflict = l->of_class[NM_MISS_CONFLICT],
			      .loads = l->fills[0] + l->fills[1],
			      .reuse = s->reuse,
			      .used_bytes = s->used_bytes,
			      .evictions = s->evictions,
			      .writebacks = s->writebacks,
			      .weighted_bytes = s->weighted_bytes};

	n.loaded_bytes = n.loads * c->spec.line;
	for (const struct nm_cache *above = h->levels; above < c; above++)
		if (above->next == c) {
			n.reads += above->tally.loads[cell].fills[0];
			n.writes += above->tally.loads[cell].fills[1];
		}
	return n;
}

int nm_hierarchy_counts(const struct nm_hierarchy *h, unsigned level, struct nm_counts **ret_counts,
			size_t *ret_cells)
{
	const struct nm_cache *c = &h->levels[level];

	*ret_cells = c->tally.cell_count;
	*ret_counts = malloc(*ret_cells * sizeof **ret_counts);
	if (!*ret_counts)
		return NM_ENOMEM;
	for (size_t i = 0; i < *ret_cells; i++)
		(*ret_counts)[i] = counts_of(h, c, i);
	return 0;
}

void nm_hierarchy_total(const struct nm_hierarchy *h, unsigned level, struct nm_counts *ret_total)
{
	const struct nm_cache *c = &h->levels[level];
	uint64_t sums[sizeof *ret_total / sizeof(uint64_t)] = {0};

	for (size_t i = 0; i < c->tally.cell_count; i++) {
		struct nm_counts counts = counts_of(h, c, i);
		uint64_t row[sizeof counts / sizeof(uint64_t)];
		memcpy(row, &counts, sizeof row);
		for (size_t f = 0; f < sizeof row / sizeof row[0]; f++)
			sums[f] += row[f];
	}
	memcpy(ret_total, sums, sizeof *ret_total);
	if (c->first) {
		ret_total->reads += c->tally.reads;
		ret_total->writes += c->tally.writes;
	}
}

int nm_hierarchy_evictions(const struct nm_hierarchy *h, unsigned level, struct nm_eviction **ret_list,
			   size_t *ret_count)
{
	const struct nm_tally *t = &h->levels[level].tally;
	struct nm_eviction *list = malloc((t->pair_count + 1) * sizeof *list);
	size_t n = 0;

	if (!list)
		return NM_ENOMEM;
	for (size_t i = 0; i <= t->pair_mask; i++)
		if (t->pairs[i].count)
			list[n++] = (struct nm_eviction){.evictor = (uint32_t)(t->pairs[i].key >> 32),
							 .victim = (uint32_t)t->pairs[i].key,
							 .count = t->pairs[i].count};
	*ret_list = list;
	*ret_count = n;
	return 0;
}
