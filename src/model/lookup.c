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
 * Counting rules served here: a reference that spans lines touches each of them; LRU by time of last
 * touch; write-allocate; a fetch that stands for `weight` instructions serves `weight` accesses of each
 * line that it touches, and misses once.
 */
#include <string.h>

#include "cache.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define ALWAYS static inline __attribute__((always_inline))

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
	uint32_t key, cell, order, flags;
};

/* What a loop keeps in registers. */
struct cursor {
	const struct nm_cache *c;
	struct nm_shard *s;
	struct nm_event *event; /* the next to write */
	uint64_t start, end;
	unsigned char *again;
};

#if defined(__AVX512F__)
ALWAYS unsigned find_way(const uint64_t *tags, unsigned ways, uint64_t line)
{
	const __m512i key = _mm512_set1_epi64((long long)line);
	for (unsigned w = 0; w < ways; w += 8) {
		unsigned hit = _mm512_cmpeq_epi64_mask(_mm512_load_si512(tags + w), key);
		if (hit)
			return w + (unsigned)__builtin_ctz(hit);
	}
	return UINT32_MAX;
}

ALWAYS unsigned oldest_way(const uint64_t *stamps, unsigned ways)
{
	__m512i least = _mm512_load_si512(stamps);
	for (unsigned w = 8; w < ways; w += 8)
		least = _mm512_min_epu64(least, _mm512_load_si512(stamps + w));
	return find_way(stamps, ways, _mm512_reduce_min_epu64(least));
}
#define VECTOR_WAYS 8
#elif defined(__AVX2__)
ALWAYS unsigned find_way(const uint64_t *tags, unsigned ways, uint64_t line)
{
	const __m256i key = _mm256_set1_epi64x((long long)line);
	for (unsigned w = 0; w < ways; w += 8) {
		__m256i a = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)(tags + w)), key);
		__m256i b = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)(tags + w + 4)), key);
		unsigned hit = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(a)) |
			       (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(b)) << 4;
		if (hit)
			return w + (unsigned)__builtin_ctz(hit);
	}
	return UINT32_MAX;
}
#define VECTOR_WAYS 8
#endif

ALWAYS unsigned find_plain(const uint64_t *tags, unsigned ways, uint64_t line)
{
	for (unsigned w = 0; w < ways; w++)
		if (tags[w] == line)
			return w;
	return UINT32_MAX;
}

ALWAYS unsigned oldest_plain(const uint64_t *stamps, unsigned ways)
{
	unsigned oldest = 0;
	uint64_t least = stamps[0];
	for (unsigned w = 1; w < ways; w++)
		if (stamps[w] < least) {
			least = stamps[w];
			oldest = w;
		}
	return oldest;
}

ALWAYS unsigned find(const struct nm_cache *c, const struct nm_shard *s, const uint64_t *tags, uint64_t line,
		     struct shape shape)
{
	unsigned ways = shape.ways ? shape.ways : c->padded;
	if (!shape.ways && s->wide)
		return nm_wide_find(s->wide, s->sets, line);
#ifdef VECTOR_WAYS
	if (ways % VECTOR_WAYS == 0)
		return find_way(tags, ways, line);
#endif
	return find_plain(tags, ways, line);
}

ALWAYS unsigned victim_way(const struct nm_cache *c, uint64_t *tags)
{
	const uint64_t *stamps = nm_set_stamps(c, tags);
#if defined(__AVX512F__)
	if (c->padded == 8)
		return oldest_way(stamps, 8);
	if (c->padded % 8 == 0)
		return oldest_way(stamps, c->padded);
#endif
	return oldest_plain(stamps, c->padded);
}

ALWAYS void add_bytes(const struct nm_cache *c, struct nm_meta *m, const struct touch *t, struct shape shape)
{
	if (shape.one_word || c->words == 1) {
		m->mask[0] |= t->mask;
	} else if (t->masks) {
		for (unsigned w = 0; w < c->words; w++)
			m->mask[w] |= t->masks[w];
	} else {
		for (unsigned b = t->first; b < t->first + t->bytes;) {
			unsigned n = 64 - b % 64;
			if (n > t->first + t->bytes - b)
				n = t->first + t->bytes - b;
			m->mask[b / 64] |= (~0ull >> (64 - n)) << b % 64;
			b += n;
		}
	}
}

/* Loads the line in place of the oldest of its set and leaves a record of both. */
static __attribute__((noinline)) void load_line(const struct nm_cache *c, struct nm_shard *s,
						struct nm_event *event, const struct touch *t, uint64_t set)
{
	uint64_t local = set >> c->shard_shift;
	uint64_t *tags = nm_set_tags(c, s, set);
	unsigned way = s->wide ? nm_wide_replace(s->wide, s->sets, local, t->line) : victim_way(c, tags);
	struct nm_meta *m = nm_set_meta(c, tags, way);
	uint64_t *stamps = nm_set_stamps(c, tags);
	size_t number = s->records.count++;

	s->records.at[number] = (struct nm_record){.line = t->line,
						   .victim = tags[way],
						   .victim_stamp = stamps[way],
						   .victim_uses = m->uses,
						   .victim_mask = m->mask[0],
						   .victim_cell = m->cell,
						   .cell = t->cell,
						   .order = t->order,
						   .flags = t->flags};
	if (c->words > 1)
		memcpy(s->masks.at + number * c->words, m->mask, c->words * sizeof m->mask[0]);
	*event = (struct nm_event){.key = t->key, .load = (uint32_t)number + 1};
	tags[way] = t->line;
	stamps[way] = t->time;
	m->uses = t->uses;
	m->cell = t->cell;
	memset(m->mask, 0, c->words * sizeof m->mask[0]);
	add_bytes(c, m, t, (struct shape){0});
}

ALWAYS void touch_line(struct cursor *cur, const struct touch *t, uint64_t set, struct shape shape)
{
	const struct nm_cache *c = cur->c;
	const unsigned ways = shape.ways ? shape.ways : c->padded;
	uint64_t *tags = nm_set_tags(c, cur->s, set);
	unsigned way = find(c, cur->s, tags, t->line, shape);

	if (__builtin_expect(way == UINT32_MAX, 0)) {
		struct touch copy = *t; /* so that *t itself can live in registers */
		load_line(c, cur->s, cur->event++, &copy, set);
		return;
	}
	const size_t meta_size = shape.one_word ? sizeof(struct nm_meta) + 8 : c->meta_size;
	struct nm_meta *m = (struct nm_meta *)((char *)(tags + 2 * ways) + way * meta_size);
	uint64_t *stamp = tags + ways + way, old = *stamp, since = old - cur->start;

	*stamp = t->time;
	m->uses = (m->uses + (t->uses & ~1ull)) | (t->uses & 1);
	add_bytes(c, m, t, shape);
	*cur->event = (struct nm_event){.old = old, .key = t->key};
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
				  .key = at,
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
			  .key = at,
			  .cell = r->cell,
			  .order = order,
			  .flags = r->kind | NM_OP_DIRECT};
	while (__builtin_expect(t.time >= cur->end, 0))
		roll(cur);
	touch_line(cur, &t, set_of(c, t.line, shape), shape);
	return at + 1;
}

/* Lists the references that concern this shard: a branch on that would be mispredicted half of the time. */
static uint32_t pick(const struct nm_cache *c, struct nm_shard *s, const struct nm_refs_job *job)
{
	unsigned shard = (unsigned)(s - c->shards);
	uint32_t at = 0, n = 0;

	for (uint32_t i = 0; i < job->count; i++) {
		const struct nm_ref *r = &job->refs[i];
		int side = r->kind == NM_REF_FETCH ? job->fetches : job->data;
		uint64_t first = r->address & (c->spec.line - 1);
		uint32_t more = (uint32_t)((first + r->size - !!r->size) >> c->line_shift);
		uint64_t set = nm_cache_set(c, r->address >> c->line_shift);
		s->picks.at[n] = (struct nm_pick){i, at};
		n += side && (more || (set & (c->shard_count - 1)) == shard);
		at += side ? 1 + more : 0;
	}
	s->picks.count = n;
	return at;
}

ALWAYS uint32_t refs_loop(struct cursor *cur, const struct nm_refs_job *job, struct shape shape)
{
	struct cursor local = *cur;
	uint32_t at = 0;

	if (job->all && cur->c->shard_count == 1) {
		for (uint32_t i = 0; i < job->count; i++)
			at = touch_ref(&local, &job->refs[i], i, at, shape);
	} else {
		at = pick(cur->c, cur->s, job);
		for (size_t i = 0; i < cur->s->picks.count; i++) {
			const struct nm_pick *p = &cur->s->picks.at[i];
			touch_ref(&local, &job->refs[p->ref], p->ref, p->at, shape);
		}
	}
	*cur = local;
	return at;
}

static uint32_t take_refs(const struct nm_cache *c, struct nm_shard *s, const struct nm_refs_job *job)
{
	struct cursor cur = {c, s, s->events.at, s->start, s->end, s->again};
	uint32_t touches;

	if (c->words == 1 && c->set_mask && c->padded == 8)
		touches = refs_loop(&cur, job, (struct shape){8, 1, 1});
	else
		touches = refs_loop(&cur, job, (struct shape){0});
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
		struct nm_meta *m = nm_set_meta(c, tags, way);
		m->uses = (m->uses + (t->uses & ~1ull)) | (t->uses & 1);
		add_bytes(c, m, t, shape);
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
	*cur->event++ = (struct nm_event){.key = t->key, .load = (uint32_t)number + 1};
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
				for (unsigned b = 0; b < c->padded * 16 && b < 512; b += 64)
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
				  .key = i,
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

	if (c->words == 1 && c->set_mask && c->padded == 16)
		ops_loop(&cur, ops, (struct shape){16, 1, 1});
	else if (c->words == 1 && c->set_mask && c->padded == 8)
		ops_loop(&cur, ops, (struct shape){8, 1, 1});
	else
		ops_loop(&cur, ops, (struct shape){0});
	while (c->time + ops->fills >= cur.end)
		roll(&cur);
	s->events.count = (size_t)(cur.event - s->events.at);
}

const struct nm_lookup NM_LOOKUP = {take_refs, take_ops};
