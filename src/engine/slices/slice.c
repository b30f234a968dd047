/* SPDX-License-Identifier: MIT
 *
 * Names of objects may have brackets themselves ("nodes[i].next", "u (a.f90:12)"): a slice begins at the
 * first bracket from which on the rest of the text is one.
 */
#include "slice.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

/* A subscript, if there is one. 0: it is not a number. */
static int parse_bound(const char **at, int may_be_negative, int64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**at) && !(may_be_negative && **at == '-'))
		return 1;
	errno = 0;
	*number = strtoll(*at, &end, 10);
	if (end == *at || errno || llabs(*number / 2) > INT64_MAX / 4)
		return 0;
	*at = end;
	return 1;
}

/* "3", "3:7", ":7", "3:" or ":". */
static int parse_part(const char **at, int is_fortran, struct nm_slice_part *ret)
{
	const char *begin = *at;
	int64_t low = INT64_MIN, end = INT64_MAX;

	if (!parse_bound(at, is_fortran, &low))
		return 0;
	if (**at == ':') {
		begin = ++*at;
		if (!parse_bound(at, is_fortran, &end))
			return 0;
		if (*at != begin)
			end += is_fortran;
	} else if (*at == begin) {
		return 0;
	} else {
		end = low + 1;
	}
	*ret = (struct nm_slice_part){low, end};
	return 1;
}

static int parse_parts(const char **at, struct nm_slice *s)
{
	const char close = s->is_fortran ? ')' : ']';

	do {
		++*at;
		if (s->count == NM_DIMENSIONS || !parse_part(at, s->is_fortran, &s->part[s->count++]))
			return 0;
		if (**at == close) {
			++*at;
			if (s->is_fortran || **at != '[')
				return 1;
		} else if (!s->is_fortran || **at != ',') {
			return 0;
		}
	} while (1);
}

/* "@8", "@8[512][512]", "@8(100,0:9)". */
static int parse_layout(const char *at, struct nm_slice *s)
{
	char *end;

	errno = 0;
	s->element = isdigit((unsigned char)*at) ? strtoull(at, &end, 10) : 0;
	if (!s->element || s->element > UINT32_MAX || errno)
		return 0;
	if (*end)
		s->shape = nm_array_shape_parse(end - 1); /* the parser wants a type before it */
	return !*end || s->shape.dimensions;
}

/* The slice whose subscripts begin at `at`: 1, or 0 if there is none. */
static int parse_from(const char *text, const char *at, struct nm_slice *s, const char **ret_field,
		      size_t *ret_length)
{
	*s = (struct nm_slice){.is_fortran = *at == '('};
	*ret_field = NULL;
	*ret_length = 0;
	if (at == text || !parse_parts(&at, s))
		return 0;
	if (*at == '.' || *at == '%') {
		*ret_field = ++at;
		*ret_length = strcspn(at, "@");
		at += *ret_length;
		if (!*ret_length)
			return 0;
	}
	return !*at || (*at == '@' && parse_layout(at + 1, s));
}

int nm_slice_parse(struct nm_slice *ret, const char *text, struct nm_error *err)
{
	const char *at = text, *field = NULL;
	size_t length = 0;

	do {
		at += strcspn(at, "[(");
		if (!*at)
			return 0;
	} while (!parse_from(text, at++, ret, &field, &length));
	for (unsigned d = 0; d < ret->count; d++)
		if (ret->part[d].low >= ret->part[d].end)
			return nm_fail(err, NM_EINVAL, "subscript %u of \"%s\" selects nothing%s", d + 1,
				       text, ret->is_fortran ? "" : ": FROM:TO does not include TO");
	ret->name = strndup(text, (size_t)(at - 1 - text));
	ret->field = field ? strndup(field, length) : NULL;
	if (ret->name && (ret->field || !field))
		return 1;
	nm_slice_done(ret);
	return nm_fail_memory(err);
}

void nm_slice_done(struct nm_slice *s)
{
	free(s->name);
	free(s->field);
	*s = (struct nm_slice){0};
}

/* ---- objects ---- */

/* Whether a field is the one that a slice names, or in it: "place" holds "place.x" and "place[].x". */
static int is_in_field(const char *name, const char *field)
{
	const size_t n = strlen(field);

	return !strncmp(name, field, n) && (!name[n] || strchr(".[", name[n]));
}

static int has_field(const struct nm_type *structure, const char *field)
{
	for (uint32_t i = 0; i < structure->field_count; i++)
		if (is_in_field(structure->fields[i].name, field))
			return 1;
	return 0;
}

/* The dimensions of an object: those of the layout, else of its type, else one. */
static struct nm_array_shape shape_of(const struct nm_slice *s, const struct nm_slice_object *o)
{
	struct nm_array_shape shape = s->element ? s->shape : nm_array_shape_parse(o->type);

	if (!shape.dimensions) {
		shape.dimensions = 1;
		shape.first_is_fastest = s->is_fortran;
		shape.dimension[0].low = s->is_fortran;
		shape.dimension[0].count = INT64_MAX;
	}
	return shape;
}

static uint64_t element_of(const struct nm_slice *s, const struct nm_slice_object *o,
			   const struct nm_array_shape *shape)
{
	if (s->element)
		return s->element;
	if (o->bytes && shape->elements)
		return o->bytes / (uint64_t)shape->elements;
	return o->structure ? o->structure->bytes : 0;
}

/* Puts the subscripts of the slice into the dimension. 0: the array has none of these. */
static int fit_part(const struct nm_slice_part *part, int64_t low, int64_t count, int64_t *ret_low,
		    int64_t *ret_end)
{
	*ret_low = part->low == INT64_MIN ? 0 : part->low - low;
	*ret_end = part->end == INT64_MAX ? count : part->end - low;
	return *ret_low >= 0 && *ret_end <= count && *ret_low < *ret_end;
}

enum nm_slice_fit nm_slice_fit(const struct nm_slice *s, const struct nm_slice_object *o,
			       struct nm_slice_place *ret)
{
	static const struct nm_slice_part all = {INT64_MIN, INT64_MAX};
	const struct nm_array_shape shape = shape_of(s, o);
	struct nm_slice_place place = {.element = element_of(s, o, &shape), .count = shape.dimensions};
	uint64_t step = 1;

	if (o->bytes && !s->element && !shape.elements)
		return o->type ? NM_SLICE_NO_ARRAY : NM_SLICE_NO_TYPE;
	if (!place.element)
		return NM_SLICE_NO_TYPE;
	if (s->count > shape.dimensions || (s->is_fortran && s->count < shape.dimensions))
		return NM_SLICE_DIMENSIONS;
	if (s->field && (!o->structure || !has_field(o->structure, s->field)))
		return NM_SLICE_NO_FIELD;
	place.structure = o->structure;
	place.field = s->field;
	for (unsigned d = shape.dimensions; d-- > 0;) {
		const unsigned from = shape.first_is_fastest ? shape.dimensions - 1 - d : d;

		place.dimension[d].count = (uint64_t)shape.dimension[from].count;
		place.dimension[d].step = step;
		step *= place.dimension[d].count;
		if (!fit_part(from < s->count ? &s->part[from] : &all, shape.dimension[from].low,
			      shape.dimension[from].count, &place.dimension[d].low, &place.dimension[d].end))
			return NM_SLICE_OUTSIDE;
	}
	*ret = place;
	return NM_SLICE_FITS;
}

/* ---- bytes ---- */

/* Whether bytes [low, end) of a structure are in the field of the slice. */
static int holds_bytes(const struct nm_slice_place *p, uint64_t low, uint64_t end)
{
	if (!p->field)
		return 1;
	for (; low < end; low++) {
		const uint32_t field = nm_type_field(p->structure, low % p->structure->bytes);

		if (field != NM_NO_FIELD && is_in_field(p->structure->fields[field].name, p->field))
			return 1;
	}
	return 0;
}

static int holds_element(const struct nm_slice_place *p, uint64_t element)
{
	for (unsigned d = 0; d < p->count; d++) {
		const uint64_t i = element / p->dimension[d].step;
		const int64_t subscript = (int64_t)(d ? i % p->dimension[d].count : i);

		if (subscript < p->dimension[d].low || subscript >= p->dimension[d].end)
			return 0;
	}
	return 1;
}

int nm_slice_holds(const struct nm_slice_place *p, uint64_t position, uint64_t bytes)
{
	const uint64_t end = position + bytes;

	assert(bytes && p->element);
	for (uint64_t e = position / p->element; e * p->element < end; e++) {
		const uint64_t begin = e * p->element;
		const uint64_t low = position > begin ? position - begin : 0;

		if (holds_element(p, e) &&
		    holds_bytes(p, low, end - begin < p->element ? end - begin : p->element))
			return 1;
	}
	return 0;
}
