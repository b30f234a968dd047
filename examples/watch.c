/* SPDX-License-Identifier: MIT
 *
 * watch.c - three arrays compete for the sets of a two-way cache; libnearmiss reports every eviction.
 *
 *     cc watch.c $(pkg-config --cflags --libs nearmiss) -o watch && ./watch
 *     ./watch L1d=8K,4,64        with four ways nothing is evicted
 */
#include <inttypes.h>
#include <nearmiss/nearmiss.h>
#include <stdio.h>

enum { N = 512, SUMS = 2 }; /* elements of 8 bytes: 4096 bytes each */
enum tag { A, B, C };

static double a[N] __attribute__((aligned(4096))), b[N] __attribute__((aligned(4096))),
    c[N] __attribute__((aligned(4096)));
static const char *const names[] = {"a", "b", "c"};

static void tell(void *self, const struct nearmiss_event *event)
{
	uint64_t *replaced = (uint64_t *)self;

	if (event->kind != NEARMISS_REPLACE)
		return;
	++*replaced;
	printf("reference %" PRIu64 ": %s pushes a line of %s out of set %" PRIu64 "\n", event->reference,
	       names[event->tag], names[event->victim], event->set);
}

static void add(struct nearmiss_hierarchy *caches, int i)
{
	nearmiss_feed(caches, (uintptr_t)&a[i], sizeof a[i], NEARMISS_READ, A);
	nearmiss_feed(caches, (uintptr_t)&b[i], sizeof b[i], NEARMISS_READ, B);
	nearmiss_feed(caches, (uintptr_t)&c[i], sizeof c[i], NEARMISS_WRITE, C);
	c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
	struct nearmiss_machine *machine;
	struct nearmiss_hierarchy *caches;
	struct nearmiss_error err;
	uint64_t replaced = 0;
	int failed;

	if (nearmiss_machine_parse(argc > 1 ? argv[1] : "L1d=8K,2,64", &machine, &err) ||
	    nearmiss_hierarchy_new(machine, &caches, &err)) {
		fprintf(stderr, "watch: %s\n", err.text);
		return 1;
	}
	nearmiss_watch(caches, tell, &replaced);
	for (int i = 0; i < SUMS; i++)
		add(caches, i);
	failed = nearmiss_finish(caches) != 0;
	printf("%" PRIu64 " replacements\n", replaced);
	nearmiss_hierarchy_free(caches);
	nearmiss_machine_free(machine);
	return failed;
}
