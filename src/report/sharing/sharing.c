/* SPDX-License-Identifier: MIT
 *
 * sharing.c - the tables of contention, and the report that a request selects.
 */
#include "sharing.h"

#include <string.h>

#include "figures.h"
#include "sharing_priv.h"

static const enum nm_figure_name misses[] = {
    NM_FIGURE_COHERENCE, NM_FIGURE_FALSE,  NM_FIGURE_TRUE,  NM_FIGURE_TAKES,
    NM_FIGURE_READS,     NM_FIGURE_WRITES, NM_FIGURE_LINES, NM_FIGURE_THREADS,
};
static const enum nm_figure_name touches[] = {
    NM_FIGURE_READS, NM_FIGURE_WRITES, NM_FIGURE_MISSES, NM_FIGURE_FALSE, NM_FIGURE_TAKES,
};
static const enum nm_figure_name takes[] = {
    NM_FIGURE_TAKEN,
    NM_FIGURE_INTERVENTIONS,
    NM_FIGURE_WRITEBACKS,
    NM_FIGURE_UPGRADES,
};

static const struct nm_column line_keys[] = {
    {.name = "block"},  {.name = "offset"},   {.name = "bytes"}, {.name = "thread"},
    {.name = "core"},   {.name = "function"}, {.name = "file"},  {.name = "line"},
    {.name = "object"}, {.name = "type"},     {.name = "field"}, {.name = "position"},
};
static const struct nm_column process_key[] = {{.name = "process"}};
static const struct nm_column object_keys[] = {{.name = "object", .title = "object", .kind = NM_COLUMN_NAME}};
static const struct nm_column field_keys[] = {{.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
					      {.name = "type", .title = "type", .kind = NM_COLUMN_NAME},
					      {.name = "field", .title = "field", .kind = NM_COLUMN_TEXT}};
static const struct nm_column function_keys[] = {
    {.name = "function", .title = "function", .kind = NM_COLUMN_NAME},
    {.name = "victim_function", .title = "takes from", .kind = NM_COLUMN_NAME},
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
    {.name = "victim", .title = "loaded for", .kind = NM_COLUMN_NAME}};
static const struct nm_column thread_keys[] = {
    {.name = "thread", .title = "thread", .kind = NM_COLUMN_NUMBER},
    {.name = "victim_thread", .title = "takes from", .kind = NM_COLUMN_NUMBER}};
static const struct nm_column core_keys[] = {
    {.name = "core", .title = "core", .kind = NM_COLUMN_NUMBER},
    {.name = "victim_core", .title = "takes from", .kind = NM_COLUMN_NUMBER}};

static const struct nm_column process_pair[] = {NM_OWN_PROCESS, NM_VICTIM_PROCESS};
static const struct nm_column own_process[] = {NM_OWN_PROCESS};

#define KEYS(list) .keys = list, .key_count = NM_COLUMNS_IN(list)
#define PROCESSES(list) .processes = list, .process_count = NM_COLUMNS_IN(list)
#define FIGURES(list) .figures = list, .figure_count = NM_COLUMNS_IN(list)

static const struct nm_figure_table tables[] = {
    [NM_SHARING_BY_LINE] = {.name = "sharing",
			    .view = "sharing",
			    .of_process = NM_DONE_BY_PROCESS,
			    PROCESSES(own_process),
			    KEYS(line_keys),
			    FIGURES(touches),
			    .behind = process_key,
			    .behind_count = 1,
			    .sort = "false_misses",
			    .ties =
				"misses DESC, process, block, offset, bytes, thread, core, function, file, "
				"line, object, type, field, position"},
    [NM_SHARING_BY_OBJECT] = {.name = "sharing by object",
			      .view = "sharing",
			      .of_process = NM_DONE_BY_PROCESS,
			      KEYS(object_keys),
			      FIGURES(misses),
			      .sort = "false_misses",
			      .ties = "misses DESC, object"},
    [NM_SHARING_BY_FIELD] = {.name = "sharing by field",
			     .view = "sharing",
			     .of_process = NM_DONE_BY_PROCESS,
			     KEYS(field_keys),
			     FIGURES(misses),
			     .sort = "false_misses",
			     .ties = "misses DESC, object, type, field"},
    [NM_SHARING_BY_FUNCTION] = {.name = "sharing by function",
				.view = "contenders",
				.of_process = NM_DONE_BY_PROCESS,
				PROCESSES(process_pair),
				KEYS(function_keys),
				FIGURES(takes),
				.where = "block IS NOT NULL",
				.sort = "invalidations",
				.ties = "interventions DESC, function, victim_function, object, victim"},
    [NM_SHARING_BY_THREAD] = {.name = "sharing by thread",
			      .view = "contenders",
			      .of_process = NM_DONE_BY_PROCESS,
			      PROCESSES(process_pair),
			      KEYS(thread_keys),
			      FIGURES(takes),
			      .sort = "invalidations",
			      .ties = "interventions DESC, thread, victim_thread"},
    [NM_SHARING_BY_CORE] = {.name = "sharing by core",
			    .view = "contenders",
			    .of_process = NM_DONE_BY_PROCESS,
			    KEYS(core_keys),
			    FIGURES(takes),
			    .sort = "invalidations",
			    .ties = "interventions DESC, core, victim_core"},
    [NM_SHARING_BY_PROCESS] = {.name = "sharing by process",
			       .view = "contenders",
			       .of_process = NM_DONE_BY_PROCESS,
			       KEYS(process_pair),
			       FIGURES(takes),
			       .sort = "invalidations",
			       .ties = "interventions DESC, thread_process, victim_process"},
};

enum { USUAL_LINES = 5, USUAL_ROWS = 20 };

/* *ret_bytes: the size of the blocks that the protocol keeps coherent. */
static int find_block(struct nm_profile *profile, const struct nm_selection *selection, int64_t *ret_bytes,
		      struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status =
	    nm_profile_query(profile,
			     "SELECT max(coalesce(sector_size, line_size)) FROM levels WHERE protocol IS NOT "
			     "NULL AND (level LIKE '%/%') = (?1 LIKE '%/%')",
			     &rows, err);

	if (!status) {
		nm_rows_bind_text(rows, 1, selection->request.level);
		status = nm_rows_next(rows, err);
		*ret_bytes = status > 0 ? nm_rows_integer(rows, 0) : 0;
		status = status < 0 ? status : *ret_bytes == 0;
	}
	nm_rows_free(rows);
	return status > 0
		   ? nm_fail(err, NM_ENOENT,
			     "the profile has no cores that a protocol keeps coherent: record with --cores=N")
		   : status;
}

/* Merging leaves lines and pairs of threads out. 0 or a code. */
static int refuse_merged(struct nm_profile *profile, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, "SELECT 1 FROM info WHERE key = 'merged'", &rows, err);

	if (!status)
		status = nm_rows_next(rows, err);
	nm_rows_free(rows);
	return status > 0
		   ? nm_fail(
			 err, NM_ENOENT,
			 "a merged profile has no lines that cores contend for: ask one of its inputs, or "
			 "sum coherence over the view counts (nearmiss query)")
		   : status;
}

static int show_table(struct nm_profile *profile, const struct nm_selection *selection,
		      const struct nm_figure_table *table, const struct nm_style *style, FILE *out,
		      struct nm_error *err)
{
	struct nm_report_table filled = {.table = {0}};
	int status = nm_figures_fill(table, profile, selection, NULL, &filled, err);

	if (!status)
		status = nm_table_show(&filled.table, table->name, selection->request.level, style, out, err);
	nm_report_table_done(&filled);
	return status;
}

int nm_sharing_run(struct nm_profile *profile, const struct nm_sharing_request *request,
		   const struct nm_style *style, FILE *out, struct nm_error *err)
{
	const int as_text = request->by == NM_SHARING_BY_LINE && style->format == NM_FORMAT_TEXT;
	const int as_lines = as_text || request->with_repairs;
	const struct nm_report_request r = {.level = request->level,
					    .process = request->process,
					    .sort = request->sort,
					    .offset = request->offset,
					    .limit = request->limit >= 0 ? request->limit
						     : as_lines          ? USUAL_LINES
									 : USUAL_ROWS};
	struct nm_selection selection = {.one_level = 0};
	int64_t bytes = 0;
	int status = nm_selection_make(profile, &r, &selection, err);

	if (!status)
		status = find_block(profile, &selection, &bytes, err);
	if (!status)
		status = refuse_merged(profile, err);
	if (!status && request->as_c2c) {
		status = nm_sharing_c2c(profile, &selection, style, out, err);
		nm_selection_done(&selection);
		return status;
	}
	if (!status && as_text && request->sort)
		status =
		    nm_fail(err, NM_EINVAL,
			    "lines are sorted by false sharing; --sort is of tables: use --by or --format");
	if (!status && as_lines)
		status = nm_sharing_lines(profile, &selection, bytes, style, out, err);
	if (!status && as_text)
		status = nm_sharing_latent(profile, &selection, style, out, err);
	if (!status && !as_lines)
		status =
		    show_table(profile, &selection,
			       request->by == NM_SHARING_LATENT ? &nm_latent_table : &tables[request->by],
			       style, out, err);
	if (!status && request->by == NM_SHARING_BY_CORE && style->format == NM_FORMAT_TEXT)
		status = nm_sharing_core_grid(profile, &selection, style, out, err);
	nm_selection_done(&selection);
	return status;
}

/* ---- sharing latent ---- */

/* Latent false sharing, which would occur with longer lines or if data began at another
 * address (latent.h of the model).
 */

static const struct nm_column keys[] = {
    {.name = "line_size", .title = "lines of", .kind = NM_COLUMN_NUMBER},
    {.name = "earlier", .title = "earlier by", .kind = NM_COLUMN_NUMBER},
};
static const enum nm_figure_name figures[] = {NM_FIGURE_MISSES};
static const struct nm_column places[] = {
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
    {.name = "field", .title = "field", .kind = NM_COLUMN_TEXT},
    NM_PLACE_COLUMNS("", "line", nm_compose_location),
    {.name = "other_object", .title = "taken for", .kind = NM_COLUMN_NAME},
    {.name = "other_field", .title = "field", .kind = NM_COLUMN_TEXT},
    NM_PLACE_COLUMNS("other_", "by", nm_compose_other_location),
};

#define TABLE                                                                                             \
	.name = "latent", .view = "latent", .of_process = NM_DONE_BY_THREAD_OF_PROCESS, .keys = keys,     \
	.key_count = NM_COLUMNS_IN(keys), .figures = figures, .figure_count = NM_COLUMNS_IN(figures),     \
	.behind = places, .behind_count = NM_COLUMNS_IN(places), .sort = "misses",                        \
	.ties =                                                                                           \
	    "line_size DESC, earlier, object, field, file, line, other_object, other_field, other_file, " \
	    "other_line"

const struct nm_figure_table nm_latent_table = {TABLE};

/* Rows that would add at least 1% to the misses of the level. */
static const struct nm_figure_table notable = {
    TABLE, .having =
	       "100 * misses >= (SELECT sum(read_misses + write_misses) FROM levels WHERE level = ?1 AND "
	       "(?2 IS NULL OR process = ?2))"};

enum { ROWS = 8 };

int nm_sharing_latent(struct nm_profile *profile, const struct nm_selection *selection,
		      const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_report_table filled = {.table = {0}};
	struct nm_selection chosen = *selection;
	int status;

	chosen.request.limit = ROWS;
	status = nm_figures_fill(&notable, profile, &chosen, NULL, &filled, err);
	if (!status && filled.table.row_count) {
		fputs(
		    "Latent false sharing: none of it is counted above. These would miss too if lines were "
		    "longer, or if data\nbegan so many bytes earlier. Data that are aligned to, and padded to, "
		    "the longest lines are safe.\n",
		    out);
		status = nm_table_show(&filled.table, "latent", NULL, style, out, err);
	}
	nm_report_table_done(&filled);
	return status;
}
