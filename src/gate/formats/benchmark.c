/* SPDX-License-Identifier: MIT
 *
 * benchmark.c - the input `customSmallerIsBetter` of github-action-benchmark. Its range is one number, so it is
 * the larger distance from the count to an end of the interval.
 */
#include "formats.h"

static json_t *entry(const struct nm_verdict *v)
{
	const int64_t below = v->now.value - v->now.least, above = v->now.greatest - v->now.value;

	return json_pack("{s:o, s:s, s:I, s:o, s:s}", "name", json_sprintf("%s: %s", v->program, v->title),
			 "unit", nm_diff_metric_names[v->budget->metric], "value", (json_int_t)v->now.value,
			 "range", json_sprintf("± %lld", (long long)(below > above ? below : above)), "extra",
			 v->sentence);
}

static int write_benchmark(const struct nm_gate *g, FILE *out)
{
	json_t *all = json_array();
	int failed = !all;

	for (size_t i = 0; i < g->verdicts.count && !failed; i++)
		failed |= json_array_append_new(all, entry(&g->verdicts.at[i]));
	if (failed)
		json_decref(all);
	return failed ? NM_ENOMEM : nm_gate_dump(all, out);
}

const struct nm_gate_format nm_gate_format_benchmark = {.name = "customSmallerIsBetter",
							.summary = "the input of github-action-benchmark",
							.write = write_benchmark};
