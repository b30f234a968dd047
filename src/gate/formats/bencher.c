/* SPDX-License-Identifier: MIT
 *
 * bencher.c - the Bencher Metric Format: counts with their intervals, by program and what they are counts of.
 */
#include "formats.h"

static int write_bencher(const struct nm_gate *g, FILE *out)
{
	json_t *all = json_object();
	int failed = !all;

	for (size_t i = 0; i < g->verdicts.count && !failed; i++) {
		const struct nm_verdict *v = &g->verdicts.at[i];
		json_t *name = json_sprintf("%s: %s", v->program, v->title);

		failed |= !name || json_object_set_new(all, json_string_value(name),
						       json_pack("{s:{s:I, s:I, s:I}}", v->id, "value",
								 (json_int_t)v->now.value, "lower_value",
								 (json_int_t)v->now.least, "upper_value",
								 (json_int_t)v->now.greatest));
		json_decref(name);
	}
	if (failed)
		json_decref(all);
	return failed ? NM_ENOMEM : nm_gate_dump(all, out);
}

const struct nm_gate_format nm_gate_format_bencher = {
    .name = "bencher", .summary = "the Bencher Metric Format", .write = write_bencher};
