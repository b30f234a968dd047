/* SPDX-License-Identifier: MIT
 *
 * checkpoint_page.c - checkpoints in a page: images of the heap that holds the caches.
 *
 * The caches of a run exist once, in a heap of their own, and are those of one checkpoint, the *present* one. To
 * run or ask another checkpoint, the present one is saved and the other put back. The functions of caches.h that
 * take memory enter the heap; the linker wraps them.
 */
#include <stdlib.h>
#include <string.h>

#include "checkpoint.h"
#include "heap.h"
#include "simulation.h"
#include "vector.h"

struct run {
	struct nm_heap *heap;
	struct nm_simulation simulation;
	int present; /* descriptor of the checkpoint; -1: none */
};

/* A checkpoint, found by its descriptor. */
struct kept {
	struct run *run;             /* NULL: free */
	struct nm_heap_image *image; /* NULL: it is the present checkpoint, and not saved */
};

static struct nm_vec(struct run *) runs;
static struct nm_vec(struct kept) checkpoints;

/* ---- the heap of a run ---- */

int __real_nm_caches_new(struct nm_caches **ret_caches, const struct nm_debug_program *program,
			 const struct nm_machine *machine, struct nm_error *err);
void __real_nm_caches_free(struct nm_caches *caches);
int __real_nm_caches_feed(struct nm_caches *caches, const struct nm_reference *reference);

static size_t find_run(const struct nm_caches *caches)
{
	size_t i = 0;

	while (i < runs.count && runs.at[i]->simulation.caches != caches)
		i++;
	return i;
}

static void free_run(struct run *run)
{
	if (!run)
		return;
	nm_reference_reader_free(run->simulation.reader);
	nm_heap_free(run->heap);
	free(run);
}

int __wrap_nm_caches_new(struct nm_caches **ret_caches, const struct nm_debug_program *program,
			 const struct nm_machine *machine, struct nm_error *err)
{
	struct run *run = calloc(1, sizeof *run);
	int status = NM_ENOMEM;

	if (run && (run->heap = nm_heap_new()) && !nm_vec_reserve(&runs, 1) &&
	    !nm_reference_reader_new(&run->simulation.reader, &program->references)) {
		nm_heap_enter(run->heap);
		status = __real_nm_caches_new(&run->simulation.caches, program, machine, err);
		nm_heap_enter(NULL);
	} else {
		nm_fail_memory(err);
	}
	if (status) {
		free_run(run);
		return status;
	}
	run->present = -1;
	runs.at[runs.count++] = run;
	*ret_caches = run->simulation.caches;
	return 0;
}

/* The caches go with their heap. */
void __wrap_nm_caches_free(struct nm_caches *caches)
{
	const size_t i = find_run(caches);

	if (i == runs.count)
		return;
	free_run(runs.at[i]);
	runs.at[i] = runs.at[--runs.count];
}

/* Only a run of the present checkpoint feeds caches. */
static struct nm_heap *fed;

int __wrap_nm_caches_feed(struct nm_caches *caches, const struct nm_reference *reference)
{
	int status;

	nm_heap_enter(fed);
	status = __real_nm_caches_feed(caches, reference);
	nm_heap_enter(NULL);
	return status;
}

/* ---- checkpoints ---- */

static int new_checkpoint(struct run *run, struct nm_heap_image *image)
{
	size_t i = 0;

	while (i < checkpoints.count && checkpoints.at[i].run)
		i++;
	if (nm_vec_reach(&checkpoints, i + 1))
		return -1;
	checkpoints.at[i] = (struct kept){run, image};
	return (int)i;
}

/* Saves a checkpoint that is not. 0 or NM_ENOMEM. */
static int save_image(struct kept *kept)
{
	if (!kept->image)
		kept->image = nm_heap_save(kept->run->heap);
	return kept->image ? 0 : NM_ENOMEM;
}

/* Makes a checkpoint the present one. */
static int make_present(const struct nm_checkpoint *c, struct nm_error *err)
{
	struct kept *kept = &checkpoints.at[c->fd];
	struct run *run = kept->run;

	if (run->present == c->fd)
		return 0;
	if (run->present >= 0 && save_image(&checkpoints.at[run->present]))
		return nm_fail_memory(err);
	nm_heap_restore(run->heap, kept->image);
	run->present = c->fd;
	return 0;
}

/* The same for a checkpoint that is about to change: what was saved of it is of no use then. */
static int set_out(const struct nm_checkpoint *c, struct nm_error *err)
{
	struct kept *kept = &checkpoints.at[c->fd];
	const int status = make_present(c, err);

	if (status)
		return status;
	nm_heap_image_free(kept->image);
	kept->image = NULL;
	fed = kept->run->heap;
	return 0;
}

static const struct nm_simulation *simulation_of(const struct nm_checkpoint *c)
{
	return &checkpoints.at[c->fd].run->simulation;
}

int nm_checkpoint_start(struct nm_checkpoint *ret, struct nm_caches *caches,
			const struct nm_shared_record *record, struct nm_error *err)
{
	struct run *run = runs.at[find_run(caches)];

	run->simulation.record = record;
	run->present = new_checkpoint(run, NULL);
	*ret = (struct nm_checkpoint){.fd = run->present};
	return run->present < 0 ? nm_fail_memory(err) : 0;
}

int nm_checkpoint_copy(const struct nm_checkpoint *c, struct nm_checkpoint *ret_copy, struct nm_error *err)
{
	struct kept *kept = &checkpoints.at[c->fd];
	struct nm_heap_image *image;
	int fd;

	if (save_image(kept))
		return nm_fail_memory(err);
	image = nm_heap_image_share(kept->image);
	fd = new_checkpoint(kept->run, image);
	if (fd < 0) {
		nm_heap_image_free(image);
		return nm_fail_memory(err);
	}
	*ret_copy =
	    (struct nm_checkpoint){.fd = fd, .position = c->position, .changed = nm_heap_image_bytes(image)};
	return 0;
}

int nm_checkpoint_run(struct nm_checkpoint *c, uint64_t to, unsigned flags, struct nm_stop *stops,
		      unsigned stop_count, struct nm_checkpoint_report *ret_report, struct nm_error *err)
{
	const int status = set_out(c, err);

	if (status)
		return status;
	nm_simulation_run(simulation_of(c), to, flags, stops, stop_count, ret_report);
	c->position = ret_report->position;
	return nm_simulation_status(ret_report, err);
}

int nm_checkpoint_lines(struct nm_checkpoint *c, uint64_t to, unsigned level, struct nm_line_sum **ret_lines,
			size_t *ret_count, struct nm_error *err)
{
	int status = set_out(c, err);

	if (!status && nm_simulation_lines(simulation_of(c), to, level, ret_lines, ret_count))
		status = nm_fail_memory(err);
	if (!status)
		c->position = to;
	return status;
}

int nm_checkpoint_slots(const struct nm_checkpoint *c, unsigned level, unsigned core, uint64_t from,
			uint64_t to, struct nm_slot **ret_slots, struct nm_error *err)
{
	size_t count;
	const int status = make_present(c, err);

	if (status)
		return status;
	return nm_simulation_slots(simulation_of(c), level, core, from, to, ret_slots, &count)
		   ? nm_fail_memory(err)
		   : 0;
}

int nm_checkpoint_sums(const struct nm_checkpoint *c, unsigned level, int by_set, struct nm_sums **ret_sums,
		       size_t *ret_count, struct nm_error *err)
{
	const struct nm_sums *sums;
	const int status = make_present(c, err);

	if (status)
		return status;
	sums = nm_simulation_sums(simulation_of(c), level, by_set, ret_count);
	*ret_sums = malloc((*ret_count + 1) * sizeof *sums);
	if (!*ret_sums)
		return nm_fail_memory(err);
	memcpy(*ret_sums, sums, *ret_count * sizeof *sums);
	return 0;
}

int nm_checkpoint_find(const struct nm_checkpoint *c, unsigned level, unsigned core, uint64_t address,
		       struct nm_found_slot *ret_found, struct nm_error *err)
{
	const int status = make_present(c, err);

	if (!status)
		*ret_found = nm_simulation_find(simulation_of(c), level, core, address);
	return status;
}

uint64_t nm_checkpoint_memory(const struct nm_checkpoint *c)
{
	const struct kept *kept = &checkpoints.at[c->fd];

	return kept->image ? nm_heap_image_bytes(kept->image) : 0;
}

void nm_checkpoint_end(struct nm_checkpoint *c)
{
	struct kept *kept;

	if (c->fd < 0)
		return;
	kept = &checkpoints.at[c->fd];
	if (kept->run->present == c->fd)
		kept->run->present = -1;
	nm_heap_image_free(kept->image);
	*kept = (struct kept){.run = NULL};
	c->fd = -1;
}
