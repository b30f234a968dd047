/* SPDX-License-Identifier: MIT
 *
 * metrics_test.c - the catalogue of metrics: each name once, the counts of counts.def among them, their values,
 * and docs/format/metrics.md as the catalogue says. NM_WRITE_METRICS=FILE writes the page's list.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "metrics.h"

static void test_names(void **state)
{
	const struct nm_metric *m;

	(void)state;
	for (unsigned i = 0; (m = nm_metric_at(i)); i++) {
		assert_ptr_equal(nm_metric_named(m->name), m);
		assert_non_null(m->title);
		assert_non_null(m->help);
		assert_true(!m->real || !m->integer);
		assert_true((m->flags & NM_METRIC_EVENT) == 0 || (m->left && m->right && m->sign));
	}
	assert_null(nm_metric_named("nothing"));
}

static void test_counts(void **state)
{
	static const char *const counts[] = {
#define NM_COUNT(name) #name,
#include "counts.def"
	};
	const struct nm_metric *m;
	unsigned stored = 0;

	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		m = nm_metric_named(counts[i]);
		assert_non_null(m);
		assert_true(m->flags & NM_METRIC_STORED);
	}
	for (unsigned i = 0; (m = nm_metric_at(i)); i++)
		stored += (m->flags & NM_METRIC_STORED) != 0;
	assert_int_equal(stored, sizeof counts / sizeof *counts);
}

static double value_of(const char *name, const struct nm_metric_sums *sums,
		       const struct nm_metric_total *total)
{
	struct nm_metric_row row = nm_metric_row_of(sums, total->unit);

	row.cycles = 700;
	row.last_misses = 3;
	return nm_metric_value(nm_metric_named(name), &row, total);
}

/* The formulas in C, by hand. */
static void test_values(void **state)
{
	const struct nm_metric_sums sums = {.reads = 60,
					    .writes = 40,
					    .read_misses = 6,
					    .write_misses = 4,
					    .loads = 12,
					    .reuse = 24,
					    .used_bytes = 96,
					    .loaded_bytes = 512};
	const struct nm_metric_total total = {
	    .sum = {.read_misses = 30, .write_misses = 10}, .instructions = 5000, .unit = 64};
	const struct nm_metric_total mixed = {.instructions = 0, .unit = 0}; /* levels with other lines */

	(void)state;
	assert_true(value_of("references", &sums, &total) == 100);
	assert_true(value_of("misses", &sums, &total) == 10);
	assert_true(value_of("loads", &sums, &total) == 12);
	assert_true(value_of("wasted_bytes", &sums, &total) == 512 - 96);
	assert_true(value_of("share", &sums, &total) == 100.0 * 10 / 40);
	assert_true(value_of("mpki", &sums, &total) == 1000.0 * 10 / 5000);
	assert_true(value_of("miss_ratio", &sums, &total) == 100.0 * 10 / 100);
	assert_true(value_of("reuse", &sums, &total) == 24.0 / (512 / 64)); /* prefetched lines too */
	assert_true(value_of("reuse", &sums, &mixed) == 24.0 / 12);
	assert_true(value_of("waste", &sums, &total) == 100.0 * (512 - 96) / 512);
	assert_true(isnan(value_of("mpki", &sums, &mixed)));
}

static const char *unit_of(const struct nm_metric *m)
{
	static const char *const units[] = {"count", "bytes", "%", "ratio", "cycles", "text"};

	return units[m->unit];
}

static void write_list(FILE *out)
{
	const struct nm_metric *m;

	for (unsigned i = 0; (m = nm_metric_at(i)); i++) {
		fprintf(out, "- `%s` (", m->name);
		if (strcmp(m->title, m->name))
			fprintf(out, "*%s*, ", m->title);
		fprintf(out, "%s; report%s%s): %s\n", unit_of(m),
			m->flags & NM_METRIC_ANNOTATED ? ", annotate" : "",
			m->flags & (NM_METRIC_STORED | NM_METRIC_EVENT) ? ", export" : "", m->help);
	}
}

/* The page holds the list as it is made here. */
static void test_page(void **state)
{
	const char *write_to = getenv("NM_WRITE_METRICS");
	char *list = NULL, page[16000] = "";
	size_t size = 0;
	FILE *out = write_to ? fopen(write_to, "w") : NULL, *in, *memory = open_memstream(&list, &size);

	(void)state;
	if (out) {
		write_list(out);
		fclose(out);
	}
	write_list(memory);
	fclose(memory);
	in = fopen(NM_TEST_DATA "/../../docs/format/metrics.md", "r");
	assert_non_null(in);
	assert_true(fread(page, 1, sizeof page - 1, in) > 0);
	fclose(in);
	assert_non_null(strstr(page, list));
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_counts),
	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
