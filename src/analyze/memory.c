/* SPDX-License-Identifier: MIT
 *
 * memory.c - tells the passes between two batches which memory can have huge pages or is to have them, where
 * there are TLBs, which core runs, where there are several, and which instructions new attribution keys come
 * from, where a level prefetches by them.
 *
 * Linux gives transparent huge pages to private anonymous memory: heaps, what mmap gives, .bss.  Mappings
 * that touch are one area to it, as when a heap grows by and by.  The model takes an aligned part for a huge
 * page as soon as all of it is there, where the kernel may wait for the next fault, or for its daemon.  What
 * a program asks for it gets, as if the kernel always had huge pages left.
 *
 * What is referenced before a mapping changes must not see the change: the batch is handed over first
 * (nm_engine_event), and the passes are told before the next one is.
 */
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"

int nm_engine_has_tlbs(const struct nm_machine *machine)
{
	for (unsigned i = 0; i < machine->count; i++)
		if (machine->levels[i].pages)
			return 1;
	return 0;
}

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

static int tell_memory(struct nm_engine *e)
{
	size_t n;
	const struct nm_pass *const *passes = nm_passes(&n);
	struct nm_ranges list = {0};
	int status = list_memory(&e->space, &list);

	for (size_t i = 0; i < e->pass_count && !status; i++)
		if (passes[i]->memory)
			status = passes[i]->memory(e->passes[i], list.at, list.count);
	nm_vec_free(&list);
	e->memory_changed = 0;
	return status;
}

int nm_engine_uses_strides(const struct nm_machine *machine)
{
	for (unsigned i = 0; i < machine->count; i++)
		if (machine->levels[i].prefetch == NM_PREFETCH_STRIDE)
			return 1;
	return 0;
}

/* A place is an instruction then, whatever the object, the thread and the calls that lead to it
 * (attribution.h). */
static int tell_instructions(struct nm_engine *e)
{
	size_t n, count = nm_engine_attr_count(e) - e->attrs_announced;
	const struct nm_pass *const *passes = nm_passes(&n);
	uint32_t *list = malloc(count * sizeof *list);
	int status = list ? 0 : NM_ENOMEM;

	for (size_t i = 0; i < count && !status; i++) {
		size_t attr = e->attrs_announced + i;

		list[i] = e->attrs.list.at[e->calls ? e->calls->attrs.at[attr].attr : attr].site;
	}
	for (size_t i = 0; i < e->pass_count && !status; i++)
		if (passes[i]->instructions)
			status = passes[i]->instructions(e->passes[i], list, count);
	free(list);
	e->attrs_announced += count;
	return status;
}

int nm_engine_announce(struct nm_engine *e)
{
	size_t n;
	const struct nm_pass *const *passes = nm_passes(&n);
	int status = nm_workers_drain(e->workers);

	for (size_t i = 0; i < e->pass_count && e->core_changed; i++)
		if (passes[i]->core)
			passes[i]->core(e->passes[i], e->core);
	e->core_changed = 0;
	if (!status && e->memory_changed)
		status = tell_memory(e);
	return !status && e->by_stride && e->attrs_announced < nm_engine_attr_count(e) ? tell_instructions(e)
										       : status;
}
