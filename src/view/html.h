/* SPDX-License-Identifier: MIT
 *
 * html.h - profiles, and the debugger, as one file for a browser, which can be opened without
 * nearmiss or a network.
 */
#ifndef NM_VIEW_HTML_H
#define NM_VIEW_HTML_H

#include "view.h"

enum { NM_HTML_LARGEST = 10 << 20 }; /* bytes */

/* Writes the pages with the answers that they request, most important first, and the debugger with what it
 * debugs, up to NM_HTML_LARGEST. NM_ENOENT: this build has no pages; others as nm_parts_write(). */
int nm_view_write_html(struct nm_view *view, FILE *out, struct nm_error *err);

#endif
