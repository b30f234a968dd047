/* SPDX-License-Identifier: MIT
 *
 * table.h - rows of a query, ready to be shown: the input of the three formats (text, CSV, JSON).
 */
#ifndef NM_TABLE_H
#define NM_TABLE_H

#include <stdio.h>

#include "arena.h"
#include "map.h"
#include "reader.h"
#include "style.h"
#include "text.h"
#include "vector.h"

struct nm_levels;
struct nm_table;

enum nm_column_kind {
	NM_COLUMN_PLAIN,   /* as it comes from the query */
	NM_COLUMN_TEXT,    /* shortened only where nothing else helps */
	NM_COLUMN_RIGHT,   /* never shortened, aligned right */
	NM_COLUMN_NUMBER,  /* digits in groups of three */
	NM_COLUMN_REAL,    /* with `decimals` */
	NM_COLUMN_BYTES,   /* 32K, 1M where that is exact */
	NM_COLUMN_NAME,    /* may be shortened */
	NM_COLUMN_LOCATION /* "file:line (function)": the function may be shortened */
};

struct nm_column {
	const char *name;  /* in CSV and JSON */
	const char *title; /* in text; NULL: not shown there */
	enum nm_column_kind kind;
	unsigned decimals;
	unsigned drop_order; /* the higher, the sooner it is left out of narrow text; 0: never */
	int hidden;          /* text shows it only on request */
	int sorts;           /* rows are in its order: never left out */
	/* For text only: makes the cell of a row from others. Such a column is not in the query, nor in CSV
	 * and JSON. The result lives in the table's pool; NULL: empty. */
	const char *(*compose)(struct nm_table *table, size_t row);
	/* The same, but for all formats: made once, when the table has been filled. */
	const char *(*derive)(struct nm_table *table, size_t row);
};

struct nm_value {
	enum nm_value_type type;
	int64_t integer;
	double real;
	const char *text; /* valid UTF-8 */
};

struct nm_table {
	const struct nm_column *columns;
	unsigned column_count; /* with composed ones */
	size_t row_count;
	struct nm_vec(struct nm_value) values; /* row by row; composed columns hold NULL */
	struct nm_strings pool;
	const struct nm_levels *levels; /* what derived columns need; NULL where there are none */
	int is_query;                   /* of a user's own query: integers are not grouped */
	unsigned
	    keys; /* the first `keys` columns tell rows apart, also where some are hidden; 0: not known */
	int is_exhausted;              /* a text was lost for lack of memory */
	struct nm_map file_components; /* path in the pool -> how many of its components are shown */
};

/* Appends all rows. Columns that are neither composed nor derived take the query's columns in order. */
int nm_table_fill(struct nm_table *table, struct nm_rows *rows, struct nm_error *err);
void nm_table_done(struct nm_table *table);

/* Leaves the first rows. Appends a row of NULLs (0 or NM_ENOMEM). Sets a value of the last row; its text must
 * outlive the table. */
void nm_table_cut(struct nm_table *table, size_t rows);
int nm_table_append(struct nm_table *table);
void nm_table_set(struct nm_table *table, const char *name, struct nm_value value);

const struct nm_value *nm_table_at(const struct nm_table *table, size_t row, unsigned column);
int nm_table_has(const struct nm_table *table, const char *name); /* a column of this name */
/* By name: for the composers. The name must be a column's. */
const struct nm_value *nm_table_named(const struct nm_table *table, size_t row, const char *name);
/* The same of a column that may be missing: then a value of type NULL. */
const struct nm_value *nm_table_find(const struct nm_table *table, size_t row, const char *name);
/* Takes over text (malloc'ed; NULL: memory is exhausted); the table's own copy, or NULL when memory is exhausted, which
 * nm_table_fill reports. */
const char *nm_table_keep(struct nm_table *table, char *text);

/* What text shows for the path of a file in the table (file_names.c): the end of it. NULL for NULL. */
const char *nm_table_file_name(struct nm_table *table, const char *path);

/* What text shows for a value, or for a composed one; malloc'ed. NULL: memory is exhausted. */
char *nm_table_format(struct nm_table *table, size_t row, unsigned column);

/* 1234567 as "1,234,567"; its length. */
enum { NM_GROUPED_ROOM = 32 };
int nm_format_grouped(int64_t value, char text[NM_GROUPED_ROOM]);
void nm_print_grouped(int64_t value, FILE *out);

/* Breaks a sentence at blanks to fit the width (0: no limit); lines after the first are indented below its
 * text, which follows `lead`. */
void nm_print_wrapped(const char *lead, const char *text, unsigned width, FILE *out);
/* The same of what printf makes; 0 or NM_ENOMEM. */
int nm_print_sentence(const char *lead, unsigned width, FILE *out, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Write a table. 0 or NM_ENOMEM; the caller checks ferror(out). */
int nm_table_text(struct nm_table *table, const struct nm_style *style, FILE *out);
int nm_table_csv(const struct nm_table *table, FILE *out);
void nm_table_csv_rows(const struct nm_table *table, FILE *out); /* without the line of names */
/* The rows as a JSON array, "[\n{...},\n{...}\n]". */
int nm_table_json(const struct nm_table *table, FILE *out);
/* text as a JSON string with its quotes. */
int nm_json_text(const char *text, FILE *out);

/* Starts the JSON document of a report: {"schema":...,"version":...,"report":name. */
void nm_json_begin(const char *report, FILE *out);

/* A table in the style's format; level: NULL if it has none. */
int nm_table_show(struct nm_table *table, const char *report, const char *level, const struct nm_style *style,
		  FILE *out, struct nm_error *err);

/* ---- shorten.c ---- */

/* A copy of name that takes at most `width` columns (but see the rules there); malloc'ed. */
char *nm_shorten_name(const char *name, size_t width, const char *ellipsis);
char *nm_shorten_location(const char *place, size_t width, const char *ellipsis);

#endif
