/* SPDX-License-Identifier: MIT
 *
 * prefetched.c - see prefetched.h.
 *
 * What is kept of lines that left is looked through when it has become twice as much as can matter, so it costs a
 * few steps a load, and no more memory than a few words for each line of the level.
 */
#include "prefetched.h"

#include <stdlib.h>

#include "custom.h"

enum { SPARE = 64 };

int nm_prefetched_new(struct nm_prefetched **ret_prefetched, const struct nm_cache *c,
		      struct nm_prefetch_queue *queue)
{
	struct nm_prefetched *a = *ret_prefetched = calloc(1, sizeof *a);

	if (!a || !(a->waits = calloc(c->places, 1)) ||
	    nm_prefetch_init(&a->prefetch, &c->spec, c->line_shift))
		return NM_ENOMEM;
	a->prefetch.level = (struct nm_cache *)c;
	a->prefetch.queue = queue;
	return 0;
}

void nm_prefetched_free(struct nm_prefetched *a)
{
	if (!a)
		return;
	nm_prefetch_done(&a->prefetch);
	nm_map_done(&a->pushed);
	nm_map_done(&a->unused);
	free(a->waits);
	free(a);
}

static struct nm_prefetched *of(const struct nm_cache *c) { return c->custom->prefetched; }

static uint32_t age(const struct nm_prefetched *a, uint64_t left)
{
	return (uint32_t)a->entered - (uint32_t)(left >> 32);
}

static int may_pollute(const struct nm_cache *c, uint64_t line, uint64_t value)
{
	(void)value;
	return nm_recency_ghost(&c->recency, line)->stamp != 0;
}

static int may_be_late(const struct nm_cache *c, uint64_t line, uint64_t value)
{
	(void)line;
	return age(of(c), value) <= c->recency.capacity;
}

static int keep(const struct nm_cache *c, struct nm_map *map,
		int (*matters)(const struct nm_cache *c, uint64_t line, uint64_t value))
{
	struct nm_map kept = {0};
	uint64_t line, value;
	int status = 0;

	for (size_t i = 0; nm_map_next(map, &i, &line, &value) && !status;)
		if (matters(c, line, value))
			status = nm_map_put(&kept, line, value);
	if (status) {
		nm_map_done(&kept);
		return status;
	}
	nm_map_done(map);
	*map = kept;
	return 0;
}

static void sweep(struct nm_cache *c)
{
	struct nm_prefetched *a = of(c);
	const uint64_t most = 2 * c->recency.capacity + SPARE;

	if (a->pushed.count < most && a->unused.count < most && a->entered - a->swept < 1u << 31)
		return;
	if (keep(c, &a->pushed, may_pollute) || keep(c, &a->unused, may_be_late))
		c->failed = 1;
	a->swept = a->entered;
}

void nm_prefetched_load(struct nm_cache *c, uint64_t line, int class)
{
	struct nm_prefetched *a = of(c);
	uint64_t pusher = nm_map_get(&a->pushed, line, UINT64_MAX),
		 left = nm_map_get(&a->unused, line, UINT64_MAX);

	a->entered++;
	if (pusher != UINT64_MAX) {
		c->tally.extras[pusher].pollution += class == NM_MISS_CONFLICT;
		nm_map_remove(&a->pushed, line);
	}
	if (left != UINT64_MAX) {
		c->tally.extras[(uint32_t)left].late_evicted += age(a, left) <= c->recency.capacity;
		nm_map_remove(&a->unused, line);
	}
}

void nm_prefetched_bring(struct nm_cache *c, uint64_t line, uint32_t place, uint32_t cell)
{
	struct nm_prefetched *a = of(c);

	c->tally.extras[cell].prefetches++;
	a->waits[place] = 1;
	nm_map_remove(&a->pushed, line);
	nm_map_remove(&a->unused, line);
}

void nm_prefetched_use(struct nm_cache *c, uint32_t place)
{
	of(c)->waits[place] = 0;
	c->tally.extras[c->stays[place].cell].useful++;
	if (nm_recency_seen(&c->recency, c->tags[place]) == NM_ENOMEM)
		c->failed = 1;
}

void nm_prefetched_move(struct nm_cache *c, uint32_t from, uint32_t to)
{
	of(c)->waits[to] = of(c)->waits[from];
	of(c)->waits[from] = 0;
}

/* Whether it was used first by way of the level above. */
static int is_used(const struct nm_cache *c, uint32_t place) { return c->stays[place].served > 0; }

void nm_prefetched_end(struct nm_cache *c, uint32_t place)
{
	c->tally.extras[c->stays[place].cell].useful += of(c)->waits[place] && is_used(c, place);
	of(c)->waits[place] = 0;
}

void nm_prefetched_leave(struct nm_cache *c, uint32_t place, uint32_t evictor)
{
	struct nm_prefetched *p = of(c);
	const int unused = p->waits[place] && !is_used(c, place);
	int status = 0;

	nm_prefetched_end(c, place);
	if (c->spec.inclusion == NM_EXCLUSIVE) { /* it may have come back without a load */
		nm_map_remove(&p->unused, c->tags[place]);
		nm_map_remove(&p->pushed, c->tags[place]);
	}
	if (unused)
		status = nm_map_put(&p->unused, c->tags[place],
				    (uint64_t)(uint32_t)p->entered << 32 | c->stays[place].cell);
	if (evictor & NM_BY_PREFETCH && !status)
		status = nm_map_put(&p->pushed, c->tags[place], evictor & ~NM_BY_PREFETCH);
	if (status)
		c->failed = 1;
	sweep(c);
}
