/* SPDX-License-Identifier: MIT
 *
 * annotate.h - shows the source of a program with counts beside it.
 */
#ifndef NM_ANNOTATE_H
#define NM_ANNOTATE_H

#include "cube.h"
#include "disassembly.h"
#include "report.h"
#include "source.h"
#include "vector.h"

/* What one function does to one object in one line. */
struct nm_annotate_row {
	const char *file, *function, *object;
	int64_t line;
	struct nm_metric_sums figures;
};
struct nm_annotate_rows nm_vec(struct nm_annotate_row);

/* The rows of a cube with these keys that have a file and a line, in the order of the keys; *unplaced grows by
 * the counts of the others. Texts are those of the cube. 0 or NM_ENOMEM. */
#define NM_ANNOTATE_KEYS "file", "line", "object", "function"
int nm_annotate_take(const struct nm_cube *cube, struct nm_annotate_rows *rows,
		     struct nm_metric_sums *unplaced);

struct nm_annotate_request {
	struct nm_report_request report; /* level, process, thread, sort */
	const char *object;              /* only the figures of this object: a name or a pattern; NULL: all */
	const char *columns;             /* of text: "misses,share,..."; NULL: the default columns */
	const char *const *names;        /* files and functions; none: the files that miss most */
	size_t name_count;
	struct nm_source_search search;
	int assembly; /* show instructions, where they were recorded, instead of lines */
	enum nm_syntax syntax;
	double threshold; /* percent: leave out what has a smaller share */
	int64_t context;  /* lines or instructions to show around each; -1: all */
	/* Rows of the named files, if the caller has them: ordered by file, line, object and function, equal
	 * texts at equal addresses; and the base of shares and rates. NULL: they are read. */
	const struct nm_annotate_rows *rows;
	struct nm_metric_total whole;
};

/* NM_EINVAL: no such level, process, thread, column, object, file or function. */
int nm_annotate_run(struct nm_profile *profile, const struct nm_annotate_request *request,
		    const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
