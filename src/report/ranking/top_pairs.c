/* SPDX-License-Identifier: MIT
 *
 * top_pairs.c - the first of many objects, or of many pairs of object and line.
 *
 * A ranking shows a few rows, but sums up twenty columns of all rows by keys that are texts. If numbers
 * alone determine the rank, sums of three columns by two numbers (pair_sums.h) do, and all other columns are summed
 * only for the rows that are shown:
 *
 *     a   the places of the first ones, and of all that are equal to the last of these, with their
 *         texts
 *     t   the totals of all
 *     n   the cold misses of the objects of the first ones, on all lines
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pair_sums.h"
#include "ranking.h"

int nm_top_pairs_apply(const struct nm_selection *selection, const char *rank)
{
	return nm_pairs_have_numbers(selection) &&
	       (!strcmp(rank, "misses") || !strcmp(rank, "cycles") || !strcmp(rank, "cold"));
}

/* The rows that are there, the first by `rank` in front; *ret_count: those that are among the first `limit`, or equal
 * the last of these. malloc'ed; NULL: no memory. */
static struct nm_ranked *rank_rows(const struct nm_pair_sums *sums, const char *rank, int64_t limit,
				   size_t *ret_count)
{
	const enum nm_pair_sum by = strcmp(rank, "cold") ? NM_PAIR_MISSES : NM_PAIR_COLD;
	struct nm_ranked *list = malloc((sums->cube.row_count + 1) * sizeof *list);
	size_t count = 0, first;

	assert(limit > 0);
	for (size_t row = 0; list && row < sums->cube.row_count; row++) {
		const int64_t *s = nm_cube_sums(&sums->cube, row);

		if (s[NM_PAIR_OWN])
			list[count++] = (struct nm_ranked){
			    strcmp(rank, "cycles") ? (double)s[by] : sums->cycles.at[row], row};
	}
	if (list)
		nm_cube_rank(&sums->cube, list, count);
	for (first = (size_t)limit; list && first < count && list[first].value >= list[limit - 1].value;)
		first++;
	*ret_count = first < count ? first : count;
	return list;
}

/* ", (1, 2)" for a row without missing keys, which no place has. */
static void write_keys(const struct nm_cube *cube, size_t row, FILE *sql)
{
	const nm_key *keys = nm_cube_keys(cube, row);

	for (unsigned k = 0; k < cube->key_count; k++)
		if (!keys[k])
			return;
	for (unsigned k = 0; k < cube->key_count; k++)
		fprintf(sql, "%s%" PRId64, k ? ", " : ", (", nm_key_number(keys[k]));
	fputc(')', sql);
}

static void write_places(const struct nm_pair_sums *sums, const struct nm_ranked *list, size_t count,
			 int by_line, FILE *sql)
{
	fprintf(
	    sql,
	    ", a AS MATERIALIZED (SELECT place, object, file, line, function FROM places WHERE (%s) IN (VALUES (%s)",
	    by_line ? "site, name" : "name", by_line ? "NULL, NULL" : "NULL");
	for (size_t i = 0; i < count; i++)
		write_keys(&sums->cube, list[i].row, sql);
	fputs("))", sql);
}

static void write_totals(const struct nm_pair_sums *sums, const char *level, FILE *sql)
{
	int64_t misses = 0;
	double cycles = 0;

	for (size_t row = 0; row < sums->cube.row_count; row++) {
		if (!nm_cube_sums(&sums->cube, row)[NM_PAIR_OWN])
			continue;
		misses += nm_cube_sums(&sums->cube, row)[NM_PAIR_MISSES];
		cycles += sums->cycles.at[row];
	}
	fputs(", t(level, misses, cycles) AS (VALUES (", sql);
	nm_sql_text(level, sql);
	fprintf(sql, ", %" PRId64 ", %.17g))", misses, cycles);
}

/* Of the objects of the first rows, each once. */
static int write_objects(const struct nm_pair_sums *sums, const struct nm_ranked *list, size_t count,
			 int by_line, FILE *sql)
{
	const unsigned name = by_line ? NM_PAIR_NAME : 0;
	struct nm_pair_sums objects;
	int status = nm_pair_sums_group(&objects, sums, &name, 1, 0);

	if (status)
		return status;
	fputs(", n(name, cold) AS (VALUES (NULL, NULL)", sql);
	for (size_t i = 0; !status && i < count; i++) {
		const nm_key *key = &nm_cube_keys(&sums->cube, list[i].row)[name];
		int64_t *of = nm_cube_at(&objects.cube, key);

		status = of ? 0 : NM_ENOMEM;
		if (of && *key && of[NM_PAIR_OWN]) /* which then says that it is written */
			fprintf(sql, ", (%" PRId64 ", %" PRId64 ")", nm_key_number(*key), of[NM_PAIR_COLD]);
		if (of)
			of[NM_PAIR_OWN] = 0;
	}
	fputc(')', sql);
	nm_pair_sums_done(&objects);
	return status;
}

int nm_top_pairs_expression(const struct nm_pair_sums *pairs, const struct nm_selection *selection,
			    int by_line, const char *rank, FILE *sql)
{
	static const unsigned keys[] = {NM_PAIR_SITE, NM_PAIR_NAME};
	struct nm_pair_sums sums;
	struct nm_ranked *list;
	size_t count;
	int status = by_line ? nm_pair_sums_group(&sums, pairs, keys, 2, selection->leaves_apart)
			     : nm_pair_sums_group(&sums, pairs, &keys[1], 1, selection->leaves_apart);

	if (status)
		return status;
	list = rank_rows(&sums, rank, selection->request.limit, &count);
	if (list) {
		write_places(&sums, list, count, by_line, sql);
		write_totals(&sums, selection->request.level, sql);
	}
	status = list ? write_objects(&sums, list, count, by_line, sql) : NM_ENOMEM;
	free(list);
	nm_pair_sums_done(&sums);
	return status;
}
