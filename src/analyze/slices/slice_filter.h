/* SPDX-License-Identifier: MIT
 *
 * slice_filter.h - for the cache pass: lets those events through to the event filter that are in a slice of
 * an array (slice.h).
 *
 * An event has an address, and what lies there is known on the decoding thread only, and only while it lies
 * there. So events wait in a list for each batch, and are looked at a whole queue of batches late, as the
 * fields pass does with its samples. An event of a block that was released long before is in no slice.
 */
#ifndef NM_SLICE_FILTER_H
#define NM_SLICE_FILTER_H

#include "event_filter.h"
#include "pass.h"
#include "slice.h"

struct nm_slice_filter;

/* The query has a slice; both filters live until the slice filter is freed. 0 or NM_ENOMEM. */
int nm_slice_filter_new(struct nm_slice_filter **ret_filter, const struct nm_event_query *query,
			struct nm_event_filter *events, const struct nm_machine *machine);
void nm_slice_filter_free(struct nm_slice_filter *filter);
void nm_slice_filter_attach(struct nm_slice_filter *filter, struct nm_hierarchy *hierarchy);

/* A batch was run. */
void nm_slice_filter_batch(struct nm_slice_filter *filter);

/* As the callbacks of a pass. */
void nm_slice_filter_released(struct nm_slice_filter *filter, uint64_t address, uint64_t size,
			      uint32_t object);
int nm_slice_filter_retired(struct nm_slice_filter *filter, struct nm_engine *program);
int nm_slice_filter_ending(struct nm_slice_filter *filter, struct nm_engine *program);

/* How well the slice fits the objects of its name. */
enum nm_slice_fit nm_slice_filter_fit(const struct nm_slice_filter *filter);

#endif
