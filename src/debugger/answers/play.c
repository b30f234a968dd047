/* SPDX-License-Identifier: MIT
 *
 * play.c - many positions in one answer, for a page that shows one in each frame: for each the state, and
 * for each visible grid the slots that have changed since the previous position.
 */
#include <stdlib.h>
#include <string.h>

#include "answers.h"

enum { MOST_MOMENTS = 64, MOST_PANES = 8, MOST_SLOTS = 1 << 13 };

struct panes {
	struct nm_window at[MOST_PANES];
	size_t count;
};

static int read_panes(const struct nm_question *q, struct panes *ret, struct nm_error *err)
{
	const json_t *list = json_object_get(q->body, "panes");
	int status = 0;

	if (json_array_size(list) > MOST_PANES)
		return nm_fail(err, NM_EINVAL, "there may be at most %d panes", MOST_PANES);
	for (size_t i = 0; i < json_array_size(list) && !status; i++) {
		const struct nm_question pane = {
		    .debugger = q->debugger, .request = q->request, .body = json_array_get(list, i)};
		struct nm_window *w = &ret->at[ret->count++];

		status = nm_window_read(&pane, w, err);
		if (!status && (w->to - w->from) * w->ways > MOST_SLOTS)
			status = nm_fail(err, NM_EINVAL, "a pane has at most %d slots", MOST_SLOTS);
	}
	return status;
}

static void free_panes(struct panes *panes)
{
	for (size_t i = 0; i < panes->count; i++)
		free(panes->at[i].slots);
}

/* The current window, and its changed slots: [number in the window, slot]. */
static int pane_json(struct nm_debugger *d, struct nm_window *w, json_t **ret, struct nm_error *err)
{
	struct nm_slot *before = w->slots;
	json_t *changes;
	int status = nm_checkpoint_slots(&d->current, w->level, w->core, w->from, w->to, &w->slots, err);

	if (status) {
		w->slots = before;
		return status;
	}
	changes = json_array();
	for (uint64_t i = 0; i < (w->to - w->from) * w->ways; i++)
		if (!nm_slot_same(&before[i], &w->slots[i]))
			json_array_append_new(
			    changes, json_pack("[I, o]", (json_int_t)i, nm_slot_json(d, &w->slots[i])));
	free(before);
	*ret = json_pack("{s:o, s:o}", "cursor", nm_cursor_json(d, w), "changes", changes);
	return 0;
}

static int moment_json(struct nm_debugger *d, struct panes *panes, json_t **ret, struct nm_error *err)
{
	json_t *state = NULL, *grids = json_array(), *grid;
	int status =
	    nm_state_json(d, nm_debugger_position(d) == nm_debugger_total(d) ? "end" : NULL, 0, &state, err);

	for (size_t i = 0; i < panes->count && !status; i++) {
		status = pane_json(d, &panes->at[i], &grid, err);
		if (!status)
			json_array_append_new(grids, grid);
	}
	*ret = json_pack("{s:o, s:o}", "state", state, "grids", grids);
	return status;
}

int nm_answer_play(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	struct nm_debugger *d = q->debugger;
	struct panes panes = {.count = 0};
	json_t *checkpoints = json_array(), *checkpoint;
	int64_t count, by;
	int status = nm_question_number(q, "count", 1, &count, err);

	if (!status)
		status = nm_question_number(q, "by", 1, &by, err);
	if (!status && (count < 1 || count > MOST_MOMENTS || by < 1))
		status = nm_fail(err, NM_EINVAL, "\"count\" goes from 1 to %d, \"by\" from 1", MOST_MOMENTS);
	if (!status)
		status = read_panes(q, &panes, err);
	if (!status)
		nm_checkpoints_mark(d->checkpoints, &d->current);
	for (; !status && count > 0 && nm_debugger_position(d) < nm_debugger_total(d); count--) {
		status = nm_debugger_go(d, nm_debugger_position(d) + (uint64_t)by, err);
		if (!status)
			status = moment_json(d, &panes, &checkpoint, err);
		if (!status)
			json_array_append_new(checkpoints, checkpoint);
	}
	free_panes(&panes);
	if (status)
		json_decref(checkpoints);
	else
		*ret = json_pack("{s:o}", "moments", checkpoints);
	return status;
}
