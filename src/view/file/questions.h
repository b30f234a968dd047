/* SPDX-License-Identifier: MIT
 *
 * questions.h - the requests that the pages send when a user visits them in turn, most important first: a
 * file without a server should have the answers.
 */
#ifndef NM_VIEW_QUESTIONS_H
#define NM_VIEW_QUESTIONS_H

#include "view.h"

/* How many of them the page that is shown first sends. */
enum { NM_VIEW_FIRST_QUESTIONS = 2 };

/* Calls `ask` with each, until it returns an error. 0 or that error, or one of reading the profiles. */
int nm_view_questions(struct nm_view *view,
		      int (*ask)(void *self, const struct nm_request *request, struct nm_error *err),
		      void *self, struct nm_error *err);

#endif
