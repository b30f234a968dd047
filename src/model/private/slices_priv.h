/* SPDX-License-Identifier: MIT
 *
 * slices_priv.h - a slice of a run (slices.c), and the state between two slices (slice_state.c).
 */
#ifndef NM_SLICES_PRIV_H
#define NM_SLICES_PRIV_H

#include "hierarchy_priv.h"
#include "map.h"
#include "slices.h"
#include "vector.h"

struct nm_run_slice_line {
	uint64_t line;
	struct nm_residency residency;
};

/* What a level holds between two slices. */
struct nm_run_slice_level {
	uint64_t sets, capacity; /* capacity: lines, as of the shadow cache */
	uint32_t ways;
	struct nm_run_slice_line *lines; /* [sets][ways], those of a set from the earliest last touch on */
	uint8_t *held;                   /* by set: how many */
	struct nm_vec(uint64_t) shadow;  /* the lines of the shadow cache, from the earliest last touch on */
	/* the lines seen: a bit for each of NM_RUN_SLICE_SEEN neighbours */
	struct nm_map seen;
};
enum { NM_RUN_SLICE_SEEN = 32 };

struct nm_run_slice_state {
	unsigned depth, count;
	struct nm_run_slice_level
	    levels[NM_MAX_LEVELS];    /* by unit of the hierarchy; of other depths, without sets */
	struct nm_coverage *coverage; /* of the first machine, with depth 0; or NULL */
};

static inline struct nm_run_slice_line *run_slice_set(const struct nm_run_slice_level *l, uint64_t line)
{
	return l->lines + line % l->sets * l->ways;
}

/* The line in its set, or NULL. */
struct nm_run_slice_line *run_slice_level_find(const struct nm_run_slice_level *level, uint64_t line);
void run_slice_level_remove(struct nm_run_slice_level *level, struct nm_run_slice_line *line);
/* Adds the line that was touched last; its set has room. */
void run_slice_level_add(struct nm_run_slice_level *level, uint64_t line,
			 const struct nm_residency *residency);

static inline void run_slice_credit(struct nm_residency *to, const struct nm_residency *from)
{
	to->writes += from->writes;
	to->served += from->served;
	to->mask |= from->mask;
}

/* A load of a line into an empty way, or a credit of a line that is in none, at a moment when ways of its set were
 * empty. */
struct nm_open {
	uint64_t miss; /* in the list */
	uint64_t left; /* in the list: the miss that evicts what the open one loads; or NM_STAYS */
};
#define NM_STAYS UINT64_MAX

/* A reference that missed several lines, the last ones before `end` of the list. */
struct nm_span {
	uint64_t end, missed;
};

struct nm_run_slice_unit {
	struct nm_cache *cache;
	unsigned depth;
	uint8_t *filled; /* by set: ways that the slice has filled */
	uint32_t *open;  /* by slot: 1 + the open load of what is there; 0: the load was no open one */
	struct nm_vec(
	    uint64_t) firsts; /* in the list: the first touches of lines, as many as the shadow cache holds */
	uint64_t *earlier;    /* by element of the table of lines seen: those seen before the slice */
};

/* Misses in order, in chunks. */
enum { NM_MISS_CHUNK_BITS = 12 };
struct nm_miss_list {
	struct nm_vec(struct nm_miss *) chunks;
	uint64_t count;
};

struct nm_run_slice {
	struct nm_hierarchy *hierarchy;
	unsigned depths,
	    depth; /* depth: that of the levels now simulated from empty, or whose misses are settled */
	struct nm_run_slice_unit units[NM_MAX_LEVELS + 1]; /* of the hierarchy; the last: none */
	struct nm_miss_list list;                          /* of the levels of this depth */
	struct nm_vec(struct nm_open) opens;
	struct nm_vec(struct nm_span) spans;
	size_t keys; /* of the whole run, as far as known */
	struct nm_run_slice_work work;
};

static inline struct nm_miss *miss_at(const struct nm_miss_list *list, uint64_t at)
{
	return &list->chunks.at[at >> NM_MISS_CHUNK_BITS][at & ((1u << NM_MISS_CHUNK_BITS) - 1)];
}

#endif
