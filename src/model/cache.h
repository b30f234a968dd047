/* SPDX-License-Identifier: MIT
 *
 * cache.h - one level: a set-associative array, split by set into shards that know nothing of each other.
 */
#ifndef NM_CACHE_H
#define NM_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "hierarchy.h"
#include "recency.h"
#include "vector.h"

enum {
	NM_LINE_WORDS_MAX = 4096 / 64,
	NM_WIDE_WAYS = 65, /* from so many ways on, a hash finds the way and a list the victim */
};

#define NM_NO_LINE UINT64_MAX         /* line numbers are below 2^61 */
#define NM_NO_VICTIM (UINT64_MAX - 1) /* tag of a way that pads a set */

/* A set in memory: arrays with an element for each way, so that one offset leads to all that is known of a way.
 * The address of a way is that of its tag. */
struct nm_layout {
	unsigned ways;  /* padded for vectors */
	unsigned words; /* of 64 bytes in a line: words of its byte mask */
};

static inline uint64_t *nm_stamp(struct nm_layout l, uint64_t *tag) { return tag + l.ways; }
/* 2 * accesses served + dirty */
static inline uint64_t *nm_uses(struct nm_layout l, uint64_t *tag) { return tag + 2 * l.ways; }
/* Bytes touched, a bit each; the mask of way 0 if l.words is 1. */
static inline uint64_t *nm_mask(struct nm_layout l, uint64_t *tags, unsigned way)
{
	return tags + 3 * l.ways + (size_t)way * l.words;
}
/* The cell that loaded it. */
static inline uint32_t *nm_cell(struct nm_layout l, uint64_t *tags, unsigned way)
{
	return (uint32_t *)(tags + (3 + l.words) * (size_t)l.ways) + way;
}
static inline size_t nm_stride(struct nm_layout l)
{
	return ((size_t)l.ways * (28 + 8 * l.words) + 63) / 64 * 64;
}

enum { NM_OP_KIND = 3, NM_OP_SETTLE = 4, NM_OP_DIRECT = 8 };

/* What reaches a level that is not the first: a fill asked for by the level before, or (SETTLE) what that
 * level knew of a line that left it.  DIRECT: a reference of the program itself. */
struct nm_op {
	uint64_t line;
	uint64_t uses; /* 2 * accesses + dirty */
	uint64_t mask; /* where lines have one word; else masks[index * words] holds */
	uint32_t cell;
	uint32_t order; /* of the reference in the piece that caused it */
	uint32_t time;  /* fills before it in this input */
	uint32_t flags;
};

struct nm_ops {
	struct nm_vec(struct nm_op) list;
	struct nm_vec(uint64_t) masks; /* words per op, if words > 1 */
	uint32_t fills;
};

/* A load and the line that left for it; or (flags has SETTLE) a settlement that found no line here: `victim`
 * is then the line of it. */
struct nm_record {
	uint64_t line;
	uint64_t victim, victim_stamp, victim_uses, victim_mask;
	uint32_t victim_cell;
	uint32_t cell, order, flags;
	uint32_t victim_bytes; /* bits in the mask */
};

struct nm_pick {
	uint32_t ref, at; /* index of the reference, of its first touch */
};

struct nm_shard {
	unsigned char *sets;
	uint64_t start, end;  /* of the interval, in touches of this level */
	unsigned char *again; /* touches of the interval outdated by a later one of the same line */
	struct nm_wide *wide; /* where ways >= NM_WIDE_WAYS */

	/* Results of one piece. */
	struct nm_vec(struct nm_event) events;
	struct nm_vec(struct nm_record) records;
	struct nm_vec(uint64_t) masks;  /* of the victims, if words > 1 */
	struct nm_vec(uint64_t) closed; /* `again` of each interval that ended, NM_INTERVAL_WORDS each */
	struct nm_vec(struct nm_pick) picks;
};

struct nm_cache;

/* The part of a piece's references that a first level takes. */
struct nm_refs_job {
	const struct nm_ref *refs;
	uint32_t count;
	uint32_t touches;  /* at most */
	int data, fetches; /* which it takes */
	int all;           /* every reference in the piece is of those */
	int plain;         /* all are reads and writes of weight 1 */
};

/* What a look over references tells about all of them together. */
struct nm_survey {
	uint32_t cell;                                       /* the largest */
	uint32_t any_size, any_kind, any_weight, all_weight; /* bits that any, that all have */
	uint64_t writes;
};

/* The loops over a batch, once per instruction set. */
struct nm_lookup {
	/* Returns the number of touches. */
	uint32_t (*refs)(const struct nm_cache *cache, struct nm_shard *shard, const struct nm_refs_job *job);
	void (*ops)(const struct nm_cache *cache, struct nm_shard *shard, const struct nm_ops *ops);
	void (*survey)(const struct nm_ref *refs, uint32_t count, struct nm_survey *ret);
};

struct nm_cache {
	struct nm_level_spec spec;
	struct nm_lookup lookup;
	uint64_t time;     /* of the next touch */
	uint64_t set_mask; /* sets - 1 if that is a power of two, else 0 */
	size_t stride;     /* bytes of a set */
	struct nm_layout layout;
	unsigned line_shift, words;
	unsigned shard_count, shard_shift;
	unsigned interval;
	struct nm_shard *shards;
};

int nm_cache_init(struct nm_cache *cache, const struct nm_level_spec *spec, unsigned shards);
void nm_cache_done(struct nm_cache *cache);

/* Adds to a resident line what an upper level knew of it.  1 if it is resident. */
int nm_cache_settle(struct nm_cache *cache, uint64_t line, uint64_t uses, const uint64_t *mask);

/* A resident line, as others see it. */
struct nm_resident {
	uint64_t line, uses;
	const uint64_t *mask;
	uint32_t cell;
};

/* Walks the resident lines: *i from 0; 0 ends it. */
int nm_cache_next(const struct nm_cache *cache, size_t *i, struct nm_resident *ret);

/* Ends an interval of the shard: room in `closed` was reserved. */
void nm_shard_roll(const struct nm_cache *cache, struct nm_shard *shard);

static inline uint64_t nm_cache_set(const struct nm_cache *c, uint64_t line)
{
	return c->set_mask || c->spec.sets == 1 ? line & c->set_mask : line % c->spec.sets;
}

static inline uint64_t *nm_set_tags(const struct nm_cache *c, const struct nm_shard *s, uint64_t set)
{
	return (uint64_t *)(s->sets + (set >> c->shard_shift) * c->stride);
}

/* The sets of a shard with many ways each: hash from line to way, list by recency per set.  `sets` is the
 * memory of the shard, `set` a number within it. */
struct nm_wide *nm_wide_new(uint64_t sets, uint32_t ways, size_t stride);
void nm_wide_free(struct nm_wide *wide);
/* The way, or UINT32_MAX. */
uint32_t nm_wide_find(const struct nm_wide *wide, const unsigned char *sets, uint64_t line);
void nm_wide_touch(struct nm_wide *wide, uint64_t set, uint32_t way);
/* A free way or the oldest, which is now indexed as `line` and the newest; the caller then sets its tag. */
uint32_t nm_wide_replace(struct nm_wide *wide, unsigned char *sets, uint64_t set, uint64_t line);

/* The loops that this processor can run, fastest first; NULL past the last. */
const struct nm_lookup *nm_lookup_supported(unsigned i);

/* Has the hierarchy, before its first batch, use other loops than the fastest. */
void nm_hierarchy_use(struct nm_hierarchy *hierarchy, const struct nm_lookup *lookup);

extern const struct nm_lookup nm_lookup_plain;
#if defined(__x86_64__)
extern const struct nm_lookup nm_lookup_avx2, nm_lookup_avx512;
#endif

#endif
