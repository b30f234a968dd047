/* SPDX-License-Identifier: MIT */
#include "pair_sums.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "memstream.h"

const char nm_apart_expression[] =
    "CASE WHEN user_function = '" NM_WAITING_IN_MPI "' THEN 2 "
    "WHEN object LIKE '% .dynsym' OR object LIKE '% .dynstr' OR object LIKE '% .gnu.hash' OR "
    "object LIKE '% .gnu.version%' OR object LIKE '% .rela.%' OR object LIKE '% .dynamic' OR "
    "(library AND (file LIKE '%/elf/%' OR file LIKE '%/dl-%' OR file LIKE '%/get-dynamic-info.h' OR "
    "file LIKE '%/cpu-features.c' OR module LIKE 'ld-linux%' OR module LIKE 'ld-musl%')) THEN 1 ELSE 0 END";

static const char *const numbers[] = {"site", "name", "apart", NULL};
static const char *const texts[] = {"object", "function", "file", "line", "apart", NULL};

int nm_pairs_have_numbers(const struct nm_selection *selection)
{
	return selection->has_cells && !nm_levels_split(&selection->levels);
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* The keys, the sums and the cycles of each row of counts. */
static char *write_query(const struct nm_selection *selection, int by_line)
{
	const struct nm_report_request *r = &selection->request;
	const int by_number = nm_pairs_have_numbers(selection), has_apart = selection->leaves_apart;
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);

	if (!sql)
		return NULL;
	fputs("WITH " NM_LEVELS_W " AS (", sql);
	nm_levels_weights(&selection->levels, r->level, sql);
	fprintf(sql,
		"), x AS MATERIALIZED (SELECT object FROM objects WHERE kind = 'code'), "
		"z AS MATERIALIZED (SELECT place, %s AS apart FROM places WHERE apart) SELECT %s, %s, w.own, "
		"w.own * cold, w.own * (read_misses + write_misses), (w.source = ",
		nm_apart_expression,
		!by_number ? "object, function, file, line"
		: by_line  ? "site, name"
			   : "NULL, name",
		!has_apart  ? "0"
		: by_number ? "(counts.place IN (SELECT place FROM z WHERE apart = 1)) + "
			      "2 * (counts.place IN (SELECT place FROM z WHERE apart = 2))"
			    : nm_apart_expression);
	nm_sql_text(selection->last ? selection->last->name : "", sql);
	fputs(") * (read_misses + write_misses), 0, ", sql);
	nm_levels_cell_cycles(&selection->levels, "counts", sql);
	fprintf(sql, " FROM w CROSS JOIN %s ON counts.level = w.source WHERE %s%s%s",
		by_number ? "cells AS counts" : "counts",
		by_number ? "1" : "(w.code IS NULL OR w.code = (counts.object IN x))",
		r->process ? " AND counts.process = ?1" : "", r->thread ? " AND counts.thread = ?2" : "");
	return nm_memstream_close(sql, &text) ? NULL : text;
}

static int add_pair(struct nm_pair_sums *to, const nm_key *keys, const int64_t *sums, double cycles)
{
	int64_t *total = nm_cube_at(&to->cube, keys);

	if (!total || nm_vec_reach(&to->cycles, to->cube.row_count))
		return NM_ENOMEM;
	for (unsigned s = 0; s < NM_PAIR_APART; s++)
		total[s] = nm_sum_bounded(total[s], sums[s]);
	if (total[NM_PAIR_APART] < sums[NM_PAIR_APART])
		total[NM_PAIR_APART] = sums[NM_PAIR_APART];
	to->cycles.at[(size_t)(total - to->cube.sums) / NM_PAIR_SUMS] += cycles;
	return 0;
}

static int add_rows(struct nm_pair_sums *sums, struct nm_rows *rows, struct nm_error *err)
{
	const unsigned first = sums->cube.key_count;
	int status;

	while ((status = nm_rows_next(rows, err)) > 0) {
		nm_key keys[NM_CUBE_KEYS];
		int64_t values[NM_PAIR_SUMS];

		for (unsigned s = 0; s < NM_PAIR_SUMS; s++)
			values[s] = nm_rows_bounded(rows, first + s);
		if (nm_cube_read_keys(&sums->cube, &sums->names, rows, keys))
			return nm_fail_memory(err);
		values[NM_PAIR_APART] = nm_key_number(keys[first - 1]);
		if (add_pair(sums, keys, values, nm_rows_real(rows, first + NM_PAIR_SUMS)))
			return nm_fail_memory(err);
	}
	return status;
}

int nm_pair_sums_load(struct nm_pair_sums *sums, struct nm_profile *profile,
		      const struct nm_selection *selection, int by_line, struct nm_error *err)
{
	const int by_number = nm_pairs_have_numbers(selection);
	struct nm_rows *rows = NULL;
	char *sql = write_query(selection, by_line);
	int status = sql ? nm_profile_query(profile, sql, &rows, err) : nm_fail_memory(err);

	*sums = (struct nm_pair_sums){.cube = nm_cube_of(by_number ? numbers : texts, NM_PAIR_SUMS)};
	sums->cube.numbers |= by_number ? (1u << sums->cube.key_count) - 1 : 1u << (sums->cube.key_count - 1);
	if (!status) {
		nm_rows_bind_text(rows, 1, selection->request.process);
		nm_rows_bind_integer(rows, 2, selection->request.thread);
		status = add_rows(sums, rows, err);
	}
	nm_rows_free(rows);
	free(sql);
	if (status)
		nm_pair_sums_done(sums);
	return status;
}

void nm_pair_sums_done(struct nm_pair_sums *sums)
{
	nm_cube_done(&sums->cube);
	nm_vec_free(&sums->cycles);
	nm_cube_names_done(&sums->names);
}

/* ---- sums ----------------------------------------------------------------------------------------- */

int nm_pair_sums_group(struct nm_pair_sums *to, const struct nm_pair_sums *pairs, const unsigned *by,
		       unsigned by_count, int without_apart)
{
	const struct nm_cube *from = &pairs->cube;
	int status = 0;

	*to = (struct nm_pair_sums){.cube = {.key_count = by_count, .sum_count = NM_PAIR_SUMS}};
	for (unsigned k = 0; k < by_count; k++) {
		assert(by[k] < from->key_count);
		to->cube.names[k] = from->names[by[k]];
		to->cube.numbers |= (from->numbers >> by[k] & 1) << k;
	}
	for (size_t row = 0; !status && row < from->row_count; row++) {
		const int64_t *sums = nm_cube_sums(from, row);
		nm_key keys[NM_CUBE_KEYS];

		if (without_apart && sums[NM_PAIR_APART])
			continue;
		for (unsigned k = 0; k < by_count; k++)
			keys[k] = nm_cube_keys(from, row)[by[k]];
		status = add_pair(to, keys, sums, pairs->cycles.at[row]);
	}
	if (status)
		nm_pair_sums_done(to);
	return status;
}

int nm_rest_sum(const struct nm_pair_sums *pairs, struct nm_rest rest[NM_APARTS])
{
	static const unsigned all[] = {0, 1, 2, 3};
	struct nm_pair_sums whole;
	int status = nm_pair_sums_group(&whole, pairs, all, pairs->cube.key_count - 1, 0);

	memset(rest, 0, NM_APARTS * sizeof *rest);
	if (status)
		return status;
	for (size_t row = 0; row < whole.cube.row_count; row++) {
		const int64_t *sums = nm_cube_sums(&whole.cube, row);
		struct nm_rest *to = &rest[sums[NM_PAIR_APART]];

		if (!sums[NM_PAIR_OWN])
			continue;
		to->pairs++;
		to->misses += sums[NM_PAIR_MISSES];
		to->last_misses += sums[NM_PAIR_LAST_MISSES];
		to->cycles += (int64_t)whole.cycles.at[row];
	}
	nm_pair_sums_done(&whole);
	return 0;
}
