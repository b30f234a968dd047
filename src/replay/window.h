/* SPDX-License-Identifier: MIT
 *
 * window.h - the part of a run that counts: from one position to another, of what each process has executed
 * itself, and while a function runs. Outside of it references move lines but do not count, as while the program
 * has switched measuring off.
 *
 * A window begins and ends in front of the first block of code at or behind the position. So windows that meet
 * add up to the whole run.
 *
 * A function is *entered* where it runs in a frame in which it has not run yet, by a call or a tail call: a new
 * *open call*. It is *left* when a call or return shows that the frame is gone. What it calls runs within it,
 * on its stack; other threads do not.
 */
#ifndef NM_WINDOW_H
#define NM_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "vector.h"

enum nm_position_unit {
	NM_POSITION_NONE, /* the beginning, or the end, of the run */
	NM_POSITION_INSTRUCTIONS,
	NM_POSITION_REFERENCES,
	NM_POSITION_ENTER, /* a function */
	NM_POSITION_LEAVE,
	NM_POSITION_MARK, /* a region of the program begins, perhaps one without anything in it */
	NM_POSITION_END   /* it ends */
};

struct nm_run_position {
	enum nm_position_unit unit;
	uint64_t at; /* how many, executed so far; of functions and regions: occurrences, 1 is the first */
	const char *name; /* of these; a function's may be a pattern; borrowed */
};

struct nm_run_window {
	struct nm_run_position from, until;
	const char *in; /* a function, or NULL; borrowed */
};

/* The functions and regions that a window names: bits. */
enum nm_watched { NM_WATCH_FROM = 1, NM_WATCH_UNTIL = 2, NM_WATCH_IN = 4 };

/* A call of a function that the window names, which has not returned. */
struct nm_open_call {
	uint64_t slot;    /* of its frame */
	size_t stack;     /* index among the thread's */
	unsigned watched; /* enum nm_watched */
};

struct nm_open_calls nm_vec(struct nm_open_call);

/* Whether a position is reached. passed: how often its function or region has occurred. */
static inline int nm_position_reached(const struct nm_run_position *p, uint64_t instructions,
				      uint64_t references, uint64_t passed)
{
	const uint64_t now = p->unit == NM_POSITION_INSTRUCTIONS ? instructions
			     : p->unit == NM_POSITION_REFERENCES ? references
								 : passed;

	return p->unit && now >= p->at;
}

static inline int nm_position_is_of_function(const struct nm_run_position *p)
{
	return p->unit == NM_POSITION_ENTER || p->unit == NM_POSITION_LEAVE;
}

/* "enter", "mark", ...: how positions are written; NULL for NM_POSITION_NONE. */
extern const char *const nm_position_words[NM_POSITION_END + 1];

/* Whether it must be looked at after each block, also while it counts: only instructions are known ahead. */
static inline int nm_window_needs_steps(const struct nm_run_window *w)
{
	return w->in || (w->until.unit && w->until.unit != NM_POSITION_INSTRUCTIONS);
}

/* Whether a function is the one that is wanted: its name without its parameters is enough; or a pattern. */
int nm_function_is_named(const char *function, const char *wanted);

/* Whether functions are to be followed. */
static inline int nm_window_has_functions(const struct nm_run_window *w)
{
	return w->in || nm_position_is_of_function(&w->from) || nm_position_is_of_function(&w->until);
}

#endif
