/* SPDX-License-Identifier: MIT
 *
 * text.c - a gate for a terminal: a line for each budget, and the place of what is not met below it.
 */
#include "formats.h"

static int write_text(const struct nm_gate *g, FILE *out)
{
	nm_gate_verdict(g, out);
	fputc('\n', out);
	for (size_t i = 0; i < g->verdicts.count; i++) {
		const struct nm_verdict *v = &g->verdicts.at[i];

		fprintf(out, "%-7s  %s: %s: %s, allowed %s\n", nm_outcome_names[v->outcome], v->program,
			v->title, v->counts, v->allowed);
		if (v->has_place)
			fprintf(out, "         %s\n", v->where);
		if (v->outcome == NM_GATE_IGNORED)
			fprintf(out, "         %s\n", v->budget->ignore);
	}
	if (*nm_gate_note(g))
		fprintf(out, "%s.\n", nm_gate_note(g));
	return 0;
}

const struct nm_gate_format nm_gate_format_text = {
    .name = "text", .summary = "for a terminal", .write = write_text};
