/* SPDX-License-Identifier: MIT
 *
 * window.c - follows the functions and regions that a window names (window.h), and decides what counts, and for
 * which phase.
 */
#include <fnmatch.h>
#include <string.h>

#include "replay.h"

const char *const nm_position_words[NM_POSITION_END + 1] = {[NM_POSITION_INSTRUCTIONS] = "instructions",
							    [NM_POSITION_REFERENCES] = "references",
							    [NM_POSITION_ENTER] = "enter",
							    [NM_POSITION_LEAVE] = "leave",
							    [NM_POSITION_MARK] = "mark",
							    [NM_POSITION_END] = "end"};

/* A function's name without its parameters is enough. */
static int is_named(const char *function, const char *wanted)
{
	const size_t length = strlen(wanted);

	return (!strncmp(function, wanted, length) && (!function[length] || function[length] == '(')) ||
	       !fnmatch(wanted, function, 0);
}

static int is_function_of(const struct nm_run_position *p, const char *function)
{
	return nm_position_is_of_function(p) && is_named(function, p->name);
}

unsigned nm_executor_watches(const struct nm_executor *x, const char *function)
{
	const struct nm_run_window *w = &x->window;

	return (is_function_of(&w->from, function) ? NM_WATCH_FROM : 0u) |
	       (is_function_of(&w->until, function) ? NM_WATCH_UNTIL : 0u) |
	       (w->in && is_named(function, w->in) ? NM_WATCH_IN : 0u);
}

/* What the ends of the window wait for has occurred once more. */
static void pass(struct nm_executor *x, unsigned watched, enum nm_position_unit unit)
{
	if (watched & NM_WATCH_FROM && x->window.from.unit == unit)
		x->window_met |= ++x->passed.from >= x->window.from.at ? NM_WATCH_FROM : 0u;
	if (watched & NM_WATCH_UNTIL && x->window.until.unit == unit)
		x->window_met |= ++x->passed.until >= x->window.until.at ? NM_WATCH_UNTIL : 0u;
}

int nm_executor_watch_call(struct nm_executor *x, unsigned watched)
{
	struct nm_thread *t = x->running.thread;
	const struct nm_open_call call = {
	    .slot = nm_frames_top(&t->frames), .stack = t->frames.current, .watched = watched};

	for (size_t i = t->open_calls.count; i-- > 0;)
		if (t->open_calls.at[i].slot == call.slot && t->open_calls.at[i].stack == call.stack &&
		    t->open_calls.at[i].watched == watched)
			return 0;
	if (nm_vec_push(&t->open_calls, call))
		return NM_ENOMEM;
	x->window_met |= watched & NM_WATCH_IN;
	pass(x, watched, NM_POSITION_ENTER);
	return nm_executor_turn(x);
}

void nm_executor_watch_frame(struct nm_executor *x, uint64_t slot)
{
	struct nm_thread *t = x->running.thread;
	size_t kept = 0;

	for (size_t i = 0; i < t->open_calls.count; i++) {
		const struct nm_open_call *call = &t->open_calls.at[i];

		if (call->stack == t->frames.current && call->slot <= slot)
			pass(x, call->watched, NM_POSITION_LEAVE);
		else
			t->open_calls.at[kept++] = *call;
	}
	t->open_calls.count = kept;
}

void nm_executor_watch_region(struct nm_executor *x, int enter, const char *name)
{
	const struct nm_run_window *w = &x->window;
	const enum nm_position_unit unit = enter ? NM_POSITION_MARK : NM_POSITION_END;

	pass(x,
	     (w->from.unit == unit && !strcmp(w->from.name, name) ? NM_WATCH_FROM : 0u) |
		 (w->until.unit == unit && !strcmp(w->until.name, name) ? NM_WATCH_UNTIL : 0u),
	     unit);
}

/* ---- what counts ---- */

/* Whether the running thread is in the window's function, if it has one. */
static int is_in_function(const struct nm_executor *x)
{
	const struct nm_thread *t = x->running.thread;

	if (!x->window.in)
		return 1;
	for (size_t i = 0; t && i < t->open_calls.count; i++)
		if (t->open_calls.at[i].watched & NM_WATCH_IN &&
		    t->open_calls.at[i].stack == t->frames.current)
			return 1;
	return 0;
}

/* Whether the phase is one that is asked for. */
static int is_in_phase(const struct nm_executor *x)
{
	return !x->phases || x->phases->only == NM_ALL_PHASES || x->phases->only == (int)x->phase;
}

static void set_measuring(struct nm_executor *x)
{
	x->measuring = x->asked && x->inside && is_in_phase(x);
	x->has_paused |= !x->measuring && !x->over;
	nm_executor_choose_path(x);
}

void nm_executor_set_window(struct nm_executor *x, const struct nm_run_window *window)
{
	x->window = *window;
	x->inside = !window->from.unit && !window->in;
	set_measuring(x);
}

void nm_executor_ask(struct nm_executor *x, int asked)
{
	x->asked = asked;
	set_measuring(x);
}

/* ---- phases ---- */

/* The next limit is reached, and perhaps those after it: all threads go on in the lanes of its phase. */
static int change_phase(struct nm_executor *x, uint64_t now)
{
	int status = 0;

	while (x->phase_limit < x->phases->limits.count && x->phases->limits.at[x->phase_limit].begin <= now)
		x->phase = x->phases->limits.at[x->phase_limit++].phase;
	set_measuring(x);
	if (nm_executor_resolve_pending(x))
		return NM_ENOMEM;
	for (size_t i = 0; i < x->resolver.threads->count && !status; i++)
		status = nm_executor_choose_lane(x, x->resolver.threads->at[i]);
	return status;
}

/* Instructions that count, or would if all phases did. */
static uint64_t phase_clock(const struct nm_executor *x) { return nm_executor_measured(x) + x->skipped; }

/* Where the phase ends, by that clock; UINT64_MAX: never. */
static uint64_t end_of_phase(const struct nm_executor *x)
{
	return x->phases && x->phase_limit < x->phases->limits.count
		   ? x->phases->limits.at[x->phase_limit].begin
		   : UINT64_MAX;
}

/* The clock from which on a window of words may hold a limit that is so many instructions away. */
static uint64_t before(const struct nm_executor *x, uint64_t limit, uint64_t now)
{
	const uint64_t margin = (uint64_t)NM_WORDS_AT_ONCE * x->decoder.longest;

	return limit == UINT64_MAX ? limit : limit > now + margin ? x->clock + (limit - now - margin) : 0;
}

void nm_executor_watch_limits(struct nm_executor *x)
{
	const uint64_t of_phase = before(x, end_of_phase(x), phase_clock(x));
	const uint64_t of_window = x->window.until.unit == NM_POSITION_INSTRUCTIONS && x->measuring
				       ? before(x, x->window.until.at, x->clock)
				       : UINT64_MAX;

	x->careful_from = of_phase < of_window ? of_phase : of_window;
}

/* What does not count is executed by single steps, as is what ends elsewhere than at an instruction: they count
 * references as they are made. */
int nm_executor_turn(struct nm_executor *x)
{
	const uint64_t references = x->builder.references + x->uncounted;
	const int begun = !x->window.from.unit ||
			  nm_position_reached(&x->window.from, x->clock, references, x->passed.from);
	int inside;

	x->over |= nm_position_reached(&x->window.until, x->clock, references, x->passed.until);
	inside = begun && !x->over && is_in_function(x);
	if (inside != x->inside) {
		x->inside = inside;
		set_measuring(x);
	}
	return phase_clock(x) < end_of_phase(x) ? 0 : change_phase(x, phase_clock(x));
}
