/* SPDX-License-Identifier: MIT
 *
 * spread.c - the interval of a count within one profile, if its memory was relocated (the view `relocations`).
 */
#include <stdlib.h>

#include "gate_priv.h"
#include "map.h"
#include "selection.h"

/* Of a function and an object, by the addresses of their names. */
static uint64_t key_of(const char *function, const char *object)
{
	return nm_mix64((uintptr_t)function + nm_mix64((uintptr_t)object));
}

/* The functions with the objects that the budget is for. */
static int list_meant(const struct nm_diff_side *side, const struct nm_budget *b, struct nm_map *ret)
{
	int status = 0;

	for (size_t i = 0; i < side->facts.count && !status; i++) {
		const struct nm_diff_fact *fact = &side->facts.at[i];

		if (nm_budget_means(b, fact))
			status = nm_map_put(
			    ret, key_of(fact->own.text[NM_DIFF_FUNCTION], fact->own.text[NM_DIFF_OBJECT]), 1);
	}
	return status;
}

static int take_row(const struct nm_rows *rows, const struct nm_map *meant, struct nm_strings *pool,
		    int64_t *sums)
{
	const char *names[2] = {NULL, NULL};
	const int64_t relocation = nm_rows_bounded(rows, 2);

	for (unsigned i = 0; i < 2; i++)
		if (nm_rows_text(rows, i) && !(names[i] = nm_intern(pool, nm_rows_text(rows, i))))
			return NM_ENOMEM;
	if (relocation >= 0 && relocation < NM_GATE_RELOCATIONS &&
	    nm_map_get(meant, key_of(names[0], names[1]), 0))
		sums[relocation] += nm_rows_bounded(rows, 3);
	return 0;
}

/* Sums by relocation. */
static int sum_side(const struct nm_diff_side *side, const struct nm_map *meant, struct nm_strings *pool,
		    int64_t *sums, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status =
	    nm_profile_query(side->profile,
			     "SELECT function, object, relocation, sum(misses) FROM relocations WHERE "
			     "level = ?1 AND (?2 IS NULL OR process = ?2) GROUP BY 1, 2, 3",
			     &rows, err);

	if (!status) {
		nm_rows_bind_text(rows, 1, side->selection.request.level);
		nm_rows_bind_text(rows, 2, side->selection.request.process);
	}
	while (!status && (status = nm_rows_next(rows, err)) > 0)
		status = take_row(rows, meant, pool, sums) ? nm_fail_memory(err) : 0;
	nm_rows_free(rows);
	return status;
}

/* How many relocations there are, with that of the profile itself; 0: its memory was not relocated. */
static int count_relocations(const struct nm_diff_side *side, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_has_rows(side->profile, "relocations", err), count = 0;

	if (status <= 0)
		return status;
	status = nm_profile_query(side->profile, "SELECT max(relocation) FROM relocations WHERE level = ?1",
				  &rows, err);
	if (!status) {
		nm_rows_bind_text(rows, 1, side->selection.request.level);
		status = nm_rows_next(rows, err);
	}
	if (status > 0)
		count = (int)nm_rows_bounded(rows, 0) + 1;
	nm_rows_free(rows);
	return status < 0 ? status : count < NM_GATE_RELOCATIONS ? count : NM_GATE_RELOCATIONS;
}

int nm_gate_spread(const struct nm_diff_side *side, const struct nm_budget *b, struct nm_strings *pool,
		   int64_t *ret_least, int64_t *ret_greatest, struct nm_error *err)
{
	const int count = b->metric == NM_DIFF_MISSES && !b->field ? count_relocations(side, err) : 0;
	int64_t sums[NM_GATE_RELOCATIONS] = {0};
	struct nm_map meant = {0};
	int status = 0;

	if (count < 2)
		return count < 0 ? count : 0;
	if (list_meant(side, b, &meant))
		status = nm_fail_memory(err);
	if (!status)
		status = sum_side(side, &meant, pool, sums, err);
	nm_map_done(&meant);
	if (status)
		return status;
	*ret_least = *ret_greatest = sums[0];
	for (int i = 1; i < count; i++) {
		*ret_least = sums[i] < *ret_least ? sums[i] : *ret_least;
		*ret_greatest = sums[i] > *ret_greatest ? sums[i] : *ret_greatest;
	}
	return 1;
}
