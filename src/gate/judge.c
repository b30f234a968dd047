/* SPDX-License-Identifier: MIT
 *
 * judge.c - judges each budget.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gate_priv.h"

/* The count that must not be exceeded for sure. */
static double limit_of(const struct nm_judgement *j)
{
	const struct nm_budget *b = j->budget;
	const double base = (double)j->base.greatest, share = base * (1 + b->allowed),
		     slack = base + b->slack;

	if (b->rule == NM_BUDGET_RELATIVE)
		return share > slack ? share : slack;
	return b->rule == NM_BUDGET_PER_ITEM ? b->allowed * b->items : b->allowed;
}

/* The program of the last profile, by its name alone. */
static const char *program_of(const struct nm_comparison *c, struct nm_strings *pool)
{
	const char *command = c->sides[c->count - 1].command, *name;
	size_t n = strcspn(command, " "), slash = n;

	if (c->program)
		return nm_gate_clean(pool, c->program);
	while (slash && command[slash - 1] != '/')
		slash--;
	name = nm_intern_n(pool, command + slash, n - slash);
	return name ? nm_gate_clean(pool, name) : NULL;
}

static int judge_budget(struct nm_judgement *j, const struct nm_comparison *c,
			const struct nm_gate_request *request, struct nm_strings *pool, struct nm_error *err)
{
	const struct nm_budget *b = j->budget;
	int status = nm_judgement_sum(j, c, request, pool, err);

	if (status)
		return status;
	j->level = nm_gate_clean(pool, c->sides[c->count - 1].selection.request.level);
	j->program = program_of(c, pool);
	j->limit = limit_of(j);
	j->outcome = (double)j->now.least <= j->limit ? NM_GATE_MET
		     : b->ignore                      ? NM_GATE_IGNORED
						      : NM_GATE_NOT_MET;
	j->has_place &= j->outcome != NM_GATE_MET;
	return !j->level || !j->program || nm_judgement_say(j, pool) ? nm_fail_memory(err) : 0;
}

int nm_gate_judge(struct nm_gate **ret_gate, const struct nm_gate_request *request, struct nm_error *err)
{
	struct nm_gate *g = calloc(1, sizeof *g);
	struct nm_comparison c = {.count = 0};
	int status = g ? 0 : nm_fail_memory(err);

	assert(request->base_count < request->count && request->count <= NM_GATE_PROFILES);
	for (size_t i = 0; !status && i < request->budgets->at.count; i++) {
		const struct nm_budget *b = &request->budgets->at.at[i];

		if (b->rule == NM_BUDGET_RELATIVE && !request->base_count) {
			status =
			    nm_fail(err, NM_EINVAL, "%s:%d: this budget is relative: name a base with --base",
				    request->budgets->path, b->line);
		} else if (!c.count || !nm_comparison_fits(&c, b)) {
			nm_comparison_done(&c);
			status = nm_comparison_load(&c, request, b, &g->pool, err);
		}
		if (!status && nm_vec_push(&g->judgements, (struct nm_judgement){.budget = b}))
			status = nm_fail_memory(err);
		if (!status)
			status = judge_budget(&g->judgements.at[i], &c, request, &g->pool, err);
	}
	nm_comparison_done(&c);
	if (status) {
		nm_gate_free(g);
		return status;
	}
	g->request = request;
	*ret_gate = g;
	return 0;
}

void nm_gate_free(struct nm_gate *g)
{
	if (!g)
		return;
	nm_vec_free(&g->judgements);
	nm_strings_done(&g->pool);
	free(g);
}

unsigned nm_gate_broken(const struct nm_gate *g)
{
	unsigned n = 0;

	assert(g);
	for (size_t i = 0; i < g->judgements.count; i++)
		n += g->judgements.at[i].outcome == NM_GATE_NOT_MET;
	return n;
}

int nm_gate_is_met(const struct nm_gate *g) { return !nm_gate_broken(g); }

const char *nm_gate_note(const struct nm_gate *g)
{
	for (size_t i = 0; i < g->judgements.count; i++)
		if (g->judgements.at[i].is_single)
			return "Counts of single recordings without --relocate were compared: a build that moves "
			       "data may change them as much";
	return "";
}
