/* SPDX-License-Identifier: MIT
 *
 * expression.c - parses and folds expressions, and references to elements of arrays.
 *
 *     value     = term { ("+" | "-") term }
 *     term      = factor { ("*" | "/") factor }
 *     factor    = ["-" | "+"] ( NUMBER | NAME | reference | "(" value ")" | ("min" | "max" | "mod") "(" value
 *               { "," value } ")" )
 *     reference = NAME "(" sum { "," sum } ")"  |  NAME "[" sum "]" { "[" sum "]" }
 *
 * A value is a sum of variables, or the minimum or maximum of several sums. Variables may only be multiplied
 * by constants, and only constants divided; anything else is an error. min(a, b) + c becomes min(a + c, b +
 * c). Nothing is rounded and nothing wraps: a number too large for 64 bits is an error.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser.h"

enum { MAX_NESTING = 100, MAX_REFERENCES = 1 << 16 };

int nm_nest_sum_at(const struct nm_nest_sum *sum, const int64_t *slots, int64_t *ret)
{
	int64_t total = sum->constant, product;

	for (unsigned i = 0; i < sum->count; i++)
		if (__builtin_mul_overflow(sum->term[i].factor, slots[sum->term[i].slot], &product) ||
		    __builtin_add_overflow(total, product, &total))
			return 0;
	*ret = total;
	return 1;
}

int64_t nm_nest_factor(const struct nm_nest_sum *sum, unsigned slot)
{
	for (unsigned i = 0; i < sum->count; i++)
		if (sum->term[i].slot == slot)
			return sum->term[i].factor;
	return 0;
}

static int too_large(struct nm_nest_parser *p, const char *at)
{
	return nm_nest_fault(p, at, "the value is too large");
}

/* *sum += factor * *more */
static int add_sum(struct nm_nest_parser *p, const char *at, struct nm_nest_sum *sum, int64_t factor,
		   const struct nm_nest_sum *more)
{
	int64_t product;

	if (__builtin_mul_overflow(factor, more->constant, &product) ||
	    __builtin_add_overflow(sum->constant, product, &sum->constant))
		return too_large(p, at);
	for (unsigned i = 0; i < more->count; i++) {
		unsigned k = 0;

		while (k < sum->count && sum->term[k].slot != more->term[i].slot)
			k++;
		if (k == NM_NEST_TERMS)
			return nm_nest_fault(p, at, "more than %d variables in one sum", NM_NEST_TERMS);
		if (k == sum->count) {
			sum->term[k].slot = more->term[i].slot;
			sum->term[k].factor = 0;
			sum->count++;
		}
		if (__builtin_mul_overflow(factor, more->term[i].factor, &product) ||
		    __builtin_add_overflow(sum->term[k].factor, product, &sum->term[k].factor))
			return too_large(p, at);
		if (!sum->term[k].factor)
			sum->term[k] = sum->term[--sum->count];
	}
	return 0;
}

static int is_constant(const struct nm_nest_value *v) { return v->kind == NM_NEST_SUM && !v->arm[0].count; }

static struct nm_nest_value constant_sum(int64_t n)
{
	return (struct nm_nest_value){.kind = NM_NEST_SUM, .arms = 1, .arm[0].constant = n};
}

/* *left += sign * *right */
static int add_scaled(struct nm_nest_parser *p, const char *at, struct nm_nest_value *left, int sign,
		      const struct nm_nest_value *right)
{
	struct nm_nest_value result = {0};
	int status = 0;

	if (left->kind != NM_NEST_SUM && right->kind != NM_NEST_SUM)
		return nm_nest_fault(p, at, "only a sum can be added to min or max");
	result.kind = left->kind != NM_NEST_SUM                    ? left->kind
		      : right->kind == NM_NEST_SUM                 ? NM_NEST_SUM
		      : (right->kind == NM_NEST_MIN) == (sign > 0) ? NM_NEST_MIN
								   : NM_NEST_MAX;
	result.arms = left->arms > right->arms ? left->arms : right->arms;
	for (unsigned i = 0; i < result.arms && !status; i++) {
		result.arm[i] = left->arm[left->arms == 1 ? 0 : i];
		status = add_sum(p, at, &result.arm[i], sign, &right->arm[right->arms == 1 ? 0 : i]);
	}
	*left = result;
	return status;
}

static int multiply_sums(struct nm_nest_parser *p, const char *at, struct nm_nest_value *left,
			 const struct nm_nest_value *right)
{
	const struct nm_nest_value *v = is_constant(left) ? right : left;
	int64_t factor = (is_constant(left) ? left : right)->arm[0].constant;
	struct nm_nest_value result = {.kind = v->kind, .arms = v->arms};
	int status = 0;

	if (!is_constant(left) && !is_constant(right))
		return nm_nest_fault(p, at, "a product of two variables is not affine");
	if (factor < 0 && v->kind != NM_NEST_SUM)
		result.kind = v->kind == NM_NEST_MIN ? NM_NEST_MAX : NM_NEST_MIN;
	for (unsigned i = 0; i < v->arms && !status; i++)
		status = add_sum(p, at, &result.arm[i], factor, &v->arm[i]);
	*left = result;
	return status;
}

/* Rounded down; the rest has the sign of b. */
static int divide_rounding_down(struct nm_nest_parser *p, const char *at, int64_t a, int64_t b,
				int64_t *quotient, int64_t *rest)
{
	if (!b)
		return nm_nest_fault(p, at, "division by zero");
	if (a == INT64_MIN && b == -1)
		return too_large(p, at);
	*quotient = a / b;
	*rest = a % b;
	if (*rest && (*rest < 0) != (b < 0)) {
		--*quotient;
		*rest += b;
	}
	return 0;
}

/* ---- functions ---- */

/* *left = the least or greatest of both. */
static int join_arms(struct nm_nest_parser *p, const char *at, struct nm_nest_value *left, int kind,
		     const struct nm_nest_value *right)
{
	if (is_constant(left) && is_constant(right)) {
		int64_t a = left->arm[0].constant, b = right->arm[0].constant;

		*left = constant_sum((a < b) == (kind == NM_NEST_MIN) ? a : b);
		return 0;
	}
	if ((left->kind != NM_NEST_SUM && (int)left->kind != kind) ||
	    (right->kind != NM_NEST_SUM && (int)right->kind != kind))
		return nm_nest_fault(p, at, "min and max cannot stand within each other");
	if (left->arms + right->arms > NM_NEST_ARMS)
		return nm_nest_fault(p, at, "more than %d values in min or max", NM_NEST_ARMS);
	memcpy(&left->arm[left->arms], right->arm, right->arms * sizeof right->arm[0]);
	left->arms += right->arms;
	left->kind = kind;
	return 0;
}

static int parse_extreme(struct nm_nest_parser *p, int kind, struct nm_nest_value *ret)
{
	int status = nm_nest_parse_value(p, ret);

	while (!status && p->token.kind == ',') {
		struct nm_nest_value more;
		const char *comma = p->token.at;

		status = nm_nest_next(p);
		if (!status)
			status = nm_nest_parse_value(p, &more);
		if (!status)
			status = join_arms(p, comma, ret, kind, &more);
	}
	return status ? status : nm_nest_expect(p, ')', "',' or ')'");
}

static int parse_mod(struct nm_nest_parser *p, const char *at, struct nm_nest_value *ret)
{
	int64_t a = 0, b, quotient = 0, rest = 0;
	int status = nm_nest_parse_constant(p, "the first operand of mod", &a);

	if (!status)
		status = nm_nest_expect(p, ',', "','");
	if (!status)
		status = nm_nest_parse_constant(p, "the second operand of mod", &b);
	if (!status)
		status = divide_rounding_down(p, at, a, b, &quotient, &rest);
	*ret = constant_sum(rest);
	return status ? status : nm_nest_expect(p, ')', "')'");
}

/* ---- references ---- */

/* The text of a reference without blanks. */
static const char *squeeze_blanks(struct nm_nest_parser *p, const char *at, const char *end)
{
	char *text = malloc((size_t)(end - at) + 1);
	const char *kept = NULL;
	size_t n = 0;

	if (!text)
		return NULL;
	for (; at < end; at++) {
		if (*at == '#')
			at += strcspn(at, "\n");
		if (*at > ' ')
			text[n++] = *at;
	}
	text[n] = '\0';
	kept = nm_intern(&p->nest->names, text);
	free(text);
	return kept;
}

static int on_one_line(const char *a, const char *b)
{
	return !memchr(a < b ? a : b, '\n', (size_t)(a < b ? b - a : a - b));
}

/* Names the place: what is written has a "=", and equals of one line are numbered. */
static const char *name_place(struct nm_nest_parser *p, const struct nm_nest_reference *r)
{
	const struct nm_nest *nest = p->nest;
	const char *kept;
	unsigned equal = 1;
	char *name, number[16] = "";

	for (size_t i = nest->references.count; i-- > 0;) {
		const struct nm_nest_reference *other = &nest->references.at[i];

		if (!on_one_line(other->at, r->at))
			break;
		equal += other->text == r->text && other->is_write == r->is_write;
	}
	if (equal > 1)
		snprintf(number, sizeof number, " #%u", equal);
	if (asprintf(&name, "%s%s%s", r->text, r->is_write ? " =" : "", number) < 0)
		return NULL;
	kept = nm_intern(&p->nest->names, name);
	free(name);
	return kept;
}

int nm_nest_add_reference(struct nm_nest_parser *p, struct nm_nest_reference *r)
{
	struct nm_nest *nest = p->nest;

	if (nest->references.count == MAX_REFERENCES)
		return nm_nest_fault(p, r->at, "more than %d references", MAX_REFERENCES);
	if (p->part == NM_NEST_STATEMENT)
		return nm_nest_fault(p, r->at, "more than %d references in a statement", NM_NEST_STATEMENT);
	r->name = name_place(p, r);
	r->statement = nest->statements + 1;
	r->part = ++p->part;
	if (!r->name || nm_vec_push(&nest->references, *r))
		return nm_fail_memory(p->err);
	p->block->count++;
	return 0;
}

/* The value of a subscript that is a constant must lie in its dimension. */
static int check_subscript(struct nm_nest_parser *p, const char *at, const struct nm_nest_array *a,
			   unsigned i, const struct nm_nest_sum *sum)
{
	const struct nm_nest_dimension *d = &a->dimension[i];

	assert(i < NM_NEST_DIMENSIONS);
	if (!sum->count && (sum->constant < d->low || sum->constant > d->high))
		return nm_nest_fault(
		    p, at, "%lld is outside of dimension %u of %s, which goes from %lld to %lld",
		    (long long)sum->constant, i + 1, a->name, (long long)d->low, (long long)d->high);
	return 0;
}

static int wrong_dimensions(struct nm_nest_parser *p, const struct nm_nest_array *a)
{
	return nm_nest_fault(p, p->token.at, "%s has %u dimension%s", a->name, a->dimensions,
			     a->dimensions > 1 ? "s" : "");
}

static int parse_subscripts(struct nm_nest_parser *p, struct nm_nest_array *a, struct nm_nest_sum *sums,
			    const char **ret_end)
{
	int open = a->brackets ? '[' : '(', close = a->brackets ? ']' : ')', status = 0;

	for (unsigned i = 0; i < a->dimensions && !status; i++) {
		const char *at;

		if (i && p->token.kind != (a->brackets ? '[' : ','))
			return wrong_dimensions(p, a);
		status = i ? nm_nest_next(p) : nm_nest_expect(p, open, a->brackets ? "'['" : "'('");
		at = p->token.at;
		if (!status)
			status = nm_nest_parse_sum(p, "a subscript", &sums[i]);
		if (!status)
			status = check_subscript(p, at, a, i, &sums[i]);
		*ret_end = p->token.at + p->token.length;
		if (status || (!a->brackets && i + 1 < a->dimensions))
			continue;
		if (p->token.kind == ',')
			return wrong_dimensions(p, a);
		status = nm_nest_expect(p, close, a->brackets ? "']'" : "')'");
	}
	return !status && a->brackets && p->token.kind == '[' ? wrong_dimensions(p, a) : status;
}

int nm_nest_parse_reference(struct nm_nest_parser *p, const struct nm_nest_token *name,
			    struct nm_nest_array *array, struct nm_nest_reference *ret)
{
	struct nm_nest_sum *sums = nm_arena_alloc(&p->nest->arena, array->dimensions * sizeof *sums);
	struct nm_nest_reference r = {.array = array, .subscript = sums, .at = name->at};
	const char *end = name->at;
	int status;

	if (!sums)
		return nm_fail_memory(p->err);
	if (p->nesting == MAX_NESTING)
		return nm_nest_fault(p, name->at, "more than %d subscripts within each other", MAX_NESTING);
	p->nesting++;
	status = parse_subscripts(p, array, sums, &end);
	p->nesting--;
	if (status)
		return status;
	r.text = squeeze_blanks(p, name->at, end);
	*ret = r;
	return r.text ? 0 : nm_fail_memory(p->err);
}

/* ---- names ---- */

/* The value that an index array holds: it is read, and becomes a variable. An array's name alone is its
 * address. */
static int parse_indirect(struct nm_nest_parser *p, const struct nm_nest_token *name,
			  struct nm_nest_array *array, struct nm_nest_value *ret)
{
	struct nm_nest_reference r = {0};
	int status;

	if (p->token.kind != (array->brackets ? '[' : '(')) {
		if (!array->address)
			return nm_nest_fault(p, name->at, "%s has no address yet", array->name);
		*ret = constant_sum((int64_t)array->address);
		return 0;
	}
	if (!array->values)
		return nm_nest_fault(p, name->at, "%s has no values: declare it as array %s(...) = ...",
				     array->name, array->name);
	if (!p->block)
		return nm_nest_fault(p, name->at, "a value of an array cannot stand here");
	status = nm_nest_parse_reference(p, name, array, &r);
	if (status)
		return status;
	if (p->reads == NM_NEST_READS)
		return nm_nest_fault(p, name->at, "more than %d values of arrays in one statement",
				     NM_NEST_READS);
	r.slot = NM_NEST_DEPTH + p->reads++;
	p->block->indirect = 1;
	*ret = constant_sum(0);
	ret->arm[0].count = 1;
	ret->arm[0].term[0].slot = r.slot;
	ret->arm[0].term[0].factor = 1;
	return nm_nest_add_reference(p, &r);
}

static int parse_name(struct nm_nest_parser *p, struct nm_nest_value *ret)
{
	static const struct {
		const char *name;
		int kind;
	} functions[] = {{"min", NM_NEST_MIN}, {"max", NM_NEST_MAX}, {"mod", -1}};
	struct nm_nest_token name = p->token;
	const struct nm_nest_name *known = nm_nest_lookup(p, &name);
	int status;

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (nm_nest_is(p, functions[i].name)) {
			status = nm_nest_next(p);
			if (!status)
				status = nm_nest_expect(p, '(', "'('");
			if (status)
				return status;
			return functions[i].kind < 0 ? parse_mod(p, name.at, ret)
						     : parse_extreme(p, functions[i].kind, ret);
		}
	if (!known)
		return nm_nest_fault(p, name.at, "unknown name '%.*s'", (int)name.length, name.at);
	status = nm_nest_next(p);
	if (status)
		return status;
	if (known->kind == NM_NEST_ARRAY)
		return parse_indirect(p, &name, known->array, ret);
	*ret = constant_sum(known->value);
	if (known->kind == NM_NEST_INDEX) {
		ret->arm[0].count = 1;
		ret->arm[0].term[0].slot = known->slot;
		ret->arm[0].term[0].factor = 1;
	}
	return 0;
}

/* ---- the grammar ---- */

static int parse_factor(struct nm_nest_parser *p, struct nm_nest_value *ret);

static int parse_operand(struct nm_nest_parser *p, struct nm_nest_value *ret)
{
	int status, minus = p->token.kind == '-';

	switch (p->token.kind) {
	case NM_NEST_NUMBER: *ret = constant_sum(p->token.number); return nm_nest_next(p);
	case NM_NEST_WORD: return parse_name(p, ret);
	case '+':
	case '-': {
		struct nm_nest_value factor = constant_sum(minus ? -1 : 1);
		const char *at = p->token.at;

		status = nm_nest_next(p);
		if (!status)
			status = parse_factor(p, ret);
		return status ? status : multiply_sums(p, at, ret, &factor);
	}
	case '(':
		status = nm_nest_next(p);
		if (!status)
			status = nm_nest_parse_value(p, ret);
		return status ? status : nm_nest_expect(p, ')', "')'");
	default: return nm_nest_fault(p, p->token.at, "a number or a name expected");
	}
}

static int parse_factor(struct nm_nest_parser *p, struct nm_nest_value *ret)
{
	int status;

	if (p->nesting == MAX_NESTING)
		return nm_nest_fault(p, p->token.at, "more than %d parentheses within each other",
				     MAX_NESTING);
	p->nesting++;
	status = parse_operand(p, ret);
	p->nesting--;
	return status;
}

static int parse_term(struct nm_nest_parser *p, struct nm_nest_value *ret)
{
	int status = parse_factor(p, ret);

	while (!status && (p->token.kind == '*' || p->token.kind == '/')) {
		struct nm_nest_token sign = p->token;
		struct nm_nest_value right;
		int64_t quotient = 0, rest;

		status = nm_nest_next(p);
		if (!status)
			status = parse_factor(p, &right);
		if (status)
			return status;
		if (sign.kind == '*') {
			status = multiply_sums(p, sign.at, ret, &right);
		} else if (!is_constant(ret) || !is_constant(&right)) {
			return nm_nest_fault(p, sign.at, "only constants can be divided");
		} else {
			status = divide_rounding_down(p, sign.at, ret->arm[0].constant, right.arm[0].constant,
						      &quotient, &rest);
			if (!status)
				*ret = constant_sum(quotient);
		}
	}
	return status;
}

int nm_nest_parse_value(struct nm_nest_parser *p, struct nm_nest_value *ret)
{
	int status = parse_term(p, ret);

	while (!status && (p->token.kind == '+' || p->token.kind == '-')) {
		struct nm_nest_token sign = p->token;
		struct nm_nest_value right;

		status = nm_nest_next(p);
		if (!status)
			status = parse_term(p, &right);
		if (!status)
			status = add_scaled(p, sign.at, ret, sign.kind == '+' ? 1 : -1, &right);
	}
	return status;
}

int nm_nest_parse_constant(struct nm_nest_parser *p, const char *what, int64_t *ret)
{
	struct nm_nest_value v;
	const char *at = p->token.at;
	int status = nm_nest_parse_value(p, &v);

	if (status)
		return status;
	if (!is_constant(&v))
		return nm_nest_fault(p, at, "%s must be a constant", what);
	*ret = v.arm[0].constant;
	return 0;
}

int nm_nest_parse_sum(struct nm_nest_parser *p, const char *what, struct nm_nest_sum *ret)
{
	struct nm_nest_value v;
	const char *at = p->token.at;
	int status = nm_nest_parse_value(p, &v);

	if (status)
		return status;
	if (v.kind != NM_NEST_SUM)
		return nm_nest_fault(p, at, "%s cannot hold min or max", what);
	*ret = v.arm[0];
	return 0;
}
