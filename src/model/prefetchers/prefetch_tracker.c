/* SPDX-License-Identifier: MIT
 *
 * Records of lines that left are purged when there are twice as many as can matter. So a load costs a few
 * steps, and the memory is a few words for each line of the level.
 */
#include "prefetch_tracker.h"

#include <assert.h>
#include <stdlib.h>

#include "general.h"

enum { SPARE = 64 };

int nm_prefetch_tracker_new(struct nm_prefetch_tracker **ret_prefetched, const struct nm_cache *c,
			    struct nm_prefetch_queue *queue)
{
	struct nm_prefetch_tracker *a = *ret_prefetched = calloc(1, sizeof *a);

	if (!a || !(a->waits = calloc(c->slots, 1)) || !(a->due = calloc(c->slots, sizeof *a->due)) ||
	    nm_prefetch_init(&a->prefetch, &c->spec, c->line_shift))
		return NM_ENOMEM;
	a->prefetch.level = (struct nm_cache *)c;
	a->prefetch.queue = queue;
	return 0;
}

void nm_prefetch_tracker_free(struct nm_prefetch_tracker *t)
{
	if (!t)
		return;
	nm_prefetch_done(&t->prefetch);
	nm_map_done(&t->evicted);
	nm_map_done(&t->unused);
	free(t->waits);
	free(t->due);
	free(t);
}

static struct nm_prefetch_tracker *tracker_of(const struct nm_cache *c) { return c->general->prefetched; }

static uint32_t age_of(const struct nm_prefetch_tracker *t, uint64_t left)
{
	return (uint32_t)t->entered - (uint32_t)(left >> 32);
}

static int may_pollute(const struct nm_cache *c, uint64_t line, uint64_t value)
{
	(void)value;
	return nm_shadow_left(&c->shadow, line) != NULL;
}

static int may_be_late(const struct nm_cache *c, uint64_t line, uint64_t value)
{
	(void)line;
	return age_of(tracker_of(c), value) <= c->shadow.capacity;
}

static int keep_matching(const struct nm_cache *c, struct nm_map *map,
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

static void sweep_old(struct nm_cache *c)
{
	struct nm_prefetch_tracker *t = tracker_of(c);
	const uint64_t most = 2 * c->shadow.capacity + SPARE;

	if (t->evicted.count < most && t->unused.count < most && t->entered - t->swept < 1u << 31)
		return;
	if (keep_matching(c, &t->evicted, may_pollute) || keep_matching(c, &t->unused, may_be_late))
		c->failed = 1;
	t->swept = t->entered;
}

void nm_prefetch_tracker_demand_fill(struct nm_cache *c, uint64_t line, int class)
{
	struct nm_prefetch_tracker *t = tracker_of(c);
	uint64_t evictor = nm_map_get(&t->evicted, line, UINT64_MAX),
		 left = nm_map_get(&t->unused, line, UINT64_MAX);

	t->entered++;
	if (evictor != UINT64_MAX) {
		c->counters.extras[evictor].pollution += class == NM_MISS_CONFLICT;
		nm_map_remove(&t->evicted, line);
	}
	if (left != UINT64_MAX) {
		c->counters.extras[(uint32_t)left].late_evicted += age_of(t, left) <= c->shadow.capacity;
		nm_map_remove(&t->unused, line);
	}
}

void nm_prefetch_tracker_prefetched(struct nm_cache *c, uint64_t line, uint32_t slot, uint32_t attr)
{
	struct nm_prefetch_tracker *t = tracker_of(c);

	c->counters.extras[attr].prefetches++;
	t->waits[slot] = 1;
	t->due[slot] = 0;
	nm_map_remove(&t->evicted, line);
	nm_map_remove(&t->unused, line);
}

void nm_prefetch_tracker_delay(struct nm_cache *c, uint32_t slot, uint32_t references)
{
	struct nm_prefetch_tracker *t = tracker_of(c);

	t->due[slot] = t->prefetch.queue->now + references;
}

void nm_prefetch_tracker_use(struct nm_cache *c, uint32_t slot)
{
	struct nm_prefetch_tracker *t = tracker_of(c);
	struct nm_extras *extras = &c->counters.extras[c->residencies[slot].attr];

	assert(slot < c->slots);
	t->waits[slot] = 0;
	extras->useful++;
	extras->late += t->prefetch.queue->now < t->due[slot];
	if (nm_shadow_seen(&c->shadow, c->tags[slot]) == NM_ENOMEM)
		c->failed = 1;
}

void nm_prefetch_tracker_move(struct nm_cache *c, uint32_t from, uint32_t to)
{
	struct nm_prefetch_tracker *t = tracker_of(c);

	t->waits[to] = t->waits[from];
	t->due[to] = t->due[from];
	t->waits[from] = 0;
}

/* Whether it was used through the level above. */
static int is_used(const struct nm_cache *c, uint32_t slot) { return c->residencies[slot].served > 0; }

void nm_prefetch_tracker_end(struct nm_cache *c, uint32_t slot)
{
	assert(slot < c->slots);
	c->counters.extras[c->residencies[slot].attr].useful +=
	    tracker_of(c)->waits[slot] && is_used(c, slot);
	tracker_of(c)->waits[slot] = 0;
}

void nm_prefetch_tracker_evicted(struct nm_cache *c, uint32_t slot, uint32_t evictor)
{
	struct nm_prefetch_tracker *p = tracker_of(c);
	const int unused = p->waits[slot] && !is_used(c, slot);
	int status = 0;

	assert(slot < c->slots);
	nm_prefetch_tracker_end(c, slot);
	if (c->spec.inclusion == NM_EXCLUSIVE) { /* it may have come back without a load */
		nm_map_remove(&p->unused, c->tags[slot]);
		nm_map_remove(&p->evicted, c->tags[slot]);
	}
	if (unused)
		status = nm_map_put(&p->unused, c->tags[slot],
				    (uint64_t)(uint32_t)p->entered << 32 | c->residencies[slot].attr);
	if (evictor & NM_BY_PREFETCH && !status)
		status = nm_map_put(&p->evicted, c->tags[slot], evictor & ~NM_BY_PREFETCH);
	if (status)
		c->failed = 1;
	sweep_old(c);
}
