/* SPDX-License-Identifier: MIT
 *
 * openmetrics.c - the counts of all budgets as OpenMetrics text, which GitLab shows beside those of the base
 * and Prometheus reads.
 */
#include <string.h>

#include "formats.h"

static void label(const char *name, const char *value, FILE *out)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++)
		if (*value == '\n')
			fputs("\\n", out);
		else
			fprintf(out, strchr("\\\"", *value) ? "\\%c" : "%c", *value);
	fputc('"', out);
}

static void gauge(const struct nm_gate *g, const char *name, const char *help,
		  int64_t (*value)(const struct nm_verdict *), FILE *out)
{
	fprintf(out, "# TYPE nearmiss_%s gauge\n# HELP nearmiss_%s %s\n", name, name, help);
	for (size_t i = 0; i < g->verdicts.count; i++) {
		const struct nm_verdict *v = &g->verdicts.at[i];

		fprintf(out, "nearmiss_%s{", name);
		label("program", v->program, out);
		fputc(',', out);
		label("count", v->title, out);
		fprintf(out, "} %lld\n", (long long)value(v));
	}
}

static int64_t now(const struct nm_verdict *v) { return v->now.value; }
static int64_t least(const struct nm_verdict *v) { return v->now.least; }
static int64_t greatest(const struct nm_verdict *v) { return v->now.greatest; }
static int64_t met(const struct nm_verdict *v) { return v->outcome == NM_GATE_MET; }

static int write_openmetrics(const struct nm_gate *g, FILE *out)
{
	gauge(g, "count", "What a budget is for.", now, out);
	gauge(g, "count_least", "The least of all recordings.", least, out);
	gauge(g, "count_greatest", "The greatest of all recordings.", greatest, out);
	gauge(g, "budget_met", "1 if the budget is met.", met, out);
	fputs("# EOF\n", out);
	return 0;
}

const struct nm_gate_format nm_gate_format_openmetrics = {
    .name = "openmetrics", .summary = "OpenMetrics, for GitLab and Prometheus", .write = write_openmetrics};
