/* SPDX-License-Identifier: MIT
 *
 * fields_affinity.c - which fields are used together, of the sights of pass_fields.c.
 *
 * Bursts are many as a program begins, when it fills its structures, and few later. So a visit stands for as many as
 * the references of the line of code that began it are for each sampled. What is done once an element, as to construct
 * it, says nothing of what is used together: a line of code that began no more visits to an object than 3 per 2
 * elements, or loaded no more residencies, is left out, if others pass over structures of this type more often.
 */
#include <stdlib.h>
#include <string.h>

#include "fields.h"

struct affinity {
	const struct nm_fields *fields;
	const struct nm_pass_merge *merge;
	const uint32_t *first;
	struct nm_result *result;
	uint64_t *sampled;    /* by attribution: references */
	uint64_t *elements;   /* by field of the result, at the first one of its structure: ever allocated */
	struct nm_map passes; /* of a structure and a line of code -> sights */
	struct nm_map
	    reused; /* types, and kinds of sights, with a line of code that passes over them more than once */
	uint8_t *touched;    /* by field of the result: used in any residency or visit */
	struct nm_map pairs; /* of two fields -> index in the result */
	size_t pair_room;
};

/* ---- sights by line of code ---- */

/* Visits that a sight stands for, or residencies. */
static uint64_t weigh(const struct affinity *a, const struct nm_fields_sight *s)
{
	const uint64_t sampled = a->sampled[s->attr], all = nm_program_references(a->merge->program, s->attr);

	if (s->there || all <= sampled || !sampled)
		return s->count;
	return (uint64_t)((unsigned __int128)s->count * all / sampled);
}

/* Sights of which there is one each time that a line of code passes over a structure. */
static uint64_t pass_key(const struct affinity *a, const struct nm_fields_sight *s)
{
	const uint32_t site = nm_program_attribution(a->merge->program, s->attr)->site;
	const uint64_t part = s->there ? 1 + (uint64_t)__builtin_ctzll(s->there) : 0;

	return nm_mix64(nm_mix64((uint64_t)a->first[s->object] << 32 | site) + part);
}

static uint64_t type_key(const struct affinity *a, const struct nm_fields_sight *s)
{
	return (uintptr_t)a->fields->elements.owners.at[s->object].type + !s->there;
}

static int is_repeated(const struct affinity *a, const struct nm_fields_sight *s)
{
	return 2 * nm_map_get(&a->passes, pass_key(a, s), 0) > 3 * a->elements[a->first[s->object]];
}

static void count_elements(struct affinity *a)
{
	for (uint32_t i = 0; i < a->fields->elements.owners.count; i++)
		if (a->first[i] != NM_NO_FIELD)
			a->elements[a->first[i]] += nm_program_object(a->merge->program, i)->bytes /
						    a->result->fields[a->first[i]].structure;
}

static int count_passes(struct affinity *a)
{
	int status = 0;

	for (size_t i = 0; i < a->fields->uses.count; i++)
		a->sampled[a->fields->uses.at[i].attr] += a->fields->uses.at[i].references;
	for (size_t i = 0; i < a->fields->sights.count && !status; i++) {
		const struct nm_fields_sight *s = &a->fields->sights.at[i];
		const uint64_t key = pass_key(a, s);

		status = nm_map_put(&a->passes, key, nm_map_get(&a->passes, key, 0) + weigh(a, s));
		if (!status && is_repeated(a, s))
			status = nm_map_put(&a->reused, type_key(a, s), 1);
	}
	return status;
}

/* Whether it tells what is used together. */
static int counts(const struct affinity *a, const struct nm_fields_sight *s)
{
	return !nm_map_get(&a->reused, type_key(a, s), 0) || is_repeated(a, s);
}

/* ---- pairs ---- */

static struct nm_result_affinity *pair_of(struct affinity *m, uint32_t field, uint32_t other)
{
	struct nm_result *r = m->result;
	uint64_t key = (uint64_t)field << 32 | other, at = nm_map_get(&m->pairs, key, UINT64_MAX);

	if (at != UINT64_MAX)
		return &r->affinities[at];
	if (r->affinity_count == m->pair_room) {
		size_t room = m->pair_room ? 2 * m->pair_room : 64;
		struct nm_result_affinity *bigger = realloc(r->affinities, room * sizeof *bigger);

		if (!bigger)
			return NULL;
		r->affinities = bigger;
		m->pair_room = room;
	}
	if (nm_map_put(&m->pairs, key, r->affinity_count))
		return NULL;
	r->affinities[r->affinity_count] = (struct nm_result_affinity){.field = field, .other = other};
	return &r->affinities[r->affinity_count++];
}

static int merge_pair(struct affinity *m, const struct nm_fields_sight *s, uint64_t count, uint32_t i,
		      uint32_t j)
{
	uint64_t both = 1ull << i | 1ull << j;
	struct nm_result_affinity *a;

	if (!m->touched[m->first[s->object] + i] || !m->touched[m->first[s->object] + j])
		return 0;
	if (!(s->used & both) || (s->there && (s->there & both) != both))
		return 0;
	a = pair_of(m, m->first[s->object] + i, m->first[s->object] + j);
	if (!a)
		return NM_ENOMEM;
	if (!s->there) {
		a->visits += count;
		a->both += (s->used & both) == both ? count : 0;
	} else if ((s->used & both) == both) {
		a->together += count;
	} else {
		a->apart += count;
	}
	return 0;
}

static int merge_sight(struct affinity *m, const struct nm_fields_sight *s)
{
	const uint64_t count = weigh(m, s);
	const int is_counted = counts(m, s);
	uint32_t n = m->fields->elements.owners.at[s->object].type->field_count;
	int status = 0;

	n = n < NM_FIELDS_TOGETHER ? n : NM_FIELDS_TOGETHER;
	for (uint32_t i = 0; i < n && !status; i++) {
		struct nm_result_field *field = &m->result->fields[m->first[s->object] + i];

		if (s->there >> i & 1) {
			field->residencies += s->count;
			field->used += s->used >> i & 1 ? s->count : 0;
		}
		for (uint32_t j = i + 1; is_counted && j < n && !status; j++)
			status = merge_pair(m, s, count, i, j);
	}
	return status;
}

static int merge_sights(struct affinity *m)
{
	int status = 0;

	for (size_t i = 0; i < m->fields->sights.count; i++)
		for (uint64_t used = m->fields->sights.at[i].used; used; used &= used - 1)
			m->touched[m->first[m->fields->sights.at[i].object] +
				   (uint32_t)__builtin_ctzll(used)] = 1;
	for (size_t i = 0; i < m->fields->sights.count && !status; i++)
		status = merge_sight(m, &m->fields->sights.at[i]);
	return status;
}

int nm_fields_merge_affinity(const struct nm_fields *fields, const struct nm_pass_merge *merge,
			     const uint32_t *first, struct nm_result *result)
{
	const size_t n = result->field_count + 1;
	struct affinity a = {.fields = fields,
			     .merge = merge,
			     .first = first,
			     .result = result,
			     .sampled =
				 calloc(nm_program_attributions(merge->program) + 1, sizeof *a.sampled),
			     .elements = calloc(n, sizeof *a.elements),
			     .touched = calloc(n, 1)};
	int status = a.sampled && a.elements && a.touched ? 0 : NM_ENOMEM;

	if (!status) {
		count_elements(&a);
		status = count_passes(&a);
	}
	if (!status)
		status = merge_sights(&a);
	nm_map_done(&a.pairs);
	nm_map_done(&a.passes);
	free(a.touched);
	nm_map_done(&a.reused);
	free(a.elements);
	free(a.sampled);
	return status;
}
