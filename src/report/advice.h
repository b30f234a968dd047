/* SPDX-License-Identifier: MIT
 *
 * advice.h - from the figures of an object, or of a line that uses it, to a cause and one thing to try.
 *
 * docs/advice.md describes each rule, with the figures that trigger it.
 */
#ifndef NM_REPORT_ADVICE_H
#define NM_REPORT_ADVICE_H

#include <stdint.h>
#include <stdio.h>

#include "table.h"

/* What is unknown is NULL or 0. */
struct nm_evidence {
	const char *object, *kind, *type, *function, *file;
	int64_t bytes, blocks, largest;                     /* of the object, see the view `objects` */
	int64_t touched;                                    /* bytes of its lines that were used at all */
	int64_t reads, writes, misses, write_misses, loads; /* of the level */
	int64_t cold, capacity, conflict, coherence, evictions;
	double reuse, used,
	    waste;             /* accesses that a line serves; bytes of it that are used; % that are not */
	const char *evictor;   /* object that replaced most of these lines */
	int64_t evictor_count; /* lines that it replaced */
	int64_t cycles;        /* of the misses, estimated */
	int64_t covered, dependent; /* of the loads */
	int walked;                 /* it is known by how much loads step: */
	int64_t load_step;          /* in bytes, that most loads follow, and how many of them (%) */
	double load_follow;
	const char *inner; /* the innermost function, where `function` is the user's */
	int64_t line;
	const char *other_function; /* of another line, the one that loads most of the object, */
	int64_t other_line, other_loads;
	int strided;           /* it is known by how much accesses step: */
	int64_t stride;        /* in bytes, that most accesses follow, and how many of them (%) */
	double follow, halved; /* and how many are about half of the step before (%) */
	const char *component; /* another object that its elements lead to: "m(j)%v" of "m" (Fortran) */
	const char
	    *unordered; /* another object that the same function loads without order, most of all such, */
	int64_t unordered_loads; /* and how often */
	int64_t structure;       /* bytes of the structure that the object is made of, and its name */
	const char *structure_type;
	/* those with most of the accesses; those that are hardly used: "key, place.x" */
	const char *hot_fields, *cold_fields;
	const char *hot_types; /* of the former, "?" where it is not known: "long | double" */
	int64_t hot_bytes, cold_bytes, hot_structure; /* the last: with padding */
	int64_t member_bytes,
	    packed;       /* of all members: without padding; in the order that needs least of it */
	double cold_used; /* % of the residencies of their lines in which they were used */
	const char *far_field, *far_other; /* two hot fields that cannot be in one line, */
	int64_t far_bytes, far_visits;     /* so far apart; elements that were visited for one of them, */
	double far_both;                   /* of which for both, in % */
	int64_t most_visits;               /* elements that were visited for one of any two fields, at most */
	const char *line_field;            /* that this line loads most, and how often; its bytes */
	int64_t line_field_loads, line_field_bytes;
	const char *level; /* its name, size and line size in bytes */
	int64_t level_size, line_size;
	int64_t last_size; /* of the last level */
};

struct nm_rule {
	const char *cause; /* its name */
	int (*fits)(const struct nm_evidence *e);
	void (*advise)(const struct nm_evidence *e, FILE *out); /* writes "FIGURES: WHAT TO TRY" */
	double (*saves)(
	    const struct nm_evidence *e); /* the part of the misses that it would save; NULL: not known */
	/* writes the candidate layout (src/whatif/candidate.h) that is advised on rows of one cause, the one that speaks
	 * for all first; nothing: there is none. NULL: what is advised is no layout */
	void (*lay_out)(const struct nm_evidence *rows, size_t count, FILE *out);
	int orders;   /* the misses that are left would be fetched ahead */
	int overlaps; /* the loads would no longer wait for each other */
	int at_most;  /* it saves that at most; else about that */
	int once;     /* advises the same on every object */
	int general; /* says how lines leave, not why: left out where another rule speaks of the line or object */
};

/* Misses and estimated cycles that following a rule saves; 0: not known. */
struct nm_saving {
	double misses, cycles;
};
struct nm_saving nm_rule_saving(const struct nm_rule *rule, const struct nm_evidence *e);

/* The first rule that fits; the last one fits all. */
const struct nm_rule *nm_rule_for(const struct nm_evidence *e);
const struct nm_rule *nm_rule_at(unsigned i); /* NULL behind the last */
const struct nm_rule *nm_rule_named(const char *cause);

/* Derivers: the cause of a row's misses, and what to try against it. */
const char *nm_derive_cause(struct nm_table *table, size_t row);
const char *nm_derive_advice(struct nm_table *table, size_t row);
/* The candidate layout that is advised on `count` rows, kept by the table; NULL: there is none. */
const char *nm_advised_layout(struct nm_table *table, const size_t *rows, size_t count);
/* What following the advice saves. */
struct nm_saving nm_advice_saving(const struct nm_table *table, size_t row);
/* Cycles that following the advice saves; below 0: advice is pointless, since prefetchers hide these
 * misses. */
double nm_advice_worth(const struct nm_table *table, size_t row);
/* "saves about 390,000 misses, 12,000,000 cycles"; of a run of so many estimated cycles, unless that is 0: "3 % of the
 * run's estimated cycles". */
void nm_saving_write(struct nm_saving saving, int at_most, double run, FILE *out);
/* "saves about 390,000 misses and 12,000,000 cycles", or NULL: not known. */
const char *nm_derive_saving(struct nm_table *table, size_t row);

#endif
