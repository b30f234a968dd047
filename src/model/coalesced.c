/* SPDX-License-Identifier: MIT */
#include "coalesced.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void nm_coalesced_table_free(struct nm_coalesced_table *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < NM_COALESCED_CHUNKS; i++)
		free(t->chunks[i]);
	nm_arena_done(&t->arena);
	free(t);
}

uint32_t nm_coalesced_add(struct nm_coalesced_table *t, const struct nm_coalesced_member *members,
			  unsigned count)
{
	const uint32_t number = t->count, chunk = number >> NM_COALESCED_CHUNK_BITS;
	struct nm_coalesced *group;

	assert(count != 1 && count <= NM_COALESCED_MAX); /* 0: [0], of none */
	if (chunk >= NM_COALESCED_CHUNKS)
		return 0;
	if (!t->chunks[chunk])
		t->chunks[chunk] = calloc(1u << NM_COALESCED_CHUNK_BITS, sizeof **t->chunks);
	group = nm_arena_alloc(&t->arena, sizeof *group + count * sizeof *members);
	if (!t->chunks[chunk] || !group)
		return 0;
	group->members = count;
	if (count)
		memcpy(group->member, members, count * sizeof *members);
	group->written = 0;
	for (unsigned i = 0; i < count; i++) {
		nm_coalesced_raise_limit(t, members[i].attr + 1);
		if (members[i].kind == NM_REF_WRITE)
			group->written |= ~0ull >> (64 - members[i].size) << members[i].distance;
	}
	t->chunks[chunk][number & ((1u << NM_COALESCED_CHUNK_BITS) - 1)] = group;
	t->count++;
	return number;
}

struct nm_coalesced_table *nm_coalesced_table_new(void)
{
	struct nm_coalesced_table *g = calloc(1, sizeof *g);

	if (g)
		nm_coalesced_add(g, NULL, 0);
	if (g && !g->count) {
		nm_coalesced_table_free(g);
		g = NULL;
	}
	return g;
}
