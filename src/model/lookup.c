/* SPDX-License-Identifier: MIT
 *
 * lookup.c - the hot loops: a shard of a level takes its part of a batch.  Compiled once per instruction set
 * (NM_LOOKUP names the table that this copy fills); cache.c chooses one when the level is made.
 *
 * A hit costs a compare of all tags of the set, a stamp, a count and a mask.  The stamp that it replaces
 * tells whether the line was touched before in this interval: if so that earlier touch is marked in
 * `again`, else an event is logged for the serial part (recency.c says why that is enough).  Both are
 * written without a branch, since which of the two happens is not predictable.  A miss writes
 * a record of the load and of what was known of the victim; all else is done from the records, in order
 * of time, by hierarchy.c.
 *
 * The fast loop works in two halves: it searches for a block of references, then counts their hits.  Dropped
 * (bench/model_bench, all hit): both in one loop.  There the addresses of stores depend on the outcome of
 * the search, so the host runs later loads ahead of them, finds out that they touch the same line, and
 * starts over: 58 M references/s where four arrays are walked side by side, 160 M in two halves.  Also dropped:
 * SLP vectorisation, which gathers an event in a vector register to store it at once (190 M; without, and
 * with no look at fetches where there are none, 220 M).
 *
 * Counting rules served here: a reference that spans lines touches each of them; LRU by time of last
 * touch; write-allocate; a fetch that stands for `weight` instructions serves `weight` accesses of each
 * line that it touches, and misses once.
 */
#include <string.h>

#include "cache.h"
#include "search.h"

_Static_assert(sizeof(struct nm_ref) == 16 && offsetof(struct nm_ref, cell) == 8 &&
		   offsetof(struct nm_ref, size) == 12 && offsetof(struct nm_ref, kind) == 14 &&
		   __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "survey() takes a reference apart by shifts");

/* What the loops are specialised for; 0 in `ways` means as the level says. */
struct shape {
	unsigned ways;
	int one_word, power_of_two;
};

/* One touch of one line. */
struct touch {
	uint64_t line, uses, mask;
	const uint64_t *masks; /* where a line has several words: these, */
	unsigned first, bytes; /* or if NULL, this range */
	uint64_t time;
	uint64_t place;
	uint32_t cell, order, flags;
};

/* What a loop keeps in registers. */
struct cursor {
	const struct nm_cache *c;
	struct nm_shard *s;
	struct nm_event *event; /* the next to write */
	uint64_t start, end;
	unsigned char *again;
};

ALWAYS unsigned find(const struct nm_cache *c, const struct nm_shard *s, const uint64_t *tags, uint64_t line,
		     struct shape shape)
{
	unsigned ways = shape.ways ? shape.ways : c->layout.ways;
	if (!shape.ways && s->wide)
		return nm_wide_find(s->wide, s->sets, line);
	return find_fixed(tags, ways, line);
}

ALWAYS unsigned victim_way(const struct nm_cache *c, uint64_t *tags)
{
	const uint64_t *stamps = nm_stamp(c->layout, tags);
#if defined(__AVX512F__)
	if (c->layout.ways == 8)
		return oldest_way(stamps, 8);
	if (c->layout.ways % 8 == 0)
		return oldest_way(stamps, c->layout.ways);
#endif
	return oldest_plain(stamps, c->layout.ways);
}

ALWAYS void add_bytes(const struct nm_cache *c, uint64_t *mask, const struct touch *t, struct shape shape)
{
	if (shape.one_word || c->words == 1) {
		mask[0] |= t->mask;
	} else if (t->masks) {
		for (unsigned w = 0; w < c->words; w++)
			mask[w] |= t->masks[w];
	} else {
		for (unsigned b = t->first; b < t->first + t->bytes;) {
			unsigned n = 64 - b % 64;
			if (n > t->first + t->bytes - b)
				n = t->first + t->bytes - b;
			mask[b / 64] |= (~0ull >> (64 - n)) << b % 64;
			b += n;
		}
	}
}

ALWAYS uint32_t bytes_of(const struct nm_cache *c, const uint64_t *mask)
{
	uint32_t bytes = (uint32_t)__builtin_popcountll(mask[0]);
	for (unsigned w = 1; w < c->words; w++)
		bytes += (uint32_t)__builtin_popcountll(mask[w]);
	return bytes;
}

/* Loads the line in place of the oldest of its set and leaves a record of both. */
static __attribute__((noinline)) void load_line(const struct nm_cache *c, struct nm_shard *s,
						struct nm_event *event, const struct touch *t, uint64_t set)
{
	uint64_t *tags = nm_set_tags(c, s, set);
	unsigned way =
	    s->wide ? nm_wide_replace(s->wide, s->sets, set >> c->shard_shift, t->line) : victim_way(c, tags);
	uint64_t *tag = tags + way, *stamp = nm_stamp(c->layout, tag), *uses = nm_uses(c->layout, tag);
	uint64_t *mask = nm_mask(c->layout, tags, way);
	uint32_t *cell = nm_cell(c->layout, tags, way);
	size_t number = s->records.count++;

	s->records.at[number] = (struct nm_record){.line = t->line,
						   .victim = *tag,
						   .victim_stamp = *stamp,
						   .victim_uses = *uses,
						   .victim_mask = mask[0],
						   .victim_cell = *cell,
						   .cell = t->cell,
						   .order = t->order,
						   .flags = t->flags,
						   .victim_bytes = bytes_of(c, mask)};
	*event = (struct nm_event){number | NM_EVENT_LOAD, t->place};
	*tag = t->line;
	*stamp = t->time;
	*uses = t->uses;
	*cell = t->cell;
	if (c->words == 1) {
		mask[0] = t->mask;
		return;
	}
	memcpy(s->masks.at + number * c->words, mask, c->words * sizeof *mask);
	memset(mask, 0, c->words * sizeof *mask);
	add_bytes(c, mask, t, (struct shape){0});
}

ALWAYS void touch_line(struct cursor *cur, const struct touch *t, uint64_t set, struct shape shape)
{
	const struct nm_cache *c = cur->c;
	const struct nm_layout layout = {shape.ways ? shape.ways : c->layout.ways,
					 shape.one_word ? 1 : c->words};
	uint64_t *tags = nm_set_tags(c, cur->s, set);
	unsigned way = find(c, cur->s, tags, t->line, shape);

	if (__builtin_expect(way == UINT32_MAX, 0)) {
		struct touch copy = *t; /* so that *t itself can live in registers */
		load_line(c, cur->s, cur->event++, &copy, set);
		return;
	}
	uint64_t *stamp = nm_stamp(layout, tags + way), *uses = nm_uses(layout, tags + way);
	uint64_t old = *stamp, since = old - cur->start;

	*stamp = t->time;
	*uses = (*uses + (t->uses & ~1ull)) | (t->uses & 1);
	add_bytes(c, nm_mask(layout, tags, way), t, shape);
	cur->event->old = old;
	cur->event->place = t->place;
	cur->event += old < cur->start;
	cur->again[since < NM_INTERVAL_MAX ? since : NM_INTERVAL_MAX] = 1;
	if (!shape.ways && cur->s->wide)
		nm_wide_touch(cur->s->wide, set >> c->shard_shift, way);
}

ALWAYS uint64_t set_of(const struct nm_cache *c, uint64_t line, struct shape shape)
{
	return shape.power_of_two ? line & c->set_mask : nm_cache_set(c, line);
}

ALWAYS void roll(struct cursor *cur)
{
	nm_shard_roll(cur->c, cur->s);
	cur->start = cur->s->start;
	cur->end = cur->s->end;
}

ALWAYS uint64_t uses_of(const struct nm_ref *r)
{
	return 2 * (uint64_t)r->weight | (r->kind == NM_REF_WRITE);
}

/* All lines of a reference that spans several, as far as they belong to this shard. */
static __attribute__((noinline)) uint32_t touch_span(struct cursor *cur, const struct nm_ref *r,
						     uint32_t order, uint32_t at)
{
	const struct nm_cache *c = cur->c;
	uint64_t bytes = c->spec.line, address = r->address;
	uint32_t left = r->size;
	unsigned shard = (unsigned)(cur->s - c->shards);

	while (left) {
		unsigned first = (unsigned)(address & (bytes - 1));
		unsigned n = left < bytes - first ? left : (unsigned)(bytes - first);
		struct touch t = {.line = address >> c->line_shift,
				  .uses = uses_of(r),
				  .mask = (~0ull >> ((64 - n) & 63)) << (first & 63),
				  .first = first,
				  .bytes = n,
				  .time = c->time + at,
				  .place = c->time + at,
				  .cell = r->cell,
				  .order = order,
				  .flags = r->kind | NM_OP_DIRECT};
		uint64_t set = nm_cache_set(c, t.line);
		if ((set & (c->shard_count - 1)) == shard) {
			while (t.time >= cur->end)
				roll(cur);
			touch_line(cur, &t, set, (struct shape){0});
		}
		address += n;
		left -= n;
		at++;
	}
	return at;
}

ALWAYS uint32_t touch_ref(struct cursor *cur, const struct nm_ref *r, uint32_t order, uint32_t at,
			  struct shape shape)
{
	const struct nm_cache *c = cur->c;
	unsigned first = (unsigned)r->address & (c->spec.line - 1);

	if (__builtin_expect(first + r->size > c->spec.line, 0))
		return touch_span(cur, r, order, at);
	struct touch t = {.line = r->address >> c->line_shift,
			  .uses = uses_of(r),
			  .mask = (~0ull >> ((64 - r->size) & 63)) << (first & 63),
			  .first = first,
			  .bytes = r->size,
			  .time = c->time + at,
			  .place = c->time + at,
			  .cell = r->cell,
			  .order = order,
			  .flags = r->kind | NM_OP_DIRECT};
	while (__builtin_expect(t.time >= cur->end, 0))
		roll(cur);
	touch_line(cur, &t, set_of(c, t.line, shape), shape);
	return at + 1;
}

ALWAYS uint32_t pick_some(const struct nm_cache *c, struct nm_shard *s, const struct nm_refs_job *job,
			  struct shape shape, int plain)
{
	const uint64_t shard = (uint64_t)(s - c->shards), shards = c->shard_count - 1,
		       line = c->spec.line - 1;
	const unsigned line_shift = c->line_shift;
	const uint32_t sides[2] = {job->data != 0, job->fetches != 0};
	struct nm_pick *const picks = s->picks.at;
	uint32_t at = 0, n = 0;

	for (uint32_t i = 0; i < job->count; i++) {
		const struct nm_ref *r = &job->refs[i];
		uint32_t side = plain ? 1 : sides[r->kind == NM_REF_FETCH];
		uint32_t more = (uint32_t)(((r->address & line) + r->size - (r->size > 0)) >> line_shift);
		uint64_t set = set_of(c, r->address >> line_shift, shape);
		picks[n] = (struct nm_pick){i, at};
		n += side & ((uint32_t)(more > 0) | (uint32_t)((set & shards) == shard));
		at += side * (1 + more);
	}
	s->picks.count = n;
	return at;
}

/* Lists the references that concern this shard, without a branch on that: it would be mispredicted half of the
 * time.  Returns the number of touches. */
static uint32_t pick(const struct nm_cache *c, struct nm_shard *s, const struct nm_refs_job *job)
{
	if (c->set_mask && job->plain && job->data)
		return pick_some(c, s, job, (struct shape){0, 0, 1}, 1);
	return pick_some(c, s, job, (struct shape){0}, 0);
}

/* One touch that the fast loop could not do itself: of several lines, or a load. */
static __attribute__((noinline)) uint32_t touch_slowly(struct cursor *cur, const struct nm_ref *r,
						       uint32_t order, uint32_t at, unsigned ways)
{
	return touch_ref(cur, r, order, at, (struct shape){ways == 8 ? 8 : ways == 16 ? 16 : 4, 1, 1});
}

/* Whatever geometry. */
static uint32_t any_loop(struct cursor *cur, const struct nm_refs_job *job)
{
	uint32_t at = 0;

	if (job->all && cur->c->shard_count == 1) {
		for (uint32_t i = 0; i < job->count; i++)
			at = touch_ref(cur, &job->refs[i], i, at, (struct shape){0});
		return at;
	}
	at = pick(cur->c, cur->s, job);
	for (size_t i = 0; i < cur->s->picks.count; i++) {
		const struct nm_pick *p = &cur->s->picks.at[i];
		touch_ref(cur, &job->refs[p->ref], p->ref, p->at, (struct shape){0});
	}
	return at;
}

/* What the fast loop is specialised for. */
struct fast {
	unsigned ways, line_shift;
	int picked; /* takes picks, not all references */
	int plain;  /* no fetches, no weights */
};

ALWAYS const struct nm_ref *ref_at(const struct cursor *cur, const struct nm_refs_job *job, uint32_t i,
				   int picked)
{
	return &job->refs[picked ? cur->s->picks.at[i].ref : i];
}

/* The first half of the fast loop: where in `sets` each line is, if it is there at all.  Writes nothing that it
 * reads, so searches overlap freely. */
ALWAYS void search(const struct cursor *cur, const struct nm_refs_job *job, uint32_t from, uint32_t count,
		   struct fast fast, uint32_t *places)
{
	const uint64_t set_mask = cur->c->set_mask;
	const size_t stride = nm_stride((struct nm_layout){fast.ways, 1});
	const unsigned shard_shift = fast.picked ? cur->c->shard_shift : 0;
	const unsigned char *sets = cur->s->sets;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t line = ref_at(cur, job, from + i, fast.picked)->address >> fast.line_shift;
		size_t set = ((line & set_mask) >> shard_shift) * stride;
		places[i] = (uint32_t)(set / 8) + guess_way((const uint64_t *)(sets + set), fast.ways, line);
	}
}

/* The second half: as long as the tag at the place is the line's, and the reference is within the line, counts
 * the hit.  Returns how many were. */
ALWAYS uint32_t count_hits(struct cursor *cur, const struct nm_refs_job *job, uint32_t from, uint32_t count,
			   uint64_t time, struct fast fast, const uint32_t *places)
{
	const struct nm_layout layout = {fast.ways, 1};
	const uint64_t base = cur->c->time, start = cur->start, end = cur->end;
	const unsigned line = 1u << fast.line_shift;
	uint64_t *const sets = (uint64_t *)cur->s->sets;
	unsigned char *const again = cur->again;
	struct nm_event *event = cur->event;
	uint32_t i;

	const struct nm_ref *r = job->refs + from;
	const struct nm_pick *pick = cur->s->picks.at + from;
	uint64_t t = time;

	for (i = 0; i < count; i++, r++, t++) {
		if (fast.picked) {
			r = &job->refs[pick[i].ref];
			t = base + pick[i].at;
		}
		uint64_t *tag = sets + places[i], *stamp = nm_stamp(layout, tag),
			 *uses = nm_uses(layout, tag);
		unsigned first = (unsigned)r->address & (line - 1), size = r->size;

		if (*tag != r->address >> fast.line_shift || first + size > line || (fast.picked && t >= end))
			break;
		uint64_t old = *stamp, since = old - start;
		*stamp = t;
		*uses = (*uses + (fast.plain ? 2 : 2 * (uint64_t)r->weight)) |
			(fast.plain ? r->kind : r->kind == NM_REF_WRITE);
		*nm_mask(layout, tag, 0) |= (~0ull >> ((64 - size) & 63)) << first;
		event->old = old;
		event->place = t;
		event += old < start;
		again[since < NM_INTERVAL_MAX ? since : NM_INTERVAL_MAX] = 1;
	}
	cur->event = event;
	return i;
}

/* Takes references of one shard.  A block of them is searched for first, without a branch; then hits are
 * counted one after the other.  A load may have moved what a later search of the block had found, which the
 * second look at the tag finds out: then, as for misses and references that span lines, touch_slowly(). */
ALWAYS uint32_t fast_loop(struct cursor *cur, const struct nm_refs_job *job, struct fast fast)
{
	enum { BLOCK = NM_INTERVAL_MAX };
	const uint64_t base = cur->c->time;
	uint32_t places[BLOCK];
	uint32_t all = fast.picked ? pick(cur->c, cur->s, job) : 0;
	uint32_t count = fast.picked ? (uint32_t)cur->s->picks.count : job->count;
	uint64_t time = base;

	for (uint32_t from = 0, n; from < count; from += n) {
		n = count - from < BLOCK ? count - from : BLOCK;
		search(cur, job, from, n, fast, places);
		for (uint32_t i = 0; i < n;) {
			const struct nm_pick *p = cur->s->picks.at + from + i;
			if (fast.picked)
				time = base + p->at;
			while (time >= cur->end)
				roll(cur);
			uint32_t some = n - i;
			if (!fast.picked && some > cur->end - time)
				some = (uint32_t)(cur->end - time);
			uint32_t hits = count_hits(cur, job, from + i, some, time, fast, places + i);
			i += hits;
			time += hits;
			if (hits == some || (fast.picked && base + p[hits].at >= cur->end))
				continue;
			uint32_t order = fast.picked ? p[hits].ref : from + i;
			uint32_t at = fast.picked ? p[hits].at : (uint32_t)(time - base);
			time = base + touch_slowly(cur, &job->refs[order], order, at, fast.ways);
			i++;
		}
	}
	return fast.picked ? all : (uint32_t)(time - base);
}

ALWAYS uint32_t fast_refs(struct cursor *cur, const struct nm_refs_job *job, unsigned ways,
			  unsigned line_shift)
{
	if (!job->all || cur->c->shard_count > 1)
		return fast_loop(cur, job, (struct fast){ways, line_shift, 1, 0});
	if (job->plain)
		return fast_loop(cur, job, (struct fast){ways, line_shift, 0, 1});
	return fast_loop(cur, job, (struct fast){ways, line_shift, 0, 0});
}

static uint32_t take_refs(const struct nm_cache *c, struct nm_shard *s, const struct nm_refs_job *job)
{
	struct cursor cur = {c, s, s->events.at, s->start, s->end, s->again};
	const int simple = c->words == 1 && c->set_mask && s->sets && c->spec.size <= 1u << 30;
	uint32_t touches;

	if (simple && c->layout.ways == 8)
		touches =
		    c->line_shift == 6 ? fast_refs(&cur, job, 8, 6) : fast_refs(&cur, job, 8, c->line_shift);
	else if (simple && c->layout.ways == 16)
		touches = fast_refs(&cur, job, 16, c->line_shift);
	else if (simple && c->layout.ways == 4)
		touches = fast_refs(&cur, job, 4, c->line_shift);
	else
		touches = any_loop(&cur, job);
	while (c->time + touches >= cur.end)
		roll(&cur);
	s->events.count = (size_t)(cur.event - s->events.at);
	return touches;
}

/* What an upper level knew of a line that left it.  If the line is not here it goes on outwards. */
ALWAYS void settle(struct cursor *cur, const struct touch *t, uint64_t set, struct shape shape)
{
	const struct nm_cache *c = cur->c;
	struct nm_shard *s = cur->s;
	uint64_t *tags = nm_set_tags(c, s, set);
	unsigned way = find(c, s, tags, t->line, shape);

	if (way != UINT32_MAX) {
		uint64_t *uses = nm_uses(c->layout, tags + way);
		*uses = (*uses + (t->uses & ~1ull)) | (t->uses & 1);
		add_bytes(c, nm_mask(c->layout, tags, way), t, shape);
		return;
	}
	size_t number = s->records.count++;
	s->records.at[number] = (struct nm_record){.victim = t->line,
						   .victim_uses = t->uses,
						   .victim_mask = t->mask,
						   .order = t->order,
						   .flags = NM_OP_SETTLE};
	if (t->masks)
		memcpy(s->masks.at + number * c->words, t->masks, c->words * sizeof *t->masks);
	*cur->event++ = (struct nm_event){number | NM_EVENT_LOAD, t->place};
}

ALWAYS void ops_loop(struct cursor *cur, const struct nm_ops *ops, struct shape shape)
{
	enum { AHEAD = 8 };
	const struct nm_cache *c = cur->c;
	const unsigned shard = (unsigned)(cur->s - c->shards), shards = c->shard_count - 1;
	const uint32_t count = (uint32_t)ops->list.count;
	const int several = !shape.one_word && c->words > 1;

	for (uint32_t i = 0; i < count; i++) {
		const struct nm_op *op = &ops->list.at[i];
		if (i + AHEAD < count) {
			uint64_t set = set_of(c, op[AHEAD].line, shape);
			if ((set & shards) == shard) {
				const char *ahead = (const char *)nm_set_tags(c, cur->s, set);
				for (unsigned b = 0; b < c->layout.ways * 16 && b < 512; b += 64)
					__builtin_prefetch(ahead + b);
			}
		}
		uint64_t set = set_of(c, op->line, shape);
		if ((set & shards) != shard)
			continue;
		struct touch t = {.line = op->line,
				  .uses = op->uses,
				  .mask = op->mask,
				  .masks = several ? ops->masks.at + (size_t)i * c->words : NULL,
				  .time = c->time + op->time,
				  .place = (uint64_t)op->time << 32 | i,
				  .cell = op->cell,
				  .order = op->order,
				  .flags = op->flags};
		if (op->flags & NM_OP_SETTLE) {
			settle(cur, &t, set, shape);
			continue;
		}
		while (__builtin_expect(t.time >= cur->end, 0))
			roll(cur);
		touch_line(cur, &t, set, shape);
	}
}

static void take_ops(const struct nm_cache *c, struct nm_shard *s, const struct nm_ops *ops)
{
	struct cursor cur = {c, s, s->events.at, s->start, s->end, s->again};

	if (c->words == 1 && c->set_mask && c->layout.ways == 16)
		ops_loop(&cur, ops, (struct shape){16, 1, 1});
	else if (c->words == 1 && c->set_mask && c->layout.ways == 8)
		ops_loop(&cur, ops, (struct shape){8, 1, 1});
	else
		ops_loop(&cur, ops, (struct shape){0});
	while (c->time + ops->fills >= cur.end)
		roll(&cur);
	s->events.count = (size_t)(cur.event - s->events.at);
}

static void survey(const struct nm_ref *refs, uint32_t count, struct nm_survey *ret)
{
	uint64_t any = 0, all = ~0ull, writes = 0;
	uint32_t cell = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t rest; /* all but the address */
		memcpy(&rest, &refs[i].cell, sizeof rest);
		any |= rest;
		all &= rest;
		writes += rest >> 48 & 1;
		cell = (uint32_t)rest > cell ? (uint32_t)rest : cell;
	}
	*ret = (struct nm_survey){.cell = cell,
				  .any_size = any >> 32 & 0xffff,
				  .any_kind = any >> 48 & 0xff,
				  .any_weight = (uint32_t)(any >> 56),
				  .all_weight = (uint32_t)(all >> 56),
				  .writes = writes};
}

const struct nm_lookup NM_LOOKUP = {take_refs, take_ops, survey};
