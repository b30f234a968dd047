/* SPDX-License-Identifier: MIT
 *
 * token.h - the tokens of a nest's text.
 *
 * A line ends a statement, unless a parenthesis or bracket is open or the line ends with an operator or a
 * comma.
 */
#ifndef NM_NEST_TOKEN_H
#define NM_NEST_TOKEN_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

struct nm_nest_source {
	const char *text; /* ended by NUL */
	size_t bytes;
	const char *name; /* file, or NULL: a setting */
};

/* A sign of one character is its own kind. */
enum {
	NM_NEST_END = 0,
	NM_NEST_NEWLINE = '\n',
	NM_NEST_WORD = 256,
	NM_NEST_NUMBER,
	NM_NEST_REAL,
	NM_NEST_STRING
};

struct nm_nest_token {
	int kind;
	const char *at;
	size_t length;
	int64_t number;
};

struct nm_nest_lexer {
	const struct nm_nest_source *source;
	const char *at;
	unsigned open; /* parentheses and brackets */
	int last;      /* kind of the word before */
};

/* 0 or NM_EINVAL. */
int nm_nest_scan(struct nm_nest_lexer *lexer, struct nm_nest_token *ret, struct nm_error *err);

/* Line and column, from 1. */
void nm_nest_position(const struct nm_nest_source *source, const char *at, unsigned *ret_line,
		      unsigned *ret_column);

/* NM_EINVAL, with "file:line:column: " before the message and the line as the subject. */
int nm_nest_fault_in(const struct nm_nest_source *source, struct nm_error *err, const char *at,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
