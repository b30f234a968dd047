/* SPDX-License-Identifier: MIT
 *
 * families_test.c - estimates of two families of streams, drawn anew each time, beside simulated caches of random
 * replacement and exact stack distances. NM_SEED repeats a run. How right estimates are, family by family:
 * docs/evaluation/curves.md.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "families_check.h"

enum { REFERENCES = 100000, LEAST_SAMPLES = 30 };
static const double MOST_BEYOND = 0.02; /* mean of any stream, however it is drawn */

static const struct family_method methods[] = {{&nm_estimator_statcache, 1e-2, 0},
					       {&nm_estimator_statcache, 1e-2, 1},
					       {&nm_estimator_statstack, 1e-2, 0},
					       {&nm_estimator_statstack, 1e-2, 1},
					       {&nm_estimator_shards, 1e-2, 0}};

/* A seed that differs from run to run, unless one is given. */
static uint64_t find_seed(void)
{
	const char *given = getenv("NM_SEED");
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return given ? strtoull(given, NULL, 10)
		     : (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct covered {
	double points, beyond; /* by how much the truth lies beyond intervals */
};

/* Points of all sizes, of the whole and of objects. */
static struct covered check(const struct family_stream *s, const struct family_truth *truth,
			    const struct family_method *m, uint64_t seed)
{
	static struct nm_estimate got[FAMILY_SIZES][FAMILY_GROUPS];
	const int lru = !strcmp(m->estimator->policy, "lru");
	struct covered c = {0};

	family_estimate(s, truth, m, seed, got);
	for (unsigned size = 0; size < FAMILY_SIZES; size++)
		for (unsigned group = 0; group <= FAMILY_OBJECTS; group++) {
			const struct nm_estimate *e = &got[size][group];
			const double right = (lru ? truth->lru : truth->random)[size][group];

			if (isnan(e->miss_ratio) || (group && e->samples < LEAST_SAMPLES))
				continue;
			c.points++;
			c.beyond += fmax(0, fmax(e->low - right, right - e->high));
		}
	return c;
}

static void check_family(const struct family *f, uint64_t seed)
{
	struct family_stream s = family_draw(f, REFERENCES, seed);
	struct family_truth truth;

	family_find_truth(&s, seed, &truth);
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		const struct covered c = check(&s, &truth, &methods[i], seed);

		if (!(c.points > 0 && c.beyond <= MOST_BEYOND * c.points))
			fail_msg("NM_SEED=%" PRIu64
				 ": %s (%s), %s: beyond its intervals by %f on average of %.0f points",
				 seed, f->name, s.about, methods[i].estimator->name, c.beyond / c.points,
				 c.points);
	}
	family_free(&s);
}

static void test_two_families(void **state)
{
	const uint64_t seed = find_seed();
	size_t count = 0;

	(void)state;
	while (families[count].name)
		count++;
	check_family(&families[seed % count], seed);
	check_family(&families[(seed + 1 + seed / count % (count - 1)) % count], seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_families)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
