/* SPDX-License-Identifier: MIT
 *
 * html_output.h - profiles as one file for a browser, for view --html and export html.
 */
#ifndef NM_HTML_OUTPUT_H
#define NM_HTML_OUTPUT_H

#include "view.h"

/* Writes to a file, or to standard output if it is NULL. Returns the status of the command, after a
 * message. */
int nm_write_html(struct nm_view *view, const char *path);

#endif
