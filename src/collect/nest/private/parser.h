/* SPDX-License-Identifier: MIT
 *
 * parser.h - the parser's state, and the functions that the files of the grammar share.
 *
 * The parser looks one token ahead (`token`). Each nm_nest_parse function starts after its keyword and stops
 * at the first token that it does not consume. All return 0 or a code, with the fault in p->err.
 */
#ifndef NM_NEST_PARSER_H
#define NM_NEST_PARSER_H

#include <string.h>

#include "nest_priv.h"
#include "token.h"

struct nm_nest_parser {
	struct nm_nest *nest;
	struct nm_nest_lexer lexer;
	struct nm_nest_token token; /* the next one */
	struct nm_nest_names known;
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

/* Reports a fault at a place of the text that is being read. */
#define nm_nest_fault(p, place, ...) nm_nest_fault_in((p)->lexer.source, (p)->err, (place), __VA_ARGS__)

/* Moves to the next word. */
static inline int nm_nest_next(struct nm_nest_parser *p)
{
	return nm_nest_scan(&p->lexer, &p->token, p->err);
}

/* Requires a kind of word, and moves on. */
static inline int nm_nest_expect(struct nm_nest_parser *p, int kind, const char *what)
{
	return p->token.kind == kind ? nm_nest_next(p) : nm_nest_fault(p, p->token.at, "%s expected", what);
}

static inline int nm_nest_has_text(const struct nm_nest_token *token, const char *text)
{
	return token->length == strlen(text) && !memcmp(token->at, text, token->length);
}

/* Is the next word this one? */
static inline int nm_nest_is(const struct nm_nest_parser *p, const char *word)
{
	return p->token.kind == NM_NEST_WORD && nm_nest_has_text(&p->token, word);
}

/* The latest declaration of a name, or NULL. */
static inline struct nm_nest_name *nm_nest_lookup(struct nm_nest_parser *p, const struct nm_nest_token *name)
{
	for (size_t i = p->known.count; i-- > 0;)
		if (nm_nest_has_text(name, p->known.at[i].name))
			return &p->known.at[i];
	return NULL;
}

/* expression.c: any value, one without variables, a sum. */
int nm_nest_parse_value(struct nm_nest_parser *p, struct nm_nest_value *ret);
int nm_nest_parse_constant(struct nm_nest_parser *p, const char *what, int64_t *ret);
int nm_nest_parse_sum(struct nm_nest_parser *p, const char *what, struct nm_nest_sum *ret);

/* expression.c: the reference that starts with the word `name`, whose next word is the token; adds one to the
 * block. */
int nm_nest_parse_reference(struct nm_nest_parser *p, const struct nm_nest_token *name,
			    struct nm_nest_array *array, struct nm_nest_reference *ret);
int nm_nest_add_reference(struct nm_nest_parser *p, struct nm_nest_reference *reference);

/* declare.c */
int nm_nest_parse_parameter(struct nm_nest_parser *p);
int nm_nest_parse_arrays(struct nm_nest_parser *p);
int nm_nest_parse_origin(struct nm_nest_parser *p);
int nm_nest_check_settings(struct nm_nest_parser *p);

/* parse.c */
int nm_nest_parse_program(struct nm_nest_parser *p);

#endif
