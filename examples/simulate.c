/* SPDX-License-Identifier: MIT
 *
 * simulate.c - a program that simulates itself: it sums and copies a matrix, in both orders of the loops, passes
 * each of its references to libnearmiss, and prints the misses.
 *
 *     cc simulate.c $(pkg-config --cflags --libs nearmiss) -o simulate && ./simulate
 *     ./simulate L1d=8K,1,32,sets=253
 *
 * No collector and no profile: use this to see how an algorithm behaves in a cache.
 */
#include <inttypes.h>
#include <nearmiss/nearmiss.h>
#include <stdio.h>

enum { N = 512 };
enum tag { SUMMED, COPY, TAGS };

static double matrix[N][N], copy[N][N] __attribute__((aligned(4096)));
static const char *const names[TAGS] = {"matrix", "copy"};

static double read_element(struct nearmiss_hierarchy *caches, const double *element)
{
	nearmiss_feed(caches, (uintptr_t)element, sizeof *element, NEARMISS_READ, SUMMED);
	return *element;
}

static void write_element(struct nearmiss_hierarchy *caches, double *element, double value)
{
	nearmiss_feed(caches, (uintptr_t)element, sizeof *element, NEARMISS_WRITE, COPY);
	*element = value;
}

static double sum_and_copy(struct nearmiss_hierarchy *caches, int down_columns)
{
	double sum = 0;

	for (int a = 0; a < N; a++)
		for (int b = 0; b < N; b++) {
			int i = down_columns ? b : a, j = down_columns ? a : b;
			double value = read_element(caches, &matrix[i][j]);

			write_element(caches, &copy[i][j], value);
			sum += value;
		}
	return sum;
}

static int simulate(const struct nearmiss_machine *machine, const char *order, int down_columns)
{
	struct nearmiss_hierarchy *caches;
	struct nearmiss_error err;

	if (nearmiss_hierarchy_new(machine, &caches, &err)) {
		fprintf(stderr, "simulate: %s\n", err.text);
		return 1;
	}
	sum_and_copy(caches, down_columns);
	if (nearmiss_finish(caches)) {
		fprintf(stderr, "simulate: out of memory\n");
		nearmiss_hierarchy_free(caches);
		return 1;
	}
	for (unsigned level = 0; level < nearmiss_machine_levels(machine); level++)
		for (uint32_t tag = 0; tag < TAGS; tag++)
			printf("%-8s %-6s %-7s %8" PRIu64 " misses, %7" PRIu64 " of them conflicts\n", order,
			       nearmiss_level_name(machine, level), names[tag],
			       nearmiss_count(caches, level, tag, NEARMISS_READ_MISSES) +
				   nearmiss_count(caches, level, tag, NEARMISS_WRITE_MISSES),
			       nearmiss_count(caches, level, tag, NEARMISS_CONFLICT));
	nearmiss_hierarchy_free(caches);
	return 0;
}

int main(int argc, char **argv)
{
	struct nearmiss_machine *machine;
	struct nearmiss_error err;
	int failed;

	if (nearmiss_machine_parse(argc > 1 ? argv[1] : "L1d=32K,8,64:L2=256K,8,64", &machine, &err)) {
		fprintf(stderr, "simulate: %s\n", err.text);
		return 1;
	}
	failed = simulate(machine, "rows", 0) || simulate(machine, "columns", 1);
	nearmiss_machine_free(machine);
	return failed;
}
