/* SPDX-License-Identifier: MIT
 *
 * condition.h - the expressions of breakpoints: over one reference and its effects.
 *
 *     object == "Y" && set >= 64 && set < 128 && class == conflict
 *
 * Operators are those of C: || && == != < <= > >= + - * / % ! and parentheses; numbers are decimal or 0x...
 * Strings in quotes are names. A value that a reference does not have (the class of a hit, the index of a
 * loop that does not enclose it) compares as NaN does: it is unequal to everything, and neither less nor
 * more. So does the result of a division by 0.
 */
#ifndef NM_CONDITION_H
#define NM_CONDITION_H

#include <stdint.h>

#include "errors.h"

struct nm_debug_program;

enum nm_condition_value {
	NM_VALUE_POSITION, /* number of the reference */
	NM_VALUE_ADDRESS,
	NM_VALUE_SIZE,
	NM_VALUE_WRITE, /* 1: it writes */
	NM_VALUE_THREAD,
	NM_VALUE_OBJECT,   /* a name */
	NM_VALUE_FUNCTION, /* a name; of a nest the reference as written, "Y(j,k)" */
	NM_VALUE_FILE,     /* a name */
	NM_VALUE_LINE,     /* of code */
	NM_VALUE_ELEMENT,  /* number of the element of its object */
	/* At the breakpoint's level: */
	NM_VALUE_SET,
	NM_VALUE_WAY,
	NM_VALUE_HIT,
	NM_VALUE_MISS,
	NM_VALUE_CLASS,         /* cold, capacity, conflict, coherence */
	NM_VALUE_EVICTED,       /* a name: the object of the line that left */
	NM_VALUE_FALSE_SHARING, /* 1: it is a coherence miss by false sharing */
	NM_VALUES
};

/* The value of an operand that the reference does not have. */
#define NM_NO_VALUE INT64_MIN

enum { NM_CONDITION_STEPS = 96, NM_CONDITION_LOOPS = 16 };

/* Compiled; processes with the same program can exchange it. */
struct nm_condition {
	struct {
		uint8_t does;
		int64_t number; /* a constant, a value or a loop */
	} step[NM_CONDITION_STEPS];
	unsigned count;
	char loop[NM_CONDITION_LOOPS][24]; /* names of the loop indices that it uses */
	unsigned loops;
};

/* The operands of an evaluation; names are addresses of interned strings. */
struct nm_condition_frame {
	int64_t value[NM_VALUES];
	int64_t loop[NM_CONDITION_LOOPS]; /* in the order of the condition's `loop` */
};

/* NM_EINVAL: a syntax error, reported with its column. */
int nm_condition_parse(struct nm_condition *ret_condition, const char *text, struct nm_debug_program *program,
		       struct nm_error *err);

int nm_condition_holds(const struct nm_condition *condition, const struct nm_condition_frame *frame);

#endif
