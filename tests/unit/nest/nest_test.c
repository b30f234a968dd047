/* SPDX-License-Identifier: MIT
 *
 * nest_test.c - loop nests: the stream of a nest against the same loops written in C, layout, names of
 * references, warm-up, and walks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "nest_stream.h"

/* ---- against the same loops in C ---- */

static const char product[] = "parameter N = 7; parameter B = 3\n"
			      "array X(0:N-1, 0:N-1), Z(0:N-1, 0:N-1), Y(0:N-1, 0:N-1) of real*4 pad 256\n"
			      "for kk = 0 to N-1 step B\n"
			      "  for jj = 0 to N-1 step B\n"
			      "    for i = 0 to N-1\n"
			      "      for k = kk to min(kk+B-1, N-1)\n"
			      "        reg = X(k,i)\n"
			      "        for j = jj to min(jj+B-1, N-1)\n"
			      "          Z(j,i) = Z(j,i) + reg * Y(j,k)\n"
			      "        end\n"
			      "      end\n"
			      "    end\n"
			      "  end\n"
			      "end\n";

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void expect_product(struct stream *s, int64_t n, int64_t b)
{
	const uint64_t array = (uint64_t)(n * n) * 4 + 256;
	const uint64_t x = ORIGIN, z = x + array, y = z + array;
	size_t at = 0;

#define AT(base, first, second) ((base) + 4 * (uint64_t)((first) + n * (second)))
	for (int64_t kk = 0; kk < n; kk += b)
		for (int64_t jj = 0; jj < n; jj += b)
			for (int64_t i = 0; i < n; i++)
				for (int64_t k = kk; k <= least(kk + b - 1, n - 1); k++) {
					expect(s, &at, 0, AT(x, k, i));
					for (int64_t j = jj; j <= least(jj + b - 1, n - 1); j++) {
						expect(s, &at, 0, AT(z, j, i));
						expect(s, &at, 0, AT(y, j, k));
						expect(s, &at, 1, AT(z, j, i));
					}
				}
#undef AT
	assert_int_equal(at, s->seen.count);
}

static void the_blocked_product_is_that_of_c(void **state)
{
	struct stream s;

	(void)state;
	run_text(&s, product, NO_SETTINGS);
	expect_product(&s, 7, 3);
	done(&s);
	run_text(&s, product, (const char *const[]){"N=5", "B=2*2", "N=20", NULL}); /* the last one holds */
	expect_product(&s, 20, 4);
	done(&s);
}

static void long_loops_go_through_in_pieces(void **state)
{
	struct stream s;
	size_t at = 0;

	(void)state;
	run_text(
	    &s,
	    "array a(100000) of 8; array b(0:99999) of 2\nfor i = 100000 to 1 step -1\nb(100000-i) = a(i)\nend",
	    NO_SETTINGS);
	for (uint64_t i = 100000; i >= 1; i--) {
		expect(&s, &at, 0, ORIGIN + 8 * (i - 1));
		expect(&s, &at, 1, ORIGIN + 800000 + 2 * (100000 - i));
	}
	assert_int_equal(at, s.seen.count);
	assert_in_range(s.largest, 1, 32768); /* a chunk of the ring */
	assert_int_equal(s.seen.at[0].bytes, 8);
	assert_int_equal(s.seen.at[1].bytes, 2);
	done(&s);
}

/* A sparse matrix times a vector: bounds and subscripts from index arrays, which are read themselves. */
static void index_arrays_are_read_and_followed(void **state)
{
	static const int64_t first[] = {1, 3, 3, 6}, column[] = {2, 4, 1, 2, 3};
	struct stream s;
	size_t at = 0;
	uint64_t ptr = ORIGIN, col = ptr + 16, val = col + 24, x = val + 40, y = x + 32;

	(void)state;
	run_text(&s,
		 "array PTR(4) of int = 1, 3, 3,\n 6\n"
		 "array COL(5) of int = 2, 4, 1, 2, 3\n"
		 "array VAL(5), x(4), y(3) of double\n"
		 "for i = 1 to 3\n"
		 "  for k = PTR(i) to PTR(i+1) - 1\n"
		 "    y(i) += VAL(k) * x(COL(k))\n"
		 "  end\n"
		 "end\n",
		 NO_SETTINGS);
	for (uint64_t i = 1; i <= 3; i++) {
		expect(&s, &at, 0, ptr + 4 * (i - 1));
		expect(&s, &at, 0, ptr + 4 * i);
		for (int64_t k = first[i - 1]; k < first[i]; k++) {
			expect(&s, &at, 0, val + 8 * (uint64_t)(k - 1));
			expect(&s, &at, 0, col + 4 * (uint64_t)(k - 1));
			expect(&s, &at, 0, x + 8 * (uint64_t)(column[k - 1] - 1));
			expect(&s, &at, 0, y + 8 * (i - 1));
			expect(&s, &at, 1, y + 8 * (i - 1));
		}
	}
	assert_int_equal(at, s.seen.count);
	done(&s);
}

static void values_may_come_from_a_file(void **state)
{
	char path[] = "/tmp/nearmiss-values-XXXXXX", text[200];
	int fd = mkstemp(path);
	struct stream s;
	size_t at = 0;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "3,1\n 0x2\n", 9), 9);
	close(fd);
	snprintf(text, sizeof text, "array I[3] = file \"%s\"\narray a[4]\nfor k = 0 to 2\nread a[I[k]]\nend",
		 path);
	run_text(&s, text, NO_SETTINGS);
	for (uint64_t k = 0; k < 3; k++) {
		expect(&s, &at, 0, ORIGIN + 4 * k);
		expect(&s, &at, 0, ORIGIN + 12 + 4 * (uint64_t[]){3, 1, 2}[k]);
	}
	assert_int_equal(at, s.seen.count);
	done(&s);
	unlink(path);
}

static void bounds_take_min_max_and_steps(void **state)
{
	struct stream s;
	size_t at = 0;

	(void)state;
	run_text(&s,
		 "parameter N = mod(-3, 8) * 2  # 10\n"
		 "array a(-5:N, 0:N)\n"
		 "for i = N to 0 step -3\n"
		 "  for j = max(i - 4, 2*3 - i, 1) - 1 to min(i, N/3, 7) + 1\n"
		 "    a(j - 3, i) = 1\n"
		 "    a(j - 3, i) = 2.5e-3\n"
		 "  end\n"
		 "end\n",
		 NO_SETTINGS);
	for (int64_t i = 10; i >= 0; i -= 3) {
		int64_t low = i - 4 > 6 - i ? i - 4 : 6 - i;

		for (int64_t j = (low > 1 ? low : 1) - 1; j <= least(i, 3) + 1; j++)
			for (int k = 0; k < 2; k++)
				expect(&s, &at, 1, ORIGIN + 4 * (uint64_t)(j - 3 + 5 + 16 * i));
	}
	assert_true(at > 10);
	assert_int_equal(at, s.seen.count);
	done(&s);
}

static void divisions_round_down_at_the_ends_of_the_numbers(void **state)
{
	struct stream s;
	size_t at = 0;

	(void)state;
	run_text(&s,
		 "parameter Q = 9223372036854775807 / -3   # -3074457345618258603\n"
		 "parameter R = mod(9223372036854775807, -3) # -2\n"
		 "array a(0:3)\n"
		 "for i = R + 2 to Q + 3074457345618258605\n"
		 "  a(i) = 1\n"
		 "end\n",
		 NO_SETTINGS);
	for (uint64_t i = 0; i <= 2; i++)
		expect(&s, &at, 1, ORIGIN + 4 * i);
	assert_int_equal(at, s.seen.count);
	done(&s);
}

/* ---- layout ---- */

static uint64_t address_of(const struct nm_nest *nest, const char *name)
{
	struct nm_nest_array_info a;

	for (size_t i = 0; nm_nest_array_at(nest, i, &a); i++)
		if (!strcmp(a.name, name))
			return a.address;
	fail_msg("no array %s", name);
	return 0;
}

static void arrays_lie_where_they_are_told(void **state)
{
	static const char text[] =
	    "array c(3) of byte\narray d(2) of real*8\narray e(1) of 24 align 64 pad 100\n"
	    "array f(1) at e + 4096\norigin 0x200000\narray g[2] of short\n"
	    "array h[1] of complex*16";
	struct nm_nest *nest = parse(text, NO_SETTINGS);

	(void)state;
	assert_int_equal(address_of(nest, "c"), ORIGIN);
	assert_int_equal(address_of(nest, "d"), ORIGIN + 8); /* aligned to its elements */
	assert_int_equal(address_of(nest, "e"), ORIGIN + 64);
	assert_int_equal(address_of(nest, "f"), ORIGIN + 64 + 4096);
	assert_int_equal(address_of(nest, "g"), 0x200000);
	assert_int_equal(address_of(nest, "h"), 0x200010);
	nm_nest_free(nest);
	nest = parse(text, (const char *const[]){"d=0x300000", "g=d+800", NULL});
	assert_int_equal(address_of(nest, "d"), 0x300000);
	assert_int_equal(address_of(nest, "e"), 0x300040); /* behind it */
	assert_int_equal(address_of(nest, "g"), 0x300000 + 800);
	nm_nest_free(nest);
}

static void order_is_that_of_the_brackets_or_as_told(void **state)
{
	struct stream s;
	size_t at = 0;

	(void)state;
	run_text(&s,
		 "array f(10, 20); array c[10][20]; array r(10, 20) row; array l[10][20] column\n"
		 "read f(3, 5), c[2][4], r(3, 5), l[2][4]",
		 NO_SETTINGS);
	expect(&s, &at, 0, ORIGIN + 4 * (2 + 10 * 4));
	expect(&s, &at, 0, ORIGIN + 800 + 4 * (2 * 20 + 4));
	expect(&s, &at, 0, ORIGIN + 1600 + 4 * (2 * 20 + 4));
	expect(&s, &at, 0, ORIGIN + 2400 + 4 * (2 + 10 * 4));
	done(&s);
}

/* ---- names and warm-up ---- */

static void each_reference_is_a_place(void **state)
{
	static const char *const names[] = {"X(i,i+1)", "X(i,i+1) #2", "X(i,i)",
					    "X(i,i) =", "X(1,1)",      "X(1,1) ="};
	static const unsigned lines[] = {3, 3, 3, 3, 5, 5}, statements[] = {1, 1, 1, 1, 2, 2};
	struct nm_nest *nest =
	    parse("array X(9, 9)\nfor i = 1 to 1\nX( i,i ) += X(i,i + 1) * X(i, i+1)\nend\n"
		  "X(1,1) = X(1,1)",
		  NO_SETTINGS);
	struct nm_nest_reference_info r;
	struct stream s;
	char address[100];

	(void)state;
	assert_int_equal(run(&s, nest, NULL), 0);
	assert_int_equal(s.seen.count, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_true(nm_nest_reference_at(nest, i, &r));
		assert_string_equal(r.name, names[i]);
		assert_string_equal(s.seen.at[i].place, names[i]);
		assert_string_equal(r.array, "X");
		assert_int_equal(r.line, lines[i]);
		assert_int_equal(s.seen.at[i].line, lines[i]);
		assert_int_equal(r.statement, statements[i]);
		assert_int_equal(r.is_write, i % 2 && i > 2);
		assert_int_equal(r.is_write, s.seen.at[i].is_write);
	}
	assert_int_equal(r.column, 1);
	assert_false(nm_nest_reference_at(nest, 6, &r));
	nm_nest_reference_address(nest, 0, address, sizeof address);
	assert_string_equal(address, "1048572 + 40 i"); /* X(0,1), and 4 + 36 bytes for each i */
	done(&s);
	nm_nest_free(nest);
}

/* Warm-up makes the same references at sites of its own. */
static void what_warms_up_stands_apart(void **state)
{
	struct stream s;
	size_t warm = 0;

	(void)state;
	run_text(&s,
		 "array a(8); array I(8) = 1,2,3,4,5,6,7,8\n"
		 "warmup\nread a(8)\nend\n"
		 "for t = 1 to 3 warm 1\n"
		 "  for i = 1 to 4 warm 3\n    read a(i)\n  end\n"
		 "  read a(t)\n"
		 "end\n"
		 "read a(I(3))\n",
		 NO_SETTINGS);
	assert_int_equal(s.seen.count, 1 + 3 * 5 + 2);
	for (size_t i = 0; i < s.seen.count; i++) {
		size_t t = (i - 1) / 5, k = (i - 1) % 5;
		int expected = i == 0 || (i < 16 && (t == 0 || k < 3));

		assert_int_equal(strstr(s.seen.at[i].place, NM_NEST_WARM_UP) != NULL, expected);
		warm += (size_t)expected;
	}
	assert_int_equal(warm, 1 + 5 + 3 + 3);
	done(&s);
}

/* ---- walks ---- */

struct walk {
	const struct stream *stream;
	const struct nm_nest *nest;
	uint64_t next; /* number */
	int64_t indices[4];
	unsigned loops;
};

static int step(void *self, const struct nm_nest_step *step, struct nm_error *err)
{
	struct walk *w = self;
	const struct seen *seen = &w->stream->seen.at[step->number - 1];
	struct nm_nest_reference_info r;
	char place[100];

	(void)err;
	assert_int_equal(step->number, w->next++);
	assert_int_equal(step->address, seen->address);
	assert_true(nm_nest_reference_at(w->nest, step->reference, &r));
	snprintf(place, sizeof place, "%s%s", r.name, step->warms_up ? NM_NEST_WARM_UP : "");
	assert_string_equal(place, seen->place);
	w->loops = step->loops;
	for (unsigned i = 0; i < step->loops && i < 4; i++)
		w->indices[i] = step->value[i];
	return 0;
}

/* A walk shows what a run sends, from wherever it begins. */
static void walks_show_what_runs_send(void **state)
{
	static const char text[] = "array a(0:9, 0:9), b(0:9)\narray I[3] = 2, 0, 1\n"
				   "for i = 0 to 8 warm 2\n"
				   "  for j = 9 to i step -1\n    a(i, j) = a(i, j) + b(j)\n  end\n"
				   "  read b(I[1] + i)\n"
				   "  for j = 0 to I[2]\n    b(j) = 0\n  end\n"
				   "end\n";
	struct nm_nest *nest = parse(text, NO_SETTINGS);
	struct stream s;

	(void)state;
	assert_int_equal(run(&s, nest, NULL), 0);
	for (uint64_t first = 1; first <= s.seen.count + 1; first++)
		for (uint64_t last = first; last <= s.seen.count + 3; last += 7) {
			struct walk w = {.stream = &s, .nest = nest, .next = first};
			struct nm_nest_visitor visitor = {step, &w};

			assert_int_equal(nm_nest_walk(nest, first, last, &visitor, NULL), 0);
			assert_int_equal(w.next, (last < s.seen.count ? last : s.seen.count) + 1);
		}
	done(&s);
	nm_nest_free(nest);
}

static void walks_know_the_indices(void **state)
{
	struct nm_nest *nest = parse(product, NO_SETTINGS);
	struct walk w = {.nest = nest};
	struct nm_nest_visitor visitor = {step, &w};
	struct stream s;
	size_t at = 0;

	(void)state;
	assert_int_equal(run(&s, nest, NULL), 0);
	w.stream = &s;
	for (int64_t kk = 0; kk < 7; kk += 3)
		for (int64_t jj = 0; jj < 7; jj += 3)
			for (int64_t i = 0; i < 7; i++)
				for (int64_t k = kk; k <= least(kk + 2, 6); k++) {
					w.next = at + 1;
					assert_int_equal(nm_nest_walk(nest, at + 1, at + 1, &visitor, NULL),
							 0);
					assert_int_equal(w.loops, 4); /* X(k,i) */
					assert_int_equal(w.indices[0], kk);
					assert_int_equal(w.indices[1], jj);
					assert_int_equal(w.indices[2], i);
					assert_int_equal(w.indices[3], k);
					at += 1 + 3 * (size_t)(least(jj + 2, 6) - jj + 1);
				}
	assert_int_equal(at, s.seen.count);
	done(&s);
	nm_nest_free(nest);
}

/* Exact where all iterations are alike, near where they are not. */
static void references_are_estimated(void **state)
{
	static const struct {
		const char *text;
		double off; /* at most, as a share */
	} nests[] = {
	    {"array A(100) of real*8\nfor i = 1 to 100\nA(i) += 1\nend\nread A(1)\n", 0},
	    {"array A(100) of real*8\nfor i = 100 to 1 step -7\nread A(i)\nend\n", 0},
	    {"array A(9) of real*8\nfor i = 5 to 4\nread A(i)\nend\nread A(2)\n", 0},
	    {"array A(9, 8) of real*8\nwarmup\nread A(1, 1)\nend\nfor i = 1 to 9\nread A(i, 1)\n"
	     "for j = 1 to 8\nwrite A(i, j)\nend\nend\n",
	     0},
	    {"array A(99, 99) of real*8\nfor i = 1 to 99\nfor j = i to 99\nread A(i, j)\nend\nend\n", 0.001},
	    {"array A(60, 60) of real*8\nfor i = 1 to 60\nfor j = i to 60\nfor k = j to 60\nread A(i, k)\n"
	     "end\nend\nend\n",
	     0.05},
	    {"array R(4) of int = 1, 3, 5, 7\narray A(7) of real*8\nfor i = 1 to 3\n"
	     "for k = R(i) to R(i + 1) - 1\nread A(k)\nend\nend\n",
	     0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof nests / sizeof *nests; i++) {
		struct nm_nest *nest = parse(nests[i].text, NO_SETTINGS);
		double wanted, found;
		struct stream s;

		assert_int_equal(run(&s, nest, NULL), 0);
		wanted = (double)s.seen.count;
		found = nm_nest_estimate(nest);
		if (found < wanted * (1 - nests[i].off) - 1e-6 || found > wanted * (1 + nests[i].off) + 1e-6)
			fail_msg("nest %zu: %g references, not %g", i, found, wanted);
		done(&s);
		nm_nest_free(nest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_blocked_product_is_that_of_c),
	    cmocka_unit_test(long_loops_go_through_in_pieces),
	    cmocka_unit_test(index_arrays_are_read_and_followed),
	    cmocka_unit_test(values_may_come_from_a_file),
	    cmocka_unit_test(bounds_take_min_max_and_steps),
	    cmocka_unit_test(divisions_round_down_at_the_ends_of_the_numbers),
	    cmocka_unit_test(arrays_lie_where_they_are_told),
	    cmocka_unit_test(order_is_that_of_the_brackets_or_as_told),
	    cmocka_unit_test(each_reference_is_a_place),
	    cmocka_unit_test(what_warms_up_stands_apart),
	    cmocka_unit_test(walks_show_what_runs_send),
	    cmocka_unit_test(walks_know_the_indices),
	    cmocka_unit_test(references_are_estimated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
