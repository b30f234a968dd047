/* SPDX-License-Identifier: MIT
 *
 * eviction_facts.c - see eviction_facts.h.
 *
 * The view `evictions` looks up the names of both places of each row, a dozen searches in tables; there are many more
 * evictions than places. So places are named once, and rows are read with the numbers of theirs.
 */
#include "eviction_facts.h"

#include <stdlib.h>
#include <string.h>

#include "vector.h"

/* The keys of a place: its object and line, the library whose code it is, and the innermost frame there, if the
 * cube has that. In the cube, those of the evictor and the victim stand in turn. */
enum { CODE = 4, LIBRARY = CODE, INNER, INNER_CODE = 3, PLACE_KEYS = INNER + INNER_CODE };
static const char *const names_of_keys[] = {
    "object", "file", "line", "function", "library", "inner_file", "inner_line", "inner_function", NULL};

struct places {
	struct nm_cube columns; /* names and kinds of keys; has no rows */
	struct nm_map at;       /* number of a place -> its keys, from here on */
	struct nm_vec(nm_key) keys;
};

static int name_places(struct places *places, struct nm_cube_names *names, struct nm_profile *profile,
		       int has_inner, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile,
	    has_inner
		? "SELECT object, file, line, function, library, inner_file, inner_line, inner_function, place "
		  "FROM places"
		: "SELECT object, file, line, function, library, NULL, NULL, NULL, place FROM places",
	    &rows, err);

	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		const size_t at = places->keys.count;

		status = 0;
		if (nm_vec_reserve(&places->keys, PLACE_KEYS) ||
		    nm_cube_read_keys(&places->columns, names, rows, places->keys.at + at) ||
		    nm_map_put(&places->at, (uint64_t)nm_rows_integer(rows, PLACE_KEYS), at))
			status = nm_fail_memory(err);
		places->keys.count += PLACE_KEYS;
	}
	nm_rows_free(rows);
	return status;
}

/* Those of a place that a damaged profile lacks are 0. */
static const nm_key *keys_of(const struct places *places, int64_t place)
{
	static const nm_key none[PLACE_KEYS];
	const uint64_t at = nm_map_get(&places->at, (uint64_t)place, UINT64_MAX);

	return at == UINT64_MAX ? none : places->keys.at + at;
}

static int add_pairs(struct nm_cube *cube, const struct places *places, struct nm_rows *rows,
		     struct nm_error *err)
{
	int status;

	while ((status = nm_rows_next(rows, err)) > 0) {
		const nm_key *evictor = keys_of(places, nm_rows_integer(rows, 0)),
			     *victim = keys_of(places, nm_rows_integer(rows, 1));
		const int64_t count = nm_rows_bounded(rows, 2);
		nm_key keys[NM_CUBE_KEYS], *to = keys;

		to = mempcpy(to, evictor, CODE * sizeof *to);
		to = mempcpy(to, victim, CODE * sizeof *to);
		*to++ = evictor[LIBRARY];
		to = mempcpy(to, evictor + INNER, INNER_CODE * sizeof *to);
		mempcpy(to, victim + INNER, INNER_CODE * sizeof *to);
		if (nm_cube_add(cube, keys, &count))
			return nm_fail_memory(err);
	}
	return status;
}

int nm_eviction_facts_read(struct nm_cube *cube, struct nm_cube_names *names, struct nm_profile *profile,
			   int has_inner, const char *level, struct nm_error *err)
{
	struct places places = {.columns = nm_cube_of(names_of_keys, 1)};
	struct nm_rows *rows = NULL;
	int status = name_places(&places, names, profile, has_inner, err);

	if (!status)
		status = nm_profile_query(profile,
					  "SELECT e.evictor, e.victim, e.count FROM main.eviction e "
					  "CROSS JOIN main.level l ON l.id = e.level WHERE l.name = ?1",
					  &rows, err);
	if (!status) {
		nm_rows_bind_text(rows, 1, level);
		status = add_pairs(cube, &places, rows, err);
	}
	nm_rows_free(rows);
	nm_vec_free(&places.keys);
	nm_map_done(&places.at);
	return status;
}
