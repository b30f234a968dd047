/* SPDX-License-Identifier: MIT
 *
 * notes.c - the sentences under the summary: what to try for the first pairs, and what is missing from the
 * profile.
 *
 * The first pairs get the advice of their rule (advice.c), one sentence for all rows of one cause that share an
 * object or a line, unless they cost too little. Where cost is estimated, what saves most comes first.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "memstream.h"
#include "notes.h"
#include "report_priv.h"
#include "selection.h"

enum {
	PAIRS = 3,
	MIN_SHARE = 5,
	MIN_GAIN = 1,
	MIN_SHOWN = 1,
	MODULES = 4,
	GROUPED = 200
}; /* notes, percent, percent, percent (folds.h), names, rows: further ones cost little */

/* Rows that get one sentence: those of one cause that share an object or a line of code, since the repair of one is
 * that of the others. */
struct group {
	const struct nm_rule *rule;
	size_t row; /* the one with the largest saving speaks for all */
	size_t rows;
	double share;                  /* of the cycles, else of the misses, in percent */
	double worth;                  /* cycles that are saved; below 0: advice is pointless */
	struct nm_saving saving, most; /* of all rows; of `row` */
	const char *layout;            /* that is advised, or NULL */
};

/* What was advised on. */
struct advised {
	const struct nm_rule *rule;
	const char *object, *file;
	int64_t line;
};

struct note_writer {
	struct nm_table *pairs;           /* its pool holds the sentences */
	struct nm_notes *notes, *layouts; /* the latter or NULL */
	int by_cost;                      /* shares are of cycles, else of misses */
	double run;                       /* estimated cycles of the run; 0: not known */
	struct nm_vec(struct advised) advised;
	struct nm_error *err;
};

/* Takes over text (malloc'ed or NULL). */
static int add_note(struct note_writer *w, char *text)
{
	const char *kept = nm_table_keep(w->pairs, text);

	if (!kept || nm_vec_push(w->notes, kept))
		return nm_fail_memory(w->err);
	return 0;
}

static int is_same(const char *a, const char *b) { return a && b && !strcmp(a, b); }

static const char *row_word(const struct nm_table *table, size_t row, const char *name)
{
	return nm_table_find(table, row, name)->text;
}

/* Whether the advice was given before, or one that is as good or better on the same object or line. */
static int is_repeated(const struct note_writer *w, const struct nm_rule *rule, const struct advised *new)
{
	for (size_t i = 0; i < w->advised.count; i++) {
		const struct advised *old = &w->advised.at[i];
		const int object = is_same(old->object, new->object);
		const int line = new->line && old->line == new->line &&is_same(old->file, new->file);

		if ((old->rule == rule && (rule->once || object)) || (rule->general && (object || line)))
			return 1;
	}
	return 0;
}

/* " at solver.c:41", " in solve", or nothing. */
static void write_place(const struct nm_table *table, size_t row, FILE *out)
{
	const char *file = row_word(table, row, "file"), *function = row_word(table, row, "function");
	const char *slash = file ? strrchr(file, '/') : NULL;

	if (file)
		fprintf(out, " at %s:%" PRId64, slash ? slash + 1 : file,
			nm_table_named(table, row, "line")->integer);
	else if (function)
		fprintf(out, " in %s", function);
}

static double share_of(const struct note_writer *w, const struct nm_table *table, size_t row)
{
	return nm_table_named(table, row, w->by_cost ? "cycles_share" : "share")->real;
}

static int note_group(struct note_writer *w, const struct nm_table *table, const struct group *g)
{
	const char *object = row_word(table, g->row, "object"), *advice = row_word(table, g->row, "try");
	struct advised new = {.rule = g->rule,
			      .object = object,
			      .file = row_word(table, g->row, "file"),
			      .line = nm_table_find(table, g->row, "line")->integer};
	const char *layout;
	char *text = NULL;
	FILE *out;

	if (!object || !advice || is_repeated(w, g->rule, &new))
		return 0;
	new.object = nm_intern(&w->pairs->pool, object);
	new.file = new.file ? nm_intern(&w->pairs->pool, new.file) : NULL;
	layout = g->layout ? nm_intern(&w->pairs->pool, g->layout) : NULL;
	if (nm_vec_push(&w->advised, new) || (layout && nm_vec_push(w->layouts, layout)))
		return nm_fail_memory(w->err);
	out = nm_memstream_open(&text, NULL);
	if (!out)
		return nm_fail_memory(w->err);
	fputs(object, out);
	write_place(table, g->row, out);
	fprintf(out, ": %s", advice);
	if (g->saving.cycles >= 1 || g->saving.misses >= 1) {
		fputs("; ", out);
		nm_saving_write(g->saving, g->rule->at_most, w->by_cost ? w->run : 0, out);
		if (g->rows > 1)
			fprintf(out, ", %zu rows of this cause together", g->rows);
	}
	return nm_memstream_close(out, &text) ? nm_fail_memory(w->err) : add_note(w, text);
}

/* "table[] (f.cpp:34)" and "table (f.cpp:34) #2" are parts of one container. */
static int is_one_variable(const char *a, const char *b)
{
	const size_t name = a ? strcspn(a, "[( ") : 0;
	const char *place_a = a ? strstr(a, " (") : NULL, *place_b = b ? strstr(b, " (") : NULL;

	return name && b && name == strcspn(b, "[( ") && !strncmp(a, b, name) && place_a && place_b &&
	       strcspn(place_a, ")") == strcspn(place_b, ")") &&
	       !strncmp(place_a, place_b, strcspn(place_a, ")"));
}

/* Whether two rows of one cause belong together. */
static int belong_together(const struct nm_table *table, size_t a, size_t b)
{
	const int64_t line = nm_table_find(table, a, "line")->integer;

	return is_same(row_word(table, a, "object"), row_word(table, b, "object")) ||
	       is_one_variable(row_word(table, a, "object"), row_word(table, b, "object")) ||
	       (line && line == nm_table_find(table, b, "line")->integer &&
		is_same(row_word(table, a, "file"), row_word(table, b, "file")));
}

static void add_row(const struct note_writer *w, struct nm_table *table, size_t row, struct group *g)
{
	const struct nm_saving saving = nm_advice_saving(table, row);

	if (!g->rows++ || saving.cycles > g->most.cycles) {
		g->row = row;
		g->most = saving;
	}
	g->share += share_of(w, table, row);
	g->worth = fmax(g->worth, 0) + saving.cycles;
	g->saving.misses += saving.misses;
	g->saving.cycles += saving.cycles;
}

/* Takes all that belong to a row, directly or through others, out of `open`. */
static struct group group_of(const struct note_writer *w, struct nm_table *table, size_t first, char *open,
			     size_t count)
{
	const char *cause = row_word(table, first, "cause");
	struct group g = {.rule = nm_rule_named(cause), .worth = -1};
	size_t found[GROUPED], n = 0;

	found[n++] = first;
	open[first] = 0;
	for (size_t i = 0; i < n; i++) {
		add_row(w, table, found[i], &g);
		for (size_t row = 0; row < count; row++)
			if (open[row] && is_same(row_word(table, row, "cause"), cause) &&
			    belong_together(table, found[i], row)) {
				open[row] = 0;
				found[n++] = row;
			}
	}
	for (size_t i = 0; w->layouts && i < n; i++)
		if (found[i] == g.row) {
			found[i] = found[0];
			found[0] = g.row;
		}
	g.layout = w->layouts ? nm_advised_layout(table, found, n) : NULL;
	return g;
}

static int by_worth(const void *a, const void *b)
{
	const struct group *g = a, *y = b;

	if (g->rule->general != y->rule->general)
		return g->rule->general - y->rule->general;
	return g->worth != y->worth ? (g->worth < y->worth) - (g->worth > y->worth)
				    : (g->row > y->row) - (g->row < y->row);
}

/* Whether what is known of its saving is worth telling. */
static int gains_enough(const struct note_writer *w, const struct group *g)
{
	return g->worth <= 0 || 100 * g->worth >= w->run * MIN_GAIN;
}

/* The groups that save most first, those of rules that tell why before others, or by misses, in the order of the
 * rows. */
static int note_rows(struct note_writer *w, struct nm_table *table)
{
	const size_t count = table->row_count < GROUPED ? table->row_count : GROUPED;
	struct group groups[GROUPED];
	char open[GROUPED] = {0};
	size_t n = 0;
	int status = 0;

	for (size_t row = 0; row < count; row++)
		open[row] =
		    row_word(table, row, "cause") && (!w->by_cost || nm_advice_worth(table, row) >= 0);
	for (size_t row = 0; row < count; row++)
		if (open[row])
			groups[n++] = group_of(w, table, row, open, count);
	if (w->by_cost)
		qsort(groups, n, sizeof *groups, by_worth);
	for (size_t i = 0; i < n && w->notes->count < PAIRS && !status; i++)
		if (groups[i].share >= MIN_SHARE && gains_enough(w, &groups[i]))
			status = note_group(w, table, &groups[i]);
	return status;
}

/* What to try against an object, at the line where it costs most. */
static int note_object(struct note_writer *w, struct nm_profile *profile,
		       const struct nm_selection *selection, const char *object)
{
	struct nm_selection one = *selection;
	struct nm_report_table pairs = {.table = {0}};
	int status;

	one.object = (struct nm_name_pattern){.operator_ = "=", .pattern = strdup(object)};
	one.request.limit = 1;
	status = one.object.pattern ? nm_report_fill(nm_report_named("pairs"), profile, &one, &pairs, w->err)
				    : nm_fail_memory(w->err);
	if (!status && pairs.table.row_count && (!w->by_cost || nm_advice_worth(&pairs.table, 0) >= 0)) {
		struct group g = {.rule = nm_rule_named(row_word(&pairs.table, 0, "cause"))};

		add_row(w, &pairs.table, 0, &g);
		g.layout = w->layouts ? nm_advised_layout(&pairs.table, &g.row, 1) : NULL;
		status = g.rule && gains_enough(w, &g) ? note_group(w, &pairs.table, &g) : 0;
	}
	nm_report_table_done(&pairs);
	nm_name_pattern_done(&one.object);
	return status;
}

/* Where many lines share the misses of an object, none of its rows may be large enough. */
static int note_objects(struct note_writer *w, struct nm_profile *profile,
			const struct nm_selection *selection)
{
	struct nm_report_table objects = {.table = {0}};
	int status = nm_report_fill(nm_report_named("objects"), profile, selection, &objects, w->err);

	for (size_t row = 0; !status && row < objects.table.row_count && w->notes->count < PAIRS; row++) {
		const char *object = row_word(&objects.table, row, "object");

		if (object && share_of(w, &objects.table, row) >= MIN_SHARE)
			status = note_object(w, profile, selection, object);
	}
	nm_report_table_done(&objects);
	return status;
}

/* Does a row that the summary shows name code or data of the module? */
static int is_shown(const struct note_writer *w, const char *module)
{
	for (size_t row = 0; row < w->pairs->row_count; row++) {
		const char *of = nm_table_find(w->pairs, row, "module")->text,
			   *object = row_word(w->pairs, row, "object");

		if (row >= PAIRS && share_of(w, w->pairs, row) < MIN_SHOWN)
			return 0;
		if ((of && !strcmp(of, module)) || (object && strstr(object, module)))
			return 1;
	}
	return 0;
}

static int note_missing_symbols(struct note_writer *w, struct nm_profile *profile, const char *process)
{
	struct nm_rows *rows = NULL;
	char list[400] = "", *text;
	size_t n = 0, count = 0;
	int status = nm_profile_query(
	    profile,
	    "SELECT DISTINCT module FROM undebugged WHERE ?1 IS NULL OR process = ?1 ORDER BY module", &rows,
	    w->err);

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, process);
	while ((status = nm_rows_next(rows, w->err)) > 0) {
		const char *module = nm_rows_text(rows, 0), *slash = module ? strrchr(module, '/') : NULL;

		module = slash ? slash + 1 : module ? module : "?";
		if (is_shown(w, module) && count++ < MODULES && n < sizeof list)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", module);
	}
	nm_rows_free(rows);
	if (status || !count)
		return status;
	if (count > MODULES && n < sizeof list)
		snprintf(list + n, sizeof list - n, " and %zu more", count - MODULES);
	if (asprintf(&text,
		     "no debug information in %s: lines and variables have no names; compile with -g, "
		     "install -dbg or -dbgsym packages, or set DEBUGINFOD_URLS",
		     list) < 0)
		text = NULL;
	return add_note(w, text);
}

static int note_losses(struct note_writer *w, struct nm_profile *profile, const char *process)
{
	struct nm_rows *rows = NULL;
	int64_t lost = 0, killed = 0, undecoded = 0;
	char *text;
	int status =
	    nm_profile_query(profile,
			     "SELECT sum(lost_words), sum(exit_status = -1), sum(exit_status = 128 + 4 AND "
			     "'valgrind' = (SELECT value FROM info WHERE key = 'collector')) "
			     "FROM processes WHERE ?1 IS NULL OR process = ?1",
			     &rows, w->err);

	if (!status)
		nm_rows_bind_text(rows, 1, process);
	if (!status && (status = nm_rows_next(rows, w->err)) > 0) {
		lost = nm_rows_bounded(rows, 0);
		killed = nm_rows_bounded(rows, 1);
		undecoded = nm_rows_bounded(rows, 2);
		status = 0;
	}
	nm_rows_free(rows);
	if (!status && lost) {
		if (asprintf(&text, "%" PRId64 " words of the event stream were lost: the counts are too low",
			     lost) < 0)
			text = NULL;
		status = add_note(w, text);
	}
	if (!status && killed) {
		if (asprintf(&text,
			     "%" PRId64 " processes were killed: the counts are what they did until then",
			     killed) < 0)
			text = NULL;
		status = add_note(w, text);
	}
	if (!status && undecoded) {
		if (asprintf(
			&text,
			"%" PRId64
			" processes were stopped by SIGILL: unless they do that themselves, they use an "
			"instruction that Valgrind does not know, as those of AVX-512; build the program, "
			"or the library, without -march=native",
			undecoded) < 0)
			text = NULL;
		status = add_note(w, text);
	}
	return status;
}

static int note_huge_pages(struct note_writer *w, struct nm_profile *profile, const char *process)
{
	struct nm_huge_pages_saving s;
	char *text;
	int status = nm_huge_pages_estimate(profile, process, &s, w->err);

	if (status || !s.pages || s.saved * 100 < s.misses * MIN_SHARE || s.saved <= 0)
		return status;
	if (asprintf(&text,
		     "huge pages of %s would save %" PRId64 " %% of the misses of %s, %" PRId64
		     " %% of it of %s: align large blocks to %s and use madvise(MADV_HUGEPAGE), or mmap with "
		     "MAP_HUGETLB",
		     s.pages, s.saved * 100 / s.misses, s.level, s.of_object * 100 / s.saved, s.object,
		     s.pages) < 0)
		text = NULL;
	return add_note(w, text);
}

static int take_sentence(void *arg, char *sentence) { return add_note(arg, sentence); }

/* What to try, if there is something to win. */
static int note_advice(struct note_writer *w, struct nm_profile *profile,
		       const struct nm_selection *selection)
{
	int status = note_rows(w, w->pairs);

	if (!status && !w->notes->count)
		status = note_objects(w, profile, selection);
	if (!status)
		status = note_huge_pages(w, profile, selection->request.process);
	return status;
}

int nm_notes_make(struct nm_profile *profile, const struct nm_selection *selection,
		  const struct nm_verdict *verdict, struct nm_table *pairs, struct nm_notes *ret_notes,
		  struct nm_notes *ret_layouts, struct nm_error *err)
{
	struct note_writer r = {.pairs = pairs,
				.notes = ret_notes,
				.layouts = ret_layouts,
				.by_cost = selection->levels.has_covered,
				.run = verdict->cycles,
				.err = err};
	const char *process = selection->request.process;
	const int is_bound = nm_verdict_is_bound(verdict);
	int status = is_bound ? note_advice(&r, profile, selection) : 0;

	if (!status)
		status = nm_prefetches_judge(profile, process, is_bound, take_sentence, &r, err);
	if (!status)
		status = note_missing_symbols(&r, profile, process);
	if (!status)
		status = note_losses(&r, profile, process);
	nm_vec_free(&r.advised);
	return status;
}
