/* SPDX-License-Identifier: MIT */
#include "monitor/monitor_view.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "slice.h"

int nm_monitor_out_of_memory(struct nm_monitor_view *s) { return nm_fail_memory(s->err); }

/* ---- names ---- */

static int is_named(const char *pattern, const char *name)
{
	return !pattern || (name && (!strcmp(pattern, name) || !fnmatch(pattern, name, 0)));
}

/* Whether --object names an object, or a slice of it. */
static int is_chosen(const struct nm_monitor_view *v, const char *object)
{
	const struct nm_slice *slice = v->request->event_query.slice;

	return is_named(v->request->object, object) || (slice && is_named(slice->name, object));
}

const char *nm_monitor_object(const struct nm_result *r, unsigned kind, uint32_t attr, uint32_t victim)
{
	return r->objects[r->attrs[nm_event_leaves(kind) ? victim : attr].object].name;
}

int nm_monitor_picks(const struct nm_monitor_view *v, const struct nm_result *r,
		     const struct nm_event_row *row)
{
	return is_chosen(v, nm_monitor_object(r, row->kind, row->attr, row->victim)) &&
	       is_named(v->request->function, nm_monitor_site(r, row->attr)->function);
}

/* Fails if the object that there is has no such slice. */
static int check_slice(struct nm_monitor_view *v)
{
	const struct nm_slice *slice = v->request->event_query.slice;
	const char *text = v->request->object;
	enum nm_slice_fit best = NM_SLICE_NONE;

	for (size_t p = 0; slice && p < v->count; p++)
		if (best != NM_SLICE_FITS && v->results[p]->events.slice_fit)
			best = v->results[p]->events.slice_fit;
	switch (best) {
	case NM_SLICE_NO_TYPE:
	case NM_SLICE_NO_ARRAY:
		return nm_fail(v->err, NM_EINVAL,
			       "%s \"%s\": add the bytes of an element, '%s@8', and of more "
			       "dimensions their extents, '%s@8[100][64]'",
			       best == NM_SLICE_NO_TYPE ? "nothing tells the type of what is in"
							: "no dimensions are known of",
			       slice->name, text, text);
	case NM_SLICE_NO_FIELD:
		return nm_fail(
		    v->err, NM_EINVAL,
		    "the elements of \"%s\" have no field \"%s\"; `nearmiss report fields` lists them",
		    slice->name, slice->field);
	case NM_SLICE_DIMENSIONS:
		return nm_fail(v->err, NM_EINVAL, "\"%s\" has another number of dimensions than \"%s\"",
			       slice->name, text);
	case NM_SLICE_OUTSIDE:
		return nm_fail(v->err, NM_EINVAL, "\"%s\" reaches beyond the bounds of \"%s\"", text,
			       slice->name);
	default: return 0;
	}
}

int nm_monitor_check_names(struct nm_monitor_view *v)
{
	int object = !v->request->object, function = !v->request->function;

	for (size_t p = 0; p < v->count; p++) {
		const struct nm_result *r = v->results[p];

		for (size_t i = 0; i < r->object_count && !object; i++)
			object = is_chosen(v, r->objects[i].name);
		for (size_t i = 0; i < r->site_count && !function; i++)
			function = is_named(v->request->function, r->sites[i].function);
	}
	if (!object)
		return nm_fail(v->err, NM_EINVAL, "the program has no object \"%s\"", v->request->object);
	if (!function)
		return nm_fail(v->err, NM_EINVAL, "no function \"%s\" made a reference",
			       v->request->function);
	return check_slice(v);
}

struct nm_value nm_monitor_text(struct nm_monitor_view *v, const char *string)
{
	struct nm_value value = {.type = NM_VALUE_NULL};
	char *clean = string ? nm_utf8_clean(string) : NULL;

	if (clean)
		value = (struct nm_value){.type = NM_VALUE_TEXT, .text = nm_table_keep(&v->table, clean)};
	return value;
}

struct nm_value nm_monitor_address(struct nm_monitor_view *v, uint64_t a)
{
	char hex[24];

	snprintf(hex, sizeof hex, "%#" PRIx64, a);
	return nm_monitor_text(v, hex);
}
