/* SPDX-License-Identifier: MIT
 *
 * questions.h - what the pages ask when they are visited one after the other, most important first: a file
 * without a server should hold the answers.
 */
#ifndef NM_VIEW_QUESTIONS_H
#define NM_VIEW_QUESTIONS_H

#include "view.h"

/* Calls `ask` with each, until it returns a code. 0 or that code, or one of reading the profiles. */
int nm_view_questions(struct nm_view *view,
		      int (*ask)(void *self, const struct nm_request *request, struct nm_error *err),
		      void *self, struct nm_error *err);

#endif
