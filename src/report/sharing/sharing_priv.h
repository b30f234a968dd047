/* SPDX-License-Identifier: MIT
 *
 * sharing_priv.h - the parts of the report of contention.
 */
#ifndef NM_REPORT_SHARING_PRIV_H
#define NM_REPORT_SHARING_PRIV_H

#include "figures.h"
#include "machine.h"
#include "report_priv.h"
#include "sharing.h"

#define NM_COLUMNS_IN(list) (unsigned)(sizeof(list) / sizeof *(list))

/* Columns of a source location: "file:line (function)", composed of three columns of the view with a
 * prefix. */
#define NM_PLACE_COLUMNS(prefix, title_, compose_)                                                  \
	{.name = prefix "where", .title = title_, .kind = NM_COLUMN_LOCATION, .compose = compose_}, \
	    {.name = prefix "file", .hidden = 1}, {.name = prefix "line", .hidden = 1},             \
	{                                                                                           \
		.name = prefix "function", .hidden = 1                                              \
	}

/* Whose threads a row is about, on one machine of all processes. */
/* SQL: rows of what process ?2 does, and all rows of lines that it touches. On one machine `process` is the first one. */
#define NM_DONE_BY_PROCESS "thread_process = ?2"
/* The same of rows that have only the machine's number of a thread. */
#define NM_DONE_BY_THREAD_OF_PROCESS                                                             \
	"(process = ?2 OR EXISTS (SELECT 1 FROM info WHERE key = 'one_machine')) AND thread IN " \
	"(SELECT thread FROM threads WHERE process = ?2)"
#define NM_TOUCHED_BY_PROCESS \
	"(process, block) IN (SELECT process, block FROM sharing WHERE level = ?1 AND thread_process = ?2)"

#define NM_OWN_PROCESS                                                               \
	{                                                                            \
		.name = "thread_process", .title = "process", .kind = NM_COLUMN_NAME \
	}
#define NM_VICTIM_PROCESS                                                                 \
	{                                                                                 \
		.name = "victim_process", .title = "from process", .kind = NM_COLUMN_NAME \
	}

/* Contended lines of memory, of `bytes` bytes each, as text or JSON: the most false sharing first. */
int nm_sharing_lines(struct nm_profile *profile, struct nm_selection *selection, int64_t bytes,
		     const struct nm_style *style, FILE *out, struct nm_error *err);

/* Pairs of cores as a grid, as text, if it fits into the width. */
int nm_sharing_core_grid(struct nm_profile *profile, const struct nm_selection *selection,
			 const struct nm_style *style, FILE *out, struct nm_error *err);

/* Contended lines in the shape of perf c2c, as text. The request's limit counts lines. */
int nm_sharing_c2c(struct nm_profile *profile, const struct nm_selection *selection,
		   const struct nm_style *style, FILE *out, struct nm_error *err);

/* sharing.c: latent false sharing. */
extern const struct nm_figure_table nm_latent_table;
int nm_sharing_latent(struct nm_profile *profile, const struct nm_selection *selection,
		      const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
