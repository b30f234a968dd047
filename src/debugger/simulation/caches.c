/* SPDX-License-Identifier: MIT
 *
 * The history of an evicted line is read at its event, before its slot is reused. Lines that are hit or
 * loaded are looked up at the end of the reference: only then their slots and the class of the miss are
 * known.
 *
 * References that are not counted move lines but are in no sum; their evictions are counted.
 */
#include "caches.h"

#include <assert.h>
#include <stdlib.h>

#include "general.h"

const char *const nm_effect_class_names[NM_CLASSES] = {NULL, "cold", "capacity", "conflict", "coherence"};

static const struct nm_watched_unit *unit_of(const struct nm_caches *c, unsigned level, unsigned core)
{
	assert(level < c->machine->count && core < (c->machine->cores ? c->machine->cores : 1));
	return &c->units[core][level];
}

static unsigned core_of(const struct nm_caches *c, unsigned core)
{
	return core ? core - 1 : c->program->sites.at[c->reference->attr].core;
}

/* ---- geometry ---- */

static unsigned sector_count(const struct nm_cache *u)
{
	return u->general ? 1u << u->general->sector_shift : 1;
}

unsigned nm_caches_ways(const struct nm_caches *c, unsigned level)
{
	assert(level < c->machine->count);
	return c->machine->levels[level].ways * sector_count(unit_of(c, level, 0)->cache);
}

uint64_t nm_caches_sets(const struct nm_caches *c, unsigned level) { return c->machine->levels[level].sets; }

/* The model may pad sets with unused ways. */
static uint64_t slot_at(const struct nm_cache *c, uint64_t set, unsigned way)
{
	assert(set < c->spec.sets && way < c->spec.ways * sector_count(c));
	return set * c->ways * sector_count(c) + way;
}

static uint64_t line_number(const struct nm_cache *u, uint64_t address) { return address >> u->line_shift; }

/* ---- slots ---- */

static struct nm_slot_history history_of(const struct nm_watched_unit *unit, uint64_t slot)
{
	const struct nm_line_history *h = &unit->history[slot];

	return h->line == (uint32_t)unit->cache->tags[slot]
		   ? (struct nm_slot_history){h->loaded_at, h->last_used, h->used_by}
		   : (struct nm_slot_history){0, 0, 0};
}

/* The current reference uses the line. */
static void set_history(const struct nm_caches *c, const struct nm_watched_unit *unit, uint64_t slot,
			uint64_t loaded_at)
{
	assert(c->reference && slot < unit->cache->slots);
	unit->history[slot] = (struct nm_line_history){.line = (uint32_t)unit->cache->tags[slot],
						       .loaded_at = (uint32_t)loaded_at,
						       .last_used = (uint32_t)c->position,
						       .used_by = c->reference->attr};
}

static unsigned state_of(const struct nm_caches *c, unsigned level, unsigned core, uint64_t line)
{
	const struct nm_cache *u = unit_of(c, level, core)->cache;

	if (!u->coherent)
		return NM_COPY_NONE;
	return nm_coherence_state(u->coherent->coherence, core, line << u->line_shift);
}

static struct nm_slot slot_of(const struct nm_caches *c, unsigned level, unsigned core, uint64_t slot)
{
	const struct nm_watched_unit *unit = unit_of(c, level, core);
	const struct nm_cache *u = unit->cache;
	const uint64_t line = u->tags[slot];
	const struct nm_residency *r = &u->residencies[slot];

	if (nm_cache_next_resident(u, slot) != slot)
		return (struct nm_slot){.line = NM_NO_LINE};
	return (struct nm_slot){.line = line << u->line_shift,
				.reuse = r->served,
				.history = history_of(unit, slot),
				.attr = r->attr,
				.dirty = r->writes > 0 && !u->spec.write_through,
				.state = (uint8_t)state_of(c, level, core, line)};
}

struct nm_slot nm_caches_slot(const struct nm_caches *c, unsigned level, unsigned core, uint64_t set,
			      unsigned way)
{
	return slot_of(c, level, core, slot_at(unit_of(c, level, core)->cache, set, way));
}

uint64_t nm_caches_set(const struct nm_caches *c, unsigned level, unsigned core, uint64_t address)
{
	const struct nm_cache *u = unit_of(c, level, core)->cache;
	const uint64_t line = line_number(u, address);

	return u->general ? nm_general_set(u, line) : nm_cache_set(u, line);
}

int nm_caches_find(const struct nm_caches *c, unsigned level, unsigned core, uint64_t address,
		   struct nm_slot *ret_slot, uint64_t *ret_set, unsigned *ret_way)
{
	const struct nm_cache *u = unit_of(c, level, core)->cache;
	const uint32_t slot = nm_cache_find(u, line_number(u, address));
	const unsigned ways = u->ways * sector_count(u);

	if (slot == NM_NO_SLOT)
		return 0;
	*ret_slot = slot_of(c, level, core, slot);
	*ret_set = slot / ways;
	*ret_way = slot % ways;
	return 1;
}

/* ---- events ---- */

static void remember_counters(struct nm_caches *c, const struct nm_cache *u, unsigned level)
{
	const uint32_t attr = c->reference->attr;

	assert(c->reference->attr < u->counters.attr_count);
	if (c->missed >> level & 1)
		return;
	c->missed |= 1u << level;
	c->before[level] = u->counters.loads[attr];
	if (u->counters.extras)
		c->before_extras[level] = u->counters.extras[attr];
}

static void note_event(void *self, const struct nm_event *e)
{
	struct nm_caches *c = self;
	const unsigned core = core_of(c, e->core);
	const struct nm_watched_unit *unit = unit_of(c, e->level, core);
	struct nm_effect *effect;

	if (e->kind == NM_EVENT_MISS)
		remember_counters(c, unit->cache, e->level);
	if (c->effect_count == NM_EFFECTS)
		return;
	effect = &c->effects[c->effect_count++];
	*effect = (struct nm_effect){.line = e->line,
				     .set = (uint32_t)e->set,
				     .kind = e->kind,
				     .level = e->level,
				     .core = e->core,
				     .attr = e->victim};
	if (nm_event_leaves(e->kind)) {
		const uint32_t slot = nm_cache_find(unit->cache, line_number(unit->cache, e->line));

		c->by_attr[e->level][e->victim].evictions += !c->program->sites.at[e->victim].is_uncounted;
		if (slot == NM_NO_SLOT)
			return;
		effect->history = history_of(unit, slot);
		effect->way = slot % (unit->cache->ways * sector_count(unit->cache));
		effect->dirty = unit->cache->residencies[slot].writes > 0 && !unit->cache->spec.write_through;
	}
}

/* ---- one reference ---- */

/* The class of the reference's next load at a level, from the increments of the counters; consumes one. */
static enum nm_effect_class take_class(struct nm_caches *c, const struct nm_cache *u, unsigned level)
{
	static const enum nm_effect_class classes[] = {NM_CLASS_COLD, NM_CLASS_CAPACITY, NM_CLASS_CONFLICT};
	const uint32_t attr = c->reference->attr;
	struct nm_loads *before = &c->before[level];

	assert(level < NM_MAX_LEVELS);
	for (unsigned k = 0; k < 3; k++)
		if (u->counters.loads[attr].of_class[k] != before->of_class[k]) {
			before->of_class[k]++;
			return classes[k];
		}
	if (!u->counters.extras || u->counters.extras[attr].coherence == c->before_extras[level].coherence)
		return NM_CLASS_NONE;
	c->before_extras[level].coherence++;
	return NM_CLASS_COHERENCE;
}

/* Whether the coherence miss was false sharing, as far as the missing reference shows (Torrellas et al.,
 * coherence.h). */
static int take_false_sharing(struct nm_caches *c, const struct nm_cache *u, unsigned level)
{
	const uint64_t now = u->counters.extras[c->reference->attr].false_first;

	assert(level < NM_MAX_LEVELS);
	if (now == c->before_extras[level].false_first)
		return 0;
	c->before_extras[level].false_first++;
	return 1;
}

/* Adds an effect to the sums. A reference to two lines is one reference of a first level, but one reference
 * of each line's set. */
static void add_to_sums(struct nm_caches *c, const struct nm_cache *u, const struct nm_effect *e)
{
	struct nm_sums *attr = &c->by_attr[e->level][c->reference->attr], *set = &c->by_set[e->level][e->set];
	const unsigned serves = e->kind == NM_EVENT_HIT || e->kind == NM_EVENT_MISS;

	attr->references += serves && !(u->first && c->counted >> e->level & 1);
	c->counted |= serves << e->level;
	attr->misses += e->kind == NM_EVENT_MISS;
	attr->of_class[e->class] += e->class != NM_CLASS_NONE;
	set->references += serves;
	set->misses += e->kind == NM_EVENT_MISS;
	set->of_class[e->class] += e->class != NM_CLASS_NONE;
}

/* Completes the effect of a hit or a load, whose line is in its slot now. */
static void complete_effect(struct nm_caches *c, struct nm_effect *e)
{
	const struct nm_watched_unit *unit = unit_of(c, e->level, core_of(c, e->core));
	const int loads = e->kind == NM_EVENT_LOAD || e->kind == NM_EVENT_PREFETCH;
	uint32_t slot;

	if (nm_event_leaves(e->kind))
		return;
	if (e->kind == NM_EVENT_LOAD)
		e->class = (uint8_t)take_class(c, unit->cache, e->level);
	if (e->class == NM_CLASS_COHERENCE)
		e->false_sharing = take_false_sharing(c, unit->cache, e->level) & 1;
	if (e->kind != NM_EVENT_PREFETCH && !c->reference->uncounted)
		add_to_sums(c, unit->cache, e);
	slot = nm_cache_find(unit->cache, line_number(unit->cache, e->line));
	if (slot == NM_NO_SLOT)
		return;
	e->way = slot % (unit->cache->ways * sector_count(unit->cache));
	if (loads) {
		set_history(c, unit, slot, c->position);
	} else if (e->kind == NM_EVENT_HIT) {
		e->history = history_of(unit, slot);
		set_history(c, unit, slot, e->history.loaded_at);
	}
}

/* Applies synchronisation and memory changes that precede the reference. */
static int apply_changes(struct nm_caches *c, const struct nm_reference *r)
{
	const struct nm_debug_program *p = c->program;
	int status = 0;

	for (; c->memory_changes < p->memory.count && p->memory.at[c->memory_changes].position <= c->position;
	     c->memory_changes++) {
		const struct nm_memory_change *change = &p->memory.at[c->memory_changes];

		status |= nm_hierarchy_set_memory(c->hierarchy, change->ranges, change->count);
	}
	nm_hierarchy_set_core(c->hierarchy, p->sites.at[r->attr].core);
	if (r->synchronised)
		nm_hierarchy_synchronise(c->hierarchy);
	return status;
}

int nm_caches_feed(struct nm_caches *c, const struct nm_reference *r)
{
	const struct nm_ref ref = {.address = r->address,
				   .attr = r->attr,
				   .size = r->size,
				   .kind = r->is_write ? NM_REF_WRITE : NM_REF_READ,
				   .weight = !r->uncounted};
	int status;

	assert(r->attr < c->program->sites.count && r->size);
	c->reference = r;
	c->effect_count = 0;
	c->missed = c->counted = 0;
	status = apply_changes(c, r);
	c->position++;
	if (!status)
		status = nm_hierarchy_run(c->hierarchy, &ref, 1);
	for (unsigned i = 0; i < c->effect_count; i++)
		complete_effect(c, &c->effects[i]);
	c->misses += c->missed >> c->first & !r->uncounted;
	return status;
}

/* ---- effects ---- */

const struct nm_effect *nm_effect_at(const struct nm_effect *effects, unsigned count, unsigned level)
{
	const struct nm_effect *found = NULL;

	for (unsigned i = 0; i < count; i++) {
		if (effects[i].level != level || nm_event_of_untouched_line(effects[i].kind))
			continue;
		if (effects[i].kind != NM_EVENT_MISS) /* a miss precedes its load, which has more figures */
			return &effects[i];
		found = &effects[i];
	}
	return found;
}

const struct nm_effect *nm_effect_victim(const struct nm_effect *effects, unsigned count, unsigned i)
{
	assert(i < count);
	while (effects[i].kind == NM_EVENT_LOAD && i > 0) {
		const struct nm_effect *e = &effects[--i];

		if (e->level == effects[i + 1].level && nm_event_leaves(e->kind))
			return e;
		if (!nm_event_leaves(e->kind))
			break;
	}
	return NULL;
}

/* ---- life ---- */

static int make_units(struct nm_caches *c)
{
	const unsigned cores = c->machine->cores ? c->machine->cores : 1;

	c->units = calloc(cores, sizeof *c->units);
	if (!c->units)
		return NM_ENOMEM;
	for (unsigned level = 0; level < c->machine->count; level++) {
		for (unsigned core = 0; core < cores; core++) {
			struct nm_watched_unit *unit = &c->units[core][level];

			unit->cache = nm_hierarchy_unit(c->hierarchy, level, core);
			unit->history = core && unit->cache == c->units[0][level].cache
					    ? c->units[0][level].history
					    : calloc(unit->cache->slots + 1, sizeof *unit->history);
			if (!unit->history)
				return NM_ENOMEM;
		}
		c->by_attr[level] = calloc(c->program->sites.count + 1, sizeof **c->by_attr);
		c->by_set[level] = calloc(nm_caches_sets(c, level), sizeof **c->by_set);
		if (!c->by_attr[level] || !c->by_set[level])
			return NM_ENOMEM;
	}
	return 0;
}

static unsigned first_data_level(const struct nm_machine *m)
{
	unsigned i = 0;

	while (i + 1 < m->count && (m->levels[i].side == NM_SIDE_INSTRUCTION || m->levels[i].pages))
		i++;
	return i;
}

int nm_caches_new(struct nm_caches **ret_caches, const struct nm_debug_program *program,
		  const struct nm_machine *machine, struct nm_error *err)
{
	struct nm_caches *c = calloc(1, sizeof *c);
	int status;

	if (!c)
		return nm_fail_memory(err);
	c->program = program;
	c->machine = machine;
	c->first = first_data_level(machine);
	status = nm_hierarchy_new(&c->hierarchy, machine, err);
	if (!status &&
	    (make_units(c) || (program->instructions.count &&
			       nm_hierarchy_add_instructions(c->hierarchy, program->instructions.at,
							     program->instructions.count))))
		status = nm_fail_memory(err);
	if (status) {
		nm_caches_free(c);
		return status;
	}
	if (program->has_uncounted)
		nm_hierarchy_allow_uncounted(c->hierarchy);
	nm_hierarchy_watch(c->hierarchy, &(struct nm_monitor){note_event, c});
	nm_hierarchy_watch_uncounted(c->hierarchy);
	*ret_caches = c;
	return 0;
}

void nm_caches_free(struct nm_caches *c)
{
	const unsigned cores = c && c->machine->cores ? c->machine->cores : 1;

	if (!c)
		return;
	for (unsigned level = 0; level < c->machine->count; level++) {
		for (unsigned core = 0; c->units && core < cores; core++)
			if (!core || c->units[core][level].history != c->units[0][level].history)
				free(c->units[core][level].history);
		free(c->by_attr[level]);
		free(c->by_set[level]);
	}
	free(c->units);
	nm_hierarchy_free(c->hierarchy);
	free(c);
}
