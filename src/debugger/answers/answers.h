/* SPDX-License-Identifier: MIT
 *
 * answers.h - functions shared by the JSON answers of the debugger; docs/format/view.md describes the
 * answers.
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

/* A number of the query or of the body; `otherwise` if it is missing. NM_EINVAL: it is not a number. */
int nm_question_number(const struct nm_question *question, const char *name, int64_t otherwise,
		       int64_t *ret_number, struct nm_error *err);
const char *nm_question_text(const struct nm_question *question, const char *name); /* or NULL */

/* The level that the parameters `cache` (default 0) and `level` (default: the first data level) name. */
int nm_question_level(const struct nm_question *question, unsigned *ret_level, struct nm_error *err);

/* place.c: levels by cache; references and effects as text. */
unsigned nm_cache_of_level(const struct nm_machine *machine, unsigned level);
const char *nm_short_level(const struct nm_machine *machine, unsigned level); /* without its machine */
json_t *nm_place_of(struct nm_debugger *debugger, uint64_t position); /* {position,file,line,function} */
json_t *nm_reference_json(struct nm_debugger *debugger, uint64_t position);
json_t *nm_departed_json(struct nm_debugger *debugger, const struct nm_effect *left);
json_t *nm_object_json(const struct nm_debugger *debugger, uint32_t attr); /* its name or null */

/* grid.c: the sets of a level's cache that a request selects; a slot; and the set and way of the last
 * reference, if it went to the cache of this core. */
struct nm_window {
	unsigned level, core, ways;
	uint64_t sets, from, to; /* sets [from, to) */
	struct nm_slot *slots;   /* malloc'ed */
};
int nm_window_read(const struct nm_question *question, struct nm_window *ret_window, struct nm_error *err);
json_t *nm_slot_json(struct nm_debugger *debugger, const struct nm_slot *slot); /* null: empty */
json_t *nm_cursor_json(const struct nm_debugger *debugger, const struct nm_window *of);

/* A string, which need not be valid UTF-8, or NULL. */
json_t *nm_text_json(const char *text);

/* The state, with the reason why the debugger stopped. */
int nm_state_json(struct nm_debugger *debugger, const char *stopped_by, uint32_t breakpoint, json_t **ret,
		  struct nm_error *err);

#endif
