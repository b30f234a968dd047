/* SPDX-License-Identifier: MIT */
#include "phase_choice.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search {
	const char *wanted;
	struct nm_phase_plans *plans;
	size_t process;
	int is_found;
	char *names; /* of the first process, by commas */
};

static int note_name(struct search *s, const char *name)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s", s->names ? s->names : "", s->names ? "; " : "", name) < 0)
		return NM_ENOMEM;
	free(s->names);
	s->names = longer;
	return 0;
}

static int search_phases(void *arg, const struct nm_result *result, struct nm_error *err)
{
	struct search *s = arg;
	struct nm_phase_plan *plan = &s->plans->at.at[s->process];
	int status = 0;

	assert(s->process < s->plans->at.count);
	plan->only = NM_NO_PHASE;
	for (size_t i = 0; i < result->phase_count && !status; i++) {
		char *name = nm_result_phase_name(result, i);

		if (!name || (!s->process && note_name(s, name)))
			status = nm_fail_memory(err);
		else if (!strcmp(name, s->wanted) || (s->wanted[0] == 'A' + (int)i && !s->wanted[1]))
			plan->only = (int)i;
		free(name);
	}
	s->is_found |= plan->only != NM_NO_PHASE;
	s->process++;
	return status;
}

int nm_phase_choose(struct nm_session *session, const char *phase, struct nm_phase_plans *plans,
		    struct nm_error *err)
{
	struct search s = {.wanted = phase, .plans = plans};
	int status = nm_session_each(session, search_phases, &s, err);

	if (!status && !s.is_found)
		status = nm_fail(err, NM_EINVAL, "no process has a phase \"%s\"; the first has %s", phase,
				 s.names ? s.names : "none");
	free(s.names);
	return status;
}
