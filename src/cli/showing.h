/* SPDX-License-Identifier: MIT
 *
 * showing.h - a profile that a command shows on standard output: what report, evictions, annotate and query have in
 * common.
 */
#ifndef NM_SHOWING_H
#define NM_SHOWING_H

#include "output.h"
#include "reader.h"

struct nm_showing {
	struct nm_profile *profile;
	struct nm_style style;
	struct nm_output output; /* what is shown goes to output.file */
	struct nm_error err;     /* for whoever shows */
};

/* Opens the profile, then the output; width as in nm_style_of().  0, or a status: the fault was told. */
int nm_showing_open(struct nm_showing *showing, const char *profile, enum nm_format format, int64_t width);

/* Closes both.  rc: what the showing returned; if not 0, err is told.  Returns the status of the command, which then
 * is `fault` where the code has none of its own. */
int nm_showing_close(struct nm_showing *showing, int rc, int fault);

#endif
