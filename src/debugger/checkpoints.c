/* SPDX-License-Identifier: MIT
 *
 * checkpoints.c - reaches any position: runs forward from the nearest kept checkpoint.
 */
#include "checkpoints.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

/* ---- kept checkpoints ---- */

/* The latest checkpoint at or before a position. */
static const struct nm_checkpoint *nearest_checkpoint(const struct nm_checkpoints *c, uint64_t position)
{
	size_t low = 0, high = c->regular.count;
	const struct nm_checkpoint *found;

	while (high - low > 1) {
		const size_t middle = (low + high) / 2;

		if (c->regular.at[middle].position <= position)
			low = middle;
		else
			high = middle;
	}
	found = &c->regular.at[low];
	for (unsigned i = 0; i < NM_NEAR_CHECKPOINTS; i++)
		if (c->near[i].fd >= 0 && c->near[i].position <= position &&
		    c->near[i].position > found->position)
			found = &c->near[i];
	return found;
}

static void measure_memory(struct nm_checkpoints *c)
{
	c->memory = 0;
	for (size_t i = 0; i < c->regular.count; i++)
		c->memory += nm_checkpoint_memory(&c->regular.at[i]);
}

/* Drops every second checkpoint. */
static void thin_checkpoints(struct nm_checkpoints *c)
{
	size_t kept = 1;

	c->interval *= 2;
	for (size_t i = 1; i < c->regular.count; i++) {
		if (c->regular.at[i].position % c->interval)
			nm_checkpoint_end(&c->regular.at[i]);
		else
			c->regular.at[kept++] = c->regular.at[i];
	}
	c->regular.count = kept;
	measure_memory(c);
}

static int takes_too_much(const struct nm_checkpoints *c)
{
	const uint64_t all = c->memory + c->program.references.bytes + nm_record_bytes(&c->record);

	return c->regular.count > NM_CHECKPOINTS ||
	       (all > NM_MEMORY_MOST && c->regular.count > NM_LEAST_CHECKPOINTS);
}

/* Keeps a copy of a checkpoint. If copying fails, later moves are only slower. */
static void keep_checkpoint(struct nm_checkpoints *c, const struct nm_checkpoint *checkpoint)
{
	struct nm_checkpoint copy;

	if (nm_vec_reserve(&c->regular, 1) || nm_checkpoint_copy(checkpoint, &copy, NULL))
		return;
	c->regular.at[c->regular.count++] = copy;
	c->memory += copy.changed;
	if (takes_too_much(c))
		measure_memory(c);
	if (takes_too_much(c))
		thin_checkpoints(c);
}

void nm_checkpoints_mark(struct nm_checkpoints *c, const struct nm_checkpoint *checkpoint)
{
	struct nm_checkpoint *m = &c->near[c->next_near++ % NM_NEAR_CHECKPOINTS];

	nm_checkpoint_end(m);
	if (nm_checkpoint_copy(checkpoint, m, NULL))
		m->fd = -1;
}

int nm_checkpoints_fetch(struct nm_checkpoints *c, uint64_t position, struct nm_checkpoint *ret,
			 struct nm_error *err)
{
	return nm_checkpoint_copy(nearest_checkpoint(c, position), ret, err);
}

/* ---- forward ---- */

int nm_checkpoints_advance(struct nm_checkpoints *c, struct nm_checkpoint *m, uint64_t to,
			   struct nm_stop *stops, unsigned stop_count, double deadline,
			   enum nm_stopped *ret_stopped, struct nm_checkpoint_report *report,
			   struct nm_error *err)
{
	assert(stops || !stop_count);
	do {
		const uint64_t edge = (m->position / c->interval + 1) * c->interval;
		int status = nm_checkpoint_run(m, edge < to ? edge : to, 0, stops, stop_count, report, err);

		if (status)
			return status;
		if (report->matched) {
			*ret_stopped = NM_STOPPED_MATCH;
			return 0;
		}
		if (m->position == edge && edge > c->regular.at[c->regular.count - 1].position)
			keep_checkpoint(c, m);
		if (deadline > 0 && nm_now_ms() > deadline && m->position < to) {
			*ret_stopped = NM_STOPPED_LIMIT;
			return 0;
		}
	} while (m->position < to);
	*ret_stopped = NM_STOPPED_END;
	return 0;
}

/* Goes back to the nearest kept checkpoint before a position, then forward. Keeps checkpoints at 1/8 of the distance
 * before the position, 1/64 and so on. Each costs one more copy of the pages that change after it. */
static int return_to(struct nm_checkpoints *c, struct nm_checkpoint *m, uint64_t position,
		     struct nm_checkpoint_report *report, struct nm_error *err)
{
	const uint64_t least = NM_LEAST_INTERVAL / 64;
	enum nm_stopped stopped;
	struct nm_checkpoint checkpoint;
	int status = nm_checkpoints_fetch(c, position, &checkpoint, err);

	if (status)
		return status;
	nm_checkpoint_end(m);
	*m = checkpoint;
	for (uint64_t left = (position - checkpoint.position) / 8; left > least && !status; left /= 8) {
		status = nm_checkpoints_advance(c, m, position - left, NULL, 0, 0, &stopped, report, err);
		if (!status)
			nm_checkpoints_mark(c, m);
	}
	return status;
}

int nm_checkpoints_go(struct nm_checkpoints *c, struct nm_checkpoint *m, uint64_t position,
		      struct nm_checkpoint_report *report, struct nm_error *err)
{
	enum nm_stopped stopped;
	int status = 0;

	if (position > c->program.references.count)
		position = c->program.references.count;
	if (m->fd < 0 || position < m->position || m->position < nearest_checkpoint(c, position)->position)
		status = return_to(c, m, position, report, err);
	return status ? status : nm_checkpoints_advance(c, m, position, NULL, 0, 0, &stopped, report, err);
}

/* ---- life ---- */

static int load_program(struct nm_checkpoints *c, const struct nm_debugger_source *s, struct nm_error *err)
{
	int status = nm_machine_check_present(&c->machine, 0, err);

	if (!status)
		status = nm_debug_load(&c->program, s, err);
	if (!status && !c->program.references.count)
		status = nm_fail(err, NM_EINVAL, "%s has no references to debug%s", s->path,
				 s->from ? " there" : "");
	if (!status && c->program.references.count > NM_MOST_REFERENCES)
		status = nm_fail(err, NM_EINVAL, "%s has more than %u references: debug a part of them",
				 s->path, NM_MOST_REFERENCES);
	if (!status)
		status = nm_caches_new(&c->caches, &c->program, &c->machine, err);
	if (!status && nm_reference_reader_new(&c->reader, &c->program.references))
		status = nm_fail_memory(err);
	return status;
}

static int start_first(struct nm_checkpoints *c, struct nm_error *err)
{
	struct nm_checkpoint origin;
	int status = nm_record_new(&c->record, c->program.references.count, err);

	if (!status && nm_vec_reserve(&c->regular, 1))
		status = nm_fail_memory(err);
	if (!status)
		status = nm_checkpoint_start(&origin, c->caches, &c->record, err);
	if (!status)
		c->regular.at[c->regular.count++] = origin;
	return status;
}

int nm_checkpoints_open(struct nm_checkpoints **ret, const struct nm_debugger_source *source,
			struct nm_error *err)
{
	struct nm_checkpoints *t = calloc(1, sizeof *t);
	int status;

	if (!t)
		return nm_fail_memory(err);
	t->users = 1;
	t->machine = *source->machine;
	t->interval = source->interval ? source->interval : NM_LEAST_INTERVAL;
	for (unsigned i = 0; i < NM_NEAR_CHECKPOINTS; i++)
		t->near[i].fd = -1;
	status = load_program(t, source, err);
	if (!status)
		status = start_first(t, err);
	if (status)
		nm_checkpoints_leave(t);
	else
		*ret = t;
	return status;
}

void nm_checkpoints_leave(struct nm_checkpoints *c)
{
	if (!c || --c->users)
		return;
	for (unsigned i = 0; i < NM_NEAR_CHECKPOINTS; i++)
		nm_checkpoint_end(&c->near[i]);
	for (size_t i = c->regular.count; i-- > 0;)
		nm_checkpoint_end(&c->regular.at[i]);
	nm_vec_free(&c->regular);
	nm_record_free(&c->record);
	nm_reference_reader_free(c->reader);
	nm_caches_free(c->caches);
	nm_debug_program_done(&c->program);
	free(c);
}
