/* SPDX-License-Identifier: MIT
 *
 * viewer.h - shows a profile on standard output: common to the commands that do.
 */
#ifndef NM_VIEWER_H
#define NM_VIEWER_H

#include "options.h"
#include "output.h"
#include "reader.h"

struct nm_viewer {
	struct nm_profile *profile;
	struct nm_style style;
	struct nm_command_output output; /* write to output.file */
	struct nm_error err;             /* for the caller's faults */
};

/* Opens the profile, then the output; width as in nm_style_of(). 0, or a status after a message. */
int nm_viewer_open(struct nm_viewer *viewer, const char *profile, enum nm_format format, int64_t width);

/* The same for a command whose one operand is the profile; *input: what -i gave (profile_operand.h). */
int nm_viewer_open_operand(struct nm_viewer *viewer, const struct nm_command *self,
			   struct nm_operands *operands, const char **input, enum nm_format format,
			   int64_t width);

/* Closes both. code: how showing the profile ended; if not 0, prints viewer->err. Returns the status of
 * the command: for a code that has no status of its own, `otherwise`. */
int nm_viewer_close(struct nm_viewer *viewer, int code, int otherwise);

#endif
