/* SPDX-License-Identifier: MIT */
#include "visits.h"

#include <stdlib.h>

#include "elements.h"
#include "engine_priv.h"
#include "visit_log.h"

struct nm_visits {
	struct nm_engine *engine;
	const struct nm_coalesced_table *coalesced;
	struct nm_visit_log *log;
	struct nm_elements elements;
	struct nm_element recent;        /* an element of the structure, found last */
	struct nm_vec(uint32_t) objects; /* by key: 1 + its object; 0: not known yet */
};

int nm_visits_new(struct nm_visits **ret, struct nm_engine *e, const struct nm_coalesced_table *coalesced)
{
	if (!e->options.visits)
		return 0;
	*ret = calloc(1, sizeof **ret);
	if (!*ret)
		return NM_ENOMEM;
	(*ret)->engine = e;
	(*ret)->coalesced = coalesced;
	(*ret)->log = e->options.visits;
	return 0;
}

void nm_visits_free(struct nm_visits *v)
{
	if (!v)
		return;
	nm_elements_done(&v->elements);
	nm_vec_free(&v->objects);
	free(v);
}

/* The element of the structure around an address of an object: 1 if there is one. */
static int find(struct nm_visits *v, uint32_t object, uint64_t address)
{
	struct nm_element at;

	if (v->recent.type && v->recent.object == object && address - v->recent.start < v->recent.type->bytes)
		return 1;
	v->elements.program = v->engine;
	if (!nm_elements_find(&v->elements, object, address, &at) ||
	    !nm_is_type_named(at.type->name, v->log->structure) ||
	    (v->log->type.name && v->log->type.bytes != at.type->bytes))
		return 0;
	v->recent = at;
	return 1;
}

static int add_one(struct nm_visits *v, const struct nm_ref *r)
{
	uint32_t *object;

	if (r->kind == NM_REF_FETCH || !r->weight)
		return 0;
	if (nm_vec_reach(&v->objects, (size_t)r->attr + 1))
		return NM_ENOMEM;
	object = &v->objects.at[r->attr];
	if (!*object)
		*object =
		    1 + nm_program_attribution(v->engine, nm_program_attr_of_key(v->engine, r->attr))->object;
	if (!nm_elements_owner(&v->elements, *object - 1))
		return NM_ENOMEM;
	if (!find(v, *object - 1, r->address))
		return nm_visit_log_add_other(v->log, r->address, r->attr);
	if (nm_visit_log_set_type(v->log, v->recent.type))
		return NM_ENOMEM;
	return nm_visit_log_add(v->log, v->recent.low,
				(uint32_t)((v->recent.start - v->recent.low) / v->recent.type->bytes),
				r->address - v->recent.start, r->size, r->attr);
}

int nm_visits_add(struct nm_visits *v, const struct nm_ref *refs, size_t count)
{
	int status = 0;

	for (size_t i = 0; v && i < count && !status; i++)
		if (nm_ref_is_coalesced(&refs[i])) {
			struct nm_ref single[NM_COALESCED_MAX];
			const unsigned n = nm_pass_expand(v->coalesced, &refs[i], single);

			for (unsigned k = 0; k < n && !status; k++)
				status = add_one(v, &single[k]);
		} else {
			status = add_one(v, &refs[i]);
		}
	return status;
}

void nm_visits_released(struct nm_visits *v, uint64_t address, uint64_t size, uint32_t object)
{
	if (!v)
		return;
	nm_elements_released(&v->elements, address, size, object);
	v->recent.type = NULL;
}

int nm_visits_end(struct nm_visits *v) { return v ? nm_visit_log_end(v->log) : 0; }
