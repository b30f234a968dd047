/* SPDX-License-Identifier: MIT
 *
 * pass_strides.c - strides: the distance in bytes between two successive addresses that one instruction
 * reads (or writes) in one object.
 *
 * Each attribution (a line of code and an object) has a few counters of strides. A stride without a counter
 * decrements the smallest one, and takes it over at 0. So a count is never too high, and exact if there are
 * no more strides than counters; a stride of more than half of the accesses always has a counter. Strides
 * are taken from bursts (bursts.h), and never from one burst to the next.
 *
 * A step of about half of the one before it, in either direction, is counted too: what a binary search does, and
 * few others do.
 *
 * The pass also counts the accesses that follow a pointer which the previous one loaded (NM_WIRE_CHASES),
 * since processors cannot overlap those, for nm_result_share_chases: those that a function makes in an object, of
 * each of its attributions there, since the line that goes on to the next node is often not the one that misses on it.
 *
 * Dropped: the last address and a majority vote in each inline-cache entry, which more than doubles what the
 * hot path reads and writes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bursts.h"
#include "map.h"
#include "pass.h"
#include "vector.h"

enum { STEPS_BITS = 12 /* instructions with attributions that a burst remembers, as a power of two */ };

/* Where an access was last. */
struct step {
	uint64_t key;             /* instruction, read or write, attribution */
	uint64_t address, length; /* length: of the step that led there; 0: none did */
	uint64_t burst;
};

struct strides {
	struct nm_vec(struct nm_result_chasing) chasing; /* by attribution */
	struct nm_vec(struct nm_result_strides) list;
	struct nm_vec(uint32_t) of_attr; /* index in list and 1, or 0 */
	struct step steps[1 << STEPS_BITS];
};

static int strides_make(void **ret_self, const struct nm_pass_setup *setup, struct nm_error *err)
{
	(void)setup;
	*ret_self = calloc(1, sizeof(struct strides));
	return *ret_self ? 0 : nm_fail_memory(err);
}

static struct nm_result_strides *strides_of(struct strides *s, uint32_t attr)
{
	if (nm_vec_reach(&s->of_attr, (size_t)attr + 1))
		return NULL;
	if (!s->of_attr.at[attr]) {
		if (nm_vec_push(&s->list, (struct nm_result_strides){.attr = attr}))
			return NULL;
		s->of_attr.at[attr] = (uint32_t)s->list.count;
	}
	return &s->list.at[s->of_attr.at[attr] - 1];
}

static void count_stride(struct nm_result_strides *pattern, int64_t stride)
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

/* Steps of a few elements are rounded too much to tell. */
static int is_half(uint64_t step, uint64_t of)
{
	enum { SHORTEST = 64 };

	return step >= SHORTEST && 8 * step >= 3 * of && 8 * step <= 5 * of;
}

static int strides_sample(void *self, struct nm_engine *program, const struct nm_pass_sample *sample)
{
	struct strides *s = self;

	(void)program;
	for (size_t i = sample->from; i < sample->end; i++) {
		const struct nm_ref *r = &sample->refs[i];
		struct step *last;
		uint64_t key, length = 0;

		if (sample->access[i] == NM_NO_ACCESS)
			continue;
		if (nm_vec_reach(&s->chasing, (size_t)r->attr + 1))
			return NM_ENOMEM;
		s->chasing.at[r->attr].accesses++;
		s->chasing.at[r->attr].chases += sample->chases[sample->access[i]];
		key = ((uint64_t)sample->instructions[sample->access[i]] << 1 | (r->kind == NM_REF_WRITE))
			  << 32 |
		      r->attr;
		last = &s->steps[nm_mix64(key) >> (64 - STEPS_BITS)];
		if (last->key == key && last->burst == sample->burst) {
			struct nm_result_strides *strides = strides_of(s, r->attr);

			if (!strides)
				return NM_ENOMEM;
			length = r->address > last->address ? r->address - last->address
							    : last->address - r->address;
			count_stride(strides, (int64_t)(r->address - last->address));
			strides->halved += is_half(length, last->length);
		}
		*last = (struct step){key, r->address, length, sample->burst};
	}
	return 0;
}

/* A number for the function and object of an attribution. */
static uint64_t chain_of(const struct nm_result *r, size_t attr)
{
	return nm_mix64((uintptr_t)r->sites[r->attrs[attr].site].function ^ nm_mix64(r->attrs[attr].object));
}

/* Gives each attribution the chases of its function through its object.  0 or NM_ENOMEM. */
static int sum_chases(const struct nm_result *r, struct nm_result_chasing *sums)
{
	struct nm_map chases = {0};
	int status = 0;

	for (size_t i = 0; i < r->attr_count && !status; i++)
		if (sums[i].chases)
			status = nm_map_put(&chases, chain_of(r, i),
					    nm_map_get(&chases, chain_of(r, i), 0) + sums[i].chases);
	for (size_t i = 0; i < r->attr_count && !status; i++)
		sums[i].chases = nm_map_get(&chases, chain_of(r, i), 0);
	nm_map_done(&chases);
	return status;
}

/* Adds up what attributions of the result are made of. */
static int merge_chases(const struct strides *s, const struct nm_pass_merge *merge, struct nm_result *r)
{
	struct nm_result_chasing *sums = r->chasing = calloc(r->attr_count + 1, sizeof *sums);

	for (size_t i = 1; sums && i < s->chasing.count; i++) {
		assert(merge->attrs[i] < r->attr_count);
		sums[merge->attrs[i]].accesses += s->chasing.at[i].accesses;
		sums[merge->attrs[i]].chases += s->chasing.at[i].chases;
	}
	return sums ? sum_chases(r, sums) : NM_ENOMEM;
}

/* Hands the list over. */
static int strides_finish(void *self, const struct nm_pass_merge *merge, struct nm_result *result)
{
	struct strides *s = self;

	result->strides = s->list.at;
	result->stride_count = s->list.count;
	memset(&s->list, 0, sizeof s->list);
	for (size_t i = 0; i < result->stride_count; i++)
		result->strides[i].attr = merge->attrs[result->strides[i].attr];
	return merge_chases(s, merge, result);
}

static void strides_release(void *self)
{
	struct strides *s = self;

	nm_vec_free(&s->list);
	nm_vec_free(&s->of_attr);
	nm_vec_free(&s->chasing);
	free(s);
}

const struct nm_pass nm_pass_strides = {.name = "strides",
					.make = strides_make,
					.sample = strides_sample,
					.finish = strides_finish,
					.free = strides_release};
