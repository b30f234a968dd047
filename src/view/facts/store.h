/* SPDX-License-Identifier: MIT
 *
 * store.h - a cache of recently requested facts of several profiles, so that they are read once.
 */
#ifndef NM_VIEW_FACT_STORE_H
#define NM_VIEW_FACT_STORE_H

#include "facts.h"

enum { NM_STORED_FACTS = 6 };

/* {0} is empty. All facts share the names, so those of two profiles can be joined. */
struct nm_fact_store {
	struct nm_fact_names names;
	struct nm_stored_facts {
		struct nm_profile *profile; /* NULL: the entry is free */
		enum nm_fact_kind kind;
		char *level;
		struct nm_facts facts;
		uint64_t used; /* by the clock */
	} at[NM_STORED_FACTS];
	uint64_t clock;
};

/* The facts, which are valid until NM_STORED_FACTS others have been requested. Codes of nm_facts_load(). */
int nm_fact_store_get(struct nm_fact_store *store, struct nm_profile *profile, enum nm_fact_kind kind,
		      const char *level, const struct nm_facts **ret_facts, struct nm_error *err);
void nm_fact_store_done(struct nm_fact_store *store);

#endif
