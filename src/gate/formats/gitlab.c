/* SPDX-License-Identifier: MIT
 *
 * gitlab.c - a Code Quality report of GitLab: an issue for each budget that is not met. An issue has a line, so
 * one without is on the file of the budgets.
 */
#include "formats.h"

static json_t *issue(const struct nm_gate *g, const struct nm_verdict *v)
{
	const int has_line = v->has_place && v->place.file && v->place.line > 0;

	return json_pack("{s:s, s:s, s:o, s:s, s:{s:s, s:{s:I}}}", "description", v->sentence, "check_name",
			 v->id, "fingerprint",
			 v->has_place ? json_string(v->place.fingerprint)
				      : json_sprintf("%s/%s", v->program, v->title),
			 "severity", v->outcome == NM_GATE_NOT_MET ? "major" : "info", "location", "path",
			 has_line ? v->place.file : g->request->budgets->path, "lines", "begin",
			 (json_int_t)(has_line ? v->place.line : v->budget->line));
}

static int write_gitlab(const struct nm_gate *g, FILE *out)
{
	json_t *issues = json_array();
	int failed = 0;

	for (size_t i = 0; i < g->verdicts.count; i++)
		if (g->verdicts.at[i].outcome != NM_GATE_MET)
			failed |= json_array_append_new(issues, issue(g, &g->verdicts.at[i]));
	if (failed)
		json_decref(issues);
	return failed ? NM_ENOMEM : nm_gate_dump(issues, out);
}

const struct nm_gate_format nm_gate_format_gitlab = {
    .name = "gitlab", .summary = "a Code Quality report of GitLab", .write = write_gitlab};
