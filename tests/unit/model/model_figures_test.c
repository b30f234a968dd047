/* SPDX-License-Identifier: MIT
 *
 * model_figures_test.c - figures that papers published about blocked, interfering and transposed loops.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hierarchy.h"
#include "machine.h"

/* Published figures. A program is run on one hierarchy, reference by reference. */
struct program {
	struct nm_hierarchy *h;
	struct nm_ref refs[NM_BATCH];
	size_t count;
};

static void start(struct program *p, const char *spec)
{
	struct nm_machine machine;
	struct nm_error err;

	p->count = 0;
	if (nm_machine_parse(spec, &machine, &err))
		fail_msg("%s", err.text);
	assert_int_equal(nm_hierarchy_new(&p->h, &machine, &err), 0);
}

static void flush(struct program *p)
{
	assert_int_equal(nm_hierarchy_run(p->h, p->refs, p->count), 0);
	p->count = 0;
}

/* Touches four bytes. */
static void touch(struct program *p, uint64_t address, uint32_t attr, enum nm_ref_kind kind)
{
	p->refs[p->count++] =
	    (struct nm_ref){.address = address, .attr = attr, .size = 4, .kind = (uint8_t)kind, .weight = 1};
	if (p->count == NM_BATCH)
		flush(p);
}

static struct nm_counts counts_of(struct program *p, unsigned level, uint32_t attr)
{
	struct nm_counts *counts, found = {0};
	size_t attrs;

	flush(p);
	assert_int_equal(nm_hierarchy_counts(p->h, level, &counts, &attrs), 0);
	if (attr < attrs)
		found = counts[attr];
	free(counts);
	return found;
}

enum { ATTR_X, ATTR_Z_READ, ATTR_Z_WRITE, ATTR_Y };

/* Iterations [from, to) of i of the first block of a blocked matrix product in Fortran. */
static void product(struct program *p, uint64_t n, unsigned from, unsigned to)
{
	const uint64_t x = 0, z = x + n * n * 4 + 256, y = z + n * n * 4 + 256;
	for (uint64_t i = from; i < to; i++)
		for (uint64_t k = 0; k < 30; k++) {
			touch(p, x + (k + i * n) * 4, ATTR_X, NM_REF_READ);
			for (uint64_t j = 0; j < 30; j++) {
				touch(p, z + (j + i * n) * 4, ATTR_Z_READ, NM_REF_READ);
				touch(p, y + (j + k * n) * 4, ATTR_Y, NM_REF_READ);
				touch(p, z + (j + i * n) * 4, ATTR_Z_WRITE, NM_REF_WRITE);
			}
		}
}

static void check_product(const char *spec, uint64_t n, unsigned warm, uint64_t cold, uint64_t conflict)
{
	struct program p;
	start(&p, spec);
	product(&p, n, 0, warm);
	uint64_t before[4];
	for (uint32_t c = 0; c < 4; c++)
		before[c] = counts_of(&p, 0, c).loads;
	struct nm_counts y = counts_of(&p, 0, ATTR_Y);
	product(&p, n, warm, warm + 4);
	struct nm_counts after = counts_of(&p, 0, ATTR_Y);
	assert_int_equal(counts_of(&p, 0, ATTR_X).loads - before[ATTR_X], 16);
	assert_int_equal(counts_of(&p, 0, ATTR_Z_READ).loads - before[ATTR_Z_READ], 16);
	assert_int_equal(counts_of(&p, 0, ATTR_Z_WRITE).loads - before[ATTR_Z_WRITE], 0);
	assert_int_equal(after.cold - y.cold, cold);
	assert_int_equal(after.conflict - y.conflict, conflict);
	assert_int_equal(after.capacity - y.capacity, 0);
	nm_hierarchy_free(p.h);
}

/* CVT, blocked matrix product: a poor number of columns, and how a number of sets that is no power of two
 * mends it. */
static void test_blocked_product(void **state)
{
	(void)state;
	check_product("L1d=8K,1,32", 224, 0, 120, 0);
	check_product("L1d=8K,1,32", 256, 0, 120, 360);
	check_product("L1d=8K,1,32,sets=253", 256, 0, 120, 132);
	check_product("L1d=8K,1,32,sets=253", 256, 1, 0, 176);
}

/* CVT, cross-interference: X(j,i) = X(j,i+1) + Y(j,i). */
static void check_interference(uint64_t y, uint64_t write_misses, uint64_t conflicts)
{
	struct program p;
	start(&p, "L1d=8K,1,32");
	for (uint64_t i = 0; i < 100; i++)
		for (uint64_t j = 0; j < 100; j++) {
			touch(&p, (j + (i + 1) * 100) * 4, ATTR_X, NM_REF_READ);
			touch(&p, y + (j + i * 100) * 4, ATTR_Y, NM_REF_READ);
			touch(&p, (j + i * 100) * 4, ATTR_Z_WRITE, NM_REF_WRITE);
		}
	assert_int_equal(counts_of(&p, 0, ATTR_X).read_misses, 1251);
	assert_int_equal(counts_of(&p, 0, ATTR_Y).read_misses, 1250);
	assert_int_equal(counts_of(&p, 0, ATTR_Z_WRITE).write_misses, write_misses);
	assert_int_equal(counts_of(&p, 0, ATTR_Z_WRITE).conflict, conflicts);
	nm_hierarchy_free(p.h);
}

static void test_interference(void **state)
{
	(void)state;
	check_interference(81952, 1250, 1238);
	check_interference(40448, 12, 0);
}

static const char pentium_m[] = "L1d=32K,8,64:L2=1M,8,64";

enum { ATTR_INIT, ATTR_LOOP, ATTR_STACK, N = 1000 };

static double use_of(const struct nm_counts *c) { return (double)c->used_bytes / (double)c->loaded_bytes; }
static double reuse_of(const struct nm_counts *c) { return (double)c->reuse / (double)c->loads; }

/* Callgrind's reuse metrics, table 1: a matrix summed in the right and in the wrong order. */
static void test_orders(void **state)
{
	(void)state;
	for (int wrong = 0; wrong < 2; wrong++) {
		struct program p;
		start(&p, pentium_m);
		for (uint64_t i = 0; i < N * N; i++)
			touch(&p, 0x100000 + i * 4, ATTR_INIT, NM_REF_WRITE);
		for (uint64_t i = 0; i < N; i++)
			for (uint64_t j = 0; j < N; j++)
				touch(&p, 0x100000 + (wrong ? j * N + i : i * N + j) * 4, ATTR_LOOP,
				      NM_REF_READ);
		flush(&p);
		assert_int_equal(nm_hierarchy_finish(p.h), 0);
		struct nm_counts l1 = counts_of(&p, 0, ATTR_LOOP), l2 = counts_of(&p, 1, ATTR_LOOP);
		assert_int_equal(l1.loads, wrong ? 1000000 : 62500);
		assert_int_equal(l1.reuse, 1000000);
		assert_int_equal(l1.used_bytes, 4 * 1000000);
		assert_int_equal(l2.loads, wrong ? 60190 : 62500);
		assert_true(wrong ? use_of(&l2) > .9925 && use_of(&l2) < .9935 : use_of(&l2) == 1);
		assert_true(wrong ? reuse_of(&l2) > 15.85 && reuse_of(&l2) < 15.95 : reuse_of(&l2) == 16);
		nm_hierarchy_free(p.h);
	}
}

/* a[i][j] += b[i][j] * b[j][i] over one block. */
static void transposed(struct program *p, uint64_t a, uint64_t b, uint64_t stack, uint64_t i0, uint64_t j0,
		       uint64_t block)
{
	for (uint64_t i = i0; i < i0 + block; i++)
		for (uint64_t j = j0; j < j0 + block; j++) {
			touch(p, b + (i * N + j) * 4, ATTR_LOOP, NM_REF_READ);
			touch(p, b + (j * N + i) * 4, ATTR_LOOP, NM_REF_READ);
			touch(p, a + (i * N + j) * 4, ATTR_LOOP, NM_REF_WRITE);
			if (stack)
				touch(p, stack, ATTR_STACK, NM_REF_READ);
		}
}

static void check_transposed(uint64_t a, uint64_t b, uint64_t stack, uint64_t block, uint64_t l1_loads,
			     uint64_t l2_loads)
{
	struct program p;
	start(&p, pentium_m);
	for (uint64_t i = 0; i < N * N; i++) {
		touch(&p, a + i * 4, ATTR_INIT, NM_REF_WRITE);
		touch(&p, b + i * 4, ATTR_INIT, NM_REF_WRITE);
		if (stack)
			touch(&p, stack, ATTR_INIT, NM_REF_READ);
	}
	for (uint64_t i = 0; i < N; i += block)
		for (uint64_t j = 0; j < N; j += block)
			transposed(&p, a, b, stack, i, j, block);
	assert_int_equal(counts_of(&p, 0, ATTR_LOOP).loads + counts_of(&p, 0, ATTR_STACK).loads, l1_loads);
	assert_int_equal(counts_of(&p, 1, ATTR_LOOP).loads + counts_of(&p, 1, ATTR_STACK).loads, l2_loads);
	nm_hierarchy_free(p.h);
}

/* The same paper, table 2: with a transposed operand, plain and blocked by 50. */
static void test_transposed(void **state)
{
	const uint64_t b = 0x8049720, stack = 0xbffffe00, bytes = 4 * N * N;
	(void)state;
	check_transposed(0x100000, 0x100000 + bytes, 0, N, 1124000, 176391);
	check_transposed(b + bytes, b, stack, N, 1124001, 176399);
	check_transposed(b + bytes, b, stack, 50, 219513, 175796);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_blocked_product),
	    cmocka_unit_test(test_interference),
	    cmocka_unit_test(test_orders),
	    cmocka_unit_test(test_transposed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
