/* SPDX-License-Identifier: MIT
 *
 * debugger.h - a cache debugger: runs simulated caches forward and back over the references of a loop nest
 * or a trace, with steps and breakpoints.
 *
 *     nm_debugger_open(&debugger, &source, &err);
 *     nm_debugger_go(debugger, 1000, &err);
 *     nm_debugger_report(debugger)->effects ...
 *     nm_debugger_close(debugger);
 *
 * Positions count references from 1: position n is after the n-th reference, position 0 is the start. The
 * state at a position does not depend on how the debugger reached it. Idea: van der Deijl, Kanbier, Temam
 * and Granston, "A Cache Visualization Tool", IEEE Computer 1997.
 */
#ifndef NM_DEBUGGER_H
#define NM_DEBUGGER_H

#include <stdint.h>
#include <stdio.h>

#include "errors.h"
#include "feedback.h"
#include "interleave.h"
#include "machine.h"

struct nm_debugger;
struct nm_debug_program;

struct nm_debugger_source {
	const char *path; /* of a loop nest, or a trace that replay reads; lives as long as the debugger */
	const char *const *settings; /* of a nest: "NAME=VALUE", ended by NULL */
	unsigned process; /* of a trace: which process image, from 1; 0: that with most references */
	struct nm_thread_order order; /* of a trace's threads, where the machine has several cores */
	uint64_t from, to; /* range of references, numbered from 1; 0: from the first, to the last */
	/* Machines side by side, in lock-step (nm_machine_join). policy=opt looks ahead and cannot be
	 * debugged. Borrowed until the debugger is closed. */
	const struct nm_machine *machine;
	uint64_t interval; /* initial number of references between checkpoints; 0: the default */
	struct nm_run_feedback feedback; /* a trace needs `warn`, a nest nothing */
};

/* NM_EINVAL: an error in the nest or the machine; NM_EFORMAT, NM_EIO ...: in the trace. */
int nm_debugger_open(struct nm_debugger **ret_debugger, const struct nm_debugger_source *source,
		     struct nm_error *err);
void nm_debugger_close(struct nm_debugger *debugger);

/* Another debugger of the same run, at position 0, with its own breakpoints. */
int nm_debugger_another(struct nm_debugger **ret_debugger, const struct nm_debugger *of,
			struct nm_error *err);
/* Frees the memory of the current checkpoint. The next answer simulates it again. */
void nm_debugger_rest(struct nm_debugger *debugger);

uint64_t nm_debugger_position(const struct nm_debugger *debugger);
uint64_t nm_debugger_total(const struct nm_debugger *debugger);
const struct nm_debug_program *nm_debugger_program(const struct nm_debugger *debugger);

/* Goes to a position, at most the total. */
int nm_debugger_go(struct nm_debugger *debugger, uint64_t position, struct nm_error *err);

/* ---- breakpoints: expressions (condition.h) over a reference and its effects ---- */

enum { NM_BREAKPOINTS = 64, NM_EXPRESSION_ROOM = 256 };

struct nm_breakpoint {
	uint32_t id;    /* from 1 */
	uint32_t level; /* index in the machine: set, way, hit, class ... are those of this level */
	char expression[NM_EXPRESSION_ROOM];
	char kind[24]; /* the kind that a request named, or "" */
	int enabled;
	uint64_t skip;    /* number of matches in each run before it stops */
	uint64_t skipped; /* of these, those of a run that a limit has interrupted */
	uint64_t hits;    /* how often it has stopped a run */
};

/* NM_EINVAL: the expression is wrong, or there are too many. */
int nm_debugger_break(struct nm_debugger *debugger, const struct nm_breakpoint *breakpoint, uint32_t *ret_id,
		      struct nm_error *err);
int nm_debugger_unbreak(struct nm_debugger *debugger, uint32_t id);                     /* 0 or NM_ENOENT */
struct nm_breakpoint *nm_debugger_breakpoint(struct nm_debugger *debugger, unsigned i); /* or NULL */

/* ---- runs ---- */

enum nm_stopped { NM_STOPPED_END, NM_STOPPED_MATCH, NM_STOPPED_LIMIT };

struct nm_debugger_run {
	const char *until; /* an expression; NULL: the enabled breakpoints */
	unsigned level;    /* that the expression refers to */
	int backwards;     /* to the last match before the position; at the start: NM_STOPPED_END */
	unsigned limit_ms; /* 0: none; NM_STOPPED_LIMIT: time was up; the next run from there continues it */
};

/* *ret_id: the breakpoint that stopped it, or 0. */
int nm_debugger_run(struct nm_debugger *debugger, const struct nm_debugger_run *run,
		    enum nm_stopped *ret_stopped, uint32_t *ret_id, struct nm_error *err);

/* ---- answers as JSON: docs/format/view.md ---- */

struct nm_debugger_request {
	const char *method; /* "GET", "POST", "DELETE" */
	const char *path;   /* after "/api/d/" */
	/* The value of a parameter of the query, or NULL. */
	const char *(*parameter)(void *self, const char *name);
	void *self;
	const char *body; /* JSON, or NULL */
};

/* NM_ENOENT: there is no such path; NM_EINVAL: a parameter makes no sense. */
int nm_debugger_answer(struct nm_debugger *debugger, const struct nm_debugger_request *request, FILE *out,
		       struct nm_error *err);

#endif
