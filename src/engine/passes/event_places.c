/* SPDX-License-Identifier: MIT
 *
 * event_places.c - see event_places.h.
 */
#include "event_places.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "slice.h"
#include "workers.h"

enum { LISTS = 512, LONGEST = 4096 };
_Static_assert(LISTS > NM_BATCHES_IN_FLIGHT + 1, "no list is written to before it was read");

/* What the slice is of an object. */
struct part {
	enum { UNSEEN, NOTHING, PLACE, EVERYTHING } how;
	struct nm_slice_place place;
};

struct nm_event_places {
	const struct nm_event_query *query;
	struct nm_event_filter *events;
	uint64_t written, read; /* batches */
	uint64_t references;    /* of those written */
	struct nm_vec(struct nm_logged_event) lists[LISTS];
	struct nm_vec(struct part) parts; /* by object */
	struct nm_elements elements;
	uint64_t line_bytes[NM_MAX_LEVELS];
	enum nm_slice_fit fit;
	int failed; /* memory ran out */
};

int nm_event_places_new(struct nm_event_places **ret_places, const struct nm_event_query *query,
			struct nm_event_filter *events, const struct nm_machine *machine)
{
	struct nm_event_places *f = calloc(1, sizeof *f);

	if (!f)
		return NM_ENOMEM;
	f->query = query;
	f->events = events;
	for (unsigned i = 0; i < machine->count; i++)
		f->line_bytes[i] = nm_level_unit(&machine->levels[i]);
	*ret_places = f;
	return 0;
}

void nm_event_places_free(struct nm_event_places *f)
{
	if (!f)
		return;
	for (unsigned i = 0; i < LISTS; i++)
		nm_vec_free(&f->lists[i]);
	nm_vec_free(&f->parts);
	nm_elements_done(&f->elements);
	free(f);
}

/* ---- simulation thread ---- */

/* Without a slice the log decides here, so that what it does not keep is looked up nowhere. */
static void keep(void *self, const struct nm_event *e)
{
	struct nm_event_places *f = self;

	if (nm_event_filter_wants(f->events, e) &&
	    (f->query->slice || nm_event_filter_admits(f->events, e)) &&
	    nm_vec_push(&f->lists[f->written % LISTS], (struct nm_logged_event){.at = *e}))
		f->failed = 1;
}

void nm_event_places_attach(struct nm_event_places *f, struct nm_hierarchy *hierarchy)
{
	nm_hierarchy_watch(hierarchy, &(struct nm_monitor){.event = keep, .self = f});
}

/* Events are in the order of their references. */
static void date(struct nm_event_places *f, const struct nm_pass_batch *b)
{
	const size_t list = f->written % LISTS;
	size_t dated = 0;

	for (size_t i = 0; i < b->count; i++) {
		f->references += b->refs[i].weight;
		for (; dated < f->lists[list].count; dated++) {
			if (f->lists[list].at[dated].at.reference > f->references)
				break;
			f->lists[list].at[dated].instructions = b->clock[i];
		}
	}
}

void nm_event_places_batch(struct nm_event_places *f, const struct nm_pass_batch *b)
{
	if (b->clock)
		date(f, b);
	f->written++;
}

/* ---- decoding thread ---- */

/* Objects of one name are told apart at the end, when names get " #2" or " (file:line)": those who ask for
 * the latter mean the former now. */
static int is_called(const char *asked, const char *name)
{
	const size_t n = strlen(name);

	return !strcmp(asked, name) || !fnmatch(asked, name, 0) ||
	       (!strncmp(asked, name, n) && (!strncmp(asked + n, " #", 2) || !strncmp(asked + n, " (", 2)));
}

/* The structure that an object is made of, or NULL. A recording asks for the largest block of a bucket. */
static const struct nm_type *structure_of(struct nm_event_places *f, uint32_t object,
					  const struct nm_element *at)
{
	const struct nm_object *o = nm_program_object(f->elements.program, object);

	return at->type || o->kind != NM_OBJECT_HEAP
		   ? at->type
		   : nm_program_allocated_type(f->elements.program, object, o->largest);
}

/* The part of an object that the slice is, when the object is first seen, at an address. */
static int find_part(struct nm_event_places *f, uint32_t object, const struct nm_element *at, struct part *to)
{
	const struct nm_slice *slice = f->query->slice;
	const struct nm_object *o = nm_program_object(f->elements.program, object);
	const int in_blocks = o->kind == NM_OBJECT_HEAP || (o->kind == NM_OBJECT_NAMED && !o->type);
	const struct nm_slice_object known = {.type = in_blocks ? NULL : o->type,
					      .structure = structure_of(f, object, at),
					      .bytes = in_blocks ? 0 : at->end - at->low};
	enum nm_slice_fit fit;
	const char *name;

	if (nm_program_object_name(f->elements.program, object, &name))
		return NM_ENOMEM;
	to->how = NOTHING;
	if (is_called(f->query->object, name)) {
		to->how = EVERYTHING;
		f->fit = NM_SLICE_FITS;
	} else if (is_called(slice->name, name)) {
		fit = nm_slice_fit(slice, &known, &to->place);
		if (fit == NM_SLICE_FITS)
			to->how = PLACE;
		if (f->fit != NM_SLICE_FITS)
			f->fit = fit;
	}
	return 0;
}

/* Where in a variable or block of the object the event is: a line may begin before it. */
static int locate(struct nm_event_places *f, uint32_t object, uint64_t address, uint64_t end,
		  struct nm_element *ret)
{
	for (uint64_t a = address; a < end; a = (a | 15) + 1)
		if (nm_elements_place(&f->elements, object, a, ret))
			return 1;
	return 0;
}

static int is_in_slice(const struct part *part, const struct nm_element *at, uint64_t address, uint64_t end)
{
	const uint64_t low = address > at->low ? address : at->low;

	if (part->how != PLACE)
		return part->how == EVERYTHING;
	end = end < at->end ? end : at->end;
	return low < end && nm_slice_holds(&part->place, low - at->low, end - low);
}

static const char *field_at(struct nm_event_places *f, uint32_t object, uint64_t address)
{
	struct nm_element at;
	uint32_t field;

	if (!nm_elements_find(&f->elements, object, address, &at))
		return NULL;
	field = nm_type_field(at.type, address - at.start);
	return field == NM_NO_FIELD ? NULL : at.type->fields[field].name;
}

/* 1 if an event lies in the slice that is asked for, 0 if not, or NM_ENOMEM. */
static int lies_in_slice(struct nm_event_places *f, uint32_t object, uint64_t address, uint64_t end)
{
	struct nm_element at;

	if (nm_vec_reach(&f->parts, (size_t)object + 1))
		return NM_ENOMEM;
	if (f->parts.at[object].how == NOTHING || !locate(f, object, address, end, &at))
		return 0;
	if (f->parts.at[object].how == UNSEEN && find_part(f, object, &at, &f->parts.at[object]))
		return NM_ENOMEM;
	return is_in_slice(&f->parts.at[object], &at, address, end);
}

static int look_at(struct nm_event_places *f, struct nm_logged_event *event)
{
	const struct nm_event *e = &event->at;
	const int logs = f->query->mode == NM_QUERY_LOG;
	const uint32_t key = nm_event_leaves(e->kind) ? e->victim : e->attr;
	const uint32_t attr = nm_program_attr_of_key(f->elements.program, key);
	const uint32_t object = nm_program_attribution(f->elements.program, attr)->object;
	const int untouched = nm_event_of_untouched_line(e->kind);
	const uint64_t address = untouched ? e->line : e->address;
	const uint64_t end = address + (untouched ? f->line_bytes[e->level] : e->bytes);
	int in = 1;

	if (!nm_elements_owner(&f->elements, object))
		return NM_ENOMEM;
	if (f->query->slice)
		in = lies_in_slice(f, object, address, end);
	if (in <= 0 || (logs && f->query->slice && !nm_event_filter_admits(f->events, e)))
		return in < 0 ? in : 0;
	if (!logs) {
		nm_event_filter_keep(f->events, e);
		return 0;
	}
	event->field = untouched ? NULL : field_at(f, object, address);
	return nm_event_filter_log(f->events, event);
}

static int look_at_batch(struct nm_event_places *f)
{
	const size_t list = f->read++ % LISTS;
	int status = f->failed ? NM_ENOMEM : 0;

	for (size_t i = 0; i < f->lists[list].count && !status; i++)
		status = look_at(f, &f->lists[list].at[i]);
	f->lists[list].count = 0;
	return status;
}

void nm_event_places_released(struct nm_event_places *f, uint64_t address, uint64_t size, uint32_t object)
{
	nm_elements_released(&f->elements, address, size, object);
}

int nm_event_places_retired(struct nm_event_places *f, struct nm_engine *program)
{
	f->elements.program = program;
	return look_at_batch(f);
}

int nm_event_places_ending(struct nm_event_places *f, struct nm_engine *program)
{
	int status = 0;

	f->elements.program = program;
	while (f->read < f->written && !status)
		status = look_at_batch(f);
	return status;
}

enum nm_slice_fit nm_event_places_fit(const struct nm_event_places *f) { return f->fit; }
