/* SPDX-License-Identifier: MIT
 *
 * slice_test.c - slices of arrays: what is one, of which objects, and which bytes it holds, against a walk over all
 * subscripts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "numbers.h"
#include "slice.h"

static void test_names_are_no_slices(void **state)
{
	static const char *const names[] = {"matrix",
					    "nodes[i].next",
					    "u (jacobi.f90:12)",
					    "heap main (big.cc:9)",
					    "cells[].key",
					    "[3]",
					    "a[3",
					    "a[3]x",
					    "a[-1]",
					    "a[3]@",
					    "a[3]@0",
					    "a[3]@8[x]",
					    "a[3].",
					    "a[1,2]",

					    "v[99999999999999999999]"};
	struct nm_slice slice;
	struct nm_error err;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (nm_slice_parse(&slice, names[i], &err))
			fail_msg("%s is no slice", names[i]);
}

static void test_slices(void **state)
{
	static const struct {
		const char *text, *name, *field;
		unsigned count;
		int64_t low, end;
		uint64_t element;
	} slices[] = {
	    {"a[3]", "a", NULL, 1, 3, 4, 0},
	    {"a[3:7][0]", "a", NULL, 2, 3, 7, 0},
	    {"a[:7]", "a", NULL, 1, INT64_MIN, 7, 0},
	    {"a[3:]", "a", NULL, 1, 3, INT64_MAX, 0},
	    {"a[:].place.x", "a", "place.x", 1, INT64_MIN, INT64_MAX, 0},
	    {"nodes[i].next[2]@8", "nodes[i].next", NULL, 1, 2, 3, 8},
	    {"u (a.f90:12)(-3:7,:)", "u (a.f90:12)", NULL, 2, -3, 8, 0},
	    {"grid(2,2)%x", "grid", "x", 2, 2, 3, 0},
	    {"heap*[0:2]@24[10][5]", "heap*", NULL, 1, 0, 2, 24},
	};
	static const char *const empty[] = {"a[7:3]", "a[3:3]", "a(4:3)"};
	struct nm_slice s;
	struct nm_error err;

	(void)state;
	for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
		if (nm_slice_parse(&s, slices[i].text, &err) != 1)
			fail_msg("%s is a slice", slices[i].text);
		assert_string_equal(s.name, slices[i].name);
		assert_int_equal(!s.field, !slices[i].field);
		if (s.field)
			assert_string_equal(s.field, slices[i].field);
		assert_int_equal(s.count, slices[i].count);
		assert_true(s.part[0].low == slices[i].low && s.part[0].end == slices[i].end);
		assert_true(s.element == slices[i].element);
		nm_slice_done(&s);
	}
	for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
		assert_int_equal(nm_slice_parse(&s, empty[i], &err), NM_EINVAL);
}

/* struct { char tag; struct { int x, y; } place; short links[2]; } of 16 bytes. */
static const struct nm_field fields[] = {{"tag", 0, 1, 0, 1, "char"},
					 {"place.x", 4, 4, 0, 1, "int"},
					 {"place.y", 8, 4, 0, 1, "int"},
					 {"links", 12, 2, 2, 2, "short int"}};
static const struct nm_type structure = {
    .name = "struct cell", .bytes = 16, .fields = fields, .field_count = 4};

static enum nm_slice_fit fit(const char *text, const struct nm_slice_object *object,
			     struct nm_slice_place *place)
{
	struct nm_slice slice;
	struct nm_error err;
	enum nm_slice_fit fit;

	assert_int_equal(nm_slice_parse(&slice, text, &err), 1);
	fit = nm_slice_fit(&slice, object, place);
	place->field = NULL; /* of the slice, which ends here */
	nm_slice_done(&slice);
	return fit;
}

static void test_fit(void **state)
{
	static const struct {
		const char *text;
		struct nm_slice_object object;
		enum nm_slice_fit fit;
	} cases[] = {
	    {"a[3]", {"double [4][8]", NULL, 256}, NM_SLICE_FITS},
	    {"a[4]", {"double [4][8]", NULL, 256}, NM_SLICE_OUTSIDE},
	    {"a[3][0][0]", {"double [4][8]", NULL, 256}, NM_SLICE_DIMENSIONS},
	    {"a(1)", {"real(kind=8)(4,8)", NULL, 256}, NM_SLICE_DIMENSIONS},
	    {"a(0,1)", {"real(kind=8)(4,8)", NULL, 256}, NM_SLICE_OUTSIDE},
	    {"a(0,1)", {"real(kind=8)(0:3,8)", NULL, 256}, NM_SLICE_FITS},
	    {"a[0]", {"struct cell", &structure, 16}, NM_SLICE_NO_ARRAY},
	    {"a[0]", {NULL, NULL, 16}, NM_SLICE_NO_TYPE},
	    {"a[0]@8", {NULL, NULL, 16}, NM_SLICE_FITS},
	    {"a[1]", {NULL, NULL, 0}, NM_SLICE_NO_TYPE},
	    {"a[1].tag", {NULL, &structure, 0}, NM_SLICE_FITS},
	    {"a[1].place", {NULL, &structure, 0}, NM_SLICE_FITS},
	    {"a[1].pla", {NULL, &structure, 0}, NM_SLICE_NO_FIELD},
	    {"a[1].tag", {"double [4][8]", NULL, 256}, NM_SLICE_NO_FIELD},
	};
	struct nm_slice_place place;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (fit(cases[i].text, &cases[i].object, &place) != cases[i].fit)
			fail_msg("%s of %s", cases[i].text, cases[i].object.type);
}

/* Whether the slice [l0,h0) x [l1,h1) of rows of `columns` elements holds a byte. */
static int twin(const int64_t *low, const int64_t *end, unsigned columns, unsigned element, uint64_t byte)
{
	const int64_t at = (int64_t)(byte / element), row = at / columns, column = at % columns;

	return row >= low[0] && row < end[0] && column >= low[1] && column < end[1];
}

static void test_bytes(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		const unsigned rows = 1 + below(6), columns = 1 + below(6), element = 1 + below(12);
		const int is_fortran = (int)below(2);
		int64_t low[2] = {below(rows), below(columns)}, end[2];
		struct nm_slice_object object = {NULL, NULL, 0};
		struct nm_slice_place place;
		uint64_t position = below(rows * columns * element), bytes = 1 + below(40), b;
		char text[80];
		int expected = 0;

		end[0] = low[0] + 1 + below(rows - (uint32_t)low[0]);
		end[1] = low[1] + 1 + below(columns - (uint32_t)low[1]);
		if (is_fortran)
			snprintf(text, sizeof text, "a(%d:%d,%d:%d)@%u(%u,%u)", (int)low[1] + 1, (int)end[1],
				 (int)low[0] + 1, (int)end[0], element, columns, rows);
		else
			snprintf(text, sizeof text, "a[%d:%d][%d:%d]@%u[%u][%u]", (int)low[0], (int)end[0],
				 (int)low[1], (int)end[1], element, rows, columns);
		assert_int_equal(fit(text, &object, &place), NM_SLICE_FITS);
		for (b = position; b < position + bytes; b++)
			expected |= twin(low, end, columns, element, b);
		if (nm_slice_holds(&place, position, bytes) != expected)
			fail_msg("%s: %u bytes from %u on", text, (unsigned)bytes, (unsigned)position);
	}
}

static void test_fields(void **state)
{
	struct nm_slice_object object = {"struct cell [4]", &structure, 64};
	struct nm_slice slice;
	struct nm_slice_place place;
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_slice_parse(&slice, "a[1:3].place", &err), 1);
	assert_int_equal(nm_slice_fit(&slice, &object, &place), NM_SLICE_FITS);
	for (uint64_t b = 0; b < 64; b++)
		assert_int_equal(nm_slice_holds(&place, b, 1),
				 b / 16 >= 1 && b / 16 < 3 && b % 16 >= 4 && b % 16 < 12);
	assert_true(nm_slice_holds(&place, 0, 64));
	assert_false(nm_slice_holds(&place, 12, 8)); /* links of one, tag and padding of the next */
	nm_slice_done(&slice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names_are_no_slices),
	    cmocka_unit_test(test_slices),
	    cmocka_unit_test(test_fit),
	    cmocka_unit_test(test_bytes),
	    cmocka_unit_test(test_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
