/* SPDX-License-Identifier: MIT
 *
 * annotations.c - budgets that are not met, on the lines of a change: GitHub Actions, and Code Quality of GitLab.
 */
#include <string.h>

#include "formats.h"

/* ---- GitHub ------------------------------------------------------------------------------------------------ */

/* Workflow commands. GitHub shows ten of a kind in each step, so a budget that is met has none. */

/* `also`: characters that end a property. */
static void escaped(const char *text, const char *also, FILE *out)
{
	for (; *text; text++) {
		if (strchr("%\r\n", *text) || strchr(also, *text))
			fprintf(out, "%%%02X", (unsigned)(unsigned char)*text);
		else
			fputc(*text, out);
	}
}

static int write_github(const struct nm_gate *g, FILE *out)
{
	for (size_t i = 0; i < g->judgements.count; i++) {
		const struct nm_judgement *v = &g->judgements.at[i];

		if (v->outcome == NM_GATE_MET)
			continue;
		fputs(v->outcome == NM_GATE_NOT_MET ? "::error " : "::notice ", out);
		if (v->has_place && v->place.file && v->place.line) {
			fputs("file=", out);
			escaped(v->place.file, ":,", out);
			fprintf(out, ",line=%lld,", (long long)v->place.line);
		}
		fputs("title=", out);
		escaped(v->title, ":,", out);
		fputs("::", out);
		escaped(v->sentence, "", out);
		fputc('\n', out);
	}
	return 0;
}

const struct nm_gate_format nm_gate_format_github = {
    .name = "github", .summary = "annotations of GitHub Actions", .write = write_github};

/* ---- GitLab ------------------------------------------------------------------------------------------------ */

/* An issue has a line, so one without is on the file of the budgets. */

static json_t *issue(const struct nm_gate *g, const struct nm_judgement *v)
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

	for (size_t i = 0; i < g->judgements.count; i++)
		if (g->judgements.at[i].outcome != NM_GATE_MET)
			failed |= json_array_append_new(issues, issue(g, &g->judgements.at[i]));
	if (failed)
		json_decref(issues);
	return failed ? NM_ENOMEM : nm_gate_dump(issues, out);
}

const struct nm_gate_format nm_gate_format_gitlab = {
    .name = "gitlab", .summary = "a Code Quality report of GitLab", .write = write_gitlab};
