/* SPDX-License-Identifier: MIT
 *
 * cache.h - one level: a set-associative array, the shadow cache that classes its misses, and its counters.
 *
 * Memory is committed as lines come: the tags and timestamps of a chunk of sets are laid when a line is first
 * looked up there.
 *
 * Every way of every set has a number, its *slot* (set * ways + way), and an element in each of these arrays:
 * tags, which a search reads; timestamps, by which a victim is chosen; and the line's *residency*. In a level
 * with sectors each sector of a way has a slot, and "line" here means sector (general.h).
 */
#ifndef NM_CACHE_H
#define NM_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "coherence.h"
#include "counters.h"
#include "hierarchy.h"
#include "monitor.h"
#include "prefetch_coverage.h"
#include "sampler.h"
#include "shadow.h"
#include "sketch.h"

enum { NM_HIGHLY_ASSOCIATIVE = 65 /* from this many ways on, a hash finds the way */ };

enum { NM_CHUNK_BITS = 6 /* sets of a chunk, log2 */ };

#define NM_NO_LINE UINT64_MAX         /* line numbers are below 2^61 */
#define NM_NO_VICTIM (UINT64_MAX - 1) /* tag of a way that pads a set */
#define NM_NO_SLOT UINT32_MAX
#define NM_MODULO UINT64_MAX               /* for set_mask: sets are counted modulo */
#define NM_NO_TIMESTAMP ((1ull << 57) - 1) /* of a way that pads a set: later than any touch */

/* What is counted of a resident line. */
struct nm_residency {
	uint64_t writes, served; /* accesses: writes, all */
	uint64_t mask;           /* a bit for each byte touched, if the line has at most 64 */
	uint32_t attr;           /* of the reference that loaded it */
	uint32_t below;          /* a slot where the next level may have it; its tag tells */
};
_Static_assert(sizeof(struct nm_residency) == 32, "two residencies share a cache line");

/* Counts a reference, or a fetch that stands for `times`. */
static inline void nm_residency_serve(struct nm_residency *residency, unsigned write, unsigned times)
{
	residency->writes += write ? times : 0;
	residency->served += times;
}

/* A miss of a level in a chain (fast_chain.h): the line that it loaded, and the one that it evicted. */
struct nm_miss {
	_Alignas(64) uint64_t line;    /* NM_NO_LINE: none; */
	uint64_t left;                 /* NM_NO_LINE: none */
	struct nm_residency residency; /* of the evicted line */
	uint32_t attr;
	uint32_t sample; /* 1 + the load's index in the sampler's list; 0: it is no sample */
	uint32_t slot;   /* of both lines */
	uint8_t write, class;
	uint8_t covered; /* by prefetchers; in a slice, of a first level: the address's offset in its line */
	uint8_t unit;    /* in a slice's list: whose miss it is */
};
_Static_assert(sizeof(struct nm_miss) == 64, "one line of the host's cache");

enum { NM_MISSES = 128 };

struct nm_cache;
struct nm_coalesced_table;
struct nm_prefetch_queue;
struct nm_run_slice;

/* The loops over references, once per instruction set. */
struct nm_lookup {
	/* Takes reads and writes, also coalesced ones if nm_cache_takes_coalesced. */
	void (*plain)(struct nm_cache *cache, const struct nm_ref *refs, uint32_t count);
	/* Takes one reference of any kind that is not coalesced. */
	void (*any)(struct nm_cache *cache, const struct nm_ref *ref);
	/* Requests a line for the level above; returns its slot. */
	uint32_t (*fill)(struct nm_cache *cache, uint64_t line, uint32_t attr, unsigned write);
	/* Has further levels see what was put off (fast_chain.h). */
	void (*flush_deferred_misses)(struct nm_cache *cache);
};

/* The monitor that gets events, and what the events of the current reference have in common. */
struct nm_event_sink {
	struct nm_monitor monitor;
	struct nm_event asked;
	int uncounted; /* the current reference has weight 0 */
	int watches_uncounted;
};

struct nm_cache {
	uint64_t *tags, *timestamps; /* tags: with a last one that matches no line */
	struct nm_residency *residencies;
	uint8_t *laid;   /* by chunk of sets: whether it is laid; before, no line is there */
	uint64_t *masks; /* `words` per slot, if a line has more than 64 bytes; else NULL */
	/* [NM_GUESSES + 1] by hash of a line: a slot where it may be; the last: none; or NULL */
	uint32_t *predicted;
	uint64_t set_mask;          /* sets - 1 if that is a power of two, else NM_MODULO */
	unsigned ways;              /* padded for vectors */
	unsigned line_shift, words; /* of a line or sector; number of 64-byte words in it */
	struct nm_cache *next;      /* level that takes its fills, or NULL */
	/* a level of another machine, which takes the fills that this one takes, or NULL (shared_levels.c) */
	struct nm_cache *sibling;
	/* if ways >= NM_HIGHLY_ASSOCIATIVE, or a plug-in places lines; else NULL */
	struct nm_way_index *way_index;
	struct nm_general *general;         /* general.h; NULL: this is a fast level */
	struct nm_coherent_level *coherent; /* coherence.h; NULL: nothing keeps it coherent */
	uint64_t slots;
	struct nm_shadow shadow;
	struct nm_counters counters;
	const struct nm_lookup *lookup;
	const struct nm_coalesced_table *coalesced; /* what coalesced references consist of, or NULL */
	struct nm_level_spec spec;
	int first; /* takes the program's references only, no fills */
	/* the next level sees only the lines loaded here: a line that is cold there is cold here */
	int next_knows_cold;
	int cold;               /* the latest fill was of a line never seen before */
	int chained;            /* it defers its requests to the next level (fast_chain.h) */
	struct nm_miss *misses; /* [NM_MISSES] that the next level has not seen yet */
	uint32_t miss_count;
	struct nm_cache *cold_from; /* the furthest level that next_knows_cold leads to */
	/* 1: out of memory; NM_EPLUGIN: a plug-in named a slot that does not exist */
	int failed;
	struct nm_event_sink *sink; /* of a hierarchy that is watched, else NULL */
	uint8_t level;              /* index in the machine, for the sink */
	uint16_t core;              /* 1 + the core that owns it; 0: all cores share it */
	struct nm_sampler *sampler; /* gets some loads, or NULL */
	uint8_t *sketch;            /* of the lines loaded here, or NULL (sketch.h) */
	/* the first level's sampler, which also learns of loads here, or NULL */
	struct nm_sampler *upper_sampler;
	const struct nm_ref *expected;   /* the next batch, or NULL (nm_hierarchy_prefetch_host) */
	struct nm_coverage *coverage;    /* of the machine, or NULL */
	struct nm_run_slice *slice;      /* takes the misses that it defers (slices.h), or NULL */
	struct nm_prefetch_queue *queue; /* to be issued after each reference that enters here, or NULL */
};

/* general.c: takes a line for coherence's sake, or that of an inclusive level, if it is there: 1. What was
 * written goes on, unless a writer takes it over. */
int nm_cache_invalidate(struct nm_cache *cache, uint64_t line, uint32_t by, enum nm_cause cause);

/* general.c: what was written to a line, if it is there, is written back; the line stays. */
void nm_cache_clean(struct nm_cache *cache, uint64_t line);

struct nm_level_context;

/* The cache is connected already (build.c), and otherwise zero. 0 or NM_ENOMEM. */
int nm_cache_init(struct nm_cache *cache, const struct nm_level_spec *spec,
		  const struct nm_level_context *context);
void nm_cache_done(struct nm_cache *cache);

/* validate.c: whether what must hold between batches does. Slow. */
int nm_cache_is_valid(const struct nm_cache *cache);

/* Credits the residency at a slot to the nearest further level that has the line too. */
void nm_cache_credit_residency(struct nm_cache *cache, uint32_t slot);

/* Adds a residency of the level above to that of the line at `slot`, which is the same or holds it; kinds: 1
 * for its reads, 2 for its writes, or both. */
void nm_cache_add_residency(struct nm_cache *cache, uint32_t slot, const struct nm_cache *upper,
			    uint32_t from, unsigned kinds);

static inline uint64_t nm_cache_set(const struct nm_cache *c, uint64_t line)
{
	return __builtin_expect(c->set_mask != NM_MODULO, 1) ? line & c->set_mask : line % c->spec.sets;
}

/* Lays the tags and timestamps of a chunk: all its ways are free. */
void nm_cache_lay_out_chunk(const struct nm_cache *cache, uint64_t chunk);

/* The same of all chunks that are not laid yet. */
void nm_cache_lay_out(const struct nm_cache *cache);

/* The set of a line, for whoever reads its tags. */
static inline uint64_t nm_cache_laid_set(const struct nm_cache *c, uint64_t line)
{
	const uint64_t set = nm_cache_set(c, line);

	if (__builtin_expect(!c->laid[set >> NM_CHUNK_BITS], 0))
		nm_cache_lay_out_chunk(c, set >> NM_CHUNK_BITS);
	return set;
}

/* The first slot from `slot` on that holds a line, or NM_NO_SLOT. */
uint32_t nm_cache_next_resident(const struct nm_cache *cache, uint64_t slot);

static inline uint64_t nm_lower_line(const struct nm_cache *upper, const struct nm_cache *lower,
				     uint64_t line)
{
	return line >> (lower->line_shift - upper->line_shift);
}

static inline uint64_t *nm_cache_mask(const struct nm_cache *c, uint32_t slot)
{
	return c->masks ? c->masks + (size_t)slot * c->words : &c->residencies[slot].mask;
}

/* Charges a residency, of which `used` bytes were used, to the attribution key that loaded it. */
static inline struct nm_residency_sums *nm_residency_charge(struct nm_counters *counters,
							    const struct nm_residency *residency,
							    uint64_t used)
{
	struct nm_residency_sums *to = &counters->residencies[residency->attr];
	const uint64_t served = residency->served;

	to->reuse += served;
	to->used_bytes += used;
	to->weighted_bytes += used * served;
	return to;
}

/* Bytes used, of a line of at most 64 bytes. */
static inline uint64_t nm_residency_used(const struct nm_residency *residency)
{
	return (unsigned)__builtin_popcountll(residency->mask);
}

/* The same for the residency at a slot, when the line leaves or at the end. */
static inline struct nm_residency_sums *nm_cache_charge(struct nm_cache *c, uint32_t slot)
{
	const uint64_t *mask = nm_cache_mask(c, slot);
	uint64_t used = 0;

	for (unsigned w = 0; w < c->words; w++)
		used += (unsigned)__builtin_popcountll(mask[w]);
	return nm_residency_charge(&c->counters, &c->residencies[slot], used);
}

/* Marks bytes [first, first + bytes) of a line. */
static inline void nm_cache_mark(struct nm_cache *c, uint32_t slot, unsigned first, unsigned bytes)
{
	uint64_t *mask = nm_cache_mask(c, slot);

	for (unsigned b = first; b < first + bytes;) {
		unsigned n = 64 - b % 64;
		if (n > first + bytes - b)
			n = first + bytes - b;
		mask[b / 64] |= (~0ull >> (64 - n)) << b % 64;
		b += n;
	}
}

/* monitor.c: the current reference touches these bytes of a line; reports an event at a level. */
void nm_event_sink_begin(struct nm_event_sink *sink, const struct nm_ref *ref, uint64_t address,
			 uint32_t bytes);
void nm_event_sink_emit(const struct nm_cache *cache, enum nm_event_kind kind, uint64_t line, uint32_t times,
			uint32_t victim);

/* Tells the sampler of the load of a line, for the reference at an address; of an eviction from a slot. */
static inline void nm_cache_sample_fill(struct nm_cache *c, uint64_t address, uint32_t attr, unsigned write)
{
	if (c->coverage) {
		if (c->first)
			nm_coverage_fill(c->coverage, address, attr, c->spec.side != NM_SIDE_INSTRUCTION);
		c->counters.covered[attr] += (uint64_t)c->coverage->covered;
	}
	if (c->sampler && !--c->sampler->due)
		nm_sampler_sample_fill(c->sampler, address, attr, write);
	if (c->upper_sampler && nm_sampler_is_latest(c->upper_sampler, address, c->line_shift))
		nm_sampler_further(c->upper_sampler, c->upper_sampler->latest, c);
}
static inline void nm_cache_sample_residency(struct nm_cache *c, uint32_t slot)
{
	const struct nm_sampler *s = c->sampler;

	if (s && (s->weight || nm_sampler_hash(c->tags[slot]) <= s->chosen))
		nm_sampler_residency(c, slot);
}

/* Whether the reference enters here, into a level that is kept coherent. */
static inline int nm_cache_asks_coherence(const struct nm_cache *c, const struct nm_ref *r)
{
	return c->coherent && c->coherent->entry[r->kind == NM_REF_FETCH];
}

/* Counts data references of a first level. */
static inline void nm_cache_count(struct nm_cache *c, uint64_t references, uint64_t writes)
{
	c->counters.writes += writes;
	c->counters.reads += references - writes;
}

/* Whether the level can take coalesced references, which only the fast loops know. */
static inline int nm_cache_takes_coalesced(const struct nm_cache *c)
{
	return c->predicted && c->first && !c->queue;
}

/* The index of a line in the table of predicted slots, by 32-bit products, which vectors compute at once. */
enum { NM_GUESS_BITS = 13, NM_GUESSES = 1 << NM_GUESS_BITS };
#define NM_GUESS_FACTOR 0x9e3779b9u
static inline size_t nm_cache_guess(uint64_t line)
{
	return (uint32_t)line * NM_GUESS_FACTOR >> (32 - NM_GUESS_BITS);
}

/* The slot of a line, or NM_NO_SLOT. */
uint32_t nm_cache_find(const struct nm_cache *cache, uint64_t line);

/* Sets with many ways each: a hash from line to slot. `tags` are the cache's. */
struct nm_way_index *nm_way_index_new(uint64_t sets, uint32_t ways);
void nm_way_index_free(struct nm_way_index *way_index);
/* The slot, or NM_NO_SLOT. */
uint32_t nm_way_index_find(const struct nm_way_index *way_index, const uint64_t *tags, uint64_t line);
/* Adds the line at a slot; removes a line. */
void nm_way_index_add(struct nm_way_index *way_index, const uint64_t *tags, uint32_t slot);
void nm_way_index_remove(struct nm_way_index *way_index, const uint64_t *tags, uint64_t line);

/* slices.c: takes the misses of a level that is simulated from empty; 0: they are settled and go to the next level.
 * Its last `missed` misses are of one reference. */
int nm_run_slice_take(struct nm_cache *cache);
void nm_run_slice_note_span(struct nm_cache *cache, uint64_t missed);

/* The loops that this processor can run, fastest first; NULL past the last. */
const struct nm_lookup *nm_lookup_supported(unsigned i);

/* prefetch_fill.c: loads the lines that prefetchers have named. */
void nm_prefetch_issue(struct nm_prefetch_queue *queue);

/* The cache of a level that serves a core: its own, or the shared one. */
const struct nm_cache *nm_hierarchy_unit(const struct nm_hierarchy *hierarchy, unsigned level, unsigned core);

/* For tests. */
const struct nm_cache *nm_hierarchy_level(const struct nm_hierarchy *hierarchy, unsigned level);

/* Before the first batch: makes the hierarchy use other loops than the fastest. */
void nm_hierarchy_use(struct nm_hierarchy *hierarchy, const struct nm_lookup *lookup);

extern const struct nm_lookup nm_lookup_plain, nm_lookup_general;
#if defined(__x86_64__)
extern const struct nm_lookup nm_lookup_avx2;
#endif

#endif
