/* SPDX-License-Identifier: MIT
 *
 * monitor_table.c - from events that were kept (sift.h) to the table that `nearmiss monitor` shows.
 *
 * Names are known now, so rows are picked by object and function here, then summed up over cells.  An event's function
 * is that of the reference that made it; its object is what it befell: what was referenced, or, when a line is replaced,
 * what that line had been loaded for.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "monitoring.h"
#include "table.h"

enum {
	PLOT = 40,
	NAME = sizeof(((struct nm_level_spec *)0)->name) + 16,
	MAX_FIGURES = NM_MAX_LEVELS * NM_EVENTS + 1,
	MAX_COLUMNS = MAX_FIGURES + 8
};

/* A column of counts. */
struct figure {
	unsigned level, kind;
	const char *name, *title;
};

/* Sums over a place of a process. */
struct sums {
	size_t process;
	uint64_t place;
	const char *object;
	uint64_t total;
	size_t at; /* of its first figure among all counts */
};

struct show {
	struct nm_table table; /* first: composers have nothing else */
	const struct nm_monitoring *m;
	struct nm_result *const *results;
	size_t count;
	struct figure figures[MAX_FIGURES];
	unsigned figure_count, sorted_by; /* a figure, or figure_count: the total */
	struct nm_column columns[MAX_COLUMNS];
	struct nm_vec(struct sums) sums;
	struct nm_vec(uint64_t) counts; /* figure_count of each sums */
	uint64_t most, left_out;        /* the greatest total; rows beyond the limit */
	struct nm_error *err;
};

static int exhausted(struct show *s) { return nm_fail(s->err, NM_ENOMEM, "out of memory"); }

/* ---- names ---- */

static int is_named(const char *pattern, const char *name)
{
	return !pattern || (name && (!strcmp(pattern, name) || !fnmatch(pattern, name, 0)));
}

static const struct nm_result_site *site_of(const struct nm_result *r, uint32_t cell)
{
	return &r->sites[r->cells[cell].site];
}

static const char *object_of(const struct nm_result *r, unsigned kind, uint32_t cell, uint32_t victim)
{
	return r->objects[r->cells[nm_event_leaves(kind) ? victim : cell].object].name;
}

static int is_picked(const struct show *s, const struct nm_result *r, const struct nm_sift_row *row)
{
	return is_named(s->m->object, object_of(r, row->kind, row->cell, row->victim)) &&
	       is_named(s->m->function, site_of(r, row->cell)->function);
}

/* A name that nothing bears is a mistake. */
static int check_names(struct show *s)
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

static struct nm_value text(struct show *s, const char *string)
{
	struct nm_value value = {.type = NM_VALUE_NULL};
	char *clean = string ? nm_utf8_clean(string) : NULL;

	if (clean)
		value = (struct nm_value){.type = NM_VALUE_TEXT, .text = nm_table_keep(&s->table, clean)};
	return value;
}

static struct nm_value address(struct show *s, uint64_t a)
{
	char hex[24];

	snprintf(hex, sizeof hex, "%#" PRIx64, a);
	return text(s, hex);
}

static struct nm_value integer(uint64_t n)
{
	return (struct nm_value){.type = NM_VALUE_INTEGER, .integer = (int64_t)n};
}

/* ---- figures ---- */

static int add_figure(struct show *s, unsigned level, unsigned kind, const char *a, const char *b)
{
	struct figure *f = &s->figures[s->figure_count++];
	char joined[NAME];

	f->level = level;
	f->kind = kind;
	snprintf(joined, sizeof joined, "%s%s%s", a, b ? "_" : "", b ? b : "");
	f->name = nm_intern(&s->table.pool, joined);
	snprintf(joined, sizeof joined, "%s%s%s", a, b ? " " : "", b ? b : "");
	f->title = nm_intern(&s->table.pool, joined);
	return f->name && f->title ? 0 : exhausted(s);
}

static int make_figures(struct show *s)
{
	const struct nm_sift_request *q = &s->m->sift;
	const struct nm_machine *machine = &s->m->machine;
	unsigned any = 0;
	int code = 0;

	for (unsigned i = 0; i < machine->count; i++)
		any |= q->kinds[i];
	for (unsigned kind = 0; q->mode == NM_SIFT_COUNT && kind < NM_EVENTS && !code; kind++)
		if (any >> kind & 1)
			code = add_figure(s, 0, kind, nm_event_names[kind], NULL);
	for (unsigned i = 0; q->mode != NM_SIFT_COUNT && i < machine->count; i++)
		for (unsigned kind = 0; kind < NM_EVENTS && !code; kind++)
			if (q->serving ? kind == NM_EVENT_HIT : q->kinds[i] >> kind & 1)
				code = add_figure(s, i, kind, machine->levels[i].name,
						  q->serving ? NULL : nm_event_names[kind]);
	if (q->serving && !code)
		code = add_figure(s, NM_MAX_LEVELS, NM_EVENT_LOAD, "memory", NULL);
	return code;
}

/* The order of rows: by place, unless a column of counts is named. */
static int choose_order(struct show *s)
{
	char list[MAX_FIGURES * (NAME + 2)];
	size_t n = 0;

	s->sorted_by = UINT32_MAX;
	if (!s->m->sort)
		return 0;
	for (unsigned i = 0; i < s->figure_count; i++) {
		if (!strcmp(s->m->sort, s->figures[i].name))
			s->sorted_by = i;
		n += (size_t)snprintf(list + n, sizeof list - n, "%s, ", s->figures[i].name);
	}
	if (!strcmp(s->m->sort, "total"))
		s->sorted_by = s->figure_count;
	if (s->sorted_by != UINT32_MAX)
		return 0;
	return nm_fail(s->err, NM_EINVAL, "there is no column \"%s\" to sort by; there are %stotal",
		       s->m->sort, list);
}

/* ---- sums ---- */

struct keyed {
	uint64_t place;
	size_t row;
};

static int by_place(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static uint64_t *counts_of(const struct show *s, const struct sums *sums) { return &s->counts.at[sums->at]; }

/* Sums of a place, all 0 yet.  0 or NM_ENOMEM. */
static int push_sums(struct show *s, struct sums fresh)
{
	fresh.at = s->counts.count;
	if (nm_vec_reserve(&s->counts, s->figure_count) || nm_vec_push(&s->sums, fresh))
		return NM_ENOMEM;
	memset(counts_of(s, &fresh), 0, s->figure_count * sizeof(uint64_t));
	s->counts.count += s->figure_count;
	return 0;
}

static void add_row(const struct show *s, struct sums *to, const struct nm_sift_row *row)
{
	int by_level = s->m->sift.mode != NM_SIFT_COUNT;

	for (unsigned i = 0; i < s->figure_count; i++)
		if (s->figures[i].kind == row->kind && (!by_level || s->figures[i].level == row->level))
			counts_of(s, to)[i] += row->count;
	to->total += row->count;
}

/* Where a row is to be added, of those of its process from `first` on; for counts, a place is a level, and all are
 * there.  Rows come in the order of places.  NULL: memory is exhausted. */
static struct sums *sums_of(struct show *s, size_t first, size_t process, const struct keyed *key)
{
	const struct nm_result *r = s->results[process];
	const struct nm_sift_row *row = &r->sifted.rows[key->row];
	struct sums fresh = {.process = process, .place = key->place};

	if (s->m->sift.mode == NM_SIFT_COUNT) {
		while (s->sums.at[first].place != key->place)
			first++;
		return &s->sums.at[first];
	}
	if (s->sums.count == first || s->sums.at[s->sums.count - 1].place != key->place) {
		fresh.object = object_of(r, row->kind, row->cell, row->victim);
		if (push_sums(s, fresh))
			return NULL;
	}
	return &s->sums.at[s->sums.count - 1];
}

/* The rows of a process that are picked, in the order of their places; *ret_list is the caller's. */
static int pick(struct show *s, size_t process, struct keyed **ret_list, size_t *ret_count)
{
	const struct nm_result *r = s->results[process];
	const struct nm_sifted *kept = &r->sifted;
	struct keyed *list = calloc(kept->row_count + 1, sizeof *list);
	size_t n = 0;

	if (!list)
		return exhausted(s);
	for (size_t i = 0; i < kept->row_count; i++)
		if (is_picked(s, r, &kept->rows[i]))
			list[n++] = (struct keyed){
			    s->m->sift.mode == NM_SIFT_COUNT ? kept->rows[i].level : kept->rows[i].place, i};
	if (n)
		qsort(list, n, sizeof *list, by_place);
	*ret_list = list;
	*ret_count = n;
	return 0;
}

static int sum_up(struct show *s, size_t process)
{
	const struct nm_sift_row *rows = s->results[process]->sifted.rows;
	size_t n = 0, first = s->sums.count;
	struct keyed *list = NULL;
	int code = pick(s, process, &list, &n);

	if (code)
		return code;
	for (unsigned i = 0; !code && s->m->sift.mode == NM_SIFT_COUNT && i < s->m->machine.count; i++)
		if (s->m->sift.kinds[i] && push_sums(s, (struct sums){.process = process, .place = i}))
			code = exhausted(s);
	for (size_t i = 0; i < n && !code; i++) {
		struct sums *to = sums_of(s, first, process, &list[i]);

		if (to)
			add_row(s, to, &rows[list[i].row]);
		else
			code = exhausted(s);
	}
	free(list);
	return code;
}

static int by_figure(const void *left, const void *right, void *arg)
{
	const struct sums *a = left, *b = right;
	const struct show *s = arg;
	uint64_t x = s->sorted_by == s->figure_count ? a->total : counts_of(s, a)[s->sorted_by];
	uint64_t y = s->sorted_by == s->figure_count ? b->total : counts_of(s, b)[s->sorted_by];

	if (x != y)
		return x > y ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* ---- columns and rows ---- */

static void add_column(struct show *s, struct nm_column column)
{
	s->columns[s->table.column_count++] = column;
}

static void add_process_column(struct show *s)
{
	add_column(s, (struct nm_column){.name = "process",
					 .title = s->count > 1 ? "process" : NULL,
					 .kind = NM_COLUMN_TEXT});
}

/* The number of a level, or M for memory. */
static char sign_of(const struct figure *f)
{
	const char *digit = f->name + strcspn(f->name, "0123456789");

	return f->level == NM_MAX_LEVELS ? 'M' : *digit ? *digit : f->name[0];
}

/* A bar as long as the total, made of the signs of what served. */
static const char *plot(struct nm_table *table, size_t row)
{
	const struct show *s = (const struct show *)table;
	const struct sums *sums = &s->sums.at[row];
	char bar[PLOT + 1];
	uint64_t sum = 0;
	unsigned end = 0;

	for (unsigned i = 0; i < s->figure_count; i++) {
		sum += counts_of(s, sums)[i];
		for (unsigned to = (unsigned)((double)sum / (double)s->most * PLOT + .5); end < to; end++)
			bar[end] = sign_of(&s->figures[i]);
	}
	bar[end] = '\0';
	return nm_intern(&table->pool, bar);
}

/* "1: L1d  2: L2  M: memory", the signs of the bars. */
static const char *plot_title(struct show *s)
{
	char title[MAX_FIGURES * (NAME + 5)];
	size_t n = 0;

	for (unsigned i = 0; i < s->figure_count; i++)
		n += (size_t)snprintf(title + n, sizeof title - n, "%s%c: %s", i ? "  " : "",
				      sign_of(&s->figures[i]), s->figures[i].name);
	return nm_intern(&s->table.pool, title);
}

static void make_columns(struct show *s)
{
	static const char *const places[] = {
	    [NM_SIFT_COUNT] = "level", [NM_SIFT_GRANULES] = "address", [NM_SIFT_SETS] = "set"};
	const char *place = places[s->m->sift.mode];

	add_process_column(s);
	add_column(s, (struct nm_column){.name = place,
					 .title = place,
					 .kind = s->m->sift.mode == NM_SIFT_SETS ? NM_COLUMN_NUMBER
										 : NM_COLUMN_TEXT});
	if (s->m->sift.mode == NM_SIFT_GRANULES)
		add_column(s,
			   (struct nm_column){.name = "object", .title = "object", .kind = NM_COLUMN_NAME});
	for (unsigned i = 0; i < s->figure_count; i++)
		add_column(s, (struct nm_column){.name = s->figures[i].name,
						 .title = s->figures[i].title,
						 .kind = NM_COLUMN_NUMBER});
	if (s->m->sift.serving)
		add_column(
		    s, (struct nm_column){
			   .name = "plot", .title = plot_title(s), .kind = NM_COLUMN_TEXT, .compose = plot});
	s->table.columns = s->columns;
}

static int fill_sums(struct show *s)
{
	for (size_t i = 0; i < s->sums.count; i++) {
		const struct sums *sums = &s->sums.at[i];
		struct nm_value *row;
		unsigned at = 0;

		if (nm_vec_reserve(&s->table.values, s->table.column_count))
			return exhausted(s);
		row = s->table.values.at + s->table.values.count;
		memset(row, 0, s->table.column_count * sizeof *row);
		row[at++] = text(s, s->results[sums->process]->process);
		if (s->m->sift.mode == NM_SIFT_COUNT)
			row[at++] = text(s, s->m->machine.levels[sums->place].name);
		else if (s->m->sift.mode == NM_SIFT_SETS)
			row[at++] = integer(sums->place);
		else
			row[at++] = address(s, sums->place);
		if (s->m->sift.mode == NM_SIFT_GRANULES)
			row[at++] = text(s, sums->object);
		for (unsigned k = 0; k < s->figure_count; k++)
			row[at++] = integer(counts_of(s, sums)[k]);
		s->table.values.count += s->table.column_count;
		s->table.row_count++;
	}
	return 0;
}

static int show_sums(struct show *s)
{
	int code = make_figures(s);

	if (!code)
		code = choose_order(s);
	for (size_t p = 0; p < s->count && !code; p++)
		code = sum_up(s, p);
	if (code)
		return code;
	make_columns(s);
	if (s->sorted_by != UINT32_MAX && s->sums.count)
		qsort_r(s->sums.at, s->sums.count, sizeof *s->sums.at, by_figure, s);
	if (s->m->limit && s->sums.count > (size_t)s->m->limit) {
		s->left_out = s->sums.count - (size_t)s->m->limit;
		s->sums.count = (size_t)s->m->limit;
	}
	for (size_t i = 0; i < s->sums.count; i++)
		if (s->sums.at[i].total > s->most)
			s->most = s->sums.at[i].total;
	return fill_sums(s);
}

/* ---- stays and single events ---- */

/* "file:line (function)", as far as known, of the columns from `first` on. */
static const char *place_at(struct nm_table *table, size_t row, unsigned first)
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

enum { STAY_LOADER = 4, STAY_EVICTOR = 12, EVENT_MAKER = 5 };

static const char *stay_loader(struct nm_table *table, size_t row)
{
	return place_at(table, row, STAY_LOADER);
}
static const char *stay_evictor(struct nm_table *table, size_t row)
{
	return place_at(table, row, STAY_EVICTOR);
}
static const char *event_maker(struct nm_table *table, size_t row)
{
	return place_at(table, row, EVENT_MAKER);
}

static const struct nm_column stay_columns[] = {
    {.name = "process"},
    {.name = "level", .title = "level", .kind = NM_COLUMN_TEXT},
    {.name = "loaded", .title = "loaded at", .kind = NM_COLUMN_NUMBER},
    {.name = "address", .title = "by", .kind = NM_COLUMN_TEXT},
    [STAY_LOADER] = {.name = "function"},
    {.name = "file"},
    {.name = "line"},
    {.name = "loader", .title = "in", .kind = NM_COLUMN_PLACE, .compose = stay_loader},
    {.name = "object", .title = "of", .kind = NM_COLUMN_NAME},
    {.name = "hits", .title = "hits", .kind = NM_COLUMN_NUMBER},
    {.name = "replaced", .title = "replaced at", .kind = NM_COLUMN_NUMBER},
    {.name = "evictor_address", .title = "by", .kind = NM_COLUMN_TEXT},
    [STAY_EVICTOR] = {.name = "evictor_function"},
    {.name = "evictor_file"},
    {.name = "evictor_line"},
    {.name = "evicting", .title = "in", .kind = NM_COLUMN_PLACE, .compose = stay_evictor},
    {.name = "evictor", .title = "of", .kind = NM_COLUMN_TEXT},
};

static const struct nm_column event_columns[] = {
    {.name = "process"},
    {.name = "level", .title = "level", .kind = NM_COLUMN_TEXT},
    {.name = "event", .title = "event", .kind = NM_COLUMN_TEXT},
    {.name = "reference", .title = "at reference", .kind = NM_COLUMN_NUMBER},
    {.name = "address", .title = "to", .kind = NM_COLUMN_TEXT},
    [EVENT_MAKER] = {.name = "function"},
    {.name = "file"},
    {.name = "line"},
    {.name = "maker", .title = "in", .kind = NM_COLUMN_PLACE, .compose = event_maker},
    {.name = "object", .title = "of", .kind = NM_COLUMN_NAME},
    {.name = "memory_line", .title = "memory line", .kind = NM_COLUMN_TEXT},
    {.name = "victim", .title = "loaded for", .kind = NM_COLUMN_TEXT},
    {.name = "victim_function"},
    {.name = "victim_file"},
    {.name = "victim_line"},
};
enum {
	STAY_COLUMNS = sizeof stay_columns / sizeof *stay_columns,
	EVENT_COLUMNS = sizeof event_columns / sizeof *event_columns
};

static void put_site(struct show *s, struct nm_value *row, const struct nm_result *r, uint32_t cell)
{
	const struct nm_result_site *site = site_of(r, cell);

	row[0] = text(s, site->function);
	row[1] = text(s, site->file);
	if (site->line)
		row[2] = integer(site->line);
}

static const char *name_of(const struct nm_result *r, uint32_t cell)
{
	return r->objects[r->cells[cell].object].name;
}

static int push_row(struct show *s, const struct nm_value *row)
{
	for (unsigned i = 0; i < s->table.column_count; i++)
		if (nm_vec_push(&s->table.values, row[i]))
			return exhausted(s);
	s->table.row_count++;
	return 0;
}

static int add_stay(struct show *s, const struct nm_result *r, const struct nm_sift_stay *stay)
{
	struct nm_value row[STAY_COLUMNS] = {[0] = text(s, r->process),
					     [1] = text(s, s->m->machine.levels[stay->level].name),
					     [2] = integer(stay->loaded),
					     [3] = address(s, stay->address),
					     [8] = text(s, name_of(r, stay->loader)),
					     [9] = integer(stay->hits)};

	put_site(s, row + STAY_LOADER, r, stay->loader);
	if (stay->left) {
		row[10] = integer(stay->left);
		row[11] = address(s, stay->push);
		put_site(s, row + STAY_EVICTOR, r, stay->evictor);
		row[16] = text(s, name_of(r, stay->evictor));
	}
	return push_row(s, row);
}

static int show_stays(struct show *s)
{
	int code = 0;

	memcpy(s->columns, stay_columns, sizeof stay_columns);
	s->table.column_count = STAY_COLUMNS;
	s->table.columns = s->columns;
	if (s->count > 1)
		s->columns[0] =
		    (struct nm_column){.name = "process", .title = "process", .kind = NM_COLUMN_TEXT};
	for (size_t p = 0; p < s->count; p++) {
		const struct nm_sifted *kept = &s->results[p]->sifted;

		for (size_t i = 0; i < kept->stay_count && !code; i++)
			code = add_stay(s, s->results[p], &kept->stays[i]);
		s->left_out += kept->total - kept->stay_count;
	}
	return code;
}

static int add_event(struct show *s, const struct nm_result *r, const struct nm_event *e)
{
	struct nm_value row[EVENT_COLUMNS] = {[0] = text(s, r->process),
					      [1] = text(s, s->m->machine.levels[e->level].name),
					      [2] = text(s, nm_event_names[e->kind]),
					      [3] = integer(e->reference),
					      [4] = address(s, e->address),
					      [9] = text(s, name_of(r, e->cell)),
					      [10] = address(s, e->line)};

	put_site(s, row + EVENT_MAKER, r, e->cell);
	if (nm_event_leaves(e->kind)) {
		row[11] = text(s, name_of(r, e->victim));
		put_site(s, row + 12, r, e->victim);
	}
	return push_row(s, row);
}

static int show_nth(struct show *s)
{
	uint64_t most = 0;
	int code = 0;

	memcpy(s->columns, event_columns, sizeof event_columns);
	s->table.column_count = EVENT_COLUMNS;
	s->table.columns = s->columns;
	if (s->count > 1)
		s->columns[0] =
		    (struct nm_column){.name = "process", .title = "process", .kind = NM_COLUMN_TEXT};
	for (size_t p = 0; p < s->count && !code; p++) {
		const struct nm_sifted *kept = &s->results[p]->sifted;

		if (kept->total > most)
			most = kept->total;
		if (kept->total >= s->m->sift.nth)
			code = add_event(s, s->results[p], &kept->at);
	}
	if (!code && !s->table.row_count)
		return nm_fail(s->err, NM_ENOENT, "there were only %" PRIu64 " such events", most);
	return code;
}

/* ---- all ---- */

int nm_monitor_show(const struct nm_monitoring *m, struct nm_result *const *results, size_t count,
		    const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct show *s = calloc(1, sizeof *s);
	int code;

	if (!s)
		return nm_fail(err, NM_ENOMEM, "out of memory");
	s->m = m;
	s->results = results;
	s->count = count;
	s->err = err;
	code = check_names(s);
	if (!code)
		code = m->sift.mode == NM_SIFT_STAYS ? show_stays(s)
		       : m->sift.mode == NM_SIFT_NTH ? show_nth(s)
						     : show_sums(s);
	if (!code)
		code = nm_table_show(&s->table, "monitor", NULL, style, out, err);
	if (!code && s->left_out && style->format == NM_FORMAT_TEXT)
		fprintf(out, "and %" PRIu64 " more: --limit=0 shows all\n", s->left_out);
	nm_table_done(&s->table);
	nm_vec_free(&s->sums);
	nm_vec_free(&s->counts);
	free(s);
	return code;
}
