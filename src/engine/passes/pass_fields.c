/* SPDX-License-Identifier: MIT */
#include "fields.h"

#include <assert.h>
#include <stdlib.h>

#include "bursts.h"
#include "workers.h"

enum {
	SEEN = 64,          /* sampled accesses to a bucket before its type is looked up */
	ALL_BATCHES = 1024, /* every sampled batch is looked at until so many have passed; then */
	OF_BURST = 2        /* so many of each burst */
};

_Static_assert(NM_SAMPLE_LISTS > NM_BATCHES_IN_FLIGHT + 1, "no list is written to before it was read");

static void fields_release(void *self)
{
	struct nm_fields *f = self;

	nm_elements_done(&f->elements);
	nm_map_done(&f->use_of);
	nm_map_done(&f->sight_of);
	nm_map_done(&f->line_of);
	nm_vec_free(&f->uses);
	nm_vec_free(&f->sights);
	nm_vec_free(&f->lines);
	free(f);
}

static int fields_make(void **ret_self, const struct nm_pass_setup *setup, struct nm_error *err)
{
	const struct nm_machine *machine = setup->options->machine;
	struct nm_fields *f = calloc(1, sizeof *f);

	if (!f)
		return nm_fail_memory(err);
	f->sampler = setup->sampler;
	f->elements.patience = SEEN;
	f->chosen = UINT64_MAX;
	f->line_bytes = 64;
	for (unsigned i = machine->count; i-- > 0;)
		if (machine->levels[i].side != NM_SIDE_INSTRUCTION)
			f->line_bytes = machine->levels[i].line;
	for (unsigned i = 0; i < machine->count; i++) {
		unsigned depth = nm_machine_depth(machine, i);

		if (depth < NM_FIELD_DEPTHS &&
		    nm_machine_same(machine->levels[0].name, machine->levels[i].name))
			f->at_depth[depth] |= 1u << i;
	}
	*ret_self = f;
	return 0;
}

/* ---- uses ---- */

static struct nm_fields_use *use_of(struct nm_fields *f, uint32_t attr, uint32_t field)
{
	uint64_t key = (uint64_t)attr << 32 | field, at = nm_map_get(&f->use_of, key, UINT64_MAX);

	if (at == UINT64_MAX) {
		at = f->uses.count;
		if (nm_vec_push(&f->uses, (struct nm_fields_use){.attr = attr, .field = field}) ||
		    nm_map_put(&f->use_of, key, at))
			return NULL;
	}
	return &f->uses.at[at];
}

/* ---- sights ---- */

static int is_same(const struct nm_fields_sight *s, const struct nm_fields_sight *other)
{
	return s->object == other->object && s->attr == other->attr && s->there == other->there &&
	       s->used == other->used;
}

static int add_sight(struct nm_fields *f, const struct nm_fields_sight *s)
{
	uint64_t key = nm_mix64(s->used ^ nm_mix64(s->there ^ nm_mix64((uint64_t)s->attr << 32 | s->object))),
		 at;

	while ((at = nm_map_get(&f->sight_of, key, UINT64_MAX)) != UINT64_MAX &&
	       !is_same(&f->sights.at[at], s))
		key++;
	if (at == UINT64_MAX) {
		at = f->sights.count;
		if (nm_vec_push(&f->sights,
				(struct nm_fields_sight){s->object, s->attr, s->there, s->used, 0}) ||
		    nm_map_put(&f->sight_of, key, at))
			return NM_ENOMEM;
	}
	f->sights.at[at].count += s->count;
	return 0;
}

static int end_visit(struct nm_fields *f, struct nm_fields_visit *v)
{
	const struct nm_fields_sight s = {v->object, v->attr, 0, v->used, 1};
	int status = v->used ? add_sight(f, &s) : 0;

	*v = (struct nm_fields_visit){0};
	return status;
}

static int end_visits(struct nm_fields *f)
{
	int status = 0;

	for (size_t i = 0; i < sizeof f->visits / sizeof *f->visits && !status; i++)
		status = end_visit(f, &f->visits[i]);
	return status;
}

static int visit_field(struct nm_fields *f, uint32_t attr, const struct nm_element *at, uint32_t field)
{
	struct nm_fields_visit *v = &f->visits[nm_mix64(at->start) >> (64 - NM_VISITS_BITS)];

	if (field >= NM_FIELDS_TOGETHER)
		return 0;
	if (v->element != at->start || v->object != at->object) {
		if (end_visit(f, v))
			return NM_ENOMEM;
		v->element = at->start;
		v->object = at->object;
		v->attr = attr;
	}
	v->used |= 1ull << field;
	return 0;
}

/* ---- accesses ---- */

/* An access to a field of an element; the first one that it touches. */
static int take_field(struct nm_fields *f, const struct nm_ref *r, const struct nm_element *at,
		      uint32_t field, int is_first)
{
	struct nm_fields_use *use = use_of(f, r->attr, field);

	if (!use)
		return NM_ENOMEM;
	use->references += (unsigned)is_first;
	use->accesses[r->kind == NM_REF_WRITE]++;
	return visit_field(f, r->attr, at, field);
}

/* The bytes of the field from an offset in the structure on: of an array, those of its element there. */
static uint64_t bytes_left(const struct nm_field *field, uint64_t offset)
{
	const uint64_t in = offset - field->offset;

	return field->bytes - (field->count > 1 && field->stride ? in % field->stride : in);
}

/* All fields that an access touches: one of a vector touches several, perhaps of several elements. */
static int take_fields(struct nm_fields *f, const struct nm_ref *r, struct nm_element *at)
{
	const uint64_t end = r->address + r->size < at->end ? r->address + r->size : at->end;
	uint32_t last = NM_NO_FIELD;
	int is_first = 1;

	for (uint64_t a = r->address; a < end;) {
		uint32_t field = nm_type_field(at->type, a - at->start);

		if (field == NM_NO_FIELD) { /* padding */
			a++;
		} else {
			if (field != last && take_field(f, r, at, field, is_first))
				return NM_ENOMEM;
			is_first = 0;
			last = field;
			a += bytes_left(&at->type->fields[field], a - at->start);
		}
		if (a >= at->start + at->type->bytes) {
			at->start += at->type->bytes;
			last = NM_NO_FIELD;
		}
	}
	return 0;
}

static int take_sample(struct nm_fields *f, const struct nm_pass_sample *sample, size_t i)
{
	const struct nm_ref *r = &sample->refs[i];
	uint32_t object = nm_program_attribution(f->elements.program, r->attr)->object;
	const struct nm_element_owner *o = nm_elements_owner(&f->elements, object);
	uint64_t frame_end = 0;
	struct nm_element at;

	if (!o)
		return NM_ENOMEM;
	if (o->typed && !o->type)
		return 0;
	if (nm_program_own_frame(f->elements.program, sample->access[i], sample->frame_end[i], r->address,
				 object))
		frame_end = sample->frame_end[i];
	if (!nm_elements_find_in(&f->elements, object, r->address, frame_end, &at))
		return 0;
	return take_fields(f, r, &at);
}

static int fields_sample(void *self, struct nm_engine *program, const struct nm_pass_sample *sample)
{
	struct nm_fields *f = self;

	f->elements.program = program;
	if (f->burst != sample->burst) {
		if (end_visits(f))
			return NM_ENOMEM;
		f->burst = sample->burst;
	}
	if (sample->batch >= ALL_BATCHES && sample->left <= NM_BURST - OF_BURST)
		return 0;
	for (size_t i = sample->from; i < sample->end; i++)
		if (sample->access[i] != NM_NO_ACCESS && take_sample(f, sample, i))
			return NM_ENOMEM;
	return 0;
}

/* ---- samples ---- */

static int read_miss(struct nm_fields *f, uint32_t attr, const struct nm_line_sample *s)
{
	uint32_t object = nm_program_attribution(f->elements.program, attr)->object, field;
	struct nm_fields_use *use;
	struct nm_element at;

	if (!nm_elements_owner(&f->elements, object))
		return NM_ENOMEM;
	if (!nm_elements_find(&f->elements, object, s->address, &at) ||
	    (field = nm_type_field(at.type, s->address - at.start)) == NM_NO_FIELD)
		return 0;
	use = use_of(f, attr, field);
	if (!use)
		return NM_ENOMEM;
	use->misses[0][s->write] += s->weight;
	for (unsigned depth = 1; depth < NM_FIELD_DEPTHS; depth++)
		use->misses[depth][s->write] += s->loaded & f->at_depth[depth] ? s->weight : 0;
	return 0;
}

/* Whether bytes [low, end) of memory, of a line at `line`, are marked in its mask; -1: none is in the
 * line. */
static int is_used(const struct nm_line_sample *s, uint64_t line_end, uint64_t low, uint64_t end)
{
	if (end <= s->address || low >= line_end)
		return -1;
	low = low > s->address ? low - s->address : 0;
	end = (end < line_end ? end : line_end) - s->address;
	for (; low < end; low++)
		if (s->mask[low / 64] >> low % 64 & 1)
			return 1;
	return 0;
}

/* Of one element: its fields in the line, and those that were used. */
static int read_element(struct nm_fields *f, const struct nm_element *at, uint32_t attr,
			const struct nm_line_sample *s)
{
	uint64_t line_end = s->address + f->line_bytes, there = 0, used = 0;

	for (uint32_t i = 0; i < at->type->field_count && i < NM_FIELDS_TOGETHER; i++) {
		const struct nm_field *field = &at->type->fields[i];
		uint64_t low = at->start + field->offset;

		if (field->count > 1 && low < s->address)
			low += (s->address - low) / field->stride * field->stride;
		for (uint64_t last = at->start + field->offset + field->stride * (field->count - 1);
		     low <= last && low < line_end; low += field->stride) {
			int how = is_used(s, line_end, low, low + field->bytes);

			there |= (uint64_t)(how >= 0) << i;
			used |= (uint64_t)(how > 0) << i;
			if (!field->stride)
				break;
		}
	}
	return used ? add_sight(f, &(struct nm_fields_sight){at->object, attr, there, used, s->weight}) : 0;
}

/* All elements of the variable or block in the line. */
static int read_elements(struct nm_fields *f, struct nm_element *at, uint32_t attr,
			 const struct nm_line_sample *s)
{
	uint64_t line_end = s->address + f->line_bytes, end = at->end < line_end ? at->end : line_end;
	uint64_t first = at->low > s->address ? at->low : s->address;

	at->start = at->low + (first - at->low) / at->type->bytes * at->type->bytes;
	for (; at->start < end; at->start += at->type->bytes)
		if (read_element(f, at, attr, s))
			return NM_ENOMEM;
	return 0;
}

/* A line may hold several small blocks. */
static int read_blocks(struct nm_fields *f, uint32_t attr, const struct nm_line_sample *s)
{
	const uint32_t object = nm_program_attribution(f->elements.program, attr)->object;
	uint64_t line_end = s->address + f->line_bytes;
	struct nm_gone_block block;
	struct nm_element at;

	for (uint64_t a = s->address; a < line_end; a = (a | 15) + 1) {
		struct nm_block b;
		uint32_t of = nm_program_block(f->elements.program, a, &b) ? b.object : object;

		if (!nm_elements_owner(&f->elements, of))
			return NM_ENOMEM;
		if (!nm_elements_block(&f->elements, a, of, &block))
			continue;
		if (nm_elements_find(&f->elements, of, a, &at) && read_elements(f, &at, attr, s))
			return NM_ENOMEM;
		if (block.address + block.size > a)
			a = block.address + block.size - 1;
	}
	return 0;
}

/* Of a line with several variables only that which the line was loaded for. */
static int read_residency(struct nm_fields *f, uint32_t attr, const struct nm_line_sample *s)
{
	const uint32_t object = nm_program_attribution(f->elements.program, attr)->object;
	const struct nm_element_owner *o = nm_elements_owner(&f->elements, object);
	uint64_t end = s->address + f->line_bytes, a = s->address;
	struct nm_element at;

	if (!o)
		return NM_ENOMEM;
	if (o->typed && !o->type)
		return 0;
	if (nm_program_object(f->elements.program, object)->kind == NM_OBJECT_HEAP)
		return read_blocks(f, attr, s);
	if (o->low > a && o->low < end)
		a = o->low;
	for (; a < end; a++)
		if (is_used(s, end, a, a + 1) > 0 && nm_elements_find(&f->elements, object, a, &at))
			return read_elements(f, &at, attr, s);
	return 0;
}

static int read_line(struct nm_fields *f, uint32_t object, const struct nm_line_sample *s)
{
	uint64_t line = s->address / f->line_bytes, at;
	uint64_t key = nm_mix64(line ^ (uint64_t)object << 44);
	struct nm_fields_line *l;

	if (nm_sampler_hash(line) > f->chosen)
		return 0;
	while ((at = nm_map_get(&f->line_of, key, UINT64_MAX)) != UINT64_MAX &&
	       (f->lines.at[at].line != line || f->lines.at[at].object != object))
		key++;
	if (at == UINT64_MAX) {
		at = f->lines.count;
		if (nm_vec_push(&f->lines, (struct nm_fields_line){.line = line, .object = object}) ||
		    nm_map_put(&f->line_of, key, at))
			return NM_ENOMEM;
	}
	l = &f->lines.at[at];
	l->residencies++;
	l->accesses += s->served;
	for (unsigned i = 0; i < NM_SAMPLE_WORDS; i++)
		l->bytes += (unsigned)__builtin_popcountll(s->mask[i]);
	return 0;
}

/* Fewer lines are followed from now on: forgets the others. */
static int choose_lines(struct nm_fields *f, uint64_t chosen)
{
	size_t kept = 0;

	f->chosen = chosen;
	nm_map_done(&f->line_of);
	for (size_t i = 0; i < f->lines.count; i++) {
		const struct nm_fields_line l = f->lines.at[i];
		uint64_t key = nm_mix64(l.line ^ (uint64_t)l.object << 44);

		if (nm_sampler_hash(l.line) > chosen)
			continue;
		while (nm_map_get(&f->line_of, key, UINT64_MAX) != UINT64_MAX)
			key++;
		if (nm_map_put(&f->line_of, key, kept))
			return NM_ENOMEM;
		f->lines.at[kept++] = l;
	}
	f->lines.count = kept;
	return 0;
}

static int read_batch(struct nm_fields *f, struct nm_line_samples *samples)
{
	int status = samples->chosen < f->chosen ? choose_lines(f, samples->chosen) : 0;

	for (size_t i = 0; i < samples->list.count && !status; i++) {
		const struct nm_line_sample *s = &samples->list.at[i];
		uint32_t attr = nm_program_attr_of_key(f->elements.program, s->attr);
		uint32_t object = nm_program_attribution(f->elements.program, attr)->object;

		if (!s->residency)
			status = read_miss(f, attr, s);
		else if (s->weight)
			status = read_residency(f, attr, s);
		if (!status && s->residency && s->followed)
			status = read_line(f, object, s);
	}
	samples->list.count = 0;
	return status;
}

static void fields_released(void *self, uint64_t address, uint64_t size, uint32_t object)
{
	nm_elements_released(&((struct nm_fields *)self)->elements, address, size, object);
}

/* The samples of a batch that was run a whole queue of batches ago. */
static int fields_retired(void *self, struct nm_engine *program, uint64_t batch)
{
	struct nm_fields *f = self;

	assert(batch == f->read);
	f->elements.program = program;
	f->read++;
	return read_batch(f, &f->sampler->lists[batch % NM_SAMPLE_LISTS]);
}

static int fields_ending(void *self, struct nm_engine *program)
{
	struct nm_fields *f = self;
	int status = end_visits(f);

	f->elements.program = program;
	for (; f->read < f->sampler->batches && !status; f->read++)
		status = read_batch(f, &f->sampler->lists[f->read % NM_SAMPLE_LISTS]);
	return status;
}

const struct nm_pass nm_pass_fields = {.name = "fields",
				       .make = fields_make,
				       .sample = fields_sample,
				       .released = fields_released,
				       .retired = fields_retired,
				       .ending = fields_ending,
				       .finish = nm_fields_merge,
				       .free = fields_release};
