/* SPDX-License-Identifier: MIT
 *
 * window.c - follows the functions and regions that a window names (window.h), and decides what counts, and for
 * which phase.
 */
#include <assert.h>
#include <fnmatch.h>
#include <string.h>

#include "replay.h"

const char *const nm_position_words[NM_POSITION_END + 1] = {[NM_POSITION_INSTRUCTIONS] = "instructions",
							    [NM_POSITION_REFERENCES] = "references",
							    [NM_POSITION_ENTER] = "enter",
							    [NM_POSITION_LEAVE] = "leave",
							    [NM_POSITION_MARK] = "mark",
							    [NM_POSITION_END] = "end"};

int nm_function_is_named(const char *function, const char *wanted)
{
	const size_t length = strlen(wanted);

	return (!strncmp(function, wanted, length) && (!function[length] || function[length] == '(')) ||
	       !fnmatch(wanted, function, 0);
}

static int is_function_of(const struct nm_run_position *p, const char *function)
{
	return nm_position_is_of_function(p) && nm_function_is_named(function, p->name);
}

unsigned nm_replay_watches(const struct nm_replay *r, const char *function)
{
	const struct nm_run_window *w = &r->window;

	return (is_function_of(&w->from, function) ? NM_WATCH_FROM : 0u) |
	       (is_function_of(&w->until, function) ? NM_WATCH_UNTIL : 0u) |
	       (w->in && nm_function_is_named(function, w->in) ? NM_WATCH_IN : 0u);
}

/* What the ends of the window wait for has occurred once more. */
static void pass_occurrence(struct nm_replay *r, unsigned watched, enum nm_position_unit unit)
{
	if (watched & NM_WATCH_FROM && r->window.from.unit == unit)
		r->window_met |= ++r->passed.from >= r->window.from.at ? NM_WATCH_FROM : 0u;
	if (watched & NM_WATCH_UNTIL && r->window.until.unit == unit)
		r->window_met |= ++r->passed.until >= r->window.until.at ? NM_WATCH_UNTIL : 0u;
}

int nm_replay_watch_call(struct nm_replay *r, unsigned watched)
{
	struct nm_thread *t = r->running.thread;
	const struct nm_open_call call = {
	    .slot = nm_frames_top(&t->frames), .stack = t->frames.current, .watched = watched};

	assert(watched);
	for (size_t i = t->open_calls.count; i-- > 0;)
		if (t->open_calls.at[i].slot == call.slot && t->open_calls.at[i].stack == call.stack &&
		    t->open_calls.at[i].watched == watched)
			return 0;
	if (nm_vec_push(&t->open_calls, call))
		return NM_ENOMEM;
	r->window_met |= watched & NM_WATCH_IN;
	pass_occurrence(r, watched, NM_POSITION_ENTER);
	return nm_replay_turn(r);
}

void nm_replay_watch_frame(struct nm_replay *r, uint64_t slot)
{
	struct nm_thread *t = r->running.thread;
	size_t kept = 0;

	for (size_t i = 0; i < t->open_calls.count; i++) {
		const struct nm_open_call *call = &t->open_calls.at[i];

		if (call->stack == t->frames.current && call->slot <= slot)
			pass_occurrence(r, call->watched, NM_POSITION_LEAVE);
		else
			t->open_calls.at[kept++] = *call;
	}
	t->open_calls.count = kept;
}

void nm_replay_watch_region(struct nm_replay *r, int enter, const char *name)
{
	const struct nm_run_window *w = &r->window;
	const enum nm_position_unit unit = enter ? NM_POSITION_MARK : NM_POSITION_END;

	pass_occurrence(r,
			(w->from.unit == unit && !strcmp(w->from.name, name) ? NM_WATCH_FROM : 0u) |
			    (w->until.unit == unit && !strcmp(w->until.name, name) ? NM_WATCH_UNTIL : 0u),
			unit);
}

/* ---- what counts ---- */

/* Whether the running thread is in the window's function, if it has one. */
static int is_in_function(const struct nm_replay *r)
{
	const struct nm_thread *t = r->running.thread;

	if (!r->window.in)
		return 1;
	for (size_t i = 0; t && i < t->open_calls.count; i++)
		if (t->open_calls.at[i].watched & NM_WATCH_IN &&
		    t->open_calls.at[i].stack == t->frames.current)
			return 1;
	return 0;
}

/* Whether the phase is one that is asked for. */
static int is_in_phase(const struct nm_replay *r)
{
	return !r->phases || r->phases->only == NM_ALL_PHASES || r->phases->only == (int)r->phase;
}

static void set_measuring(struct nm_replay *r)
{
	r->measuring = r->asked && !r->paused && r->inside && is_in_phase(r);
	r->has_paused |= !r->measuring && !r->over;
	nm_replay_choose_path(r);
}

void nm_replay_set_window(struct nm_replay *r, const struct nm_run_window *window)
{
	r->window = *window;
	r->inside = !window->from.unit && !window->in;
	set_measuring(r);
}

void nm_replay_ask(struct nm_replay *r, int asked)
{
	r->asked = asked;
	set_measuring(r);
}

void nm_replay_pause(struct nm_replay *r, int paused)
{
	r->paused = paused;
	set_measuring(r);
}

/* ---- phases ---- */

/* The next limit is reached, and perhaps those after it: all threads go on in the lanes of its phase. */
static int change_phase(struct nm_replay *r, uint64_t now)
{
	int status = 0;

	while (r->phase_limit < r->phases->limits.count && r->phases->limits.at[r->phase_limit].begin <= now)
		r->phase = r->phases->limits.at[r->phase_limit++].phase;
	set_measuring(r);
	if (nm_replay_resolve_pending(r))
		return NM_ENOMEM;
	for (size_t i = 0; i < r->resolver.threads->count && !status; i++)
		status = nm_replay_choose_lane(r, r->resolver.threads->at[i]);
	return status;
}

/* Instructions that count, or would if all phases did. */
static uint64_t phase_clock(const struct nm_replay *x) { return nm_replay_measured(x) + x->skipped; }

/* Where the phase ends, by that clock; UINT64_MAX: never. */
static uint64_t end_of_phase(const struct nm_replay *r)
{
	return r->phases && r->phase_limit < r->phases->limits.count
		   ? r->phases->limits.at[r->phase_limit].begin
		   : UINT64_MAX;
}

/* The clock from which on a window of words may hold a limit that is so many instructions away. */
static uint64_t clock_before(const struct nm_replay *r, uint64_t limit, uint64_t now)
{
	const uint64_t margin = (uint64_t)NM_WORDS_AT_ONCE * r->decoder.longest;

	return limit == UINT64_MAX ? limit : limit > now + margin ? r->clock + (limit - now - margin) : 0;
}

void nm_replay_watch_limits(struct nm_replay *r)
{
	const uint64_t of_phase = clock_before(r, end_of_phase(r), phase_clock(r));
	const uint64_t of_window = r->window.until.unit == NM_POSITION_INSTRUCTIONS && r->measuring
				       ? clock_before(r, r->window.until.at, r->clock)
				       : UINT64_MAX;

	r->careful_from = of_phase < of_window ? of_phase : of_window;
}

/* What does not count is executed by single steps, as is what ends elsewhere than at an instruction: they count
 * references as they are made. */
int nm_replay_turn(struct nm_replay *r)
{
	const uint64_t references = r->builder.references + r->uncounted;
	const int begun = !r->window.from.unit ||
			  nm_position_reached(&r->window.from, r->clock, references, r->passed.from);
	int inside;

	r->over |= nm_position_reached(&r->window.until, r->clock, references, r->passed.until);
	inside = begun && !r->over && is_in_function(r);
	if (inside != r->inside) {
		r->inside = inside;
		set_measuring(r);
	}
	return phase_clock(r) < end_of_phase(r) ? 0 : change_phase(r, phase_clock(r));
}
