/* SPDX-License-Identifier: MIT
 *
 * github.c - workflow commands of GitHub Actions, which become annotations on the lines of a change. GitHub
 * shows ten of a kind in each step, so a budget that is met has none.
 */
#include <string.h>

#include "formats.h"

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
	for (size_t i = 0; i < g->verdicts.count; i++) {
		const struct nm_verdict *v = &g->verdicts.at[i];

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
