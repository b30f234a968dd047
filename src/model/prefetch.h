/* SPDX-License-Identifier: MIT
 *
 * prefetch.h - prefetchers, which name lines to load before they are requested: a table with one row for
 * each.
 *
 * A prefetcher sees the demand requests of its level, line by line, after each was served, and names lines.
 * These are loaded when all levels are done with the reference. It sees neither its own prefetches nor those
 * of others. prefetch_tracker.h counts the fate of the lines.
 *
 * Like hardware prefetchers, which know physical addresses, it names only lines in the same 4K page as the
 * request, unless the level says cross=yes.
 */
#ifndef NM_PREFETCH_H
#define NM_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#include "machine.h"
#include "vector.h"

struct nm_cache;

/* A demand request, for a line or a part of it, after it was served. */
struct nm_demand {
	uint64_t address;     /* its first byte; of a fill for a level above, the first of its line */
	uint64_t instruction; /* the number of the instruction that it comes from */
	uint32_t attr;
	int missed; /* the line had to be loaded */
	int fresh;  /* it had been prefetched, and this is its first use */
};

/* Lines to be loaded after the reference, in the order in which they were named. */
struct nm_prefetch_request {
	struct nm_cache *level;
	uint64_t line;
	uint32_t attr; /* whose request made the prefetcher name it */
};

/* The queue of a whole hierarchy. */
struct nm_prefetch_queue {
	struct nm_vec(struct nm_prefetch_request) list;
	/* by attribution key; a key beyond the list is an instruction of its own */
	struct nm_vec(uint32_t) instructions;
	/* For the program's prefetches: references so far, and the cycles that memory takes. */
	uint64_t now;
	uint32_t memory_latency;
	int streams; /* the reference is a non-temporal store */
};

/* The state of a prefetcher for one level. */
struct nm_prefetch {
	const struct nm_prefetcher *by; /* NULL: the level has none */
	uint32_t degree, distance, entries;
	unsigned line_shift;
	int cross;
	void *table;    /* `entries` times entry_bytes, zero at first */
	uint64_t clock; /* requests seen */
	struct nm_cache *level;
	struct nm_prefetch_queue *queue;
};

struct nm_prefetcher {
	const char *name, *summary;
	/* Defaults; entries 0: it has no table. */
	uint32_t degree, distance, entries;
	size_t entry_bytes;
	void (*see)(struct nm_prefetch *p, const struct nm_demand *demand);
};

/* By enum nm_prefetch_kind; the first is NULL: none. */
extern const struct nm_prefetcher nm_prefetcher_next, nm_prefetcher_stride, nm_prefetcher_stream;
extern const struct nm_prefetcher *const nm_prefetchers[NM_PREFETCH_COUNT];

/* For a level whose line or sector has 1 << line_shift bytes. 0 or NM_ENOMEM. */
int nm_prefetch_init(struct nm_prefetch *p, const struct nm_level_spec *spec, unsigned line_shift);
void nm_prefetch_done(struct nm_prefetch *p);

static inline uint64_t nm_prefetch_instruction(const struct nm_prefetch *p, uint32_t attr)
{
	return attr < p->queue->instructions.count ? p->queue->instructions.at[attr] : attr;
}

/* Names a line to be loaded. 0: the number is too large, or the line is outside of the page. */
int nm_prefetch_name(struct nm_prefetch *p, const struct nm_demand *demand, uint64_t line);

#endif
