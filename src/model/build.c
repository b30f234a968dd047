/* SPDX-License-Identifier: MIT
 *
 * build.c - builds the levels of a hierarchy for each core and machine, and connects each to the level that
 * serves its misses.
 */
#include <stdlib.h>

#include "general.h"
#include "hierarchy_priv.h"
#include "oracle.h"
#include "protocol.h"

static int is_shared(const struct nm_hierarchy *h, unsigned level) { return h->same[level] != level; }

/* Has a level take the fills of another of its machine. A shared one keeps those that it serves already. */
static void connect_levels(struct nm_hierarchy *h, unsigned upper, unsigned lower, unsigned core)
{
	struct nm_cache *above = unit_of(h, upper, core), *c = unit_of(h, lower, core);

	h->next_level[upper] = (int)lower;
	c->first = 0;
	if (!is_shared(h, upper)) {
		above->next = c;
	} else if (!takes_fills(c, above)) {
		struct nm_cache **last = &above->next;

		while (*last)
			last = &(*last)->sibling;
		*last = c;
	}
}

/* Connects the levels of one side of a machine; of a TLB those that take pages of a size, else pages is 0. What
 * an earlier machine has in common takes the references there. */
static void wire_side(struct nm_hierarchy *h, const struct nm_machine *machine, unsigned first, unsigned core,
		      enum nm_level_side mine, unsigned pages, struct nm_cache **ret_entry)
{
	int before = -1;

	for (unsigned i = first; i < h->count; i++) {
		enum nm_level_side side = machine->levels[i].side;

		if ((side != mine && side != NM_SIDE_UNIFIED) || (pages & ~machine->levels[i].pages) ||
		    !nm_machine_same(machine->levels[first].name, machine->levels[i].name))
			continue;
		if (before >= 0)
			connect_levels(h, (unsigned)before, i, core);
		else if (!is_shared(h, i))
			*ret_entry = unit_of(h, i, core);
		before = (int)i;
	}
}

/* Connects a TLB, each of whose levels counts its own references. */
static int wire_pages(struct nm_hierarchy *h, const struct nm_machine *machine, unsigned first, unsigned core,
		      struct entry_levels *to)
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

static int wire_core(struct nm_hierarchy *h, const struct nm_machine *machine, unsigned core)
{
	struct entry_levels *to = entry_levels_of(h, core);

	for (unsigned i = 0; i < h->count; i++) {
		if (!nm_machine_begins(machine, i))
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

/* Makes the units of all levels, still empty, and connects them. */
static int wire_levels(struct nm_hierarchy *h, const struct nm_machine *machine)
{
	h->cores = machine->cores ? machine->cores : 1;
	for (unsigned i = 0; i < h->count; i++) {
		h->begin[i + 1] = h->begin[i] + (is_shared(h, i)                  ? 0
						 : nm_machine_private(machine, i) ? h->cores
										  : 1);
		h->next_level[i] = -1;
		h->machines += (unsigned)nm_machine_begins(machine, i);
	}
	h->units = calloc(unit_count(h), sizeof *h->units);
	h->entry_levels = calloc((size_t)h->cores * h->machines, sizeof *h->entry_levels);
	if (!h->units || !h->entry_levels)
		return NM_ENOMEM;
	for (unsigned i = 0; i < h->count; i++)
		for (unsigned u = h->begin[i]; u < h->begin[i + 1]; u++) {
			h->units[u].level = (uint8_t)i;
			if (h->begin[i + 1] - h->begin[i] > 1)
				h->units[u].core = (uint16_t)(u - h->begin[i] + 1);
			h->units[u].first = !machine->levels[i].pages;
		}
	for (unsigned core = 0; core < h->cores; core++)
		if (wire_core(h, machine, core))
			return NM_ENOMEM;
	return 0;
}

/* Gives the levels of the first machine their coverage, which all cores share but for its TLBs. */
static int wire_coverage(struct nm_hierarchy *h, const struct nm_machine *machine)
{
	if ((!machine->prefetchers && !machine->tlb) || machine->levels[0].pages)
		return 0;
	h->coverage = malloc(sizeof *h->coverage);
	if (!h->coverage)
		return NM_ENOMEM;
	if (nm_coverage_init(h->coverage, machine->prefetchers,
			     (unsigned)__builtin_ctz(nm_level_unit(&machine->levels[0])), machine->tlb,
			     h->cores))
		return NM_ENOMEM;
	for (unsigned core = 0; core < h->cores; core++)
		for (unsigned side = 0; side < 2; side++)
			for (struct nm_cache *c = entry_levels_of(h, core)->entry[side]; c;
			     c = next_of_machine(h, c, core))
				c->coverage = h->coverage;
	return 0;
}

static int outside_of(const struct nm_cache *c, const struct nm_cache *lower)
{
	for (c = c->next; c && c != lower;)
		c = c->next;
	return c != NULL;
}

/* Whether a level gets prefetched lines. */
static int is_prefetched_to(const struct nm_hierarchy *h, const struct nm_machine *machine, unsigned i)
{
	if (machine->hints && !machine->levels[i].pages && machine->levels[i].side != NM_SIDE_INSTRUCTION)
		return 1;
	for (unsigned j = 0; j < i; j++)
		if (machine->levels[j].prefetch && outside_of(unit_of(h, j, 0), unit_of(h, i, 0)))
			return 1;
	return machine->levels[i].prefetch != NM_PREFETCH_NONE;
}

static const struct nm_level_spec *first_of_machine(const struct nm_machine *machine, unsigned i)
{
	unsigned first = 0;

	while (!nm_machine_same(machine->levels[first].name, machine->levels[i].name))
		first++;
	return &machine->levels[first];
}

/* Whether a protocol keeps the level coherent. */
static int is_coherent(const struct nm_hierarchy *h, const struct nm_machine *machine, unsigned i)
{
	return h->begin[i + 1] - h->begin[i] > 1 && nm_level_is_coherent(first_of_machine(machine, i));
}

/* Whether the level loads from memory that is local or remote. */
static int tells_homes(const struct nm_hierarchy *h, const struct nm_machine *machine, unsigned i)
{
	return machine->nodes > 1 && h->cores > 1 && !machine->levels[i].pages && !unit_of(h, i, 0)->next;
}

/* Whether a level needs more than fast.c does, for its own sake or that of those outside it. */
static int needs_general(const struct nm_hierarchy *h, const struct nm_machine *machine, unsigned i)
{
	const struct nm_level_spec *l = &machine->levels[i];

	if (!nm_level_has_default_rules(l) || is_prefetched_to(h, machine, i) ||
	    l->ways >= NM_HIGHLY_ASSOCIATIVE || nm_level_unit(l) > 64 || tells_homes(h, machine, i))
		return 1;
	for (unsigned j = i + 1; j < h->count; j++) {
		if (machine->levels[j].inclusion == NM_EXCLUSIVE &&
		    unit_of(h, i, 0)->next == unit_of(h, j, 0))
			return 1;
	}
	return 0;
}

/* Units are made from the first level outwards: an exclusive one must know the size of those above it. */
static int make_unit(struct nm_hierarchy *h, const struct nm_machine *machine, unsigned u,
		     struct nm_error *err)
{
	struct nm_cache *c = &h->units[u];
	const struct nm_level_spec *spec = &machine->levels[c->level];
	struct nm_level_context context = {.general = needs_general(h, machine, c->level),
					   .has_extras = is_coherent(h, machine, c->level) ||
							 tells_homes(h, machine, c->level),
					   .queue = is_prefetched_to(h, machine, c->level) ? &h->queue : NULL,
					   .has_covered = c->coverage != NULL};

	for (unsigned v = 0; v < u; v++)
		if (spec->inclusion == NM_EXCLUSIVE && h->units[v].next == c)
			context.reserved_slots +=
			    h->units[v].slots + 1; /* a line is requested before another one leaves */
	if (nm_level_looks_ahead(spec) && !(context.next_uses = nm_oracle_level(h->oracle, c->level)))
		return nm_fail_memory(err);
	if (nm_cache_init(c, spec, &context))
		return nm_fail(err, NM_ENOMEM, "out of memory for the model of level %s", spec->name);
	if (tells_homes(h, machine, c->level))
		c->general->homes = &h->homes;
	if (spec->inclusion == NM_INCLUSIVE &&
	    !(c->general->above = calloc(u + 1, sizeof *c->general->above)))
		return nm_fail_memory(err);
	for (unsigned v = 0; v < u; v++)
		if (spec->inclusion == NM_INCLUSIVE && outside_of(&h->units[v], c))
			c->general->above[c->general->above_count++] = &h->units[v];
	return *c->spec.plugin ? nm_plugin_open(&c->general->plugin, &c->spec, err) : 0;
}

/* The largest line or sector of the private levels of a machine. */
static uint32_t block_of(const struct nm_hierarchy *h, const struct nm_machine *machine, unsigned first)
{
	uint32_t block = 0;

	for (unsigned i = first; i < h->count; i++)
		if (is_coherent(h, machine, i) &&
		    nm_machine_same(machine->levels[first].name, machine->levels[i].name) &&
		    nm_level_unit(&machine->levels[i]) > block)
			block = nm_level_unit(&machine->levels[i]);
	return block;
}

static int make_coherence(struct nm_hierarchy *h, const struct nm_machine *machine, unsigned first)
{
	struct coherent_machine *to = &h->coherent[h->coherent_count];
	unsigned level = 0;

	if (nm_coherence_new(&to->coherence, machine->levels[first].protocol, h->cores,
			     block_of(h, machine, first), &h->homes))
		return NM_ENOMEM;
	to->first = first;
	h->coherent_count++;
	for (unsigned i = first; i < h->count; i++) {
		if (!is_coherent(h, machine, i) ||
		    !nm_machine_same(machine->levels[first].name, machine->levels[i].name))
			continue;
		for (unsigned core = 0; core < h->cores; core++)
			nm_coherence_add_level(to->coherence, core, level, unit_of(h, i, core));
		level++;
	}
	return 0;
}

/* Where the program's references come to coherent levels. */
static int note_entries(struct nm_hierarchy *h)
{
	int status = 0;

	for (unsigned e = 0; e < h->cores * h->machines; e++)
		for (unsigned side = 0; side < 2 && !status; side++) {
			struct nm_cache *c = h->entry_levels[e].entry[side];

			if (c && c->coherent)
				status = nm_coherence_set_entry(c, side);
		}
	return status;
}

static int make_coherent(struct nm_hierarchy *h, const struct nm_machine *machine)
{
	h->homes.cores = h->cores;
	h->homes.nodes = machine->nodes;
	h->coherent = calloc(h->machines, sizeof *h->coherent);
	if (!h->coherent)
		return NM_ENOMEM;
	for (unsigned i = 0; i < h->count; i++)
		if (nm_machine_begins(machine, i) && is_coherent(h, machine, i) &&
		    make_coherence(h, machine, i))
			return NM_ENOMEM;
	return note_entries(h);
}

/* Whether a level gets only the fills of one other level. */
static int has_one_source(const struct nm_hierarchy *h, const struct nm_cache *c)
{
	unsigned sources = 0;

	for (unsigned e = 0; e < h->cores * h->machines; e++)
		for (unsigned side = 0; side < (h->data_only ? 1 : 2); side++) {
			const struct entry_levels *in = &h->entry_levels[e];

			sources += in->entry[side] == c;
			for (unsigned size = 0; in->pager && size < NM_PAGE_SIZES; size++)
				sources += in->pager->entry[side][size] == c;
		}
	for (unsigned u = 0; u < unit_count(h); u++)
		sources += (unsigned)takes_fills(c, &h->units[u]);
	return sources == 1;
}

/* Coherence must know at any time what is in the private levels. */
static int asks_next(const struct nm_cache *c) { return c->coherent && c->next && c->next->coherent; }

/* From the last level on. */
void find_short_cuts(struct nm_hierarchy *h)
{
	for (unsigned u = unit_count(h); u-- > 0;) {
		struct nm_cache *c = &h->units[u];
		int like = c->next && c->line_shift == c->next->line_shift;

		c->next_knows_cold = like && !c->slice && !c->next->general && has_one_source(h, c->next);
		c->cold_from = c->next_knows_cold ? c->next->cold_from : c;
		c->chained =
		    !c->general && !asks_next(c) && !c->sink && (!c->next || (like && c->next->chained));
	}
}

void nm_hierarchy_set_data_only(struct nm_hierarchy *h)
{
	h->data_only = 1;
	find_short_cuts(h);
}

/* Finds the entry levels that must issue prefetches after each reference: those with a prefetcher on the way
 * out. */
static void find_entries_of_prefetchers(struct nm_hierarchy *h)
{
	for (unsigned u = 0; u < unit_count(h); u++)
		for (const struct nm_cache *c = &h->units[u]; c; c = c->next)
			if (c->spec.prefetch)
				h->units[u].queue = &h->queue;
}

/* shares: levels that machines have in common are simulated once. */
static int new_hierarchy(struct nm_hierarchy **ret_hierarchy, const struct nm_machine *machine,
			 struct nm_oracle *oracle, int data_only, int shares, struct nm_error *err)
{
	int status = nm_machine_check(machine, err);
	if (!status)
		status = nm_machine_check_present(machine, oracle != NULL, err);
	if (status)
		return status;
	struct nm_hierarchy *h = calloc(1, sizeof *h);
	if (!h)
		return nm_fail(err, NM_ENOMEM, "out of memory for the cache model");
	h->oracle = oracle;
	h->count = machine->count;
	h->data_only = data_only;
	h->hints = machine->hints;
	h->queue.memory_latency = machine->memory_latency;
	for (unsigned i = 0; i < h->count; i++)
		h->same[i] = (uint8_t)i;
	if (shares && !h->hints)
		share_levels(h, machine);
	if (wire_levels(h, machine))
		status = nm_fail(err, NM_ENOMEM, "out of memory for the cache model");
	if (!status && wire_coverage(h, machine))
		status = nm_fail(err, NM_ENOMEM, "out of memory for the cache model");
	for (unsigned u = 0; u < unit_count(h) && !status; u++)
		status = make_unit(h, machine, u, err);
	if (!status && make_coherent(h, machine))
		status = nm_fail_memory(err);
	if (status) {
		nm_hierarchy_free(h);
		return status;
	}
	find_short_cuts(h);
	find_entries_of_prefetchers(h);
	*ret_hierarchy = h;
	return 0;
}

int nm_hierarchy_new(struct nm_hierarchy **ret_hierarchy, const struct nm_machine *machine,
		     struct nm_error *err)
{
	return new_hierarchy(ret_hierarchy, machine, NULL, 0, 0, err);
}

int nm_hierarchy_new_with_oracle(struct nm_hierarchy **ret_hierarchy, const struct nm_machine *machine,
				 struct nm_oracle *oracle, struct nm_error *err)
{
	return new_hierarchy(ret_hierarchy, machine, oracle, 0, 0, err);
}

int nm_hierarchy_new_shared(struct nm_hierarchy **ret_hierarchy, const struct nm_machine *machine,
			    struct nm_oracle *oracle, int data_only, struct nm_error *err)
{
	return new_hierarchy(ret_hierarchy, machine, oracle, data_only, 1, err);
}

void nm_hierarchy_free(struct nm_hierarchy *h)
{
	if (!h)
		return;
	for (unsigned u = 0; h->units && u < unit_count(h); u++)
		nm_cache_done(&h->units[u]);
	for (unsigned i = 0; i < h->coherent_count; i++)
		nm_coherence_free(h->coherent[i].coherence);
	free(h->coherent);
	nm_map_done(&h->homes.node_of);
	for (unsigned e = 0; h->entry_levels && e < h->cores * h->machines; e++)
		free(h->entry_levels[e].pager);
	if (h->coverage)
		nm_coverage_done(h->coverage);
	free(h->coverage);
	free(h->units);
	free(h->entry_levels);
	pages_done(&h->pages);
	free(h->apart);
	nm_vec_free(&h->queue.list);
	nm_vec_free(&h->queue.instructions);
	free(h);
}
