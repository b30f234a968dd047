/* SPDX-License-Identifier: MIT
 *
 * timeline.c - how any position is reached: from the nearest moment that is kept, forward.
 */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "debugger_priv.h"

/* ---- kept moments ---- */

/* The latest moment at or before a position. */
static const struct nm_moment *nearest(const struct nm_debugger *d, uint64_t position)
{
	size_t low = 0, high = d->checkpoints.count;
	const struct nm_moment *found;

	while (high - low > 1) {
		const size_t middle = (low + high) / 2;

		if (d->checkpoints.at[middle].position <= position)
			low = middle;
		else
			high = middle;
	}
	found = &d->checkpoints.at[low];
	for (unsigned i = 0; i < NM_NEAR_MOMENTS; i++)
		if (d->near[i].fd >= 0 && d->near[i].position <= position &&
		    d->near[i].position > found->position)
			found = &d->near[i];
	return found;
}

/* What checkpoints take beside the references, which they all share. */
static void measure(struct nm_debugger *d)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < d->checkpoints.count; i++)
		sum += nm_moment_memory(&d->checkpoints.at[i]);
	d->memory = sum > d->program.references.bytes ? sum - d->program.references.bytes : 0;
}

/* Drops every second checkpoint. */
static void thin(struct nm_debugger *d)
{
	size_t kept = 1;

	d->interval *= 2;
	for (size_t i = 1; i < d->checkpoints.count; i++) {
		if (d->checkpoints.at[i].position % d->interval)
			nm_moment_end(&d->checkpoints.at[i]);
		else
			d->checkpoints.at[kept++] = d->checkpoints.at[i];
	}
	d->checkpoints.count = kept;
	measure(d);
}

static int takes_too_much(const struct nm_debugger *d)
{
	const uint64_t all = d->memory + d->program.references.bytes + nm_record_bytes(&d->record);

	return d->checkpoints.count > NM_CHECKPOINTS ||
	       (all > NM_MEMORY_MOST && d->checkpoints.count > NM_LEAST_CHECKPOINTS);
}

/* Keeps a copy of the current moment. That it cannot be copied only makes ways longer. */
static void keep(struct nm_debugger *d)
{
	struct nm_moment copy;

	if (nm_vec_reserve(&d->checkpoints, 1) || nm_moment_copy(&d->current, &copy, NULL))
		return;
	d->checkpoints.at[d->checkpoints.count++] = copy;
	d->memory += copy.changed;
	if (takes_too_much(d))
		thin(d);
}

void nm_timeline_mark(struct nm_debugger *d)
{
	struct nm_moment *m = &d->near[d->next_near++ % NM_NEAR_MOMENTS];

	nm_moment_end(m);
	if (nm_moment_copy(&d->current, m, NULL))
		m->fd = -1;
}

int nm_timeline_fetch(struct nm_debugger *d, uint64_t position, struct nm_moment *ret, struct nm_error *err)
{
	return nm_moment_copy(nearest(d, position), ret, err);
}

/* ---- forward ---- */

int nm_timeline_advance(struct nm_debugger *d, uint64_t to, const struct nm_stop *stops, unsigned stop_count,
			double deadline, enum nm_stopped *ret_stopped, uint32_t *ret_id, struct nm_error *err)
{
	do {
		const uint64_t edge = (d->current.position / d->interval + 1) * d->interval;
		int status =
		    nm_moment_run(&d->current, edge < to ? edge : to, 0, stops, stop_count, &d->report, err);

		if (status)
			return status;
		if (d->report.matched) {
			*ret_stopped = NM_STOPPED_MATCH;
			*ret_id = d->report.matched_by;
			return 0;
		}
		if (d->current.position == edge &&
		    edge > d->checkpoints.at[d->checkpoints.count - 1].position)
			keep(d);
		if (deadline > 0 && nm_now_ms() > deadline && d->current.position < to) {
			*ret_stopped = NM_STOPPED_LIMIT;
			return 0;
		}
	} while (d->current.position < to);
	*ret_stopped = NM_STOPPED_END;
	return 0;
}

/* Goes to where the way to a position begins, and leaves moments half way, at a quarter of it from its end,
 * and so on. */
static int return_to(struct nm_debugger *d, uint64_t position, struct nm_error *err)
{
	const uint64_t least = d->interval / 64;
	enum nm_stopped stopped;
	struct nm_moment moment;
	int status = nm_timeline_fetch(d, position, &moment, err);

	if (status)
		return status;
	nm_moment_end(&d->current);
	d->current = moment;
	for (uint64_t left = (position - moment.position) / 2; left > least && !status; left /= 2) {
		status = nm_timeline_advance(d, position - left, NULL, 0, 0, &stopped, NULL, err);
		if (!status)
			nm_timeline_mark(d);
	}
	return status;
}

int nm_debugger_go(struct nm_debugger *d, uint64_t position, struct nm_error *err)
{
	enum nm_stopped stopped;
	int status = 0;

	if (position > d->program.references.count)
		position = d->program.references.count;
	if (position < d->current.position || d->current.position < nearest(d, position)->position)
		status = return_to(d, position, err);
	return status ? status : nm_timeline_advance(d, position, NULL, 0, 0, &stopped, NULL, err);
}

/* ---- life ---- */

int nm_timeline_start(struct nm_debugger *d, struct nm_error *err)
{
	struct nm_moment origin;
	int status;

	d->interval = d->source.interval ? d->source.interval : NM_LEAST_INTERVAL;
	status = nm_record_new(&d->record, d->program.references.count, err);
	if (!status && nm_vec_reserve(&d->checkpoints, 1))
		status = nm_fail_memory(err);
	if (!status)
		status = nm_moment_start(&origin, d->caches, &d->record, err);
	if (status)
		return status;
	d->checkpoints.at[d->checkpoints.count++] = origin;
	status = nm_moment_copy(&origin, &d->current, err);
	return status ? status : nm_debugger_go(d, 0, err);
}

void nm_timeline_end(struct nm_debugger *d)
{
	nm_moment_end(&d->current);
	for (unsigned i = 0; i < NM_NEAR_MOMENTS; i++)
		nm_moment_end(&d->near[i]);
	for (size_t i = d->checkpoints.count; i-- > 0;)
		nm_moment_end(&d->checkpoints.at[i]);
	nm_vec_free(&d->checkpoints);
	nm_record_free(&d->record);
}
