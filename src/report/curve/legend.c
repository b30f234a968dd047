/* SPDX-License-Identifier: MIT
 *
 * legend.c - the labels of curves and the headings of plots.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curve_priv.h"
#include "utf8.h"

static int several_processes(const struct nm_curves *curves)
{
	for (size_t i = 1; i < curves->list.count; i++)
		if (curves->list.at[i].process != curves->list.at[0].process)
			return 1;
	return 0;
}

/* Frees the text and returns a copy that is safe to print: names come from the profiled program. */
static const char *keep_text(struct nm_curves *curves, char *text)
{
	char *clean = text ? nm_utf8_clean(text) : NULL;
	const char *kept = clean ? nm_intern(&curves->pool, clean) : NULL;

	free(text);
	free(clean);
	return kept;
}

const char *nm_curve_label(struct nm_curves *curves, const struct nm_curve *c)
{
	const int process = several_processes(curves) && strcmp(c->name, c->process) != 0;
	const int method = curves->methods > 1 || !c->exact;
	char *text;

	if (asprintf(&text, "%s%s%s%s%s%s%s", c->source ? c->source : "", c->source ? ": " : "", c->name,
		     process ? " in " : "", process ? c->process : "", method ? ", " : "",
		     method ? c->method : "") < 0)
		return NULL;
	return keep_text(curves, text);
}

const char *nm_curve_title(struct nm_curves *curves, const struct nm_curve_request *request)
{
	const struct nm_curve *first = &curves->list.at[0];
	char *text;
	int length = strcmp(request->by, "total")
			 ? asprintf(&text, "%s: miss ratio by %s", first->process, request->by)
			 : asprintf(&text, "%s: miss ratio", first->process);

	return length < 0 ? NULL : keep_text(curves, text);
}
