/* SPDX-License-Identifier: MIT
 *
 * events.c - lists the events that can be exported: the columns of the view counts after its keys, and the
 * metrics that the catalogue (metrics.h) marks as derived events.
 *
 * The columns are read from the profile, so a new one is exported without a change here, and an old profile
 * may lack it.
 */
#include "export_priv.h"

#include <stdlib.h>
#include <string.h>

#include "selection.h"

const struct nm_metric *nm_derived_at(unsigned i)
{
	const struct nm_metric *m;

	for (unsigned at = 0; (m = nm_metric_at(at)); at++)
		if (m->flags & NM_METRIC_EVENT && !i--)
			return m;
	return NULL;
}

int nm_column_is_there(const struct nm_columns *columns, const char *name)
{
	for (size_t i = 0; i < columns->count; i++)
		if (!strcmp(columns->at[i], name))
			return 1;
	return 0;
}

/* Columns behind the figures that say where the user's code is. */
static int is_place(const char *name)
{
	static const char *const columns[] = {"user_function", "user_file", "user_line",   "library",
					      "inlined",       "module",    "user_module", "inner_function",
					      "inner_file",    "inner_line"};

	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		if (!strcmp(columns[i], name))
			return 1;
	return 0;
}

/* Names go into statements and files as they are. */
static int is_plain(const char *name)
{
	return *name &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

int nm_event_columns(struct nm_profile *profile, struct nm_strings *pool, struct nm_columns *columns,
		     struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int is_figure = 0;
	int status = nm_profile_query(profile, "SELECT * FROM counts LIMIT 0", &rows, err);

	for (unsigned i = 0; !status && i < nm_rows_columns(rows); i++) {
		const char *name = nm_rows_name(rows, i);

		if (is_figure && is_plain(name) && !is_place(name)) {
			name = nm_intern(pool, name);
			if (!name || nm_vec_push(columns, name))
				status = nm_fail_memory(err);
		} else if (!strcmp(name, "object")) {
			is_figure = 1;
		}
	}
	nm_rows_free(rows);
	return status;
}

static const struct nm_metric *derived_named(const struct nm_columns *columns, const char *name)
{
	const struct nm_metric *m = nm_metric_named(name);

	return m && m->flags & NM_METRIC_EVENT && nm_column_is_there(columns, m->left) &&
		       nm_column_is_there(columns, m->right)
		   ? m
		   : NULL;
}

static int no_such_event(const struct nm_columns *columns, const char *name, struct nm_error *err)
{
	char list[400] = "";
	size_t n = 0;

	for (size_t i = 0; i < columns->count && n < sizeof list; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s, ", columns->at[i]);
	for (unsigned i = 0; nm_derived_at(i) && n < sizeof list; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "",
				      nm_derived_at(i)->name);
	return nm_fail(err, NM_EINVAL, "the profile has no event \"%s\"; it has %s", name, list);
}

static int add(struct nm_export *x, const char *level, const char *name, struct nm_error *err)
{
	const struct nm_metric *how = NULL;

	if (!nm_column_is_there(&x->columns, name)) {
		how = derived_named(&x->columns, name);
		if (!how)
			return no_such_event(&x->columns, name, err);
	}
	for (size_t i = 0; i < x->events.count; i++)
		if (x->events.at[i].level == level && !strcmp(x->events.at[i].name, name))
			return 0;
	return nm_vec_push(&x->events, (struct nm_event){level, name, how}) ? nm_fail_memory(err) : 0;
}

/* The events of one level. */
static int choose(struct nm_export *x, const char *level, const char *list, struct nm_error *err)
{
	int status = 0;

	for (size_t i = 0; !list && !status && i < x->columns.count; i++)
		status = add(x, level, x->columns.at[i], err);
	while (list && !status) {
		size_t n = strcspn(list, ",");
		const char *name = nm_intern_n(&x->pool, list, n);

		status = name ? add(x, level, name, err) : nm_fail_memory(err);
		list = list[n] ? list + n + 1 : NULL;
	}
	return status;
}

/* The event of all levels, of the first that takes data before the others. */
static int open_on(struct nm_export *x, const char *name, struct nm_error *err)
{
	char *data = NULL;
	int status = nm_select_first_level(x->profile, &data, err);

	for (size_t i = 0; !status && i < x->levels.count; i++)
		if (!strcmp(x->levels.at[i], data))
			status = add(x, x->levels.at[i], name, err);
	for (size_t i = 0; !status && i < x->levels.count; i++)
		status = add(x, x->levels.at[i], name, err);
	free(data);
	return status;
}

int nm_events_choose(struct nm_export *x, const char *list, struct nm_error *err)
{
	const char *first = list ? NULL : x->exporter->opens_on;
	int status = 0;

	if (first)
		status = open_on(x, first, err);
	for (size_t i = 0; !status && i < x->levels.count; i++)
		status = choose(x, x->levels.at[i], list, err);
	return status;
}
