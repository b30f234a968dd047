/* SPDX-License-Identifier: MIT
 *
 * monitor_view.c - see monitor_view.h.
 */
#include "monitor/monitor_view.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int nm_monitor_out_of_memory(struct nm_monitor_view *s) { return nm_fail_memory(s->err); }

/* ---- names ---- */

static int is_named(const char *pattern, const char *name)
{
	return !pattern || (name && (!strcmp(pattern, name) || !fnmatch(pattern, name, 0)));
}

const char *nm_monitor_object(const struct nm_result *r, unsigned kind, uint32_t attr, uint32_t victim)
{
	return r->objects[r->attrs[nm_event_leaves(kind) ? victim : attr].object].name;
}

int nm_monitor_picks(const struct nm_monitor_view *s, const struct nm_result *r,
		     const struct nm_event_row *row)
{
	return is_named(s->request->object, nm_monitor_object(r, row->kind, row->attr, row->victim)) &&
	       is_named(s->request->function, nm_monitor_site(r, row->attr)->function);
}

int nm_monitor_check_names(struct nm_monitor_view *s)
{
	int object = !s->request->object, function = !s->request->function;

	for (size_t p = 0; p < s->count; p++) {
		const struct nm_result *r = s->results[p];

		for (size_t i = 0; i < r->object_count && !object; i++)
			object = is_named(s->request->object, r->objects[i].name);
		for (size_t i = 0; i < r->site_count && !function; i++)
			function = is_named(s->request->function, r->sites[i].function);
	}
	if (!object)
		return nm_fail(s->err, NM_EINVAL, "the program has no object \"%s\"", s->request->object);
	if (!function)
		return nm_fail(s->err, NM_EINVAL, "no function \"%s\" made a reference",
			       s->request->function);
	return 0;
}

struct nm_value nm_monitor_text(struct nm_monitor_view *s, const char *string)
{
	struct nm_value value = {.type = NM_VALUE_NULL};
	char *clean = string ? nm_utf8_clean(string) : NULL;

	if (clean)
		value = (struct nm_value){.type = NM_VALUE_TEXT, .text = nm_table_keep(&s->table, clean)};
	return value;
}

struct nm_value nm_monitor_address(struct nm_monitor_view *s, uint64_t a)
{
	char hex[24];

	snprintf(hex, sizeof hex, "%#" PRIx64, a);
	return nm_monitor_text(s, hex);
}
