/* SPDX-License-Identifier: MIT
 *
 * junit.c - a gate as a test suite of JUnit: a case for each budget, its counts as properties.
 */
#include <string.h>

#include "gate_priv.h"

static void write_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr("<>&\"'", *text))
			fprintf(out, "&#%d;", *text);
		else
			fputc(*text, out);
	}
}

static void write_attribute(const char *name, const char *value, FILE *out)
{
	fprintf(out, " %s=\"", name);
	write_escaped(value, out);
	fputc('"', out);
}

static void write_property(const char *name, double value, FILE *out)
{
	fprintf(out, "        <property name=\"%s\" value=\"%.10g\"/>\n", name, value);
}

static void write_properties(const struct nm_judgement *j, FILE *out)
{
	fputs("      <properties>\n", out);
	write_property("value", (double)j->now.value, out);
	write_property("least", (double)j->now.least, out);
	write_property("greatest", (double)j->now.greatest, out);
	if (j->budget->rule == NM_BUDGET_RELATIVE)
		write_property("base", (double)j->base.value, out);
	write_property("limit", j->limit, out);
	fputs("      </properties>\n", out);
}

static void test_case(const struct nm_judgement *j, FILE *out)
{
	fputs("    <testcase", out);
	write_attribute("classname", j->program, out);
	write_attribute("name", j->title, out);
	if (j->has_place && j->place.file && j->place.line) {
		write_attribute("file", j->place.file, out);
		fprintf(out, " line=\"%lld\"", (long long)j->place.line);
	}
	fputs(">\n", out);
	write_properties(j, out);
	if (j->outcome == NM_GATE_NOT_MET) {
		fputs("      <failure type=\"regression\"", out);
		write_attribute("message", j->sentence, out);
		fputs("/>\n", out);
	} else if (j->outcome == NM_GATE_IGNORED) {
		fputs("      <skipped", out);
		write_attribute("message", j->sentence, out);
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
