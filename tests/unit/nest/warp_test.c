/* SPDX-License-Identifier: MIT
 *
 * warp_test.c - misses by warping against their slow twin, the nest's references one by one through a hierarchy: random
 * nests in random machines must have the same misses of each reference in each level. And what warps, and what cannot.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hierarchy.h"
#include "nest_stream.h"
#include "numbers.h"

/* ---- the twin ---- */

struct twin {
	struct nm_nest *nest;
	struct nm_hierarchy *hierarchy;
	uint64_t references;
};

/* Key 0 is what warms up. */
static int see(void *self, const struct nm_nest_step *step, struct nm_error *err)
{
	struct twin *t = self;
	struct nm_nest_reference_info info;
	struct nm_ref ref = {.address = step->address, .weight = 1};

	(void)err;
	t->references++;
	assert_true(nm_nest_reference_at(t->nest, step->reference, &info));
	ref.attr = step->warms_up ? 0 : (uint32_t)step->reference + 1;
	ref.size = (uint16_t)info.bytes;
	ref.kind = info.is_write ? NM_REF_WRITE : NM_REF_READ;
	return nm_hierarchy_run(t->hierarchy, &ref, 1);
}

/* Compares a level; returns the references that warping skipped. */
static uint64_t compare_level(const struct twin *t, const struct nm_machine *machine, unsigned level,
			      const char *text)
{
	struct nm_nest_misses found = {0};
	struct nm_nest_reference_info info;
	struct nm_counts *counts;
	size_t count;

	assert_int_equal(nm_nest_count_misses(t->nest, machine, level, &found), 0);
	assert_int_equal(nm_hierarchy_counts(t->hierarchy, level, &counts, &count), 0);
	assert_int_equal(found.references, t->references);
	for (size_t i = 0; nm_nest_reference_at(t->nest, i, &info); i++) {
		const uint64_t wanted =
		    i + 1 < count ? counts[i + 1].read_misses + counts[i + 1].write_misses : 0;

		if (found.misses[i] != wanted)
			fail_msg("%s misses %llu times in level %u, not %llu:\n%s", info.name,
				 (unsigned long long)found.misses[i], level, (unsigned long long)wanted,
				 text);
	}
	free(counts);
	free(found.misses);
	return found.warped;
}

/* Compares all levels; returns the references that warping skipped in the first. */
static uint64_t compare(const char *text, const struct nm_machine *machine, uint64_t *ret_references)
{
	struct twin t = {.nest = parse(text, NO_SETTINGS)};
	const struct nm_nest_visitor visitor = {see, &t};
	uint64_t warped = 0;

	assert_int_equal(nm_hierarchy_new(&t.hierarchy, machine, NULL), 0);
	assert_int_equal(nm_nest_walk(t.nest, 1, UINT64_MAX, &visitor, NULL), 0);
	for (unsigned level = machine->count; level-- > 0;)
		warped = compare_level(&t, machine, level, text);
	if (ret_references)
		*ret_references = t.references;
	nm_hierarchy_free(t.hierarchy);
	nm_nest_free(t.nest);
	return warped;
}

/* ---- random machines and nests ---- */

static void random_machine(struct nm_machine *m)
{
	static const char *const names[] = {"L1d", "L2", "L3"};
	uint32_t line = 8u << below(4);

	memset(m, 0, sizeof *m);
	m->count = 1 + (unsigned)below(3);
	for (unsigned i = 0; i < m->count; i++) {
		struct nm_level_spec *l = &m->levels[i];

		snprintf(l->name, sizeof l->name, "%s", names[i]);
		line <<= below(3) ? 0 : below(2);
		l->line = line;
		l->ways = 1 + (uint32_t)below(6);
		l->sets = below(8) ? 1u << (i + below(5)) : 3 + below(10);
		l->size = l->sets * l->ways * l->line;
		l->side = i ? NM_SIDE_UNIFIED : NM_SIDE_DATA;
	}
	assert_int_equal(nm_machine_check(m, NULL), 0);
}

struct text {
	char at[16384];
	size_t length;
	unsigned arrays;
	int follows;   /* references move alike, as those of stencils */
	uint64_t room; /* iterations that are still wanted */
};

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	t->length += (size_t)vsnprintf(t->at + t->length, sizeof t->at - t->length, format, arguments);
	va_end(arguments);
	assert_in_range(t->length, 1, sizeof t->at - 1);
}

/* The loop at a depth has the index i<depth>, from 0 to 210. */
static void add_subscript(struct text *t, unsigned depth, unsigned dimension)
{
	add(t, "%d", (int)below(5) - 2);
	if (t->follows && depth > dimension)
		add(t, " + i%u", dimension);
	for (unsigned d = 0; d < depth && !t->follows; d++)
		if (!below(2))
			add(t, " + %d * i%u", (int)below(4) - 1, d);
}

static void add_reference(struct text *t, unsigned depth)
{
	add(t, "%s a%u(", below(3) ? "read" : "write", (unsigned)below(t->arrays));
	add_subscript(t, depth, 1);
	add(t, ", ");
	add_subscript(t, depth, 0);
	add(t, ")\n");
}

static void add_items(struct text *t, unsigned depth);

static void add_loop(struct text *t, unsigned depth)
{
	const unsigned most = t->room > 200 ? 200 : (unsigned)t->room, trips = 1 + (unsigned)below(most);
	const unsigned outer = depth ? (unsigned)below(depth) : 0;
	const uint64_t room = t->room;

	t->room /= trips;
	add(t, "for i%u = ", depth);
	switch (depth ? below(8) : 0) {
	case 1: add(t, "i%u to 200", outer); break;
	case 2: add(t, "i%u to i%u + 3", outer, outer); break;
	case 3: add(t, "max(i%u - 2, 0) to min(i%u + 2, 200)", outer, outer); break;
	case 4: add(t, "%u to 0 step -%d", trips, 1 + (int)below(3)); break;
	default:
		add(t, "0 to %u", trips);
		if (!below(4))
			add(t, " step %d", 2 + (int)below(3));
	}
	if (!below(8))
		add(t, " warm %d", 1 + (int)below(9));
	add(t, "\n");
	add_items(t, depth + 1);
	add(t, "end\n");
	t->room = room;
}

static void add_items(struct text *t, unsigned depth)
{
	const unsigned count = 1 + (unsigned)below(3);

	for (unsigned i = 0; i < count; i++) {
		if (depth < 4 && t->room > 3 && below(3)) {
			add_loop(t, depth);
		} else if (!below(12)) {
			add(t, "warmup\n");
			add_reference(t, depth);
			add(t, "end\n");
		} else {
			add_reference(t, depth);
		}
	}
}

static void random_nest(struct text *t)
{
	static const unsigned sizes[] = {1, 2, 4, 4, 8, 8, 12, 16, 65};

	*t = (struct text){.arrays = 1 + (unsigned)below(3), .follows = below(3) != 0, .room = 2000};
	for (unsigned i = 0; i < t->arrays; i++)
		add(t, "array a%u(-1000:%u, -1000:2000) of %u pad %u%s\n", i, 2000 + 16 * (unsigned)below(8),
		    sizes[below(sizeof sizes / sizeof *sizes)], 16 * (unsigned)below(20),
		    below(2) ? " row" : "");
	add_loop(t, 0);
	if (!below(3))
		add_loop(t, 0);
}

static void random_nests_miss_as_simulated(void **state)
{
	enum { NESTS = 120 };
	unsigned warped_nests = 0;
	uint64_t all = 0, warped = 0;

	(void)state;
	rng_state = 1;
	for (unsigned i = 0; i < NESTS; i++) {
		struct nm_machine machine;
		struct text text;
		uint64_t references, skipped;

		random_machine(&machine);
		random_nest(&text);
		skipped = compare(text.at, &machine, &references);
		warped_nests += skipped > 0;
		warped += skipped;
		all += references;
	}
	assert_in_range(warped_nests, NESTS / 10, NESTS);
	assert_in_range(warped, all / 10, all);
}

/* ---- what warps ---- */

static struct nm_machine small(void)
{
	struct nm_machine machine;

	assert_int_equal(nm_machine_parse("L1d=1K,2,32:L2=4K,4,64", &machine, NULL), 0);
	return machine;
}

/* Of the references of a nest, how many in a hundred are skipped. */
static unsigned share_warped(const char *text)
{
	const struct nm_machine machine = small();
	uint64_t references;
	const uint64_t warped = compare(text, &machine, &references);

	return (unsigned)(100 * warped / references);
}

static void streams_stencils_and_repetitions_warp(void **state)
{
	(void)state;
	assert_in_range(share_warped("array a[200000] of 8\nfor i = 0 to 199999\nread a[i]\nend\n"), 95, 100);
	assert_in_range(share_warped("array a[200000] of 8\nfor i = 199999 to 0 step -1\nwrite a[i]\nend\n"),
			95, 100);
	assert_in_range(share_warped("array a[300][64], b[300][64] of double\n"
				     "for i = 1 to 298\nfor j = 1 to 62\n"
				     "b[i][j] = a[i-1][j] + a[i][j-1] + a[i][j+1] + a[i+1][j]\n"
				     "end\nend\n"),
			70, 100);
	assert_in_range(share_warped("array a[10][64] of 4; array b[10][77] of double\n"
				     "for t = 1 to 200\nfor i = 0 to 9\nfor j = 0 to 63\n"
				     "a[i][j] = b[9-i][j+13-i]\nend\nend\nend\n"),
			70, 100);
}

/* What follows a warped loop finds the lines where the loop has left them. */
static void what_follows_finds_the_lines(void **state)
{
	static const char text[] = "array a[8192], b[8192] of 4 pad 36\n"
				   "for t = 0 to 3\n"
				   "for i = 0 to 8191\na[i] = a[i]\nend\n"
				   "for i = 8191 to 8100 step -1\na[i] = b[8191-i]\nend\n"
				   "for i = 100 to 8000 step 3\nb[i] = a[i+100]\nend\n"
				   "end\n";

	(void)state;
	assert_in_range(share_warped(text), 50, 100);
}

/* Iterations are not alike where bounds or lines of two arrays do not move together. */
static void what_is_not_alike_does_not_warp(void **state)
{
	(void)state;
	assert_int_equal(share_warped("array a[200][200] of 4\nfor i = 0 to 199\nfor j = 0 to i\n"
				      "read a[i][j], a[j][i]\nend\nend\n"),
			 0);
	assert_int_equal(
	    share_warped("array a[300], b[600] of 4\nfor i = 0 to 299\nread a[i], b[2*i]\nend\n"), 0);
	assert_int_equal(
	    share_warped("array a[300], b[300] of 4\nfor i = 0 to 299\nread a[i], b[299-i]\nend\n"), 0);
}

/* ---- what cannot be counted so ---- */

static void expect_simulation(const char *text, const char *spec)
{
	struct nm_nest *nest = parse(text, NO_SETTINGS);
	struct nm_nest_misses misses;
	struct nm_machine machine;

	assert_int_equal(nm_machine_parse(spec, &machine, NULL), 0);
	assert_int_equal(nm_nest_count_misses(nest, &machine, 0, &misses), NM_NEST_SIMULATE);
	nm_nest_free(nest);
}

static void the_rest_is_left_to_simulation(void **state)
{
	static const char plain[] = "array a[9]\nfor i = 0 to 8\nread a[i]\nend\n";
	static const char spec[] = "L1d=1K,2,32";

	(void)state;
	expect_simulation("array a[9]; array b[3] of 4 = 1, 2, 3\nread a[b[1]]\n", spec);
	expect_simulation("array a[9]; array b[3] of 4 = 1, 2, 3\nfor i = 0 to b[1]\nread a[i]\nend\n", spec);
	expect_simulation("array a[9]\nfor i = 0 to 9\nread a[i]\nend\n", spec); /* leaves the array */
	expect_simulation("array a[9]\nfor i = 0 to 8\nfor j = 0 to 8 - i\nread a[i+j]\nend\nend\n",
			  spec); /* seems to */
	expect_simulation("array a[9] at 0x5fffffffffff\nread a[1]\n", spec);
	expect_simulation(plain, "L1d=1K,2,32,policy=fifo");
	expect_simulation(plain, "L1d=1K,2,32,index=xor");
	expect_simulation(plain, "L1d=1K,2,32,prefetch=next");
	expect_simulation(plain, "L1d=1K,2,32:L2=4K,4,32,inclusion=inclusive"); /* it takes lines of L1d */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_nests_miss_as_simulated),
	    cmocka_unit_test(streams_stencils_and_repetitions_warp),
	    cmocka_unit_test(what_follows_finds_the_lines),
	    cmocka_unit_test(what_is_not_alike_does_not_warp),
	    cmocka_unit_test(the_rest_is_left_to_simulation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
