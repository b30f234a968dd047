/* SPDX-License-Identifier: MIT */
#include "stops.h"

#include <assert.h>
#include <string.h>

static int64_t name_value(const char *name) { return name ? (int64_t)(uintptr_t)name : NM_NO_VALUE; }

static void set_reference(struct nm_condition_frame *f, const struct nm_caches *c)
{
	const struct nm_reference *r = c->reference;
	const struct nm_debug_site *site = &c->program->sites.at[r->attr];
	const int64_t element = nm_debug_element(c->program, r);

	f->value[NM_VALUE_POSITION] = (int64_t)c->position;
	f->value[NM_VALUE_ADDRESS] = (int64_t)r->address;
	f->value[NM_VALUE_SIZE] = r->size;
	f->value[NM_VALUE_WRITE] = r->is_write;
	f->value[NM_VALUE_THREAD] = site->thread;
	f->value[NM_VALUE_OBJECT] = name_value(nm_debug_object_name(c->program, site->object));
	f->value[NM_VALUE_FUNCTION] = name_value(site->function);
	f->value[NM_VALUE_FILE] = name_value(site->file);
	f->value[NM_VALUE_LINE] = site->line ? (int64_t)site->line : NM_NO_VALUE;
	f->value[NM_VALUE_ELEMENT] = element < 0 ? NM_NO_VALUE : element;
}

static void set_level(struct nm_condition_frame *f, const struct nm_caches *c, unsigned level)
{
	const struct nm_effect *victim,
	    *e = c->reference->uncounted ? NULL : nm_effect_at(c->effects, c->effect_count, level);

	for (unsigned i = NM_VALUE_SET; i < NM_VALUES; i++)
		f->value[i] = NM_NO_VALUE;
	f->value[NM_VALUE_HIT] = e && e->kind == NM_EVENT_HIT;
	f->value[NM_VALUE_MISS] = e && e->kind != NM_EVENT_HIT;
	f->value[NM_VALUE_FALSE_SHARING] = e && e->false_sharing;
	if (!e)
		return;
	victim = nm_effect_victim(c->effects, c->effect_count, (unsigned)(e - c->effects));
	f->value[NM_VALUE_SET] = e->set;
	f->value[NM_VALUE_WAY] = e->way;
	if (e->class)
		f->value[NM_VALUE_CLASS] = e->class;
	if (victim)
		f->value[NM_VALUE_EVICTED] =
		    name_value(nm_debug_object_name(c->program, c->program->sites.at[victim->attr].object));
}

static void set_loops(struct nm_condition_frame *f, const struct nm_condition *condition,
		      const struct nm_nest_step *step)
{
	for (unsigned i = 0; i < condition->loops; i++) {
		f->loop[i] = NM_NO_VALUE;
		for (unsigned k = 0; step && k < step->loops; k++)
			if (!strcmp(step->index[k], condition->loop[i]))
				f->loop[i] = step->value[k];
	}
}

static int line_leaves(const struct nm_stop *stop, const struct nm_caches *c, struct nm_effect *ret_left)
{
	for (unsigned i = 0; i < c->effect_count; i++) {
		const struct nm_effect *e = &c->effects[i];

		if (e->level == stop->level && nm_event_leaves(e->kind) && e->line == stop->line &&
		    (!e->core || e->core == 1 + stop->core)) {
			*ret_left = *e;
			return 1;
		}
	}
	return 0;
}

int nm_stop_holds(const struct nm_stop *stop, const struct nm_caches *c, const struct nm_nest_step *step,
		  struct nm_effect *ret_left)
{
	struct nm_condition_frame frame;

	if (!stop->condition.count)
		return line_leaves(stop, c, ret_left);
	set_reference(&frame, c);
	set_level(&frame, c, stop->level);
	set_loops(&frame, &stop->condition, step);
	return nm_condition_holds(&stop->condition, &frame);
}

int nm_stops_ask_loops(const struct nm_stop *stops, unsigned count)
{
	assert(stops || !count);
	for (unsigned i = 0; i < count; i++)
		if (stops[i].condition.loops)
			return 1;
	return 0;
}
