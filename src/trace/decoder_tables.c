/* SPDX-License-Identifier: MIT
 *
 * decoder_tables.c - reads the tables of a chunk into the form that its decoder runs through
 * (decoder_priv.h).
 *
 * Everything that decoder.c takes for granted is checked here: each column has the bytes for as many
 * executions as its paths may have, no index points beyond its values, and the number of words is that in the
 * chunk's header. Every count is bounded by the bytes that describe the things counted, before memory is
 * allocated for them.
 */
#include <string.h>

#include "decoder_priv.h"
#include "nearmiss/wire.h"
#include "varint.h"

struct reading {
	const uint8_t *at, *end;
	int broken; /* it ended too early */
};

static uint64_t get_number(struct reading *r)
{
	uint64_t n = 0;

	if (!nm_varint_get(&r->at, r->end, &n))
		r->broken = 1;
	return n;
}

/* How many things follow, each of at least one byte. */
static size_t get_count(struct reading *r)
{
	uint64_t n = get_number(r);

	if (n > (size_t)(r->end - r->at))
		r->broken = 1;
	return r->broken ? 0 : (size_t)n;
}

/* ---- paths ---- */

/* The block of the next path, made if it is new. */
static int get_block(struct nm_chunk_decoder *d, struct reading *r, uint32_t *id, size_t *ret_block)
{
	uint64_t block = get_number(r);

	if (block == d->blocks.count) {
		*id += (uint32_t)trace_unzigzag(get_number(r));
		if (nm_vec_push(&d->blocks, (struct block){.id = *id}))
			return NM_ENOMEM;
	}
	if (r->broken || block >= d->blocks.count)
		return NM_EFORMAT;
	*ret_block = (size_t)block;
	return 0;
}

/* words: how many the chunk still has. */
static int get_path(struct nm_chunk_decoder *d, struct reading *r, uint32_t *id, uint64_t *words)
{
	struct path p = {0};
	struct step s = {.path = (uint32_t)d->paths.count};
	uint64_t count;
	size_t block;
	int status = get_block(d, r, id, &block);

	if (status)
		return status;
	count = get_number(r);
	p.left = get_number(r);
	s.traits = count & 1 ? NM_SLOT_ANCHOR : NM_SLOT_SPARE;
	count >>= 1;
	if (r->broken || count > NM_MAX_ADDRESSES || !p.left || p.left > *words / (count + 1))
		return NM_EFORMAT;
	*words -= p.left * (count + 1);
	p.header = nm_wire_header(NM_WIRE_BLOCK, d->blocks.at[block].id, 0);
	s.count = (uint16_t)count;
	if (s.count > d->blocks.at[block].count)
		d->blocks.at[block].count = s.count;
	return nm_vec_push(&d->paths, p) || nm_vec_push(&d->steps, s) ||
		       nm_vec_push(&d->block_of, (uint32_t)block)
		   ? NM_ENOMEM
		   : 0;
}

static int get_paths(struct nm_chunk_decoder *d, struct reading *r, uint64_t words, uint64_t steps)
{
	size_t paths = get_count(r);
	uint64_t blocks = 0;
	uint32_t id = 0;
	int status = nm_vec_push(&d->paths, (struct path){0}) || nm_vec_push(&d->steps, (struct step){0}) ||
			     nm_vec_push(&d->block_of, 0)
			 ? NM_ENOMEM
			 : 0;

	for (size_t i = 0; i < paths && !status; i++) {
		status = get_path(d, r, &id, &words);
		blocks += status ? 0 : d->paths.at[i + 1].left;
	}
	if (status || words || blocks > steps) /* the rest of the steps are records */
		return status ? status : NM_EFORMAT;
	d->paths.at[0].left = steps - blocks;
	return 0;
}

/* ---- flow ---- */

static int get_list(struct nm_chunk_decoder *d, struct reading *r, size_t from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t to = from + trace_unzigzag(get_number(r));

		if (r->broken || to >= d->paths.count)
			return NM_EFORMAT;
		if (nm_vec_push(&d->successors, (struct step){.path = (uint32_t)to}))
			return NM_ENOMEM;
	}
	return 0;
}

static int get_successors(struct nm_chunk_decoder *d, struct reading *r)
{
	for (size_t i = 0; i < d->paths.count; i++) {
		struct step *s = &d->steps.at[i];
		size_t count = get_count(r);
		int status;

		if (r->broken || count > NM_MAX_RANKS)
			return NM_EFORMAT;
		s->first = (uint32_t)d->successors.count;
		s->successors = (uint8_t)count;
		status = get_list(d, r, i, count);
		if (status)
			return status;
	}
	return 0;
}

static int get_escapes(struct nm_chunk_decoder *d, struct reading *r)
{
	size_t count = get_count(r);

	for (size_t i = 0; i < count; i++) {
		uint64_t to = get_number(r);

		if (r->broken || to >= d->paths.count)
			return NM_EFORMAT;
		if (nm_vec_push(&d->escapes, (uint32_t)to))
			return NM_ENOMEM;
	}
	return r->broken ? NM_EFORMAT : 0;
}

/* ---- slots ---- */

/* Slots get numbers; until their columns are known, `last` counts their executions: first of the paths that
 * end with them, then of all that reach them. */
static int number_slots(struct nm_chunk_decoder *d, const struct reading *r)
{
	size_t count = NM_SLOT_FIRST;

	for (size_t i = 0; i < d->blocks.count; i++) {
		d->blocks.at[i].slots = (uint32_t)count;
		count += d->blocks.at[i].count;
		if (count - NM_SLOT_FIRST > (size_t)(r->end - r->at))
			return NM_EFORMAT;
	}
	if (nm_vec_reserve(&d->slots, count))
		return NM_ENOMEM;
	memset(d->slots.at, 0, count * sizeof *d->slots.at);
	d->slots.count = count;
	for (size_t i = 1; i < d->paths.count; i++) {
		struct step *s = &d->steps.at[i];

		s->slots = d->blocks.at[d->block_of.at[i]].slots;
		if (s->count)
			d->slots.at[s->slots + s->count - 1].last += d->paths.at[i].left;
	}
	for (size_t i = 0; i < d->blocks.count; i++)
		for (uint32_t k = d->blocks.at[i].count; k-- > 1;)
			d->slots.at[d->blocks.at[i].slots + k - 1].last +=
			    d->slots.at[d->blocks.at[i].slots + k].last;
	return 0;
}

static int get_values(struct nm_chunk_decoder *d, struct reading *r, size_t count)
{
	uint64_t value = 0;

	if (nm_vec_reserve(&d->values, count))
		return NM_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		value += trace_unzigzag(get_number(r));
		d->values.at[d->values.count++] = value;
	}
	return r->broken ? NM_EFORMAT : 0;
}

static int indices_fit(const uint8_t *at, uint64_t count, unsigned width, size_t values)
{
	unsigned most = 0;

	for (uint64_t i = 0; i < count && width == 1; i++)
		most = at[i] > most ? at[i] : most;
	for (uint64_t i = 0; i < count && width == 2; i++) {
		unsigned index = at[2 * i] | (unsigned)at[2 * i + 1] << 8;

		most = index > most ? index : most;
	}
	return most < values;
}

const uint64_t decoder_offsets[] = {
    0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, UINT64_MAX};

/* Where slots without a column look. */
static const uint8_t nothing[sizeof(uint64_t)];

/* The slot's values and its column, which is taken from `columns`. */
static int get_column(struct nm_chunk_decoder *d, struct slot *s, unsigned form, struct reading *r,
		      struct reading columns[NM_PARTS])
{
	int indexed = form == NM_FORM_INDEX || form == NM_FORM_INDEX2;
	struct reading *column = &columns[indexed ? NM_PART_INDICES : NM_PART_OFFSETS];
	size_t values = indexed ? get_count(r) : 1;
	uint64_t executions = s->last;
	int status;

	s->constant = d->values.count; /* until all values are there: where the slot's begin */
	s->width = (uint8_t)form_width(form);
	s->at = s->width ? column->at : nothing;
	if (r->broken || !values || (s->width && executions > (size_t)(column->end - column->at) / s->width))
		return NM_EFORMAT;
	status = get_values(d, r, values);
	if (status)
		return status;
	if (indexed) {
		s->index = (uint16_t)((1u << 8 * s->width) - 1);
		if (!indices_fit(s->at, executions, s->width, values))
			return NM_EFORMAT;
	} else if (s->width) {
		s->offset = s->width;
	}
	column->at += executions * s->width;
	return 0;
}

/* start: of the slot with an own base before this one. */
static int get_slot(struct nm_chunk_decoder *d, uint32_t at, uint32_t access, uint64_t *start,
		    struct reading *r, struct reading columns[NM_PARTS])
{
	struct slot *s = &d->slots.at[at];
	uint64_t kind = get_number(r), base = kind / NM_FORMS;
	int status;

	if (r->broken || (base >= NM_BASE_BACK && base - NM_BASE_BACK >= access))
		return NM_EFORMAT;
	if (base == NM_BASE_OWN)
		*start += trace_unzigzag(get_number(r));
	status = get_column(d, s, kind % NM_FORMS, r, columns);
	s->last = *start;
	at = base == NM_BASE_OWN      ? at
	     : base == NM_BASE_BEFORE ? NM_SLOT_BEFORE
	     : base == NM_BASE_ANCHOR ? NM_SLOT_ANCHOR
	     : base == NM_BASE_NONE   ? NM_SLOT_NONE
				      : at - 1 - (uint32_t)(base - NM_BASE_BACK);
	s->base = &d->slots.at[at].last;
	return status;
}

static int get_slots(struct nm_chunk_decoder *d, struct reading *r,
		     const struct nm_chunk_bytes parts[NM_PARTS])
{
	struct reading columns[NM_PARTS];
	uint64_t start = 0;

	for (unsigned i = 0; i < NM_PARTS; i++)
		columns[i] = (struct reading){parts[i].at, parts[i].at + parts[i].count, 0};
	for (size_t i = 0; i < d->blocks.count; i++)
		for (uint32_t k = 0; k < d->blocks.at[i].count; k++) {
			int status = get_slot(d, d->blocks.at[i].slots + k, k, &start, r, columns);

			if (status)
				return status;
		}
	for (size_t i = NM_SLOT_FIRST; i < d->slots.count; i++) {
		struct slot *s = &d->slots.at[i];

		s->values = &d->values.at[s->constant];
		if (!s->index) {
			s->constant = *s->values;
			s->values = &s->constant;
		}
	}
	return 0;
}

/* What the steps say early, once all is known. */
static void complete_steps(struct nm_chunk_decoder *d)
{
	for (size_t i = 0; i < d->blocks.count; i++) {
		struct block *b = &d->blocks.at[i];

		while (b->constant < b->count && !d->slots.at[b->slots + b->constant].width)
			b->constant++;
	}
	for (size_t i = 1; i < d->steps.count; i++)
		if (d->steps.at[i].count <= d->blocks.at[d->block_of.at[i]].constant)
			d->steps.at[i].traits |= ALL_CONSTANT;
	for (size_t i = 0; i < d->successors.count; i++)
		d->successors.at[i] = d->steps.at[d->successors.at[i].path];
}

int decoder_read_tables(struct nm_chunk_decoder *d, const struct nm_chunk_bytes parts[NM_PARTS],
			uint64_t words)
{
	const struct nm_chunk_bytes *tables = &parts[NM_PART_TABLES];
	struct reading r = {tables->at, tables->at + tables->count, 0};
	uint64_t recorded = parts[NM_PART_RECORDS].count / sizeof(uint64_t), before, anchor;
	int status;

	d->paths.count = d->steps.count = d->blocks.count = d->slots.count = 0;
	d->block_of.count = d->successors.count = d->escapes.count = d->values.count = 0;
	if (recorded > words)
		return NM_EFORMAT;
	before = get_number(&r);
	anchor = get_number(&r);
	status = get_paths(d, &r, words - recorded, parts[NM_PART_FLOW].count);
	if (!status)
		status = get_successors(d, &r);
	if (!status)
		status = get_escapes(d, &r);
	if (!status)
		status = number_slots(d, &r);
	if (!status)
		status = get_slots(d, &r, parts);
	if (status)
		return status;
	complete_steps(d);
	d->slots.at[NM_SLOT_BEFORE].last = before;
	d->slots.at[NM_SLOT_ANCHOR].last = anchor;
	return 0;
}
