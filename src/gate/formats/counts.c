/* SPDX-License-Identifier: MIT
 *
 * counts.c - the counts of all budgets with their intervals, for tools that draw them over time: OpenMetrics, Bencher,
 * github-action-benchmark.
 */
#include <string.h>

#include "gate_priv.h"

/* ---- OpenMetrics, which GitLab shows beside those of the base and Prometheus reads ------------------------- */

static void write_label(const char *name, const char *value, FILE *out)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++)
		if (*value == '\n')
			fputs("\\n", out);
		else
			fprintf(out, strchr("\\\"", *value) ? "\\%c" : "%c", *value);
	fputc('"', out);
}

static void write_gauge(const struct nm_gate *g, const char *name, const char *help,
			int64_t (*value)(const struct nm_judgement *), FILE *out)
{
	fprintf(out, "# TYPE nearmiss_%s gauge\n# HELP nearmiss_%s %s\n", name, name, help);
	for (size_t i = 0; i < g->judgements.count; i++) {
		const struct nm_judgement *j = &g->judgements.at[i];

		fprintf(out, "nearmiss_%s{", name);
		write_label("program", j->program, out);
		fputc(',', out);
		write_label("count", j->title, out);
		fprintf(out, "} %lld\n", (long long)value(j));
	}
}

static int64_t current_count(const struct nm_judgement *v) { return v->now.value; }
static int64_t least_allowed(const struct nm_judgement *v) { return v->now.least; }
static int64_t greatest_allowed(const struct nm_judgement *v) { return v->now.greatest; }
static int64_t met_count(const struct nm_judgement *v) { return v->outcome == NM_GATE_MET; }

static int write_openmetrics(const struct nm_gate *g, FILE *out)
{
	write_gauge(g, "count", "What a budget is for.", current_count, out);
	write_gauge(g, "count_least", "The least of all recordings.", least_allowed, out);
	write_gauge(g, "count_greatest", "The greatest of all recordings.", greatest_allowed, out);
	write_gauge(g, "budget_met", "1 if the budget is met.", met_count, out);
	fputs("# EOF\n", out);
	return 0;
}

const struct nm_gate_format nm_gate_format_openmetrics = {
    .name = "openmetrics", .summary = "OpenMetrics, for GitLab and Prometheus", .write = write_openmetrics};

/* ---- Bencher ----------------------------------------------------------------------------------------------- */

static int write_bencher(const struct nm_gate *g, FILE *out)
{
	json_t *all = json_object();
	int failed = !all;

	for (size_t i = 0; i < g->judgements.count && !failed; i++) {
		const struct nm_judgement *j = &g->judgements.at[i];
		json_t *name = json_sprintf("%s: %s", j->program, j->title);

		failed |= !name || json_object_set_new(all, json_string_value(name),
						       json_pack("{s:{s:I, s:I, s:I}}", j->id, "value",
								 (json_int_t)j->now.value, "lower_value",
								 (json_int_t)j->now.least, "upper_value",
								 (json_int_t)j->now.greatest));
		json_decref(name);
	}
	if (failed)
		json_decref(all);
	return failed ? NM_ENOMEM : nm_gate_dump(all, out);
}

const struct nm_gate_format nm_gate_format_bencher = {
    .name = "bencher", .summary = "the Bencher Metric Format", .write = write_bencher};

/* ---- customSmallerIsBetter of github-action-benchmark ------------------------------------------------------ */

/* Its range is one number, so it is the larger distance from the count to an end of the interval. */
static json_t *entry_json(const struct nm_judgement *j)
{
	const int64_t below = j->now.value - j->now.least, above = j->now.greatest - j->now.value;

	return json_pack("{s:o, s:s, s:I, s:o, s:s}", "name", json_sprintf("%s: %s", j->program, j->title),
			 "unit", nm_diff_metric_names[j->budget->metric], "value", (json_int_t)j->now.value,
			 "range", json_sprintf("± %lld", (long long)(below > above ? below : above)), "extra",
			 j->sentence);
}

static int write_benchmark(const struct nm_gate *g, FILE *out)
{
	json_t *all = json_array();
	int failed = !all;

	for (size_t i = 0; i < g->judgements.count && !failed; i++)
		failed |= json_array_append_new(all, entry_json(&g->judgements.at[i]));
	if (failed)
		json_decref(all);
	return failed ? NM_ENOMEM : nm_gate_dump(all, out);
}

const struct nm_gate_format nm_gate_format_benchmark = {.name = "customSmallerIsBetter",
							.summary = "the input of github-action-benchmark",
							.write = write_benchmark};
