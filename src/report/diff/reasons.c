/* SPDX-License-Identifier: MIT
 *
 * reasons.c - why the machine may differ from the model at a row.
 *
 * Each reason asks for evidence in the profiles; the first that has it is named.
 *
 *     kernel       the samples are of the kernel's code or data, which are not simulated; or the machine has fewer
 *                  first touches of a mapped file, of whose pages the kernel maps several at a fault
 *     no names     the samples' data have no names there, so other rows lack them
 *     prefetcher   the machine has less, the line steps steadily by less than half a page, the model has no prefetcher
 *     TLB          what was sampled is time, the machine has more, and a tenth of the samples missed the TLB, at
 *                  least twice the part that all samples have
 *     page colours a quarter of the model's misses are conflicts in a cache whose sets reach beyond a page
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"

enum { PAGE = 4096, TENTH = 10, STEADY = 4 /* three of four steps */, CONFLICTS = 4 };

static int is_word(const char *text, const char *other) { return text && !strcmp(text, other); }

static int is_kernel(const struct nm_diff_names *n)
{
	return n && (is_word(n->text[NM_DIFF_FUNCTION], "<kernel>") ||
		     is_word(n->text[NM_DIFF_OBJECT], "<kernel data>"));
}

/* Data that perf alone does not name. */
static const char *is_unnamed(const struct nm_diff_names *n)
{
	const char *object = n ? n->text[NM_DIFF_OBJECT] : NULL;

	if (is_word(object, "<no data>"))
		return "these samples have no address";
	return is_word(object, "[heap]") || is_word(object, "<anonymous memory>")
		   ? "the samples have no name for it"
		   : NULL;
}

/* Takes over evidence from asprintf. */
static int give_evidence(struct nm_reason *ret, const char *word, int printed, struct nm_error *err)
{
	if (printed < 0) {
		ret->evidence = NULL;
		return nm_fail_memory(err);
	}
	ret->word = word;
	return 0;
}

/* The step of a line with an object, if it is steady and short; else 0. */
static int steady_step(struct nm_profile *model, const struct nm_diff_names *n, int64_t *ret_step,
		       struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    model,
	    "SELECT stride, followed, sampled FROM sites WHERE object IS ?1 AND function IS ?2 "
	    "AND file IS ?3 AND line IS ?4 ORDER BY sampled DESC LIMIT 1",
	    &rows, err);

	*ret_step = 0;
	if (status)
		return status;
	nm_rows_bind_text(rows, 1, n->text[NM_DIFF_OBJECT]);
	nm_rows_bind_text(rows, 2, n->text[NM_DIFF_FUNCTION]);
	nm_rows_bind_text(rows, 3, n->text[NM_DIFF_FILE]);
	if (n->line)
		nm_rows_bind_integer(rows, 4, n->line);
	status = nm_rows_next(rows, err);
	if (status > 0) {
		const int64_t step = nm_rows_bounded(rows, 0), followed = nm_rows_bounded(rows, 1),
			      sampled = nm_rows_bounded(rows, 2);

		if (step && 2 * llabs(step) < PAGE && STEADY * followed >= (STEADY - 1) * sampled)
			*ret_step = step;
	}
	nm_rows_free(rows);
	return status < 0 ? status : 0;
}

/* Whether the model's level prefetches, or its costs have what hardware prefetches. */
static int model_prefetches(const struct nm_agreement *a, struct nm_error *err)
{
	if (a->compared == NM_COMPARED_TIME && a->sides[NM_MODEL].selection.levels.has_covered)
		return 1;
	return nm_profile_has_row(a->sides[NM_MODEL].profile,
				  "SELECT 1 FROM levels WHERE prefetch IS NOT NULL AND prefetch <> ''", err);
}

static int prefetcher_reason(const struct nm_agreement *a, const struct nm_diff_row *row,
			     struct nm_reason *ret, struct nm_error *err)
{
	int64_t step = 0;
	int prefetches = 1, status = 0;

	if (a->has[NM_DIFF_OBJECT] && a->has[NM_DIFF_LINE] && row->names[NM_MODEL])
		prefetches = model_prefetches(a, err);
	if (prefetches)
		return prefetches < 0 ? prefetches : 0;
	status = steady_step(a->sides[NM_MODEL].profile, row->names[NM_MODEL], &step, err);
	if (!status && step)
		status = give_evidence(
		    ret, "prefetcher",
		    asprintf(&ret->evidence, "it steps by %" PRId64 " bytes, and no prefetcher is simulated",
			     step),
		    err);
	return status;
}

static int tlb_reason(const struct nm_agreement *a, const struct nm_diff_row *row, struct nm_reason *ret,
		      struct nm_error *err)
{
	const double misses = (double)row->sums[NM_MACHINE][NM_MACHINE_TLB],
		     samples = (double)row->sums[NM_MACHINE][NM_MACHINE_SAMPLES];
	const int is_time = a->compared == NM_COMPARED_TIME || strstr(a->events, "ldlat");

	if (!is_time || misses * TENTH < samples || misses * a->samples < 2 * samples * a->tlb_misses)
		return 0;
	return give_evidence(
	    ret, "TLB", asprintf(&ret->evidence, "%.0f %% of its samples missed it", 100 * misses / samples),
	    err);
}

static int page_colours(const struct nm_agreement *a, const struct nm_diff_row *row, struct nm_reason *ret,
			struct nm_error *err)
{
	const int64_t conflicts = row->sums[NM_MODEL][NM_MODEL_CONFLICTS],
		      misses = row->sums[NM_MODEL][NM_MODEL_COUNT];
	struct nm_rows *rows = NULL;
	int status, reaches;

	if (a->compared != NM_COMPARED_MISSES || conflicts * CONFLICTS < misses || !misses)
		return 0;
	status =
	    nm_profile_query(a->sides[NM_MODEL].profile,
			     "SELECT 1 FROM levels WHERE level = ?1 AND sets * line_size > ?2", &rows, err);
	if (status)
		return status;
	nm_rows_bind_text(rows, 1, a->level);
	nm_rows_bind_integer(rows, 2, PAGE);
	reaches = nm_rows_next(rows, err);
	nm_rows_free(rows);
	if (reaches <= 0)
		return reaches;
	return give_evidence(ret, "page colours",
			     asprintf(&ret->evidence, "%.0f %% of its simulated misses are conflicts",
				      100 * (double)conflicts / (double)misses),
			     err);
}

/* First touches: of a file's pages, faults map several. */
static int file_pages(const struct nm_agreement *a, const struct nm_diff_row *row, struct nm_reason *ret,
		      struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status, is_file;

	if (!row->names[NM_MODEL])
		return 0;
	status = nm_profile_query(
	    a->sides[NM_MODEL].profile,
	    "SELECT 1 FROM objects WHERE object = ?1 AND kind IN ('mapped', 'library data') LIMIT 1", &rows,
	    err);
	if (status)
		return status;
	nm_rows_bind_text(rows, 1, row->names[NM_MODEL]->text[NM_DIFF_OBJECT]);
	is_file = nm_rows_next(rows, err);
	nm_rows_free(rows);
	return is_file > 0
		   ? give_evidence(ret, "kernel",
				   asprintf(&ret->evidence, "it maps several pages of a file at a fault"),
				   err)
		   : is_file;
}

int nm_agreement_reason(const struct nm_agreement *a, const struct nm_diff_row *row, struct nm_reason *ret,
			struct nm_error *err)
{
	const double model = (double)row->sums[NM_MODEL][NM_MODEL_COUNT] / a->model,
		     machine = (double)row->sums[NM_MACHINE][NM_MACHINE_SAMPLES] / a->samples;
	const struct nm_diff_names *names = row->names[NM_MACHINE];
	const char *no_names = is_unnamed(names);
	int status = 0;

	*ret = (struct nm_reason){.word = NULL};
	if (is_kernel(names))
		return give_evidence(ret, "kernel", asprintf(&ret->evidence, "it is not simulated"), err);
	if (no_names)
		return give_evidence(ret, "no names", asprintf(&ret->evidence, "%s", no_names), err);
	if (machine < model)
		status = a->compared == NM_COMPARED_TOUCHES ? file_pages(a, row, ret, err)
							    : prefetcher_reason(a, row, ret, err);
	else
		status = tlb_reason(a, row, ret, err);
	return status || ret->word ? status : page_colours(a, row, ret, err);
}
