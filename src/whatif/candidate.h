/* SPDX-License-Identifier: MIT
 *
 * candidate.h - a candidate layout: transformations of a program's data, read from a small text language with one
 * transformation per line (or per ';'). docs/howto/what-if.md lists them.
 */
#ifndef NM_CANDIDATE_H
#define NM_CANDIDATE_H

#include "arena.h"
#include "errors.h"
#include "vector.h"

enum nm_transform_kind {
	NM_REORDER, /* fields of a structure, those that are named first */
	NM_PAD_STRUCT,
	NM_SPLIT, /* the fields that are named stay */
	NM_SOA,   /* each field gets an array of its own */
	NM_SHRINK,
	NM_ALIGN,
	NM_MERGE, /* two arrays, into one whose elements hold both */
	NM_POOL,
	NM_ORDER, /* blocks, as they are visited */
	NM_TRANSPOSE,
	NM_PAD_ROWS,
	NM_OFFSET,
	NM_HUGE_PAGES,
	NM_TRANSFORM_KINDS
};

struct nm_transform {
	enum nm_transform_kind kind;
	const char *text;    /* the line */
	const char *target;  /* an object; or a structure, for the first five kinds */
	int says_struct;     /* "struct" stood before it: it is no object */
	const char *other;   /* the second object of merge and offset, or NULL */
	const char *visitor; /* order: the function whose reads visit; NULL: all reads do */
	struct nm_vec(const char *) fields;
	uint64_t number; /* bytes: of a pad's multiple, an alignment, a field, an offset, a row */
	uint64_t rows, columns, bytes; /* of transpose; bytes: also those added to a row, */
	uint64_t other_bytes;          /* and, of merge, those of the elements of both objects */
	int by_alignment;              /* reorder: from the largest to the smallest */
	int by_pointer;                /* split */
	int by_first_use;              /* pool: in this order, not that of allocation */
	uint64_t met, other_met; /* objects that it was applied to, so far; of those that `other` names */
	uint64_t visited;        /* order: blocks */
	const char *refused;     /* why what it names keeps its layout, or NULL */
};

struct nm_candidate {
	struct nm_vec(struct nm_transform) transforms;
	const char *text; /* all lines in one, "A; B" */
	struct nm_strings names;
};

/* Reads a text. NM_EINVAL: what is wrong with which line, or NM_ENOMEM. Call nm_candidate_done in any case. */
int nm_candidate_parse(struct nm_candidate *ret_candidate, const char *text, struct nm_error *err);
void nm_candidate_done(struct nm_candidate *candidate);

/* Whether a transformation is of structures, by their type. */
static inline int nm_transform_is_of_type(const struct nm_transform *transform)
{
	return transform->kind <= NM_SHRINK;
}

/* Whether a type's name is meant by what is typed: "node", "struct node" or "type(node)". */
int nm_is_type_named(const char *type, const char *typed);

#endif
