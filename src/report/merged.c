/* SPDX-License-Identifier: MIT
 *
 * merged.c - see merged.h.
 */
#include "merged.h"

#include <stdlib.h>

#include "memstream.h"
#include "selection.h"

enum { SHOWN = 4 };

int nm_groups_fill(struct nm_profile *profile, const struct nm_selection *selection,
		   struct nm_report_table *ret_groups, struct nm_error *err)
{
	const struct nm_selection of = {
	    .request = {.level = selection->request.level, .process = selection->request.process}};
	const int has = nm_profile_has_rows(profile, "inputs", err);

	return has <= 0 ? has : nm_report_fill(nm_report_named("groups"), profile, &of, ret_groups, err);
}

/* Where a group differs most from the others. */
static void print_difference(const struct nm_table *groups, size_t row, FILE *out)
{
	const char *object = nm_table_named(groups, row, "object")->text;
	const double own = nm_table_named(groups, row, "own")->real;
	const double others = nm_table_named(groups, row, "others")->real;

	if (!object)
		return;
	fprintf(out, " (most in %s: ", object);
	nm_print_grouped((int64_t)(own + 0.5), out);
	fputs(" misses each, ", out);
	nm_print_grouped((int64_t)(others + 0.5), out);
	fputs(" in others)", out);
}

static void write_groups(const struct nm_table *groups, FILE *out)
{
	int64_t profiles = 0, most = 0;
	size_t i;

	for (i = 0; i < groups->row_count; i++) {
		const int64_t members = nm_table_named(groups, i, "profiles")->integer;

		profiles += members;
		most = members > most ? members : most;
	}
	nm_print_grouped(profiles, out);
	fprintf(out, " profile%s", profiles == 1 ? "" : "s");
	for (i = 0; profiles > 1 && i < groups->row_count && i < SHOWN; i++) {
		const int64_t members = nm_table_named(groups, i, "profiles")->integer;

		fputs("; ", out);
		nm_print_grouped(members, out);
		fprintf(out, "%s: %s", members == 1 ? " unlike the others" : " alike",
			nm_table_named(groups, i, "members")->text);
		if (members < most || most == 1) /* of the largest it would say the same again */
			print_difference(groups, i, out);
	}
	if (profiles > 1 && i < groups->row_count)
		fprintf(out, "; and %zu more groups: nearmiss report groups", groups->row_count - i);
}

int nm_groups_print(const struct nm_table *groups, unsigned width, FILE *out)
{
	char *text = NULL;
	FILE *to;

	if (!groups->row_count)
		return 0;
	to = nm_memstream_open(&text, NULL);
	if (!to)
		return NM_ENOMEM;
	write_groups(groups, to);
	if (nm_memstream_close(to, &text))
		return NM_ENOMEM;
	nm_print_wrapped("merged      ", text, width, out);
	free(text);
	return 0;
}
