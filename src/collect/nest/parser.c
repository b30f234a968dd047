/* SPDX-License-Identifier: MIT */
#include "parser.h"

#include <string.h>

int nm_nest_next(struct nm_nest_parser *p) { return nm_nest_scan(&p->lexer, &p->token, p->err); }

int nm_nest_expect(struct nm_nest_parser *p, int kind, const char *what)
{
	if (p->token.kind != kind)
		return nm_nest_fault(p, p->token.at, "%s expected", what);
	return nm_nest_next(p);
}

int nm_nest_is(const struct nm_nest_parser *p, const char *word)
{
	return p->token.kind == NM_NEST_WORD && p->token.length == strlen(word) &&
	       !memcmp(p->token.at, word, p->token.length);
}

struct nm_nest_name *nm_nest_lookup(struct nm_nest_parser *p, const struct nm_nest_token *name)
{
	for (size_t i = p->known.count; i-- > 0;)
		if (strlen(p->known.at[i].name) == name->length &&
		    !memcmp(p->known.at[i].name, name->at, name->length))
			return &p->known.at[i];
	return NULL;
}
