/* SPDX-License-Identifier: MIT
 *
 * contention.c - see contention.h.
 */
#include "contention.h"

void nm_contention_done(struct nm_contention *s)
{
	nm_vec_free(&s->touches);
	nm_vec_free(&s->pairs);
	nm_map_done(&s->touch_of);
	nm_map_done(&s->pair_of);
	for (unsigned i = 0; i < NM_TOUCH_LISTS; i++)
		nm_vec_free(&s->fresh[i]);
}

static int is_touch(const struct nm_contended_touch *t, uint64_t address, uint32_t bytes, uint32_t attr)
{
	return t->address == address && t->attr == attr && t->bytes == bytes;
}

/* As nm_contention_touch(), of a touch that is not among the recent ones. */
static uint32_t find_touch(struct nm_contention *s, uint64_t address, uint32_t bytes, uint32_t attr)
{
	uint64_t key = nm_mix64(address ^ nm_mix64((uint64_t)attr << 32 | bytes)), at;

	while ((at = nm_map_get(&s->touch_of, key, UINT64_MAX)) != UINT64_MAX) {
		if (is_touch(&s->touches.at[at], address, bytes, attr))
			return (uint32_t)at + 1;
		key++;
	}
	if (s->touches.count == NM_TOUCHES_MOST) {
		s->left_out++;
		return 0;
	}
	at = s->touches.count;
	if (nm_vec_push(&s->touches,
			(struct nm_contended_touch){.address = address, .attr = attr, .bytes = bytes}) ||
	    nm_map_put(&s->touch_of, key, at) ||
	    nm_vec_push(&s->fresh[s->batches % NM_TOUCH_LISTS],
			(struct nm_touch_place){address, attr, (uint32_t)at})) {
		s->failed = 1;
		return 0;
	}
	return (uint32_t)at + 1;
}

uint32_t nm_contention_touch(struct nm_contention *s, uint64_t address, uint32_t bytes, uint32_t attr)
{
	const uint64_t hash = (address ^ (uint64_t)attr << 20) * 0x9e3779b97f4a7c15ull;
	uint32_t *recent = &s->recent[hash >> (64 - NM_RECENT_TOUCHES_BITS)];

	if (!*recent || !is_touch(&s->touches.at[*recent - 1], address, bytes, attr))
		*recent = find_touch(s, address, bytes, attr);
	return *recent;
}

struct nm_contention_pair *nm_contention_pair(struct nm_contention *s, const struct nm_contention_pair *like)
{
	const uint64_t keys = (uint64_t)like->by << 32 | like->of,
		       touches = (uint64_t)like->touch << 32 | like->loading;
	uint64_t key = nm_mix64(like->block ^ nm_mix64(keys ^ nm_mix64(touches))), at;

	while ((at = nm_map_get(&s->pair_of, key, UINT64_MAX)) != UINT64_MAX) {
		struct nm_contention_pair *p = &s->pairs.at[at];

		if (p->block == like->block && p->by == like->by && p->of == like->of &&
		    p->touch == like->touch && p->loading == like->loading)
			return p;
		key++;
	}
	at = s->pairs.count;
	if (nm_vec_push(&s->pairs, *like) || nm_map_put(&s->pair_of, key, at)) {
		s->failed = 1;
		return NULL;
	}
	return &s->pairs.at[at];
}
