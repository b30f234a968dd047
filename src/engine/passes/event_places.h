/* SPDX-License-Identifier: MIT
 *
 * event_places.h - for the cache pass: looks up where events lie. Those in a slice of an array (slice.h) pass on
 * to the event filter; those of a log get the field that their reference touches, and the time.
 *
 * An event has an address, and what lies there is known on the decoding thread only, and only while it lies
 * there. So events wait in a list for each batch, and are looked at a whole queue of batches late, as the
 * fields pass does with its samples. An event of a block that was released long before is in no slice
 * and no field.
 */
#ifndef NM_EVENT_PLACES_H
#define NM_EVENT_PLACES_H

#include "event_filter.h"
#include "pass.h"
#include "slice.h"

struct nm_event_places;

/* The query has a slice or is a log; it and the filter live until the places are freed. 0 or NM_ENOMEM. */
int nm_event_places_new(struct nm_event_places **ret_places, const struct nm_event_query *query,
			struct nm_event_filter *events, const struct nm_machine *machine);
void nm_event_places_free(struct nm_event_places *places);
void nm_event_places_attach(struct nm_event_places *places, struct nm_hierarchy *hierarchy);

/* A batch was run; it has a clock if the query is a log. */
void nm_event_places_batch(struct nm_event_places *places, const struct nm_pass_batch *batch);

/* As the callbacks of a pass. */
void nm_event_places_released(struct nm_event_places *places, uint64_t address, uint64_t size,
			      uint32_t object);
int nm_event_places_retired(struct nm_event_places *places, struct nm_engine *program);
int nm_event_places_ending(struct nm_event_places *places, struct nm_engine *program);

/* How well the slice fits the objects of its name. */
enum nm_slice_fit nm_event_places_fit(const struct nm_event_places *places);

#endif
