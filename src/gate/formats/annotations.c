/* SPDX-License-Identifier: MIT
 *
 * annotations.c - budgets that are not met, on the lines of a change: GitHub Actions, and Code Quality of GitLab.
 */
#include <string.h>

#include "gate_priv.h"

/* ---- GitHub ------------------------------------------------------------------------------------------------ */

/* Workflow commands. GitHub shows ten of a kind in each step, so a budget that is met has none. */

/* `also`: characters that end a property. */
static void write_escaped(const char *text, const char *also, FILE *out)
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
		const struct nm_judgement *j = &g->judgements.at[i];

		if (j->outcome == NM_GATE_MET)
			continue;
		fputs(j->outcome == NM_GATE_NOT_MET ? "::error " : "::notice ", out);
		if (j->has_place && j->place.file && j->place.line) {
			fputs("file=", out);
			write_escaped(j->place.file, ":,", out);
			fprintf(out, ",line=%lld,", (long long)j->place.line);
		}
		fputs("title=", out);
		write_escaped(j->title, ":,", out);
		fputs("::", out);
		write_escaped(j->sentence, "", out);
		fputc('\n', out);
	}
	return 0;
}

const struct nm_gate_format nm_gate_format_github = {
    .name = "github", .summary = "annotations of GitHub Actions", .write = write_github};

/* ---- GitLab ------------------------------------------------------------------------------------------------ */

/* An issue has a line, so one without is on the file of the budgets. */

static json_t *issue_json(const struct nm_gate *g, const struct nm_judgement *j)
{
	const int has_line = j->has_place && j->place.file && j->place.line > 0;

	return json_pack("{s:s, s:s, s:o, s:s, s:{s:s, s:{s:I}}}", "description", j->sentence, "check_name",
			 j->id, "fingerprint",
			 j->has_place ? json_string(j->place.fingerprint)
				      : json_sprintf("%s/%s", j->program, j->title),
			 "severity", j->outcome == NM_GATE_NOT_MET ? "major" : "info", "location", "path",
			 has_line ? j->place.file : g->request->budgets->path, "lines", "begin",
			 (json_int_t)(has_line ? j->place.line : j->budget->line));
}

static int write_gitlab(const struct nm_gate *g, FILE *out)
{
	json_t *issues = json_array();
	int failed = 0;

	for (size_t i = 0; i < g->judgements.count; i++)
		if (g->judgements.at[i].outcome != NM_GATE_MET)
			failed |= json_array_append_new(issues, issue_json(g, &g->judgements.at[i]));
	if (failed)
		json_decref(issues);
	return failed ? NM_ENOMEM : nm_gate_dump(issues, out);
}

const struct nm_gate_format nm_gate_format_gitlab = {
    .name = "gitlab", .summary = "a Code Quality report of GitLab", .write = write_gitlab};
