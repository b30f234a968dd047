/* SPDX-License-Identifier: MIT
 *
 * report.h - what a person sees of a profile: ranked tables as text, CSV or JSON.
 *
 * A report is a row of a table: its columns and its query. Every report goes through the views of the
 * profile, as a user's own query would.
 */
#ifndef NM_REPORT_H
#define NM_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include "inlined.h"
#include "reader.h"
#include "style.h"

/* Forms of the report "struct" (structure/structure.h). */
enum nm_card { NM_CARD_NONE, NM_CARD_PAHOLE, NM_CARD_DATA_TYPE };

struct nm_report_request {
	const char *level;         /* NULL: the first level that takes data */
	const char *process;       /* NULL: all */
	int64_t thread;            /* 0: all */
	const char *sort;          /* name of a column; NULL: the report's own */
	int64_t limit;             /* rows; 0: all */
	int64_t offset;            /* rows that are left out before them */
	const char *by;            /* for nm_report_by: names of keys, by commas */
	const char *columns;       /* columns in text, by commas; NULL: the report's own choice */
	const char *latency;       /* "L2=14,memory=200"; NULL: those of the levels */
	enum nm_shown_frame frame; /* which frame of inlined calls the keys function, file and line name */
	int folds;                 /* the summary's text sums small rows up, and dynamic linking (folds.h) */
	/* Only these: a name, or a pattern with *, ? and [...]; for files the last components are enough. NULL:
	 * all. */
	const char *object, *function, *file;
	/* The same of the report "struct", whose limit counts structures; "struct" may lack. */
	const char *structure;
	enum nm_card card;
	int machines; /* a ranking shows the misses of each level of each machine */
	struct nm_shown_part part;
};

struct nm_report;
extern const struct nm_report nm_report_by;       /* counts by the keys of the request */
const struct nm_report *nm_report_at(unsigned i); /* NULL after the last; the first is the default */
const struct nm_report *nm_report_named(const char *name);
const char *nm_report_name(const struct nm_report *report);
const char *nm_report_summary(const struct nm_report *report);

/* NM_EINVAL: no such level, process, thread, object, function, file, key or column; the message lists those
 * that exist, or similar ones. */
int nm_report_run(const struct nm_report *report, struct nm_profile *profile,
		  const struct nm_report_request *request, const struct nm_style *style, FILE *out,
		  struct nm_error *err);

/* The rows of any query. */
int nm_report_query(struct nm_profile *profile, const char *sql, const struct nm_style *style, FILE *out,
		    struct nm_error *err);

#endif
