/* SPDX-License-Identifier: MIT
 *
 * pmu.c - stores the samplers of a simulated PMU and their samples, those of one place and victim together.
 */
#include <assert.h>
#include <stdlib.h>

#include "row.h"

static int finish_row(sqlite3_stmt *insert)
{
	const int status = sqlite3_step(insert);

	sqlite3_reset(insert);
	sqlite3_clear_bindings(insert);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int store_sampler(const struct nm_result_writer *w, sqlite3_stmt *insert, unsigned i)
{
	const struct nm_result_pmu *pmu = &w->result->pmu;
	const struct nm_pmu_request *request = &pmu->spec.samplers[i];
	const struct nm_result_pmu_sampler *did = &pmu->samplers[i];
	char name[NM_PMU_NAME];

	assert(i < NM_PMU_SAMPLERS);
	nm_pmu_name(request, name);
	nm_row_number(insert, 1, (uint64_t)w->process);
	nm_row_number(insert, 2, i + 1);
	sqlite3_bind_int64(insert, 3, nm_level_id(w, pmu->level));
	nm_row_text(insert, 4, name);
	nm_row_text(insert, 5, nm_pmu_rule_names[request->rule]);
	nm_row_number(insert, 6, request->period);
	if (pmu->spec.random)
		nm_row_number(insert, 7, pmu->spec.seed);
	nm_row_number(insert, 8, pmu->spec.shadow);
	nm_row_number(insert, 9, pmu->spec.handler);
	nm_row_number(insert, 10, did->interrupts);
	if (request->rule == NM_PMU_IBS)
		nm_row_number(insert, 11, did->tagged_accesses);
	if (pmu->spec.handler) {
		nm_row_number(insert, 12, did->program_misses);
		nm_row_number(insert, 13, did->handler_misses);
	}
	return finish_row(insert);
}

struct row {
	uint32_t sampler;
	int64_t place, victim; /* of the index; victim -1: none */
	uint64_t count;
};

static int by_key(const void *a, const void *b)
{
	const struct row *r = a, *y = b;

	if (r->sampler != y->sampler)
		return r->sampler > y->sampler ? 1 : -1;
	if (r->place != y->place)
		return r->place > y->place ? 1 : -1;
	return (r->victim > y->victim) - (r->victim < y->victim);
}

/* The rows, each key once, in order; malloc'ed, or NULL. */
static struct row *rows_of(const struct nm_result_writer *w, size_t *ret_count)
{
	const struct nm_result *r = w->result;
	struct row *rows = malloc((r->pmu_sample_count + 1) * sizeof *rows);
	size_t n = 0;

	for (size_t i = 0; rows && i < r->pmu_sample_count; i++) {
		const struct nm_result_pmu_sample *s = &r->pmu_samples[i];

		rows[i] = (struct row){
		    .sampler = s->sampler,
		    .place = w->index.place_of[s->attr],
		    .victim = s->victim == UINT32_MAX ? -1 : (int64_t)w->index.place_of[s->victim],
		    .count = s->count};
	}
	if (rows)
		qsort(rows, r->pmu_sample_count, sizeof *rows, by_key);
	for (size_t i = 0; rows && i < r->pmu_sample_count; i++)
		if (n && !by_key(&rows[n - 1], &rows[i]))
			rows[n - 1].count += rows[i].count;
		else
			rows[n++] = rows[i];
	*ret_count = n;
	return rows;
}

static int store_sample(const struct nm_result_writer *w, sqlite3_stmt *insert, const struct row *row)
{
	nm_row_number(insert, 1, (uint64_t)w->process);
	nm_row_number(insert, 2, row->sampler + 1);
	sqlite3_bind_int64(insert, 3, w->places + row->place);
	if (row->victim >= 0)
		sqlite3_bind_int64(insert, 4, w->places + row->victim);
	nm_row_number(insert, 5, row->count);
	return finish_row(insert);
}

static int store_samples(const struct nm_result_writer *w)
{
	sqlite3_stmt *insert = NULL;
	size_t count = 0;
	struct row *rows = rows_of(w, &count);
	int status = rows ? sqlite3_prepare_v2(w->store->db, "INSERT INTO pmu_sample VALUES(?,?,?,?,?)", -1,
					       &insert, NULL)
			  : SQLITE_NOMEM;

	for (size_t i = 0; i < count && !status; i++)
		status = store_sample(w, insert, &rows[i]);
	sqlite3_finalize(insert);
	free(rows);
	return status;
}

int nm_store_pmu(struct nm_result_writer *w)
{
	sqlite3_stmt *insert = NULL;
	int status;

	if (!w->result->pmu.spec.count)
		return 0;
	status = sqlite3_prepare_v2(w->store->db, "INSERT INTO pmu_sampler VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
				    -1, &insert, NULL);
	for (unsigned i = 0; i < w->result->pmu.spec.count && !status; i++)
		status = store_sampler(w, insert, i);
	sqlite3_finalize(insert);
	return status ? status : store_samples(w);
}
