/* SPDX-License-Identifier: MIT
 *
 * lanes.c - the lanes of threads (regions.h): made at the first entry of a region, kept while the thread lives.
 */
#include "executor.h"

#include <stdlib.h>

static struct nm_lane *make(struct nm_executor *x, struct nm_thread *t, uint32_t number, uint32_t region)
{
	struct nm_lane *lane = nm_arena_alloc(&x->decoder.arena, sizeof *lane);

	if (!lane)
		return NULL;
	*lane = (struct nm_lane){.number = number, .region = region};
	return nm_vec_push(&t->lanes, lane) ? NULL : lane;
}

int nm_executor_start_lanes(struct nm_executor *x, struct nm_thread *t)
{
	uint32_t number;

	if (nm_regions_lane(x->regions, t->number, 0, &number))
		return NM_ENOMEM;
	t->lane = make(x, t, number, 0);
	return t->lane ? 0 : NM_ENOMEM;
}

static int find(struct nm_executor *x, struct nm_thread *t, uint32_t region, struct nm_lane **ret_lane)
{
	uint32_t number;

	for (size_t i = 0; i < t->lanes.count; i++)
		if (t->lanes.at[i]->region == region) {
			*ret_lane = t->lanes.at[i];
			return 0;
		}
	if (nm_regions_lane(x->regions, t->number, region, &number))
		return NM_ENOMEM;
	*ret_lane = number ? make(x, t, number, region) : t->lanes.at[0];
	return *ret_lane ? 0 : NM_ENOMEM;
}

int nm_executor_choose_lane(struct nm_executor *x, struct nm_thread *t)
{
	const uint32_t region = nm_regions_innermost(&t->open);

	if (region == t->lane->region)
		return 0;
	if (find(x, t, region, &t->lane))
		return NM_ENOMEM;
	if (x->running.thread == t)
		nm_executor_switch_thread(x, t);
	return 0;
}

void nm_thread_free_lanes(struct nm_thread *t)
{
	for (size_t i = 0; i < t->lanes.count; i++) {
		free(t->lanes.at[i]->decoded_blocks);
		nm_map_done(&t->lanes.at[i]->library_blocks);
	}
	nm_vec_free(&t->lanes);
	nm_vec_free(&t->open);
	nm_vec_free(&t->open_calls);
}
