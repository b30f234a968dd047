/* SPDX-License-Identifier: MIT
 *
 * annotate_priv.h - an annotation, between the profile and its output format.
 */
#ifndef NM_ANNOTATE_PRIV_H
#define NM_ANNOTATE_PRIV_H

#include "annotate.h"
#include "sums.h"

enum { NM_MAX_CHOSEN = 32 };

/* A file, the part of a file that is one function, or the instructions of a function. */
struct nm_section {
	const char *file, *function; /* function NULL: all of the file, or code without symbols */
	const char *module;          /* of instructions; NULL: lines */
	size_t block;                /* of instructions: the first one */
	const char *source;          /* path of the file that was read, or NULL */
	const char *note;            /* what is wrong with it, or NULL */
	struct nm_metric_sums sum;
	int64_t weight;
	struct nm_table functions, lines;
	struct nm_vec(int64_t) numbers; /* of the rows of `lines`, in order: lines, or instructions */
};

struct nm_annotation {
	struct nm_profile *profile;
	const struct nm_annotate_request *request;
	struct nm_error *err;
	const char *level;
	const struct nm_metric *sort;
	unsigned chosen[NM_MAX_CHOSEN], chosen_count; /* metrics that text shows */
	int shows_object;
	struct nm_metric_total whole;                 /* of the selection */
	struct nm_metric_sums unplaced;               /* of code without lines */
	size_t left_out;                              /* number of sections below the threshold, */
	struct nm_metric_sums left_out_sum;           /* and their counts */
	struct nm_vec(struct nm_column) line_columns; /* of all sections' tables */
	struct nm_vec(struct nm_column) function_columns;
	struct nm_vec(struct nm_section) sections;
	struct nm_strings pool;
	struct nm_cube_names names; /* of the rows */
};

/* Columns of a table of lines: file, line, the metrics in the order of the catalogue, object, source. A table
 * of instructions has module, address, the metrics, object, instruction, and then those of NM_ASM_... */
enum { NM_LINE_FILE, NM_LINE_NUMBER, NM_LINE_SUMS };
enum { NM_ASM_FUNCTION = 1, NM_ASM_FILE, NM_ASM_LINE, NM_ASM_SOURCE };
static inline unsigned nm_line_object(void) { return NM_LINE_SUMS + nm_sum_column_count(); }
static inline unsigned nm_line_source(void) { return nm_line_object() + 1; }

/* sections.c */
int nm_is_heavy(const struct nm_annotation *annotation, int64_t part, int64_t whole); /* for the threshold */
/* Sorts sections by weight, the heaviest first, and drops those below the threshold. */
void nm_keep_heavy_sections(struct nm_annotation *annotation, int64_t whole,
			    int (*order)(const void *, const void *));
int nm_in_section(const struct nm_section *section, const struct nm_annotate_row *row);
size_t nm_next_file(const struct nm_annotate_rows *rows, size_t from);

/* The first number of the first row, or -1. first: the query's ?1, or NULL. */
int nm_read_number(struct nm_annotation *annotation, const char *sql, const char *first, int64_t *ret_number);

/* Binds ?1 level, ?2 process, ?3 thread, ?4 object. */
void nm_annotate_bind(const struct nm_annotation *annotation, struct nm_rows *rows);

/* assembly.c: all sections, of instructions. */
int nm_asm_gather(struct nm_annotation *annotation);

/* lines.c */

/* A copy in the pool without control characters, tabs expanded; NULL: out of memory. */
const char *nm_annotate_clean(struct nm_annotation *annotation, const char *text);
struct nm_value nm_annotate_text(const char *text);

/* The value of the metric `name`; of type NULL if there is no such metric, or figures is NULL. */
struct nm_value nm_annotate_figure(const struct nm_annotation *annotation, const char *name,
				   const struct nm_metric_sums *figures);

/* Looks for a source where the user says, in the profile, and where the debug information says. 0; NM_ENOENT;
 * NM_EACCES: found only where a profile from elsewhere may not point; or another code. The caller frees
 * known->text in any case. */
int nm_annotate_source(struct nm_annotation *annotation, const char *file, struct nm_stored_source *known,
		       struct nm_source *ret_source);

/* Fills both tables of a section of lines. */
int nm_section_fill(struct nm_annotation *annotation, struct nm_section *section,
		    const struct nm_annotate_rows *rows);

/* show.c */
int nm_annotation_show(struct nm_annotation *annotation, const struct nm_style *style, FILE *out);

/* names.c: whether the user means this file or function by `name`. */
int nm_is_file(const char *file, const char *name);
int nm_is_function(const char *function, const char *name);

/* Says that no file or function of this name `has` what is asked for, and which are like it, or else `hint`
 * (NULL: nothing). Returns NM_EINVAL or another code. */
int nm_fail_unnamed(struct nm_annotation *a, const char *name, const char *has, const char *hint);

#endif
