/* SPDX-License-Identifier: MIT
 *
 * cache.h - one level: a set-associative array, the fully associative cache that its misses are classed against,
 * and its figures.
 *
 * Every way of every set has a number, its *place* (set * ways + way), and a place in each of these arrays: what
 * a search reads (tags), what a victim is chosen by (stamps), and all that is known of the line's *stay*.  In a level
 * with sectors each sector of a way is a place, and what is said of lines here is meant of sectors (custom.h).
 */
#ifndef NM_CACHE_H
#define NM_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "hierarchy.h"
#include "monitor.h"
#include "recency.h"
#include "tally.h"
#include "witness.h"

enum { NM_WIDE_WAYS = 65 /* from so many ways on, a hash finds the way and a list the victim */ };

#define NM_NO_LINE UINT64_MAX         /* line numbers are below 2^61 */
#define NM_NO_VICTIM (UINT64_MAX - 1) /* tag of a way that pads a set */
#define NM_NO_PLACE UINT32_MAX
#define NM_NO_STAMP ((1ull << 57) - 1) /* of a way that pads a set: later than all touches */

/* What is known of a resident line. */
struct nm_stay {
	uint64_t writes, served; /* accesses: writes, all */
	uint64_t mask;           /* bytes touched, a bit each, where a line has at most 64 */
	uint32_t cell;           /* that loaded it */
	uint32_t below;          /* place where the next level had it then */
};
_Static_assert(sizeof(struct nm_stay) == 32, "two stays share a cache line");

/* A reference, or a fetch that stands for `times`, is served. */
static inline void nm_stay_serve(struct nm_stay *stay, unsigned write, unsigned times)
{
	stay->writes += write ? times : 0;
	stay->served += times;
}

struct nm_cache;
struct nm_cut;
struct nm_groups;
struct nm_prefetch_queue;

/* The loops over references, once per instruction set. */
struct nm_lookup {
	/* Takes reads and writes, and counts them; groups of them where nm_cache_takes_groups. */
	void (*plain)(struct nm_cache *cache, const struct nm_ref *refs, uint32_t count);
	/* Takes one reference of any kind, but no group. */
	void (*any)(struct nm_cache *cache, const struct nm_ref *ref);
	/* Asks for a line, for the level above; where it is then. */
	uint32_t (*fill)(struct nm_cache *cache, uint64_t line, uint32_t cell, unsigned write);
};

/* Who is told of events, and the reference in hand: what all its events have in common. */
struct nm_teller {
	struct nm_monitor monitor;
	struct nm_event asked;
};

struct nm_cache {
	uint64_t *tags, *stamps; /* tags: one more, of no line */
	struct nm_stay *stays;
	uint64_t *masks;     /* words per place, where a line has more than 64 bytes; else NULL */
	uint32_t *place_of;  /* [NM_GUESSES + 1] by hash of a line: where it may be; last: nowhere; or NULL */
	struct nm_cut *cuts; /* [NM_CUTS] by hash of a group and where it begins in a line; or NULL */
	uint64_t set_mask;   /* sets - 1 if that is a power of two, else 0 */
	unsigned ways;       /* padded for vectors */
	unsigned line_shift,
	    words;                /* of what is loaded at once, a line or a sector; words of 64 bytes in it */
	struct nm_cache *next;    /* level that takes its fills, or NULL */
	struct nm_wide *wide;     /* where ways >= NM_WIDE_WAYS, or a plug-in puts lines anywhere */
	struct nm_custom *custom; /* custom.h; NULL: all is as usual */
	uint64_t places;
	struct nm_recency recency;
	struct nm_tally tally;
	const struct nm_lookup *lookup;
	const struct nm_groups *groups; /* that references may be to, or NULL */
	struct nm_level_spec spec;
	int lean;   /* LRU of fewer than NM_WIDE_WAYS, a power of two of sets, lines of at most 64 bytes */
	int first;  /* takes the program's references only, no fills */
	int flat;   /* what is known of a line goes to the next level as it is */
	int told;   /* the next level sees just the lines loaded here: what is cold there is cold here */
	int cold;   /* the latest fill was of a line never seen before */
	int failed; /* memory ran out: 1; a plug-in named no place: NM_EPLUGIN */
	struct nm_teller *teller;   /* of a hierarchy that is watched, else NULL */
	uint8_t level;              /* index in the machine, for the teller */
	uint8_t core;               /* 1 + whose it is; 0: there is one for all */
	struct nm_witness *witness; /* is told of some loads, or NULL */
	struct nm_witness *further; /* that of the first level, which is told what is loaded here, or NULL */
	const struct nm_ref *expected;   /* the next batch, or NULL (nm_hierarchy_expect) */
	struct nm_prefetch_queue *queue; /* to be issued after each reference that enters here, or NULL */
};

struct nm_standing;

/* Of a level that is wired already and 0 otherwise.  0 or NM_ENOMEM. */
int nm_cache_init(struct nm_cache *cache, const struct nm_level_spec *spec,
		  const struct nm_standing *standing);
void nm_cache_done(struct nm_cache *cache);

/* Hands the stay at a place to the nearest further level that has the line too. */
void nm_cache_settle(struct nm_cache *cache, uint32_t place);

/* Adds what is known of a stay above to that of the same line, or of the longer one that holds it, at `place`;
 * bits of `kinds` choose the accesses: 1 reads, 2 writes. */
void nm_cache_add_stay(struct nm_cache *cache, uint32_t place, const struct nm_cache *upper, uint32_t from,
		       unsigned kinds);

static inline uint64_t nm_cache_set(const struct nm_cache *c, uint64_t line)
{
	return c->set_mask || c->spec.sets == 1 ? line & c->set_mask : line % c->spec.sets;
}

static inline uint64_t nm_lower_line(const struct nm_cache *upper, const struct nm_cache *lower,
				     uint64_t line)
{
	return line >> (lower->line_shift - upper->line_shift);
}

static inline uint64_t *nm_cache_mask(const struct nm_cache *c, uint32_t place)
{
	return c->masks ? c->masks + (size_t)place * c->words : &c->stays[place].mask;
}

/* Charges what a stay was worth, of which so many bytes were used, to the cell that loaded it. */
static inline struct nm_stays *nm_stay_charge(struct nm_tally *tally, const struct nm_stay *stay,
					      uint64_t used)
{
	struct nm_stays *to = &tally->stays[stay->cell];
	const uint64_t served = stay->served;

	to->reuse += served;
	to->used_bytes += used;
	to->weighted_bytes += used * served;
	return to;
}

/* Of a line of at most 64 bytes. */
static inline uint64_t nm_stay_used(const struct nm_stay *stay)
{
	return (unsigned)__builtin_popcountll(stay->mask);
}

/* The same for the stay at a place, when the line leaves or at the end. */
static inline struct nm_stays *nm_cache_charge(struct nm_cache *c, uint32_t place)
{
	const uint64_t *mask = nm_cache_mask(c, place);
	uint64_t used = 0;

	for (unsigned w = 0; w < c->words; w++)
		used += (unsigned)__builtin_popcountll(mask[w]);
	return nm_stay_charge(&c->tally, &c->stays[place], used);
}

/* Marks bytes [first, first + bytes) of a line. */
static inline void nm_cache_mark(struct nm_cache *c, uint32_t place, unsigned first, unsigned bytes)
{
	uint64_t *mask = nm_cache_mask(c, place);

	for (unsigned b = first; b < first + bytes;) {
		unsigned n = 64 - b % 64;
		if (n > first + bytes - b)
			n = first + bytes - b;
		mask[b / 64] |= (~0ull >> (64 - n)) << b % 64;
		b += n;
	}
}

/* monitor.c: the reference in hand touches these bytes of a line; tells of an event at a level. */
void nm_teller_ask(struct nm_teller *teller, const struct nm_ref *ref, uint64_t address, uint32_t bytes);
void nm_teller_tell(const struct nm_cache *cache, enum nm_event_kind kind, uint64_t line, uint32_t times,
		    uint32_t victim);

/* A line is loaded for the reference at an address; the line at a place leaves. */
static inline void nm_cache_witness_load(struct nm_cache *c, uint64_t address, uint32_t cell, unsigned write)
{
	if (c->witness && !--c->witness->due)
		nm_witness_load(c->witness, address, cell, write);
	if (c->further && c->further->due == c->further->gap)
		nm_witness_further(c->further, address, c);
}
static inline void nm_cache_witness_stay(struct nm_cache *c, uint32_t place)
{
	const struct nm_witness *w = c->witness;

	if (w && (w->weight || nm_witness_hash(c->tags[place]) <= w->chosen))
		nm_witness_stay(c, place);
}

/* Data are referenced. */
static inline void nm_cache_count(struct nm_cache *c, uint64_t references, uint64_t writes)
{
	c->tally.writes += writes;
	c->tally.reads += references - writes;
}

/* Whether the fast loops do for it: they alone know groups. */
static inline int nm_cache_takes_groups(const struct nm_cache *c)
{
	return c->place_of && c->first && !c->queue;
}

/* A slot of the table of guesses.  Words do, of which vectors multiply many at once. */
enum { NM_GUESS_BITS = 13, NM_GUESSES = 1 << NM_GUESS_BITS };
#define NM_GUESS_FACTOR 0x9e3779b9u
static inline size_t nm_cache_guess(uint64_t line)
{
	return (uint32_t)line * NM_GUESS_FACTOR >> (32 - NM_GUESS_BITS);
}

/* A slot of the table of cuts. */
enum { NM_CUT_BITS = 8, NM_CUTS = 1 << NM_CUT_BITS };
static inline size_t nm_cache_cut(uint32_t group, uint64_t offset)
{
	return ((uint64_t)group << 6 | offset) * 0x9e3779b97f4a7c15ull >> (64 - NM_CUT_BITS);
}

/* The place of a line, or NM_NO_PLACE. */
uint32_t nm_cache_find(const struct nm_cache *cache, uint64_t line);

/* Sets with many ways each: hash from line to place, list by recency per set.  `tags` are the cache's. */
struct nm_wide *nm_wide_new(uint64_t sets, uint32_t ways);
void nm_wide_free(struct nm_wide *wide);
/* The place, or NM_NO_PLACE. */
uint32_t nm_wide_find(const struct nm_wide *wide, const uint64_t *tags, uint64_t line);
void nm_wide_touch(struct nm_wide *wide, uint32_t place);
/* A free place or that of the oldest, which is now indexed as `line` and the newest; the caller then sets its
 * tag. */
uint32_t nm_wide_replace(struct nm_wide *wide, const uint64_t *tags, uint64_t set, uint64_t line);
/* The index alone, for levels with another order: the line at a place is there; a line is not there any more. */
void nm_wide_put(struct nm_wide *wide, const uint64_t *tags, uint32_t place);
void nm_wide_take(struct nm_wide *wide, const uint64_t *tags, uint64_t line);

/* The loops that this processor can run, fastest first; NULL past the last. */
const struct nm_lookup *nm_lookup_supported(unsigned i);

/* prefetchers.c: loads the lines that were named. */
void nm_prefetch_issue(struct nm_prefetch_queue *queue);

/* For tests. */
const struct nm_cache *nm_hierarchy_level(const struct nm_hierarchy *hierarchy, unsigned level);

/* Has the hierarchy, before its first batch, use other loops than the fastest. */
void nm_hierarchy_use(struct nm_hierarchy *hierarchy, const struct nm_lookup *lookup);

extern const struct nm_lookup nm_lookup_plain, nm_lookup_custom, nm_lookup_watched;
#if defined(__x86_64__)
extern const struct nm_lookup nm_lookup_avx2, nm_lookup_avx512;
#endif

#endif
