/* SPDX-License-Identifier: MIT
 *
 * view.h - profiles that are open for viewing in a browser, and the JSON answers about them.
 *
 *     nm_view_open(&view, paths, count, &err);
 *     nm_view_answer(view, &request, out, &err);
 *
 * A server (server.h) and a file (html.h) give the same answers, which docs/format/view.md describes.
 */
#ifndef NM_VIEW_H
#define NM_VIEW_H

#include <stdio.h>

#include "reader.h"
#include "request.h"

enum { NM_VIEW_PROFILES = 8 };

struct nm_view;
struct nm_debugger;
struct nm_source_search;

/* Opens profiles. As of nm_profile_open(); NM_EINVAL: more than NM_VIEW_PROFILES. */
int nm_view_open(struct nm_view **ret_view, const char *const *paths, size_t count, struct nm_error *err);
void nm_view_close(struct nm_view *view);

/* Sets additional places to look for sources (source.h); `search` must outlive the view. */
void nm_view_set_search(struct nm_view *view, const struct nm_source_search *search);

/* Adds a debugger, which must outlive the view. */
void nm_view_set_debugger(struct nm_view *view, struct nm_debugger *debugger);

/* Lets pages predict misses: `program` is the file of nearmiss itself; `trace` that of the first profile's run, NULL:
 * only profiles that name theirs have one. Both must outlive the view. */
void nm_view_set_predictor(struct nm_view *view, const char *program, const char *trace);

/* Whether POST and DELETE are taken at a path; all others are only read. */
int nm_view_takes_changes(const char *path);

/* Called after each answer that is written to a file (html.h): how many there are, and bytes so far. */
typedef void nm_view_progress(unsigned answers, size_t bytes);
void nm_view_set_progress(struct nm_view *view, nm_view_progress *progress);

/* How many references the last file holds for the debugger (html.h). */
uint64_t nm_view_written(const struct nm_view *view);

/* Writes the answer as one JSON value. After a failure, drop what was written. NM_ENOENT: there
 * is no such path, file, or line; NM_EINVAL: a parameter makes no sense. */
int nm_view_answer(struct nm_view *view, const struct nm_request *request, FILE *out, struct nm_error *err);

/* Prepares one of the answers that pages request first: the overviews, and the facts of most other answers.
 * Whether there is more to prepare. For an idle server. */
int nm_view_prepare(struct nm_view *view);

/* Writes {"error": TEXT}, in place of an answer. */
void nm_view_write_error(const char *text, FILE *out);

#endif
