/* SPDX-License-Identifier: MIT
 *
 * formats.c - the table of formats, and what those in JSON share.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gate_priv.h"

extern const struct nm_gate_format nm_gate_format_text, nm_gate_format_markdown, nm_gate_format_github,
    nm_gate_format_sarif, nm_gate_format_junit, nm_gate_format_gitlab, nm_gate_format_openmetrics,
    nm_gate_format_bencher, nm_gate_format_benchmark;

static const struct nm_gate_format *const formats[] = {
    &nm_gate_format_text,        &nm_gate_format_markdown, &nm_gate_format_github,
    &nm_gate_format_sarif,       &nm_gate_format_junit,    &nm_gate_format_gitlab,
    &nm_gate_format_openmetrics, &nm_gate_format_bencher,  &nm_gate_format_benchmark,
};

const struct nm_gate_format *nm_gate_format_at(unsigned i)
{
	return i < sizeof formats / sizeof *formats ? formats[i] : NULL;
}

const struct nm_gate_format *nm_gate_format_named(const char *name)
{
	assert(name);
	for (unsigned i = 0; nm_gate_format_at(i); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

void nm_gate_verdict(const struct nm_gate *g, FILE *out)
{
	const unsigned broken = nm_gate_broken(g);
	const size_t all = g->judgements.count;

	if (!broken)
		fprintf(out, all == 1 ? "the budget is met" : "all %zu budgets are met", all);
	else
		fprintf(out, "%u of %zu budget%s %s not met", broken, all, all == 1 ? "" : "s",
			broken == 1 ? "is" : "are");
}

int nm_gate_dump(json_t *json, FILE *out)
{
	char *text = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) : NULL;

	json_decref(json);
	if (!text)
		return NM_ENOMEM;
	fprintf(out, "%s\n", text);
	free(text);
	return 0;
}
