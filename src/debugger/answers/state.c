/* SPDX-License-Identifier: MIT
 *
 * state.c - the session, and the state at the current position.
 */
#include <string.h>

#include "answers.h"

#include "policy.h"

/* ---- session ---- */

static json_t *level_json(const struct nm_machine *m, unsigned i)
{
	const struct nm_level_spec *l = &m->levels[i];

	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:b}", "level", nm_short_level(m, i), "size",
			 (json_int_t)l->size, "ways", (json_int_t)l->ways, "sets", (json_int_t)l->sets,
			 "line", (json_int_t)nm_level_unit(l), "policy",
			 l->plugin[0] ? "plugin"
			 : l->policy  ? l->policy->name
				      : "lru",
			 "private", m->cores > 1 && nm_machine_private(m, i));
}

/* "small" of "small/L1d"; if there is one machine, its name. */
static json_t *cache_name(const struct nm_machine *m, unsigned level)
{
	const char *name = m->levels[level].name, *slash = strrchr(name, '/');

	return slash ? json_stringn(name, (size_t)(slash - name)) : json_string(m->name);
}

static json_t *caches_json(const struct nm_machine *m)
{
	json_t *caches = json_array(), *levels = NULL;

	for (unsigned i = 0; i < m->count; i++) {
		if (!i || !nm_machine_same(m->levels[i - 1].name, m->levels[i].name)) {
			levels = json_array();
			json_array_append_new(
			    caches, json_pack("{s:o, s:o}", "name", cache_name(m, i), "levels", levels));
		}
		json_array_append_new(levels, level_json(m, i));
	}
	return caches;
}

static json_t *objects_json(const struct nm_debug_program *p)
{
	json_t *objects = json_array();

	for (size_t i = 0; i < p->objects.count; i++)
		json_array_append_new(objects, json_pack("{s:o, s:I, s:I}", "name",
							 nm_text_json(p->objects.at[i].name), "low",
							 (json_int_t)p->objects.at[i].low, "end",
							 (json_int_t)p->objects.at[i].end));
	return objects;
}

static json_t *parameters_json(const struct nm_nest *nest)
{
	struct nm_nest_parameter_info parameter;
	json_t *parameters = json_object();

	for (size_t i = 0; nest && nm_nest_parameter_at(nest, i, &parameter); i++)
		json_object_set_new(parameters, parameter.name, json_integer(parameter.value));
	return parameters;
}

/* The functions that make references, each once; of a nest, the references as they are written. */
static json_t *functions_json(const struct nm_debug_program *p)
{
	json_t *functions = json_array(), *known = json_object();

	for (size_t i = 0; i < p->sites.count; i++) {
		const char *name = p->sites.at[i].function;

		if (!name || json_object_get(known, name))
			continue;
		json_array_append_new(functions, nm_text_json(name));
		json_object_set_new(known, name, json_null());
	}
	json_decref(known);
	return functions;
}

int nm_answer_session(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	const struct nm_debugger *d = q->debugger;

	(void)err;
	*ret = json_pack(
	    "{s:o, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "source", nm_text_json(d->source.path), "kind",
	    d->checkpoints->program.nest ? "nest" : "trace", "total", (json_int_t)nm_debugger_total(d),
	    "first", (json_int_t)d->checkpoints->program.first, "cores",
	    (json_int_t)(d->checkpoints->machine.cores ? d->checkpoints->machine.cores : 1), "caches",
	    caches_json(&d->checkpoints->machine), "objects", objects_json(&d->checkpoints->program),
	    "functions", functions_json(&d->checkpoints->program), "parameters",
	    parameters_json(d->checkpoints->program.nest));
	return 0;
}

/* ---- state ---- */

static json_t *effect_json(struct nm_debugger *d, unsigned i)
{
	const struct nm_effect *e = &d->report.effects[i];
	const struct nm_effect *left = nm_effect_victim(d->report.effects, d->report.effect_count, i);
	const char *class = nm_effect_class_names[e->class];

	return json_pack("{s:I, s:s, s:I, s:I, s:I, s:I, s:s, s:b, s:o, s:b, s:o}", "cache",
			 (json_int_t)nm_cache_of_level(&d->checkpoints->machine, e->level), "level",
			 nm_short_level(&d->checkpoints->machine, e->level), "core",
			 (json_int_t)(e->core ? e->core - 1 : 0), "set", (json_int_t)e->set, "way",
			 (json_int_t)e->way, "line", (json_int_t)e->line, "event", nm_event_names[e->kind],
			 "hit", e->kind == NM_EVENT_HIT, "class", nm_text_json(class), "false_sharing",
			 e->false_sharing, "evicted", left ? nm_departed_json(d, left) : json_null());
}

/* The effects: a row for each line that was hit or loaded; a miss without a load has its own row. Invalidated
 * lines have rows too, since no load evicted them. */
static json_t *effects_json(struct nm_debugger *d)
{
	const struct nm_checkpoint_report *r = &d->report;
	json_t *effects = json_array();

	for (unsigned i = 0; i < r->effect_count; i++) {
		const unsigned kind = r->effects[i].kind;

		if (kind == NM_EVENT_REPLACE)
			continue;
		if (kind == NM_EVENT_MISS &&
		    nm_effect_at(r->effects, r->effect_count, r->effects[i].level) != &r->effects[i])
			continue;
		json_array_append_new(effects, effect_json(d, i));
	}
	return effects;
}

int nm_state_json(struct nm_debugger *d, const char *stopped_by, uint32_t breakpoint, json_t **ret,
		  struct nm_error *err)
{
	const uint64_t position = nm_debugger_position(d);

	(void)err;
	*ret = json_pack("{s:I, s:I, s:o, s:o, s:o, s:o}", "position", (json_int_t)position, "total",
			 (json_int_t)nm_debugger_total(d), "reference", nm_reference_json(d, position),
			 "effects", effects_json(d), "stopped_by", nm_text_json(stopped_by), "breakpoint",
			 breakpoint ? json_integer(breakpoint) : json_null());
	return 0;
}

int nm_answer_state(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	return nm_state_json(q->debugger, NULL, 0, ret, err);
}
