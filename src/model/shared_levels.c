/* SPDX-License-Identifier: MIT
 *
 * shared_levels.c - levels that machines have in common are simulated once: a sweep of second levels behind one
 * first level costs one first level.
 *
 * With the default rules a level never learns of those behind it (fast_chain.h). So what it does follows from the
 * program's references and from the levels before it, and two machines that begin with the same levels do the
 * same in them, to the last miss. The later machine has no units of its own for these levels: `same` names the
 * earlier machine's. The misses of the last of them go to the next level of each machine (`sibling`), one machine
 * after another, each in the order of the references.
 *
 * What is not shared: levels with other rules, of several cores, or of machines with lines of different sizes;
 * and levels behind which the program's references enter too, as those would come in another order.
 */
#include <string.h>

#include "hierarchy_priv.h"

/* The levels of a machine, in order. */
struct levels {
	unsigned at[NM_MAX_LEVELS], count;
};

static struct levels levels_of(const struct nm_machine *m, unsigned first)
{
	struct levels of = {.count = 0};

	for (unsigned i = first; i < m->count; i++)
		if (nm_machine_same(m->levels[first].name, m->levels[i].name))
			of.at[of.count++] = i;
	return of;
}

/* Whether all levels form chains, and the two sides never part once they have met. */
static int can_share(const struct nm_machine *m, const struct levels *levels)
{
	int met = 0;

	for (unsigned i = 0; i < levels->count; i++) {
		const struct nm_level_spec *l = &m->levels[levels->at[i]];

		if (!nm_level_has_default_rules(l) || l->ways >= NM_HIGHLY_ASSOCIATIVE || l->line > 64 ||
		    l->line != m->levels[levels->at[0]].line || (met && l->side != NM_SIDE_UNIFIED))
			return 0;
		met |= l->side == NM_SIDE_UNIFIED;
	}
	return 1;
}

static int is_same(const struct nm_level_spec *s, const struct nm_level_spec *l)
{
	return s->sets == l->sets && s->ways == l->ways && s->line == l->line && s->side == l->side;
}

/* How many levels, from the first on, two machines have in common. */
static unsigned in_common(const struct nm_machine *m, const struct levels *l, const struct levels *b)
{
	unsigned n = 0;

	while (n < l->count && n < b->count && is_same(&m->levels[l->at[n]], &m->levels[b->at[n]]))
		n++;
	return n;
}

/* Whether the program's references enter a machine in its first n levels only. */
static int enters_within(const struct nm_hierarchy *h, const struct nm_machine *m,
			 const struct levels *levels, unsigned n)
{
	for (; n < levels->count; n++)
		if (nm_machine_first(m, levels->at[n], NM_SIDE_DATA) ||
		    (!h->data_only && nm_machine_first(m, levels->at[n], NM_SIDE_INSTRUCTION)))
			return 0;
	return 1;
}

void share_levels(struct nm_hierarchy *h, const struct nm_machine *m)
{
	struct levels machines[NM_MAX_LEVELS];
	unsigned count = 0;

	for (unsigned i = 0; i < m->count && m->cores <= 1; i++) {
		struct levels *mine = &machines[count];
		unsigned most = 0, with = 0;

		*mine = levels_of(m, i);
		if (!nm_machine_begins(m, i) || !can_share(m, mine))
			continue;
		for (unsigned k = 0; k < count; k++) {
			const unsigned n = in_common(m, mine, &machines[k]);

			with = n > most ? k : with;
			most = n > most ? n : most;
		}
		for (unsigned k = 0; k < most && enters_within(h, m, mine, most); k++)
			h->same[mine->at[k]] = h->same[machines[with].at[k]];
		count++;
	}
}
