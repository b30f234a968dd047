/* SPDX-License-Identifier: MIT
 *
 * cache.c - the array of one level: its memory, its geometry, what is asked of it outside the hot loops.
 *
 * A set is one piece of memory: all tags, all stamps, all counts of uses, and so on.  Nothing moves on a hit: a stamp is the time of the last touch, the victim is the way with the
 * smallest one, and 0 marks a free way.  Shard s holds the sets whose number mod shards is s.
 *
 * Counting rules served here: uses and byte masks stay with the resident line; a settlement from an
 * upper level adds to them and moves no recency; a dirty settlement makes the line dirty.
 */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

const struct nm_lookup *nm_lookup_supported(unsigned i)
{
	const struct nm_lookup *list[4];
	unsigned n = 0;
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		list[n++] = &nm_lookup_avx512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		list[n++] = &nm_lookup_avx2;
#endif
	list[n++] = &nm_lookup_plain;
	return i < n ? list[i] : NULL;
}

static void clear_set(const struct nm_cache *c, uint64_t *tags)
{
	uint64_t *stamps = nm_stamp(c->layout, tags);
	memset(tags, 0, c->stride);
	for (unsigned way = 0; way < c->layout.ways; way++) {
		tags[way] = way < c->spec.ways ? NM_NO_LINE : NM_NO_VICTIM;
		stamps[way] = way < c->spec.ways ? 0 : UINT64_MAX;
	}
}

static int init_shard(const struct nm_cache *c, struct nm_shard *s, unsigned number)
{
	uint64_t sets = c->spec.sets > number ? (c->spec.sets - number - 1) / c->shard_count + 1 : 0;

	s->start = c->time;
	s->end = s->start + c->interval;
	s->again = calloc(1, NM_INTERVAL_MAX + 64);
	if (!s->again)
		return NM_ENOMEM;
	if (!sets)
		return 0;
	if (sets > SIZE_MAX / 2 / c->stride)
		return NM_ENOMEM;
	s->sets = aligned_alloc(64, sets * c->stride);
	if (!s->sets)
		return NM_ENOMEM;
	for (uint64_t i = 0; i < sets; i++)
		clear_set(c, (uint64_t *)(s->sets + i * c->stride));
	if (c->spec.ways >= NM_WIDE_WAYS) {
		s->wide = nm_wide_new(sets, c->spec.ways, c->stride);
		if (!s->wide)
			return NM_ENOMEM;
	}
	return 0;
}

int nm_cache_init(struct nm_cache *c, const struct nm_level_spec *spec, unsigned shards)
{
	uint64_t sets = spec->sets;

	*c = (struct nm_cache){.spec = *spec, .lookup = *nm_lookup_supported(0), .shard_count = shards};
	c->set_mask = (sets & (sets - 1)) == 0 ? sets - 1 : 0;
	c->line_shift = (unsigned)__builtin_ctz(spec->line);
	c->words = spec->line > 64 ? spec->line / 64 : 1;
	c->layout.words = c->words;
	c->layout.ways =
	    spec->ways <= 4 || spec->ways >= NM_WIDE_WAYS ? spec->ways : (spec->ways + 7) / 8 * 8;
	c->stride = nm_stride(c->layout);
	c->shard_shift = (unsigned)__builtin_ctz(shards);
	c->interval = 1;
	while (c->interval * 2ull <= sets * spec->ways && c->interval * 2 <= NM_INTERVAL_MAX)
		c->interval *= 2;
	c->time = c->interval;
	c->shards = calloc(shards, sizeof *c->shards);
	if (!c->shards)
		return NM_ENOMEM;
	for (unsigned i = 0; i < shards; i++)
		if (init_shard(c, &c->shards[i], i)) {
			nm_cache_done(c);
			return NM_ENOMEM;
		}
	return 0;
}

void nm_cache_done(struct nm_cache *c)
{
	for (unsigned i = 0; c->shards && i < c->shard_count; i++) {
		struct nm_shard *s = &c->shards[i];
		free(s->sets);
		free(s->again);
		nm_wide_free(s->wide);
		nm_vec_free(&s->events);
		nm_vec_free(&s->records);
		nm_vec_free(&s->masks);
		nm_vec_free(&s->closed);
		nm_vec_free(&s->picks);
	}
	free(c->shards);
	*c = (struct nm_cache){0};
}

void nm_shard_roll(const struct nm_cache *c, struct nm_shard *s)
{
	uint64_t *words = &s->closed.at[s->closed.count];

	for (unsigned w = 0; w < NM_INTERVAL_WORDS; w++) {
		uint64_t word = 0;
		for (unsigned byte = 0; byte < 8; byte++) {
			uint64_t flags; /* eight bytes of 0 or 1, gathered into eight bits */
			memcpy(&flags, s->again + w * 64 + byte * 8, 8);
			word |= (flags * 0x0102040810204080ull >> 56) << (byte * 8);
		}
		words[w] = word;
	}
	s->closed.count += NM_INTERVAL_WORDS;
	memset(s->again, 0, NM_INTERVAL_MAX);
	s->start = s->end;
	s->end += c->interval;
}

int nm_cache_settle(struct nm_cache *c, uint64_t line, uint64_t uses, const uint64_t *mask)
{
	uint64_t set = nm_cache_set(c, line);
	struct nm_shard *s = &c->shards[set & (c->shard_count - 1)];
	uint64_t *tags = nm_set_tags(c, s, set);
	unsigned way = 0;

	if (s->wide)
		way = nm_wide_find(s->wide, s->sets, line);
	else
		while (way < c->spec.ways && tags[way] != line)
			way++;
	if (way >= c->spec.ways)
		return 0;
	uint64_t *u = nm_uses(c->layout, tags + way), *m = nm_mask(c->layout, tags, way);
	*u = (*u + (uses & ~1ull)) | (uses & 1);
	for (unsigned w = 0; w < c->words; w++)
		m[w] |= mask[w];
	return 1;
}

int nm_cache_next(const struct nm_cache *c, size_t *i, struct nm_resident *ret)
{
	for (; *i < c->spec.sets * c->spec.ways; ++*i) {
		uint64_t set = *i / c->spec.ways;
		unsigned way = (unsigned)(*i % c->spec.ways);
		const struct nm_shard *s = &c->shards[set & (c->shard_count - 1)];
		uint64_t *tags = nm_set_tags(c, s, set);
		if (tags[way] == NM_NO_LINE)
			continue;
		*ret = (struct nm_resident){.line = tags[way],
					    .uses = *nm_uses(c->layout, tags + way),
					    .mask = nm_mask(c->layout, tags, way),
					    .cell = *nm_cell(c->layout, tags, way)};
		++*i;
		return 1;
	}
	return 0;
}
