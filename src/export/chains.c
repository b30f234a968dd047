/* SPDX-License-Identifier: MIT
 *
 * chains.c - call chains of a profile that was recorded with them (views contexts and context_counts).
 *
 * All contexts are kept in memory: each fact names only the innermost.
 */
#include "export_priv.h"

#include <assert.h>

#include "selection.h"

static int take_frames(struct nm_export *e, struct nm_rows *rows, struct nm_error *err)
{
	struct nm_export_chain c = {.line = nm_rows_bounded(rows, 5), .calls = nm_rows_bounded(rows, 6)};
	int is_root = nm_rows_type(rows, 1) == NM_VALUE_NULL;
	const char *process;
	size_t first;

	if (nm_export_text(e, nm_rows_text(rows, 0), &process) ||
	    nm_export_text(e, nm_rows_text(rows, 2), &c.function) ||
	    nm_export_text(e, nm_rows_text(rows, 3), &c.caller) ||
	    nm_export_text(e, nm_rows_text(rows, 4), &c.file) ||
	    (is_root && nm_map_put(&e->first_chain, (uintptr_t)process, e->chains.count + 1)))
		return nm_fail_memory(err);
	first = nm_map_get(&e->first_chain, (uintptr_t)process, 0);
	c.parent = is_root ? e->chains.count : first - 1 + (size_t)nm_rows_bounded(rows, 1);
	if (!first || c.parent > e->chains.count || (c.parent == e->chains.count && !is_root))
		return nm_fail(err, NM_EFORMAT, "the profile is damaged: a call chain has no beginning");
	return nm_vec_push(&e->chains, c) ? nm_fail_memory(err) : 0;
}

int nm_chains_load(struct nm_export *e, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_has_contexts(e->profile, err);

	if (status <= 0)
		return status;
	status = nm_profile_query(e->profile,
				  "SELECT process, parent, function, caller, file, line, calls FROM contexts "
				  "WHERE level = ?1 ORDER BY process, context",
				  &rows, err);
	if (!status)
		nm_rows_bind_text(rows, 1, e->levels.at[0]);
	while (!status && (status = nm_rows_next(rows, err)) > 0)
		status = take_frames(e, rows, err);
	nm_rows_free(rows);
	return status;
}

int nm_chain_frames(const struct nm_export *e, const struct nm_fact *fact, struct nm_chain_frames *frames)
{
	const struct nm_export_chain *c = fact->chain;
	struct nm_chain_frame own = {nm_fact_function(fact), fact->file, fact->line};
	int is_other = c && c->function && fact->function && fact->function != c->function;
	size_t i, n;

	frames->count = 0;
	if (c && c->function && !fact->function)
		own.function = c->function;
	if (nm_vec_push(frames, own))
		return NM_ENOMEM;
	/* The function may be another than the one that was called: inlined, or reached by a jump. */
	if (is_other && nm_vec_push(frames, (struct nm_chain_frame){c->function, NULL, 0}))
		return NM_ENOMEM;
	for (; c && &e->chains.at[c->parent] != c; c = &e->chains.at[c->parent]) {
		const struct nm_export_chain *in = &e->chains.at[c->parent];
		const char *name = in->function ? in->function : c->caller;

		assert(in < c); /* take_frames() lets no other parent in, so this ends */
		/* Nobody calls a signal. */
		if (name && nm_vec_push(frames, (struct nm_chain_frame){name, c->file, c->line}))
			return NM_ENOMEM;
	}
	for (i = 0, n = frames->count; i < n / 2; i++) {
		struct nm_chain_frame swapped = frames->at[i];

		frames->at[i] = frames->at[n - 1 - i];
		frames->at[n - 1 - i] = swapped;
	}
	return 0;
}
