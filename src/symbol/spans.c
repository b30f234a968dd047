/* SPDX-License-Identifier: MIT
 *
 * spans.c - flattens nested ranges by one sweep with a stack of the open ones.
 *
 * The top of the stack owns the addresses from `at` on. A range below the top may already have ended (ranges
 * that overlap without nesting): it is dropped when it becomes the top, without output.
 */
#include "spans.h"

#include <assert.h>
#include <stdlib.h>

static int by_nesting(const void *left, const void *right)
{
	const struct span *s = left, *b = right;
	if (s->low != b->low)
		return s->low < b->low ? -1 : 1;
	if (s->end != b->end)
		return s->end > b->end ? -1 : 1;
	return s->id < b->id ? -1 : s->id > b->id;
}

static int emit_span(struct spans *flat, uint64_t low, uint64_t end, uint32_t id)
{
	if (low >= end)
		return 0;
	struct span *last = flat->count ? &flat->at[flat->count - 1] : NULL;
	if (last && last->end == low && last->id == id) {
		last->end = end;
		return 0;
	}
	return nm_vec_push(flat, (struct span){low, end, id});
}

/* Closes the open ranges that end at or before `limit`, and returns where the next owner begins. */
static int close_until(struct spans *open, uint64_t limit, uint64_t *at, struct spans *flat)
{
	while (open->count && open->at[open->count - 1].end <= limit) {
		const struct span *top = &open->at[--open->count];
		if (emit_span(flat, *at, top->end, top->id))
			return NM_ENOMEM;
		if (top->end > *at)
			*at = top->end;
	}
	return 0;
}

static int sweep_spans(const struct spans *spans, struct spans *open, struct spans *flat)
{
	uint64_t at = 0;
	for (size_t i = 0; i < spans->count; i++) {
		struct span span = spans->at[i];
		if (span.low >= span.end)
			continue;
		if (close_until(open, span.low, &at, flat))
			return NM_ENOMEM;
		if (open->count && emit_span(flat, at, span.low, open->at[open->count - 1].id))
			return NM_ENOMEM;
		at = span.low;
		if (nm_vec_push(open, span))
			return NM_ENOMEM;
	}
	return close_until(open, UINT64_MAX, &at, flat);
}

int spans_flatten(struct spans *spans)
{
	struct spans open = {0}, flat = {0};
	if (spans->count)
		qsort(spans->at, spans->count, sizeof *spans->at, by_nesting);
	int failed = sweep_spans(spans, &open, &flat);
	nm_vec_free(&open);
	if (failed) {
		nm_vec_free(&flat);
		return NM_ENOMEM;
	}
	for (size_t i = 1; i < flat.count; i++)
		assert(flat.at[i - 1].end <= flat.at[i].low);
	nm_vec_free(spans);
	*spans = flat;
	return 0;
}

size_t spans_search(const struct spans *spans, uint64_t address)
{
	size_t low = 0, end = spans->count;
	while (low < end) {
		size_t middle = low + (end - low) / 2;
		if (spans->at[middle].end <= address)
			low = middle + 1;
		else
			end = middle;
	}
	return low;
}

const struct span *spans_find(const struct spans *spans, uint64_t address)
{
	size_t i = spans_search(spans, address);
	return i < spans->count && spans->at[i].low <= address ? &spans->at[i] : NULL;
}
