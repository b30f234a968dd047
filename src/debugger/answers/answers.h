/* SPDX-License-Identifier: MIT
 *
 * answers.h - what the JSON answers of the debugger have in common; docs/format/view.md describes them.
 */
#ifndef NM_DEBUGGER_ANSWERS_H
#define NM_DEBUGGER_ANSWERS_H

#include <jansson.h>

#include "debugger_priv.h"

/* A request as the functions below see it. */
struct nm_question {
	struct nm_debugger *debugger;
	const struct nm_debugger_request *request;
	json_t *body; /* an object, or NULL */
};

/* Each makes a new value, or fails.  0 or a code. */
typedef int nm_answer_function(const struct nm_question *question, json_t **ret, struct nm_error *err);
nm_answer_function nm_answer_session, nm_answer_state, nm_answer_step, nm_answer_goto, nm_answer_run,
    nm_answer_play, nm_answer_grid, nm_answer_memory, nm_answer_evicted, nm_answer_strip,
    nm_answer_statistics, nm_answer_breakpoints, nm_answer_break, nm_answer_unbreak, nm_answer_nest;

/* A number of the query or of the body; `otherwise` where it is not there. NM_EINVAL: it is no number. */
int nm_question_number(const struct nm_question *question, const char *name, int64_t otherwise,
		       int64_t *ret_number, struct nm_error *err);
const char *nm_question_text(const struct nm_question *question, const char *name); /* or NULL */

/* The level that `cache` (0) and `level` (the first of data) of the question name. */
int nm_question_level(const struct nm_question *question, unsigned *ret_level, struct nm_error *err);

/* place.c: levels by cache, references and effects in words. */
unsigned nm_cache_of_level(const struct nm_machine *machine, unsigned level);
const char *nm_short_level(const struct nm_machine *machine, unsigned level); /* without its machine */
json_t *nm_place_of(struct nm_debugger *debugger, uint64_t position); /* {position,file,line,function} */
json_t *nm_reference_json(struct nm_debugger *debugger, uint64_t position);
json_t *nm_departed_json(struct nm_debugger *debugger, const struct nm_effect *left);
json_t *nm_object_json(const struct nm_debugger *debugger, uint32_t attr); /* its name or null */

/* grid.c: a window of sets of a level's cache, as a question says it; a slot, and where the last reference
 * is. */
struct nm_window {
	unsigned level, core, ways;
	uint64_t sets, from, to; /* to: the set behind the last */
	struct nm_slot *slots;   /* malloc'ed */
};
int nm_window_read(const struct nm_question *question, struct nm_window *ret_window, struct nm_error *err);
json_t *nm_slot_json(struct nm_debugger *debugger, const struct nm_slot *slot); /* null: empty */
json_t *nm_cursor_json(const struct nm_debugger *debugger, unsigned level);

/* A string that may hold bytes that are not UTF-8, or NULL. */
json_t *nm_text_json(const char *text);

/* The state, with what stopped the debugger there. */
int nm_state_json(struct nm_debugger *debugger, const char *stopped_by, uint32_t breakpoint, json_t **ret,
		  struct nm_error *err);

#endif
