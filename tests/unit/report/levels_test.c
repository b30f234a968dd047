/* SPDX-License-Identifier: MIT
 *
 * levels_test.c - properties of the cost model that hold whatever its figures are, and what counts are charged to
 * levels, held against a model that charges each row by the rules alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "level_cube.h"
#include "numbers.h"

enum { LATENCIES = 2000 };

/* At least, likely, at most: in this order. What is covered never costs more, what is dependent never less. */
static void test_order(void **state)
{
	static const enum nm_case order[] = {NM_LEAST, NM_LIKELY, NM_MOST};

	(void)state;
	for (int latency = 0; latency < LATENCIES; latency++) {
		struct nm_waits before = {.dependent = 0};

		for (unsigned i = 0; i < NM_CASES; i++) {
			const struct nm_waits w = nm_waits_of(order[i], latency);

			assert_true(w.covered <= w.together && w.together <= w.dependent);
			assert_true(before.covered <= w.covered && before.together <= w.together &&
				    before.dependent <= w.dependent);
			before = w;
		}
	}
	assert_true(nm_waiting[NM_LEAST].per_instruction >= nm_waiting[NM_LIKELY].per_instruction);
	assert_true(nm_waiting[NM_LIKELY].per_instruction >= nm_waiting[NM_MOST].per_instruction);
}

static struct nm_levels machine(int has_covered)
{
	return (struct nm_levels){.at = {{.name = "L1d", .side = NM_LEVEL_DATA},
					 {.name = "L1i", .side = NM_LEVEL_CODE},
					 {.name = "L2", .latency = 20},
					 {.name = "L3", .latency = 60}},
				  .count = 4,
				  .memory = 300,
				  .walk = 40,
				  .has_covered = has_covered};
}

/* A load that misses all levels waits for memory, and for one page walk, whatever is between. */
static void test_levels(void **state)
{
	const struct nm_levels m = machine(1);
	const struct nm_waits memory = nm_waits_of(NM_LIKELY, 300);
	struct nm_waits all = {.dependent = 0};

	(void)state;
	assert_int_equal(nm_levels_next_latency(&m, &m.at[0]), 20);
	assert_int_equal(nm_levels_next_latency(&m, &m.at[1]), 20);
	assert_int_equal(nm_levels_next_latency(&m, &m.at[3]), 300);
	for (unsigned i = 0; i < m.count; i++) {
		const struct nm_waits w = nm_levels_waits(&m, &m.at[0], &m.at[i], NM_LIKELY);

		if (m.at[i].side == NM_LEVEL_CODE)
			continue;
		all.dependent += w.dependent;
		all.together += w.together;
		all.covered += w.covered;
		all.dependent_walk += w.dependent_walk;
		all.walk += w.walk;
	}
	assert_float_equal(all.dependent, memory.dependent, 1e-4);
	assert_float_equal(all.together, memory.together, 1e-4);
	assert_float_equal(all.covered, memory.covered, 1e-4);
	assert_float_equal(all.dependent_walk, 40, 1e-4);
	assert_true(0 < all.walk && all.walk < all.dependent_walk);
}

static void test_no_coverage(void **state)
{
	const struct nm_levels m = machine(0);
	const struct nm_waits w = nm_levels_waits(&m, &m.at[0], &m.at[0], NM_LIKELY);

	(void)state;
	assert_true(w.dependent + w.together + w.covered + w.dependent_walk + w.walk == 0);
}

/* ---- charged sums ---- */

enum { ROWS = 400, NAMES = 5 };

struct row {
	unsigned level, name;
	int is_code;
	struct nm_metric_sums counts;
};

static struct row random_row(const struct nm_levels *m)
{
	struct row row = {
	    .level = (unsigned)below(m->count), .name = (unsigned)below(NAMES), .is_code = below(3) == 0};
	struct nm_metric_sums *c = &row.counts;

	if (m->at[row.level].side != NM_LEVEL_UNIFIED)
		row.is_code = m->at[row.level].side == NM_LEVEL_CODE;
	c->reads = (int64_t)below(1000);
	c->writes = (int64_t)below(500);
	c->read_misses = (int64_t)below((uint64_t)c->reads + 1);
	c->write_misses = (int64_t)below((uint64_t)c->writes + 1);
	c->loads = c->read_misses + c->write_misses;
	c->covered = (int64_t)below((uint64_t)c->loads + 1);
	c->dependent = (int64_t)below((uint64_t)(c->loads - c->covered) + 1);
	c->page_walks = (int64_t)below((uint64_t)(c->loads - c->covered) + 1);
	c->loaded_bytes = 64 * c->loads;
	return row;
}

/* By the rules of levels.c. L1d and L1i are at, 0 and 1, L2 and L3 behind both; level 4 is of another machine. */
static int serves(unsigned of, const struct row *row)
{
	if (row->level == of)
		return 1;
	if (of >= 4 || row->level >= 4 || row->level <= of || row->level == 1)
		return 0;
	return of >= 2 || row->is_code == (of == 1);
}

static double slow_cycles(const struct nm_levels *m, unsigned of, const struct row *row)
{
	const struct nm_metric_sums *c = &row->counts;
	const int told = m->has_covered && of < 4;
	const struct nm_waits w = nm_levels_waits(m, &m->at[of], &m->at[row->level], NM_LIKELY);
	const double misses = (double)(c->read_misses + c->write_misses);
	const double hits = (double)(c->reads + c->writes) - misses;
	const double others = (double)(c->loads - c->covered);
	const double dependent = others > 0 ? (double)c->dependent / others : 0;

	if (told)
		return (double)c->dependent * w.dependent + (others - (double)c->dependent) * w.together +
		       (double)c->covered * w.covered +
		       (row->level == of && of < 2 ? hits * (double)m->at[of].latency : 0) +
		       (double)c->page_walks * (dependent * w.dependent_walk + (1 - dependent) * w.walk);
	return (row->level != of || of < 2 || of == 4 ? hits * (double)m->at[row->level].latency : 0) +
	       (row->level >= 3 ? misses * (double)m->memory : 0);
}

/* What the slow model has of one name at one level. */
struct charged_name {
	int64_t own, misses, last_misses, lines, beside;
	double cycles;
};

static struct charged_name slow_charge(const struct nm_selection *s, const struct row *rows, unsigned of,
				       unsigned name)
{
	struct charged_name sum = {.own = 0};

	for (unsigned i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];
		const int64_t misses = row->counts.read_misses + row->counts.write_misses;

		if (row->name != name)
			continue;
		if (row->level == 4 && (of == 4 || of >= 2 || row->is_code == (of == 1)))
			sum.beside += misses;
		if (!serves(of, row))
			continue;
		sum.own += row->level == of;
		sum.misses += row->level == of ? misses : 0;
		sum.lines += row->level == of ? row->counts.loads : 0;
		sum.last_misses += row->level == 3 ? misses : 0;
		sum.cycles += slow_cycles(&s->levels, of, row);
	}
	return sum;
}

static void check_charges(const struct nm_selection *s, const struct row *rows,
			  const struct nm_level_cube *cube)
{
	static const unsigned by[] = {NM_CUBE_LEVEL, NM_CUBE_ASKED};
	struct nm_charged charged;

	assert_int_equal(nm_charge(&charged, cube, s, NULL, by, 2, NULL, 0), 0);
	for (unsigned of = 0; of < s->levels.count; of++)
		for (unsigned name = 0; name < NAMES; name++) {
			const struct charged_name slow = slow_charge(s, rows, of, name);
			const nm_key keys[] = {of + 1, name + 1};
			const int64_t *sums = nm_cube_at(&charged.cube, keys);
			const size_t row = (size_t)(sums - charged.cube.sums) / charged.cube.sum_count;
			struct nm_metric_row fast;

			assert_int_equal(nm_vec_reach(&charged.cycles, charged.cube.row_count), 0);
			fast = nm_charged_row(&charged, row);
			assert_true((slow.own > 0) == (sums[NM_CHARGED_OWN] > 0));
			assert_int_equal(fast.sums.read_misses + fast.sums.write_misses, slow.misses);
			assert_int_equal(fast.last_misses, slow.last_misses);
			assert_int_equal(fast.lines, slow.lines);
			assert_int_equal(sums[NM_CHARGED_MACHINES], slow.beside);
			assert_true(fabs(charged.cycles.at[row] - slow.cycles) <= 1e-6 * (1 + slow.cycles));
		}
	nm_charged_done(&charged);
}

static void test_charges(void **state)
{
	static const char *const keys[] = {"level", "code", "name", NULL};
	struct row *rows = calloc(ROWS, sizeof *rows);

	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		struct nm_selection s = {.levels = machine(round & 1), .machine_levels = 1};
		struct nm_level_cube cube = {.cube = nm_cube_of(keys, NM_COUNTS)};

		s.levels.at[4] = (struct nm_level){.name = "B/L2", .latency = 30};
		s.levels.at[0].latency = round & 2 ? 4 : 0;
		s.levels.count = 5;
		s.last = &s.levels.at[3];
		s.machines[0].level = &s.levels.at[4];
		cube.cube.numbers = 7;
		for (unsigned i = 0; i < ROWS; i++) {
			rows[i] = random_row(&s.levels);
			const nm_key of[] = {rows[i].level + 1, (nm_key)rows[i].is_code + 1,
					     rows[i].name + 1};

			assert_int_equal(nm_level_cube_add(&cube, of, &rows[i].counts), 0);
		}
		check_charges(&s, rows, &cube);
		nm_level_cube_done(&cube);
	}
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_levels),
	    cmocka_unit_test(test_no_coverage),
	    cmocka_unit_test(test_charges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
