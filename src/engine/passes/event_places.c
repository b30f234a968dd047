/* SPDX-License-Identifier: MIT */
#include "event_places.h"

#include <assert.h>
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

void nm_event_places_free(struct nm_event_places *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < LISTS; i++)
		nm_vec_free(&p->lists[i]);
	nm_vec_free(&p->parts);
	nm_elements_done(&p->elements);
	free(p);
}

/* ---- simulation thread ---- */

/* Without a slice the log decides here, so that what it does not keep is looked up nowhere. */
static void keep_event(void *self, const struct nm_event *e)
{
	struct nm_event_places *p = self;

	if (nm_event_filter_wants(p->events, e) &&
	    (p->query->slice || nm_event_filter_admits(p->events, e)) &&
	    nm_vec_push(&p->lists[p->written % LISTS], (struct nm_logged_event){.at = *e}))
		p->failed = 1;
}

void nm_event_places_attach(struct nm_event_places *p, struct nm_hierarchy *hierarchy)
{
	nm_hierarchy_watch(hierarchy, &(struct nm_monitor){.event = keep_event, .self = p});
}

/* Events are in the order of their references. */
static void date_events(struct nm_event_places *p, const struct nm_pass_batch *b)
{
	const size_t list = p->written % LISTS;
	size_t dated = 0;

	for (size_t i = 0; i < b->count; i++) {
		p->references += b->refs[i].weight;
		for (; dated < p->lists[list].count; dated++) {
			if (p->lists[list].at[dated].at.reference > p->references)
				break;
			p->lists[list].at[dated].instructions = b->clock[i];
		}
	}
}

void nm_event_places_batch(struct nm_event_places *p, const struct nm_pass_batch *b)
{
	if (b->clock)
		date_events(p, b);
	p->written++;
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
static const struct nm_type *structure_of(struct nm_event_places *p, uint32_t object,
					  const struct nm_element *at)
{
	const struct nm_object *o = nm_program_object(p->elements.program, object);

	return at->type || o->kind != NM_OBJECT_HEAP
		   ? at->type
		   : nm_program_allocated_type(p->elements.program, object, o->largest);
}

/* The part of an object that the slice is, when the object is first seen, at an address. */
static int find_part(struct nm_event_places *p, uint32_t object, const struct nm_element *at, struct part *to)
{
	const struct nm_slice *slice = p->query->slice;
	const struct nm_object *o = nm_program_object(p->elements.program, object);
	const int in_blocks = o->kind == NM_OBJECT_HEAP || (o->kind == NM_OBJECT_NAMED && !o->type);
	const struct nm_slice_object known = {.type = in_blocks ? NULL : o->type,
					      .structure = structure_of(p, object, at),
					      .bytes = in_blocks ? 0 : at->end - at->low};
	enum nm_slice_fit fit;
	const char *name;

	if (nm_program_object_name(p->elements.program, object, &name))
		return NM_ENOMEM;
	to->how = NOTHING;
	if (is_called(p->query->object, name)) {
		to->how = EVERYTHING;
		p->fit = NM_SLICE_FITS;
	} else if (is_called(slice->name, name)) {
		fit = nm_slice_fit(slice, &known, &to->place);
		if (fit == NM_SLICE_FITS)
			to->how = PLACE;
		if (p->fit != NM_SLICE_FITS)
			p->fit = fit;
	}
	return 0;
}

/* Where in a variable or block of the object the event is: a line may begin before it. */
static int locate_event(struct nm_event_places *p, uint32_t object, uint64_t address, uint64_t end,
			struct nm_element *ret)
{
	for (uint64_t a = address; a < end; a = (a | 15) + 1)
		if (nm_elements_place(&p->elements, object, a, ret))
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

static const char *field_at(struct nm_event_places *p, uint32_t object, uint64_t address)
{
	struct nm_element at;
	uint32_t field;

	if (!nm_elements_find(&p->elements, object, address, &at))
		return NULL;
	field = nm_type_field(at.type, address - at.start);
	return field == NM_NO_FIELD ? NULL : at.type->fields[field].name;
}

/* 1 if an event lies in the slice that is asked for, 0 if not, or NM_ENOMEM. */
static int lies_in_slice(struct nm_event_places *p, uint32_t object, uint64_t address, uint64_t end)
{
	struct nm_element at;

	if (nm_vec_reach(&p->parts, (size_t)object + 1))
		return NM_ENOMEM;
	if (p->parts.at[object].how == NOTHING || !locate_event(p, object, address, end, &at))
		return 0;
	if (p->parts.at[object].how == UNSEEN && find_part(p, object, &at, &p->parts.at[object]))
		return NM_ENOMEM;
	return is_in_slice(&p->parts.at[object], &at, address, end);
}

static int look_at(struct nm_event_places *p, struct nm_logged_event *event)
{
	const struct nm_event *e = &event->at;
	const int logs = p->query->mode == NM_QUERY_LOG;
	const uint32_t key = nm_event_leaves(e->kind) ? e->victim : e->attr;
	const uint32_t attr = nm_program_attr_of_key(p->elements.program, key);
	const uint32_t object = nm_program_attribution(p->elements.program, attr)->object;
	const int untouched = nm_event_of_untouched_line(e->kind);
	const uint64_t address = untouched ? e->line : e->address;
	const uint64_t end = address + (untouched ? p->line_bytes[e->level] : e->bytes);
	int in = 1;

	if (!nm_elements_owner(&p->elements, object))
		return NM_ENOMEM;
	if (p->query->slice)
		in = lies_in_slice(p, object, address, end);
	if (in <= 0 || (logs && p->query->slice && !nm_event_filter_admits(p->events, e)))
		return in < 0 ? in : 0;
	if (!logs) {
		nm_event_filter_keep(p->events, e);
		return 0;
	}
	event->field = untouched ? NULL : field_at(p, object, address);
	return nm_event_filter_log(p->events, event);
}

static int look_at_batch(struct nm_event_places *p)
{
	const size_t list = p->read++ % LISTS;
	int status = p->failed ? NM_ENOMEM : 0;

	for (size_t i = 0; i < p->lists[list].count && !status; i++)
		status = look_at(p, &p->lists[list].at[i]);
	p->lists[list].count = 0;
	return status;
}

void nm_event_places_released(struct nm_event_places *p, uint64_t address, uint64_t size, uint32_t object)
{
	nm_elements_released(&p->elements, address, size, object);
}

int nm_event_places_retired(struct nm_event_places *p, struct nm_engine *program)
{
	p->elements.program = program;
	return look_at_batch(p);
}

int nm_event_places_ending(struct nm_event_places *p, struct nm_engine *program)
{
	int status = 0;

	p->elements.program = program;
	while (p->read < p->written && !status)
		status = look_at_batch(p);
	return status;
}

enum nm_slice_fit nm_event_places_fit(const struct nm_event_places *f) { return f->fit; }
