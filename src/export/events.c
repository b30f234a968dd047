/* SPDX-License-Identifier: MIT
 *
 * events.c - lists the events that can be exported: the counts of the view counts, and the metrics that the
 * catalogue (metrics.h) marks as derived events.
 */
#include "export_priv.h"

#include <assert.h>
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

static const char *const counts[] = {
#define NM_COUNT(name) #name,
#include "counts.def"
#undef NM_COUNT
};

enum { COUNTS = sizeof counts / sizeof *counts };

int64_t nm_event_value(const struct nm_export_event *event, const struct nm_metric_sums *sums)
{
	assert(event->derived || event->count < COUNTS);
	return event->derived ? nm_metric_integer(event->derived, sums)
			      : ((const int64_t *)sums)[event->count];
}

static int no_such_event(const char *name, struct nm_error *err)
{
	char list[400] = "";
	size_t n = 0;

	for (unsigned i = 0; i < COUNTS && n < sizeof list; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s, ", counts[i]);
	for (unsigned i = 0; nm_derived_at(i) && n < sizeof list; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "",
				      nm_derived_at(i)->name);
	return nm_fail(err, NM_EINVAL, "there is no event \"%s\"; there are %s", name, list);
}

static int add_event(struct nm_export *e, const char *level, const char *name, struct nm_error *err)
{
	const struct nm_metric *metric = nm_metric_named(name);
	struct nm_export_event event = {.level = level, .name = name};

	if (!metric || !(metric->flags & (NM_METRIC_STORED | NM_METRIC_EVENT)))
		return no_such_event(name, err);
	for (size_t i = 0; i < e->events.count; i++)
		if (e->events.at[i].level == level && !strcmp(e->events.at[i].name, name))
			return 0;
	if (!(metric->flags & NM_METRIC_STORED))
		event.derived = metric;
	while (!event.derived && strcmp(counts[event.count], name))
		event.count++;
	return nm_vec_push(&e->events, event) ? nm_fail_memory(err) : 0;
}

/* The events of one level. */
static int choose_events(struct nm_export *e, const char *level, const char *list, struct nm_error *err)
{
	int status = 0;

	for (unsigned i = 0; !list && !status && i < COUNTS; i++)
		status = add_event(e, level, counts[i], err);
	while (list && !status) {
		size_t n = strcspn(list, ",");
		const char *name = nm_intern_n(&e->pool, list, n);

		status = name ? add_event(e, level, name, err) : nm_fail_memory(err);
		list = list[n] ? list + n + 1 : NULL;
	}
	return status;
}

/* The event of all levels, of the first that takes data before the others. */
static int open_on(struct nm_export *e, const char *name, struct nm_error *err)
{
	char *data = NULL;
	int status = nm_select_first_level(e->profile, &data, err);

	for (size_t i = 0; !status && i < e->levels.count; i++)
		if (!strcmp(e->levels.at[i], data))
			status = add_event(e, e->levels.at[i], name, err);
	for (size_t i = 0; !status && i < e->levels.count; i++)
		status = add_event(e, e->levels.at[i], name, err);
	free(data);
	return status;
}

int nm_events_choose(struct nm_export *e, const char *list, struct nm_error *err)
{
	const char *first = list ? NULL : e->exporter->opens_on;
	int status = 0;

	if (first)
		status = open_on(e, first, err);
	for (size_t i = 0; !status && i < e->levels.count; i++)
		status = choose_events(e, e->levels.at[i], list, err);
	return status;
}
