/* SPDX-License-Identifier: MIT
 *
 * nest_priv.h - a nest as it is executed.
 *
 * Parameters are known when the text is read, so expressions are folded at once into sums of variables
 * (struct nm_nest_sum): loop indices, and values read from index arrays.  Variables are slots of one array: the loop at
 * depth d has slot d, the k-th read of an index array in a block has slot NM_NEST_DEPTH + k.  There is no syntax tree.
 *
 *   nest.c     life, files, what is in it
 *   token.c    words of the text, faults with their place
 *   sum.c      expressions
 *   declare.c  parameters, arrays and their places in memory
 *   parse.c    loops and statements
 *   run.c      execution
 */
#ifndef NM_NEST_PRIV_H
#define NM_NEST_PRIV_H

#include "arena.h"
#include "nest.h"
#include "token.h"
#include "vector.h"

enum {
	NM_NEST_DEPTH = 16, /* loops within each other */
	NM_NEST_READS = 32, /* of index arrays in one block */
	NM_NEST_SLOTS = NM_NEST_DEPTH + NM_NEST_READS,
	NM_NEST_TERMS = 12, /* variables in one sum */
	NM_NEST_ARMS = 4,   /* of min and max */
	NM_NEST_DIMENSIONS = 8,
	NM_NEST_BLOCK = 64,      /* references in a block, from which on the next statement starts another */
	NM_NEST_STATEMENT = 4096 /* references in a statement */
};

struct nm_nest_sum {
	int64_t constant;
	unsigned count;
	struct {
		unsigned slot;
		int64_t factor;
	} term[NM_NEST_TERMS];
};

/* A sum, or the least or greatest of some. */
struct nm_nest_value {
	enum { NM_NEST_SUM, NM_NEST_MIN, NM_NEST_MAX } kind;
	unsigned arms;
	struct nm_nest_sum arm[NM_NEST_ARMS];
};

struct nm_nest_dimension {
	int64_t low, high, stride; /* stride in elements */
};

struct nm_nest_array {
	const char *name;
	const char *at; /* in the text */
	int brackets;   /* written X[i][j] */
	unsigned dimensions;
	struct nm_nest_dimension dimension[NM_NEST_DIMENSIONS];
	uint64_t elements, element, address; /* element: bytes of one */
	int64_t *values;                     /* of an index array, in the order of memory; or NULL */
};

struct nm_nest_reference {
	const struct nm_nest_array *array;
	const struct nm_nest_sum *subscript; /* [array->dimensions] */
	const char *text;                    /* without blanks, interned */
	const char *name;                    /* of its place */
	const char *at;
	unsigned statement, part;
	unsigned slot; /* that takes the value read, 0: none */
	int is_write;
};

/* Straight-line code: its references in order. */
struct nm_nest_block {
	uint32_t first, count; /* in nest->references */
	uint32_t number;       /* 0, 1, ...; its ids in the stream: NM_NEST_ID */
	int indirect;          /* it reads index arrays */
};

/* Ids of a block while measuring and while warming up. */
#define NM_NEST_ID(number, warm) (1 + 2 * (number) + ((warm) != 0))

struct nm_nest_node {
	enum { NM_NEST_RUN, NM_NEST_LOOP, NM_NEST_WARM } kind;
	struct nm_nest_node *next, *body;
	struct nm_nest_block *block; /* RUN; LOOP: reads of the bounds, or NULL */
	struct nm_nest_value *from, *to;
	int64_t step;
	uint64_t warm; /* iterations that only warm up */
	unsigned slot;
	const char *index; /* name */
	const char *at;
};

struct nm_nest {
	struct nm_arena arena;
	struct nm_strings names;
	struct nm_nest_source source; /* its text is owned */
	char *path;                   /* absolute where that is known */
	struct nm_vec(struct nm_nest_array *) arrays;
	struct nm_vec(struct nm_nest_reference) references;
	struct nm_vec(struct nm_nest_block *) blocks;
	struct nm_nest_node *body;
	unsigned statements;
	int warms; /* something only warms up */
};

/* ---- while reading ---- */

struct nm_nest_name {
	const char *name; /* interned */
	enum { NM_NEST_PARAMETER, NM_NEST_INDEX, NM_NEST_ARRAY } kind;
	int64_t value;
	unsigned slot;
	struct nm_nest_array *array;
};

struct nm_nest_parser {
	struct nm_nest *nest;
	struct nm_nest_lexer lexer;
	struct nm_nest_token token; /* the next one */
	struct nm_vec(struct nm_nest_name) known;
	const char *const *settings;
	uint64_t cursor; /* where the next array goes */
	unsigned depth;  /* open loops */
	const char *index[NM_NEST_DEPTH];
	struct nm_nest_block *block; /* that takes references; NULL where none may stand */
	unsigned reads;              /* of index arrays in it */
	unsigned part;               /* references of the statement so far */
	unsigned nesting;            /* of parentheses and minus signs */
	struct nm_error *err;
};

/* Tells a fault at a place of the text that is being read. */
#define nm_nest_fault(p, place, ...) nm_nest_fault_in((p)->lexer.source, (p)->err, (place), __VA_ARGS__)

/* token.c: goes to the next word; takes a word that must be there. */
int nm_nest_next(struct nm_nest_parser *p);
int nm_nest_expect(struct nm_nest_parser *p, int kind, const char *what);
int nm_nest_is(const struct nm_nest_parser *p, const char *word);
struct nm_nest_name *nm_nest_lookup(struct nm_nest_parser *p, const struct nm_nest_token *name);

/* sum.c: any value, one without variables, a sum. */
int nm_nest_parse_value(struct nm_nest_parser *p, struct nm_nest_value *ret);
int nm_nest_parse_constant(struct nm_nest_parser *p, const char *what, int64_t *ret);
int nm_nest_parse_sum(struct nm_nest_parser *p, const char *what, struct nm_nest_sum *ret);
/* 0 if it is too large for 64 bits. */
int nm_nest_sum_at(const struct nm_nest_sum *sum, const int64_t *slots, int64_t *ret);
int64_t nm_nest_factor(const struct nm_nest_sum *sum, unsigned slot);

/* parse.c: the reference that starts with the word `name`, whose next word is the token; added to the block. */
int nm_nest_parse_reference(struct nm_nest_parser *p, const struct nm_nest_token *name,
			    struct nm_nest_array *array, struct nm_nest_reference *ret);
int nm_nest_add_reference(struct nm_nest_parser *p, struct nm_nest_reference *reference);
int nm_nest_parse_program(struct nm_nest_parser *p);

/* declare.c */
int nm_nest_parse_parameter(struct nm_nest_parser *p);
int nm_nest_parse_arrays(struct nm_nest_parser *p);
int nm_nest_parse_origin(struct nm_nest_parser *p);
int nm_nest_check_settings(struct nm_nest_parser *p);

/* nest.c: the text of a file, at most `most` bytes, ended by NUL. */
int nm_nest_read_file(const char *path, size_t most, char **ret_text, size_t *ret_bytes,
		      struct nm_error *err);

#endif
