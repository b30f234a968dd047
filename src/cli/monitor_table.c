/* SPDX-License-Identifier: MIT
 *
 * monitor_table.c - from events that were kept (sift.h) to the table that `nearmiss monitor` shows.
 *
 * Names are known now, so rows are picked by object and function.  An event's function
 * is that of the reference that made it; its object is what it befell: what was referenced, or, when a line is replaced,
 * what that line had been loaded for.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "monitor_priv.h"

/* ---- names ---- */

static int is_named(const char *pattern, const char *name)
{
	return !pattern || (name && (!strcmp(pattern, name) || !fnmatch(pattern, name, 0)));
}

const char *nm_monitor_object(const struct nm_result *r, unsigned kind, uint32_t cell, uint32_t victim)
{
	return r->objects[r->cells[nm_event_leaves(kind) ? victim : cell].object].name;
}

int nm_monitor_picks(const struct nm_monitor_view *s, const struct nm_result *r,
		     const struct nm_sift_row *row)
{
	return is_named(s->m->object, nm_monitor_object(r, row->kind, row->cell, row->victim)) &&
	       is_named(s->m->function, nm_monitor_site(r, row->cell)->function);
}

/* A name that nothing bears is a mistake. */
static int check_names(struct nm_monitor_view *s)
{
	int object = !s->m->object, function = !s->m->function;

	for (size_t p = 0; p < s->count; p++) {
		const struct nm_result *r = s->results[p];

		for (size_t i = 0; i < r->object_count && !object; i++)
			object = is_named(s->m->object, r->objects[i].name);
		for (size_t i = 0; i < r->site_count && !function; i++)
			function = is_named(s->m->function, r->sites[i].function);
	}
	if (!object)
		return nm_fail(s->err, NM_EINVAL, "the program has no object \"%s\"", s->m->object);
	if (!function)
		return nm_fail(s->err, NM_EINVAL, "no function \"%s\" made a reference", s->m->function);
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

/* ---- all ---- */

int nm_monitor_show(const struct nm_monitoring *m, struct nm_result *const *results, size_t count,
		    const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_monitor_view *s = calloc(1, sizeof *s);
	int status;

	if (!s)
		return nm_fail_memory(err);
	s->m = m;
	s->results = results;
	s->count = count;
	s->err = err;
	status = check_names(s);
	if (!status)
		status = m->sift.mode == NM_SIFT_RESIDENCIES ? nm_monitor_show_residencies(s)
			 : m->sift.mode == NM_SIFT_NTH       ? nm_monitor_show_nth(s)
							     : nm_monitor_show_sums(s);
	if (!status)
		status = nm_table_show(&s->table, "monitor", NULL, style, out, err);
	if (!status && s->left_out && style->format == NM_FORMAT_TEXT)
		fprintf(out, "and %" PRIu64 " more: --limit=0 shows all\n", s->left_out);
	nm_table_done(&s->table);
	nm_vec_free(&s->sums);
	nm_vec_free(&s->counts);
	free(s);
	return status;
}
