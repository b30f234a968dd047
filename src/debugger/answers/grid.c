/* SPDX-License-Identifier: MIT
 *
 * grid.c - the contents of a cache, by slot; and the reference that evicted a line.
 */
#include <stdlib.h>
#include <string.h>

#include "answers.h"

enum { MOST_SLOTS = 1 << 16 };

static const char *const state_names[] = {"", "S", "F", "E", "O", "M"}; /* enum nm_copy_state */

int nm_window_read(const struct nm_question *q, struct nm_window *ret, struct nm_error *err)
{
	const struct nm_debugger *d = q->debugger;
	int64_t core, from, to;
	int status = nm_question_level(q, &ret->level, err);

	if (!status)
		status = nm_question_number(q, "core", 0, &core, err);
	if (!status)
		status = nm_question_number(q, "set_from", 0, &from, err);
	if (!status)
		status = nm_question_number(q, "set_to", INT64_MAX, &to, err);
	if (status)
		return status;
	ret->ways = nm_caches_ways(d->checkpoints->caches, ret->level);
	ret->sets = nm_caches_sets(d->checkpoints->caches, ret->level);
	if (core < 0 || core >= (d->checkpoints->machine.cores ? d->checkpoints->machine.cores : 1) ||
	    from < 0 || to < from)
		return nm_fail(err, NM_EINVAL, "there is no such core, or there are no such sets");
	ret->core = (unsigned)core;
	ret->from = (uint64_t)from < ret->sets ? (uint64_t)from : ret->sets;
	ret->to = (uint64_t)to < ret->sets ? (uint64_t)to : ret->sets;
	return nm_checkpoint_slots(&d->current, ret->level, ret->core, ret->from, ret->to, &ret->slots, err);
}

json_t *nm_slot_json(struct nm_debugger *d, const struct nm_slot *s)
{
	const uint64_t now = nm_debugger_position(d);
	const struct nm_debug_site *by;

	if (s->line == NM_NO_LINE)
		return json_null();
	by = &d->checkpoints->program.sites.at[s->history.last_used ? s->history.used_by : s->attr];
	return json_pack("{s:I, s:o, s:b, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:o}", "line",
			 (json_int_t)s->line, "object", nm_object_json(d, s->attr), "dirty", s->dirty, "age",
			 (json_int_t)(now - s->history.last_used), "reuse", (json_int_t)s->reuse, "loaded_at",
			 (json_int_t)s->history.loaded_at, "last_used", (json_int_t)s->history.last_used,
			 "reference", nm_text_json(by->function), "code_line", (json_int_t)by->line, "thread",
			 (json_int_t)by->thread, "state",
			 s->state ? json_string(state_names[s->state]) : json_null());
}

json_t *nm_cursor_json(const struct nm_debugger *d, const struct nm_window *of)
{
	const struct nm_effect *e = nm_effect_at(d->report.effects, d->report.effect_count, of->level);
	const int is_here = e && (!e->core || e->core == of->core + 1);

	return is_here ? json_pack("{s:I, s:I, s:b}", "set", (json_int_t)e->set, "way", (json_int_t)e->way,
				   "hit", e->kind == NM_EVENT_HIT)
		       : json_null();
}

/* For a cache with too many slots to show each: groups of sets, with the number of lines of each object. */
static json_t *groups_json(struct nm_debugger *d, const struct nm_window *w, uint64_t group)
{
	json_t *groups = json_array();

	for (uint64_t set = w->from; set < w->to; set += group) {
		const uint64_t end = set + group < w->to ? set + group : w->to;
		json_t *counts = json_object();
		uint64_t dirty = 0, lines = 0;

		for (uint64_t i = (set - w->from) * w->ways; i < (end - w->from) * w->ways; i++) {
			const struct nm_slot *s = &w->slots[i];
			const char *name;

			if (s->line == NM_NO_LINE)
				continue;
			name = nm_debug_object_name(&d->checkpoints->program,
						    d->checkpoints->program.sites.at[s->attr].object);
			name = name ? name : "";
			json_object_set_new(
			    counts, name,
			    json_integer(json_integer_value(json_object_get(counts, name)) + 1));
			dirty += s->dirty;
			lines++;
		}
		json_array_append_new(groups,
				      json_pack("{s:I, s:I, s:I, s:I, s:o}", "set_from", (json_int_t)set,
						"set_to", (json_int_t)end, "lines", (json_int_t)lines,
						"dirty", (json_int_t)dirty, "objects", counts));
	}
	return groups;
}

/* `cells`: the largest number of groups of sets to show instead of slots. */
int nm_answer_grid(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	struct nm_debugger *d = q->debugger;
	struct nm_window w = {.slots = NULL};
	uint64_t count;
	int64_t cells;
	int status = nm_question_number(q, "cells", 0, &cells, err);
	json_t *slots = json_array();

	if (!status)
		status = nm_window_read(q, &w, err);
	if (status) {
		json_decref(slots);
		return status;
	}
	count = (w.to - w.from) * w.ways;
	if (!cells && count > MOST_SLOTS)
		cells = 1024;
	for (uint64_t i = 0; i < count && !cells; i++)
		json_array_append_new(slots, nm_slot_json(d, &w.slots[i]));
	*ret = json_pack(
	    "{s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "sets", (json_int_t)w.sets, "ways", (json_int_t)w.ways,
	    "line", (json_int_t)nm_level_unit(&d->checkpoints->machine.levels[w.level]), "set_from",
	    (json_int_t)w.from, "set_to", (json_int_t)w.to, "slots", slots, "cursor", nm_cursor_json(d, &w));
	if (cells > 0)
		json_object_set_new(
		    *ret, "groups",
		    groups_json(d, &w, ((w.to - w.from) + (uint64_t)cells - 1) / (uint64_t)cells));
	free(w.slots);
	return 0;
}

/* ---- the eviction of a line ---- */

int nm_answer_evicted(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	struct nm_debugger *d = q->debugger;
	struct nm_departure departure;
	int64_t address, core;
	unsigned level;
	int status = nm_question_level(q, &level, err);

	if (!status)
		status = nm_question_number(q, "address", 0, &address, err);
	if (!status)
		status = nm_question_number(q, "core", 0, &core, err);
	if (!status &&
	    (core < 0 || core >= (d->checkpoints->machine.cores ? d->checkpoints->machine.cores : 1)))
		status = nm_fail(err, NM_EINVAL, "there is no such core");
	if (!status)
		status = nm_debugger_evicted(d, level, (unsigned)core, (uint64_t)address, &departure, err);
	if (status)
		return status;
	*ret = json_pack("{s:s}", "is",
			 departure.is_resident  ? "resident"
			 : departure.evicted_at ? "evicted"
						: "never");
	if (departure.is_resident)
		json_object_update_new(
		    *ret,
		    json_pack("{s:I, s:I, s:o, s:o, s:o}", "set", (json_int_t)departure.found.set, "way",
			      (json_int_t)departure.found.way, "slot", nm_slot_json(d, &departure.found.slot),
			      "loaded_at", nm_place_of(d, departure.found.slot.history.loaded_at),
			      "last_used", nm_place_of(d, departure.found.slot.history.last_used)));
	if (departure.evicted_at)
		json_object_update_new(*ret, json_pack("{s:o, s:o, s:I}", "evicted",
						       nm_departed_json(d, &departure.left), "evictor",
						       nm_reference_json(d, departure.evicted_at),
						       "evicted_at", (json_int_t)departure.evicted_at));
	return 0;
}
