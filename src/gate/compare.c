/* SPDX-License-Identifier: MIT
 *
 * compare.c - loads the counts of all profiles at one level, and matches each with the one before.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gate_priv.h"
#include "match.h"

static int same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

int nm_comparison_fits(const struct nm_comparison *c, const struct nm_budget *budget)
{
	return same_text(c->level, budget->level) && same_text(c->program, budget->program) &&
	       c->has_fields == (budget->field != NULL);
}

/* The fault is the budget's: says where it stands. */
static int blame_budget(const struct nm_gate_request *request, const struct nm_budget *budget,
			struct nm_error *err)
{
	char text[sizeof err->text];

	if (err->code != NM_EINVAL)
		return (int)err->code;
	memcpy(text, err->text, sizeof text);
	return nm_fail(err, NM_EINVAL, "%s:%d: %s", request->budgets->path, budget->line, text);
}

int nm_comparison_load(struct nm_comparison *c, const struct nm_gate_request *request,
		       const struct nm_budget *budget, struct nm_strings *pool, struct nm_error *err)
{
	const struct nm_diff_request diff = {.level = budget->level, .process = budget->program};
	const char has[NM_DIFF_KEYS] = {[NM_DIFF_FIELD] = budget->field != NULL};
	int64_t unique = 0;
	int status = 0;

	assert(budget);
	*c = (struct nm_comparison){.level = budget->level,
				    .program = budget->program,
				    .has_fields = budget->field != NULL,
				    .sides = calloc(request->count, sizeof *c->sides),
				    .texts = calloc(request->count, sizeof *c->texts),
				    .count = request->count};
	if (!c->sides || !c->texts)
		return nm_fail_memory(err);
	for (unsigned i = 0; i < c->count && !status; i++) {
		c->sides[i].path = request->inputs[i].path;
		c->sides[i].profile = request->inputs[i].profile;
		status = nm_diff_side_load(&c->sides[i], &diff, has, pool, err);
		if (!status && i) {
			const struct nm_diff_matched from = {&c->sides[i - 1], &c->texts[i - 1]},
						     to = {&c->sides[i], &c->texts[i]};

			status = nm_diff_match(&from, &to, pool, &unique, err);
		}
	}
	return status ? blame_budget(request, budget, err) : 0;
}

void nm_comparison_done(struct nm_comparison *c)
{
	for (unsigned i = 0; i < c->count; i++) {
		if (c->sides)
			nm_diff_side_done(&c->sides[i]);
		if (c->texts)
			nm_diff_texts_done(&c->texts[i]);
	}
	free(c->sides);
	free(c->texts);
}
