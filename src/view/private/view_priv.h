/* SPDX-License-Identifier: MIT
 *
 * view_priv.h - the answers: each file of answers/ has a few, and routes.c the table of all.
 */
#ifndef NM_VIEW_PRIV_H
#define NM_VIEW_PRIV_H

#include <jansson.h>

#include "prediction.h"
#include "recent_answers.h"
#include "store.h"
#include "tabs.h"
#include "view.h"

struct nm_view_profile {
	struct nm_profile *profile;
	const char *path;
	struct nm_fact_store *facts;           /* of the view */
	const struct nm_source_search *search; /* of the view, or NULL */
};

struct nm_view {
	struct nm_view_profile profiles[NM_VIEW_PROFILES];
	unsigned count;
	struct nm_fact_store facts;
	struct nm_view_cache cache;
	unsigned prepared;   /* steps of nm_view_prepare() */
	struct nm_tabs tabs; /* of the debugger */
	struct nm_prediction prediction;
	const struct nm_source_search *search; /* borrowed, or NULL */
	const char *program, *trace; /* borrowed: nearmiss itself, and the first profile's trace, or NULL */
	nm_view_progress *progress;  /* NULL: none */
	uint64_t written;            /* references that the last file holds for the debugger */
};

struct nm_debug_program;

#define NM_VIEW_DEBUGGER_PATH "/api/d/"
#define NM_VIEW_PREDICTION_PATH "/api/prediction"

/* An answer about one profile, as a value that the caller owns. */
struct nm_view_route {
	const char *name; /* after "/api/p/N/" */
	int (*answer)(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		      struct nm_error *err);
	int by_input; /* takes the parameter `input`: one of those that a merged profile was made of */
};

/* The answers that are not about one profile. */
int nm_view_session(const struct nm_view *view, json_t **ret_answer, struct nm_error *err);
/* The debugger's description of its program, or null. */
int nm_view_debugger_session(const struct nm_view *view, json_t **ret_session, struct nm_error *err);
int nm_view_debugger_answer(struct nm_view *view, const struct nm_request *request, FILE *out,
			    struct nm_error *err);
int nm_view_compare(const struct nm_view *view, const struct nm_request *request, json_t **ret_answer,
		    struct nm_error *err);

/* Of a file in which the debugger's program makes references, lines from the parameter `from` on (debugged_source.c).
 * */
int nm_view_debugged_source(const struct nm_view *view, const struct nm_debug_program *program,
			    const struct nm_request *request, json_t **ret_answer, struct nm_error *err);

/* What runs or ran last, after POST has started one or DELETE cancelled it. */
int nm_view_prediction(struct nm_view *view, const struct nm_request *request, FILE *out,
		       struct nm_error *err);
/* A trace of the profile's run that is there, malloc'ed; NULL: there is none. */
int nm_view_trace(const struct nm_view *view, unsigned profile, char **ret_trace, struct nm_error *err);

/* The last entry has no name. */
extern const struct nm_view_route nm_view_routes[];

#endif
