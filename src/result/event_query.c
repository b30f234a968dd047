/* SPDX-License-Identifier: MIT
 *
 * event_query.c - see event_query.h.
 */
#include "event_query.h"

void nm_event_query_sets(struct nm_event_query *ret_query, const struct nm_machine *machine)
{
	*ret_query =
	    (struct nm_event_query){.mode = NM_QUERY_SETS, .end = UINT64_MAX, .by_attr = 1, .of_objects = 1};
	for (unsigned i = 0; i < machine->count; i++)
		ret_query->kinds[i] = 1u << NM_EVENT_LOAD | 1u << NM_EVENT_REPLACE |
				      1u << NM_EVENT_INVALIDATE | 1u << NM_EVENT_PREFETCH;
}
