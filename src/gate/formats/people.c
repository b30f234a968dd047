/* SPDX-License-Identifier: MIT
 *
 * people.c - a gate for people: on a terminal, and as Markdown.
 */
#include <string.h>

#include "gate_priv.h"

/* ---- a terminal -------------------------------------------------------------------------------------------- */

/* A line for each budget, and the place of what is not met below it. */
static int write_text(const struct nm_gate *g, FILE *out)
{
	nm_gate_verdict(g, out);
	fputc('\n', out);
	for (size_t i = 0; i < g->judgements.count; i++) {
		const struct nm_judgement *j = &g->judgements.at[i];

		fprintf(out, "%-7s  %s: %s: %s, allowed %s\n", nm_outcome_names[j->outcome], j->program,
			j->title, j->counts, j->allowed);
		if (j->has_place)
			fprintf(out, "         %s\n", j->where);
		if (j->outcome == NM_GATE_IGNORED)
			fprintf(out, "         %s\n", j->budget->ignore);
	}
	if (*nm_gate_note(g))
		fprintf(out, "%s.\n", nm_gate_note(g));
	return 0;
}

const struct nm_gate_format nm_gate_format_text = {
    .name = "text", .summary = "for a terminal", .write = write_text};

/* ---- Markdown ---------------------------------------------------------------------------------------------- */

/* A comment on a pull request, or the summary of a job. The first line is a marker by which a later comment finds
 * the one that it replaces. */

/* A comment may have 65,536 characters; a row takes some hundred, and further budgets are counted. */
enum { ROWS = 100 };

/* Text in a cell: what would end it, or be markup, is escaped. */
static void write_cell(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr("|\\`*_<>[]~#", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void write_row(const struct nm_judgement *j, FILE *out)
{
	const char *const cells[] = {
	    nm_outcome_names[j->outcome], j->program, j->title, j->counts, j->allowed,
	    j->where ? j->where : ""};

	for (unsigned i = 0; i < sizeof cells / sizeof *cells; i++) {
		fputs("| ", out);
		write_cell(cells[i], out);
		fputc(' ', out);
	}
	fputs("|\n", out);
}

static int write_markdown(const struct nm_gate *g, FILE *out)
{
	size_t rows = 0;

	fprintf(out, "<!-- nearmiss:%s -->\n**nearmiss**: ", g->request->name);
	nm_gate_verdict(g, out);
	fputs(".\n\n| | program | budget | counts | allowed | where |\n|---|---|---|---|---|---|\n", out);
	for (int met = 0; met < 2; met++) /* what is not met comes first */
		for (size_t i = 0; i < g->judgements.count && rows < ROWS; i++)
			if ((g->judgements.at[i].outcome == NM_GATE_MET) == met) {
				write_row(&g->judgements.at[i], out);
				rows++;
			}
	if (rows < g->judgements.count)
		fprintf(out, "\nand %zu more budgets\n", g->judgements.count - rows);
	if (*nm_gate_note(g))
		fprintf(out, "\n%s.\n", nm_gate_note(g));
	return 0;
}

const struct nm_gate_format nm_gate_format_markdown = {
    .name = "markdown",
    .summary = "a comment on a pull request, or the summary of a job",
    .write = write_markdown};
