/* SPDX-License-Identifier: MIT
 *
 * range.c - ranges of values, outside the text of a nest, in its expressions.
 */
#include <string.h>

#include "parser.h"

int nm_nest_read_range(struct nm_nest *nest, const char *text, size_t at, struct nm_nest_range *ret,
		       struct nm_error *err)
{
	const struct nm_nest_source source = {.text = text, .bytes = strlen(text)};
	struct nm_nest_parser p = {
	    .nest = nest, .known = nest->known, .lexer = {.source = &source, .at = text + at}, .err = err};
	struct nm_nest_range range = {.step = 1};
	int status = nm_nest_next(&p);

	if (!status)
		status = nm_nest_parse_constant(&p, "a bound", &range.from);
	if (!status)
		status = nm_nest_expect(&p, ':', "':'");
	if (!status)
		status = nm_nest_parse_constant(&p, "a bound", &range.to);
	if (!status && p.token.kind == ':') {
		status = nm_nest_next(&p);
		if (!status)
			status = nm_nest_parse_constant(&p, "a step", &range.step);
	}
	if (!status && p.token.kind != NM_NEST_END)
		return nm_nest_fault(&p, p.token.at, "the range should end here");
	if (!status)
		*ret = range;
	return status;
}
