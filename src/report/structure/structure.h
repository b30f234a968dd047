/* SPDX-License-Identifier: MIT
 *
 * structure.h - the report "struct": fields of structures in the order of memory, each with its loads, stores, misses
 * by level and threads. Beside the table there are two *cards*, in the shape of pahole and of perf annotate.
 */
#ifndef NM_REPORT_STRUCTURE_H
#define NM_REPORT_STRUCTURE_H

#include "report_priv.h"

/* SQL: the name of a structure without "struct". */
#define NM_STRUCTURE_NAME(type) "iif(substr(" type ", 1, 7) = 'struct ', substr(" type ", 8), " type ")"

struct nm_structure_level {
	const char *level, *misses, *title; /* the name and title of a column */
};

struct nm_structures {
	struct nm_report_table filled;
	struct nm_structure_level levels[NM_REPORT_LEVELS]; /* those of the machine that take data */
	unsigned level_count, asked;                        /* asked: the one that is reported on */
	int64_t line_size;                                  /* of the first of them */
	const char *recorded;                               /* "./solver 512 on zen3", interned */
};

/* What fields are used for, in the column `use`. */
#define NM_USE_READ "read-mostly"
#define NM_USE_WRITTEN "written often"

/* The fields of one structure: rows [first, end). */
struct nm_structure {
	const struct nm_structures *all;
	size_t first, end;
	const char *name; /* with its keyword */
	int64_t bytes;
};

/* NM_EINVAL: a card is not text, or is sorted. */
int nm_structure_run(struct nm_profile *profile, struct nm_selection *selection, const struct nm_style *style,
		     FILE *out, struct nm_error *err);

/* Print one structure. 0 or NM_ENOMEM. */
int nm_structure_pahole(const struct nm_structure *structure, FILE *out);
int nm_structure_data_type(const struct nm_structure *structure, FILE *out);

/* A number of a row, or -1: it is not known, since two fields have the same name. */
int64_t nm_structure_number(const struct nm_structure *structure, size_t row, const char *column);

/* "struct node *              next", where the type takes `width` columns or more; malloc'ed, or NULL. */
char *nm_structure_declaration(const struct nm_structure *structure, size_t row, unsigned width);

#endif
