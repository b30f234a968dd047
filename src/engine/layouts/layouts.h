/* SPDX-License-Identifier: MIT
 *
 * layouts.h - the program's references as candidate layouts (candidate.h) of its data would make them: the same stream,
 * with the addresses of what a candidate moves, simulated in hierarchies of their own beside that of the program as it
 * is. What no candidate moves keeps its address.
 *
 * Everything here belongs to the decoding thread, so that a reference finds the blocks that live at its moment. It
 * has other threads help with simulating, and waits for them.
 */
#ifndef NM_LAYOUTS_H
#define NM_LAYOUTS_H

#include "malloc_heap.h"
#include "pass.h"

struct nm_layouts;

/* Of options->candidates; *ret_layouts stays NULL if there are none. */
int nm_layouts_new(struct nm_layouts **ret_layouts, struct nm_engine *engine,
		   const struct nm_pass_setup *setup, struct nm_error *err);
void nm_layouts_free(struct nm_layouts *layouts);

/* The areas of what candidates move: before the program has any. 0 or NM_ENOMEM. */
int nm_layouts_add_areas(struct nm_areas *areas);

/* A batch; as in pass.h. With NULL these do nothing. 0 or a code. */
int nm_layouts_add(struct nm_layouts *layouts, const struct nm_ref *refs, size_t count, int uncounted);
int nm_layouts_run(struct nm_layouts *layouts); /* all that were added */
int nm_layouts_memory(struct nm_layouts *layouts, const struct nm_range *ranges, size_t count);
int nm_layouts_keys(struct nm_layouts *layouts, const struct nm_attribution *attributions, size_t count);

/* A heap block has come; realloc will release one, and the next that comes is its result; one goes. Whether all
 * references before must have been added when the one at an address does. */
int nm_layouts_allocated(struct nm_layouts *layouts, uint64_t address, enum nm_heap_call call);
void nm_layouts_resizes(struct nm_layouts *layouts, uint64_t address);
int nm_layouts_need_references(const struct nm_layouts *layouts, uint64_t address);
int nm_layouts_released(struct nm_layouts *layouts, uint64_t address);

int nm_layouts_finish(struct nm_layouts *layouts, const struct nm_pass_merge *merge,
		      struct nm_result *result);

#endif
