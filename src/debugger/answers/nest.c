/* SPDX-License-Identifier: MIT
 *
 * nest.c - runs the nest again with other parameters, array addresses, and padding after arrays.
 *
 * Settings become "NAME=VALUE" as `nearmiss nest --set` takes them. Padding after an array moves all
 * arrays at higher addresses: each of them gets an explicit address.
 */
#include <stdlib.h>
#include <string.h>

#include "answers.h"

static int add_setting(struct nm_settings *s, const char *name, long long value, struct nm_error *err)
{
	char text[128];
	const char *kept;

	if (snprintf(text, sizeof text, "%s=%lld", name, value) >= (int)sizeof text)
		return nm_fail(err, NM_EINVAL, "a name is too long");
	kept = nm_intern(&s->strings, text);
	if (!kept || nm_vec_push(&s->list, kept))
		return nm_fail_memory(err);
	return 0;
}

static int add_object(struct nm_settings *s, const json_t *object, struct nm_error *err)
{
	const char *name;
	json_t *value;
	int status = 0;

	json_object_foreach((json_t *)object, name, value)
	{
		if (!json_is_integer(value))
			return nm_fail(err, NM_EINVAL, "the value of \"%.40s\" must be a number", name);
		if (!status)
			status = add_setting(s, name, json_integer_value(value), err);
	}
	return status;
}

/* Ends the list for the nest. */
static int end_list(struct nm_settings *s, struct nm_error *err)
{
	if (nm_vec_push(&s->list, NULL))
		return nm_fail_memory(err);
	s->list.count--;
	return 0;
}

/* Adds the addresses of the arrays, with the settings so far, plus the padding before each. */
static int add_pads(struct nm_settings *s, const char *path, const json_t *pads, struct nm_error *err)
{
	struct nm_nest_array_info a, before;
	struct nm_nest *nest = NULL;
	int status = json_object_size(pads) ? end_list(s, err) : 0;

	if (status || !json_object_size(pads))
		return status;
	status = nm_nest_load(&nest, path, s->list.at, err);
	for (size_t i = 0; !status && nm_nest_array_at(nest, i, &a); i++) {
		int64_t move = 0;

		for (size_t k = 0; nm_nest_array_at(nest, k, &before); k++)
			if (before.address < a.address)
				move += json_integer_value(json_object_get(pads, before.name));
		if (move)
			status = add_setting(s, a.name, (long long)a.address + move, err);
	}
	nm_nest_free(nest);
	return status;
}

int nm_answer_nest(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	struct nm_debugger *d = q->debugger;
	struct nm_settings settings = {0};
	const char *path = d->source.path;
	int status =
	    d->checkpoints->program.nest ? 0 : nm_fail(err, NM_EINVAL, "a trace cannot be run otherwise");

	for (size_t i = 0; !status && d->source.settings && d->source.settings[i]; i++)
		if (nm_vec_push(&settings.list, d->source.settings[i]))
			status = nm_fail_memory(err);
	if (!status)
		status = add_object(&settings, json_object_get(q->body, "parameters"), err);
	if (!status)
		status = add_object(&settings, json_object_get(q->body, "bases"), err);
	if (!status)
		status = add_pads(&settings, path, json_object_get(q->body, "pads"), err);
	if (!status)
		status = end_list(&settings, err);
	if (!status)
		status = nm_debugger_restart(d, &settings, err);
	nm_settings_done(&settings);
	return status ? status : nm_state_json(d, "start", 0, ret, err);
}
