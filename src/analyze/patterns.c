/* SPDX-License-Identifier: MIT
 *
 * patterns.c - see patterns.h.
 */
#include "patterns.h"

#include <string.h>

#include "map.h"

enum {
	GAP_MOST = 2040, /* batches, on average, in the long run */
	GAP_GROWTH = 4   /* until then, the part of all batches so far that a gap is */
};

static void begin(struct nm_patterns *p)
{
	p->taken = p->sampling ? 0 : SIZE_MAX;
	if (p->sampling)
		memset(p->access, 0xff, sizeof p->access);
}

void nm_patterns_init(struct nm_patterns *p)
{
	p->sampling = 1;
	p->until = NM_BURST;
	p->burst = 1;
	begin(p);
}

void nm_patterns_done(struct nm_patterns *p)
{
	nm_vec_free(&p->list);
	nm_vec_free(&p->of_attr);
}

/* Batches without sampling after so many. */
static uint64_t gap_after(uint64_t batches)
{
	uint64_t mean = batches / GAP_GROWTH < GAP_MOST ? batches / GAP_GROWTH : GAP_MOST;

	return mean / 2 + nm_mix64(batches) % (mean + 1);
}

void nm_patterns_next(struct nm_patterns *p)
{
	if (++p->batch == p->until) {
		uint64_t gap = p->sampling ? gap_after(p->batch) : 0;

		p->burst += !p->sampling;
		p->sampling = !gap;
		p->until = p->batch + (gap ? gap : NM_BURST);
	}
	begin(p);
}

static struct nm_result_strides *pattern_of(struct nm_patterns *p, uint32_t attr)
{
	if (nm_vec_reach(&p->of_attr, (size_t)attr + 1))
		return NULL;
	if (!p->of_attr.at[attr]) {
		if (nm_vec_push(&p->list, (struct nm_result_strides){.attr = attr}))
			return NULL;
		p->of_attr.at[attr] = (uint32_t)p->list.count;
	}
	return &p->list.at[p->of_attr.at[attr] - 1];
}

static void count(struct nm_result_strides *pattern, int64_t stride)
{
	struct nm_result_stride *s = pattern->strides, *least = s;

	pattern->sampled++;
	for (unsigned i = 0; i < NM_RESULT_STRIDES; i++) {
		if (s[i].bytes == stride && s[i].count) {
			s[i].count++;
			return;
		}
		if (s[i].count < least->count)
			least = &s[i];
	}
	if (least->count)
		least->count--;
	else
		*least = (struct nm_result_stride){stride, 1};
}

int nm_patterns_take(struct nm_patterns *p, const uint32_t *sites, const struct nm_ref *batch, size_t n)
{
	for (size_t i = p->taken; i < n; i++) {
		const struct nm_ref *r = &batch[i];
		struct nm_step *s;
		uint64_t key;

		if (p->access[i] == NM_NO_ACCESS)
			continue;
		key = ((uint64_t)sites[p->access[i]] << 1 | (r->kind == NM_REF_WRITE)) << 32 | r->attr;
		s = &p->steps[nm_mix64(key) >> (64 - NM_STEPS_BITS)];
		if (s->key == key && s->burst == p->burst) {
			struct nm_result_strides *pattern = pattern_of(p, r->attr);

			if (!pattern)
				return NM_ENOMEM;
			count(pattern, (int64_t)(r->address - s->address));
		}
		*s = (struct nm_step){key, r->address, p->burst};
	}
	p->taken = n;
	return 0;
}
