/* SPDX-License-Identifier: MIT
 *
 * gate_priv.h - a judged gate. All texts are valid UTF-8, in its pool.
 */
#ifndef NM_GATE_PRIV_H
#define NM_GATE_PRIV_H

#include <jansson.h>

#include "gate.h"
#include "texts.h"

struct nm_count_range {
	int64_t value;           /* of the first profile */
	int64_t least, greatest; /* of all, wherever memory was placed */
};

/* A line of code and the object that it uses. */
struct nm_gate_place {
	const char *object, *function, *file; /* NULL: unknown; the file is relative to the root */
	int64_t line;                         /* 0: unknown */
	const char *declared_file;            /* of the object; NULL: unknown */
	int64_t declared_line;
	const char *fingerprint; /* the same as long as object, function and the line's text are */
	struct nm_count_range base, now;
};

enum nm_outcome { NM_GATE_MET, NM_GATE_NOT_MET, NM_GATE_IGNORED /* it is not met, but that is allowed */ };

struct nm_judgement {
	const struct nm_budget *budget;
	enum nm_outcome outcome;
	const char *level, *program;
	struct nm_count_range base, now; /* base: only if the budget is relative */
	double limit;                    /* that now.least may have */
	int is_single;                   /* a side has one recording, whose memory was not relocated */
	int has_place;
	struct nm_gate_place place; /* where most of the rise is, or of the count */
	/* sentences.c */
	const char *id;       /* "l1d-misses": level and metric */
	const char *title;    /* "misses of L1d on matrix" */
	const char *allowed;  /* "+1 %" */
	const char *counts;   /* "62,500 to 65,100 (+4.2 %)" */
	const char *where;    /* "matrix at matrix.c:36 (sum_columns)"; NULL: has no place */
	const char *sentence; /* all of it, without a full stop */
};

struct nm_gate {
	const struct nm_gate_request *request;
	struct nm_vec(struct nm_judgement) judgements; /* in the order of the budgets */
	struct nm_strings pool;
};

/* compare.c: the counts of all profiles at one level, matched. */
struct nm_comparison {
	const char *level, *program; /* as budgets have them */
	int has_fields;
	struct nm_diff_side *sides;
	struct nm_diff_texts *texts;
	unsigned count;
};
int nm_comparison_load(struct nm_comparison *comparison, const struct nm_gate_request *request,
		       const struct nm_budget *budget, struct nm_strings *pool, struct nm_error *err);
int nm_comparison_fits(const struct nm_comparison *comparison, const struct nm_budget *budget);
void nm_comparison_done(struct nm_comparison *comparison);

/* rows.c: sums the facts that a budget is for, in all and by place. NM_EINVAL: it names what no profile has. */
int nm_judgement_sum(struct nm_judgement *judgement, const struct nm_comparison *comparison,
		     const struct nm_gate_request *request, struct nm_strings *pool, struct nm_error *err);

int nm_budget_means(const struct nm_budget *budget, const struct nm_diff_fact *fact);

/* spread.c: the interval of a budget's count within a profile: 1, 0 if its memory was not relocated, or a code. */
enum { NM_GATE_RELOCATIONS = 64 };
int nm_gate_spread(const struct nm_diff_side *side, const struct nm_budget *budget, struct nm_strings *pool,
		   int64_t *ret_least, int64_t *ret_greatest, struct nm_error *err);

/* sentences.c: the texts of a judgement. 0 or NM_ENOMEM. */
int nm_judgement_say(struct nm_judgement *judgement, struct nm_strings *pool);

/* sentences.c: texts in the pool; NULL: memory is exhausted. */
const char *nm_gate_say(struct nm_strings *pool, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *nm_gate_clean(struct nm_strings *pool, const char *text); /* as valid UTF-8 */

/* judge.c: budgets that are not met; what the reader must know of the counts, a sentence, or "". */
unsigned nm_gate_broken(const struct nm_gate *gate);
const char *nm_gate_note(const struct nm_gate *gate);

/* ---- formats.c: what formats share. Each is a const struct nm_gate_format in a file of formats/. ---- */

/* The gate in a sentence: "1 of 3 budgets is not met". */
void nm_gate_verdict(const struct nm_gate *gate, FILE *out);

/* Writes a document and drops the reference; NULL, as jansson gives where memory is exhausted, is NM_ENOMEM. */
int nm_gate_dump(json_t *json, FILE *out);

extern const char *const nm_outcome_names[3];

#endif
