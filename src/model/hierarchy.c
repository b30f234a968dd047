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
#include "groups.h"
#include "pages.h"

/* Where what a core references goes first, in one machine. */
struct entrance {
	struct nm_cache *entry[2]; /* data, fetches; or NULL */
	struct nm_pager *pager;    /* instead, if it is a TLB; or NULL */
};

struct nm_hierarchy {
	struct nm_cache *units; /* by level; of those that each core has for itself one for each core */
	unsigned begin[NM_MAX_LEVELS + 1]; /* units of level i: from begin[i] to begin[i + 1] */
	struct entrance *entrances;        /* by core and machine */
	struct nm_pages pages;
	unsigned count, machines, cores;
	unsigned core;                  /* the running one */
	const struct nm_lookup *lookup; /* of the levels that are not custom */
	struct nm_teller teller;
	struct nm_prefetch_queue queue;
	struct nm_foresight *foresight; /* or NULL; borrowed */
	struct nm_witness *witness;     /* of the first level, or NULL; borrowed */
	const struct nm_groups *groups; /* that references may be to, or NULL; borrowed */
	struct nm_ref *apart;           /* [NM_BATCH], for references of groups one by one */
	int one_by_one;                 /* they are all to be taken so */
	int broken;                     /* why: a code */
	int finished;
};

static struct nm_cache *unit_of(const struct nm_hierarchy *h, unsigned level, unsigned core)
{
	return &h->units[h->begin[level] + (h->begin[level + 1] - h->begin[level] > 1 ? core : 0)];
}

static unsigned unit_count(const struct nm_hierarchy *h) { return h->begin[h->count]; }

static struct entrance *entrances_of(const struct nm_hierarchy *h, unsigned core)
{
	return h->entrances + core * h->machines;
}

/* One machine: its levels of a side feed each other.  Of a TLB those that take pages of a size; else pages is 0. */
static void wire_side(struct nm_hierarchy *h, const struct nm_machine *machine, unsigned first, unsigned core,
		      enum nm_level_side mine, unsigned pages, struct nm_cache **ret_entry)
{
	struct nm_cache *before = NULL;

	for (unsigned i = first; i < h->count; i++) {
		enum nm_level_side side = machine->levels[i].side;
		struct nm_cache *c = unit_of(h, i, core);

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
static int wire_pages(struct nm_hierarchy *h, const struct nm_machine *machine, unsigned first, unsigned core,
		      struct entrance *to)
{
	struct nm_pager *p = to->pager = calloc(1, sizeof *p);

	if (!p)
		return NM_ENOMEM;
	p->huge = machine->levels[first].huge;
	for (unsigned size = 0; size < NM_PAGE_SIZES; size++) {
		wire_side(h, machine, first, core, NM_SIDE_DATA, 1u << size, &p->entry[0][size]);
		wire_side(h, machine, first, core, NM_SIDE_INSTRUCTION, 1u << size, &p->entry[1][size]);
	}
	return 0;
}

/* Does a machine begin with level i? */
static int begins(const struct nm_machine *machine, unsigned i)
{
	for (unsigned j = 0; j < i; j++)
		if (nm_machine_same(machine->levels[j].name, machine->levels[i].name))
			return 0;
	return 1;
}

static int wire_core(struct nm_hierarchy *h, const struct nm_machine *machine, unsigned core)
{
	struct entrance *to = entrances_of(h, core);

	for (unsigned i = 0; i < h->count; i++) {
		if (!begins(machine, i))
			continue;
		if (machine->levels[i].pages) {
			if (wire_pages(h, machine, i, core, to))
				return NM_ENOMEM;
		} else {
			wire_side(h, machine, i, core, NM_SIDE_DATA, 0, &to->entry[0]);
			wire_side(h, machine, i, core, NM_SIDE_INSTRUCTION, 0, &to->entry[1]);
		}
		to++;
	}
	return 0;
}

/* Makes the units of all levels, still empty, and says which feeds which. */
static int wire_levels(struct nm_hierarchy *h, const struct nm_machine *machine)
{
	h->cores = machine->cores ? machine->cores : 1;
	for (unsigned i = 0; i < h->count; i++) {
		h->begin[i + 1] = h->begin[i] + (nm_machine_private(machine, i) ? h->cores : 1);
		h->machines += (unsigned)begins(machine, i);
	}
	h->units = calloc(unit_count(h), sizeof *h->units);
	h->entrances = calloc((size_t)h->cores * h->machines, sizeof *h->entrances);
	if (!h->units || !h->entrances)
		return NM_ENOMEM;
	for (unsigned i = 0; i < h->count; i++)
		for (unsigned u = h->begin[i]; u < h->begin[i + 1]; u++) {
			h->units[u].level = (uint8_t)i;
			if (h->begin[i + 1] - h->begin[i] > 1)
				h->units[u].core = (uint8_t)(u - h->begin[i] + 1);
			h->units[u].first = !machine->levels[i].pages;
		}
	for (unsigned core = 0; core < h->cores; core++)
		if (wire_core(h, machine, core))
			return NM_ENOMEM;
	return 0;
}

static int outside(const struct nm_cache *c, const struct nm_cache *lower)
{
	for (c = c->next; c && c != lower;)
		c = c->next;
	return c != NULL;
}

/* Whether lines come to a level that nobody asked for yet. */
static int is_prefetched_to(const struct nm_hierarchy *h, const struct nm_machine *machine, unsigned i)
{
	for (unsigned j = 0; j < i; j++)
		if (machine->levels[j].prefetch && outside(unit_of(h, j, 0), unit_of(h, i, 0)))
			return 1;
	return machine->levels[i].prefetch != NM_PREFETCH_NONE;
}

/* Whether a level needs more than lookup.c does, for its own sake or that of those outside it. */
static int needs_custom(const struct nm_hierarchy *h, const struct nm_machine *machine, unsigned i)
{
	const struct nm_level_spec *l = &machine->levels[i];

	if (l->policy != NM_POLICY_LRU || l->index != NM_INDEX_MODULO || l->write_through || l->no_allocate ||
	    l->inclusion != NM_NON_INCLUSIVE || *l->plugin || l->sector || is_prefetched_to(h, machine, i))
		return 1;
	for (unsigned j = i + 1; j < h->count; j++) {
		enum nm_inclusion inclusion = machine->levels[j].inclusion;

		const struct nm_cache *c = unit_of(h, i, 0), *lower = unit_of(h, j, 0);

		if (inclusion == NM_EXCLUSIVE && c->next == lower)
			return 1;
		if (inclusion == NM_INCLUSIVE && l->ways >= NM_WIDE_WAYS && outside(c, lower))
			return 1;
	}
	return 0;
}

/* Units are made from the first level outwards: an exclusive one must know how much those above it hold. */
static int make_unit(struct nm_hierarchy *h, const struct nm_machine *machine, unsigned u,
		     struct nm_error *err)
{
	struct nm_cache *c = &h->units[u];
	const struct nm_level_spec *spec = &machine->levels[c->level];
	struct nm_standing standing = {.custom = needs_custom(h, machine, c->level),
				       .queue = is_prefetched_to(h, machine, c->level) ? &h->queue : NULL};

	for (unsigned v = 0; v < u; v++)
		if (spec->inclusion == NM_EXCLUSIVE && h->units[v].next == c)
			standing.loans += h->units[v].places + 1; /* one is asked for before one leaves */
	if (spec->policy == NM_POLICY_OPT && !(standing.future = nm_foresight_take(h->foresight, c->level)))
		return nm_fail(err, NM_ENOMEM, "out of memory");
	if (nm_cache_init(c, spec, &standing))
		return nm_fail(err, NM_ENOMEM, "out of memory for the model of level %s", spec->name);
	if (spec->inclusion == NM_INCLUSIVE && !(c->custom->above = calloc(u + 1, sizeof *c->custom->above)))
		return nm_fail(err, NM_ENOMEM, "out of memory");
	for (unsigned v = 0; v < u; v++)
		if (spec->inclusion == NM_INCLUSIVE && outside(&h->units[v], c))
			c->custom->above[c->custom->above_count++] = &h->units[v];
	return *c->spec.plugin ? nm_plugin_open(&c->custom->plugin, &c->spec, err) : 0;
}

/* Whether a level gets the fills of one other and nothing else. */
static int has_one_source(const struct nm_hierarchy *h, const struct nm_cache *c)
{
	unsigned sources = 0;

	for (unsigned e = 0; e < h->cores * h->machines; e++)
		for (unsigned side = 0; side < 2; side++) {
			const struct entrance *in = &h->entrances[e];

			sources += in->entry[side] == c;
			for (unsigned size = 0; in->pager && size < NM_PAGE_SIZES; size++)
				sources += in->pager->entry[side][size] == c;
		}
	for (unsigned u = 0; u < unit_count(h); u++)
		sources += h->units[u].next == c;
	return sources == 1;
}

/* Where what is known of a line that leaves can be handed on by lookup.c itself, and where the next level
 * knows what is cold. */
static void find_short_cuts(struct nm_hierarchy *h)
{
	for (unsigned u = 0; u < unit_count(h); u++) {
		struct nm_cache *c = &h->units[u];
		int like = c->next && c->line_shift == c->next->line_shift;

		c->flat = like && !c->masks && !c->next->spec.write_through;
		c->told = like && !c->next->custom && has_one_source(h, c->next);
	}
}

/* What enters at a level, or goes on from there to one that prefetches, has it issue what it named. */
static void find_entrances_of_prefetchers(struct nm_hierarchy *h)
{
	for (unsigned u = 0; u < unit_count(h); u++)
		for (const struct nm_cache *c = &h->units[u]; c; c = c->next)
			if (c->spec.prefetch)
				h->units[u].queue = &h->queue;
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
	for (unsigned u = 0; u < unit_count(h) && !code; u++)
		code = make_unit(h, machine, u, err);
	if (code) {
		nm_hierarchy_free(h);
		return code;
	}
	find_short_cuts(h);
	find_entrances_of_prefetchers(h);
	*ret_hierarchy = h;
	return 0;
}

void nm_hierarchy_free(struct nm_hierarchy *h)
{
	if (!h)
		return;
	for (unsigned u = 0; h->units && u < unit_count(h); u++)
		nm_cache_done(&h->units[u]);
	for (unsigned e = 0; h->entrances && e < h->cores * h->machines; e++)
		free(h->entrances[e].pager);
	free(h->units);
	free(h->entrances);
	nm_pages_done(&h->pages);
	free(h->apart);
	nm_vec_free(&h->queue.list);
	nm_vec_free(&h->queue.instructions);
	free(h);
}

const struct nm_cache *nm_hierarchy_level(const struct nm_hierarchy *h, unsigned level)
{
	return unit_of(h, level, 0);
}

void nm_hierarchy_use(struct nm_hierarchy *h, const struct nm_lookup *lookup)
{
	h->lookup = lookup;
	for (unsigned u = 0; u < unit_count(h); u++)
		if (!h->units[u].custom)
			h->units[u].lookup = lookup;
}

void nm_hierarchy_watch(struct nm_hierarchy *h, const struct nm_monitor *monitor)
{
	h->teller.monitor = *monitor;
	for (unsigned u = 0; u < unit_count(h); u++)
		h->units[u].teller = &h->teller;
	nm_hierarchy_use(h, &nm_lookup_watched);
}

void nm_hierarchy_witness(struct nm_hierarchy *h, struct nm_witness *witness)
{
	for (unsigned core = 0; core < h->cores; core++) {
		struct nm_cache *c = entrances_of(h, core)->entry[0];

		if (c && c->words <= NM_GLIMPSE_WORDS) {
			c->witness = witness;
			h->witness = witness;
			for (c = c->next; c; c = c->next)
				c->further = witness;
		}
	}
}

int nm_hierarchy_witness_rest(struct nm_hierarchy *h)
{
	struct nm_cache *last = NULL;

	if (!h->witness)
		return 0;
	nm_witness_next(h->witness);
	for (unsigned core = 0; core < h->cores; core++) {
		struct nm_cache *c = entrances_of(h, core)->entry[0];

		if (c && c->witness && c != last)
			nm_witness_rest(c);
		last = c;
	}
	return h->witness->failed ? NM_ENOMEM : 0;
}

int nm_hierarchy_set_memory(struct nm_hierarchy *h, const struct nm_range *ranges, size_t count)
{
	return nm_pages_set(&h->pages, ranges, count);
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

void nm_hierarchy_set_core(struct nm_hierarchy *h, unsigned core) { h->core = core < h->cores ? core : 0; }

static void run_paged(struct nm_hierarchy *h, const struct nm_pager *pager, const struct nm_ref *refs,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		nm_pager_take(pager, &h->pages, &refs[i]);
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
		if (c->queue)
			nm_prefetch_issue(c->queue);
	}
}

/* Watched: one by one in all machines, so that events of one reference follow each other. */
static void run_told(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		h->teller.asked.reference += refs[i].weight;
		for (unsigned m = 0; m < h->machines; m++) {
			const struct entrance *in = &entrances_of(h, h->core)[m];

			if (in->pager)
				run_paged(h, in->pager, &refs[i], 1);
			else
				run_any(in->entry, &refs[i], 1);
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
	c->tally.reads += survey->references - survey->writes;
	c->tally.writes += survey->writes;
	c->lookup->plain(c, refs, (uint32_t)count);
}

/* Whether all references may be groups. */
static int takes_groups(const struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < h->machines * h->cores; i++) {
		const struct nm_cache *c = h->entrances[i].entry[0];

		if (h->entrances[i].pager || (c && !nm_cache_takes_groups(c)))
			return 0;
	}
	return !h->teller.monitor.event;
}

int nm_hierarchy_set_groups(struct nm_hierarchy *h, const struct nm_groups *groups)
{
	h->groups = groups;
	for (unsigned u = 0; u < unit_count(h); u++)
		h->units[u].groups = groups;
	h->one_by_one = !takes_groups(h);
	h->apart = malloc(NM_BATCH * sizeof *h->apart);
	return h->apart ? 0 : NM_ENOMEM;
}

static void run_all(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count,
		    const struct nm_survey *survey)
{
	if (h->teller.monitor.event) {
		run_told(h, refs, count);
		return;
	}
	for (unsigned m = 0; m < h->machines; m++) {
		const struct entrance *in = &entrances_of(h, h->core)[m];

		if (in->pager)
			run_paged(h, in->pager, refs, count);
		else
			run_machine(in->entry, refs, count, survey);
	}
}

/* The same, with each reference of a group by itself. */
static void run_apart(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count)
{
	struct nm_survey survey;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (nm_ref_is_group(&refs[i])) {
			const struct nm_group *g = nm_group(h->groups, refs[i].cell);

			for (uint32_t k = 0; k < g->members; k++)
				h->apart[n++] = nm_member_ref(&refs[i], &g->member[k]);
		} else {
			h->apart[n++] = refs[i];
		}
		if (n + NM_GROUP_MAX > NM_BATCH || i + 1 == count) {
			h->lookup->survey(h->apart, (uint32_t)n, &survey);
			run_all(h, h->apart, n, &survey);
			n = 0;
		}
	}
}

void nm_hierarchy_expect(struct nm_hierarchy *h, const struct nm_ref *next)
{
	struct nm_cache *first = h->entrances[0].entry[0];

	if (first)
		first->expected = next;
}

/* A unit failed: why. */
static int fault_of(const struct nm_hierarchy *h)
{
	int fault = h->witness && h->witness->failed ? NM_ENOMEM : 0;

	for (unsigned u = 0; u < unit_count(h); u++) {
		const struct nm_cache *c = &h->units[u];

		if (c->failed || (c->custom && c->custom->replacement.failed))
			fault = c->failed == NM_EPLUGIN ? NM_EPLUGIN : NM_ENOMEM;
	}
	return fault;
}

int nm_hierarchy_run(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count)
{
	struct nm_survey survey;
	uint32_t cells;

	h->lookup->survey(refs, (uint32_t)count, &survey);
	cells = survey.cell + 1;
	if (survey.grouped && atomic_load_explicit(&h->groups->cells, memory_order_relaxed) > cells)
		cells = atomic_load_explicit(&h->groups->cells, memory_order_relaxed);
	for (unsigned u = 0; u < unit_count(h); u++)
		if (nm_tally_reach(&h->units[u].tally, cells))
			h->broken = NM_ENOMEM;
	if (h->broken)
		return h->broken;
	if (h->witness)
		nm_witness_next(h->witness);
	if (survey.grouped && (h->one_by_one || !survey.plain))
		run_apart(h, refs, count);
	else
		run_all(h, refs, count, &survey);
	h->broken = fault_of(h);
	return h->broken;
}

int nm_hierarchy_finish(struct nm_hierarchy *h)
{
	for (unsigned u = 0; u < unit_count(h) && !h->finished && !h->broken; u++) {
		struct nm_cache *c = &h->units[u];

		for (uint32_t place = 0; place < c->places; place++)
			if (c->tags[place] < NM_NO_VICTIM) {
				nm_cache_charge(c, place);
				if (c->custom && c->custom->prefetched)
					nm_prefetched_end(c, place);
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

	n.loaded_bytes = (n.loads + (c->tally.extras ? c->tally.extras[cell].prefetches : 0))
			 << c->line_shift;
	for (const struct nm_cache *above = h->units; above < c; above++)
		if (above->next == c) {
			n.reads += above->tally.loads[cell].fills[0];
			n.writes += above->tally.loads[cell].fills[1];
		}
	return n;
}

static void add(struct nm_counts *to, const struct nm_counts *counts)
{
	uint64_t sums[sizeof *to / sizeof(uint64_t)], row[sizeof *to / sizeof(uint64_t)];

	memcpy(sums, to, sizeof sums);
	memcpy(row, counts, sizeof row);
	for (size_t f = 0; f < sizeof row / sizeof row[0]; f++)
		sums[f] += row[f];
	memcpy(to, sums, sizeof sums);
}

int nm_hierarchy_counts(const struct nm_hierarchy *h, unsigned level, struct nm_counts **ret_counts,
			size_t *ret_cells)
{
	const size_t cells = unit_of(h, level, 0)->tally.cell_count; /* the same in all */
	struct nm_counts *counts = calloc(cells, sizeof *counts);

	if (!counts)
		return NM_ENOMEM;
	for (unsigned u = h->begin[level]; u < h->begin[level + 1]; u++)
		for (size_t i = 0; i < cells; i++) {
			struct nm_counts of_unit = counts_of(h, &h->units[u], i);

			add(&counts[i], &of_unit);
		}
	*ret_cells = cells;
	*ret_counts = counts;
	return 0;
}

int nm_hierarchy_extras(const struct nm_hierarchy *h, unsigned level, struct nm_extras **ret_extras,
			size_t *ret_cells)
{
	const struct nm_tally *first = &unit_of(h, level, 0)->tally; /* as many cells in all */

	*ret_cells = first->cell_count;
	*ret_extras = NULL;
	if (!first->has_extras)
		return 0;
	*ret_extras = calloc(first->cell_count + 1, sizeof **ret_extras);
	if (!*ret_extras)
		return NM_ENOMEM;
	for (unsigned u = h->begin[level]; u < h->begin[level + 1]; u++)
		for (size_t i = 0; i < first->cell_count; i++)
			nm_extras_add(&(*ret_extras)[i], &h->units[u].tally.extras[i]);
	return 0;
}

void nm_hierarchy_total(const struct nm_hierarchy *h, unsigned level, struct nm_counts *ret_total)
{
	*ret_total = (struct nm_counts){0};
	for (unsigned u = h->begin[level]; u < h->begin[level + 1]; u++) {
		const struct nm_cache *c = &h->units[u];

		for (size_t i = 0; i < c->tally.cell_count; i++) {
			struct nm_counts counts = counts_of(h, c, i);

			add(ret_total, &counts);
		}
		ret_total->reads += c->first ? c->tally.reads : 0;
		ret_total->writes += c->first ? c->tally.writes : 0;
	}
}

static struct nm_eviction eviction_of(const struct nm_pair *pair)
{
	uint32_t evictor = (uint32_t)(pair->key >> 32);

	return (struct nm_eviction){.evictor = evictor & ~NM_BY_PREFETCH,
				    .victim = (uint32_t)pair->key,
				    .count = pair->count,
				    .prefetch = (evictor & NM_BY_PREFETCH) != 0};
}

int nm_hierarchy_evictions(const struct nm_hierarchy *h, unsigned level, struct nm_eviction **ret_list,
			   size_t *ret_count)
{
	struct nm_eviction *list;
	size_t n = 1;

	for (unsigned u = h->begin[level]; u < h->begin[level + 1]; u++)
		n += h->units[u].tally.pair_count;
	list = malloc(n * sizeof *list);
	if (!list)
		return NM_ENOMEM;
	n = 0;
	for (unsigned u = h->begin[level]; u < h->begin[level + 1]; u++) {
		const struct nm_tally *t = &h->units[u].tally;

		for (size_t i = 0; i <= t->pair_mask; i++)
			if (t->pairs[i].count)
				list[n++] = eviction_of(&t->pairs[i]);
	}
	*ret_list = list;
	*ret_count = n;
	return 0;
}
