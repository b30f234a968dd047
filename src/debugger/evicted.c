/* SPDX-License-Identifier: MIT
 *
 * evicted.c - what is found by running a part again: who made a line leave, and sums at other positions.
 *
 * The record says in which pieces of the run the line may have left its level; the latest such piece before
 * the position is run again. That it had not left there is rare: lines share bits.
 */
#include "debugger_priv.h"

static int may_leave(const struct nm_debugger *d, uint64_t piece, unsigned level, uint64_t line)
{
	const uint64_t bit = nm_left_bit(level, line);

	return d->record.left[piece * (NM_LEFT_BITS / 64) + bit / 64] >> bit % 64 & 1;
}

/* Runs the part of a piece that is before the position. */
static int search(struct nm_debugger *d, uint64_t piece, const struct nm_stop *stop,
		  struct nm_moment_report *ret_report, struct nm_error *err)
{
	const uint64_t end = (piece + 1) * d->record.interval;
	struct nm_moment moment;
	int status = nm_timeline_fetch(d, piece * d->record.interval, &moment, err);

	if (status)
		return status;
	status = nm_moment_run(&moment, end < d->current.position ? end : d->current.position, NM_RUN_LAST,
			       stop, 1, ret_report, err);
	nm_moment_end(&moment);
	return status;
}

int nm_debugger_evicted(struct nm_debugger *d, unsigned level, unsigned core, uint64_t address,
			struct nm_departure *ret, struct nm_error *err)
{
	const uint64_t line = address & ~(uint64_t)(nm_level_unit(&d->machine.levels[level]) - 1);
	const struct nm_stop stop = {.level = level, .line = line};
	struct nm_moment_report report = {0};
	int status = nm_moment_find(&d->current, level, core, address, &ret->found, err);

	ret->is_resident = !status && ret->found.is_there;
	ret->evicted_at = 0;
	if (status || ret->is_resident || !d->current.position)
		return status;
	for (uint64_t piece = (d->current.position - 1) / d->record.interval + 1; piece-- > 0;) {
		if (!may_leave(d, piece, level, line))
			continue;
		status = search(d, piece, &stop, &report, err);
		if (status || report.matched)
			break;
	}
	ret->evicted_at = report.matched;
	ret->left = report.left;
	return status;
}

int nm_debugger_tallies(struct nm_debugger *d, uint64_t position, unsigned level, int by_set,
			struct nm_tally **ret_tallies, size_t *ret_count, struct nm_error *err)
{
	struct nm_moment_report report;
	struct nm_moment moment;
	int status;

	if (position == d->current.position)
		return nm_moment_tallies(&d->current, level, by_set, ret_tallies, ret_count, err);
	status = nm_timeline_fetch(d, position, &moment, err);
	if (status)
		return status;
	status = nm_moment_run(&moment, position, 0, NULL, 0, &report, err);
	if (!status)
		status = nm_moment_tallies(&moment, level, by_set, ret_tallies, ret_count, err);
	nm_moment_end(&moment);
	return status;
}

int nm_debugger_lines(struct nm_debugger *d, uint64_t from, uint64_t to, unsigned level,
		      struct nm_line_tally **ret_lines, size_t *ret_count, struct nm_error *err)
{
	struct nm_moment_report report;
	struct nm_moment moment;
	int status = nm_timeline_fetch(d, from, &moment, err);

	if (status)
		return status;
	status = nm_moment_run(&moment, from, 0, NULL, 0, &report, err);
	if (!status)
		status = nm_moment_lines(&moment, to, level, ret_lines, ret_count, err);
	nm_moment_end(&moment);
	return status;
}
