/* SPDX-License-Identifier: MIT
 *
 * calls.h - the calls of a profile that was recorded with call chains, and the misses that each led to.
 *
 *     nm_calls_load(&calls, of, level, &err);
 *     for (call = nm_calls_of_row(&calls, facts, row); call != NM_NO_CALL; call = calls.at.at[call].by)
 *             ...from the function that has the row's line outwards...
 *     nm_calls_done(&calls);
 */
#ifndef NM_VIEW_CALLS_H
#define NM_VIEW_CALLS_H

#include "vector.h"
#include "view_json.h"

#define NM_NO_CALL UINT32_MAX

struct nm_recorded_call {
	uint32_t by;                 /* the call of the caller; NM_NO_CALL: it is the first of a thread */
	uint32_t depth;              /* how many calls led to it */
	nm_key function, file, line; /* which is called; where */
	int by_library;              /* no code of the user makes it */
};

/* {0} is empty. A caller stands before what it calls. */
struct nm_recorded_calls {
	struct nm_vec(struct nm_recorded_call) at;
	struct nm_map first; /* process -> its first call, and contexts are numbered from there */
};

/* NM_EINVAL: the profile has no call chains; NM_EFORMAT: it is damaged. Call nm_calls_done in any case. */
int nm_calls_load(struct nm_recorded_calls *calls, const struct nm_view_profile *of, const char *level,
		  struct nm_error *err);
void nm_calls_done(struct nm_recorded_calls *calls);

/* The call of the function that has the line of a row of NM_FACTS_CHAINS: of what a library does for a line of the
 * user, the user's. NM_NO_CALL: none is known. */
uint32_t nm_calls_of_row(const struct nm_recorded_calls *calls, const struct nm_cube *facts, size_t row);

#endif
