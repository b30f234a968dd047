/* SPDX-License-Identifier: MIT
 *
 * columns.c - turns the addresses of a chunk into slots and their columns (encoder_priv.h).
 *
 * Three passes: over the executions, to see for each slot from which base its distances change least
 * (survey); over them again, to write each slot's distances one after another (measure); over the slots, to
 * choose forms (write_slot).
 *
 * The survey prices a distance by its bits if it differs from the one before, else by nothing. It looks at a
 * slot's first executions and at samples of the run: all of it would take twice as long and save hardly a
 * byte.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "encoder_priv.h"
#include "nearmiss/wire.h"

/* Bases that a slot may have, in the order of preference among equals. */
enum { BACK = 3, FIRST = BACK, ANCHOR, BEFORE, NONE, OWN, CANDIDATES };

enum { SURVEY_FIRST = 32, SURVEY_EVERY = 8, SURVEY_STEPS = 1 << 10 };

enum { MAX_VALUES = 1 << 16, MANY_VALUES = 4096, VALUE_BITS = 17 /* of the table, twice MAX_VALUES */ };

struct slot {
	uint64_t last[CANDIDATES]; /* distances */
	uint32_t cost[CANDIDATES];
	uint32_t surveyed, executions;
	uint64_t first; /* address */
	uint32_t kind;  /* enum nm_base */
};

/* Where a slot's next distance goes, and the slot whose last address it is measured from: what the second
 * walk needs. */
struct aim {
	uint64_t *to;
	size_t base;
};

struct columns {
	struct nm_vec(struct slot) slots;
	struct nm_vec(struct aim) aims;
	struct nm_vec(uint64_t) last;      /* address of each slot */
	struct nm_vec(uint64_t) distances; /* of all slots, one slot after another */
	struct nm_vec(uint64_t) values;    /* of a column, in order of appearance */
	uint64_t *known;                   /* [1 << VALUE_BITS] values, and */
	uint32_t *number;                  /* theirs, + 1 */
	uint32_t *round;                   /* the column in which an entry was made */
	uint32_t column;
	struct nm_vec(uint16_t) indices;
};

int columns_new(struct columns **ret_columns)
{
	struct columns *c = calloc(1, sizeof *c);

	*ret_columns = c;
	if (!c)
		return NM_ENOMEM;
	c->known = malloc(sizeof *c->known << VALUE_BITS);
	c->number = malloc(sizeof *c->number << VALUE_BITS);
	c->round = calloc((size_t)1 << VALUE_BITS, sizeof *c->round);
	return c->known && c->number && c->round ? 0 : NM_ENOMEM;
}

void columns_free(struct columns *c)
{
	if (!c)
		return;
	nm_vec_free(&c->slots);
	nm_vec_free(&c->aims);
	nm_vec_free(&c->last);
	nm_vec_free(&c->distances);
	nm_vec_free(&c->values);
	nm_vec_free(&c->indices);
	free(c->known);
	free(c->number);
	free(c->round);
	free(c);
}

/* ---- slots ---- */

static int make_room(struct nm_encoder *e, size_t slots)
{
	struct columns *c = e->columns;

	assert(slots >= NM_SLOT_FIRST);
	c->slots.count = c->aims.count = c->last.count = c->distances.count = 0;
	if (nm_vec_reserve(&c->slots, slots) || nm_vec_reserve(&c->aims, slots) ||
	    nm_vec_reserve(&c->last, slots) || nm_vec_reserve(&c->distances, e->addresses.count + 1))
		return NM_ENOMEM;
	c->slots.count = c->last.count = slots;
	memset(c->slots.at, 0, slots * sizeof *c->slots.at);
	return 0;
}

/* Slots get numbers, and learn how often they are executed. */
static int number_slots(struct nm_encoder *e)
{
	struct slot *s;
	uint32_t count = NM_SLOT_FIRST;

	for (size_t i = 0; i < e->blocks.count; i++) {
		e->blocks.at[i].slots = count;
		count += e->blocks.at[i].count;
	}
	if (make_room(e, count))
		return NM_ENOMEM;
	s = e->columns->slots.at;
	for (size_t i = 1; i < e->paths.count; i++) {
		struct path *p = &e->paths.at[i];

		p->slots = e->blocks.at[p->block].slots;
		if (p->count)
			s[p->slots + p->count - 1].executions += p->executions;
	}
	for (size_t i = 0; i < e->blocks.count; i++)
		for (uint32_t k = e->blocks.at[i].slots + e->blocks.at[i].count;
		     k-- > e->blocks.at[i].slots + 1;)
			s[k - 1].executions += s[k].executions;
	return 0;
}

static void start_walk(const struct nm_encoder *e)
{
	struct columns *c = e->columns;

	memset(c->last.at, 0, c->last.count * sizeof *c->last.at);
	c->last.at[NM_SLOT_BEFORE] = e->before;
	c->last.at[NM_SLOT_ANCHOR] = e->anchor;
}

static void end_step(struct columns *c, const struct path *p, uint64_t last)
{
	assert(p->count > 0);
	c->last.at[NM_SLOT_BEFORE] = last;
	c->last.at[p->anchor ? NM_SLOT_ANCHOR : NM_SLOT_SPARE] = last;
}

/* ---- survey ---- */

/* Bits of a distance, but for its sign. */
static inline uint32_t bits_of(uint64_t d)
{
	d ^= (uint64_t)((int64_t)d >> 63);
	return d ? 64 - (uint32_t)__builtin_clzll(d) : 0;
}

/* addresses: of the execution, up to this one. */
static inline void survey_access(const struct columns *c, struct slot *s, uint64_t own,
				 const uint64_t *addresses, uint32_t i)
{
	uint64_t a = addresses[i], base[CANDIDATES] = {
				       i > 0 ? addresses[i - 1] : own,
				       i > 1 ? addresses[i - 2] : own,
				       i > 2 ? addresses[i - 3] : own,
				       i > 3 ? addresses[0] : own,
				       c->last.at[NM_SLOT_ANCHOR],
				       c->last.at[NM_SLOT_BEFORE],
				       s->first,
				       own,
				   };

	if (!s->surveyed++) {
		for (unsigned k = 0; k < CANDIDATES; k++)
			s->last[k] = a - base[k];
		s->first = a;
		s->last[NONE] = 0;
		return;
	}
	for (unsigned k = 0; k < CANDIDATES; k++) {
		uint64_t distance = a - base[k];

		s->cost[k] += distance != s->last[k] ? 2 + bits_of(distance) : 0;
		s->last[k] = distance;
	}
	if (s->surveyed == 2) /* the first step of its own was from nowhere */
		s->cost[OWN] = 0;
}

static void survey_edges(struct nm_encoder *e)
{
	struct columns *c = e->columns;
	const uint64_t *a = e->addresses.at;

	start_walk(e);
	for (size_t k = 0; k < e->steps.count; k++) {
		struct path *p = &e->paths.at[e->edges.at[e->steps.at[k]].to];
		uint64_t *last = &c->last.at[p->slots];

		if (p->surveyed < SURVEY_FIRST || k / SURVEY_STEPS % SURVEY_EVERY == 0) {
			struct slot *s = &c->slots.at[p->slots];

			for (uint32_t i = 0; i < p->count; i++)
				survey_access(c, &s[i], last[i], a, i);
			p->surveyed++;
		}
		for (uint32_t i = 0; i < p->count; i++)
			last[i] = a[i];
		if (p->count)
			end_step(c, p, a[p->count - 1]);
		a += p->count;
	}
}

/* The cheapest base of the slot for access i of a block; the slot that it means. */
static uint32_t choose_base(struct slot *s, uint32_t at, uint32_t i)
{
	static const uint8_t base[CANDIDATES] = {
	    [ANCHOR] = NM_BASE_ANCHOR, [BEFORE] = NM_BASE_BEFORE, [NONE] = NM_BASE_NONE, [OWN] = NM_BASE_OWN};
	unsigned best = OWN;

	for (unsigned k = OWN; k-- > 0;) {
		int there = k < BACK ? i > k : k > FIRST || i > BACK;

		if (there && s->cost[k] <= s->cost[best])
			best = k;
	}
	s->kind = best < BACK ? NM_BASE_BACK + best : best == FIRST ? NM_BASE_BACK + i - 1 : base[best];
	return best < BACK                 ? at - 1 - best
	       : best == FIRST             ? at - i
	       : s->kind == NM_BASE_OWN    ? at
	       : s->kind == NM_BASE_ANCHOR ? NM_SLOT_ANCHOR
	       : s->kind == NM_BASE_BEFORE ? NM_SLOT_BEFORE
					   : NM_SLOT_NONE;
}

/* Bases, and where each slot's column begins. */
static void choose_bases(struct nm_encoder *e)
{
	struct columns *c = e->columns;
	uint32_t at = NM_SLOT_FIRST;
	size_t column = 0;

	for (size_t b = 0; b < e->blocks.count; b++)
		for (uint32_t i = 0; i < e->blocks.at[b].count; i++, at++) {
			struct slot *s = &c->slots.at[at];

			c->aims.at[at] = (struct aim){&c->distances.at[column], choose_base(s, at, i)};
			column += s->executions;
		}
	c->distances.count = column;
}

/* ---- distances ---- */

static void measure_columns(struct nm_encoder *e)
{
	struct columns *c = e->columns;
	const uint64_t *a = e->addresses.at;
	uint64_t *all = c->last.at;

	start_walk(e);
	for (size_t k = 0; k < e->steps.count; k++) {
		const struct path *p = &e->paths.at[e->edges.at[e->steps.at[k]].to];
		struct aim *aims = &c->aims.at[p->slots];
		uint64_t *last = &all[p->slots];

		for (uint32_t i = 0; i < p->count; i++) {
			*aims[i].to++ = a[i] - all[aims[i].base];
			last[i] = a[i];
		}
		if (p->count)
			end_step(c, p, a[p->count - 1]);
		a += p->count;
	}
}

/* ---- forms ---- */

static unsigned bytes_of(uint64_t n) { return n ? (unsigned)(71 - __builtin_clzll(n)) / 8 : 0; }

/* The number of a value of this column, which may be new; MAX_VALUES if there are too many. */
static uint32_t number_of(struct columns *c, uint64_t value)
{
	uint64_t at = nm_mix64(value) >> (64 - VALUE_BITS);

	while (c->round[at] == c->column && c->known[at] != value)
		at = (at + 1) & ((1u << VALUE_BITS) - 1);
	if (c->round[at] == c->column)
		return c->number[at];
	if (c->values.count == MAX_VALUES || nm_vec_reserve(&c->values, 1))
		return MAX_VALUES;
	c->round[at] = c->column;
	c->known[at] = value;
	c->number[at] = (uint32_t)c->values.count;
	c->values.at[c->values.count] = value;
	return (uint32_t)c->values.count++;
}

/* Numbers the values of a column into c->indices; 0 if there are too many for that to pay. */
static int number_all(struct columns *c, const uint64_t *d, size_t count, unsigned width)
{
	c->values.count = 0;
	c->column++;
	if (nm_vec_reserve(&c->indices, count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t n = i && d[i] == d[i - 1] ? c->indices.at[i - 1] : number_of(c, d[i]);

		if (n == MAX_VALUES || (n > MANY_VALUES && n > count / 4) || (n > UINT8_MAX && width <= 2))
			return 0;
		c->indices.at[i] = (uint16_t)n;
	}
	return 1;
}

static int put_values(struct nm_chunk_bytes *to, const struct columns *c)
{
	uint64_t before = 0;

	for (size_t i = 0; i < c->values.count; i++) {
		if (put_varint(to, trace_zigzag(c->values.at[i] - before)))
			return NM_ENOMEM;
		before = c->values.at[i];
	}
	return 0;
}

/* The column in the form of indices, if it is smaller than `width` bytes each; 0 if not. */
static int write_indices(struct nm_encoder *e, const struct slot *s, const uint64_t *d, unsigned width,
			 int *ret_status)
{
	struct columns *c = e->columns;
	struct nm_chunk_bytes *tables = &e->parts[NM_PART_TABLES], *to = &e->parts[NM_PART_INDICES];
	size_t count = s->executions, bytes;

	assert(s->executions);
	if (width < 2 || !number_all(c, d, count, width))
		return 0;
	bytes = c->values.count > UINT8_MAX + 1 ? 2 : 1;
	if (count * bytes + 4 * c->values.count >= count * width)
		return 0;
	*ret_status =
	    put_varint(tables, (bytes == 1 ? NM_FORM_INDEX : NM_FORM_INDEX2) + NM_FORMS * s->kind) ||
	    (s->kind == NM_BASE_OWN && put_varint(tables, s->first)) || put_varint(tables, c->values.count) ||
	    put_values(tables, c) || nm_vec_reserve(to, count * bytes);
	for (size_t i = 0; i < count && !*ret_status; i++) {
		memcpy(to->at + to->count, &c->indices.at[i], bytes); /* little-endian */
		to->count += bytes;
	}
	return 1;
}

static int write_offsets(struct nm_encoder *e, const struct slot *s, const uint64_t *d, uint64_t least,
			 unsigned width)
{
	struct nm_chunk_bytes *tables = &e->parts[NM_PART_TABLES], *to = &e->parts[NM_PART_OFFSETS];

	assert(width <= sizeof *d);
	if (put_varint(tables,
		       (width ? NM_FORM_OFFSET + width - 1 : NM_FORM_CONSTANT) + NM_FORMS * s->kind) ||
	    (s->kind == NM_BASE_OWN && put_varint(tables, s->first)) ||
	    put_varint(tables, trace_zigzag(least)) ||
	    nm_vec_reserve(to, (size_t)s->executions * width + sizeof *d))
		return NM_ENOMEM;
	for (size_t i = 0; i < s->executions && width; i++) {
		uint64_t offset = d[i] - least;

		memcpy(to->at + to->count, &offset, sizeof offset);
		to->count += width;
	}
	return 0;
}

/* start: of the last slot with an own base; s->first becomes the distance from it. */
static int write_slot(struct nm_encoder *e, size_t at, uint64_t *start)
{
	struct slot *s = &e->columns->slots.at[at];
	uint64_t *d = e->columns->aims.at[at].to - s->executions;
	int64_t least, most;
	unsigned width;
	int status = 0;

	assert(s->executions > 0);
	if (s->kind == NM_BASE_OWN) { /* the first step is as the second */
		uint64_t step = s->executions > 1 ? d[1] : 0, begin = d[0] - step;

		d[0] = step;
		s->first = trace_zigzag(begin - *start);
		*start = begin;
	}
	least = most = (int64_t)d[0];
	for (size_t i = 1; i < s->executions; i++) {
		least = (int64_t)d[i] < least ? (int64_t)d[i] : least;
		most = (int64_t)d[i] > most ? (int64_t)d[i] : most;
	}
	width = bytes_of((uint64_t)most - (uint64_t)least);
	if (write_indices(e, s, d, width, &status))
		return status ? NM_ENOMEM : 0;
	return write_offsets(e, s, d, (uint64_t)least, width);
}

int columns_write(struct nm_encoder *e)
{
	struct columns *c = e->columns;
	uint64_t start = 0;

	if (number_slots(e))
		return NM_ENOMEM;
	survey_edges(e);
	choose_bases(e);
	measure_columns(e);
	for (size_t i = NM_SLOT_FIRST; i < c->slots.count; i++)
		if (write_slot(e, i, &start))
			return NM_ENOMEM;
	e->before = c->last.at[NM_SLOT_BEFORE];
	e->anchor = c->last.at[NM_SLOT_ANCHOR];
	return 0;
}
