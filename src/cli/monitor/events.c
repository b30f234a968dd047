/* SPDX-License-Identifier: MIT */
#include "monitor/monitor_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "file:line (function)" from three columns; what is unknown is left out. */
static const char *site_at(struct nm_table *table, size_t row, unsigned first)
{
	const char *function = nm_table_at(table, row, first)->text,
		   *file = nm_table_at(table, row, first + 1)->text;
	const char *slash = file ? strrchr(file, '/') : NULL;
	char *joined = NULL;
	int n;

	if (slash)
		file = slash + 1;
	if (!file)
		return function;
	n = asprintf(&joined, "%s:%lld%s%s%s", file, (long long)nm_table_at(table, row, first + 2)->integer,
		     function ? " (" : "", function ? function : "", function ? ")" : "");
	return nm_table_keep(table, n < 0 ? NULL : joined);
}

enum {
	RESIDENCY_LOADER = 4,
	RESIDENCY_EVICTOR = 12,
	EVENT_MAKER = 6,
	EVENT_OBJECT = 10,
	EVENT_FIELD = 11,
	EVENT_VICTIM = 13
};

static const char *stay_loader(struct nm_table *table, size_t row)
{
	return site_at(table, row, RESIDENCY_LOADER);
}
static const char *stay_evictor(struct nm_table *table, size_t row)
{
	return site_at(table, row, RESIDENCY_EVICTOR);
}
static const char *event_maker(struct nm_table *table, size_t row)
{
	return site_at(table, row, EVENT_MAKER);
}

static const struct nm_column residency_columns[] = {
    {.name = "process"},
    {.name = "level", .title = "level", .kind = NM_COLUMN_TEXT},
    {.name = "loaded", .title = "loaded at", .kind = NM_COLUMN_NUMBER},
    {.name = "address", .title = "by", .kind = NM_COLUMN_TEXT},
    [RESIDENCY_LOADER] = {.name = "function"},
    {.name = "file"},
    {.name = "line"},
    {.name = "loader", .title = "in", .kind = NM_COLUMN_LOCATION, .compose = stay_loader},
    {.name = "object", .title = "of", .kind = NM_COLUMN_NAME},
    {.name = "hits", .title = "hits", .kind = NM_COLUMN_NUMBER},
    {.name = "replaced", .title = "replaced at", .kind = NM_COLUMN_NUMBER},
    {.name = "evictor_address", .title = "by", .kind = NM_COLUMN_TEXT},
    [RESIDENCY_EVICTOR] = {.name = "evictor_function"},
    {.name = "evictor_file"},
    {.name = "evictor_line"},
    {.name = "evicting", .title = "in", .kind = NM_COLUMN_LOCATION, .compose = stay_evictor},
    {.name = "evictor", .title = "of", .kind = NM_COLUMN_TEXT},
    {.name = "core"},
    {.name = "cause"},
};

static const struct nm_column event_columns[] = {
    {.name = "process"},
    {.name = "level", .title = "level", .kind = NM_COLUMN_TEXT},
    {.name = "event", .title = "event", .kind = NM_COLUMN_TEXT},
    {.name = "reference", .title = "at reference", .kind = NM_COLUMN_NUMBER},
    {.name = "instructions", .title = "instruction", .kind = NM_COLUMN_NUMBER},
    {.name = "address", .title = "to", .kind = NM_COLUMN_TEXT},
    [EVENT_MAKER] = {.name = "function"},
    {.name = "file"},
    {.name = "line"},
    {.name = "maker", .title = "in", .kind = NM_COLUMN_LOCATION, .compose = event_maker},
    [EVENT_OBJECT] = {.name = "object", .title = "of", .kind = NM_COLUMN_NAME},
    [EVENT_FIELD] = {.name = "field", .title = "field", .kind = NM_COLUMN_NAME, .drop_order = 2},
    {.name = "memory_line", .title = "memory line", .kind = NM_COLUMN_TEXT},
    [EVENT_VICTIM] = {.name = "victim", .title = "loaded for", .kind = NM_COLUMN_TEXT},
    {.name = "victim_function"},
    {.name = "victim_file"},
    {.name = "victim_line"},
    {.name = "set"},
    {.name = "times"},
    {.name = "core"},
    {.name = "cause"},
};
enum {
	RESIDENCY_COLUMNS = sizeof residency_columns / sizeof *residency_columns,
	EVENT_COLUMNS = sizeof event_columns / sizeof *event_columns
};

static void put_site(struct nm_monitor_view *v, struct nm_value *row, const struct nm_result *r,
		     uint32_t attr)
{
	const struct nm_result_site *site = nm_monitor_site(r, attr);

	row[0] = nm_monitor_text(v, site->function);
	row[1] = nm_monitor_text(v, site->file);
	if (site->line)
		row[2] = nm_monitor_integer(site->line);
}

static const char *name_of(const struct nm_result *r, uint32_t attr)
{
	return r->objects[r->attrs[attr].object].name;
}

static int push_row(struct nm_monitor_view *v, const struct nm_value *row)
{
	for (unsigned i = 0; i < v->table.column_count; i++)
		if (nm_vec_push(&v->table.values, row[i]))
			return nm_fail_memory(v->err);
	v->table.row_count++;
	return 0;
}

/* The last columns are the core whose cache it is, and why a line was invalidated. */
static void put_core_and_cause(struct nm_monitor_view *v, struct nm_value *row, unsigned core, unsigned cause)
{
	if (core)
		row[v->table.column_count - 2] = nm_monitor_integer(core - 1u);
	if (cause)
		row[v->table.column_count - 1] = nm_monitor_text(v, nm_cause_names[cause]);
}

static int add_residency(struct nm_monitor_view *v, const struct nm_result *r,
			 const struct nm_event_residency *residency)
{
	struct nm_value row[RESIDENCY_COLUMNS] = {
	    [0] = nm_monitor_text(v, r->process),
	    [1] = nm_monitor_text(v, v->request->machine->levels[residency->level].name),
	    [2] = nm_monitor_integer(residency->loaded),
	    [3] = nm_monitor_address(v, residency->address),
	    [8] = nm_monitor_text(v, name_of(r, residency->loader)),
	    [9] = nm_monitor_integer(residency->hits)};

	put_site(v, row + RESIDENCY_LOADER, r, residency->loader);
	if (residency->left) {
		row[10] = nm_monitor_integer(residency->left);
		row[11] = nm_monitor_address(v, residency->push);
		put_site(v, row + RESIDENCY_EVICTOR, r, residency->evictor);
		row[16] = nm_monitor_text(v, name_of(r, residency->evictor));
	}
	put_core_and_cause(v, row, residency->core, residency->cause);
	return push_row(v, row);
}

/* Text shows the process, the core and the cause only if there are several. */
static void choose_columns(struct nm_monitor_view *v, const struct nm_column *columns, unsigned count)
{
	memcpy(v->columns, columns, count * sizeof *columns);
	v->table.column_count = count;
	v->table.columns = v->columns;
	if (v->count > 1)
		v->columns[0] =
		    (struct nm_column){.name = "process", .title = "process", .kind = NM_COLUMN_TEXT};
	if (v->request->machine->cores <= 1)
		return;
	v->columns[count - 2] = (struct nm_column){.name = "core", .title = "core", .kind = NM_COLUMN_NUMBER};
	v->columns[count - 1] =
	    (struct nm_column){.name = "cause", .title = "invalidated by", .kind = NM_COLUMN_TEXT};
}

int nm_monitor_show_residencies(struct nm_monitor_view *v)
{
	int status = 0;

	choose_columns(v, residency_columns, RESIDENCY_COLUMNS);
	for (size_t p = 0; p < v->count; p++) {
		const struct nm_filtered_events *kept = &v->results[p]->events;

		for (size_t i = 0; i < kept->residency_count && !status; i++)
			status = add_residency(v, v->results[p], &kept->residencies[i]);
		v->left_out += kept->total - kept->residency_count;
	}
	return status;
}

static int add_event(struct nm_monitor_view *v, const struct nm_result *r,
		     const struct nm_logged_event *logged)
{
	const struct nm_event *e = &logged->at;
	struct nm_value row[EVENT_COLUMNS] = {
	    [0] = nm_monitor_text(v, r->process),
	    [1] = nm_monitor_text(v, v->request->machine->levels[e->level].name),
	    [2] = nm_monitor_text(v, nm_event_names[e->kind]),
	    [3] = nm_monitor_integer(e->reference),
	    [4] = nm_monitor_integer(logged->instructions),
	    [5] = nm_monitor_address(v, e->address),
	    [EVENT_OBJECT] = nm_monitor_text(v, name_of(r, e->attr)),
	    [EVENT_FIELD] = nm_monitor_text(v, logged->field),
	    [EVENT_FIELD + 1] = nm_monitor_address(v, e->line),
	    [EVENT_VICTIM + 4] = nm_monitor_integer(e->set),
	    [EVENT_VICTIM + 5] = nm_monitor_integer(e->times)};

	put_site(v, row + EVENT_MAKER, r, e->attr);
	if (nm_event_leaves(e->kind)) {
		row[EVENT_VICTIM] = nm_monitor_text(v, name_of(r, e->victim));
		put_site(v, row + EVENT_VICTIM + 1, r, e->victim);
	}
	put_core_and_cause(v, row, e->core, e->cause);
	v->columns[EVENT_FIELD].hidden &= !logged->field;
	return push_row(v, row);
}

/* How many events of a process pass all filters, those by name too. */
static uint64_t count_picked_events(const struct nm_monitor_view *v, const struct nm_result *r)
{
	const struct nm_filtered_events *kept = &r->events;
	uint64_t total = 0;

	if (!v->request->event_query.by_attr)
		return kept->total;
	for (size_t i = 0; i < kept->row_count; i++)
		total += nm_monitor_picks(v, r, &kept->rows[i]) ? kept->rows[i].count : 0;
	return total;
}

/* Where names filter, the log has the first events of each key, and those that are asked for are picked here; else it
 * has those alone. */
static int add_log(struct nm_monitor_view *v, const struct nm_result *r)
{
	const struct nm_event_query *q = &v->request->event_query;
	uint64_t before = 0;

	for (size_t i = 0; i < r->events.logged_count && before < nm_event_query_end(q); i++) {
		const struct nm_logged_event *e = &r->events.logged[i];
		const struct nm_event_row row = {
		    .attr = e->at.attr, .victim = e->at.victim, .kind = e->at.kind};

		if (q->by_attr && !nm_monitor_picks(v, r, &row))
			continue;
		before += q->by_attr ? e->at.times : 0;
		if ((!q->by_attr || before > q->skip) && add_event(v, r, e))
			return NM_ENOMEM;
	}
	return 0;
}

int nm_monitor_show_log(struct nm_monitor_view *v)
{
	const struct nm_event_query *q = &v->request->event_query;
	uint64_t most = 0;
	int status = 0;

	choose_columns(v, event_columns, EVENT_COLUMNS);
	v->columns[EVENT_FIELD].hidden = 1;
	for (size_t p = 0; p < v->count && !status; p++) {
		const uint64_t total = count_picked_events(v, v->results[p]), end = nm_event_query_end(q);

		most = total > most ? total : most;
		v->left_out += v->request->log && total > end ? total - end : 0;
		status = add_log(v, v->results[p]);
	}
	if (!status && !v->table.row_count)
		return nm_fail(v->err, NM_ENOENT, "there were only %" PRIu64 " such events", most);
	return status;
}
