/* SPDX-License-Identifier: MIT
 *
 * html_output.c - see html_output.h.
 */
#include "html_output.h"

#include "html.h"
#include "output.h"

static int write_pages(void *view, FILE *out, struct nm_error *err)
{
	return nm_view_write_html(view, out, err);
}

int nm_write_html(struct nm_view *view, const char *path) { return nm_write_output(path, write_pages, view); }
