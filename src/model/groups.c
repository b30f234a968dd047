/* SPDX-License-Identifier: MIT
 *
 * groups.c - see groups.h.
 */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

void nm_groups_free(struct nm_groups *g)
{
	if (!g)
		return;
	for (unsigned i = 0; i < NM_GROUPS_CHUNKS; i++)
		free(g->chunks[i]);
	nm_arena_done(&g->arena);
	free(g);
}

uint32_t nm_groups_add(struct nm_groups *g, const struct nm_member *members, unsigned count)
{
	const uint32_t number = g->count, chunk = number >> NM_GROUPS_CHUNK_BITS;
	struct nm_group *group;

	if (chunk >= NM_GROUPS_CHUNKS)
		return 0;
	if (!g->chunks[chunk])
		g->chunks[chunk] = calloc(1u << NM_GROUPS_CHUNK_BITS, sizeof **g->chunks);
	group = nm_arena_alloc(&g->arena, sizeof *group + count * sizeof *members);
	if (!g->chunks[chunk] || !group)
		return 0;
	group->members = count;
	if (count)
		memcpy(group->member, members, count * sizeof *members);
	for (unsigned i = 0; i < count; i++)
		nm_groups_reach(g, members[i].cell + 1);
	g->chunks[chunk][number & ((1u << NM_GROUPS_CHUNK_BITS) - 1)] = group;
	g->count++;
	return number;
}

struct nm_groups *nm_groups_new(void)
{
	struct nm_groups *g = calloc(1, sizeof *g);

	if (g)
		nm_groups_add(g, NULL, 0);
	if (g && !g->count) {
		nm_groups_free(g);
		g = NULL;
	}
	return g;
}
