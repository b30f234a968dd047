/* SPDX-License-Identifier: MIT
 *
 * memory.c - tells passes, between batches, which memory can or must have huge pages (for TLBs), and which
 * instructions new attribution keys come from (for prefetchers).
 *
 * Linux gives transparent huge pages to private anonymous memory: heaps, anonymous mmap, .bss. Adjacent
 * mappings form one area, as when a heap grows step by step. The model treats an aligned part as a huge page
 * as soon as all of it is mapped; the kernel may wait for the next fault, or for its daemon. Explicit
 * requests for huge pages always succeed here.
 *
 * References made before a mapping changes must not see the change: the batch is submitted first
 * (nm_engine_event), and passes learn of the change before the next batch.
 */
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"
#include "layouts.h"
#include "schedules.h"

static int list_memory(const struct nm_space *space, struct nm_ranges *ret_list)
{
	for (size_t i = 0; i < space->mappings.count; i++) {
		const struct nm_mapping *m = &space->mappings.at[i];
		struct nm_range *last = ret_list->count ? &ret_list->at[ret_list->count - 1] : NULL;
		unsigned asked = m->asked ? m->asked - 1u : NM_PAGE_4K;

		if (m->asked ? asked == NM_PAGE_4K
			     : m->path[0] != '\0') /* a file, or the first thread's stack */
			continue;
		if (last && last->end == m->address && last->asked == asked)
			last->end = m->end;
		else if (nm_vec_push(ret_list, (struct nm_range){m->address, m->end, asked}))
			return NM_ENOMEM;
	}
	return 0;
}

static int announce_memory(struct nm_engine *e)
{
	struct nm_ranges list = {0};
	int status = list_memory(&e->space, &list);

	if (!status)
		status = nm_passes_memory(&e->feed.passes, list.at, list.count);
	if (!status)
		status = nm_schedules_memory(e->output.schedules, list.at, list.count);
	if (!status)
		status = nm_layouts_memory(e->output.layouts, list.at, list.count);
	nm_vec_free(&list);
	e->feed.memory_changed = 0;
	return status;
}

static int announce_keys(struct nm_engine *e)
{
	size_t count = nm_engine_attr_count(e) - e->feed.keys_announced;
	struct nm_attribution *list = malloc(count * sizeof *list);
	int status = list ? 0 : NM_ENOMEM;

	for (size_t i = 0; i < count && !status; i++)
		list[i] = *nm_program_attribution(
		    e, nm_program_attr_of_key(e, (uint32_t)(e->feed.keys_announced + i)));
	if (!status)
		status = nm_passes_keys(&e->feed.passes, list, count);
	if (!status)
		status = nm_schedules_keys(e->output.schedules, list, count);
	if (!status)
		status = nm_layouts_keys(e->output.layouts, list, count);
	free(list);
	e->feed.keys_announced += count;
	return status;
}

int nm_engine_announce(struct nm_engine *e)
{
	int status = nm_engine_drain_passes(e);

	if (!status && e->feed.memory_changed)
		status = announce_memory(e);
	if (!status && nm_engine_has_new_keys(e))
		status = announce_keys(e);
	return status;
}
