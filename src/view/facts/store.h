/* SPDX-License-Identifier: MIT
 *
 * store.h - a cache of recently requested facts of several profiles, so that they are read once.
 */
#ifndef NM_VIEW_FACT_STORE_H
#define NM_VIEW_FACT_STORE_H

#include "cube.h"

enum { NM_STORED_FACTS = 6 };

/* The rows to read: of the views `counts`, `field_counts` (fields that have a name), `evictions`, and of one input in
 * `input_counts`; of `context_counts` the lines of the user's code. Sums are the counts of counts.def; of evictions,
 * their number; of call chains, misses; of an input, its misses stand in
 * read_misses, its loads in loads, and all others are 0. */
enum nm_fact_kind { NM_FACTS_COUNTS, NM_FACTS_FIELDS, NM_FACTS_EVICTIONS, NM_FACTS_CHAINS, NM_FACTS_INPUT };

/* {0} is empty. All facts share the names, so those of two profiles can be joined. */
struct nm_fact_store {
	struct nm_cube_names names;
	struct nm_stored_facts {
		struct nm_profile *profile; /* NULL: the entry is free */
		enum nm_fact_kind kind;
		char *level, *input; /* input: of NM_FACTS_INPUT, else NULL */
		struct nm_cube facts;
		uint64_t used; /* by the clock */
	} at[NM_STORED_FACTS];
	uint64_t clock;
};

/* The facts, which are valid until NM_STORED_FACTS others have been requested. input: of NM_FACTS_INPUT, else NULL.
 * Codes are those of reading the profile. */
int nm_fact_store_get(struct nm_fact_store *store, struct nm_profile *profile, enum nm_fact_kind kind,
		      const char *level, const char *input, const struct nm_cube **ret_facts,
		      struct nm_error *err);
void nm_fact_store_done(struct nm_fact_store *store);

#endif
