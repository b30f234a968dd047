/* SPDX-License-Identifier: MIT
 *
 * sharing_latent.c - latent false sharing, which would occur with longer lines or if data began at another
 * address (latent.h of the model).
 */
#include "sharing_priv.h"

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
	.name = "latent", .view = "latent", .keys = keys, .key_count = NM_COLUMNS_IN(keys),               \
	.figures = figures, .figure_count = NM_COLUMNS_IN(figures), .behind = places,                     \
	.behind_count = NM_COLUMNS_IN(places), .sort = "misses",                                          \
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
