/* SPDX-License-Identifier: MIT
 *
 * prefetch_tables.c - see prefetch_report.h: the tables of trials, and the sentences about them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff_priv.h"
#include "prefetch_report.h"

enum { PAYS = 1 /* percent of the run's cycles, at least */ };

static const struct nm_column distance_columns[] = {
    {.name = "distance", .title = "distance", .kind = NM_COLUMN_NUMBER},
    {.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER},
    {.name = "change_percent", .title = "%", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "last_misses", .title = "of the last level", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "object_misses", .title = "of the objects", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "all_misses", .title = "of the run", .kind = NM_COLUMN_NUMBER, .drop_order = 2},
    {.name = "prefetches", .title = "prefetches", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "redundant", .title = "redundant", .kind = NM_COLUMN_NUMBER},
    {.name = "late", .title = "late", .kind = NM_COLUMN_NUMBER},
    {.name = "unused", .title = "unused", .kind = NM_COLUMN_NUMBER, .drop_order = 1},
    {.name = "polluted", .title = "polluted", .kind = NM_COLUMN_NUMBER},
    {.name = "saved_cycles", .title = "saves cycles", .kind = NM_COLUMN_NUMBER},
    {.name = "saved_percent", .title = "run %", .kind = NM_COLUMN_REAL, .decimals = 1},
};

static const struct nm_column size_columns[] = {
    {.name = "footprint", .title = "bytes accessed", .kind = NM_COLUMN_NUMBER},
    {.name = "fits", .title = "fits", .kind = NM_COLUMN_TEXT},
    {.name = "caches", .title = "caches", .kind = NM_COLUMN_TEXT},
    {.name = "misses_before", .title = "misses", .kind = NM_COLUMN_NUMBER},
    {.name = "misses", .title = "prefetched", .kind = NM_COLUMN_NUMBER},
    {.name = "saved_cycles", .title = "saves cycles", .kind = NM_COLUMN_NUMBER},
    {.name = "saved_percent", .title = "run %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "pays", .title = "pays", .kind = NM_COLUMN_TEXT},
};

static void set_integer(struct nm_table *t, const char *name, uint64_t value)
{
	nm_table_set(t, name, (struct nm_value){.type = NM_VALUE_INTEGER, .integer = (int64_t)value});
}

static void set_real(struct nm_table *t, const char *name, double value)
{
	nm_table_set(t, name, (struct nm_value){.type = NM_VALUE_REAL, .real = value});
}

static void set_text(struct nm_table *t, const char *name, const char *text)
{
	nm_table_set(t, name, (struct nm_value){.type = NM_VALUE_TEXT, .text = text});
}

static double saved_percent(const struct nm_prefetch_report *r, const struct nm_prefetch_result *result)
{
	const double run = nm_prefetch_run_cycles(r->line, result);

	return run > 0 ? 100 * nm_prefetch_saves(r->line, result) / run : 0;
}

static uint64_t own_misses(const struct nm_prefetch_sums *sums) { return sums->misses[NM_OF_LOADS][0]; }

/* ---- by distance ---- */

/* No distance: the program as it is. */
static int add_distance(struct nm_table *t, const struct nm_prefetch_report *r,
			const struct nm_prefetch_result *result, unsigned distance)
{
	const struct nm_prefetch_sums *sums = distance ? result->sums : result->before;
	const struct nm_prefetch_counts *c = &sums->counts;
	const uint64_t before = own_misses(result->before), objects = sums->misses[NM_OF_OBJECTS][0];

	if (nm_table_append(t))
		return NM_ENOMEM;
	set_integer(t, "distance", distance);
	set_integer(t, "misses", own_misses(sums));
	set_integer(t, "last_misses", sums->misses[NM_OF_LOADS][result->machine->count - 1]);
	set_integer(t, "object_misses", own_misses(sums) + objects);
	set_integer(t, "all_misses", own_misses(sums) + objects + sums->misses[NM_OF_REST][0]);
	if (!distance)
		return 0;
	if (before)
		set_real(t, "change_percent", 100 * ((double)own_misses(sums) / (double)before - 1));
	set_integer(t, "prefetches", c->prefetches);
	set_integer(t, "redundant", c->redundant);
	set_integer(t, "late", nm_prefetch_late(c));
	set_integer(t, "unused", c->prefetches - c->redundant - c->useful);
	set_integer(t, "polluted", c->polluted);
	set_integer(t, "saved_cycles", (uint64_t)llround(nm_prefetch_saves(r->line, result)));
	set_real(t, "saved_percent", saved_percent(r, result));
	return 0;
}

static int fill_distances(struct nm_table *t, const struct nm_prefetch_report *r)
{
	int status = add_distance(t, r, &r->distances[0], 0);

	for (unsigned i = 0; i < r->distance_count && !status; i++)
		status = add_distance(t, r, &r->distances[i], r->distances[i].distance);
	return status;
}

/* ---- by size ---- */

static const char *level_that_fits(const struct nm_machine *machine, uint64_t footprint)
{
	for (unsigned i = 0; i < machine->count; i++)
		if (machine->levels[i].size >= footprint)
			return machine->levels[i].name;
	return NULL;
}

/* The footprint that would stand on the machine as it is where this one stands on the scaled machine. */
static uint64_t footprint_at(const struct nm_prefetch_report *r, unsigned i)
{
	const int e = r->exponents[i];

	return e < 0 ? r->footprint << -e : r->footprint >> e;
}

static int pays(const struct nm_prefetch_report *r, const struct nm_prefetch_result *result)
{
	return saved_percent(r, result) >= PAYS;
}

static const char *scale_text(struct nm_table *t, int e)
{
	return e ? nm_intern_format(&t->pool, e < 0 ? "1/%d" : "x%d", 1 << abs(e))
		 : nm_intern(&t->pool, "as they are");
}

static int add_size(struct nm_table *t, const struct nm_prefetch_report *r, unsigned i)
{
	const struct nm_prefetch_result *result = &r->sizes[i];
	const char *scale = scale_text(t, r->exponents[i]),
		   *fits = level_that_fits(result->machine, r->footprint);

	if (nm_table_append(t) || !scale)
		return NM_ENOMEM;
	set_integer(t, "footprint", footprint_at(r, i));
	set_text(t, "fits", fits ? fits : "none");
	set_text(t, "caches", scale);
	set_integer(t, "misses_before", own_misses(result->before));
	set_integer(t, "misses", own_misses(result->sums));
	set_integer(t, "saved_cycles", (uint64_t)llround(nm_prefetch_saves(r->line, result)));
	set_real(t, "saved_percent", saved_percent(r, result));
	set_text(t, "pays", pays(r, result) ? "yes" : "no");
	return 0;
}

static int fill_sizes(struct nm_table *t, const struct nm_prefetch_report *r)
{
	int status = 0;

	for (unsigned i = 0; i < r->size_count && !status; i++)
		status = add_size(t, r, i);
	return status;
}

/* ---- sentences ---- */

/* Whether most of the loads can hardly be prefetched. */
static int is_dependent(const struct nm_prefetch_report *r) { return r->line->own.dependent >= 0.5; }

static void say_loads(const struct nm_prefetch_report *r, FILE *out)
{
	const struct nm_prefetch_line *l = r->line;
	int64_t misses = 0, others = 0;
	const char *comma = "";

	for (size_t i = 0; i < l->loads.count; i++)
		misses += l->loads.at[i].misses;
	for (size_t i = 0; i < l->loads.count; i++) {
		const struct nm_prefetch_load *load = &l->loads.at[i];

		if (!load->is_chosen) {
			others++;
			continue;
		}
		fprintf(out, "%sthe load at 0x%" PRIx64 " in %s", comma, load->address,
			load->function ? load->function
			: load->module ? load->module
				       : "unnamed code");
		if (load->object)
			fprintf(out, " of %s", load->object);
		if (misses)
			fprintf(out, " (%.1f %% of the line's misses)",
				100 * (double)load->misses / (double)misses);
		comma = ", ";
	}
	if (others)
		fprintf(out, "; %" PRId64 " other load%s of the line, with less than a tenth of them, %s not",
			others, others > 1 ? "s" : "", others > 1 ? "are" : "is");
}

static void say_best(const struct nm_prefetch_report *r, FILE *out)
{
	const struct nm_prefetch_result *best =
	    &r->distances[nm_prefetch_best(r->line, r->distances, r->distance_count)];
	const double percent = saved_percent(r, best);
	const uint64_t late = nm_prefetch_late(&best->sums->counts);
	char text[NM_GROUPED_ROOM];

	if (!own_misses(best->before)) {
		fprintf(out, "the loads do not miss %s: no prefetch can help", best->machine->levels[0].name);
		return;
	}
	if (!pays(r, best)) {
		fprintf(out, "no distance saves %d %% of the run's cycles; the best one, %u, %s %.1f %%",
			PAYS, best->distance, percent < 0 ? "costs" : "saves", fabs(percent));
		return;
	}
	fprintf(out, "distance %u %s about %.1f %% of the run's cycles: ", best->distance,
		is_dependent(r) ? "would save" : "saves", percent);
	nm_format_grouped((int64_t)own_misses(best->before), text);
	fprintf(out, "misses of these loads go from %s ", text);
	nm_format_grouped((int64_t)own_misses(best->sums), text);
	fprintf(out, "to %s", text);
	if (late)
		fprintf(out, "; %.0f %% of the prefetches are late",
			ceil(100 * (double)late / (double)best->sums->counts.prefetches));
}

static void say_sizes(const struct nm_prefetch_report *r, FILE *out)
{
	const char *fits = level_that_fits(r->distances->machine, r->footprint);
	unsigned from = r->size_count;
	char text[NM_GROUPED_ROOM];

	while (from && pays(r, &r->sizes[from - 1]))
		from--;
	nm_format_grouped((int64_t)r->footprint, text);
	fprintf(out, "the loads access %s bytes, which fit %s; of the sizes below the prefetch pays ", text,
		fits ? fits : "no level");
	if (from == r->size_count) {
		fputs("at none", out);
	} else if (!from) {
		fputs("at all", out);
	} else {
		nm_format_grouped((int64_t)footprint_at(r, from), text);
		fprintf(out, "from %s bytes on", text);
	}
}

static void say_dependent(const struct nm_prefetch_report *r, FILE *out)
{
	fprintf(
	    out,
	    "the addresses of %.0f %% of these loads come from the load before: the program knows them so early "
	    "only if it keeps them elsewhere too",
	    100 * r->line->own.dependent);
}

/* Each sentence, with what it is about. */
static void say_all(const struct nm_prefetch_report *r, const struct nm_style *style, FILE *out)
{
	static const struct {
		const char *lead, *bold;
		void (*say)(const struct nm_prefetch_report *r, FILE *out);
	} all[] = {{"prefetched  ", "Prefetched", say_loads},
		   {"verdict     ", "Verdict", say_best},
		   {"size        ", "Size", say_sizes},
		   {"dependent   ", "Dependent", say_dependent}};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		char *text = NULL;
		size_t bytes;
		FILE *memory =
		    all[i].say == say_dependent && !is_dependent(r) ? NULL : open_memstream(&text, &bytes);

		if (!memory)
			continue;
		all[i].say(r, memory);
		if (!fclose(memory)) {
			if (style) {
				nm_print_wrapped(all[i].lead, text, style->width, out);
			} else {
				fprintf(out, "- **%s**: ", all[i].bold);
				nm_markdown_text(text, out);
				fputc('\n', out);
			}
		}
		free(text);
	}
	fputc('\n', out);
}

/* ---- both tables ---- */

static int show_table(struct nm_table *t, enum nm_diff_layout layout, const struct nm_style *style, FILE *out,
		      struct nm_error *err)
{
	if (layout == NM_DIFF_MARKDOWN)
		return nm_markdown_table(t, out) ? nm_fail_memory(err) : 0;
	return nm_table_show(t, "whatif", NULL, style, out, err);
}

int nm_prefetch_show(const struct nm_prefetch_report *r, enum nm_diff_layout layout,
		     const struct nm_style *style, FILE *out, struct nm_error *err)
{
	const int in_words = layout == NM_DIFF_TEXT || layout == NM_DIFF_MARKDOWN;
	struct nm_table distances = {.columns = distance_columns,
				     .column_count = sizeof distance_columns / sizeof *distance_columns,
				     .keys = 1},
			sizes = {.columns = size_columns,
				 .column_count = sizeof size_columns / sizeof *size_columns,
				 .keys = 1};
	int status = fill_distances(&distances, r) || fill_sizes(&sizes, r) ? nm_fail_memory(err) : 0;

	if (!status && in_words)
		say_all(r, layout == NM_DIFF_TEXT ? style : NULL, out);
	if (!status && (in_words || !r->by_size))
		status = show_table(&distances, layout, style, out, err);
	if (!status && in_words)
		fputc('\n', out);
	if (!status && (in_words || r->by_size))
		status = show_table(&sizes, layout, style, out, err);
	nm_table_done(&distances);
	nm_table_done(&sizes);
	return status;
}
