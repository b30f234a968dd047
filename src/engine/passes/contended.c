/* SPDX-License-Identifier: MIT */
#include "contended.h"

#include <stdlib.h>

#include "coherence.h"
#include "elements.h"
#include "one_machine.h"
#include "protocol.h"
#include "workers.h"

_Static_assert(NM_TOUCH_LISTS > NM_BATCHES_IN_FLIGHT + 1, "no list is written to before it was read");

/* The data that a touch is of. */
struct place {
	const struct nm_type *type;
	uint32_t field;     /* NM_NO_FIELD: none */
	int64_t position;   /* in the variable or block; -1: unknown */
	uint64_t alignment; /* that the source requests for the data; 0: none */
};

/* The touches of a model, and their places. */
struct touches {
	const struct nm_contention *contention;
	uint64_t read;                      /* batches whose touches have been located */
	struct nm_vec(struct place) places; /* by touch */
};

/* The touches of one machine. */
struct machine {
	const struct nm_coherence *coherence;
	unsigned level; /* number of its first level */
	struct touches real, latent;
};

struct nm_contended {
	struct machine machines[NM_MAX_LEVELS];
	unsigned count;
	struct nm_elements elements;
	const struct nm_one_machine *one_machine; /* whose processes make the touches; or NULL */
};

int nm_contended_new(struct nm_contended **ret_contended, const struct nm_hierarchy *hierarchy,
		     unsigned levels, const struct nm_one_machine *one_machine)
{
	struct nm_contended *c = NULL;

	for (unsigned i = 0; i < levels; i++) {
		const struct nm_coherence *coherence = nm_hierarchy_coherence(hierarchy, i);

		if (!coherence)
			continue;
		if (!c && !(c = calloc(1, sizeof *c)))
			return NM_ENOMEM;
		c->one_machine = one_machine;
		c->machines[c->count++] = (struct machine){.coherence = coherence,
							   .level = i,
							   .real.contention = coherence->contention,
							   .latent.contention = coherence->latent->touches};
	}
	*ret_contended = c;
	return 0;
}

void nm_contended_free(struct nm_contended *c)
{
	for (unsigned i = 0; c && i < c->count; i++) {
		nm_vec_free(&c->machines[i].real.places);
		nm_vec_free(&c->machines[i].latent.places);
	}
	if (c)
		nm_elements_done(&c->elements);
	free(c);
}

void nm_contended_released(struct nm_contended *c, uint64_t address, uint64_t size, uint32_t object)
{
	if (c)
		nm_elements_released(&c->elements, address, size, object);
}

/* The position of an address in a variable or block of unknown type. */
static int64_t position_of(struct nm_elements *e, uint32_t object, uint64_t address)
{
	struct nm_space_variable variable;
	struct nm_gone_block block;

	if (nm_elements_block(e, address, object, &block))
		return (int64_t)(address - block.address);
	if (nm_program_variable(e->program, address, &variable) &&
	    address - variable.low < variable.end - variable.low)
		return (int64_t)(address - variable.low);
	return -1;
}

/* The alignment that the source requests, if the data have it: malloc may misplace an aligned type. */
static uint64_t alignment_of(struct nm_elements *e, uint64_t address, const struct nm_element *at)
{
	const uint64_t of_type =
	    at && at->type->alignment && at->start % at->type->alignment == 0 ? at->type->alignment : 0;
	struct nm_space_variable v;

	return nm_program_variable(e->program, address, &v) && v.alignment > of_type ? v.alignment : of_type;
}

static int find_place(const struct nm_member_touch *touch, struct place *ret_place)
{
	struct nm_elements *elements = touch->elements;
	uint32_t attr = nm_program_attr_of_key(elements->program, touch->key);
	uint32_t object = nm_program_attribution(elements->program, attr)->object;
	struct nm_element at;

	if (!nm_elements_owner(elements, object))
		return NM_ENOMEM;
	if (nm_elements_find(elements, object, touch->address, &at)) {
		ret_place->type = at.type;
		ret_place->field = nm_type_field(at.type, touch->address - at.start);
		ret_place->position = (int64_t)(touch->address - at.low);
		ret_place->alignment = alignment_of(elements, touch->address, &at);
	} else {
		ret_place->position = position_of(elements, object, touch->address);
		ret_place->alignment = alignment_of(elements, touch->address, NULL);
	}
	return 0;
}

static int look_at(struct nm_contended *c, struct touches *t, const struct nm_touch_place *touch)
{
	struct nm_member_touch of = {&c->elements, touch->attr, touch->address};
	struct place place = {.field = NM_NO_FIELD, .position = -1};

	if ((!c->one_machine || nm_one_machine_touch(c->one_machine, &of)) && find_place(&of, &place))
		return NM_ENOMEM;
	if (nm_vec_reach(&t->places, (size_t)touch->touch + 1))
		return NM_ENOMEM;
	t->places.at[touch->touch] = place;
	return 0;
}

/* Locates the new touches of the next batch that has been simulated. */
static int look_at_batch(struct nm_contended *c, struct touches *t)
{
	const size_t list = ++t->read % NM_TOUCH_LISTS;
	int status = 0;

	for (size_t i = 0; i < t->contention->fresh[list].count && !status; i++)
		status = look_at(c, t, &t->contention->fresh[list].at[i]);
	return status;
}

static int look_at_rest(struct nm_contended *c, struct touches *t)
{
	int status = 0;

	while (t->read < t->contention->batches && !status)
		status = look_at_batch(c, t);
	return status;
}

int nm_contended_retired(struct nm_contended *c, struct nm_engine *program)
{
	int status = 0;

	if (!c)
		return 0;
	c->elements.program = program;
	for (unsigned i = 0; i < c->count && !status; i++) {
		status = look_at_batch(c, &c->machines[i].real);
		if (!status)
			status = look_at_batch(c, &c->machines[i].latent);
	}
	return status;
}

int nm_contended_ending(struct nm_contended *c, struct nm_engine *program)
{
	int status = 0;

	if (!c)
		return 0;
	c->elements.program = program;
	for (unsigned i = 0; i < c->count && !status; i++) {
		status = look_at_rest(c, &c->machines[i].real);
		if (!status)
			status = look_at_rest(c, &c->machines[i].latent);
	}
	return status;
}

/* ---- the result ----------------------------------------------------------------------------------- */

static unsigned first_data_level(const struct nm_machine *machine, unsigned first)
{
	unsigned i = first;

	while (i + 1 < machine->count && !nm_machine_first(machine, i, NM_SIDE_DATA))
		i++;
	return nm_machine_same(machine->levels[i].name, machine->levels[first].name) ? i : first;
}

static int take_touches(const struct touches *from, struct nm_result_touch **ret_list, size_t *ret_count)
{
	const size_t count = from->contention->touches.count;
	struct nm_result_touch *list = calloc(count + 1, sizeof *list);

	if (!list)
		return NM_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct place *place = i < from->places.count ? &from->places.at[i] : NULL;

		list[i].touch = from->contention->touches.at[i];
		list[i].position = place ? place->position : -1;
		if (!place || !place->type)
			continue;
		list[i].type = place->type->name;
		list[i].structure = place->type->bytes;
		if (place->field != NM_NO_FIELD) {
			list[i].field = place->type->fields[place->field].name;
			list[i].field_offset = place->type->fields[place->field].offset;
		}
	}
	*ret_list = list;
	*ret_count = count;
	return 0;
}

static int take_pairs(const struct machine *m, struct nm_result_coherence *to)
{
	const struct nm_contention *from = m->coherence->contention;

	to->pairs = calloc(from->pairs.count + 1, sizeof *to->pairs);
	if (!to->pairs)
		return NM_ENOMEM;
	to->pair_count = from->pairs.count;
	for (size_t i = 0; i < to->pair_count; i++)
		to->pairs[i] = from->pairs.at[i];
	return 0;
}

/* Whether the data can begin `bytes` earlier: aligned data move by multiples of their alignment only. */
static int may_begin_earlier(const struct touches *t, uint32_t touch, uint64_t bytes)
{
	const uint64_t alignment = touch < t->places.count ? t->places.at[touch].alignment : 0;

	return !alignment || bytes % alignment == 0;
}

/* Takes the latent false sharing that another placement of the data can cause. */
static int take_latent(const struct machine *m, struct nm_result_coherence *to)
{
	const struct nm_latent *from = m->coherence->latent;

	to->latent = calloc(from->pairs.count + 1, sizeof *to->latent);
	if (!to->latent)
		return NM_ENOMEM;
	for (size_t i = 0; i < from->pairs.count; i++) {
		const struct nm_latent_pair *p = &from->pairs.at[i];
		const uint64_t earlier = nm_latent_earlier(p->layout, to->block);

		if (may_begin_earlier(&m->latent, p->touch, earlier) &&
		    may_begin_earlier(&m->latent, p->other, earlier))
			to->latent[to->latent_count++] = *p;
	}
	return 0;
}

int nm_contended_take(const struct nm_contended *c, struct nm_result *result)
{
	int status = 0;

	if (!c)
		return 0;
	result->coherence = calloc(c->count, sizeof *result->coherence);
	if (!result->coherence)
		return NM_ENOMEM;
	for (unsigned i = 0; i < c->count && !status; i++) {
		const struct nm_coherence *x = c->machines[i].coherence;
		struct nm_result_coherence *to = &result->coherence[result->coherence_count++];

		to->level = first_data_level(&result->machine, c->machines[i].level);
		to->block = x->traffic.block;
		to->traffic = x->traffic;
		to->left_out = x->contention->left_out;
		status = take_touches(&c->machines[i].real, &to->touches, &to->touch_count);
		if (!status)
			status = take_pairs(&c->machines[i], to);
		if (!status)
			status = take_touches(&c->machines[i].latent, &to->latent_touches,
					      &to->latent_touch_count);
		if (!status)
			status = take_latent(&c->machines[i], to);
	}
	return status;
}

void nm_contended_merge(const struct nm_pass_merge *merge, struct nm_result *result)
{
	for (size_t i = 0; i < result->coherence_count; i++) {
		const struct nm_result_coherence *c = &result->coherence[i];

		for (size_t k = 0; k < c->touch_count; k++)
			c->touches[k].touch.attr = merge->keys[c->touches[k].touch.attr];
		for (size_t k = 0; k < c->latent_touch_count; k++)
			c->latent_touches[k].touch.attr = merge->keys[c->latent_touches[k].touch.attr];
		for (size_t k = 0; k < c->pair_count; k++) {
			c->pairs[k].by = merge->keys[c->pairs[k].by];
			c->pairs[k].of = merge->keys[c->pairs[k].of];
		}
	}
}
