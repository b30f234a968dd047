/* SPDX-License-Identifier: MIT
 *
 * html.h - profiles, and a run of the debugger, as one file for a browser, which can be opened without
 * nearmiss or a network.
 */
#ifndef NM_VIEW_HTML_H
#define NM_VIEW_HTML_H

#include "view.h"

enum { NM_HTML_LARGEST = 10 << 20 }; /* bytes */

/* Writes the pages with the answers that they request, most important first, and the window of the
 * debugger's run (view.h), up to NM_HTML_LARGEST. NM_ENOENT: this build has no pages; others as
 * nm_debugger_record(). */
int nm_view_write_html(struct nm_view *view, FILE *out, struct nm_error *err);

#endif
