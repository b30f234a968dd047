/* SPDX-License-Identifier: MIT
 *
 * merge_parts.c - merges many profiles on several processors.
 *
 * The first inputs go into the merge itself. Each other run of inputs is merged by a thread into a part, an unfinished
 * profile beside the output, and the parts are then added in order: a part costs as little as one input. Sums do not
 * depend on it, objects get their numbers in the order in which they first appear: every view is that of one thread,
 * but for the numbers of sites and places.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "merge_priv.h"

enum { LEAST = 4 }; /* inputs that are worth a part */

struct part {
	const char *output;
	const char *const *paths;
	size_t count;
	struct nm_merge *merge;
	const char *path; /* NULL: it failed, or no thread could be started */
	int is_started;
	pthread_t thread;
};

static void *merge_part(void *data)
{
	struct part *p = data;
	int status = nm_merge_new(&p->merge, p->output, NULL);

	for (size_t i = 0; i < p->count && !status; i++)
		status = nm_merge_add(p->merge, p->paths[i], NULL);
	if (!status)
		status = nm_merge_complete(p->merge, &p->path, NULL);
	if (status)
		p->path = NULL;
	return NULL;
}

static int add_each(struct nm_merge *merge, const char *const *paths, size_t count, size_t *ret_faulty,
		    struct nm_error *err)
{
	int status = 0;

	for (*ret_faulty = 0; *ret_faulty < count; ++*ret_faulty) {
		status = nm_merge_add(merge, paths[*ret_faulty], err);
		if (status)
			return status;
	}
	return 0;
}

/* Inputs that failed as a part, or are of other caches than those before, are added one by one: that names the input at
 * fault. */
static int add_part(struct nm_merge *merge, const struct part *p, size_t *ret_faulty, struct nm_error *err)
{
	const int status = p->path ? nm_merge_add(merge, p->path, err) : NM_EINVAL;

	return status == NM_EINVAL ? add_each(merge, p->paths, p->count, ret_faulty, err) : status;
}

static void start_parts(struct part *parts, size_t count, const char *output, const char *const *paths,
			size_t inputs)
{
	for (size_t i = 0; i < count; i++) {
		const size_t first = inputs * i / count;
		struct part *p = &parts[i];

		*p = (struct part){
		    .output = output, .paths = paths + first, .count = inputs * (i + 1) / count - first};
		p->is_started = i && !pthread_create(&p->thread, NULL, merge_part, p);
	}
}

static void end_part(struct part *p)
{
	if (p->is_started)
		pthread_join(p->thread, NULL);
	p->is_started = 0;
}

int nm_merge_add_all(struct nm_merge *merge, const char *const *paths, size_t count, unsigned threads,
		     size_t *ret_faulty, struct nm_error *err)
{
	const size_t most = count / LEAST, part_count = most < threads ? most : threads;
	struct part *parts = part_count > 1 ? calloc(part_count, sizeof *parts) : NULL;
	size_t faulty = 0;
	int status = 0;

	assert(threads);
	if (!parts)
		return add_each(merge, paths, count, ret_faulty, err);
	start_parts(parts, part_count, nm_merge_output(merge), paths, count);
	for (size_t i = 0; i < part_count; i++) {
		end_part(&parts[i]);
		if (!status) {
			status = add_part(merge, &parts[i], &faulty, err);
			*ret_faulty = (size_t)(parts[i].paths - paths) + faulty;
		}
		if (parts[i].merge)
			nm_merge_abort(parts[i].merge);
	}
	free(parts);
	return status;
}
