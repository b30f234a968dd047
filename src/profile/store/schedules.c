/* SPDX-License-Identifier: MIT
 *
 * schedules.c - stores the results of each order of the threads, if several were simulated: the result's own
 * is number 0.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "profile_priv.h"

static const char schedule_sql[] = "INSERT INTO schedule VALUES(?,?,?,?)";
static const char level_sql[] = "INSERT INTO schedule_level VALUES(?,?," NM_COUNT_MARKS ")";
static const char extra_sql[] = "INSERT INTO schedule_extra VALUES(?,?,?,?,?,?,?)";

void nm_order_rule(char *ret_rule, const struct nm_result_order *order)
{
	if (order->random)
		snprintf(ret_rule, NM_RULE_ROOM, "random:%" PRIu64, order->seed);
	else
		snprintf(ret_rule, NM_RULE_ROOM, "round-robin");
}

struct rows {
	const struct nm_result_writer *w;
	sqlite3_stmt *schedule, *level, *extra;
};

static int insert_row(sqlite3_stmt *insert, const uint64_t *values, int count)
{
	int status;

	assert(count <= sqlite3_bind_parameter_count(insert));
	for (int i = 0; i < count; i++)
		sqlite3_bind_int64(insert, i + 1, (sqlite3_int64)values[i]);
	status = sqlite3_step(insert);
	sqlite3_reset(insert);
	return status == SQLITE_DONE ? 0 : status;
}

/* One row per (thread, place) that has coherence misses. */
static int store_extras(const struct rows *rows, unsigned level, uint64_t schedule,
			const struct nm_extras *extras)
{
	const struct nm_result_writer *w = rows->w;
	const struct nm_result *result = w->result;
	size_t i = 0;
	int status = 0;

	while (extras && i < result->attr_count && !status) {
		const uint32_t first = w->index.order[i], thread = result->attrs[first].thread,
			       place = w->index.place_of[first];
		struct nm_extras sum = {0};

		for (; i < result->attr_count; i++) {
			const uint32_t attr = w->index.order[i];

			if (result->attrs[attr].thread != thread || w->index.place_of[attr] != place)
				break;
			nm_extras_add(&sum, &extras[attr]);
		}
		if (sum.coherence)
			status =
			    insert_row(rows->extra,
				       (const uint64_t[]){(uint64_t)nm_level_id(w, level), schedule, thread,
							  (uint64_t)w->places + place, sum.coherence,
							  sum.false_sharing, sum.unneeded},
				       7);
	}
	return status;
}

static int store_level(const struct rows *rows, unsigned level, uint64_t schedule,
		       const struct nm_counts *total, const struct nm_extras *extras)
{
	const uint64_t *counts = (const uint64_t *)total;
	uint64_t values[2 + NM_COUNTS] = {(uint64_t)nm_level_id(rows->w, level), schedule};
	int status;

	for (int i = 0; i < NM_COUNTS; i++)
		values[2 + i] = counts[i];
	status = insert_row(rows->level, values, 2 + NM_COUNTS);
	return status ? status : store_extras(rows, level, schedule, extras);
}

static int store_schedule(const struct rows *rows, uint64_t schedule, const struct nm_result_order *order)
{
	char rule[NM_RULE_ROOM];

	nm_order_rule(rule, order);
	sqlite3_bind_text(rows->schedule, 3, rule, -1, SQLITE_STATIC);
	sqlite3_bind_int64(rows->schedule, 4, (sqlite3_int64)order->stalls);
	return insert_row(rows->schedule, (const uint64_t[]){(uint64_t)rows->w->process, schedule}, 2);
}

static int store_all(const struct rows *rows)
{
	const struct nm_result *r = rows->w->result;
	int status = store_schedule(rows, 0, &r->order);

	for (unsigned level = 0; level < r->machine.count && !status; level++)
		status = store_level(rows, level, 0, &r->levels[level].total, r->levels[level].extras);
	for (size_t i = 0; i < r->schedule_count && !status; i++) {
		const struct nm_result_schedule *s = &r->schedules[i];

		status = store_schedule(rows, i + 1, &s->order);
		for (unsigned level = 0; level < r->machine.count && !status; level++)
			status = store_level(rows, level, i + 1, &s->totals[level], s->extras[level]);
	}
	return status;
}

int nm_store_schedules(const struct nm_result_writer *w)
{
	struct rows rows = {.w = w};
	sqlite3 *db = w->store->db;
	int status;

	if (!w->result->schedule_count)
		return 0;
	status = sqlite3_prepare_v2(db, schedule_sql, -1, &rows.schedule, NULL);
	if (!status)
		status = sqlite3_prepare_v2(db, level_sql, -1, &rows.level, NULL);
	if (!status)
		status = sqlite3_prepare_v2(db, extra_sql, -1, &rows.extra, NULL);
	if (!status)
		status = store_all(&rows);
	sqlite3_finalize(rows.schedule);
	sqlite3_finalize(rows.level);
	sqlite3_finalize(rows.extra);
	return status;
}
