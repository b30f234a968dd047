/* SPDX-License-Identifier: MIT */
#include "monitor/monitor_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PLOT = 40, NAME = sizeof(((struct nm_level_spec *)0)->name) + 16 };

/* ---- figures ---- */

static int add_figure(struct nm_monitor_view *v, unsigned level, unsigned kind, const char *a, const char *b)
{
	struct nm_monitor_figure *f = &v->figures[v->figure_count++];
	char joined[NAME];

	f->level = level;
	f->kind = kind;
	snprintf(joined, sizeof joined, "%s%s%s", a, b ? "_" : "", b ? b : "");
	f->name = nm_intern(&v->table.pool, joined);
	snprintf(joined, sizeof joined, "%s%s%s", a, b ? " " : "", b ? b : "");
	f->title = nm_intern(&v->table.pool, joined);
	return f->name && f->title ? 0 : nm_fail_memory(v->err);
}

static int make_figures(struct nm_monitor_view *v)
{
	const struct nm_event_query *q = &v->request->event_query;
	const struct nm_machine *machine = v->request->machine;
	unsigned any = 0;
	int status = 0;

	for (unsigned i = 0; i < machine->count; i++)
		any |= q->kinds[i];
	for (unsigned kind = 0; q->mode == NM_QUERY_COUNT && kind < NM_EVENTS && !status; kind++)
		if (any >> kind & 1)
			status = add_figure(v, 0, kind, nm_event_names[kind], NULL);
	for (unsigned i = 0; q->mode != NM_QUERY_COUNT && i < machine->count; i++)
		for (unsigned kind = 0; kind < NM_EVENTS && !status; kind++)
			if (q->serving ? kind == NM_EVENT_HIT : q->kinds[i] >> kind & 1)
				status = add_figure(v, i, kind, machine->levels[i].name,
						    q->serving ? NULL : nm_event_names[kind]);
	if (q->serving && !status)
		status = add_figure(v, NM_MAX_LEVELS, NM_EVENT_LOAD, "memory", NULL);
	return status;
}

/* Rows are sorted by key unless --sort names a column of counts. */
static int choose_order(struct nm_monitor_view *v)
{
	char list[NM_MONITOR_FIGURES * (NAME + 2)];
	size_t n = 0;

	v->sorted_by = UINT32_MAX;
	if (!v->request->sort)
		return 0;
	for (unsigned i = 0; i < v->figure_count; i++) {
		if (!strcmp(v->request->sort, v->figures[i].name))
			v->sorted_by = i;
		n += (size_t)snprintf(list + n, sizeof list - n, "%s, ", v->figures[i].name);
	}
	if (!strcmp(v->request->sort, "total"))
		v->sorted_by = v->figure_count;
	if (v->sorted_by != UINT32_MAX)
		return 0;
	return nm_fail(v->err, NM_EINVAL, "there is no column \"%s\" to sort by; there are %stotal",
		       v->request->sort, list);
}

/* ---- sums ---- */

struct keyed_row {
	uint64_t key;
	size_t row;
};

static int by_key(const void *left, const void *right)
{
	const struct keyed_row *r = left, *b = right;

	if (r->key != b->key)
		return r->key < b->key ? -1 : 1;
	return r->row < b->row ? -1 : r->row > b->row;
}

static uint64_t *counts_of(const struct nm_monitor_view *v, const struct nm_monitor_sums *sums)
{
	return &v->counts.at[sums->at];
}

/* Adds a row of zero counts. 0 or NM_ENOMEM. */
static int push_sums(struct nm_monitor_view *v, struct nm_monitor_sums fresh)
{
	fresh.at = v->counts.count;
	if (nm_vec_reserve(&v->counts, v->figure_count) || nm_vec_push(&v->sums, fresh))
		return NM_ENOMEM;
	memset(counts_of(v, &fresh), 0, v->figure_count * sizeof(uint64_t));
	v->counts.count += v->figure_count;
	return 0;
}

static void add_row(const struct nm_monitor_view *v, struct nm_monitor_sums *to,
		    const struct nm_event_row *row)
{
	int by_level = v->request->event_query.mode != NM_QUERY_COUNT;

	for (unsigned i = 0; i < v->figure_count; i++)
		if (v->figures[i].kind == row->kind && (!by_level || v->figures[i].level == row->level))
			counts_of(v, to)[i] += row->count;
	to->total += row->count;
}

/* The sums that a row belongs to, among those of its process (from `first` on). Rows come in the order of
 * keys; when levels are counted, the sums of all levels exist already. NULL: out of memory. */
static struct nm_monitor_sums *sums_of(struct nm_monitor_view *v, size_t first, size_t process,
				       const struct keyed_row *row_key)
{
	const struct nm_result *r = v->results[process];
	const struct nm_event_row *row = &r->events.rows[row_key->row];
	struct nm_monitor_sums fresh = {.process = process, .key = row_key->key};

	if (v->request->event_query.mode == NM_QUERY_COUNT) {
		while (v->sums.at[first].key != row_key->key)
			first++;
		return &v->sums.at[first];
	}
	if (v->sums.count == first || v->sums.at[v->sums.count - 1].key != row_key->key) {
		fresh.object = nm_monitor_object(r, row->kind, row->attr, row->victim);
		if (push_sums(v, fresh))
			return NULL;
	}
	return &v->sums.at[v->sums.count - 1];
}

/* The rows of a process that pass the filters, by key. The caller frees *ret_list. */
static int pick_rows(struct nm_monitor_view *v, size_t process, struct keyed_row **ret_list,
		     size_t *ret_count)
{
	const struct nm_result *r = v->results[process];
	const struct nm_filtered_events *kept = &r->events;
	struct keyed_row *list = calloc(kept->row_count + 1, sizeof *list);
	size_t n = 0;

	if (!list)
		return nm_fail_memory(v->err);
	for (size_t i = 0; i < kept->row_count; i++)
		if (nm_monitor_picks(v, r, &kept->rows[i]))
			list[n++] = (struct keyed_row){v->request->event_query.mode == NM_QUERY_COUNT
							   ? kept->rows[i].level
							   : kept->rows[i].place,
						       i};
	if (n)
		qsort(list, n, sizeof *list, by_key);
	*ret_list = list;
	*ret_count = n;
	return 0;
}

static int sum_up(struct nm_monitor_view *v, size_t process)
{
	const struct nm_event_row *rows = v->results[process]->events.rows;
	size_t n = 0, first = v->sums.count;
	struct keyed_row *list = NULL;
	int status = pick_rows(v, process, &list, &n);

	if (status)
		return status;
	for (unsigned i = 0;
	     !status && v->request->event_query.mode == NM_QUERY_COUNT && i < v->request->machine->count; i++)
		if (v->request->event_query.kinds[i] &&
		    push_sums(v, (struct nm_monitor_sums){.process = process, .key = i}))
			status = nm_fail_memory(v->err);
	for (size_t i = 0; i < n && !status; i++) {
		struct nm_monitor_sums *to = sums_of(v, first, process, &list[i]);

		if (to)
			add_row(v, to, &rows[list[i].row]);
		else
			status = nm_fail_memory(v->err);
	}
	free(list);
	return status;
}

static int by_figure(const void *left, const void *right, void *arg)
{
	const struct nm_monitor_sums *m = left, *b = right;
	const struct nm_monitor_view *v = arg;
	uint64_t x = v->sorted_by == v->figure_count ? m->total : counts_of(v, m)[v->sorted_by];
	uint64_t y = v->sorted_by == v->figure_count ? b->total : counts_of(v, b)[v->sorted_by];

	if (x != y)
		return x > y ? -1 : 1;
	if (m->process != b->process)
		return m->process < b->process ? -1 : 1;
	return m->key < b->key ? -1 : m->key > b->key;
}

/* ---- columns and rows ---- */

static void add_column(struct nm_monitor_view *v, struct nm_column column)
{
	v->columns[v->table.column_count++] = column;
}

static void add_process_column(struct nm_monitor_view *v)
{
	add_column(v, (struct nm_column){.name = "process",
					 .title = v->count > 1 ? "process" : NULL,
					 .kind = NM_COLUMN_TEXT});
}

/* The letter of a level in a bar: its number, or M for memory. */
static char letter_of(const struct nm_monitor_figure *f)
{
	const char *digit = f->name + strcspn(f->name, "0123456789");

	return f->level == NM_MAX_LEVELS ? 'M' : *digit ? *digit : f->name[0];
}

/* A bar as long as the total, made of the letters of the levels that served the references. */
static const char *plot_served(struct nm_table *table, size_t row)
{
	const struct nm_monitor_view *v = (const struct nm_monitor_view *)table;
	const struct nm_monitor_sums *sums = &v->sums.at[row];
	char bar[PLOT + 1];
	uint64_t sum = 0;
	unsigned end = 0;

	for (unsigned i = 0; i < v->figure_count; i++) {
		sum += counts_of(v, sums)[i];
		for (unsigned to = (unsigned)((double)sum / (double)v->most * PLOT + .5); end < to; end++)
			bar[end] = letter_of(&v->figures[i]);
	}
	bar[end] = '\0';
	return nm_intern(&table->pool, bar);
}

/* "1: L1d  2: L2  M: memory" explains the letters. */
static const char *plot_title(struct nm_monitor_view *v)
{
	char title[NM_MONITOR_FIGURES * (NAME + 5)];
	size_t n = 0;

	for (unsigned i = 0; i < v->figure_count; i++)
		n += (size_t)snprintf(title + n, sizeof title - n, "%s%c: %s", i ? "  " : "",
				      letter_of(&v->figures[i]), v->figures[i].name);
	return nm_intern(&v->table.pool, title);
}

static void make_columns(struct nm_monitor_view *v)
{
	static const char *const titles[] = {
	    [NM_QUERY_COUNT] = "level", [NM_QUERY_GRANULES] = "address", [NM_QUERY_SETS] = "set"};
	const char *title = titles[v->request->event_query.mode];

	add_process_column(v);
	add_column(v, (struct nm_column){.name = title,
					 .title = title,
					 .kind = v->request->event_query.mode == NM_QUERY_SETS
						     ? NM_COLUMN_NUMBER
						     : NM_COLUMN_TEXT});
	if (v->request->event_query.mode == NM_QUERY_GRANULES)
		add_column(v,
			   (struct nm_column){.name = "object", .title = "object", .kind = NM_COLUMN_NAME});
	for (unsigned i = 0; i < v->figure_count; i++)
		add_column(v, (struct nm_column){.name = v->figures[i].name,
						 .title = v->figures[i].title,
						 .kind = NM_COLUMN_NUMBER});
	if (v->request->event_query.serving)
		add_column(v, (struct nm_column){.name = "plot",
						 .title = plot_title(v),
						 .kind = NM_COLUMN_TEXT,
						 .compose = plot_served});
	v->table.columns = v->columns;
}

static int fill_sums(struct nm_monitor_view *v)
{
	for (size_t i = 0; i < v->sums.count; i++) {
		const struct nm_monitor_sums *sums = &v->sums.at[i];
		struct nm_value *row;
		unsigned at = 0;

		if (nm_vec_reserve(&v->table.values, v->table.column_count))
			return nm_fail_memory(v->err);
		row = v->table.values.at + v->table.values.count;
		memset(row, 0, v->table.column_count * sizeof *row);
		row[at++] = nm_monitor_text(v, v->results[sums->process]->process);
		if (v->request->event_query.mode == NM_QUERY_COUNT)
			row[at++] = nm_monitor_text(v, v->request->machine->levels[sums->key].name);
		else if (v->request->event_query.mode == NM_QUERY_SETS)
			row[at++] = nm_monitor_integer(sums->key);
		else
			row[at++] = nm_monitor_address(v, sums->key);
		if (v->request->event_query.mode == NM_QUERY_GRANULES)
			row[at++] = nm_monitor_text(v, sums->object);
		for (unsigned k = 0; k < v->figure_count; k++)
			row[at++] = nm_monitor_integer(counts_of(v, sums)[k]);
		v->table.values.count += v->table.column_count;
		v->table.row_count++;
	}
	return 0;
}

int nm_monitor_show_sums(struct nm_monitor_view *v)
{
	int status = make_figures(v);

	if (!status)
		status = choose_order(v);
	for (size_t p = 0; p < v->count && !status; p++)
		status = sum_up(v, p);
	if (status)
		return status;
	make_columns(v);
	if (v->sorted_by != UINT32_MAX && v->sums.count)
		qsort_r(v->sums.at, v->sums.count, sizeof *v->sums.at, by_figure, v);
	if (v->request->limit && v->sums.count > (size_t)v->request->limit) {
		v->left_out = v->sums.count - (size_t)v->request->limit;
		v->sums.count = (size_t)v->request->limit;
	}
	for (size_t i = 0; i < v->sums.count; i++)
		if (v->sums.at[i].total > v->most)
			v->most = v->sums.at[i].total;
	return fill_sums(v);
}
