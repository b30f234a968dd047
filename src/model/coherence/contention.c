/* SPDX-License-Identifier: MIT */
#include "contention.h"

#include <assert.h>

#include "traffic.h"

void nm_contention_done(struct nm_contention *c)
{
	nm_vec_free(&c->touches);
	nm_vec_free(&c->pairs);
	nm_map_done(&c->touch_of);
	nm_map_done(&c->pair_of);
	for (unsigned i = 0; i < NM_TOUCH_LISTS; i++)
		nm_vec_free(&c->fresh[i]);
}

static int is_touch(const struct nm_contended_touch *t, uint64_t address, uint32_t bytes, uint32_t attr)
{
	return t->address == address && t->attr == attr && t->bytes == bytes;
}

/* As nm_contention_touch(), of a touch that is not among the recent ones. */
static uint32_t find_touch(struct nm_contention *c, uint64_t address, uint32_t bytes, uint32_t attr)
{
	uint64_t key = nm_mix64(address ^ nm_mix64((uint64_t)attr << 32 | bytes)), at;

	while ((at = nm_map_get(&c->touch_of, key, UINT64_MAX)) != UINT64_MAX) {
		if (is_touch(&c->touches.at[at], address, bytes, attr))
			return (uint32_t)at + 1;
		key++;
	}
	if (c->touches.count == NM_TOUCHES_MOST) {
		c->left_out++;
		return 0;
	}
	at = c->touches.count;
	if (nm_vec_push(&c->touches,
			(struct nm_contended_touch){.address = address, .attr = attr, .bytes = bytes}) ||
	    nm_map_put(&c->touch_of, key, at) ||
	    nm_vec_push(&c->fresh[c->batches % NM_TOUCH_LISTS],
			(struct nm_touch_place){address, attr, (uint32_t)at})) {
		c->failed = 1;
		return 0;
	}
	return (uint32_t)at + 1;
}

uint32_t nm_contention_touch(struct nm_contention *c, uint64_t address, uint32_t bytes, uint32_t attr)
{
	const uint64_t hash = (address ^ (uint64_t)attr << 20) * 0x9e3779b97f4a7c15ull;
	uint32_t *recent = &c->recent[hash >> (64 - NM_RECENT_TOUCHES_BITS)];

	assert(bytes > 0);
	if (!*recent || !is_touch(&c->touches.at[*recent - 1], address, bytes, attr))
		*recent = find_touch(c, address, bytes, attr);
	return *recent;
}

struct nm_contention_pair *nm_contention_pair(struct nm_contention *c, const struct nm_contention_pair *like)
{
	const uint64_t keys = (uint64_t)like->by << 32 | like->of,
		       touches = (uint64_t)like->touch << 32 | like->loading;
	uint64_t key = nm_mix64(like->block ^ nm_mix64(keys ^ nm_mix64(touches))), at;

	while ((at = nm_map_get(&c->pair_of, key, UINT64_MAX)) != UINT64_MAX) {
		struct nm_contention_pair *p = &c->pairs.at[at];

		if (p->block == like->block && p->by == like->by && p->of == like->of &&
		    p->touch == like->touch && p->loading == like->loading)
			return p;
		key++;
	}
	at = c->pairs.count;
	if (nm_vec_push(&c->pairs, *like) || nm_map_put(&c->pair_of, key, at)) {
		c->failed = 1;
		return NULL;
	}
	return &c->pairs.at[at];
}

/* ---- traffic ---- */

const char *const nm_message_names[NM_MESSAGES] = {
    "read",        "write",          "upgrade",          "forward",   "invalidate",
    "acknowledge", "data from core", "data from memory", "write-back"};
const char *const nm_fabric_names[NM_FABRICS] = {"directory", "snooping"};

uint64_t nm_traffic_messages(const struct nm_traffic *traffic, enum nm_fabric fabric, enum nm_message message)
{
	const int unsaid = message == NM_MESSAGE_FORWARD || message == NM_MESSAGE_INVALIDATE ||
			   message == NM_MESSAGE_ACKNOWLEDGE;

	assert(message < NM_MESSAGES && fabric < NM_FABRICS);
	return fabric == NM_FABRIC_SNOOPING && unsaid ? 0 : traffic->count[message];
}

uint64_t nm_traffic_bytes(const struct nm_traffic *traffic, enum nm_fabric fabric, enum nm_message message)
{
	const uint64_t data = message >= NM_MESSAGE_DATA_FROM_CORE ? traffic->block : 0;

	return nm_traffic_messages(traffic, fabric, message) * (NM_MESSAGE_BYTES + data);
}
