/* SPDX-License-Identifier: MIT
 *
 * diff.c - loads the profiles, matches each with the one before, and writes the comparison (diff_show.c).
 */
#include "diff.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "diff_priv.h"
#include "match.h"
#include "selection.h"

int nm_diff_take_keys(const char *list, char *has, struct nm_error *err)
{
	char typed[40];

	for (;; list++) {
		const size_t n = strcspn(list, ",");
		unsigned key = 0;

		snprintf(typed, sizeof typed, "%.*s", (int)n, list);
		while (key < NM_DIFF_KEYS && strcmp(typed, nm_diff_key_names[key]))
			key++;
		if (key == NM_DIFF_KEYS)
			return nm_fail_unknown("key", typed, nm_diff_key_names, err);
		has[key] = 1;
		if (key == NM_DIFF_LINE) /* a number means nothing without its file */
			has[NM_DIFF_FUNCTION] = has[NM_DIFF_FILE] = 1;
		list += n;
		if (!*list)
			return 0;
	}
}

static int metric_named(const char *name, size_t n, enum nm_diff_metric *ret)
{
	for (unsigned m = 0; m < NM_DIFF_METRICS; m++) {
		if (strlen(nm_diff_metric_names[m]) != n || strncmp(nm_diff_metric_names[m], name, n))
			continue;
		*ret = m;
		return 1;
	}
	return 0;
}

int nm_diff_budget_parse(const char *text, struct nm_diff_budget *ret, struct nm_error *err)
{
	const size_t n = strcspn(text, ":");
	struct nm_diff_budget budget = {.percent = 0};
	enum nm_diff_metric metric;
	char *end;

	if (!metric_named(text, n, &metric))
		return nm_fail_at(err, text, 0,
				  "a budget is METRIC:N or METRIC:N%%, where METRIC is misses, "
				  "cycles, references or loads");
	budget.metric = nm_diff_metric_names[metric];
	if (text[n]) {
		budget.allowed = strtod(text + n + 1, &end);
		budget.percent = *end == '%';
		if (end == text + n + 1 || end[budget.percent] || !isfinite(budget.allowed) ||
		    budget.allowed < 0)
			return nm_fail_at(err, text, (int)n + 1,
					  "a budget is a number, or a percentage as 1%%");
	}
	*ret = budget;
	return 0;
}

/* ---- the comparison ----------------------------------------------------------------------------- */

static int load_sides(struct nm_diff *diff, struct nm_strings *pool, struct nm_error *err)
{
	struct nm_diff_texts texts[NM_DIFF_SIDES] = {{.arena = {0}}};
	int64_t unique = 0;
	int status = 0;

	for (unsigned i = 0; i < diff->count && !status; i++) {
		status = nm_diff_side_load(&diff->sides[i], diff->request, diff->has, pool, err);
		if (!status && i) {
			const struct nm_diff_matched from = {&diff->sides[i - 1], &texts[i - 1]},
						     to = {&diff->sides[i], &texts[i]};

			status = nm_diff_match(&from, &to, pool, &unique, err);
		}
	}
	for (unsigned i = 0; i < diff->count; i++)
		nm_diff_texts_done(&texts[i]);
	return status;
}

static int64_t side_total(const struct nm_diff *diff, unsigned side, const char *metric)
{
	for (unsigned m = 0; m < NM_DIFF_METRICS; m++)
		if (!strcmp(nm_diff_metric_names[m], metric))
			return diff->sides[side].totals[m];
	assert(!"the metric of a budget is one of the list");
	return 0;
}

/* A sentence if the last profile is over the budget. */
static int check_budget(const struct nm_diff *diff, char **ret_over)
{
	const struct nm_diff_budget *b = &diff->request->budget;
	char percent[NM_DIFF_PERCENT_ROOM];
	int64_t before, after;

	if (!b->metric)
		return 0;
	before = side_total(diff, 0, b->metric);
	after = side_total(diff, diff->count - 1, b->metric);
	if ((double)(after - before) <= (b->percent ? b->allowed * (double)before / 100 : b->allowed))
		return 0;
	return asprintf(ret_over, "%s of %s rose from %lld to %lld (%s %%), by more than the %.10g%s allowed",
			b->metric, diff->sides[0].selection.request.level, (long long)before,
			(long long)after, nm_diff_percent(before, after, percent), b->allowed,
			b->percent ? " %" : "") < 0
		   ? NM_ENOMEM
		   : 0;
}

/* Whether one of two profiles has a processor's samples: *ret_which, else -1. 0, or a code. */
static int find_sampled(const struct nm_diff_input *inputs, unsigned count, int *ret_which,
			struct nm_error *err)
{
	const int first = nm_profile_has_samples(inputs[0].profile, err),
		  second = first < 0 ? first : nm_profile_has_samples(inputs[1].profile, err);

	*ret_which = count == 2 && first != second ? second : -1;
	return second < 0 ? second : 0;
}

int nm_diff_run(const struct nm_diff_input *inputs, unsigned count, const struct nm_diff_request *request,
		const struct nm_style *style, FILE *out, char **ret_over, struct nm_error *err)
{
	const char *sort = request->sort ? request->sort : "cycles";
	struct nm_diff diff = {.request = request, .count = count};
	struct nm_strings pool = {0};
	char *over = NULL;
	int sampled, status = find_sampled(inputs, count, &sampled, err);

	assert(count >= 2 && count <= NM_DIFF_SIDES);
	*ret_over = NULL;
	if (status)
		return status;
	if (sampled >= 0)
		return nm_agreement_run(&inputs[!sampled], &inputs[sampled], request, style, out, err);
	status = nm_diff_take_keys(request->by ? request->by : "object,line", diff.has, err);
	if (!status && !metric_named(sort, strlen(sort), &diff.by))
		status = nm_fail_unknown("order", sort, nm_diff_metric_names, err);
	for (unsigned i = 0; i < count; i++) {
		diff.sides[i].path = inputs[i].path;
		diff.sides[i].profile = inputs[i].profile;
	}
	if (!status)
		status = load_sides(&diff, &pool, err);
	if (!status && nm_diff_rows_make(diff.sides, count, diff.has, diff.by, &diff.rows))
		status = nm_fail_memory(err);
	if (!status)
		status = nm_diff_show(&diff, style, out, err);
	if (!status && check_budget(&diff, &over))
		status = nm_fail_memory(err);
	*ret_over = over;
	nm_vec_free(&diff.rows.at);
	for (unsigned i = 0; i < count; i++)
		nm_diff_side_done(&diff.sides[i]);
	nm_strings_done(&pool);
	return status;
}
