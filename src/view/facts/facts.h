/* SPDX-License-Identifier: MIT
 *
 * facts.h - rows of keys and sums in memory, which can be summed by any of their keys.
 *
 *     nm_facts_load(&facts, &names, profile, NM_FACTS_COUNTS, "L1d", &err);
 *     nm_facts_sum(&by_object, &facts, (unsigned[]){object}, 1, NULL, 0);
 *
 * Pages request the same rows grouped by many different keys. SQLite would sort all rows for each request;
 * here they are read once, names are interned, and a request is one pass over numbers with a hash table.
 * Sums of facts are facts again, with fewer keys.
 */
#ifndef NM_VIEW_FACTS_H
#define NM_VIEW_FACTS_H

#include "arena.h"
#include "map.h"
#include "reader.h"

enum { NM_FACT_KEYS = 14 };

/* The rows to read: of the views `counts`, `field_counts` (fields that have a name) and `evictions`. */
enum nm_fact_kind { NM_FACTS_COUNTS, NM_FACTS_FIELDS, NM_FACTS_EVICTIONS };

/* A key of a row: an interned text, or a number + 1. 0: none. Equal keys are equal numbers. */
typedef uintptr_t nm_fact;

/* Whether the key of this name is a number. */
int nm_fact_is_number(const char *name);

static inline const char *nm_fact_text(nm_fact key) { return (const char *)key; }
static inline int64_t nm_fact_number(nm_fact key) { return (int64_t)key - 1; }

struct nm_facts {
	const char *names[NM_FACT_KEYS]; /* of the keys */
	unsigned key_count, sum_count;
	unsigned numbers; /* bit k: key k is a number */
	size_t row_count, room;
	nm_fact *keys; /* [row][key_count] */
	int64_t *sums; /* [row][sum_count]; within +-2^60, so that differences of two do not overflow */
};

/* Names of facts, as in the profile and as shown. {0} is empty. */
struct nm_fact_names {
	struct nm_strings pool;
	struct nm_map clean; /* interned text -> the same without control characters, interned */
};
void nm_fact_names_done(struct nm_fact_names *names);

/* The key of a text; NM_FACT_UNKNOWN: no row that has been loaded has it. */
#define NM_FACT_UNKNOWN UINTPTR_MAX
nm_fact nm_fact_find(struct nm_fact_names *names, const char *text);

/* Reads the rows of a level. Sums are the counts of counts.def, in that order; of evictions, their
 * count. Codes are those of reading the profile. *ret_facts is overwritten; if 0 is
 * returned, the caller must free it with nm_facts_done(). */
int nm_facts_load(struct nm_facts *ret_facts, struct nm_fact_names *names, struct nm_profile *profile,
		  enum nm_fact_kind kind, const char *level, struct nm_error *err);
void nm_facts_done(struct nm_facts *facts);

/* The number of the key with this name, or key_count. */
unsigned nm_facts_key(const struct nm_facts *facts, const char *name);

/* A condition: rows whose key is this value. */
struct nm_fact_condition {
	unsigned key;
	nm_fact value;
};

/* Sums the rows that meet all conditions by these keys, in the order in which they first occur. 0 or
 * NM_ENOMEM. */
int nm_facts_sum(struct nm_facts *ret_facts, const struct nm_facts *facts, const unsigned *by,
		 unsigned by_count, const struct nm_fact_condition *conditions, unsigned condition_count);

/* Orders two keys: texts by bytes, numbers by value, missing keys first. */
int nm_fact_compare(nm_fact a, nm_fact b, int are_numbers);

/* Orders two rows by their keys, the first key first. */
int nm_facts_compare(const struct nm_facts *facts, size_t a, size_t b);

struct nm_ranked {
	double value;
	size_t row;
};

/* Sorts rows by value, largest first; rows without one (NAN) last, equal ones by their keys. */
void nm_facts_rank(const struct nm_facts *facts, struct nm_ranked *list, size_t count);

static inline const nm_fact *nm_facts_keys(const struct nm_facts *facts, size_t row)
{
	return facts->keys + row * facts->key_count;
}

static inline int64_t *nm_facts_sums(const struct nm_facts *facts, size_t row)
{
	return facts->sums + row * facts->sum_count;
}

/* The sum of two sums, clamped to their bounds. */
static inline int64_t nm_facts_add(int64_t a, int64_t b)
{
	const int64_t bound = (int64_t)1 << 60, sum = a + b;

	return sum > bound ? bound : sum < -bound ? -bound : sum;
}

#endif
