/* SPDX-License-Identifier: MIT */
#include "prefetch_coverage.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

enum {
	PAGE_SHIFT = 12,
	STREAM_NEAR = 4, /* lines */
	STREAM_FAR = 16,
	SURE = 2 /* equal steps before a load is covered */
};

int nm_coverage_init(struct nm_coverage *f, unsigned by, unsigned line_shift, unsigned tlb, unsigned cores)
{
	assert(cores);
	*f = (struct nm_coverage){.by = by, .shift = line_shift};
	for (unsigned i = 0; i < NM_COVERAGE_PAGES; i++)
		f->pages[i].page = UINT64_MAX;
	if (!tlb)
		return 0;
	f->tlb_sets = (tlb + NM_TLB_WAYS - 1) / NM_TLB_WAYS;
	f->tlb = f->tlbs = calloc((size_t)cores * f->tlb_sets, sizeof *f->tlbs);
	return f->tlbs ? 0 : NM_ENOMEM;
}

void nm_coverage_done(struct nm_coverage *f)
{
	nm_vec_free(&f->walks);
	free(f->tlbs);
}

void nm_coverage_set_core(struct nm_coverage *f, unsigned core)
{
	f->tlb = f->tlbs ? f->tlbs + (size_t)core * f->tlb_sets : NULL;
}

int nm_coverage_reserve(struct nm_coverage *f, size_t count)
{
	return f->walks.count < count ? nm_vec_reach(&f->walks, count) : 0;
}

/* Whether this load of a key repeats the step before it, at least for the third time. */
static int repeats_walk(struct nm_walk_state *w, uint64_t address)
{
	const int64_t near = (int64_t)(address - w->last[0]), far = (int64_t)(address - w->last[1]);
	int follows = 0;

	if (w->loads++ >= 2) {
		follows = w->votes && (near == w->step || far == w->step);
		if (follows) {
			w->votes++;
			w->followed++;
		} else if (w->votes) {
			w->votes--;
		} else {
			w->step = w->loads / 2 % 2 ? near : far;
			w->votes = 1;
			w->followed = 1;
		}
	}
	w->last[1] = w->last[0];
	w->last[0] = address;
	return follows && w->votes > SURE && w->step <= 1 << (PAGE_SHIFT - 1) &&
	       w->step >= -(1 << (PAGE_SHIFT - 1));
}

static struct nm_page_stream *stream_of(struct nm_coverage *f, uint64_t page)
{
	return &f->pages[nm_mix64(page) % NM_COVERAGE_PAGES];
}

/* Expects a stream that leaves its page in the next one. */
static void go_on(struct nm_coverage *f, const struct nm_page_stream *s, int lines)
{
	const int next = s->line + s->step, up = next >= lines;
	const uint64_t page = up ? s->page + 1 : s->page - 1;
	const struct nm_page_stream begun = {page, (int16_t)(up ? s->line - lines : s->line + lines), s->step,
					     s->run};

	if (next < 0 || up)
		*stream_of(f, page) = begun;
}

/* Whether a load at this line of a page continues a stream there. */
static int continues_stream(struct nm_coverage *f, uint64_t page, int line, int lines)
{
	struct nm_page_stream *s = stream_of(f, page);
	const int step = line - s->line, size = abs(step);
	int covered = 0;

	if (s->page != page || !step) {
		if (s->page != page)
			*s = (struct nm_page_stream){.page = page, .line = (int16_t)line};
		return 0;
	}
	if (size <= STREAM_FAR && (step == s->step || (size <= STREAM_NEAR && (step > 0) == (s->step > 0)))) {
		s->run += s->run < SURE;
		covered = (f->by & NM_PREFETCHER_STREAM) && s->run >= SURE;
	} else {
		s->run = 1;
	}
	if ((f->by & NM_PREFETCHER_PAIR) && (s->line ^ 1) == line)
		covered = 1;
	s->line = (int16_t)line;
	s->step = (int16_t)step;
	if (s->run >= SURE)
		go_on(f, s, lines);
	return covered;
}

/* Whether a page is not in the TLB, which has it then. */
static int walks_page(struct nm_coverage *f, uint64_t page)
{
	uint64_t *const pages = f->tlb[(uint32_t)page % f->tlb_sets].pages;
	unsigned way = 0;

	if (pages[0] == page + 1)
		return 0;
	while (way < NM_TLB_WAYS - 1 && pages[way] != page + 1)
		way++;
	const int missed = pages[way] != page + 1;
	memmove(pages + 1, pages, way * sizeof *pages);
	pages[0] = page + 1;
	return missed;
}

void nm_coverage_fill(struct nm_coverage *f, uint64_t address, uint32_t attr, int data)
{
	const int lines = 1 << (PAGE_SHIFT - f->shift);
	const int strided = repeats_walk(&f->walks.at[attr], address);
	const int line = (int)(address >> f->shift) & (lines - 1);
	const int streamed = continues_stream(f, address >> PAGE_SHIFT, line, lines);

	f->covered = streamed || (strided && (f->by & NM_PREFETCHER_STRIDE));
	if (data && f->tlb && walks_page(f, address >> PAGE_SHIFT) && !f->covered)
		f->walks.at[attr].page_walks++;
}
