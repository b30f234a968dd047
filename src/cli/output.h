/* SPDX-License-Identifier: MIT
 *
 * output.h - where reports go: stdout or a pager, and how they may look there.
 */
#ifndef NM_OUTPUT_H
#define NM_OUTPUT_H

#include <stdio.h>

#include "report.h"

enum { NM_WIDTH_OF_TERMINAL = -1 };

/* The style for a stream: width of its terminal (COLUMNS first) or no limit, colours only on a terminal and not
 * with NO_COLOR or TERM=dumb, "…" where the locale is UTF-8.  width: NM_WIDTH_OF_TERMINAL, or what the
 * user asks for (0: no limit). */
struct nm_style nm_style_of(FILE *stream, enum nm_format format, int64_t width);

struct nm_output {
	FILE *file;
	int is_pager;
};

/* Opens stdout, through $NEARMISS_PAGER, $PAGER or less if it is a terminal and text is to come.  A pager
 * that is "" or "cat" is none. */
void nm_output_open(struct nm_output *output, enum nm_format format);

/* Flushes and waits for the pager.  A status: not 0 if not everything could be written. */
int nm_output_close(struct nm_output *output);

extern int nm_output_no_pager; /* set by main for --no-pager */

#endif
