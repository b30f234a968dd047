/* SPDX-License-Identifier: MIT
 *
 * store.c - see store.h.
 */
#include "store.h"

#include <stdlib.h>
#include <string.h>

static void clear(struct nm_stored_facts *stored)
{
	nm_facts_done(&stored->facts);
	free(stored->level);
	*stored = (struct nm_stored_facts){.profile = NULL};
}

int nm_fact_store_get(struct nm_fact_store *store, struct nm_profile *profile, enum nm_fact_kind kind,
		      const char *level, const struct nm_facts **ret_facts, struct nm_error *err)
{
	struct nm_stored_facts *oldest = &store->at[0];
	int status;

	for (unsigned i = 0; i < NM_STORED_FACTS; i++) {
		struct nm_stored_facts *stored = &store->at[i];

		if (stored->profile == profile && stored->kind == kind && !strcmp(stored->level, level)) {
			stored->used = ++store->clock;
			*ret_facts = &stored->facts;
			return 0;
		}
		if (stored->used < oldest->used)
			oldest = stored;
	}
	clear(oldest);
	status = nm_facts_load(&oldest->facts, &store->names, profile, kind, level, err);
	oldest->level = status ? NULL : strdup(level);
	if (!status && !oldest->level)
		status = nm_fail_memory(err);
	if (status) {
		clear(oldest);
		return status;
	}
	oldest->profile = profile;
	oldest->kind = kind;
	oldest->used = ++store->clock;
	*ret_facts = &oldest->facts;
	return 0;
}

void nm_fact_store_done(struct nm_fact_store *store)
{
	for (unsigned i = 0; i < NM_STORED_FACTS; i++)
		clear(&store->at[i]);
	nm_fact_names_done(&store->names);
}
