/* SPDX-License-Identifier: MIT
 *
 * alike.c - groups the inputs of a merge that behave alike (merge_priv.h).
 *
 * An input is the list of its misses of each object at each level. Two lists differ by the dissimilarity of Bray and
 * Curtis (1957), sum |a - b| / sum (a + b): 0 for equal lists, 1 for lists that have nothing in common. The leader
 * algorithm (Hartigan 1975) goes through the inputs by falling misses: an input joins the first group from whose
 * leader it differs by at most a tenth, else it leads a new one. So groups are the same in every run, memory is a
 * list for each group, and two members of a group differ from the same list by at most a tenth.
 */
#include <stdlib.h>

#include "map.h"
#include "merge_priv.h"
#include "vector.h"

static const double MOST = 0.1;

struct misses {
	sqlite3_int64 level, object, count;
};
struct behaviour nm_vec(struct misses);

/* By level and object. */
static int read_behaviour(sqlite3_stmt *query, sqlite3_int64 input, struct behaviour *ret)
{
	int status, more;

	ret->count = 0;
	sqlite3_bind_int64(query, 1, input);
	while (!(status = nm_merge_step(query, &more)) && more) {
		const struct misses m = {sqlite3_column_int64(query, 0), sqlite3_column_int64(query, 1),
					 sqlite3_column_int64(query, 2)};

		if (nm_vec_push(ret, m)) {
			status = SQLITE_NOMEM;
			break;
		}
	}
	sqlite3_reset(query);
	return status;
}

static int compare_misses(const struct misses *m, const struct misses *b)
{
	if (m->level != b->level)
		return m->level < b->level ? -1 : 1;
	return (m->object > b->object) - (m->object < b->object);
}

static double behaviour_difference(const struct behaviour *a, const struct behaviour *b)
{
	double apart = 0, all = 0;
	size_t i = 0, k = 0;

	while (i < a->count || k < b->count) {
		const int side = i == a->count   ? 1
				 : k == b->count ? -1
						 : compare_misses(&a->at[i], &b->at[k]);
		const double x = side <= 0 ? (double)a->at[i].count : 0;
		const double y = side >= 0 ? (double)b->at[k].count : 0;

		apart += x > y ? x - y : y - x;
		all += x + y;
		i += side <= 0;
		k += side >= 0;
	}
	return all > 0 ? apart / all : 0;
}

struct groups nm_vec(struct behaviour); /* the lists of the leaders */

/* The group of an input, from 1; a new one takes the list. 0 if memory is exhausted. */
static sqlite3_int64 group_of(struct groups *groups, struct behaviour *input)
{
	for (size_t g = 0; g < groups->count; g++)
		if (behaviour_difference(&groups->at[g], input) <= MOST)
			return (sqlite3_int64)g + 1;
	if (nm_vec_push(groups, *input))
		return 0;
	*input = (struct behaviour){0};
	return (sqlite3_int64)groups->count;
}

enum { INPUTS, MISSES, SET, STATEMENTS };
static const char *const sql[] = {
    [INPUTS] = "SELECT i.id FROM input i LEFT JOIN input_level l ON l.input = i.id GROUP BY i.id "
	       "ORDER BY sum(l.read_misses + l.write_misses) DESC, i.id",
    [MISSES] =
	"SELECT c.level, p.object, sum(c.misses) FROM input_cell c CROSS JOIN place p ON p.id = c.place "
	"WHERE c.input = ?1 GROUP BY c.level, p.object ORDER BY c.level, p.object",
    [SET] = "UPDATE input SET alike = ?2 WHERE id = ?1",
};

static int group_all(sqlite3_stmt **s, struct groups *groups, struct behaviour *input)
{
	int status, more;

	while (!(status = nm_merge_step(s[INPUTS], &more)) && more) {
		const sqlite3_int64 id = sqlite3_column_int64(s[INPUTS], 0);
		sqlite3_int64 group = 0;

		status = read_behaviour(s[MISSES], id, input);
		if (!status && !(group = group_of(groups, input)))
			status = SQLITE_NOMEM;
		sqlite3_bind_int64(s[SET], 1, id);
		sqlite3_bind_int64(s[SET], 2, group);
		if (!status)
			status = nm_merge_run(s[SET]);
		if (status)
			break;
	}
	return status;
}

int nm_merge_alike(sqlite3 *db)
{
	sqlite3_stmt *statements[STATEMENTS] = {NULL};
	struct groups groups = {0};
	struct behaviour input = {0};
	int status = SQLITE_OK;

	for (int i = 0; i < STATEMENTS && !status; i++)
		status = sqlite3_prepare_v2(db, sql[i], -1, &statements[i], NULL);
	if (!status)
		status = group_all(statements, &groups, &input);
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(statements[i]);
	for (size_t g = 0; g < groups.count; g++)
		nm_vec_free(&groups.at[g]);
	nm_vec_free(&groups);
	nm_vec_free(&input);
	return status;
}
