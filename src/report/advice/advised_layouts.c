/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "notes.h"
#include "report_priv.h"
#include "selection.h"

enum { ROWS = 10 /* that the summary shows */ };

static int has(const struct nm_advised_layouts *l, const char *text)
{
	for (size_t i = 0; i < l->texts.count; i++)
		if (!strcmp(l->texts.at[i], text))
			return 1;
	return 0;
}

static int keep(struct nm_advised_layouts *l, const struct nm_notes *texts, struct nm_error *err)
{
	for (size_t i = 0; i < texts->count; i++) {
		const char *text = texts->at[i];

		if (!has(l, text) && (!(text = nm_intern(&l->names, text)) || nm_vec_push(&l->texts, text)))
			return nm_fail_memory(err);
	}
	return 0;
}

int nm_advised_layouts_make(struct nm_profile *profile, struct nm_advised_layouts *ret, struct nm_error *err)
{
	const struct nm_report_request request = {.limit = ROWS};
	struct nm_selection selection = {.of_samples = 0};
	struct nm_report_table pairs = {.table = {0}};
	struct nm_notes notes = {0}, layouts = {0};
	struct nm_verdict verdict;
	int status = nm_selection_make(profile, &request, &selection, err);

	*ret = (struct nm_advised_layouts){.texts = {0}};
	if (!status)
		status = nm_report_fill(nm_report_named("pairs"), profile, &selection, &pairs, err);
	if (!status)
		status = nm_verdict_make(profile, &selection, &verdict, err);
	if (!status)
		status = nm_notes_make(profile, &selection, &verdict, &pairs.table, &notes, &layouts, err);
	if (!status)
		status = keep(ret, &layouts, err);
	nm_vec_free(&notes);
	nm_vec_free(&layouts);
	nm_report_table_done(&pairs);
	nm_selection_done(&selection);
	return status;
}

void nm_advised_layouts_done(struct nm_advised_layouts *l)
{
	nm_vec_free(&l->texts);
	nm_strings_done(&l->names);
}
