/* SPDX-License-Identifier: MIT
 *
 * answers.h - what the answers share.
 */
#ifndef NM_VIEW_ANSWERS_H
#define NM_VIEW_ANSWERS_H

#include "view_priv.h"

/* A name as JSON: control characters and what is no UTF-8 become U+FFFD. NULL becomes null. */
json_t *nm_view_text(const char *text);

#endif
