/* SPDX-License-Identifier: MIT
 *
 * parse.c - loops and statements, by recursive descent.
 *
 *     program   = { parameter | origin | array | item }
 *     item      = "for" NAME "=" value "to" value ["step" value] ["warm" value] items "end"
 *               | "warmup" items "end"
 *               | ("read" | "write") reference { "," reference }
 *               | (reference | NAME) ["+" | "-" | "*" | "/"] "=" expression
 *
 * The value of a statement's expression does not matter, only its references, in order. A name without
 * subscripts that is not an array is a variable in a register. Consecutive statements form one block, so the
 * stream has one word for all of them besides the addresses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser.h"

enum { MAX_OPERANDS = 100 /* parentheses within each other */ };

/* A word that starts an operand: reads an array's element, or is a register. */
static int parse_operand_name(struct nm_nest_parser *p)
{
	struct nm_nest_token name = p->token;
	const struct nm_nest_name *known = nm_nest_lookup(p, &name);
	struct nm_nest_reference r;
	int status = nm_nest_next(p);

	if (status)
		return status;
	if (!known || known->kind != NM_NEST_ARRAY) {
		if (p->token.kind == '(' || p->token.kind == '[')
			return nm_nest_fault(p, name.at, "there is no array '%.*s'", (int)name.length,
					     name.at);
		return 0;
	}
	status = nm_nest_parse_reference(p, &name, known->array, &r);
	return status ? status : nm_nest_add_reference(p, &r);
}

/* Operands and operators until the statement or a parenthesis ends. */
static int parse_expression(struct nm_nest_parser *p)
{
	for (;;) {
		int status;

		if (p->token.kind == '+' || p->token.kind == '-') {
			status = nm_nest_next(p);
			if (status)
				return status;
			continue;
		}
		if (p->token.kind == '(') {
			if (p->nesting == MAX_OPERANDS)
				return nm_nest_fault(p, p->token.at,
						     "more than %d parentheses within each other",
						     MAX_OPERANDS);
			p->nesting++;
			status = nm_nest_next(p);
			if (!status)
				status = parse_expression(p);
			p->nesting--;
			if (!status)
				status = nm_nest_expect(p, ')', "an operator or ')'");
		} else if (p->token.kind == NM_NEST_NUMBER || p->token.kind == NM_NEST_REAL) {
			status = nm_nest_next(p);
		} else if (p->token.kind == NM_NEST_WORD) {
			status = parse_operand_name(p);
		} else {
			return nm_nest_fault(p, p->token.at, "an operand expected");
		}
		if (status || !p->token.kind || p->token.kind > 127 || !strchr("+-*/", p->token.kind))
			return status;
		status = nm_nest_next(p);
		if (status)
			return status;
	}
}

/* ---- statements ---- */

/* The reference at the token, not yet added. */
static int parse_target(struct nm_nest_parser *p, const char *what, struct nm_nest_reference *ret)
{
	struct nm_nest_token name = p->token;
	const struct nm_nest_name *known = name.kind == NM_NEST_WORD ? nm_nest_lookup(p, &name) : NULL;
	int status;

	if (!known || known->kind != NM_NEST_ARRAY)
		return nm_nest_fault(p, name.at, "%s", what);
	status = nm_nest_next(p);
	return status ? status : nm_nest_parse_reference(p, &name, known->array, ret);
}

static int parse_list(struct nm_nest_parser *p, int is_write)
{
	int status;

	do {
		struct nm_nest_reference r;

		status = nm_nest_next(p);
		if (!status)
			status = parse_target(p, "a reference expected, e.g. X(i,j)", &r);
		if (!status) {
			r.is_write = is_write;
			status = nm_nest_add_reference(p, &r);
		}
	} while (!status && p->token.kind == ',');
	return status;
}

static int parse_assignment(struct nm_nest_parser *p)
{
	struct nm_nest_token name = p->token;
	const struct nm_nest_name *known = nm_nest_lookup(p, &name);
	int to_array = known && known->kind == NM_NEST_ARRAY, updates, status;
	struct nm_nest_reference target = {0};

	if (known && !to_array)
		return nm_nest_fault(p, name.at, "%s cannot be written", known->name);
	status = to_array ? parse_target(p, "a reference expected", &target) : nm_nest_next(p);
	if (status)
		return status;
	if (!to_array && (p->token.kind == '(' || p->token.kind == '['))
		return nm_nest_fault(p, name.at, "there is no array '%.*s'", (int)name.length, name.at);
	updates = p->token.kind && p->token.kind < 128 && strchr("+-*/", p->token.kind);
	if (updates && (status = nm_nest_next(p)))
		return status;
	if (!to_array && p->token.kind != '=')
		return nm_nest_fault(p, name.at, "a statement, parameter, array or for expected");
	status = nm_nest_expect(p, '=', "'='");
	if (!status)
		status = parse_expression(p);
	if (!status && to_array && updates)
		status = nm_nest_add_reference(p, &target);
	target.is_write = 1;
	if (!status && to_array)
		status = nm_nest_add_reference(p, &target);
	return status;
}

/* ---- items ---- */

struct body {
	struct nm_nest_node *first, **end;
	struct nm_nest_node *run; /* the block that statements go on with, or NULL */
};

static struct nm_nest_node *append_node(struct nm_nest_parser *p, struct body *b, int kind)
{
	struct nm_nest_node *n = nm_arena_alloc(&p->nest->arena, sizeof *n);

	if (!n)
		return NULL;
	n->kind = kind;
	n->at = p->token.at;
	*b->end = n;
	b->end = &n->next;
	return n;
}

static struct nm_nest_block *open_block(struct nm_nest_parser *p)
{
	struct nm_nest_block *b = nm_arena_alloc(&p->nest->arena, sizeof *b);

	if (!b || nm_vec_push(&p->nest->blocks, b))
		return NULL;
	b->first = (uint32_t)p->nest->references.count;
	b->number = (uint32_t)p->nest->blocks.count - 1;
	p->block = b;
	p->reads = 0;
	return b;
}

static int parse_statement(struct nm_nest_parser *p, struct body *b)
{
	int status;

	if (b->run && (b->run->block->count >= NM_NEST_BLOCK || b->run->block->indirect))
		b->run = NULL;
	if (!b->run) {
		b->run = append_node(p, b, NM_NEST_RUN);
		if (!b->run || !(b->run->block = open_block(p)))
			return nm_fail_memory(p->err);
	}
	p->block = b->run->block;
	p->part = 0;
	if (nm_nest_is(p, "read"))
		status = parse_list(p, 0);
	else if (nm_nest_is(p, "write"))
		status = parse_list(p, 1);
	else
		status = parse_assignment(p);
	p->block = NULL;
	p->nest->statements++;
	return status;
}

static int parse_items(struct nm_nest_parser *p, struct nm_nest_node **ret_first, const char *opened);

/* from "to" to: the reads of index arrays in them are a block of their own. */
static int parse_bounds(struct nm_nest_parser *p, struct nm_nest_node *loop)
{
	int status;

	loop->from = nm_arena_alloc(&p->nest->arena, 2 * sizeof *loop->from);
	loop->block = open_block(p);
	if (!loop->from || !loop->block)
		return nm_fail_memory(p->err);
	loop->to = loop->from + 1;
	p->part = 0;
	status = nm_nest_parse_value(p, loop->from);
	if (!status && !nm_nest_is(p, "to"))
		status = nm_nest_fault(p, p->token.at, "'to' expected");
	if (!status)
		status = nm_nest_next(p);
	if (!status)
		status = nm_nest_parse_value(p, loop->to);
	p->block = NULL;
	if (loop->block->count) {
		p->nest->statements++;
		return status;
	}
	loop->block = NULL;
	p->nest->blocks.count--;
	return status;
}

static int parse_loop_options(struct nm_nest_parser *p, struct nm_nest_node *loop)
{
	const char *at;
	int64_t n = 0;
	int status = 0;

	loop->step = 1;
	if (nm_nest_is(p, "step")) {
		status = nm_nest_next(p);
		at = p->token.at;
		if (!status)
			status = nm_nest_parse_constant(p, "the step", &loop->step);
		if (!status && (!loop->step || loop->step == INT64_MIN))
			return nm_nest_fault(p, at, "the step cannot be %s", loop->step ? "so large" : "0");
	}
	if (!status && nm_nest_is(p, "warm")) {
		status = nm_nest_next(p);
		at = p->token.at;
		if (!status)
			status = nm_nest_parse_constant(p, "the number of iterations", &n);
		if (!status && n < 0)
			return nm_nest_fault(p, at, "fewer than no iterations");
		loop->warm = (uint64_t)n;
		p->nest->warms |= n > 0;
	}
	return status;
}

static int parse_loop(struct nm_nest_parser *p, struct body *b)
{
	struct nm_nest_node *loop = append_node(p, b, NM_NEST_LOOP);
	struct nm_nest_name index = {.kind = NM_NEST_INDEX, .slot = p->depth};
	const char *opened = p->token.at;
	int status;

	if (!loop)
		return nm_fail_memory(p->err);
	if (p->depth == NM_NEST_DEPTH)
		return nm_nest_fault(p, opened, "more than %d loops within each other", NM_NEST_DEPTH);
	status = nm_nest_next(p);
	if (status)
		return status;
	loop->at = p->token.at;
	if (p->token.kind != NM_NEST_WORD || nm_nest_lookup(p, &p->token))
		return nm_nest_fault(p, p->token.at,
				     p->token.kind == NM_NEST_WORD ? "the name is in use"
								   : "the name of the loop's index expected");
	loop->index = index.name = nm_intern_n(&p->nest->names, p->token.at, p->token.length);
	loop->slot = p->depth;
	loop->number = p->nest->loops++;
	if (!index.name)
		return nm_fail_memory(p->err);
	status = nm_nest_next(p);
	if (!status)
		status = nm_nest_expect(p, '=', "'='");
	if (!status)
		status = parse_bounds(p, loop);
	if (!status)
		status = parse_loop_options(p, loop);
	if (!status && nm_vec_push(&p->known, index))
		return nm_fail_memory(p->err);
	p->index[p->depth++] = index.name;
	if (!status)
		status = parse_items(p, &loop->body, opened);
	p->depth--;
	if (!status)
		p->known.count--;
	return status;
}

static int parse_warm_up(struct nm_nest_parser *p, struct body *b)
{
	struct nm_nest_node *n = append_node(p, b, NM_NEST_WARM);
	const char *opened = p->token.at;
	int status;

	if (!n)
		return nm_fail_memory(p->err);
	if (p->nesting == MAX_OPERANDS)
		return nm_nest_fault(p, opened, "more than %d blocks within each other", MAX_OPERANDS);
	p->nest->warms = 1;
	p->nesting++;
	status = nm_nest_next(p);
	if (!status)
		status = parse_items(p, &n->body, opened);
	p->nesting--;
	return status;
}

static int parse_declaration(struct nm_nest_parser *p, const char *opened,
			     int (*parse)(struct nm_nest_parser *))
{
	int status;

	if (opened)
		return nm_nest_fault(p, p->token.at, "a declaration cannot stand within a loop");
	status = nm_nest_next(p);
	return status ? status : parse(p);
}

static int parse_item(struct nm_nest_parser *p, struct body *b, const char *opened)
{
	int starts_block = nm_nest_is(p, "for") || nm_nest_is(p, "warmup");

	if (p->token.kind != NM_NEST_WORD)
		return nm_nest_fault(p, p->token.at, "a statement, parameter, array or for expected");
	if (starts_block)
		b->run = NULL;
	if (nm_nest_is(p, "for"))
		return parse_loop(p, b);
	if (nm_nest_is(p, "warmup"))
		return parse_warm_up(p, b);
	if (nm_nest_is(p, "parameter"))
		return parse_declaration(p, opened, nm_nest_parse_parameter);
	if (nm_nest_is(p, "array"))
		return parse_declaration(p, opened, nm_nest_parse_arrays);
	if (nm_nest_is(p, "origin"))
		return parse_declaration(p, opened, nm_nest_parse_origin);
	return parse_statement(p, b);
}

/* Items up to the end of the text, or to "end" if something was opened. */
static int parse_items(struct nm_nest_parser *p, struct nm_nest_node **ret_first, const char *opened)
{
	struct body b = {.end = &b.first};

	for (;;) {
		int status = 0;

		while (!status && p->token.kind == NM_NEST_NEWLINE)
			status = nm_nest_next(p);
		if (status)
			return status;
		if (p->token.kind == NM_NEST_END && opened)
			return nm_nest_fault(p, opened, "it has no end");
		if (p->token.kind == NM_NEST_END || (opened && nm_nest_is(p, "end")))
			break;
		status = nm_nest_is(p, "end") ? nm_nest_fault(p, p->token.at, "there is nothing to end")
					      : parse_item(p, &b, opened);
		if (status)
			return status;
		if (p->token.kind != NM_NEST_NEWLINE && p->token.kind != NM_NEST_END &&
		    !(opened && nm_nest_is(p, "end")))
			return nm_nest_fault(p, p->token.at, "the statement should end here");
	}
	*ret_first = b.first;
	return opened ? nm_nest_next(p) : 0;
}

int nm_nest_parse_program(struct nm_nest_parser *p)
{
	int status = nm_nest_next(p);

	if (!status)
		status = parse_items(p, &p->nest->body, NULL);
	return status ? status : nm_nest_check_settings(p);
}

/* ---- a range of values, outside the text of a nest, in its expressions ---- */

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
