/* SPDX-License-Identifier: MIT
 *
 * style.h - how a table is shown: its format, and what the reader's terminal can do.
 */
#ifndef NM_STYLE_H
#define NM_STYLE_H

enum nm_format { NM_FORMAT_TEXT, NM_FORMAT_CSV, NM_FORMAT_JSON };

struct nm_style {
	enum nm_format format;
	unsigned width;       /* columns that text may take; 0: as many as it needs */
	int colour;           /* text may hold terminal colours */
	int on_terminal;      /* it is read on a terminal, not in a file or a pipe */
	const char *ellipsis; /* stands for what was left out of a name: "…" or "..." */
};

#endif
