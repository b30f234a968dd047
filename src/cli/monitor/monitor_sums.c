/* SPDX-License-Identifier: MIT
 *
 * monitor_sums.c - see monitor_sums.h.
 */
#include "monitor/monitor_sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PLOT = 40, NAME = sizeof(((struct nm_level_spec *)0)->name) + 16 };

/* ---- figures ---- */

static int add_figure(struct nm_monitor_view *s, unsigned level, unsigned kind, const char *a, const char *b)
{
	struct nm_monitor_figure *f = &s->figures[s->figure_count++];
	char joined[NAME];

	f->level = level;
	f->kind = kind;
	snprintf(joined, sizeof joined, "%s%s%s", a, b ? "_" : "", b ? b : "");
	f->name = nm_intern(&s->table.pool, joined);
	snprintf(joined, sizeof joined, "%s%s%s", a, b ? " " : "", b ? b : "");
	f->title = nm_intern(&s->table.pool, joined);
	return f->name && f->title ? 0 : nm_fail_memory(s->err);
}

static int make_figures(struct nm_monitor_view *s)
{
	const struct nm_event_query *q = &s->request->event_query;
	const struct nm_machine *machine = s->request->machine;
	unsigned any = 0;
	int status = 0;

	for (unsigned i = 0; i < machine->count; i++)
		any |= q->kinds[i];
	for (unsigned kind = 0; q->mode == NM_QUERY_COUNT && kind < NM_EVENTS && !status; kind++)
		if (any >> kind & 1)
			status = add_figure(s, 0, kind, nm_event_names[kind], NULL);
	for (unsigned i = 0; q->mode != NM_QUERY_COUNT && i < machine->count; i++)
		for (unsigned kind = 0; kind < NM_EVENTS && !status; kind++)
			if (q->serving ? kind == NM_EVENT_HIT : q->kinds[i] >> kind & 1)
				status = add_figure(s, i, kind, machine->levels[i].name,
						    q->serving ? NULL : nm_event_names[kind]);
	if (q->serving && !status)
		status = add_figure(s, NM_MAX_LEVELS, NM_EVENT_LOAD, "memory", NULL);
	return status;
}

/* Rows are sorted by key unless --sort names a column of counts. */
static int choose_order(struct nm_monitor_view *s)
{
	char list[NM_MONITOR_FIGURES * (NAME + 2)];
	size_t n = 0;

	s->sorted_by = UINT32_MAX;
	if (!s->request->sort)
		return 0;
	for (unsigned i = 0; i < s->figure_count; i++) {
		if (!strcmp(s->request->sort, s->figures[i].name))
			s->sorted_by = i;
		n += (size_t)snprintf(list + n, sizeof list - n, "%s, ", s->figures[i].name);
	}
	if (!strcmp(s->request->sort, "total"))
		s->sorted_by = s->figure_count;
	if (s->sorted_by != UINT32_MAX)
		return 0;
	return nm_fail(s->err, NM_EINVAL, "there is no column \"%s\" to sort by; there are %stotal",
		       s->request->sort, list);
}

/* ---- sums ---- */

struct keyed_row {
	uint64_t key;
	size_t row;
};

static int by_key(const void *left, const void *right)
{
	const struct keyed_row *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static uint64_t *counts_of(const struct nm_monitor_view *s, const struct nm_monitor_sums *sums)
{
	return &s->counts.at[sums->at];
}

/* Adds a row of zero counts. 0 or NM_ENOMEM. */
static int push_sums(struct nm_monitor_view *s, struct nm_monitor_sums fresh)
{
	fresh.at = s->counts.count;
	if (nm_vec_reserve(&s->counts, s->figure_count) || nm_vec_push(&s->sums, fresh))
		return NM_ENOMEM;
	memset(counts_of(s, &fresh), 0, s->figure_count * sizeof(uint64_t));
	s->counts.count += s->figure_count;
	return 0;
}

static void add_row(const struct nm_monitor_view *s, struct nm_monitor_sums *to,
		    const struct nm_event_row *row)
{
	int by_level = s->request->event_query.mode != NM_QUERY_COUNT;

	for (unsigned i = 0; i < s->figure_count; i++)
		if (s->figures[i].kind == row->kind && (!by_level || s->figures[i].level == row->level))
			counts_of(s, to)[i] += row->count;
	to->total += row->count;
}

/* The sums that a row belongs to, among those of its process (from `first` on). Rows come in the order of
 * keys; when levels are counted, the sums of all levels exist already. NULL: out of memory. */
static struct nm_monitor_sums *sums_of(struct nm_monitor_view *s, size_t first, size_t process,
				       const struct keyed_row *row_key)
{
	const struct nm_result *r = s->results[process];
	const struct nm_event_row *row = &r->events.rows[row_key->row];
	struct nm_monitor_sums fresh = {.process = process, .key = row_key->key};

	if (s->request->event_query.mode == NM_QUERY_COUNT) {
		while (s->sums.at[first].key != row_key->key)
			first++;
		return &s->sums.at[first];
	}
	if (s->sums.count == first || s->sums.at[s->sums.count - 1].key != row_key->key) {
		fresh.object = nm_monitor_object(r, row->kind, row->attr, row->victim);
		if (push_sums(s, fresh))
			return NULL;
	}
	return &s->sums.at[s->sums.count - 1];
}

/* The rows of a process that pass the filters, by key. The caller frees *ret_list. */
static int pick(struct nm_monitor_view *s, size_t process, struct keyed_row **ret_list, size_t *ret_count)
{
	const struct nm_result *r = s->results[process];
	const struct nm_filtered_events *kept = &r->events;
	struct keyed_row *list = calloc(kept->row_count + 1, sizeof *list);
	size_t n = 0;

	if (!list)
		return nm_fail_memory(s->err);
	for (size_t i = 0; i < kept->row_count; i++)
		if (nm_monitor_picks(s, r, &kept->rows[i]))
			list[n++] = (struct keyed_row){s->request->event_query.mode == NM_QUERY_COUNT
							   ? kept->rows[i].level
							   : kept->rows[i].place,
						       i};
	if (n)
		qsort(list, n, sizeof *list, by_key);
	*ret_list = list;
	*ret_count = n;
	return 0;
}

static int sum_up(struct nm_monitor_view *s, size_t process)
{
	const struct nm_event_row *rows = s->results[process]->events.rows;
	size_t n = 0, first = s->sums.count;
	struct keyed_row *list = NULL;
	int status = pick(s, process, &list, &n);

	if (status)
		return status;
	for (unsigned i = 0;
	     !status && s->request->event_query.mode == NM_QUERY_COUNT && i < s->request->machine->count; i++)
		if (s->request->event_query.kinds[i] &&
		    push_sums(s, (struct nm_monitor_sums){.process = process, .key = i}))
			status = nm_fail_memory(s->err);
	for (size_t i = 0; i < n && !status; i++) {
		struct nm_monitor_sums *to = sums_of(s, first, process, &list[i]);

		if (to)
			add_row(s, to, &rows[list[i].row]);
		else
			status = nm_fail_memory(s->err);
	}
	free(list);
	return status;
}

static int by_figure(const void *left, const void *right, void *arg)
{
	const struct nm_monitor_sums *a = left, *b = right;
	const struct nm_monitor_view *s = arg;
	uint64_t x = s->sorted_by == s->figure_count ? a->total : counts_of(s, a)[s->sorted_by];
	uint64_t y = s->sorted_by == s->figure_count ? b->total : counts_of(s, b)[s->sorted_by];

	if (x != y)
		return x > y ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

/* ---- columns and rows ---- */

static void add_column(struct nm_monitor_view *s, struct nm_column column)
{
	s->columns[s->table.column_count++] = column;
}

static void add_process_column(struct nm_monitor_view *s)
{
	add_column(s, (struct nm_column){.name = "process",
					 .title = s->count > 1 ? "process" : NULL,
					 .kind = NM_COLUMN_TEXT});
}

/* The letter of a level in a bar: its number, or M for memory. */
static char letter_of(const struct nm_monitor_figure *f)
{
	const char *digit = f->name + strcspn(f->name, "0123456789");

	return f->level == NM_MAX_LEVELS ? 'M' : *digit ? *digit : f->name[0];
}

/* A bar as long as the total, made of the letters of the levels that served the references. */
static const char *plot(struct nm_table *table, size_t row)
{
	const struct nm_monitor_view *s = (const struct nm_monitor_view *)table;
	const struct nm_monitor_sums *sums = &s->sums.at[row];
	char bar[PLOT + 1];
	uint64_t sum = 0;
	unsigned end = 0;

	for (unsigned i = 0; i < s->figure_count; i++) {
		sum += counts_of(s, sums)[i];
		for (unsigned to = (unsigned)((double)sum / (double)s->most * PLOT + .5); end < to; end++)
			bar[end] = letter_of(&s->figures[i]);
	}
	bar[end] = '\0';
	return nm_intern(&table->pool, bar);
}

/* "1: L1d  2: L2  M: memory" explains the letters. */
static const char *plot_title(struct nm_monitor_view *s)
{
	char title[NM_MONITOR_FIGURES * (NAME + 5)];
	size_t n = 0;

	for (unsigned i = 0; i < s->figure_count; i++)
		n += (size_t)snprintf(title + n, sizeof title - n, "%s%c: %s", i ? "  " : "",
				      letter_of(&s->figures[i]), s->figures[i].name);
	return nm_intern(&s->table.pool, title);
}

static void make_columns(struct nm_monitor_view *s)
{
	static const char *const titles[] = {
	    [NM_QUERY_COUNT] = "level", [NM_QUERY_GRANULES] = "address", [NM_QUERY_SETS] = "set"};
	const char *title = titles[s->request->event_query.mode];

	add_process_column(s);
	add_column(s, (struct nm_column){.name = title,
					 .title = title,
					 .kind = s->request->event_query.mode == NM_QUERY_SETS
						     ? NM_COLUMN_NUMBER
						     : NM_COLUMN_TEXT});
	if (s->request->event_query.mode == NM_QUERY_GRANULES)
		add_column(s,
			   (struct nm_column){.name = "object", .title = "object", .kind = NM_COLUMN_NAME});
	for (unsigned i = 0; i < s->figure_count; i++)
		add_column(s, (struct nm_column){.name = s->figures[i].name,
						 .title = s->figures[i].title,
						 .kind = NM_COLUMN_NUMBER});
	if (s->request->event_query.serving)
		add_column(
		    s, (struct nm_column){
			   .name = "plot", .title = plot_title(s), .kind = NM_COLUMN_TEXT, .compose = plot});
	s->table.columns = s->columns;
}

static int fill_sums(struct nm_monitor_view *s)
{
	for (size_t i = 0; i < s->sums.count; i++) {
		const struct nm_monitor_sums *sums = &s->sums.at[i];
		struct nm_value *row;
		unsigned at = 0;

		if (nm_vec_reserve(&s->table.values, s->table.column_count))
			return nm_fail_memory(s->err);
		row = s->table.values.at + s->table.values.count;
		memset(row, 0, s->table.column_count * sizeof *row);
		row[at++] = nm_monitor_text(s, s->results[sums->process]->process);
		if (s->request->event_query.mode == NM_QUERY_COUNT)
			row[at++] = nm_monitor_text(s, s->request->machine->levels[sums->key].name);
		else if (s->request->event_query.mode == NM_QUERY_SETS)
			row[at++] = nm_monitor_integer(sums->key);
		else
			row[at++] = nm_monitor_address(s, sums->key);
		if (s->request->event_query.mode == NM_QUERY_GRANULES)
			row[at++] = nm_monitor_text(s, sums->object);
		for (unsigned k = 0; k < s->figure_count; k++)
			row[at++] = nm_monitor_integer(counts_of(s, sums)[k]);
		s->table.values.count += s->table.column_count;
		s->table.row_count++;
	}
	return 0;
}

int nm_monitor_show_sums(struct nm_monitor_view *s)
{
	int status = make_figures(s);

	if (!status)
		status = choose_order(s);
	for (size_t p = 0; p < s->count && !status; p++)
		status = sum_up(s, p);
	if (status)
		return status;
	make_columns(s);
	if (s->sorted_by != UINT32_MAX && s->sums.count)
		qsort_r(s->sums.at, s->sums.count, sizeof *s->sums.at, by_figure, s);
	if (s->request->limit && s->sums.count > (size_t)s->request->limit) {
		s->left_out = s->sums.count - (size_t)s->request->limit;
		s->sums.count = (size_t)s->request->limit;
	}
	for (size_t i = 0; i < s->sums.count; i++)
		if (s->sums.at[i].total > s->most)
			s->most = s->sums.at[i].total;
	return fill_sums(s);
}
