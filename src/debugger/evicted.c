/* SPDX-License-Identifier: MIT
 *
 * evicted.c - answers that need a part of the run again: which reference evicted a line, and sums at other
 * positions.
 *
 * The record says in which pieces of the run the line may have left its level; the latest such piece before
 * the position is run again. False positives of the filter are rare.
 */
#include "debugger_priv.h"

#include <assert.h>

/* Runs from the nearest kept checkpoint to the end of a piece, or to an earlier position. */
static int search_piece(struct nm_debugger *d, uint64_t piece, uint64_t before, struct nm_stop *stop,
			struct nm_checkpoint_report *ret_report, struct nm_error *err)
{
	const uint64_t end = (piece + 1) << d->checkpoints->record.piece_shift;
	struct nm_checkpoint checkpoint;
	int status = nm_checkpoints_fetch(d->checkpoints, piece << d->checkpoints->record.piece_shift,
					  &checkpoint, err);

	if (status)
		return status;
	status = nm_checkpoint_run(&checkpoint, end < before ? end : before, NM_RUN_LAST, stop, 1, ret_report,
				   err);
	nm_checkpoint_end(&checkpoint);
	return status;
}

/* Finds the last eviction of a line from a level at or before a position. */
static int find_departure(struct nm_debugger *d, struct nm_stop *stop, uint64_t position,
			  struct nm_departure *ret, struct nm_error *err)
{
	struct nm_checkpoint_report report = {0};
	int status = 0;

	for (uint64_t piece = position ? nm_record_piece(&d->checkpoints->record, position) + 1 : 0;
	     piece-- > 0;) {
		if (!nm_record_may_have_left(&d->checkpoints->record, piece, stop->level, stop->line))
			continue;
		status = search_piece(d, piece, position, stop, &report, err);
		if (status || report.matched)
			break;
	}
	ret->evicted_at = report.matched;
	ret->left = report.left;
	return status;
}

int nm_debugger_evicted(struct nm_debugger *d, unsigned level, unsigned core, uint64_t address,
			struct nm_departure *ret, struct nm_error *err)
{
	const uint64_t unit = nm_level_unit(&d->checkpoints->machine.levels[level]);
	struct nm_stop stop = {.level = level, .core = core, .line = address & ~(unit - 1)};
	int status = nm_checkpoint_find(&d->current, level, core, address, &ret->found, err);
	uint64_t before = d->current.position;

	assert(level < d->checkpoints->machine.count);
	ret->is_resident = !status && ret->found.is_there;
	if (ret->is_resident)
		before = ret->found.slot.history.loaded_at ? ret->found.slot.history.loaded_at - 1 : 0;
	return status ? status : find_departure(d, &stop, before, ret, err);
}

int nm_debugger_sums(struct nm_debugger *d, uint64_t position, unsigned level, int by_set,
		     struct nm_sums **ret_sums, size_t *ret_count, struct nm_error *err)
{
	struct nm_checkpoint_report report;
	struct nm_checkpoint checkpoint;
	int status;

	assert(level < d->checkpoints->machine.count);
	if (position == d->current.position)
		return nm_checkpoint_sums(&d->current, level, by_set, ret_sums, ret_count, err);
	status = nm_checkpoints_fetch(d->checkpoints, position, &checkpoint, err);
	if (status)
		return status;
	status = nm_checkpoint_run(&checkpoint, position, 0, NULL, 0, &report, err);
	if (!status)
		status = nm_checkpoint_sums(&checkpoint, level, by_set, ret_sums, ret_count, err);
	nm_checkpoint_end(&checkpoint);
	return status;
}

int nm_debugger_lines(struct nm_debugger *d, uint64_t from, uint64_t to, unsigned level,
		      struct nm_line_sum **ret_lines, size_t *ret_count, struct nm_error *err)
{
	struct nm_checkpoint_report report;
	struct nm_checkpoint checkpoint;
	int status = nm_checkpoints_fetch(d->checkpoints, from, &checkpoint, err);

	assert(level < d->checkpoints->machine.count);
	if (status)
		return status;
	status = nm_checkpoint_run(&checkpoint, from, 0, NULL, 0, &report, err);
	if (!status)
		status = nm_checkpoint_lines(&checkpoint, to, level, ret_lines, ret_count, err);
	nm_checkpoint_end(&checkpoint);
	return status;
}
