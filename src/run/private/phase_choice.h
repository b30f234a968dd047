/* SPDX-License-Identifier: MIT
 *
 * phase_choice.h - which phase of each process counts.
 */
#ifndef NM_PHASE_CHOICE_H
#define NM_PHASE_CHOICE_H

#include "session.h"

/* Only the phase of this name, or that timelines draw with this letter, is to count; in processes without it nothing
 * is. plans: of the session (nm_session_phases). NM_EINVAL: no process has it. */
int nm_phase_choose(struct nm_session *session, const char *phase, struct nm_phase_plans *plans,
		    struct nm_error *err);

#endif
