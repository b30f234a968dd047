/* SPDX-License-Identifier: MIT
 *
 * output.h - where reports go (stdout or a pager) and how they look there.
 */
#ifndef NM_OUTPUT_H
#define NM_OUTPUT_H

#include <stdio.h>

#include "report.h"

enum { NM_WIDTH_OF_TERMINAL = -1 };

/* The style for a stream: the width of its terminal (COLUMNS comes first), 80 in a pipe; colours only on a
 * terminal, and not with NO_COLOR or TERM=dumb; "…" if the locale is UTF-8. width: NM_WIDTH_OF_TERMINAL,
 * or the user's (0: no limit). */
struct nm_style nm_style_of(FILE *stream, enum nm_format format, int64_t width);

struct nm_command_output {
	FILE *file;
	int is_pager;
};

/* Opens stdout; text for a terminal goes through $NEARMISS_PAGER, $PAGER or less. "" and "cat" mean no
 * pager; nor is a missing one an error. */
void nm_output_open(struct nm_command_output *output, enum nm_format format);

/* Flushes, or waits for the pager. A status, not 0 if something could not be written. */
int nm_output_close(struct nm_command_output *output);

/* Refuses to write over an input, or two outputs into one file: 0, or the message is printed and a status
 * returned. Either may be NULL. */
int nm_refuse_same_file(const char *output, const char *other, const char *what_other_is);

/* What writes an output: 0, or a code with a message. */
typedef int nm_output_writer(void *self, FILE *out, struct nm_error *err);

/* Writes to a file, or to standard output if path is NULL; a file that is not whole does not stay. Returns a
 * status, after a message. */
int nm_write_output(const char *path, nm_output_writer *writer, void *self);

/* Says that an output cannot be written, by errno (0: not known why), and returns the status. */
int nm_cannot_write(const char *path, int error);
/* Removes an output that is not whole, unless it is a device or a pipe. */
void nm_remove_output(const char *path);

extern int nm_output_no_pager; /* set by main for --no-pager */

#endif
