/* SPDX-License-Identifier: MIT
 *
 * coherence.h - keeps the private levels of a machine's cores coherent, and separates true from false
 * sharing.
 *
 * Each machine with a protocol has one struct nm_coherence. Its directory lists the blocks that more than
 * one core uses. Levels call nm_coherence_acquire before they serve a reference, and report loads, touches
 * and evictions; it invalidates lines with nm_cache_invalidate. Fast levels skip the call for lines that are
 * *cleared* (struct nm_coherent_level).
 *
 * Counting rules:
 *   - A load is a *coherence* miss if the core had lost its copy to an invalidation and this level has
 *     not held the line since.
 *   - It is *true sharing* if, before its copy leaves again, the core touches a byte that another core
 *     has written since the core's last load that was not false sharing (Dubois et al., ISCA 1993, byte
 *     by byte). Otherwise it is *false sharing* if another core wrote to the block since then, else
 *     *unneeded* (FULL and SCOPE only). `false_first` follows Torrellas, Lam and Hennessy, IEEE TC 1994:
 *     false if the missing reference touches no byte that another core wrote since the copy was loaded;
 *     `false_words` goes by words of 4 bytes. Neither false sharing nor false_words exceeds false_first.
 *   - Other cores see a write once the line leaves the core, or once the core's copy is no longer MODIFIED.
 *   - Invalidations and interventions are charged to a pair: the key that causes them and the key that
 *     loaded the copy. If a core invalidates its own copy (it synchronises, or reads stale data), the
 *     latter key is both.
 *   - The load after an eviction is not a coherence miss.
 */
#ifndef NM_COHERENCE_H
#define NM_COHERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "contention.h"
#include "directory.h"
#include "homes.h"
#include "latent.h"
#include "machine.h"
#include "map.h"
#include "monitor.h"
#include "traffic.h"

struct nm_cache;
struct nm_ref;
struct nm_coherence;

enum nm_copy_state {
	NM_COPY_NONE, /* lost to an invalidation */
	NM_COPY_SHARED,
	NM_COPY_FORWARD,
	NM_COPY_EXCLUSIVE,
	NM_COPY_OWNED,
	NM_COPY_MODIFIED
};

/* A coherence miss that is false sharing so far. */
struct nm_doubt {
	struct nm_doubt *next;
	struct nm_cache *cache; /* the level that missed */
	uint32_t attr;          /* key of the miss */
	uint32_t touch;         /* 1 + index of the touch that missed, or 0 */
};

struct nm_copy {
	struct nm_copy *next;          /* of the same block */
	struct nm_copy *after, **link; /* the next of the core's valid copies, and what points to this one */
	struct nm_directory_page *page;
	struct nm_latent_block *latent; /* NULL: the block is not watched (latent.h) */
	struct nm_doubt *doubts;
	uint64_t block; /* number */
	uint32_t attr;  /* key that loaded it */
	uint32_t touch; /* 1 + index of the touch that loaded it; 0: unknown */
	uint16_t core;
	uint8_t state;    /* enum nm_copy_state */
	uint8_t stale;    /* OPT: others wrote since it was loaded */
	uint8_t lost;     /* the core had it and lost it to an invalidation */
	uint8_t fresh;    /* its mask of fresh bytes is not empty */
	uint8_t is_true;  /* its misses since it was loaded are true sharing */
	uint8_t cleared;  /* some of its lines may be cleared */
	uint64_t masks[]; /* bytes, a bit each, `words` words a mask */
};
enum {
	NM_MASK_WRITTEN, /* by this core, not published yet */
	NM_MASK_FOREIGN, /* published by others since the copy was loaded */
	NM_MASK_BROUGHT, /* published by others before it was loaded, since the previous load */
	NM_MASK_FRESH,   /* a touch of these bytes makes its misses true sharing */
	NM_MASK_LOST /* from here on, one for each private level: the bytes that an invalidation removed */
};

/* The list of all copies of its block. */
static inline struct nm_copy *nm_copy_all(const struct nm_copy *copy)
{
	return copy->page->copies[copy->block % NM_PAGE_BLOCKS];
}

/* Whether touches of its block are counted (contention.h). */
static inline int nm_copy_is_contended(const struct nm_copy *copy)
{
	return (copy->page->contended & nm_directory_bit(copy->block)) != 0;
}

/* The coherence state of a private level; the level points to it. */
struct nm_coherent_level {
	struct nm_coherence *coherence;
	unsigned number; /* of the level, among the core's levels */
	int entry[2];    /* whether the program's data, and its fetches, enter here */
	/* Of fast levels where references enter, by slot: the line if the core may read [0] or write [1] it
	 * without nm_coherence_acquire, else NM_NO_LINE; a bit for each byte that it wrote so; whether the
	 * line is of a private page. */
	uint64_t (*cleared)[2]; /* with a last one that matches no line */
	uint64_t *written;
	uint8_t *is_private;
};

struct nm_private_levels {
	struct nm_cache *level[2 * NM_MAX_DEPTH]; /* of a core, L1 first */
	struct nm_coherent_level as[2 * NM_MAX_DEPTH];
	struct nm_copy *valid; /* list of its valid copies */
	struct nm_cache *data; /* the level where its data references enter */
};

struct nm_coherence {
	const struct nm_protocol *protocol;
	unsigned cores, level_count, words, block_shift;
	struct nm_private_levels *core; /* [cores] */
	struct nm_directory directory;
	struct nm_homes *homes; /* borrowed */
	struct nm_contention *contention;
	struct nm_latent *latent;
	struct nm_traffic traffic;
	struct nm_arena arena;
	struct nm_doubt *free_doubts;
	int has_private; /* pages may be private */
	int failed;      /* memory ran out */
	/* The current reference, between acquire and touch. */
	struct nm_copy *copy; /* else NULL */
	int in_private;       /* it is to a private page; `copy` is NULL */
	int write;
	struct nm_cache *entry;
	uint64_t address;
	uint32_t bytes, attr, touch;
	uint64_t departures; /* number of evicted copies */
};

/* For one machine of a hierarchy. The caller then adds the private levels of each core, L1 first. 0 or
 * NM_ENOMEM. */
int nm_coherence_new(struct nm_coherence **ret_coherence, const struct nm_protocol *protocol, unsigned cores,
		     unsigned block, struct nm_homes *homes);
void nm_coherence_add_level(struct nm_coherence *coherence, unsigned core, unsigned level,
			    struct nm_cache *cache);
/* Data references (side 0) or fetches (1) enter at this level, which has been added. 0 or NM_ENOMEM. */
int nm_coherence_set_entry(struct nm_cache *cache, unsigned side);
void nm_coherence_free(struct nm_coherence *coherence);

/* A core references bytes of one block in a level: its copy gets the right to that, also for a prefetch
 * (whose r->kind is a read). Other cores' copies may change. `bytes` 0: no byte is touched. */
void nm_coherence_acquire(struct nm_cache *cache, const struct nm_ref *r, uint64_t address, uint32_t bytes);

/* The level loaded or prefetched the line: 1 if it had lost the line to an invalidation. */
int nm_coherence_filled(struct nm_cache *cache, uint64_t line, uint32_t attr, int prefetched);

/* The reference that was acquired has been served, by the line at a slot of the cache where it entered, or
 * NM_NO_SLOT. */
void nm_coherence_touch(struct nm_cache *cache, uint32_t slot, int write);

/* A line left its slot, or NM_NO_SLOT, but was not invalidated. */
void nm_coherence_evicted(struct nm_cache *cache, uint64_t line, uint32_t slot);

/* Sets the state of the copy and adds it to the core's valid copies. */
void nm_coherence_list(struct nm_coherence *coherence, struct nm_copy *copy, enum nm_copy_state state);

/* Clears the line at a slot, or does so no longer, for what its core may do. */
void nm_coherence_clear(struct nm_cache *cache, uint32_t slot, int read, int write);

/* The lines of the copy are no longer cleared; the copy's mask gets the bytes that were written to them. */
void nm_coherence_unclear(struct nm_coherence *coherence, struct nm_copy *copy);

/* Between references: no line is cleared and no page private, and no page becomes private again; the level, which
 * becomes general, clears no lines again. The first before the second. */
void nm_coherence_uncover(struct nm_coherence *coherence);
void nm_coherence_clear_none(struct nm_cache *cache);

void nm_coherence_synchronise(struct nm_coherence *coherence, unsigned core);

/* The run is over: misses still in doubt are false sharing. */
void nm_coherence_finish(struct nm_coherence *coherence);

static inline int nm_coherence_failed(const struct nm_coherence *c)
{
	return c->failed || c->contention->failed || c->latent->failed || c->latent->touches->failed;
}

/* validate.c: the same of the directory, and whether the states of a block's copies go together. Slow. */
int nm_coherence_is_valid(const struct nm_coherence *coherence);

/* The next batch begins. */
static inline void nm_coherence_next_batch(struct nm_coherence *c)
{
	nm_contention_next(c->contention);
	nm_contention_next(c->latent->touches);
}

/* The state of a core's copy of the block around an address, for tests. */
enum nm_copy_state nm_coherence_state(const struct nm_coherence *coherence, unsigned core, uint64_t address);

static inline uint64_t *nm_copy_mask(const struct nm_coherence *c, const struct nm_copy *copy, unsigned mask)
{
	return (uint64_t *)copy->masks + mask * c->words;
}

/* doubts.c: _begin: the current reference loaded the copy; _add: one more doubt; _touch: doubts end as true
 * sharing if it touches a fresh byte; _end: doubts end as false sharing. */
void nm_doubts_begin(struct nm_coherence *coherence, struct nm_copy *copy, int lost);
void nm_doubts_add(struct nm_coherence *coherence, struct nm_cache *cache, struct nm_copy *copy,
		   uint32_t attr);
void nm_doubts_touch(struct nm_coherence *coherence, struct nm_copy *copy);
void nm_doubts_end(struct nm_coherence *coherence, struct nm_copy *copy);

/* Sets the bits of the current reference's bytes in a mask. */
void nm_coherence_mark(const struct nm_coherence *coherence, uint64_t *mask);

#endif
