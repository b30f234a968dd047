/* SPDX-License-Identifier: MIT
 *
 * visits.h - logs how a program visits the elements of one structure (visit_log.h), for a search of its layout. All of
 * it belongs to the decoding thread.
 */
#ifndef NM_VISITS_H
#define NM_VISITS_H

#include "pass.h"

struct nm_visits;

/* Of options->visits; *ret_visits stays NULL if there is no such log. */
int nm_visits_new(struct nm_visits **ret_visits, struct nm_engine *engine,
		  const struct nm_coalesced_table *coalesced);
void nm_visits_free(struct nm_visits *visits);

/* A batch; a heap block is about to be freed; there is nothing more. With NULL these do nothing. 0 or a code. */
int nm_visits_add(struct nm_visits *visits, const struct nm_ref *refs, size_t count);
void nm_visits_released(struct nm_visits *visits, uint64_t address, uint64_t size, uint32_t object);
int nm_visits_end(struct nm_visits *visits);

#endif
