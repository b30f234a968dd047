/* SPDX-License-Identifier: MIT
 *
 * simulate.c - the library's caches: a hierarchy of the model, a batch of references to feed it, and the
 * references of each tag.
 *
 * The model does not count the references of first levels (hierarchy.h); they are counted here. Counts are
 * copied from the model on demand and kept until more references come.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy.h"
#include "library_priv.h"
#include "monitor.h"

_Static_assert((int)NEARMISS_READ == NM_REF_READ && (int)NEARMISS_WRITE == NM_REF_WRITE,
	       "kinds of the library are the model's");

_Static_assert((int)NEARMISS_HIT == NM_EVENT_HIT && (int)NEARMISS_MISS == NM_EVENT_MISS &&
		   (int)NEARMISS_LOAD == NM_EVENT_LOAD && (int)NEARMISS_REPLACE == NM_EVENT_REPLACE &&
		   (int)NEARMISS_INVALIDATE == NM_EVENT_INVALIDATE &&
		   (int)NEARMISS_PREFETCH == NM_EVENT_PREFETCH,
	       "events of the library are the model's");

enum { KINDS = 3 };

struct references {
	uint64_t of[KINDS];
};

struct nearmiss_hierarchy {
	struct nm_hierarchy *model;
	unsigned levels;
	unsigned char first[NM_MAX_LEVELS][KINDS]; /* whether references of a kind enter at a level */
	struct nm_ref batch[NM_BATCH];
	size_t waiting;
	struct references *references; /* by tag */
	uint32_t tags, room;
	int broken; /* a code */
	int finished;
	struct nm_counts *counts[NM_MAX_LEVELS]; /* by tag, or NULL */
	struct nm_extras *extras[NM_MAX_LEVELS]; /* the same, or NULL for a level without */
	size_t counted[NM_MAX_LEVELS];
	struct nearmiss_eviction *evictions;
	nearmiss_event_function *watcher; /* or NULL */
	void *watching;
};

/* Finds the levels where references enter. */
static void find_first(struct nearmiss_hierarchy *h, const struct nm_machine *m)
{
	for (unsigned i = 0; i < m->count; i++) {
		const int data = m->levels[i].side != NM_SIDE_INSTRUCTION;
		const int fetches = m->levels[i].side != NM_SIDE_DATA;

		if ((data && !nm_machine_first(m, i, NM_SIDE_DATA)) ||
		    (fetches && !nm_machine_first(m, i, NM_SIDE_INSTRUCTION)))
			continue;
		h->first[i][NEARMISS_READ] = h->first[i][NEARMISS_WRITE] = (unsigned char)data;
		h->first[i][NEARMISS_FETCH] = (unsigned char)fetches;
	}
}

int nearmiss_hierarchy_new(const struct nearmiss_machine *machine, struct nearmiss_hierarchy **ret_hierarchy,
			   struct nearmiss_error *err)
{
	struct nearmiss_hierarchy *h = calloc(1, sizeof *h);
	struct nm_error fault;
	int status = h ? 0 : nm_fail(&fault, NM_ENOMEM, "out of memory for the cache model");

	if (!status)
		status = nm_hierarchy_new(&h->model, &machine->machine, &fault);
	if (status) {
		free(h);
		return nm_library_fail(err, &fault, status);
	}
	h->levels = machine->machine.count;
	find_first(h, &machine->machine);
	*ret_hierarchy = h;
	return 0;
}

static void forget_counts(struct nearmiss_hierarchy *h)
{
	for (unsigned i = 0; i < h->levels; i++) {
		free(h->counts[i]);
		free(h->extras[i]);
		h->counts[i] = NULL;
		h->extras[i] = NULL;
	}
}

void nearmiss_hierarchy_free(struct nearmiss_hierarchy *h)
{
	if (!h)
		return;
	forget_counts(h);
	nm_hierarchy_free(h->model);
	free(h->references);
	free(h->evictions);
	free(h);
}

static int flush_references(struct nearmiss_hierarchy *h)
{
	if (h->waiting && !h->broken) {
		forget_counts(h);
		h->broken = nm_hierarchy_run(h->model, h->batch, h->waiting);
		h->waiting = 0;
	}
	return h->broken;
}

static int reach_tag(struct nearmiss_hierarchy *h, uint32_t tag)
{
	if (tag >= h->room) {
		uint32_t room = tag < 32 ? 64 : 2 * (tag + 1);
		struct references *grown = realloc(h->references, room * sizeof *grown);

		if (!grown)
			return NEARMISS_ENOMEM;
		memset(grown + h->room, 0, (room - h->room) * sizeof *grown);
		h->references = grown;
		h->room = room;
	}
	h->tags = tag + 1;
	return 0;
}

int nearmiss_feed(struct nearmiss_hierarchy *h, uint64_t address, uint32_t size, enum nearmiss_kind kind,
		  uint32_t tag)
{
	if (!size || size > NEARMISS_SIZE_MAX || tag > NEARMISS_TAG_MAX || address > UINT64_MAX - size ||
	    (unsigned)kind >= KINDS || h->finished)
		return NEARMISS_EINVAL;
	if (h->broken)
		return h->broken;
	if (tag >= h->tags && (h->broken = reach_tag(h, tag)))
		return h->broken;
	h->references[tag].of[kind]++;
	h->batch[h->waiting++] =
	    (struct nm_ref){.address = address,
			    .attr = tag,
			    .size = (uint16_t)size,
			    .kind = kind == NEARMISS_FETCH ? NM_REF_FETCH : (uint8_t)kind,
			    .weight = 1};
	return h->waiting == NM_BATCH ? flush_references(h) : 0;
}

/* Passes an event of the model on. */
static void pass_event_on(void *self, const struct nm_event *e)
{
	const struct nearmiss_hierarchy *h = self;
	const struct nearmiss_event event = {.kind = (enum nearmiss_event_kind)e->kind,
					     .level = e->level,
					     .reference = e->reference,
					     .address = e->address,
					     .size = e->bytes,
					     .tag = e->attr,
					     .line = e->line,
					     .set = e->set,
					     .victim = e->victim};

	h->watcher(h->watching, &event);
}

int nearmiss_watch(struct nearmiss_hierarchy *h, nearmiss_event_function *function, void *self)
{
	if (h->tags || h->finished || !function)
		return NEARMISS_EINVAL;
	h->watcher = function;
	h->watching = self;
	nm_hierarchy_watch(h->model, &(struct nm_monitor){.event = pass_event_on, .self = h});
	return 0;
}

int nearmiss_finish(struct nearmiss_hierarchy *h)
{
	if (!h->finished && !flush_references(h)) {
		forget_counts(h);
		h->broken = nm_hierarchy_finish(h->model);
	}
	h->finished = 1;
	return h->broken;
}

/* In the order of enum nearmiss_figure. */
static const struct {
	const char *name;
	size_t at;
	int extra; /* in struct nm_extras */
} figures[NEARMISS_FIGURES] = {
#define FIGURE(name)                                       \
	{                                                  \
#name, offsetof(struct nm_counts, name), 0 \
	}
#define EXTRA(name)                                        \
	{                                                  \
#name, offsetof(struct nm_extras, name), 1 \
	}
    FIGURE(reads),        FIGURE(writes),      FIGURE(read_misses), FIGURE(write_misses), FIGURE(cold),
    FIGURE(capacity),     FIGURE(conflict),    FIGURE(loads),       FIGURE(reuse),        FIGURE(used_bytes),
    FIGURE(loaded_bytes), FIGURE(evictions),   FIGURE(writebacks),  EXTRA(sector_misses), EXTRA(prefetches),
    EXTRA(useful),        EXTRA(late_evicted), EXTRA(pollution),
#undef FIGURE
#undef EXTRA
};

const char *nearmiss_figure_name(enum nearmiss_figure figure)
{
	return (unsigned)figure < NEARMISS_FIGURES ? figures[figure].name : NULL;
}

/* Updates the counts of a level. */
static int count_level(struct nearmiss_hierarchy *h, unsigned level)
{
	assert(level < NM_MAX_LEVELS);
	if (flush_references(h))
		return h->broken;
	if (h->counts[level])
		return 0;
	if (nm_hierarchy_extra_counts(h->model, level, &h->extras[level], &h->counted[level]))
		return NM_ENOMEM;
	return nm_hierarchy_counts(h->model, level, &h->counts[level], &h->counted[level]);
}

uint32_t nearmiss_tags(const struct nearmiss_hierarchy *h) { return h->tags; }

/* The caller's own references to a first level. */
static uint64_t own_figure(const struct nearmiss_hierarchy *h, unsigned level, uint32_t tag,
			   enum nearmiss_figure figure)
{
	const uint64_t *of = h->references[tag].of;
	const unsigned char *takes = h->first[level];

	assert(level < NM_MAX_LEVELS);
	if (figure == NEARMISS_WRITES)
		return takes[NEARMISS_WRITE] ? of[NEARMISS_WRITE] : 0;
	if (figure != NEARMISS_READS)
		return 0;
	return (takes[NEARMISS_READ] ? of[NEARMISS_READ] : 0) +
	       (takes[NEARMISS_FETCH] ? of[NEARMISS_FETCH] : 0);
}

uint64_t nearmiss_count(struct nearmiss_hierarchy *h, unsigned level, uint32_t tag,
			enum nearmiss_figure figure)
{
	uint64_t value;

	if (level >= h->levels || tag >= h->tags || (unsigned)figure >= NEARMISS_FIGURES ||
	    count_level(h, level) || tag >= h->counted[level])
		return 0;
	if (figures[figure].extra && !h->extras[level])
		return 0;
	memcpy(&value,
	       (figures[figure].extra ? (const char *)&h->extras[level][tag]
				      : (const char *)&h->counts[level][tag]) +
		   figures[figure].at,
	       sizeof value);
	return value + own_figure(h, level, tag, figure);
}

uint64_t nearmiss_total(struct nearmiss_hierarchy *h, unsigned level, enum nearmiss_figure figure)
{
	uint64_t sum = 0;

	for (uint32_t tag = 0; tag < h->tags; tag++)
		sum += nearmiss_count(h, level, tag, figure);
	return sum;
}

static int by_count(const void *left, const void *right)
{
	const struct nearmiss_eviction *e = left, *b = right;

	if (e->count != b->count)
		return e->count > b->count ? -1 : 1;
	if (e->evictor != b->evictor)
		return e->evictor < b->evictor ? -1 : 1;
	return (e->victim > b->victim) - (e->victim < b->victim);
}

/* Sorts evictions by prefetches beside the others of their pair. */
static int by_pair(const void *left, const void *right)
{
	const struct nm_eviction *e = left, *b = right;

	if (e->evictor != b->evictor)
		return e->evictor < b->evictor ? -1 : 1;
	return (e->victim > b->victim) - (e->victim < b->victim);
}

int nearmiss_evictions(struct nearmiss_hierarchy *h, unsigned level,
		       const struct nearmiss_eviction **ret_list, size_t *ret_count)
{
	struct nm_eviction *list;
	size_t n, kept = 0;

	if (level >= h->levels || !h->finished)
		return NEARMISS_EINVAL;
	if (h->broken)
		return h->broken;
	if (nm_hierarchy_evictions(h->model, level, &list, &n))
		return NEARMISS_ENOMEM;
	struct nearmiss_eviction *sorted = calloc(n + 1, sizeof *sorted);
	if (n)
		qsort(list, n, sizeof *list, by_pair);
	for (size_t i = 0; sorted && i < n; i++)
		if (kept && !by_pair(&list[i - 1], &list[i]))
			sorted[kept - 1].count += list[i].count;
		else
			sorted[kept++] =
			    (struct nearmiss_eviction){list[i].evictor, list[i].victim, list[i].count};
	free(list);
	if (!sorted)
		return NEARMISS_ENOMEM;
	qsort(sorted, kept, sizeof *sorted, by_count);
	free(h->evictions);
	*ret_list = h->evictions = sorted;
	*ret_count = kept;
	return 0;
}
