/* SPDX-License-Identifier: MIT
 *
 * html.h - profiles as one file for a browser, which needs neither nearmiss nor a network.
 */
#ifndef NM_VIEW_HTML_H
#define NM_VIEW_HTML_H

#include "view.h"

enum { NM_HTML_LARGEST = 10 << 20 }; /* bytes */

/* Writes the pages with the answers that they ask for first, most important first, up to NM_HTML_LARGEST.
 * NM_ENOENT: this build has no pages. */
int nm_view_write_html(struct nm_view *view, FILE *out, struct nm_error *err);

#endif
