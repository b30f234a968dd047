/* SPDX-License-Identifier: MIT
 *
 * annotate_priv.h - an annotation on its way from the profile to a sink.
 */
#ifndef NM_ANNOTATE_PRIV_H
#define NM_ANNOTATE_PRIV_H

#include "annotate.h"
#include "figures.h"

enum { NM_MAX_CHOSEN = 32 };

/* A file, or the part of a file that is one function. */
struct nm_section {
	const char *file, *function; /* function NULL: all of the file */
	const char *source;          /* what was read, or NULL */
	const char *note;            /* what is amiss with it, or NULL */
	struct nm_figures sum;
	int64_t weight;
	struct nm_table functions, lines;
};

struct nm_annotation {
	struct nm_profile *profile;
	const struct nm_annotate_request *request;
	struct nm_error *err;
	const char *level;
	const struct nm_figure *sort;
	unsigned chosen[NM_MAX_CHOSEN], chosen_count; /* figures shown in text */
	int shows_object;
	struct nm_whole whole;                        /* of the selection */
	struct nm_figures unplaced;                   /* of code without lines */
	size_t left_out;                              /* files below the threshold ... */
	struct nm_figures left_out_sum;               /* ... and what they have */
	struct nm_vec(struct nm_column) line_columns; /* of all sections' tables */
	struct nm_vec(struct nm_column) function_columns;
	struct nm_vec(struct nm_section) sections;
	struct nm_strings pool;
};

/* Columns of a lines table: file, line, the figures in the order of the catalogue, object, source. */
enum { NM_LINE_FILE, NM_LINE_NUMBER, NM_LINE_FIGURES };
static inline unsigned nm_line_object(void) { return NM_LINE_FIGURES + nm_figure_count(); }
static inline unsigned nm_line_source(void) { return nm_line_object() + 1; }

/* What one function does to one object in one line. */
struct nm_annotate_row {
	const char *file, *function, *object;
	int64_t line;
	struct nm_figures figures;
};
struct nm_annotate_rows nm_vec(struct nm_annotate_row);

/* annotate.c */
int nm_is_heavy(const struct nm_annotation *annotation, int64_t part, int64_t whole); /* for the threshold */
int nm_in_section(const struct nm_section *section, const struct nm_annotate_row *row);
size_t nm_next_file(const struct nm_annotate_rows *rows, size_t from);

/* The first number of the first row, or -1.  first: the query's ?1, or NULL. */
int nm_read_number(struct nm_annotation *annotation, const char *sql, const char *first, int64_t *ret_number);

/* annotate_lines.c: fills both tables of a section; looks for its source. */
int nm_section_fill(struct nm_annotation *annotation, struct nm_section *section,
		    const struct nm_annotate_rows *rows);

/* annotate_show.c */
int nm_annotation_show(struct nm_annotation *annotation, const struct nm_style *style, FILE *out);

/* annotate_match.c: is this what the user calls `name`? */
int nm_is_file(const char *file, const char *name);
int nm_is_function(const char *function, const char *name);

#endif
