/* SPDX-License-Identifier: MIT
 *
 * debugger.c - opens and closes debuggers, and has their breakpoints and runs.
 */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "debugger_priv.h"

/* ---- life ---- */

/* Runs once to the end, so that later moves are fast and the record is complete. */
static int look_over(struct nm_debugger *d, struct nm_error *err)
{
	const uint64_t total = nm_debugger_total(d);
	const struct nm_run_feedback *feedback = &d->source.feedback;
	double began = nm_now_ms(), told = began;
	int status = 0;

	for (uint64_t at = 0; at < total && !status;) {
		at += NM_LEAST_INTERVAL;
		status = nm_debugger_go(d, at, err);
		if (feedback->progress && nm_now_ms() > told + 500) {
			told = nm_now_ms();
			feedback->progress(d->current.position,
					   1e3 * (double)d->current.position / (told - began));
		}
	}
	if (feedback->progress)
		feedback->progress_end();
	return status ? status : nm_debugger_go(d, 0, err);
}

static struct nm_debugger *make_debugger(const struct nm_debugger_source *source)
{
	struct nm_debugger *d = calloc(1, sizeof *d);

	if (d) {
		d->source = *source;
		d->current.fd = -1;
	}
	return d;
}

int nm_debugger_open(struct nm_debugger **ret_debugger, const struct nm_debugger_source *source,
		     struct nm_error *err)
{
	struct nm_debugger *d = make_debugger(source);
	int status = d ? nm_checkpoints_open(&d->checkpoints, source, err) : nm_fail_memory(err);

	if (!status)
		status = look_over(d, err);
	if (status)
		nm_debugger_close(d);
	else
		*ret_debugger = d;
	return status;
}

int nm_debugger_another(struct nm_debugger **ret_debugger, const struct nm_debugger *of, struct nm_error *err)
{
	struct nm_debugger *d;
	int status;

	if (of->settings.list.count)
		return nm_debugger_open(ret_debugger, &of->source, err);
	d = make_debugger(&of->source);
	if (!d)
		return nm_fail_memory(err);
	d->checkpoints = of->checkpoints;
	d->checkpoints->users++;
	status = nm_debugger_go(d, 0, err);
	if (status)
		nm_debugger_close(d);
	else
		*ret_debugger = d;
	return status;
}

void nm_settings_done(struct nm_settings *s)
{
	nm_vec_free(&s->list);
	nm_strings_done(&s->strings);
}

void nm_debugger_close(struct nm_debugger *d)
{
	if (!d)
		return;
	nm_checkpoint_end(&d->current);
	nm_checkpoints_leave(d->checkpoints);
	nm_settings_done(&d->settings);
	nm_vec_free(&d->breakpoints);
	free(d);
}

/* A run with the settings, at the position where this debugger is. */
static int change_run(struct nm_debugger *d, const struct nm_settings *settings, struct nm_error *err)
{
	struct nm_debugger_source source = d->source;
	struct nm_debugger *other;
	int status;

	source.settings = settings->list.at;
	status = nm_debugger_open(&other, &source, err);
	if (status)
		return status;
	status = nm_debugger_go(other, d->current.position, err);
	if (!status) {
		nm_checkpoint_end(&d->current);
		nm_checkpoints_leave(d->checkpoints);
		d->checkpoints = other->checkpoints;
		d->checkpoints->users++;
		d->current = other->current;
		d->report = other->report;
		other->current.fd = -1;
	}
	nm_debugger_close(other);
	return status;
}

int nm_debugger_restart(struct nm_debugger *d, struct nm_settings *settings, struct nm_error *err)
{
	int status = change_run(d, settings, err);

	if (status)
		return status;
	d->interrupted_at = 0;
	nm_settings_done(&d->settings);
	d->settings = *settings;
	memset(settings, 0, sizeof *settings);
	return 0;
}

void nm_debugger_rest(struct nm_debugger *d)
{
	nm_checkpoint_end(&d->current);
	if (!d->settings.list.count)
		return;
	nm_checkpoints_leave(d->checkpoints);
	d->checkpoints = NULL;
}

int nm_debugger_wake(struct nm_debugger *d, struct nm_error *err)
{
	if (!d->checkpoints)
		return change_run(d, &d->settings, err);
	return d->current.fd < 0 ? nm_debugger_go(d, d->current.position, err) : 0;
}

int nm_debugger_go(struct nm_debugger *d, uint64_t position, struct nm_error *err)
{
	if (position != d->current.position)
		d->interrupted_at = 0;
	return nm_checkpoints_go(d->checkpoints, &d->current, position, &d->report, err);
}

uint64_t nm_debugger_position(const struct nm_debugger *d) { return d->current.position; }

uint64_t nm_debugger_total(const struct nm_debugger *d) { return d->checkpoints->program.references.count; }

const struct nm_debug_program *nm_debugger_program(const struct nm_debugger *d)
{
	return &d->checkpoints->program;
}

/* ---- breakpoints ---- */

int nm_debugger_break(struct nm_debugger *d, const struct nm_breakpoint *breakpoint, uint32_t *ret_id,
		      struct nm_error *err)
{
	struct nm_breakpoint b = *breakpoint;
	struct nm_condition condition;
	int status = nm_condition_parse(&condition, b.expression, &d->checkpoints->program, err);

	if (status)
		return status;
	if (b.level >= d->checkpoints->machine.count)
		return nm_fail(err, NM_EINVAL, "there is no such level");
	if (d->breakpoints.count == NM_BREAKPOINTS)
		return nm_fail(err, NM_EINVAL, "there are %d breakpoints already", NM_BREAKPOINTS);
	b.id = ++d->last_id;
	if (nm_vec_push(&d->breakpoints, b))
		return nm_fail_memory(err);
	*ret_id = b.id;
	return 0;
}

static struct nm_breakpoint *breakpoint_of(struct nm_debugger *d, uint32_t id)
{
	for (size_t i = 0; i < d->breakpoints.count; i++)
		if (d->breakpoints.at[i].id == id)
			return &d->breakpoints.at[i];
	return NULL;
}

int nm_debugger_unbreak(struct nm_debugger *d, uint32_t id)
{
	struct nm_breakpoint *b = breakpoint_of(d, id);

	if (!b)
		return NM_ENOENT;
	memmove(b, b + 1, (size_t)(d->breakpoints.at + d->breakpoints.count - (b + 1)) * sizeof *b);
	d->breakpoints.count--;
	return 0;
}

struct nm_breakpoint *nm_debugger_breakpoint(struct nm_debugger *d, unsigned i)
{
	return i < d->breakpoints.count ? &d->breakpoints.at[i] : NULL;
}

/* ---- runs ---- */

struct run {
	struct nm_stop *stops;
	unsigned count;
	double deadline; /* 0: none */
};

/* The number of matches that a run does not stop at. */
static uint64_t skip_of(const struct nm_debugger *d, const struct nm_breakpoint *b, int backwards)
{
	const int goes_on = d->interrupted_at && d->interrupted_at == d->current.position;

	return backwards ? 0 : b->skip - (goes_on ? b->skipped : 0);
}

/* Remembers what an interrupted run to a breakpoint has skipped. */
static void note_interruption(struct nm_debugger *d, const struct run *run)
{
	d->interrupted_at = d->current.position;
	for (size_t i = 0; i < d->breakpoints.count; i++)
		d->breakpoints.at[i].skipped = 0;
	for (unsigned i = 0; i < run->count; i++) {
		struct nm_breakpoint *b = breakpoint_of(d, run->stops[i].id);

		b->skipped = b->skip - run->stops[i].skip;
	}
}

static int choose_stops(struct nm_debugger *d, const struct nm_debugger_run *how, struct run *ret,
			struct nm_error *err)
{
	int status = 0;

	ret->stops = calloc(d->breakpoints.count + 1, sizeof *ret->stops);
	if (!ret->stops)
		return nm_fail_memory(err);
	if (how->until) {
		ret->stops[0].level = how->level;
		ret->count = 1;
		return nm_condition_parse(&ret->stops[0].condition, how->until, &d->checkpoints->program,
					  err);
	}
	for (size_t i = 0; i < d->breakpoints.count && !status; i++) {
		const struct nm_breakpoint *b = &d->breakpoints.at[i];
		struct nm_stop *stop = &ret->stops[ret->count];

		if (!b->enabled)
			continue;
		*stop =
		    (struct nm_stop){.id = b->id, .level = b->level, .skip = skip_of(d, b, how->backwards)};
		status = nm_condition_parse(&stop->condition, b->expression, &d->checkpoints->program, err);
		ret->count++;
	}
	return status;
}

/* Runs back to the last match before the position: piece by piece, the latest piece first. */
static int run_back(struct nm_debugger *d, const struct run *run, enum nm_stopped *ret_stopped,
		    uint32_t *ret_id, struct nm_error *err)
{
	uint64_t end = d->current.position ? d->current.position - 1 : 0;
	int status = 0;

	*ret_stopped = NM_STOPPED_END;
	while (end && *ret_stopped == NM_STOPPED_END && !status) {
		struct nm_checkpoint_report report = {0};
		struct nm_checkpoint checkpoint;
		uint64_t begin;

		status = nm_checkpoints_fetch(d->checkpoints, end - 1, &checkpoint, err);
		if (status)
			return status;
		begin = checkpoint.position;
		status =
		    nm_checkpoint_run(&checkpoint, end, NM_RUN_LAST, run->stops, run->count, &report, err);
		nm_checkpoint_end(&checkpoint);
		if (report.matched) {
			*ret_stopped = NM_STOPPED_MATCH;
			*ret_id = report.matched_by;
			begin = report.matched;
		} else if (run->deadline > 0 && begin && nm_now_ms() > run->deadline) {
			*ret_stopped = NM_STOPPED_LIMIT;
		}
		end = begin;
	}
	return status ? status : nm_debugger_go(d, end, err);
}

int nm_debugger_run(struct nm_debugger *d, const struct nm_debugger_run *how, enum nm_stopped *ret_stopped,
		    uint32_t *ret_id, struct nm_error *err)
{
	struct run run = {.deadline = how->limit_ms ? nm_now_ms() + how->limit_ms : 0};
	struct nm_breakpoint *b;
	int status = choose_stops(d, how, &run, err);

	*ret_id = 0;
	if (!status && how->backwards)
		status = run_back(d, &run, ret_stopped, ret_id, err);
	else if (!status)
		status = nm_checkpoints_advance(d->checkpoints, &d->current, nm_debugger_total(d), run.stops,
						run.count, run.deadline, ret_stopped, &d->report, err);
	if (!status && !how->backwards && *ret_stopped == NM_STOPPED_MATCH)
		*ret_id = d->report.matched_by;
	d->interrupted_at = 0;
	if (!status && !how->backwards && !how->until && *ret_stopped == NM_STOPPED_LIMIT)
		note_interruption(d, &run);
	free(run.stops);
	b = status ? NULL : breakpoint_of(d, *ret_id);
	if (b)
		b->hits++;
	return status;
}
