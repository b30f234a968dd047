/* SPDX-License-Identifier: MIT
 *
 * Chunks are merged by a heap of those that have a record left, the one with the oldest first; at equal times the
 * one that was taken first. What is damaged ends its chunk: programs write into this file. Chains are read before all
 * else: a thread that was interrupted may use one that another thread has met after its time.
 */
#include "heap_events.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "map.h"
#include "vector.h"

struct cursor {
	uint64_t time;
	uint32_t pid, number; /* number: of the chunk */
	const uint64_t *at, *end;
};

struct nm_heap_events {
	const struct nm_heap_log_header *header;
	size_t bytes;
	struct nm_vec(struct cursor) heap;
	struct nm_map chains; /* number -> index in: */
	struct nm_vec(const uint64_t *) records;
	struct nm_heap_event event; /* the next one, if has_event */
	int has_event;
};

int nm_heap_log_begin(int fd, uint64_t least, struct nm_error *err)
{
	const struct nm_heap_log_header header = {
	    .magic = NM_HEAP_MAGIC, .end = NM_HEAP_HEADER, .least = least};

	return ftruncate(fd, NM_HEAP_HEADER) || pwrite(fd, &header, sizeof header, 0) != sizeof header
		   ? nm_fail_errno(err, "cannot make a log of the heap")
		   : 0;
}

/* ---- chunks ------------------------------------------------------------------------------------- */

static unsigned kind_of(const uint64_t *at) { return (unsigned)(*at >> NM_HEAP_KIND); }

/* The words of a record; 0: there is none. */
static size_t words_of(const uint64_t *at, const uint64_t *end)
{
	size_t words;

	if (at == end)
		return 0;
	switch (kind_of(at)) {
	case NM_HEAP_ALLOCATION: words = 3; break;
	case NM_HEAP_RELEASE: words = 2; break;
	case NM_HEAP_CHAIN: words = 2 + (*at >> 32 & 0xff); break;
	default: return 0;
	}
	return words <= (size_t)(end - at) ? words : 0;
}

static int is_before(const struct cursor *c, const struct cursor *b)
{
	return c->time != b->time ? c->time < b->time : c->number < b->number;
}

/* Moves the first cursor down to where it belongs. */
static void sift_down_first(struct nm_heap_events *e)
{
	struct cursor *heap = e->heap.at;

	for (size_t i = 0;;) {
		size_t least = i;
		struct cursor c;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < e->heap.count; child++)
			if (is_before(&heap[child], &heap[least]))
				least = child;
		if (least == i)
			return;
		c = heap[i];
		heap[i] = heap[least];
		heap[least] = c;
		i = least;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct cursor *c = a, *y = b;

	return is_before(c, y) ? -1 : is_before(y, c);
}

static int keep_chains(struct nm_heap_events *e, const struct cursor *c)
{
	size_t words;

	for (const uint64_t *at = c->at; (words = words_of(at, c->end)); at += words)
		if (kind_of(at) == NM_HEAP_CHAIN &&
		    (nm_map_put(&e->chains, (uint32_t)*at, e->records.count) || nm_vec_push(&e->records, at)))
			return NM_ENOMEM;
	return 0;
}

/* A sorted array is a heap. */
static int add_chunks(struct nm_heap_events *e)
{
	const char *file = (const char *)e->header;
	uint32_t number = 0;

	for (uint64_t offset = NM_HEAP_HEADER; offset + NM_HEAP_CHUNK <= e->bytes; offset += NM_HEAP_CHUNK) {
		const struct nm_heap_log_chunk *chunk = (const void *)(file + offset);
		const struct cursor c = {.time = chunk->words[1],
					 .pid = (uint32_t)chunk->pid,
					 .number = number++,
					 .at = chunk->words,
					 .end =
					     (const uint64_t *)(const void *)(file + offset + NM_HEAP_CHUNK)};

		if (keep_chains(e, &c) || (words_of(c.at, c.end) && nm_vec_push(&e->heap, c)))
			return NM_ENOMEM;
	}
	if (e->heap.count)
		qsort(e->heap.at, e->heap.count, sizeof *e->heap.at, by_time);
	return 0;
}

int nm_heap_events_open(struct nm_heap_events **ret, int fd, struct nm_error *err)
{
	struct nm_heap_events *e = calloc(1, sizeof *e);
	struct stat file;
	void *at = MAP_FAILED;

	if (!e)
		return nm_fail_memory(err);
	if (!fstat(fd, &file) && (uint64_t)file.st_size >= NM_HEAP_HEADER)
		at = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		free(e);
		return nm_fail(err, NM_EFORMAT, "the log of the heap is no longer there");
	}
	e->header = at;
	e->bytes = (size_t)file.st_size;
	if (add_chunks(e)) {
		nm_heap_events_free(e);
		return nm_fail_memory(err);
	}
	*ret = e;
	return 0;
}

void nm_heap_events_free(struct nm_heap_events *e)
{
	if (!e)
		return;
	munmap((void *)(uintptr_t)e->header, e->bytes);
	nm_vec_free(&e->heap);
	nm_vec_free(&e->records);
	nm_map_done(&e->chains);
	free(e);
}

int nm_heap_events_is_cut(const struct nm_heap_events *e) { return e->header->failed != 0; }

/* ---- records ------------------------------------------------------------------------------------ */

/* Steps over the first record in time. */
static void step_over_first(struct nm_heap_events *e)
{
	struct cursor *c = &e->heap.at[0];

	c->at += words_of(c->at, c->end);
	if (!words_of(c->at, c->end))
		*c = e->heap.at[--e->heap.count];
	else
		c->time = c->at[1];
	sift_down_first(e);
}

static void describe_record(struct nm_heap_events *e, const struct cursor *c)
{
	struct nm_heap_event *event = &e->event;
	uint64_t known;

	*event = (struct nm_heap_event){.time = c->time,
					.pid = c->pid,
					.is_release = kind_of(c->at) == NM_HEAP_RELEASE,
					.address = *c->at & (((uint64_t)1 << NM_HEAP_KIND) - 1)};
	if (event->is_release)
		return;
	event->bytes = c->at[2] >> NM_HEAP_BYTES;
	event->chain = (uint32_t)(c->at[2] & ((1u << NM_HEAP_BYTES) - 1));
	known = nm_map_get(&e->chains, event->chain, e->records.count);
	if (known < e->records.count) {
		event->pcs = e->records.at[known] + 2;
		event->count = (uint32_t)(*e->records.at[known] >> 32 & 0xff);
	}
}

const struct nm_heap_event *nm_heap_events_peek(struct nm_heap_events *e)
{
	while (!e->has_event && e->heap.count) {
		const struct cursor *c = &e->heap.at[0];

		if (kind_of(c->at) == NM_HEAP_CHAIN) {
			step_over_first(e);
		} else {
			describe_record(e, c);
			e->has_event = 1;
		}
	}
	return e->has_event ? &e->event : NULL;
}

void nm_heap_events_take(struct nm_heap_events *e)
{
	e->has_event = 0;
	step_over_first(e);
}
