/* SPDX-License-Identifier: MIT */
#include "pairs.h"

#include <assert.h>
#include <string.h>

const char nm_apart_expression[] =
    "CASE WHEN user_function = '" NM_WAITING_IN_MPI "' THEN 2 "
    "WHEN object LIKE '% .dynsym' OR object LIKE '% .dynstr' OR object LIKE '% .gnu.hash' OR "
    "object LIKE '% .gnu.version%' OR object LIKE '% .rela.%' OR object LIKE '% .dynamic' OR "
    "(library AND (file LIKE '%/elf/%' OR file LIKE '%/dl-%' OR file LIKE '%/get-dynamic-info.h' OR "
    "file LIKE '%/cpu-features.c' OR module LIKE 'ld-linux%' OR module LIKE 'ld-musl%')) THEN 1 ELSE 0 END";

int nm_pairs_have_numbers(const struct nm_selection *selection)
{
	return selection->has_cells && !nm_levels_split(&selection->levels);
}

int nm_pairs_load(struct nm_level_cube *pairs, struct nm_profile *profile,
		  const struct nm_selection *selection, int by_line, struct nm_error *err)
{
	const int by_number = nm_pairs_have_numbers(selection);
	struct nm_level_key keys[6] = {{"apart", "0", 1}};
	struct nm_level_cube_request request = {.selection = selection,
						.level = selection->request.level,
						.keys = keys,
						.view = by_number ? "cells" : "counts"};

	if (selection->leaves_apart)
		keys[0].from = by_number ? "(counts.place IN (SELECT place FROM z WHERE apart = 1)) + "
					   "2 * (counts.place IN (SELECT place FROM z WHERE apart = 2))"
					 : nm_apart_expression;
	if (by_number) {
		keys[1] = (struct nm_level_key){"site", by_line ? "counts.site" : "NULL", 1};
		keys[2] = (struct nm_level_key){"name", "counts.name", 1};
		request.apart = selection->leaves_apart ? nm_apart_expression : NULL;
		request.key_count = 3;
	} else {
		keys[1] = (struct nm_level_key){"object", "counts.object", 0};
		keys[2] = (struct nm_level_key){"function", "counts.function", 0};
		keys[3] = (struct nm_level_key){"file", "counts.file", 0};
		keys[4] = (struct nm_level_key){"line", "counts.line", 1};
		request.key_count = 5;
	}
	return nm_level_cube_load(pairs, profile, &request, err);
}

struct nm_cube_condition nm_pairs_shown(void)
{
	return (struct nm_cube_condition){NM_PAIR_APART, NM_APART_NOT + 1};
}

int nm_rest_sum(const struct nm_level_cube *pairs, const struct nm_selection *selection,
		struct nm_rest rest[NM_APARTS])
{
	unsigned by[NM_CUBE_KEYS], count = pairs->cube.key_count - NM_PAIR_APART;
	struct nm_charged charged;

	for (unsigned k = 0; k < count; k++)
		by[k] = NM_PAIR_APART + k;
	memset(rest, 0, NM_APARTS * sizeof *rest);
	if (nm_charge(&charged, pairs, selection, selection->request.level, by, count, NULL, 0))
		return NM_ENOMEM;
	for (size_t row = 0; row < charged.cube.row_count; row++) {
		const struct nm_metric_row r = nm_charged_row(&charged, row);
		struct nm_rest *to = &rest[nm_key_number(nm_cube_keys(&charged.cube, row)[0])];

		if (!nm_cube_sums(&charged.cube, row)[NM_CHARGED_OWN])
			continue;
		to->pairs++;
		to->misses = nm_sum_bounded(to->misses, r.sums.read_misses + r.sums.write_misses);
		to->last_misses = nm_sum_bounded(to->last_misses, r.last_misses);
		to->cycles = nm_sum_bounded(to->cycles, r.cycles);
	}
	nm_charged_done(&charged);
	return 0;
}
