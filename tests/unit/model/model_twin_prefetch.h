/* SPDX-License-Identifier: MIT
 *
 * model_twin_prefetch.h - the prefetchers of the twin (model_twin.h): each remembers what it saw and works
 * out anew from that, at every request, what it would do.
 */
#ifndef NM_MODEL_TWIN_PREFETCH_H
#define NM_MODEL_TWIN_PREFETCH_H

#include <stdint.h>
#include <stdlib.h>

#include "machine.h"

enum { TWIN_SLOTS = 64, TWIN_NAMED = 128, TWIN_STEPS = 1 << 15 };

/* What an entry of a table was shown since it was taken over: addresses, or lines of misses. */
struct twin_slot {
	uint32_t attr, count;
	uint64_t latest; /* time of the latest use of the slot; 0: free */
	int64_t *shown;
	int64_t begin, end; /* stream: what is followed, once its misses say so */
	int followed, up;
};

struct twin_prefetcher {
	struct nm_level_spec spec; /* with the usual figures filled in; line: what is loaded at once */
	struct twin_slot slots[TWIN_SLOTS];
	uint64_t clock;
	int64_t named[TWIN_NAMED]; /* lines, by the request in hand */
	unsigned named_count;
};

static inline void twin_prefetcher_start(struct twin_prefetcher *p, const struct nm_level_spec *spec)
{
	static const uint32_t usual[NM_PREFETCH_COUNT][3] = {[NM_PREFETCH_NEXT] = {1, 1},
							     [NM_PREFETCH_STRIDE] = {2, 1, 256},
							     [NM_PREFETCH_STREAM] = {2, 16, 32}};

	p->spec = *spec;
	p->spec.degree = spec->degree ? spec->degree : usual[spec->prefetch][0];
	p->spec.distance = spec->distance ? spec->distance : usual[spec->prefetch][1];
	p->spec.table = spec->table ? spec->table : usual[spec->prefetch][2];
}

static inline void twin_prefetcher_done(struct twin_prefetcher *p)
{
	for (unsigned i = 0; i < TWIN_SLOTS; i++)
		free(p->slots[i].shown);
}

static inline int twin_name(struct twin_prefetcher *p, uint64_t address, int64_t line)
{
	if (line < 0 || (!p->spec.cross_pages && (uint64_t)line * p->spec.line / 4096 != address / 4096))
		return 0;
	p->named[p->named_count++] = line;
	return 1;
}

static inline void twin_show(struct twin_slot *s, int64_t value)
{
	if (!s->shown)
		s->shown = calloc(TWIN_STEPS, sizeof *s->shown);
	s->shown[s->count++] = value;
}

/* The table of the twin has a slot for each attribution key of a test; an entry is what the slots share that
 * fall together. */
static inline void twin_stride(struct twin_prefetcher *p, uint64_t address, uint32_t attr)
{
	struct twin_slot *s = &p->slots[attr % p->spec.table];
	int64_t stride = 0, step;
	int confidence = 0;

	if (!s->latest || s->attr != attr)
		s->count = 0;
	s->attr = attr;
	s->latest = 1;
	twin_show(s, (int64_t)address);
	for (uint32_t i = 1; i < s->count; i++) {
		step = s->shown[i] - s->shown[i - 1];
		if (step == 0)
			continue;
		if (step == stride && confidence < 3)
			confidence++;
		else if (step != stride && confidence > 0)
			confidence--;
		if (confidence == 0)
			stride = step;
	}
	if (confidence < 2 || s->shown[s->count - 1] == s->shown[s->count - 2])
		return;
	if (llabs(stride) < p->spec.line)
		stride = stride < 0 ? -(int64_t)p->spec.line : (int64_t)p->spec.line;
	for (unsigned i = 0; i < p->spec.degree; i++) {
		int64_t to = (int64_t)address + stride * (int64_t)(p->spec.distance + i);
		if (to >= 0)
			twin_name(p, address, to / p->spec.line);
	}
}

static inline void twin_extend(struct twin_prefetcher *p, struct twin_slot *s, uint64_t address)
{
	for (unsigned i = 0; i < p->spec.degree; i++) {
		int64_t line = s->up ? s->end + 1 : s->end - 1;
		if (llabs(line - s->begin) > p->spec.distance || !twin_name(p, address, line))
			return;
		s->end = line;
	}
}

/* Two steps the same way, one after the other. */
static inline int twin_directed(struct twin_slot *s)
{
	const int64_t *last = s->shown + s->count - 1;

	if (s->count < 3)
		return 0;
	s->up = last[0] > last[-1];
	return s->up == (last[-1] > last[-2]);
}

static inline void twin_stream(struct twin_prefetcher *p, uint64_t address, int missed)
{
	const int64_t line = (int64_t)(address / p->spec.line);
	struct twin_slot *s, *end = p->slots + p->spec.table, *oldest = p->slots;

	p->clock++;
	for (s = p->slots; s < end; s++)
		if (s->followed &&
		    (s->up ? line >= s->begin && line <= s->end : line <= s->begin && line >= s->end)) {
			s->begin = line;
			s->latest = p->clock;
			twin_extend(p, s, address);
			return;
		}
	for (s = p->slots; s < end && missed; s++)
		if (s->latest && !s->followed && llabs(line - s->shown[s->count - 1]) <= 16) {
			s->latest = p->clock;
			if (line == s->shown[s->count - 1])
				return;
			twin_show(s, line);
			s->begin = s->end = line;
			s->followed = twin_directed(s);
			if (s->followed)
				twin_extend(p, s, address);
			return;
		}
	for (s = p->slots; s < end; s++)
		if (s->latest < oldest->latest)
			oldest = s;
	if (!missed)
		return;
	oldest->count = 0;
	oldest->followed = 0;
	oldest->latest = p->clock;
	twin_show(oldest, line);
}

/* What a level names after a demand request. */
static inline void twin_see(struct twin_prefetcher *p, uint64_t address, uint32_t attr, int missed, int fresh)
{
	p->named_count = 0;
	if (p->spec.prefetch == NM_PREFETCH_STRIDE)
		twin_stride(p, address, attr);
	if (p->spec.prefetch == NM_PREFETCH_STREAM)
		twin_stream(p, address, missed);
	for (unsigned i = 0; i < p->spec.degree && p->spec.prefetch == NM_PREFETCH_NEXT && (missed || fresh);
	     i++)
		twin_name(p, address, (int64_t)(address / p->spec.line + p->spec.distance + i));
}

#endif
