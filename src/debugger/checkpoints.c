/* SPDX-License-Identifier: MIT
 *
 * checkpoints.c - reaches any position: runs forward from the nearest kept moment.
 */
#include "checkpoints.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"

/* ---- kept moments ---- */

/* The latest moment at or before a position. */
static const struct nm_moment *nearest(const struct nm_timeline *t, uint64_t position)
{
	size_t low = 0, high = t->checkpoints.count;
	const struct nm_moment *found;

	while (high - low > 1) {
		const size_t middle = (low + high) / 2;

		if (t->checkpoints.at[middle].position <= position)
			low = middle;
		else
			high = middle;
	}
	found = &t->checkpoints.at[low];
	for (unsigned i = 0; i < NM_NEAR_MOMENTS; i++)
		if (t->near[i].fd >= 0 && t->near[i].position <= position &&
		    t->near[i].position > found->position)
			found = &t->near[i];
	return found;
}

static void measure(struct nm_timeline *t)
{
	t->memory = 0;
	for (size_t i = 0; i < t->checkpoints.count; i++)
		t->memory += nm_moment_memory(&t->checkpoints.at[i]);
}

/* Drops every second checkpoint. */
static void thin(struct nm_timeline *t)
{
	size_t kept = 1;

	t->interval *= 2;
	for (size_t i = 1; i < t->checkpoints.count; i++) {
		if (t->checkpoints.at[i].position % t->interval)
			nm_moment_end(&t->checkpoints.at[i]);
		else
			t->checkpoints.at[kept++] = t->checkpoints.at[i];
	}
	t->checkpoints.count = kept;
	measure(t);
}

static int takes_too_much(const struct nm_timeline *t)
{
	const uint64_t all = t->memory + t->program.references.bytes + nm_record_bytes(&t->record);

	return t->checkpoints.count > NM_CHECKPOINTS ||
	       (all > NM_MEMORY_MOST && t->checkpoints.count > NM_LEAST_CHECKPOINTS);
}

/* Keeps a copy of a moment. If copying fails, later moves are only slower. */
static void keep(struct nm_timeline *t, const struct nm_moment *moment)
{
	struct nm_moment copy;

	if (nm_vec_reserve(&t->checkpoints, 1) || nm_moment_copy(moment, &copy, NULL))
		return;
	t->checkpoints.at[t->checkpoints.count++] = copy;
	t->memory += copy.changed;
	if (takes_too_much(t))
		measure(t);
	if (takes_too_much(t))
		thin(t);
}

void nm_timeline_mark(struct nm_timeline *t, const struct nm_moment *moment)
{
	struct nm_moment *m = &t->near[t->next_near++ % NM_NEAR_MOMENTS];

	nm_moment_end(m);
	if (nm_moment_copy(moment, m, NULL))
		m->fd = -1;
}

int nm_timeline_fetch(struct nm_timeline *t, uint64_t position, struct nm_moment *ret, struct nm_error *err)
{
	return nm_moment_copy(nearest(t, position), ret, err);
}

/* ---- forward ---- */

int nm_timeline_advance(struct nm_timeline *t, struct nm_moment *m, uint64_t to, struct nm_stop *stops,
			unsigned stop_count, double deadline, enum nm_stopped *ret_stopped,
			struct nm_moment_report *report, struct nm_error *err)
{
	do {
		const uint64_t edge = (m->position / t->interval + 1) * t->interval;
		int status = nm_moment_run(m, edge < to ? edge : to, 0, stops, stop_count, report, err);

		if (status)
			return status;
		if (report->matched) {
			*ret_stopped = NM_STOPPED_MATCH;
			return 0;
		}
		if (m->position == edge && edge > t->checkpoints.at[t->checkpoints.count - 1].position)
			keep(t, m);
		if (deadline > 0 && nm_now_ms() > deadline && m->position < to) {
			*ret_stopped = NM_STOPPED_LIMIT;
			return 0;
		}
	} while (m->position < to);
	*ret_stopped = NM_STOPPED_END;
	return 0;
}

/* Goes back to the nearest kept moment before a position, then forward. Keeps moments at 1/8 of the distance
 * before the position, 1/64 and so on. Each costs one more copy of the pages that change after it. */
static int return_to(struct nm_timeline *t, struct nm_moment *m, uint64_t position,
		     struct nm_moment_report *report, struct nm_error *err)
{
	const uint64_t least = NM_LEAST_INTERVAL / 64;
	enum nm_stopped stopped;
	struct nm_moment moment;
	int status = nm_timeline_fetch(t, position, &moment, err);

	if (status)
		return status;
	nm_moment_end(m);
	*m = moment;
	for (uint64_t left = (position - moment.position) / 8; left > least && !status; left /= 8) {
		status = nm_timeline_advance(t, m, position - left, NULL, 0, 0, &stopped, report, err);
		if (!status)
			nm_timeline_mark(t, m);
	}
	return status;
}

int nm_timeline_go(struct nm_timeline *t, struct nm_moment *m, uint64_t position,
		   struct nm_moment_report *report, struct nm_error *err)
{
	enum nm_stopped stopped;
	int status = 0;

	if (position > t->program.references.count)
		position = t->program.references.count;
	if (m->fd < 0 || position < m->position || m->position < nearest(t, position)->position)
		status = return_to(t, m, position, report, err);
	return status ? status : nm_timeline_advance(t, m, position, NULL, 0, 0, &stopped, report, err);
}

/* ---- life ---- */

static int load(struct nm_timeline *t, const struct nm_debugger_source *s, struct nm_error *err)
{
	int status = nm_machine_check_present(&t->machine, 0, err);

	if (!status)
		status = nm_debug_load(&t->program, s, err);
	if (!status && !t->program.references.count)
		status = nm_fail(err, NM_EINVAL, "%s has no references to debug%s", s->path,
				 s->from ? " there" : "");
	if (!status && t->program.references.count > NM_MOST_REFERENCES)
		status = nm_fail(err, NM_EINVAL, "%s has more than %u references: debug a part of them",
				 s->path, NM_MOST_REFERENCES);
	if (!status)
		status = nm_caches_new(&t->caches, &t->program, &t->machine, err);
	if (!status && nm_reference_reader_new(&t->reader, &t->program.references))
		status = nm_fail_memory(err);
	return status;
}

static int start(struct nm_timeline *t, struct nm_error *err)
{
	struct nm_moment origin;
	int status = nm_record_new(&t->record, t->program.references.count, err);

	if (!status && nm_vec_reserve(&t->checkpoints, 1))
		status = nm_fail_memory(err);
	if (!status)
		status = nm_moment_start(&origin, t->caches, &t->record, err);
	if (!status)
		t->checkpoints.at[t->checkpoints.count++] = origin;
	return status;
}

int nm_timeline_open(struct nm_timeline **ret, const struct nm_debugger_source *source, struct nm_error *err)
{
	struct nm_timeline *t = calloc(1, sizeof *t);
	int status;

	if (!t)
		return nm_fail_memory(err);
	t->users = 1;
	t->machine = *source->machine;
	t->interval = source->interval ? source->interval : NM_LEAST_INTERVAL;
	for (unsigned i = 0; i < NM_NEAR_MOMENTS; i++)
		t->near[i].fd = -1;
	status = load(t, source, err);
	if (!status)
		status = start(t, err);
	if (status)
		nm_timeline_leave(t);
	else
		*ret = t;
	return status;
}

void nm_timeline_leave(struct nm_timeline *t)
{
	if (!t || --t->users)
		return;
	for (unsigned i = 0; i < NM_NEAR_MOMENTS; i++)
		nm_moment_end(&t->near[i]);
	for (size_t i = t->checkpoints.count; i-- > 0;)
		nm_moment_end(&t->checkpoints.at[i]);
	nm_vec_free(&t->checkpoints);
	nm_record_free(&t->record);
	nm_reference_reader_free(t->reader);
	nm_caches_free(t->caches);
	nm_debug_program_done(&t->program);
	free(t);
}
