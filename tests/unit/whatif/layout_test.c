/* SPDX-License-Identifier: MIT
 *
 * layout_test.c - candidate layouts: their language; random structures against a twin that lays them out byte by byte,
 * and the misses of a random stream against those of a stream of single bytes; the memory that candidates give out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "candidate.h"
#include "candidate_memory.h"
#include "element_map.h"
#include "hierarchy.h"
#include "numbers.h"
#include "placement.h"
#include "recent_places.h"

enum { FIELDS = 9, ELEMENTS = 50, ROUNDS = 100, REFERENCES = 1500 };

static const char *const field_names[FIELDS] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};

/* ---- the language ---- */

static struct nm_transform *only(struct nm_candidate *c, const char *text)
{
	struct nm_error err;

	assert_int_equal(nm_candidate_parse(c, text, &err), 0);
	assert_int_equal(c->transforms.count, 1);
	return &c->transforms.at[0];
}

static void lines_are_read(void **state)
{
	struct nm_candidate c;
	struct nm_transform *t = only(&c, " reorder struct app::node: next ,key");

	(void)state;
	assert_int_equal(t->kind, NM_REORDER);
	assert_string_equal(t->target, "app::node");
	assert_int_equal(t->fields.count, 2);
	assert_string_equal(t->fields.at[0], "next");
	assert_string_equal(t->fields.at[1], "key");
	nm_candidate_done(&c);
	t = only(&c, "# hot first\nsplit order hot(price, count) by pointer\n");
	assert_true(t->kind == NM_SPLIT && t->by_pointer && t->fields.count == 2);
	nm_candidate_done(&c);
	t = only(&c, "align heap parse (tree.c:88) to 64");
	assert_string_equal(t->target, "heap parse (tree.c:88)");
	assert_int_equal(t->number, 64);
	nm_candidate_done(&c);
	t = only(&c, "pad from rows of 2048 by 64");
	assert_true(t->kind == NM_PAD_ROWS && t->number == 2048 && t->bytes == 64);
	nm_candidate_done(&c);
	t = only(&c, "transpose field 20000x150x8");
	assert_true(t->rows == 20000 && t->columns == 150 && t->bytes == 8);
	nm_candidate_done(&c);
	t = only(&c, "merge a of 8, b of 4");
	assert_true(t->bytes == 8 && t->other_bytes == 4 && !strcmp(t->target, "a") &&
		    !strcmp(t->other, "b"));
	nm_candidate_done(&c);
	t = only(&c, "offset fields/v against fields/u by 65600");
	assert_true(t->number == 65600 && !strcmp(t->other, "fields/u"));
	nm_candidate_done(&c);
	t = only(&c, "pool nodes[] (list.c:40) by first use");
	assert_true(t->kind == NM_POOL && t->by_first_use && !strcmp(t->target, "nodes[] (list.c:40)"));
	nm_candidate_done(&c);
	t = only(&c, "order nodes[] (list.c:40) as visited");
	assert_true(t->kind == NM_ORDER && !t->visitor && !strcmp(t->target, "nodes[] (list.c:40)"));
	nm_candidate_done(&c);
	t = only(&c, "order nodes as visited by tree::walk(int)");
	assert_true(!strcmp(t->visitor, "tree::walk(int)") && !strcmp(t->target, "nodes"));
	nm_candidate_done(&c);
}

static void faults_are_named(void **state)
{
	static const struct {
		const char *text, *fault;
	} cases[] = {
	    {"", "a candidate without a transformation"},
	    {"shuffle struct a", "a line begins with reorder"},
	    {"tile a 64x64", "out of reach"},
	    {"reorder struct a", "reorder struct NAME: FIELD, FIELD"},
	    {"reorder struct a: b,, c", "reorder struct NAME: FIELD, FIELD"},
	    {"pad struct a to 0", "pad struct NAME to BYTES"},
	    {"split struct a hot(b)", "parallel (or: by pointer)"},
	    {"shrink struct a to 4", "shrink NAME.FIELD to BYTES"},
	    {"align a to 48", "a power of two"},
	    {"merge a, b", "merge OBJECT of BYTES, OBJECT of BYTES"},
	    {"offset a by 64", "offset OBJECT against OBJECT by BYTES"},
	    {"transpose a 3x4", "transpose OBJECT ROWSxCOLUMNSxBYTES"},
	    {"soa struct", "soa struct NAME"},
	    {"order nodes", "order OBJECT as visited"},
	    {"order nodes as visited by", "order OBJECT as visited"},
	};
	struct nm_candidate c;
	struct nm_error err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(nm_candidate_parse(&c, cases[i].text, &err), NM_EINVAL);
		assert_non_null(strstr(err.text, cases[i].fault));
		nm_candidate_done(&c);
	}
}

/* ---- structures ---- */

/* A structure as a C compiler lays it out, and its twin: where each of its bytes goes. */
struct structure {
	struct nm_type type;
	struct nm_field fields[FIELDS];
	uint64_t align[FIELDS], bytes[FIELDS]; /* as the candidate has them */
	uint32_t part[FIELDS];
	unsigned order[FIELDS];
	uint64_t strides[FIELDS], offsets[FIELDS];
	int64_t pointer;
	int packed;
};

static uint64_t up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

static void make_structure(struct structure *s)
{
	static const char *const types[] = {"char", "short int", "int", "long int"};
	uint64_t at = 0, most = 1;

	memset(s, 0, sizeof *s);
	s->pointer = -1;
	for (unsigned i = 0; i < FIELDS; i++) {
		const unsigned scalar = (unsigned)below(4), count = below(4) ? 1 : 1 + (unsigned)below(20);

		s->align[i] = UINT64_C(1) << scalar;
		s->bytes[i] = count * s->align[i];
		s->order[i] = i;
		at = s->offsets[i] = up(at, s->align[i]);
		s->fields[i] = (struct nm_field){.name = field_names[i],
						 .offset = at,
						 .bytes = s->align[i],
						 .stride = count > 1 ? s->align[i] : 0,
						 .count = count,
						 .type = types[scalar]};
		at += s->bytes[i];
		most = s->align[i] > most ? s->align[i] : most;
	}
	s->strides[0] = up(at, most);
	s->type = (struct nm_type){
	    .name = "struct s", .bytes = s->strides[0], .fields = s->fields, .field_count = FIELDS};
}

/* Each part's members in turn. */
static void lay_out(struct structure *s)
{
	s->packed = 1;
	for (uint32_t part = 0; part < FIELDS; part++) {
		uint64_t at = 0, most = 1;

		for (unsigned i = 0; i < FIELDS; i++) {
			const unsigned f = s->order[i];

			if (s->part[f] != part)
				continue;
			s->offsets[f] = up(at, s->align[f]);
			at = s->offsets[f] + s->bytes[f];
			most = s->align[f] > most ? s->align[f] : most;
		}
		if (!part && s->pointer >= 0) {
			s->pointer = (int64_t)up(at, 8);
			at = (uint64_t)s->pointer + 8;
			most = 8;
		}
		s->strides[part] = up(at, most);
	}
}

/* A random transformation: its text; the twin follows it. */
static void transform(struct structure *s, char text[100])
{
	const unsigned hot = (unsigned)below(FIELDS),
		       second = (hot + 1 + (unsigned)below(FIELDS - 1)) % FIELDS;
	unsigned n = 0;

	switch (below(6)) {
	case 0:
		sprintf(text, "reorder struct s: %s, %s", field_names[hot], field_names[second]);
		s->order[n++] = hot;
		s->order[n++] = second;
		for (unsigned i = 0; i < FIELDS; i++)
			if (i != hot && i != second)
				s->order[n++] = i;
		break;
	case 1:
		sprintf(text, "split struct s hot(%s, %s) %s", field_names[hot], field_names[second],
			hot % 2 ? "by pointer" : "parallel");
		for (unsigned i = 0; i < FIELDS; i++)
			s->part[i] = i != hot && i != second;
		s->pointer = hot % 2 ? 0 : -1;
		break;
	case 2:
		strcpy(text, "soa struct s");
		for (unsigned i = 0; i < FIELDS; i++)
			s->part[i] = i;
		break;
	case 3:
		strcpy(text, "reorder struct s by alignment");
		for (uint64_t align = 8; align; align /= 2)
			for (unsigned i = 0; i < FIELDS; i++)
				if (s->align[i] == align)
					s->order[n++] = i;
		break;
	case 4:
		strcpy(text, "pad struct s to 64");
		s->strides[0] = up(s->strides[0], 64);
		return;
	default:
		if (s->bytes[hot] % 2)
			return transform(s, text);
		s->bytes[hot] /= 2;
		while (s->bytes[hot] % s->align[hot])
			s->align[hot] /= 2;
		sprintf(text, "shrink s.%s to %u", field_names[hot], (unsigned)s->bytes[hot]);
	}
	lay_out(s);
}

/* Where a byte of an array of structures goes: its part and offset, or -1: it is padding. */
static int64_t place_of(const struct structure *s, uint64_t at, uint32_t *ret_part)
{
	const uint64_t element = at / s->type.bytes, in = at % s->type.bytes;

	if (!s->packed)
		return (int64_t)(element * s->strides[0] + in);
	for (unsigned i = 0; i < FIELDS; i++) {
		const uint64_t was = s->fields[i].bytes * s->fields[i].count, from = in - s->fields[i].offset;

		if (from >= was)
			continue;
		*ret_part = s->part[i];
		return (int64_t)(element * s->strides[s->part[i]] + s->offsets[i] + from * s->bytes[i] / was);
	}
	return -1;
}

/* ---- against the twin ---- */

/* The map of a random candidate, as placement.c makes it, and a place of ELEMENTS elements. */
static struct nm_layout_place *make_place(struct structure *s, struct nm_layout_rule *rule)
{
	struct nm_layout_place *place = calloc(1, sizeof *place + FIELDS * sizeof *place->bases);
	struct nm_candidate c;
	struct nm_error err;
	char text[100];

	make_structure(s);
	transform(s, text);
	*rule = (struct nm_layout_rule){.has_map = 1};
	assert_int_equal(nm_candidate_parse(&c, text, &err), 0);
	assert_int_equal(nm_element_map_init(&rule->map, &s->type), 0);
	assert_int_equal(nm_element_map_apply(&rule->map, &s->type, &c.transforms.at[0], &err), 0);
	nm_candidate_done(&c);
	assert_non_null(place);
	place->low = 0x1000;
	place->end = place->low + ELEMENTS * s->type.bytes;
	place->rule = rule;
	place->elements = ELEMENTS;
	for (unsigned i = 0; i < FIELDS; i++)
		place->bases[i] = (UINT64_C(1) << 40) * (i + 1) + 64 * below(1000);
	return place;
}

static void feed(struct nm_hierarchy *h, uint64_t address, uint32_t bytes)
{
	const struct nm_ref r = {.address = address, .attr = 1, .size = (uint16_t)bytes, .weight = 1};

	assert_int_equal(nm_hierarchy_run(h, &r, 1), 0);
}

/* The bytes one by one; before the first that a pointer leads to, that is loaded. Of padding only, the element's
 * first. */
static void feed_twin(struct nm_hierarchy *h, const struct structure *s, const struct nm_layout_place *place,
		      uint64_t at, uint32_t bytes)
{
	uint64_t last = UINT64_MAX;
	int is_padding = 1;

	for (uint64_t b = at; b < at + bytes; b++) {
		uint32_t part = 0;
		const int64_t to = place_of(s, b, &part);

		if (to < 0)
			continue;
		is_padding = 0;
		if (part && s->pointer >= 0 && last != b / s->type.bytes)
			feed(h, place->bases[0] + b / s->type.bytes * s->strides[0] + (uint64_t)s->pointer,
			     1);
		if (part)
			last = b / s->type.bytes;
		feed(h, place->bases[part] + (uint64_t)to, 1);
	}
	if (is_padding)
		feed(h, place->bases[0] + at / s->type.bytes * s->strides[0], 1);
}

static uint64_t loads_of(struct nm_hierarchy *h, unsigned level)
{
	struct nm_counts total;

	nm_hierarchy_total(h, level, &total);
	return total.loads;
}

/* The short way says the same, where it says anything. */
static void check_shift(const struct nm_layout_place *place, uint64_t address, uint32_t bytes,
			const struct nm_moved *moved, unsigned count)
{
	const struct nm_layout_spot spot = {place->low, place->end, place->bases[0]};
	uint32_t member = (uint32_t)below(FIELDS + 1);
	uint64_t to;

	if (nm_placement_shift(place->rule, &spot, address, bytes, &member, &to))
		assert_true(count == 1 && !moved->is_pointer && moved->address == to &&
			    moved->bytes == bytes);
}

/* A reference lies in one element, and in padding only if that moves too. */
static void compare(struct structure *s, const struct nm_layout_place *place,
		    const struct nm_machine *machine)
{
	struct nm_moved moved[NM_MOVED_MOST];
	struct nm_hierarchy *h, *twin;
	struct nm_error err;

	assert_int_equal(nm_hierarchy_new(&h, machine, &err), 0);
	assert_int_equal(nm_hierarchy_new(&twin, machine, &err), 0);
	for (unsigned i = 0; i < REFERENCES; i++) {
		const struct nm_field *f = &s->fields[below(FIELDS)];
		const uint64_t whole = f->bytes * f->count,
			       at = below(ELEMENTS) * s->type.bytes + f->offset + below(whole);
		const uint32_t bytes = 1 + (uint32_t)below(place->low + at + 32 < place->end ? 32 : 1);
		const unsigned count = nm_placement_move(place, place->low + at, bytes, moved);

		check_shift(place, place->low + at, bytes, moved, count);
		for (unsigned k = 0; k < count; k++)
			feed(h, moved[k].address, moved[k].bytes);
		feed_twin(twin, s, place, at, bytes);
	}
	for (unsigned level = 0; level < machine->count; level++)
		assert_int_equal(loads_of(h, level), loads_of(twin, level));
	nm_hierarchy_free(h);
	nm_hierarchy_free(twin);
}

static void structures_are_laid_out_as_their_twins(void **state)
{
	struct nm_machine machine;
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_machine_parse("L1=1K,2,64:L2=4K,4,64", &machine, &err), 0);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct nm_layout_rule rule;
		struct structure s;
		struct nm_layout_place *place = make_place(&s, &rule);

		for (unsigned i = 0; i < rule.map.strides.count; i++)
			assert_int_equal(rule.map.strides.at[i], s.strides[i]);
		compare(&s, place, &machine);
		nm_element_map_done(&rule.map);
		free(place);
	}
}

static void what_does_not_fit_is_refused(void **state)
{
	static const char *const texts[][2] = {
	    {"reorder s: a, z", "struct s has no field \"z\"; it has a, b, c"},
	    {"reorder s: a, a", "a is named twice"},
	    {"shrink s.a to 1000", "shrink it to fewer"}};
	struct nm_element_map map;
	struct nm_candidate c;
	struct nm_error err;
	struct structure s;

	(void)state;
	make_structure(&s);
	assert_int_equal(nm_element_map_init(&map, &s.type), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(nm_candidate_parse(&c, texts[i][0], &err), 0);
		assert_int_equal(nm_element_map_apply(&map, &s.type, &c.transforms.at[0], &err), NM_EINVAL);
		assert_non_null(strstr(err.text, texts[i][1]));
		nm_candidate_done(&c);
	}
	nm_element_map_done(&map);
}

/* ---- rows ---- */

static void rows_are_padded_and_transposed(void **state)
{
	const struct nm_transform by_rows[] = {
	    {.kind = NM_PAD_ROWS, .number = 48, .bytes = 16},
	    {.kind = NM_TRANSPOSE, .rows = 6, .columns = 5, .bytes = 8},
	};
	struct nm_layout_place *place = calloc(1, sizeof *place + sizeof *place->bases);

	(void)state;
	assert_non_null(place);
	place->low = 4096;
	place->bases[0] = 1 << 20;
	for (unsigned i = 0; i < 2; i++) {
		struct nm_layout_rule rule = {.rows = &by_rows[i]};

		place->rule = &rule;
		for (uint64_t b = 0; b + 16 <= 240; b++) {
			struct nm_moved moved[NM_MOVED_MOST];
			const unsigned count = nm_placement_move(place, place->low + b, 16, moved);
			uint64_t at = b;

			for (unsigned k = 0; k < count; k++)
				for (uint32_t n = 0; n < moved[k].bytes; n++, at++) {
					const uint64_t row = at / 40, column = at / 8 % 5;

					assert_int_equal(moved[k].address + n - place->bases[0],
							 i ? (column * 6 + row) * 8 + at % 8
							   : at / 48 * 64 + at % 48);
				}
			assert_int_equal(at, b + 16);
		}
	}
	free(place);
}

/* ---- memory ---- */

static void blocks_do_not_overlap(void **state)
{
	enum { BLOCKS = 300 };
	struct {
		uint64_t at, bytes, align;
	} live[BLOCKS] = {{0}};
	struct nm_candidate_memory m;
	uint64_t first;

	(void)state;
	nm_memory_init(&m);
	first = nm_memory_allocate(&m, NM_HEAP_MALLOC, 24, 16);
	assert_int_equal(nm_memory_allocate(&m, NM_HEAP_MALLOC, 24, 16), first + 32);
	assert_int_equal(nm_memory_allocate(&m, NM_HEAP_MALLOC, 25, 16), first + 64);
	assert_int_equal(nm_memory_allocate(&m, NM_HEAP_MALLOC, 24, 16), first + 112);
	assert_int_equal(nm_memory_release(&m, first, 24, 16), 0);
	assert_int_equal(nm_memory_allocate(&m, NM_HEAP_MALLOC, 8, 16), first); /* a chunk of the same size */
	first = nm_memory_allocate(&m, NM_HEAP_MALLOC, 2000, 16);
	(void)nm_memory_allocate(&m, NM_HEAP_MALLOC, 24, 16);
	assert_int_equal(nm_memory_release(&m, first, 2000, 16), 0);
	assert_int_equal(nm_memory_allocate(&m, NM_HEAP_MALLOC, 500, 16), first); /* in the hole */
	assert_int_equal(nm_memory_allocate(&m, NM_HEAP_MALLOC, 500, 16), first + 512);
	for (unsigned i = 0; i < 20000; i++) {
		__typeof__(&live[0]) b = &live[below(BLOCKS)];

		if (b->at && nm_memory_release(&m, b->at, b->bytes, b->align))
			fail();
		b->bytes = 1 + below(below(50) ? 200 : below(2) ? 20000 : 1 << 20);
		b->align = below(4) ? 16 : 64;
		b->at = nm_memory_allocate(&m, NM_HEAP_MALLOC, b->bytes, b->align);
		assert_int_equal(b->at % b->align, 0);
		for (unsigned k = 0; k < BLOCKS; k++)
			assert_true(&live[k] == b || !live[k].at || live[k].at + live[k].bytes <= b->at ||
				    b->at + b->bytes <= live[k].at);
	}
	nm_memory_done(&m);
}

static void pools_are_dense(void **state)
{
	struct nm_candidate_memory m;
	struct nm_pool pool = {.next = 0};
	uint64_t first;

	(void)state;
	nm_memory_init(&m);
	first = nm_pool_allocate(&pool, &m, 20);
	assert_int_equal(nm_pool_allocate(&pool, &m, 20), first + 24);
	assert_int_equal(nm_pool_release(&pool, first, 20), 0);
	assert_int_equal(nm_pool_allocate(&pool, &m, 20), first);
	assert_int_equal(nm_pool_allocate(&pool, &m, 20), first + 48);
	nm_pool_done(&pool);
	nm_memory_done(&m);
}

/* Each at the end of those that were visited before, or where the one of its size was that was freed last: the twin
 * searches its list of visits backward. */
static void visited_blocks_follow_each_other(void **state)
{
	enum { BLOCKS = 200, VISITS = 3000 };
	struct {
		uint64_t at, room, freed;
	} slots[VISITS];
	struct nm_layout_place *live[BLOCKS] = {NULL};
	struct nm_layout_rule rule = {.is_heap = 1};
	struct nm_placement p;
	struct nm_candidate c;
	uint64_t end = 0, from;
	unsigned count = 0, visits = 0, took[BLOCKS];

	(void)state;
	rule.pool = only(&c, "order nodes as visited");
	assert_int_equal(nm_placement_init(&p, &c), 0);
	for (unsigned clock = 1; clock < VISITS; clock++) {
		const unsigned b = (unsigned)below(BLOCKS), low = 4096 * (b + 1);
		struct nm_layout_place *place = live[b];
		unsigned slot = count;

		if (place) {
			slots[took[b]].freed = clock;
			assert_int_equal(nm_placement_release(&p, low), 0);
			live[b] = NULL;
			continue;
		}
		place = live[b] = calloc(1, sizeof *place + sizeof *place->bases);
		assert_non_null(place);
		place->rule = &rule;
		place->elements = place->stays = 1;
		place->low = place->bases[0] = low;
		place->end = low + 8 * (1 + below(4)) - below(8);
		assert_int_equal(nm_map_put(&p.places, low, (uintptr_t)place), 0);
		assert_int_equal(nm_placement_visit(&p, place, &from), 0);
		assert_int_equal(from, low);
		visits++;
		for (unsigned i = 0; i < count; i++)
			if (slots[i].room == up(place->end - low, 8) && slots[i].freed &&
			    (slot == count || slots[i].freed > slots[slot].freed))
				slot = i;
		if (slot == count) {
			slots[count].at = count ? end : place->bases[0];
			slots[count].room = up(place->end - low, 8);
			end = slots[count].at + slots[count].room;
			count++;
		}
		slots[slot].freed = 0;
		took[b] = slot;
		assert_int_equal(place->bases[0], slots[slot].at);
	}
	assert_int_equal(rule.pool->visited, visits);
	nm_placement_done(&p);
	nm_candidate_done(&c);
}

/* Blocks one behind the other, of which some are pooled. The twin counts up: from the first pooled block on the others
 * close up, and what is between them is malloc's. */
static void heaps_close_up_behind_pools(void **state)
{
	enum { BLOCKS = 1000 };
	struct nm_layout_rule rules[2] = {{.is_heap = 1}, {.is_heap = 1, .is_named = 1}};
	uint64_t lows[BLOCKS + 1] = {0x4035010}, news[BLOCKS], next = 0;
	uint8_t pooled[BLOCKS];
	struct nm_placement p;
	struct nm_candidate c;

	(void)state;
	rules[1].pool = only(&c, "pool nodes by first use");
	assert_int_equal(nm_placement_init(&p, &c), 0);
	for (unsigned i = 0; i < BLOCKS; i++) {
		const struct nm_block block = {.address = lows[i], .size = 1 + below(200)};
		const uint64_t room = up(block.size + 8, 16);

		pooled[i] = i > 9 && below(2);
		if (pooled[i] && !next)
			next = NM_MEMORY_BLOCKS + lows[i];
		news[i] = pooled[i] ? 0 : next;
		lows[i + 1] = lows[i] + (room < 32 ? 32 : room);
		next += !next || pooled[i] ? 0 : lows[i + 1] - lows[i];
		assert_int_equal(nm_placement_allocated(&p, NULL, &rules[pooled[i]], &block, NM_HEAP_MALLOC),
				 0);
		assert_int_equal(nm_placement_in_heap(&p, lows[0] - 8), p.places_heap);
		assert_int_equal(nm_placement_in_heap(&p, lows[i + 1] - 8), p.places_heap);
		if (!next && !below(3)) /* later ones would be given out again */
			assert_int_equal(nm_placement_release(&p, lows[i]), 0);
	}
	assert_true(p.places_heap);
	for (unsigned i = 0; i < BLOCKS; i++)
		if (news[i])
			assert_int_equal(nm_placement_at(&p, lows[i])->bases[0], news[i]);
		else
			assert_null(nm_placement_at(&p, lows[i]));
	assert_false(nm_placement_in_heap(&p, lows[0] - 32));
	assert_false(nm_placement_in_heap(&p, lows[BLOCKS] + (1 << 20)));
	nm_placement_done(&p);
	nm_candidate_done(&c);
}

/* What is remembered of an address is the block that lives there; most of what was accessed just before is. */
static void recent_places_are_those_of_live_blocks(void **state)
{
	enum { LIVE = 300, STEPS = 200000, SPACE = 1 << 16, CANDIDATES = 3 };
	struct nm_recent_places *r = nm_recent_places_new(CANDIDATES);
	struct nm_recent_block live[LIVE] = {{0}};
	uintptr_t made[LIVE] = {0}, next = 1;
	unsigned found = 0;

	(void)state;
	assert_non_null(r);
	for (unsigned step = 0; step < STEPS; step++) {
		const unsigned i = (unsigned)below(LIVE), candidate = (unsigned)below(CANDIDATES);
		const uint64_t bytes = 16 * (1 + below(below(8) ? 8 : 100)), low = 16 * below(SPACE / 16);
		const struct nm_recent_block *known;

		if (!below(20) && !live[i].end) {
			for (unsigned k = 0; k < LIVE; k++) /* their release was not seen */
				if (live[k].low < low + bytes && live[k].end > low)
					live[k].end = 0;
			live[i] = (struct nm_recent_block){low, low + bytes, 1 + (uint32_t)below(2)};
			made[i] = next++;
			nm_recent_places_forget(r, low, bytes);
		} else if (!below(100) && live[i].end) {
			nm_recent_places_forget(r, live[i].low, 1);
			live[i].end = 0;
		} else if (live[i].end) {
			const uint64_t address = live[i].low + below(live[i].end - live[i].low);
			const struct nm_recent_place place = {(void *)(made[i] * 8), address};

			known = nm_recent_block(r, live[i].object, address);
			if (known && nm_recent_place(r, known, candidate)->place) {
				assert_ptr_equal(nm_recent_place(r, known, candidate)->place, place.place);
				found++;
			}
			nm_recent_places_put(r, address, live[i], candidate, place);
			assert_null(nm_recent_block(r, 3 - live[i].object, address));
		}
	}
	assert_true(found > STEPS / 10);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_are_read),
	    cmocka_unit_test(faults_are_named),
	    cmocka_unit_test(structures_are_laid_out_as_their_twins),
	    cmocka_unit_test(what_does_not_fit_is_refused),
	    cmocka_unit_test(rows_are_padded_and_transposed),
	    cmocka_unit_test(blocks_do_not_overlap),
	    cmocka_unit_test(pools_are_dense),
	    cmocka_unit_test(visited_blocks_follow_each_other),
	    cmocka_unit_test(heaps_close_up_behind_pools),
	    cmocka_unit_test(recent_places_are_those_of_live_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
