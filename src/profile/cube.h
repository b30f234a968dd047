/* SPDX-License-Identifier: MIT
 *
 * cube.h - counts in memory, summed by any of their keys.
 *
 *     struct nm_cube cube = nm_cube_of((const char *const[]){"object", "line", NULL}, NM_COUNTS);
 *
 *     nm_profile_query(profile, "SELECT object, line, reads, ... FROM counts WHERE level = 'L2'", &rows, &err);
 *     nm_cube_read(&cube, &names, rows, &err);
 *     nm_cube_group(&by_object, &cube, (unsigned[]){0}, 1, NULL, 0);
 *
 * SQLite sorts all rows, and compares texts, to group them. Here names are interned, so that equal keys are equal
 * numbers, and each row is added to that of its keys in a hash table: one pass over what is read. Sums of a cube
 * are a cube again, with fewer keys.
 *
 * Memory: 8 bytes for each key and each sum of a distinct row, and 8 to 16 for its place in the table.
 */
#ifndef NM_CUBE_H
#define NM_CUBE_H

#include "arena.h"
#include "hash_index.h"
#include "map.h"
#include "metrics.h"
#include "reader.h"

enum { NM_CUBE_KEYS = 15 };

/* A key of a row: an interned text, or a number + 1. 0: none. Equal keys are equal numbers. */
typedef uintptr_t nm_key;

/* Whether the key of this name is a number. */
int nm_key_is_number(const char *name);

static inline const char *nm_key_text(nm_key key) { return (const char *)key; }
static inline int64_t nm_key_number(nm_key key) { return (int64_t)key - 1; }

struct nm_cube {
	const char *names[NM_CUBE_KEYS]; /* of the keys */
	unsigned key_count, sum_count;
	unsigned numbers; /* bit k: key k is a number */
	size_t row_count, room;
	nm_key *keys;  /* [row][key_count]: of each row others */
	int64_t *sums; /* [row][sum_count]; within +-2^60, so that differences of two do not overflow */
	struct nm_hash_index index; /* of the rows, by their keys */
};

/* An empty cube. keys: their names, NULL behind the last. */
struct nm_cube nm_cube_of(const char *const *keys, unsigned sum_count);
void nm_cube_done(struct nm_cube *cube);

/* Names of keys, as in the profile and as shown. {0} is empty. Cubes that share them can be joined. */
struct nm_cube_names {
	int are_raw; /* keys are the names as in the profile */
	struct nm_strings pool;
	struct nm_map clean; /* interned text -> the same without control characters, interned */
};
void nm_cube_names_done(struct nm_cube_names *names);

/* The key of a text; NM_KEY_UNKNOWN: no row that has been read has it. */
#define NM_KEY_UNKNOWN UINTPTR_MAX
nm_key nm_key_find(struct nm_cube_names *names, const char *text);

/* The sums of the row with these keys, which is added if there is none: with sums of 0. NULL: no memory. */
int64_t *nm_cube_at(struct nm_cube *cube, const nm_key *keys);

/* Adds sums to the row with these keys. 0 or NM_ENOMEM. */
int nm_cube_add(struct nm_cube *cube, const nm_key *keys, const int64_t *sums);

/* Adds all rows of a query: its first columns are the cube's keys, those behind them its sums. 0 or a code. */
int nm_cube_read(struct nm_cube *cube, struct nm_cube_names *names, struct nm_rows *rows,
		 struct nm_error *err);

/* The keys of the query's row, of which columns from 0 on are `keys` of the cube. 0 or NM_ENOMEM. */
int nm_cube_read_keys(const struct nm_cube *cube, struct nm_cube_names *names, const struct nm_rows *rows,
		      nm_key *ret_keys);

/* The number of the key with this name, or key_count. */
unsigned nm_cube_key(const struct nm_cube *cube, const char *name);

/* A condition: rows whose key is this value. */
struct nm_cube_condition {
	unsigned key;
	nm_key value;
};

/* Whether the keys of a row meet all conditions. */
int nm_cube_meets(const nm_key *keys, const struct nm_cube_condition *conditions, unsigned count);

/* Sums the rows that meet all conditions by these keys, in the order in which they first occur. 0 or
 * NM_ENOMEM. */
int nm_cube_group(struct nm_cube *ret_cube, const struct nm_cube *cube, const unsigned *by, unsigned by_count,
		  const struct nm_cube_condition *conditions, unsigned condition_count);

/* Orders two keys: texts by bytes, numbers by value, missing keys first. */
int nm_key_compare(nm_key a, nm_key b, int are_numbers);

/* Orders two rows by their keys, the first key first. */
int nm_cube_compare(const struct nm_cube *cube, size_t a, size_t b);

/* The numbers of all rows in the order of their keys; malloc'ed, or NULL. */
size_t *nm_cube_order(const struct nm_cube *cube);

struct nm_ranked {
	double value;
	size_t row;
};

/* Sorts rows by value, largest first; rows without one (NAN) last, equal ones by their keys. */
void nm_cube_rank(const struct nm_cube *cube, struct nm_ranked *list, size_t count);

static inline const nm_key *nm_cube_keys(const struct nm_cube *cube, size_t row)
{
	return cube->keys + row * cube->key_count;
}

static inline int64_t *nm_cube_sums(const struct nm_cube *cube, size_t row)
{
	return cube->sums + row * cube->sum_count;
}

/* Of a cube whose sums are counts: those of one row, of all, and the misses of one. */
struct nm_metric_sums nm_cube_counts(const struct nm_cube *cube, size_t row);
struct nm_metric_sums nm_cube_all_counts(const struct nm_cube *cube);
int64_t nm_cube_misses(const struct nm_cube *cube, size_t row);

#endif
