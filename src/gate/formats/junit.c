/* SPDX-License-Identifier: MIT
 *
 * junit.c - a gate as a test suite of JUnit: a case for each budget, its counts as properties.
 */
#include <string.h>

#include "formats.h"

static void escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr("<>&\"'", *text))
			fprintf(out, "&#%d;", *text);
		else
			fputc(*text, out);
	}
}

static void attribute(const char *name, const char *value, FILE *out)
{
	fprintf(out, " %s=\"", name);
	escaped(value, out);
	fputc('"', out);
}

static void property(const char *name, double value, FILE *out)
{
	fprintf(out, "        <property name=\"%s\" value=\"%.10g\"/>\n", name, value);
}

static void properties(const struct nm_judgement *v, FILE *out)
{
	fputs("      <properties>\n", out);
	property("value", (double)v->now.value, out);
	property("least", (double)v->now.least, out);
	property("greatest", (double)v->now.greatest, out);
	if (v->budget->rule == NM_BUDGET_RELATIVE)
		property("base", (double)v->base.value, out);
	property("limit", v->limit, out);
	fputs("      </properties>\n", out);
}

static void test_case(const struct nm_judgement *v, FILE *out)
{
	fputs("    <testcase", out);
	attribute("classname", v->program, out);
	attribute("name", v->title, out);
	if (v->has_place && v->place.file && v->place.line) {
		attribute("file", v->place.file, out);
		fprintf(out, " line=\"%lld\"", (long long)v->place.line);
	}
	fputs(">\n", out);
	properties(v, out);
	if (v->outcome == NM_GATE_NOT_MET) {
		fputs("      <failure type=\"regression\"", out);
		attribute("message", v->sentence, out);
		fputs("/>\n", out);
	} else if (v->outcome == NM_GATE_IGNORED) {
		fputs("      <skipped", out);
		attribute("message", v->sentence, out);
		fputs("/>\n", out);
	}
	fputs("    </testcase>\n", out);
}

static int write_junit(const struct nm_gate *g, FILE *out)
{
	unsigned skipped = 0;

	for (size_t i = 0; i < g->judgements.count; i++)
		skipped += g->judgements.at[i].outcome == NM_GATE_IGNORED;
	fprintf(
	    out,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"nearmiss\" tests=\"%zu\" "
	    "failures=\"%u\" errors=\"0\" skipped=\"%u\">\n",
	    g->judgements.count, nm_gate_broken(g), skipped);
	for (size_t i = 0; i < g->judgements.count; i++)
		test_case(&g->judgements.at[i], out);
	fputs("  </testsuite>\n</testsuites>\n", out);
	return 0;
}

const struct nm_gate_format nm_gate_format_junit = {
    .name = "junit", .summary = "a test suite, as JUnit writes it", .write = write_junit};
