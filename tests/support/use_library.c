/* SPDX-License-Identifier: MIT
 *
 * use_library.c - calls the functions of libnearmiss that may run out of memory: a simulation whose events
 * are watched, and a query of a profile.
 *
 *     use_library PROFILE
 *
 * Prints what it found and exits 0; or says why not, and exits 125 if memory was exhausted.
 */
#include <inttypes.h>
#include <nearmiss/nearmiss.h>
#include <stdio.h>

enum { EXHAUSTED = 125, TAGS = 300 };

static int fail(int code, const char *text)
{
	fprintf(stderr, "nearmiss: %s\n", code == NEARMISS_ENOMEM ? "out of memory" : text);
	return code == NEARMISS_ENOMEM ? EXHAUSTED : 1;
}

static void count_event(void *self, const struct nearmiss_event *event)
{
	(void)event;
	++*(uint64_t *)self;
}

/* Walks memory by a stride that meets each set, under many tags. */
static int feed(struct nearmiss_hierarchy *caches)
{
	for (uint64_t i = 0; i < 30000; i++) {
		const int code = nearmiss_feed(caches, i * 88, 8, i % 3 ? NEARMISS_READ : NEARMISS_WRITE,
					       (uint32_t)(i % TAGS));

		if (code)
			return code;
	}
	return nearmiss_finish(caches);
}

static int print_figures(struct nearmiss_hierarchy *caches, uint64_t events)
{
	const struct nearmiss_eviction *evictions;
	size_t count;
	const int code = nearmiss_evictions(caches, 0, &evictions, &count);

	if (code)
		return code;
	printf("%" PRIu64 " events, %" PRIu64 " misses, %zu pairs\n", events,
	       nearmiss_total(caches, 0, NEARMISS_READ_MISSES), count);
	return 0;
}

static int simulate(void)
{
	struct nearmiss_machine *machine;
	struct nearmiss_hierarchy *caches;
	struct nearmiss_error err;
	uint64_t events = 0;
	int code = nearmiss_machine_parse("L1d=4K,4,64:L2=32K,8,64,policy=drrip", &machine, &err);

	if (code)
		return fail(code, err.text);
	code = nearmiss_hierarchy_new(machine, &caches, &err);
	nearmiss_machine_free(machine);
	if (code)
		return fail(code, err.text);
	code = nearmiss_watch(caches, count_event, &events);
	if (!code)
		code = feed(caches);
	if (!code)
		code = print_figures(caches, events);
	nearmiss_hierarchy_free(caches);
	return code ? fail(code, "the simulation failed") : 0;
}

static int print_levels(struct nearmiss_profile *profile, struct nearmiss_error *err)
{
	struct nearmiss_rows *rows;
	int code = nearmiss_query(profile, "SELECT level, reads FROM levels WHERE reads > ?1 ORDER BY 1, 2",
				  &rows, err);

	if (code)
		return code;
	nearmiss_bind_integer(rows, 1, 0);
	while ((code = nearmiss_next(rows, err)) > 0) {
		const char *level = nearmiss_text(rows, 0);

		if (!level) {
			code = NEARMISS_ENOMEM;
			break;
		}
		printf("%s %" PRId64 "\n", level, nearmiss_integer(rows, 1));
	}
	nearmiss_rows_free(rows);
	return code;
}

static int query(const char *path)
{
	struct nearmiss_profile *profile;
	struct nearmiss_error err = {.text = ""};
	int code = nearmiss_profile_open(path, &profile, &err);

	if (code)
		return fail(code, err.text);
	code = print_levels(profile, &err);
	nearmiss_profile_close(profile);
	return code ? fail(code, err.text) : 0;
}

int main(int argc, char **argv)
{
	int status = argc == 2 ? simulate() : 2;

	if (!status)
		status = query(argv[1]);
	return status;
}
