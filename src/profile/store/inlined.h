/* SPDX-License-Identifier: MIT
 *
 * inlined.h - which frame of an inlined chain of calls the columns function, file and line name.
 *
 * In the profile they name the innermost. nm_profile_show_frame shadows the views that name code by temporary
 * ones of the same columns, so that every report, annotation and export names the chosen frame without a word
 * about it; the innermost is then in the columns inner_function, inner_file and inner_line.
 */
#ifndef NM_PROFILE_INLINED_H
#define NM_PROFILE_INLINED_H

#include "reader.h"

enum nm_shown_frame {
	NM_SHOW_USER, /* the nearest of the user's code; of code that a library runs for the user, the user's call,
			      * as far as the profile has call chains */
	NM_SHOW_INNERMOST, /* as stored */
	NM_SHOW_ALL        /* the innermost line, and the whole chain in the place of the function */
};

/* Before other statements; the first choice stays. A profile of an earlier version knows the innermost frames
 * only. 0 or a code. */
int nm_profile_show_frame(struct nm_profile *profile, enum nm_shown_frame frames, struct nm_error *err);

#endif
