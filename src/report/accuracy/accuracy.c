/* SPDX-License-Identifier: MIT */
#include "accuracy.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "memstream.h"
#include "samples_report.h"
#include "selection.h"
#include "table.h"

static const struct {
	const char *one, *many, *of;
} words[] = {
    [NM_ACCURACY_OBJECTS] = {"object", "objects", "loads"},
    [NM_ACCURACY_LINES] = {"line", "lines", "loads"},
    [NM_ACCURACY_PAIRS] = {"pair", "pairs", "evictions"},
    [NM_ACCURACY_PAIR_LINES] = {"pair-line", "pairs at a line", "evictions"},
};

static struct nm_value text_value(const char *text)
{
	return (struct nm_value){.type = text ? NM_VALUE_TEXT : NM_VALUE_NULL, .text = text};
}

static struct nm_value number_value(uint64_t n)
{
	return (struct nm_value){.type = NM_VALUE_INTEGER, .integer = (int64_t)n};
}

static struct nm_value real_value(double x)
{
	return isnan(x) ? (struct nm_value){.type = NM_VALUE_NULL}
			: (struct nm_value){.type = NM_VALUE_REAL, .real = x};
}

/* ---- samplers ------------------------------------------------------------------------------------ */

/* "7 of 8". */
static const char *compose_covered(struct nm_table *table, size_t row)
{
	char *text = NULL;

	if (!nm_table_named(table, row, "samples")->integer)
		return NULL;
	if (asprintf(&text, "%lld of %lld", (long long)nm_table_named(table, row, "covered")->integer,
		     (long long)nm_table_named(table, row, "ranked")->integer) < 0)
		text = NULL;
	return nm_table_keep(table, text);
}

static const struct nm_column of_samplers[] = {
    {.name = "sampler", .title = "sampler", .kind = NM_COLUMN_TEXT},
    {.name = "samples", .title = "samples", .kind = NM_COLUMN_NUMBER},
    {.name = "error", .title = "error", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "at", .title = "of", .kind = NM_COLUMN_NAME, .drop_order = 3},
    {.name = "tau", .title = "tau", .kind = NM_COLUMN_REAL, .decimals = 2},
    {.name = "swapped", .title = "swapped", .kind = NM_COLUMN_NUMBER, .drop_order = 5},
    {.name = "in_interval",
     .title = "in 95 %",
     .kind = NM_COLUMN_RIGHT,
     .compose = compose_covered,
     .drop_order = 2},
    {.name = "covered"},
    {.name = "ranked"},
    {.name = "interrupts"},
    {.name = "extra_misses",
     .title = "extra misses %",
     .kind = NM_COLUMN_REAL,
     .decimals = 2,
     .drop_order = 1},
    {.name = "overhead", .title = "time %", .kind = NM_COLUMN_REAL, .decimals = 2, .drop_order = 4},
    {.name = "suffices"},
};

/* "a.c:7 (f)", "matrix", "in against out": malloc'ed; NULL: out of memory. */
static char *describe_part(const struct nm_estimated_part *part)
{
	char *text = NULL;
	FILE *out = nm_memstream_open(&text, NULL);

	if (!out)
		return NULL;
	if (part->object)
		fputs(part->object, out);
	if (part->victim)
		fprintf(out, " against %s", part->victim);
	if (part->file || part->function)
		fprintf(out, "%s%s", part->object ? " at " : "", part->file ? part->file : part->function);
	if (part->line)
		fprintf(out, ":%lld", (long long)part->line);
	if (part->file && part->function)
		fprintf(out, " (%s)", part->function);
	return nm_memstream_close(out, &text) ? NULL : text;
}

static int meets_bound(const struct nm_accuracy *a, double within)
{
	return a->worst && a->error <= within && !a->swapped;
}

/* Of each sampler whether it suffices. */
static void choose_samplers(const struct nm_estimates *e, const struct nm_accuracy *accuracies, double within,
			    int suffices[NM_PMU_SAMPLERS])
{
	for (unsigned i = 0; i < e->sampler_count; i++) {
		suffices[i] = 1;
		for (unsigned k = 0; k < e->sampler_count; k++)
			if (!strcmp(e->samplers[i].rule, e->samplers[k].rule) &&
			    e->samplers[k].period <= e->samplers[i].period &&
			    !meets_bound(&accuracies[k], within))
				suffices[i] = 0;
	}
}

static int add_sampler(struct nm_table *table, const struct nm_estimated_sampler *s,
		       const struct nm_accuracy *a, int suffices)
{
	if (nm_table_append(table))
		return NM_ENOMEM;
	nm_table_set(table, "sampler", text_value(s->name));
	nm_table_set(table, "samples", number_value(a->samples));
	nm_table_set(table, "error", real_value(a->worst ? a->error : NAN));
	nm_table_set(table, "at",
		     text_value(a->worst ? nm_table_keep(table, describe_part(a->worst)) : NULL));
	nm_table_set(table, "tau", real_value(a->samples ? a->tau : NAN));
	nm_table_set(table, "swapped", number_value(a->swapped));
	nm_table_set(table, "covered", a->samples ? number_value(a->covered) : real_value(NAN));
	nm_table_set(table, "ranked", number_value(a->ranked));
	nm_table_set(table, "interrupts", number_value(s->interrupts));
	nm_table_set(table, "extra_misses", real_value(s->extra_misses < 0 ? NAN : s->extra_misses));
	nm_table_set(table, "overhead", real_value(s->overhead));
	nm_table_set(table, "suffices", number_value((uint64_t)suffices));
	return 0;
}

/* Of each rule the longest period that suffices. */
static void print_verdict(const struct nm_estimates *e, const struct nm_accuracy_request *request,
			  const int suffices[NM_PMU_SAMPLERS], unsigned width, FILE *out)
{
	const char *many = words[request->by].many;
	char *text = NULL;
	FILE *to = nm_memstream_open(&text, NULL);
	unsigned named = 0;

	if (!to)
		return;
	for (unsigned i = 0; i < e->sampler_count; i++) {
		int is_longest = suffices[i];

		for (unsigned k = 0; k < e->sampler_count; k++)
			is_longest &= !(suffices[k] && !strcmp(e->samplers[i].rule, e->samplers[k].rule) &&
					e->samplers[k].period > e->samplers[i].period);
		if (is_longest)
			fprintf(to, "%s%s", named++ ? ", " : "", e->samplers[i].name);
	}
	if (named)
		fprintf(
		    to,
		    " suffice%s for the %s of this run: at %s and each shorter one of %s, every share%s is within "
		    "%g point%s of the truth, and no two of at least 1 %% that differ by more change places.",
		    named > 1 ? "" : "s", many, named > 1 ? "these periods" : "this period",
		    named > 1 ? "their rules" : "the rule",
		    request->by < NM_ACCURACY_PAIRS ? ""
						    : " for victims of at least a tenth of the evictions",
		    request->within, request->within == 1 ? "" : "s");
	else
		fprintf(
		    to,
		    "No sampler suffices for the %s of this run: each, or a shorter period of its rule, takes no "
		    "sample, has a share more than %g point%s off the truth, or puts two that differ by more in the "
		    "wrong order.",
		    many, request->within, request->within == 1 ? "" : "s");
	if (!nm_memstream_close(to, &text))
		nm_print_wrapped("", text, width, out);
	free(text);
}

/* A sampler whose rule does not tell victims says nothing of pairs. */
static int tells_pairs(const struct nm_estimated_sampler *s, enum nm_accuracy_by by)
{
	return by < NM_ACCURACY_PAIRS || !strcmp(s->rule, "miss");
}

static int show_samplers(const struct nm_estimates *e, const struct nm_accuracy_request *request,
			 const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_table table = {.columns = of_samplers,
				 .column_count = sizeof of_samplers / sizeof *of_samplers};
	struct nm_accuracy accuracies[NM_PMU_SAMPLERS];
	int suffices[NM_PMU_SAMPLERS], status = 0;

	for (unsigned i = 0; i < e->sampler_count; i++)
		accuracies[i] = nm_accuracy_of(e, i, request->within);
	choose_samplers(e, accuracies, request->within, suffices);
	for (unsigned i = 0; i < e->sampler_count && !status; i++)
		if (tells_pairs(&e->samplers[i], request->by))
			status = add_sampler(&table, &e->samplers[i], &accuracies[i], suffices[i]);
	if (!status && style->format == NM_FORMAT_TEXT) {
		nm_print_grouped((int64_t)e->truth, out);
		fprintf(out, " %s of %s, %zu %s; error in points of share\n\n", words[request->by].of,
			e->level, e->parts.count, words[request->by].many);
	}
	status = status ? nm_fail_memory(err) : nm_table_show(&table, "accuracy", e->level, style, out, err);
	if (!status && style->format == NM_FORMAT_TEXT) {
		fputc('\n', out);
		print_verdict(e, request, suffices, style->width, out);
	}
	nm_table_done(&table);
	return status;
}

/* ---- parts --------------------------------------------------------------------------------------- */

#define FIGURES                                                                                       \
	{.name = "truth", .title = "counted", .kind = NM_COLUMN_NUMBER, .drop_order = 2},             \
	    {.name = "share", .title = "%", .kind = NM_COLUMN_REAL, .decimals = 1},                   \
	    {.name = "samples", .title = "samples", .kind = NM_COLUMN_NUMBER, .drop_order = 1},       \
	    {.name = "estimate", .title = "sampled %", .kind = NM_COLUMN_REAL, .decimals = 1},        \
	    {.name = "low", .title = "from", .kind = NM_COLUMN_REAL, .decimals = 1, .drop_order = 3}, \
	    {.name = "high", .title = "to", .kind = NM_COLUMN_REAL, .decimals = 1, .drop_order = 3},  \
	    {.name = "error", .title = "error", .kind = NM_COLUMN_REAL, .decimals = 1},

#define PLACE                                                                                           \
	{.name = "where", .title = "line", .kind = NM_COLUMN_LOCATION, .compose = nm_compose_location}, \
	    {.name = "file", .kind = NM_COLUMN_NAME}, {.name = "line"},                                 \
	    {.name = "function", .kind = NM_COLUMN_NAME},

static const struct nm_column of_objects[] = {{.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
					      FIGURES};
static const struct nm_column of_lines[] = {PLACE FIGURES};
static const struct nm_column of_pairs[] = {{.name = "victim", .title = "evicted", .kind = NM_COLUMN_NAME},
					    {.name = "object", .title = "by", .kind = NM_COLUMN_NAME},
					    FIGURES};
static const struct nm_column of_pair_lines[] = {
    {.name = "victim", .title = "evicted", .kind = NM_COLUMN_NAME},
    {.name = "object", .title = "by", .kind = NM_COLUMN_NAME},
    PLACE FIGURES};

#define COLUMNS(list)                            \
	{                                        \
		list, sizeof list / sizeof *list \
	}
static const struct {
	const struct nm_column *at;
	unsigned count;
} columns_of[] = {[NM_ACCURACY_OBJECTS] = COLUMNS(of_objects),
		  [NM_ACCURACY_LINES] = COLUMNS(of_lines),
		  [NM_ACCURACY_PAIRS] = COLUMNS(of_pairs),
		  [NM_ACCURACY_PAIR_LINES] = COLUMNS(of_pair_lines)};

static int add_part(struct nm_table *table, const struct nm_estimates *e,
		    const struct nm_estimated_part *part, unsigned sampler)
{
	const struct nm_estimated_group *group = &e->groups.at[part->group];
	const double share = group->truth ? 100 * (double)part->truth / (double)group->truth : NAN,
		     all = (double)group->samples[sampler],
		     estimate = all > 0 ? 100 * (double)part->samples[sampler] / all : NAN;
	double low, high;

	assert(sampler < NM_PMU_SAMPLERS);
	if (nm_table_append(table))
		return NM_ENOMEM;
	nm_samples_interval((double)part->samples[sampler], all, &low, &high);
	nm_table_set(table, "victim", text_value(part->victim));
	nm_table_set(table, "object", text_value(part->object));
	nm_table_set(table, "file", text_value(part->file));
	nm_table_set(table, "line",
		     part->line ? number_value((uint64_t)part->line)
				: (struct nm_value){.type = NM_VALUE_NULL});
	nm_table_set(table, "function", text_value(part->function));
	nm_table_set(table, "truth", number_value(part->truth));
	nm_table_set(table, "share", real_value(share));
	nm_table_set(table, "samples", number_value(part->samples[sampler]));
	nm_table_set(table, "estimate", real_value(estimate));
	nm_table_set(table, "low", real_value(100 * low));
	nm_table_set(table, "high", real_value(100 * high));
	nm_table_set(table, "error", real_value(estimate - share));
	return 0;
}

/* By truth; parts that are as large keep their order, that of their names. */
static int by_truth(const void *a, const void *b)
{
	const struct nm_estimated_part *const *x = a, *const *y = b;

	if ((*x)->truth != (*y)->truth)
		return (*x)->truth < (*y)->truth ? 1 : -1;
	return (*x > *y) - (*x < *y);
}

static int show_parts(const struct nm_estimates *e, const struct nm_accuracy_request *request,
		      unsigned sampler, const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_table table = {.columns = columns_of[request->by].at,
				 .column_count = columns_of[request->by].count};
	const struct nm_estimated_part **order = malloc((e->parts.count + 1) * sizeof *order);
	const size_t count = request->limit && (uint64_t)request->limit < e->parts.count
				 ? (size_t)request->limit
				 : e->parts.count;
	int status = order ? 0 : NM_ENOMEM;

	for (size_t i = 0; order && i < e->parts.count; i++)
		order[i] = &e->parts.at[i];
	if (order)
		qsort(order, e->parts.count, sizeof *order, by_truth);
	for (size_t i = 0; i < count && !status; i++)
		status = add_part(&table, e, order[i], sampler);
	free(order);
	status = status ? nm_fail_memory(err) : nm_table_show(&table, "accuracy", e->level, style, out, err);
	nm_table_done(&table);
	return status;
}

/* ---- the request --------------------------------------------------------------------------------- */

static int find_sampler(const struct nm_estimates *e, const struct nm_accuracy_request *request,
			unsigned *ret_sampler, struct nm_error *err)
{
	char names[NM_PMU_SAMPLERS * (NM_PMU_NAME + 2)] = "";

	for (unsigned i = 0; i < e->sampler_count; i++) {
		const size_t length = strlen(names);

		*ret_sampler = i;
		if (!strcmp(e->samplers[i].name, request->sampler))
			return tells_pairs(&e->samplers[i], request->by)
				   ? 0
				   : nm_fail(err, NM_EINVAL,
					     "%s does not tell which line was evicted: only rule miss does",
					     request->sampler);
		snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "", e->samplers[i].name);
	}
	return nm_fail(err, NM_EINVAL, "there is no sampler \"%s\": the profile has %s", request->sampler,
		       names);
}

int nm_accuracy_run(struct nm_profile *profile, const struct nm_accuracy_request *request,
		    const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_estimates estimates = {.level = NULL};
	unsigned sampler = 0;
	int status = nm_select_counts(profile, err);

	assert(request && style);
	if (!status && request->process)
		status = nm_select_process(profile, request->process, err);
	if (!status)
		status = nm_profile_show_frame(profile, NM_SHOW_USER, err);
	if (!status)
		status = nm_estimates_read(profile, request->by, request->process, &estimates, err);
	if (!status && !estimates.truth)
		status = nm_fail(err, NM_EINVAL, "nothing was %s %s in this run: there is nothing to sample",
				 request->by < NM_ACCURACY_PAIRS ? "loaded into" : "evicted from",
				 estimates.level);
	if (!status && request->sampler)
		status = find_sampler(&estimates, request, &sampler, err);
	if (!status)
		status = request->sampler ? show_parts(&estimates, request, sampler, style, out, err)
					  : show_samplers(&estimates, request, style, out, err);
	nm_estimates_done(&estimates);
	return status;
}
