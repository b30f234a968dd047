/* SPDX-License-Identifier: MIT
 *
 * changes.c - see changes.h.
 *
 * After a hit only its slot can differ from the picture. After any other effect, the sets of all lines
 * involved are compared, in the core's caches and the shared ones. In the caches of other cores, only the
 * lines themselves are compared, since without an event only their state changes. In sets of very many
 * ways, only the slots of effects are compared.
 */
#include "changes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "varint.h"

enum { ODD_LINE = 1, ODD_SET = 2, ODD_WAY = 4, ODD_KEY = 8, ODD_HISTORY = 16 };

/* Bits of a correction: the figures that follow. */
enum {
	IS_EMPTY = 1,
	OTHER_LINE = 2,
	OTHER_KEY = 4,
	OTHER_REUSE = 8,
	OTHER_DIRTY = 16,
	OTHER_STATE = 32,
	OTHER_LOADED = 64,
	OTHER_USED = 128,
};

enum {
	MOST_WAYS = 64,
	MOST_COMPARED = 1 << 16 /* slots of a cache, up to which all are compared at times */
};

/* The picture of one cache, of a core or shared. */
struct pictured_cache {
	struct nm_slot
	    *at; /* zeros: empty; lines are stored as complements, so that unused pages remain unallocated */
	uint64_t sets;
	unsigned ways, level, core;
	int is_shared;
	unsigned last_way; /* of the current reference's last effect here */
	uint64_t last_at;  /* number of that reference */
};

struct nm_positions nm_vec(uint64_t);

struct nm_changes {
	const struct nm_caches *caches;
	struct pictured_cache *caches_of; /* by level and core */
	unsigned count, first[NM_MAX_LEVELS];
	struct nm_map shape_numbers;
	uint32_t shapes;
	struct nm_bytes column[NM_CHANGE_COLUMNS];
	/* of the current reference: */
	struct nm_bytes corrections;
	unsigned correction_count;
	uint64_t last_slot;            /* of the last correction; 0: none */
	struct nm_vec(uint64_t) lines; /* lines involved */
	uint64_t late;
	int begun; /* a reference is being written */
	int failed;
};

static const struct nm_slot empty = {.line = NM_NO_LINE};

static struct nm_slot get_slot(const struct pictured_cache *p, uint64_t slot)
{
	struct nm_slot s = p->at[slot];

	s.line = ~s.line;
	return s;
}

static void set_slot(struct pictured_cache *p, uint64_t slot, struct nm_slot s)
{
	s.line = ~s.line;
	p->at[slot] = s;
}

static uint64_t fold(int64_t n) { return (uint64_t)n << 1 ^ (uint64_t)(n >> 63); }

static void put(struct nm_changes *ch, struct nm_bytes *to, uint64_t n)
{
	if (nm_vec_reserve(to, NM_VARINT_BYTES))
		ch->failed = 1;
	else
		to->count += nm_varint_put(to->at + to->count, n);
}

static void put_figure(struct nm_changes *ch, uint64_t n) { put(ch, &ch->column[NM_COLUMN_FIGURES], n); }

/* ---- geometry ---- */

static const struct nm_level_spec *spec_of(const struct nm_changes *ch, unsigned level)
{
	return &ch->caches->machine->levels[level];
}

/* The line of a level where the reference begins. */
static uint64_t home(const struct nm_changes *ch, unsigned level)
{
	return ch->caches->reference->address & ~((uint64_t)nm_level_unit(spec_of(ch, level)) - 1);
}

/* The set of a line in most caches; addresses are signed, as in JSON. */
static uint64_t usual_set(const struct nm_changes *ch, unsigned level, uint64_t line)
{
	const struct nm_level_spec *spec = spec_of(ch, level);
	const int64_t sets = (int64_t)spec->sets, set = ((int64_t)line >> __builtin_ctzll(spec->line)) % sets;

	return (uint64_t)(set < 0 ? set + sets : set);
}

static struct pictured_cache *cache_of(const struct nm_changes *ch, unsigned level, unsigned core)
{
	struct pictured_cache *p = &ch->caches_of[ch->first[level]];

	return p->is_shared ? p : p + core;
}

static unsigned core_now(const struct nm_changes *ch)
{
	return ch->caches->program->sites.at[ch->caches->reference->attr].core;
}

static struct pictured_cache *cache_of_effect(const struct nm_changes *ch, const struct nm_effect *e)
{
	return cache_of(ch, e->level, e->core ? e->core - 1u : core_now(ch));
}

static int has_slot(const struct pictured_cache *p, const struct nm_effect *e)
{
	return e->set < p->sets && e->way < p->ways;
}

static uint64_t slot_of(const struct pictured_cache *p, const struct nm_effect *e)
{
	return (uint64_t)e->set * p->ways + e->way;
}

/* ---- effects ---- */

/* The way that the picture has the line in; else the way of the previous effect, where the line is loaded. */
static unsigned usual_way(const struct nm_changes *ch, const struct pictured_cache *p,
			  const struct nm_effect *e)
{
	const int is_searched = p->ways <= MOST_WAYS && e->set < p->sets && !nm_event_leaves(e->kind);

	for (unsigned way = 0; is_searched && way < p->ways; way++)
		if (p->at[(uint64_t)e->set * p->ways + way].line == ~e->line)
			return way;
	return p->last_at == ch->caches->position ? p->last_way : 0;
}

static unsigned odd_of(const struct nm_changes *ch, const struct pictured_cache *p, const struct nm_effect *e)
{
	const int leaves = nm_event_leaves(e->kind);
	const uint64_t near = home(ch, e->level);
	const struct nm_slot s = has_slot(p, e) ? get_slot(p, slot_of(p, e)) : empty;
	unsigned odd = 0;

	odd |= e->line != (leaves ? s.line : near) ? ODD_LINE : 0;
	odd |= e->set != usual_set(ch, e->level, leaves ? near : e->line) ? ODD_SET : 0;
	odd |= e->way != usual_way(ch, p, e) ? ODD_WAY : 0;
	if (!leaves)
		return odd;
	odd |= e->attr != s.attr ? ODD_KEY : 0;
	odd |= e->history.loaded_at != s.history.loaded_at || e->history.last_used != s.history.last_used
		   ? ODD_HISTORY
		   : 0;
	return odd;
}

/* A new shape has the next number, and its definition follows the number. */
static void put_shape(struct nm_changes *ch, const struct nm_effect *e, unsigned odd)
{
	const uint64_t shape = (uint64_t)e->kind | (uint64_t)e->level << 3 | (uint64_t)e->class << 8 |
			       (uint64_t)(e->dirty & 1) << 11 | (uint64_t)(e->false_sharing & 1) << 12 |
			       (uint64_t)odd << 13 | (uint64_t)e->core << 18;
	const uint64_t number = nm_map_get(&ch->shape_numbers, shape, ch->shapes);
	struct nm_bytes *to = &ch->column[NM_COLUMN_EFFECTS];

	put(ch, to, number);
	if (number < ch->shapes)
		return;
	put(ch, to, shape);
	if (nm_map_put(&ch->shape_numbers, shape, ch->shapes++))
		ch->failed = 1;
}

static uint64_t put_ago(const struct nm_changes *ch, uint64_t position)
{
	return position ? 1 + ch->caches->position - position : 0;
}

static void put_effect(struct nm_changes *ch, const struct nm_effect *e)
{
	struct pictured_cache *p = cache_of_effect(ch, e);
	const unsigned odd = odd_of(ch, p, e);

	put_shape(ch, e, odd);
	if (odd & ODD_LINE)
		put_figure(ch, fold((int64_t)(e->line - home(ch, e->level))));
	if (odd & ODD_SET)
		put_figure(ch, e->set);
	if (odd & ODD_WAY)
		put_figure(ch, e->way);
	if (odd & ODD_KEY)
		put_figure(ch, e->attr);
	if (odd & ODD_HISTORY) {
		put_figure(ch, put_ago(ch, e->history.loaded_at));
		put_figure(ch, put_ago(ch, e->history.last_used));
	}
	p->last_way = e->way;
	p->last_at = ch->caches->position;
}

/* ---- rules ---- */

static uint8_t dirties(const struct nm_changes *ch, const struct pictured_cache *p)
{
	const struct nm_cache *cache = ch->caches->units[p->core][p->level].cache;

	return ch->caches->reference->is_write && cache->first && !cache->spec.write_through;
}

/* The uses of a line that leaves are added to its copy in the next level. */
static void credit(struct nm_changes *ch, const struct pictured_cache *p, struct nm_slot left)
{
	const struct nm_cache *lower = ch->caches->units[p->core][p->level].cache->next;
	const struct pictured_cache *q = lower ? cache_of(ch, lower->level, p->core) : NULL;
	const uint64_t line =
	    lower ? left.line & ~((uint64_t)nm_level_unit(spec_of(ch, lower->level)) - 1) : NM_NO_LINE;

	for (unsigned way = 0; q && left.line != NM_NO_LINE && q->ways <= MOST_WAYS && way < q->ways; way++) {
		struct nm_slot *s = &q->at[usual_set(ch, q->level, line) * q->ways + way];

		if (s->line != ~line)
			continue;
		s->reuse += left.reuse;
		s->dirty |= left.dirty && !lower->spec.write_through;
	}
}

static void apply(struct nm_changes *ch, const struct nm_effect *e)
{
	struct pictured_cache *p = cache_of_effect(ch, e);
	const int is_first = ch->caches->units[p->core][p->level].cache->first;
	const uint64_t now = ch->caches->position;
	struct nm_slot s = empty;

	if (!has_slot(p, e) || e->kind == NM_EVENT_MISS)
		return;
	if (e->kind == NM_EVENT_HIT) {
		s = get_slot(p, slot_of(p, e));
		s.reuse += is_first;
		s.dirty |= dirties(ch, p);
		s.history.last_used = now;
	} else if (nm_event_leaves(e->kind)) {
		credit(ch, p, get_slot(p, slot_of(p, e)));
	} else {
		s = (struct nm_slot){.line = e->line,
				     .reuse = is_first && e->kind == NM_EVENT_LOAD,
				     .attr = ch->caches->reference->attr,
				     .dirty = dirties(ch, p),
				     .history = {.loaded_at = now, .last_used = now}};
	}
	set_slot(p, slot_of(p, e), s);
}

/* ---- corrections ---- */

static void put_correction(struct nm_changes *ch, unsigned cache, uint64_t slot, const struct nm_slot *now)
{
	const struct nm_slot known = get_slot(&ch->caches_of[cache], slot), *s = &known;
	struct nm_bytes *to = &ch->corrections;
	unsigned other = 0;

	if (now->line == NM_NO_LINE)
		other = IS_EMPTY;
	else
		other = (now->line != s->line ? OTHER_LINE : 0) | (now->attr != s->attr ? OTHER_KEY : 0) |
			(now->reuse != s->reuse ? OTHER_REUSE : 0) |
			(now->dirty != s->dirty ? OTHER_DIRTY : 0) |
			(now->state != s->state ? OTHER_STATE : 0) |
			(now->history.loaded_at != s->history.loaded_at ? OTHER_LOADED : 0) |
			(now->history.last_used != s->history.last_used ? OTHER_USED : 0);
	put(ch, to, cache);
	put(ch, to, fold((int64_t)(slot - ch->last_slot)));
	put(ch, to, other);
	ch->last_slot = slot;
	if (other & OTHER_LINE)
		put(ch, to,
		    fold((int64_t)(now->line - (ch->begun ? home(ch, ch->caches_of[cache].level) : 0))));
	if (other & OTHER_KEY)
		put(ch, to, now->attr);
	if (other & OTHER_REUSE)
		put(ch, to, fold((int64_t)(now->reuse - s->reuse)));
	if (other & OTHER_STATE)
		put(ch, to, now->state);
	if (other & OTHER_LOADED)
		put(ch, to, put_ago(ch, now->history.loaded_at));
	if (other & OTHER_USED)
		put(ch, to, fold((int64_t)(now->history.last_used - now->history.loaded_at)));
	ch->correction_count++;
}

static void note_line(struct nm_changes *ch, uint64_t line)
{
	for (size_t i = 0; i < ch->lines.count; i++)
		if (ch->lines.at[i] == line)
			return;
	if (nm_vec_push(&ch->lines, line))
		ch->failed = 1;
}

static void compare_slot(struct nm_changes *ch, unsigned cache, uint64_t slot)
{
	struct pictured_cache *p = &ch->caches_of[cache];
	const struct nm_slot known = get_slot(p, slot);
	const struct nm_slot now =
	    nm_caches_slot(ch->caches, p->level, p->core, slot / p->ways, (unsigned)(slot % p->ways));

	if (nm_slot_same(&known, &now))
		return;
	if (ch->begun && ch->caches->reference->uncounted) { /* other lines may move without an event */
		note_line(ch, known.line);
		note_line(ch, now.line);
	}
	put_correction(ch, cache, slot, &now);
	set_slot(p, slot, now);
}

static void compare_set(struct nm_changes *ch, unsigned cache, uint64_t set)
{
	const unsigned ways = ch->caches_of[cache].ways;

	for (uint64_t slot = set * ways; slot < (set + 1) * ways && ways <= MOST_WAYS; slot++)
		compare_slot(ch, cache, slot);
}

static void compare_all(struct nm_changes *ch, unsigned cache)
{
	const uint64_t slots = ch->caches_of[cache].sets * ch->caches_of[cache].ways;

	for (uint64_t slot = 0; slot < slots; slot++)
		compare_slot(ch, cache, slot);
}

/* Compares the slots where a line is, or could be, in all caches. */
static void compare_line(struct nm_changes *ch, uint64_t line)
{
	const unsigned core = core_now(ch);

	for (unsigned i = 0; i < ch->count && line != NM_NO_LINE; i++) {
		const struct pictured_cache *p = &ch->caches_of[i];
		struct nm_slot slot;
		uint64_t set;
		unsigned way;

		if (nm_caches_find(ch->caches, p->level, p->core, line, &slot, &set, &way) && set < p->sets &&
		    way < p->ways)
			compare_slot(ch, i, set * p->ways + way);
		if (p->is_shared || p->core == core || ch->caches->reference->uncounted)
			compare_set(ch, i, nm_caches_set(ch->caches, p->level, p->core, line));
	}
}

/* Whether lines may be anywhere: uncounted references prefetch without events, and a plug-in may place lines
 * in any set. */
static int goes_astray(const struct nm_changes *ch, unsigned level)
{
	const struct nm_level_spec *spec = spec_of(ch, level);

	return spec->plugin[0] || ch->caches->effect_count == NM_EFFECTS ||
	       (ch->caches->reference->uncounted && ch->caches->units[0][level].cache->queue);
}

static void compare_after(struct nm_changes *ch)
{
	const struct nm_reference *r = ch->caches->reference;
	int is_simple = !r->uncounted;

	ch->lines.count = 0;
	for (unsigned i = 0; i < ch->caches->effect_count; i++) {
		const struct nm_effect *e = &ch->caches->effects[i];
		const struct pictured_cache *p = cache_of_effect(ch, e);
		const unsigned cache = (unsigned)(p - ch->caches_of);

		if (e->set >= p->sets)
			continue;
		if (has_slot(p, e))
			compare_slot(ch, cache, slot_of(p, e));
		if (e->kind == NM_EVENT_HIT && !spec_of(ch, e->level)->pages)
			continue;
		compare_set(ch, cache, e->set);
		note_line(ch, e->line);
		is_simple = 0;
	}
	if (is_simple)
		return;
	note_line(ch, r->address);
	note_line(ch, r->address + (r->size ? r->size - 1u : 0));
	for (size_t i = 0; i < ch->lines.count; i++)
		compare_line(ch, ch->lines.at[i]);
	for (unsigned i = 0; i < ch->count; i++)
		if (goes_astray(ch, ch->caches_of[i].level))
			compare_all(ch, i);
}

static void end_corrections(struct nm_changes *ch)
{
	struct nm_bytes *to = &ch->column[NM_COLUMN_CORRECTIONS];

	put(ch, to, ch->correction_count);
	if (nm_vec_reserve(to, ch->corrections.count)) {
		ch->failed = 1;
		return;
	}
	if (ch->corrections.count)
		memcpy(to->at + to->count, ch->corrections.at, ch->corrections.count);
	to->count += ch->corrections.count;
	ch->corrections.count = 0;
	ch->correction_count = 0;
	ch->last_slot = 0;
}

/* ---- one reference ---- */

int nm_changes_note(struct nm_changes *ch, int last)
{
	const struct nm_caches *c = ch->caches;
	unsigned found;

	put(ch, &ch->column[NM_COLUMN_EFFECTS], c->effect_count);
	for (unsigned i = 0; i < c->effect_count; i++) {
		put_effect(ch, &c->effects[i]);
		apply(ch, &c->effects[i]);
	}
	compare_after(ch);
	found = ch->correction_count;
	for (unsigned i = 0; last && i < ch->count; i++)
		if (ch->caches_of[i].sets * ch->caches_of[i].ways <= MOST_COMPARED)
			compare_all(ch, i);
	ch->late += ch->correction_count - found;
	end_corrections(ch);
	return ch->failed ? NM_ENOMEM : 0;
}

/* ---- the start of a window ---- */

static int by_number(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Lists the positions of the loads and uses of the picture's lines, and the keys that the lines have. */
static int list_positions(const struct nm_changes *ch, struct nm_positions *at, struct nm_map *keys)
{
	int status = 0;

	for (unsigned i = 0; i < ch->count; i++)
		for (uint64_t k = 0; k < ch->caches_of[i].sets * ch->caches_of[i].ways && !status; k++) {
			const struct nm_slot *s = &ch->caches_of[i].at[k];

			if (!s->line)
				continue;
			status = nm_vec_push(at, s->history.loaded_at);
			status |= nm_vec_push(at, s->history.last_used);
			status |= nm_map_put(keys, s->history.loaded_at, s->attr);
		}
	return status;
}

/* Writes the keys of the references at these positions, which the lines do not have. */
static int put_earlier(struct nm_changes *ch, struct nm_reference_reader *reader, struct nm_bytes *to)
{
	struct nm_positions at = {0};
	struct nm_map keys = {0};
	uint64_t before = 0;
	int status = list_positions(ch, &at, &keys);

	if (!status && at.count)
		qsort(at.at, at.count, sizeof *at.at, by_number);
	for (size_t i = 0; i < at.count && !status; i++) {
		uint32_t key;

		if (at.at[i] == (i ? at.at[i - 1] : 0))
			continue;
		key = nm_reference_at(reader, at.at[i] - 1)->attr;
		if (nm_map_get(&keys, at.at[i], UINT64_MAX) == key)
			continue;
		put(ch, to, at.at[i] - before);
		put(ch, to, key);
		before = at.at[i];
	}
	nm_vec_free(&at);
	nm_map_done(&keys);
	return status || ch->failed ? NM_ENOMEM : 0;
}

int nm_changes_begin(struct nm_changes *ch, struct nm_reference_reader *reader, struct nm_bytes *ret_earlier)
{
	assert(!ch->begun);
	for (unsigned i = 0; i < ch->count; i++)
		compare_all(ch, i);
	end_corrections(ch);
	ch->begun = 1;
	return put_earlier(ch, reader, ret_earlier);
}

struct nm_bytes *nm_changes_column(struct nm_changes *ch, enum nm_change_column column)
{
	return &ch->column[column];
}

uint64_t nm_changes_late(const struct nm_changes *ch) { return ch->late; }

/* ---- life ---- */

static int add_cache(struct nm_changes *ch, unsigned level, unsigned core, int is_shared)
{
	struct pictured_cache *p = &ch->caches_of[ch->count++];

	*p = (struct pictured_cache){.sets = nm_caches_sets(ch->caches, level),
				     .ways = nm_caches_ways(ch->caches, level),
				     .level = level,
				     .core = core,
				     .is_shared = is_shared};
	p->at = calloc(p->sets * p->ways, sizeof *p->at);
	return p->at ? 0 : NM_ENOMEM;
}

int nm_changes_new(struct nm_changes **ret, const struct nm_caches *caches)
{
	const unsigned cores = caches->machine->cores ? caches->machine->cores : 1;
	struct nm_changes *ch = calloc(1, sizeof *ch);
	int status = 0;

	if (!ch)
		return NM_ENOMEM;
	ch->caches = caches;
	ch->caches_of = calloc((size_t)cores * caches->machine->count, sizeof *ch->caches_of);
	status = ch->caches_of ? 0 : NM_ENOMEM;
	for (unsigned level = 0; level < caches->machine->count && !status; level++) {
		const int is_shared = cores == 1 || !nm_machine_private(caches->machine, level);

		ch->first[level] = ch->count;
		for (unsigned core = 0; core < (is_shared ? 1 : cores) && !status; core++)
			status = add_cache(ch, level, core, is_shared);
	}
	if (status)
		nm_changes_free(ch);
	else
		*ret = ch;
	return status;
}

void nm_changes_free(struct nm_changes *ch)
{
	for (unsigned i = 0; ch && ch->caches_of && i < ch->count; i++)
		free(ch->caches_of[i].at);
	if (!ch)
		return;
	for (unsigned i = 0; i < NM_CHANGE_COLUMNS; i++)
		nm_vec_free(&ch->column[i]);
	nm_vec_free(&ch->corrections);
	nm_vec_free(&ch->lines);
	nm_map_done(&ch->shape_numbers);
	free(ch->caches_of);
	free(ch);
}
