/* SPDX-License-Identifier: MIT
 *
 * export_priv.h - the interface of an exporter, and helpers for exporters.
 */
#ifndef NM_EXPORT_PRIV_H
#define NM_EXPORT_PRIV_H

#include "arena.h"
#include "cube.h"
#include "export.h"
#include "map.h"
#include "metrics.h"
#include "vector.h"

enum nm_exporter_flags {
	NM_EXPORTER_BINARY = 1,
	NM_EXPORTER_WHOLE = 2,      /* writes whole rows: takes no events */
	NM_EXPORTER_ONE_EVENT = 4,  /* holds one figure: one event of one level */
	NM_EXPORTER_ALL_LEVELS = 8, /* unless the user says otherwise; else the first that takes data */
	NM_EXPORTER_OBJECTS = 16    /* can show objects as functions */
};

struct nm_exporter {
	const char *name, *summary;
	unsigned flags;
	const char *events;   /* unless the user says otherwise; NULL: all that the view counts stores, */
	const char *opens_on; /* behind this one, of all levels; or NULL */
	int (*write)(struct nm_export *x, FILE *out, struct nm_error *err);
};

/* ---- events.c: the figures of a level --------------------------------------------------------- */

struct nm_export_event {
	const char *level;
	const char *name;                /* of the column, or of what is derived */
	const struct nm_metric *derived; /* NULL: a column, */
	unsigned count;                  /* which is this one of counts.def */
};

struct nm_events nm_vec(struct nm_export_event);

const struct nm_metric *nm_derived_at(unsigned i); /* derived events; NULL behind the last */

int64_t nm_event_value(const struct nm_export_event *event, const struct nm_metric_sums *counts);

/* Appends the events that a list ("misses,loads"; NULL: all columns) names, for each of the levels. */
int nm_events_choose(struct nm_export *x, const char *list, struct nm_error *err);

/* ---- chains.c: who called whom ------------------------------------------------------------------ */

/* A context of the view contexts: the call of a function from a line, in the context of its caller. */
struct nm_export_chain {
	const char *function; /* that is called; NULL: unknown, as for the root */
	const char *caller, *file;
	int64_t line;  /* of the call */
	size_t parent; /* index; a root is its own */
	int64_t calls;
};

/* Reads them, if the profile has any. */
int nm_chains_load(struct nm_export *x, struct nm_error *err);

/* One function of a chain of calls, with the line where it calls the next, or that is counted. */
struct nm_chain_frame {
	const char *function; /* "<unknown>" */
	const char *file;     /* or NULL */
	int64_t line;         /* 0: unknown */
};

struct nm_chain_frames nm_vec(struct nm_chain_frame);

struct nm_fact;
/* The functions that lead to a fact, outermost first, the fact's own line last. Overwrites *frames. */
int nm_chain_frames(const struct nm_export *x, const struct nm_fact *fact, struct nm_chain_frames *frames);

/* ---- export.c ----------------------------------------------------------------------------------- */

struct nm_export_part {
	const char *process;
	int64_t thread;
};

struct nm_export {
	const struct nm_exporter *exporter;
	struct nm_profile *profile;
	struct nm_strings pool; /* names of this export, valid UTF-8 without control characters */
	struct nm_vec(const char *) levels;
	struct nm_events events;
	struct nm_vec(struct nm_export_part) parts;
	const char *process;                          /* of what is written now; NULL: all */
	int64_t thread;                               /* 0: all */
	unsigned part;                                /* 0: there is only one */
	struct nm_vec(struct nm_export_chain) chains; /* none in a profile without call chains */
	struct nm_map first_chain;                    /* process -> its root in chains, and 1 */
	int objects;
};

/* texts.c */

/* A copy in x->pool that other tools can read; NULL stays NULL. */
int nm_export_text(struct nm_export *x, const char *text, const char **ret_text);

/* The number of a text of x->pool, from 1; *ret_new: whether it is new. */
int nm_export_id(struct nm_map *ids, const char *text, uint64_t *ret_id, int *ret_new);

/* ---- facts.c: the view counts, added up ----------------------------------------------------------- */

enum nm_by {
	NM_BY_PROCESS = 1,
	NM_BY_THREAD = 2,
	NM_BY_OBJECT = 4,
	NM_BY_LEVEL = 8,
	NM_BY_CHAIN = 16,
	NM_BY_INSTRUCTION = 32
};

/* Runs "SELECT ... FROM VIEW" with the condition that process, thread and level (those of `by`) are the
 * export's, and `order` behind it. */
int nm_facts_query(const struct nm_export *x, const char *select, unsigned by, const char *order,
		   struct nm_rows **ret_rows, struct nm_error *err);

/* One line of one function, and what else distinguishes it. NULL and 0: unknown, or not asked for. */
struct nm_fact {
	const char *process, *file, *function, *object; /* in x->pool */
	const char *module;                             /* of the instruction, and its address there */
	int64_t address;
	int64_t thread, line;
	const struct nm_export_chain *chain; /* NULL in a profile without them */
	int64_t *values;                     /* one for each event */
};

struct nm_export_facts {
	struct nm_export *x;
	unsigned by;
	struct nm_cube cube; /* the sums of a row: values of the events */
	struct nm_cube_names names;
	size_t *order, next; /* rows of the cube */
	struct nm_fact fact;
};

/* The facts of the export's process, thread and levels, ordered by process, thread, chain, file, function,
 * line, address, object; those with nothing but zeros are left out. */
int nm_facts_open(struct nm_export_facts *ret_facts, struct nm_export *x, unsigned by,
		  const struct nm_export_event *events, size_t count, struct nm_error *err);
int nm_facts_next(struct nm_export_facts *facts, struct nm_error *err); /* 1, 0 after the last, or a code */
void nm_facts_close(struct nm_export_facts *facts);

/* ---- what is shown of a fact ------------------------------------------------------------------------ */

/* The function, "<unknown>" without one; "solver.c:41", "<unknown>" without debug information. */
const char *nm_fact_function(const struct nm_fact *fact);
int nm_fact_line(struct nm_export *x, const struct nm_fact *fact, const char **ret_line);

/* ---- json.c ----------------------------------------------------------------------------------------- */

/* A text of x->pool as a JSON string. */
int nm_export_json(const char *text, FILE *out);

#endif
