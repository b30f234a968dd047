/* SPDX-License-Identifier: MIT */
#include "site_facts.h"

#include "contexts.h"
#include "space.h"

static struct nm_site_facts *facts_of(struct nm_site_table *t, uint64_t pc)
{
	uint64_t known = nm_map_get(&t->index, pc, 0);

	if (!known) {
		if (nm_vec_push(&t->list, (struct nm_site_facts){0}) ||
		    nm_map_put(&t->index, pc, t->list.count))
			return NULL;
		known = t->list.count;
	}
	return &t->list.at[known - 1];
}

static void add_fact(struct nm_site_facts *facts, const struct nm_object *o, uint64_t caller)
{
	unsigned i = 0;

	facts->varies |= o->bytes != o->blocks * o->largest || (facts->size && facts->size != o->largest);
	facts->size = o->largest;
	facts->largest = o->largest > facts->largest ? o->largest : facts->largest;
	while (i < facts->callers && facts->caller[i] != caller)
		i++;
	if (i == facts->callers && i < NM_SITE_CALLERS)
		facts->caller[facts->callers++] = caller;
}

static void make_facts(struct nm_site_table *t, const struct nm_space *space,
		       const struct nm_contexts *contexts)
{
	nm_site_table_done(t);
	t->objects = space->objects.count;
	for (size_t i = 0; i < t->objects; i++) {
		const struct nm_object *o = &space->objects.at[i];
		const struct nm_context *c = &contexts->list.at[o->context];

		for (uint32_t k = 0; o->kind == NM_OBJECT_HEAP && o->blocks && k < c->count; k++) {
			struct nm_site_facts *facts = facts_of(t, c->pcs[k]);

			if (!facts)
				return;
			add_fact(facts, o, k + 1 < c->count ? c->pcs[k + 1] : 0);
		}
	}
}

struct nm_site_facts nm_site_facts_of(struct nm_site_table *t, const struct nm_space *space,
				      const struct nm_contexts *contexts, uint64_t pc)
{
	uint64_t known;

	if (t->objects != space->objects.count)
		make_facts(t, space, contexts);
	known = nm_map_get(&t->index, pc, 0);
	return known ? t->list.at[known - 1] : (struct nm_site_facts){0};
}

void nm_site_table_done(struct nm_site_table *t)
{
	nm_map_done(&t->index);
	nm_vec_free(&t->list);
	*t = (struct nm_site_table){0};
}
