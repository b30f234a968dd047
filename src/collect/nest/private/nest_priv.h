/* SPDX-License-Identifier: MIT
 *
 * nest_priv.h - the executable form of a nest.
 *
 * Parameters are known when the text is read, so the parser folds expressions at once into sums of variables
 * (struct nm_nest_sum): loop indices, and values read from index arrays. Variables are slots of one array:
 * the loop at depth d has slot d, the k-th read of an index array in a block has slot NM_NEST_DEPTH + k.
 * There is no syntax tree.
 *
 *   token.c       words of the text, faults with their place
 *   parser.h      what is known while the text is read
 *   expression.c  sums, and references to elements of arrays
 *   declare.c     parameters, arrays and their addresses
 *   parse.c       loops and statements
 *   nest.c        life of a nest, its contents
 *   run.c         execution
 *   affine.c      what is known of all iterations before they run
 *   warp.c        misses of a nest of which enough is known
 *
 * A file calls only files above it in this list.
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
	unsigned number;   /* of the loop: 0, 1, ... */
	const char *index; /* name */
	const char *at;
};

struct nm_nest_name {
	const char *name; /* interned */
	enum { NM_NEST_PARAMETER, NM_NEST_INDEX, NM_NEST_ARRAY } kind;
	int64_t value;
	unsigned slot;
	struct nm_nest_array *array;
};

struct nm_nest_names nm_vec(struct nm_nest_name);

struct nm_nest {
	struct nm_arena arena;
	struct nm_strings names;
	struct nm_nest_source source; /* its text is owned */
	char *path;                   /* absolute where that is known */
	struct nm_nest_names known;   /* parameters and arrays */
	struct nm_vec(struct nm_nest_array *) arrays;
	struct nm_vec(struct nm_nest_reference) references;
	struct nm_vec(struct nm_nest_block *) blocks;
	struct nm_vec(struct nm_nest_file) files;
	struct nm_nest_node *body;
	unsigned statements, loops;
	int warms; /* something only warms up */
};

/* expression.c: 0 if the value of a sum is too large for 64 bits; the factor of a variable. */
int nm_nest_sum_at(const struct nm_nest_sum *sum, const int64_t *slots, int64_t *ret);
int64_t nm_nest_factor(const struct nm_nest_sum *sum, unsigned slot);

/* file.c: a path without links, malloc'ed, or NULL. */
char *nm_nest_real_path(const char *path);

#endif
