/* SPDX-License-Identifier: MIT
 *
 * inlined.h - chooses the frame of a chain of inlined calls that the columns function, file and line name.
 *
 * In the file they name the innermost. nm_profile_show_frame shadows the views that name code by temporary
 * views with the same columns, so that every report, annotation and export names the chosen frame without
 * knowing of it; inner_function, inner_file and inner_line then have the innermost, and
 * victim_inner_function, ... that of a victim.
 *
 * In the same way they leave out what is not of a region that the program names, or of one within it, or not of a
 * phase of the run.
 */
#ifndef NM_PROFILE_INLINED_H
#define NM_PROFILE_INLINED_H

#include "reader.h"

enum nm_shown_frame {
	NM_SHOW_USER,      /* the nearest frame of the user's code, or, with call chains, its call */
	NM_SHOW_INNERMOST, /* as stored */
	NM_SHOW_ALL        /* the innermost line, and the whole chain instead of the function */
};

/* Call before other statements; later calls change nothing. 0 or a code. */
int nm_profile_show_frame(struct nm_profile *profile, enum nm_shown_frame frames, struct nm_error *err);

/* What is shown of a run; NULL: all. */
struct nm_shown_part {
	const char *region;
	const char *phase; /* its name, or the letter that a timeline draws it with */
};

/* The same of a part of the run. NM_EINVAL: there is none of that name. */
int nm_profile_show_part(struct nm_profile *profile, const struct nm_shown_part *part,
			 enum nm_shown_frame frames, struct nm_error *err);

#endif
