/* SPDX-License-Identifier: MIT
 *
 * declare.c - parses parameters and arrays, and gives arrays their addresses.
 *
 *     "parameter" NAME "=" value
 *     "origin" value
 *     "array" NAME dimensions { "," NAME dimensions } [ "of" size ] { "at" value | "align" value | "pad"
 *     value | "row" | "column" }
 *         [ "=" value { "," value } | "=" "file" STRING ]
 *     dimensions = "(" [value ":"] value { "," ... } ")"  |  "[" value "]" { "[" value "]" }
 *
 * An array follows the one declared before it and that one's padding, aligned as requested or to its
 * elements.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser.h"

enum {
	MAX_ARRAYS = 256,
	MAX_ELEMENT = 65535, /* bytes; a size of the wire */
	MAX_FILE = 1 << 30,
	MAX_LISTED = 64 /* arrays of one declaration */
};

#define END_OF_MEMORY (1ull << 47)

/* ---- names and settings ---- */

static const char *const reserved[] = {
    "parameter", "origin", "array", "of",  "at",     "align", "pad",   "row", "column", "file", "for",
    "to",        "step",   "warm",  "end", "warmup", "read",  "write", "min", "max",    "mod",  NULL};

/* Takes a new name. */
static int declare_name(struct nm_nest_parser *p, const char *what, const char **ret_name)
{
	if (p->token.kind != NM_NEST_WORD)
		return nm_nest_fault(p, p->token.at, "the name of %s expected", what);
	for (size_t i = 0; reserved[i]; i++)
		if (nm_nest_is(p, reserved[i]))
			return nm_nest_fault(p, p->token.at, "'%s' is a word of the language", reserved[i]);
	if (nm_nest_lookup(p, &p->token))
		return nm_nest_fault(p, p->token.at, "'%.*s' is declared already", (int)p->token.length,
				     p->token.at);
	*ret_name = nm_intern_n(&p->nest->names, p->token.at, p->token.length);
	return *ret_name ? nm_nest_next(p) : nm_fail_memory(p->err);
}

static int is_setting_of(const char *setting, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(setting, name, n) && setting[n] == '=';
}

/* The value that a setting gives to a name; *ret is left alone if there is none. */
static int apply_setting(struct nm_nest_parser *p, const char *name, int64_t *ret, int *ret_set)
{
	const char *setting = NULL;
	struct nm_nest_lexer lexer = p->lexer;
	struct nm_nest_token token = p->token;
	struct nm_nest_source source = {0};
	int status;

	for (size_t i = 0; p->settings && p->settings[i]; i++)
		if (is_setting_of(p->settings[i], name))
			setting = p->settings[i];
	*ret_set = setting != NULL;
	if (!setting)
		return 0;
	source.text = setting;
	source.bytes = strlen(setting);
	p->lexer = (struct nm_nest_lexer){.source = &source, .at = setting + strlen(name) + 1};
	status = nm_nest_next(p);
	if (!status)
		status = nm_nest_parse_constant(p, "a setting", ret);
	if (!status && p->token.kind != NM_NEST_END)
		status = nm_nest_fault(p, p->token.at, "the value should end here");
	p->lexer = lexer;
	p->token = token;
	return status;
}

int nm_nest_check_settings(struct nm_nest_parser *p)
{
	for (size_t i = 0; p->settings && p->settings[i]; i++) {
		const char *setting = p->settings[i];
		struct nm_nest_source source = {.text = setting, .bytes = strlen(setting)};
		struct nm_nest_token name = {.at = setting, .length = strcspn(setting, "=")};
		const struct nm_nest_name *known = nm_nest_lookup(p, &name);

		if (!setting[name.length])
			return nm_nest_fault_in(&source, p->err, setting + name.length,
						"NAME=VALUE expected");
		if (!known || known->kind == NM_NEST_INDEX)
			return nm_nest_fault_in(&source, p->err, setting,
						"%s has no parameter or array '%.*s'", p->nest->source.name,
						(int)name.length, setting);
	}
	return 0;
}

int nm_nest_parse_parameter(struct nm_nest_parser *p)
{
	struct nm_nest_name fresh = {.kind = NM_NEST_PARAMETER};
	int status = declare_name(p, "a parameter", &fresh.name), set;

	if (!status)
		status = nm_nest_expect(p, '=', "'='");
	if (!status)
		status = nm_nest_parse_constant(p, "a parameter", &fresh.value);
	if (!status)
		status = apply_setting(p, fresh.name, &fresh.value, &set);
	if (!status && nm_vec_push(&p->known, fresh))
		status = nm_fail_memory(p->err);
	return status;
}

int nm_nest_parse_origin(struct nm_nest_parser *p)
{
	const char *at = p->token.at;
	int64_t origin = 0;
	int status = nm_nest_parse_constant(p, "the origin", &origin);

	if (!status && (origin <= 0 || (uint64_t)origin >= END_OF_MEMORY))
		return nm_nest_fault(p, at, "the origin must be from 1 to 2^47 - 1");
	p->cursor = (uint64_t)origin;
	return status;
}

/* ---- shape ---- */

static int parse_dimension(struct nm_nest_parser *p, struct nm_nest_array *a)
{
	struct nm_nest_dimension *d = &a->dimension[a->dimensions];
	const char *at = p->token.at;
	int64_t first, n;
	int status = 0;

	if (a->dimensions == NM_NEST_DIMENSIONS)
		return nm_nest_fault(p, at, "more than %d dimensions", NM_NEST_DIMENSIONS);
	status = nm_nest_parse_constant(p, "a dimension", &first);
	if (status)
		return status;
	d->low = a->brackets ? 0 : 1;
	d->high = first;
	if (p->token.kind == ':') {
		d->low = first;
		status = nm_nest_next(p);
		if (!status)
			status = nm_nest_parse_constant(p, "a dimension", &d->high);
	} else if (a->brackets && __builtin_sub_overflow(first, 1, &d->high)) {
		return nm_nest_fault(p, at, "the dimension is empty");
	}
	if (status)
		return status;
	if (d->high < d->low)
		return nm_nest_fault(p, at, "the dimension is empty");
	if (__builtin_sub_overflow(d->high, d->low, &n) || (uint64_t)n >= END_OF_MEMORY ||
	    __builtin_mul_overflow(a->elements, (uint64_t)n + 1, &a->elements) ||
	    a->elements >= END_OF_MEMORY)
		return nm_nest_fault(p, at, "the array is too large");
	a->dimensions++;
	return 0;
}

static int parse_shape(struct nm_nest_parser *p, struct nm_nest_array *a)
{
	int status = 0, open = p->token.kind, close = open == '(' ? ')' : ']';

	if (open != '(' && open != '[')
		return nm_nest_fault(p, p->token.at, "dimensions expected: %s(N, M) or %s[N][M]", a->name,
				     a->name);
	a->brackets = open == '[';
	a->elements = 1;
	do {
		status = nm_nest_next(p);
		if (!status)
			status = parse_dimension(p, a);
		while (!status && open == '(' && p->token.kind == ',') {
			status = nm_nest_next(p);
			if (!status)
				status = parse_dimension(p, a);
		}
		if (!status)
			status = nm_nest_expect(p, close, close == ')' ? "',' or ')'" : "']'");
	} while (!status && open == '[' && p->token.kind == '[');
	return status;
}

/* Strides: the first subscript varies fastest in column order, the last one in row order. */
static void set_strides(struct nm_nest_array *a, int row)
{
	int64_t stride = 1;

	for (unsigned i = 0; i < a->dimensions; i++) {
		struct nm_nest_dimension *d = &a->dimension[row ? a->dimensions - 1 - i : i];

		d->stride = stride;
		stride *= d->high - d->low + 1;
	}
}

/* ---- attributes ---- */

struct attributes {
	uint64_t element, at, align, pad;
	int row; /* -1: as it is written */
	const char *at_place;
};

/* "real*4", "int", "double", ... or a number of bytes. */
static int parse_size(struct nm_nest_parser *p, uint64_t *ret)
{
	static const struct {
		const char *name;
		unsigned bytes;
		int starred; /* "real*8" says its bytes */
	} types[] = {{"byte", 1, 0},    {"char", 1, 0},    {"short", 2, 0},  {"int", 4, 0},
		     {"long", 8, 0},    {"float", 4, 0},   {"double", 8, 0}, {"real", 4, 1},
		     {"integer", 4, 1}, {"logical", 4, 1}, {"complex", 8, 1}};
	const char *at = p->token.at;
	int64_t bytes = 0;
	int status;

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (!nm_nest_is(p, types[i].name))
			continue;
		*ret = types[i].bytes;
		status = nm_nest_next(p);
		if (status || !types[i].starred || p->token.kind != '*')
			return status;
		status = nm_nest_next(p);
		if (status)
			return status;
		break;
	}
	status = nm_nest_parse_constant(p, "the size of an element", &bytes);
	if (!status && (bytes < 1 || bytes > MAX_ELEMENT))
		return nm_nest_fault(p, at, "an element has 1 to %d bytes", MAX_ELEMENT);
	*ret = (uint64_t)bytes;
	return status;
}

static int parse_amount(struct nm_nest_parser *p, const char *what, uint64_t least, uint64_t *ret)
{
	int64_t n = 0;
	int status = nm_nest_next(p);
	const char *at = p->token.at;

	if (!status)
		status = nm_nest_parse_constant(p, what, &n);
	if (!status && (n < (int64_t)least || (uint64_t)n >= END_OF_MEMORY))
		return nm_nest_fault(p, at, "%s must be from %d to 2^47 - 1", what, (int)least);
	*ret = (uint64_t)n;
	return status;
}

static int parse_attributes(struct nm_nest_parser *p, struct attributes *a)
{
	int status = 0;

	while (!status && p->token.kind == NM_NEST_WORD) {
		if (nm_nest_is(p, "of")) {
			status = nm_nest_next(p);
			if (!status)
				status = parse_size(p, &a->element);
		} else if (nm_nest_is(p, "at")) {
			a->at_place = p->token.at;
			status = parse_amount(p, "an address", 1, &a->at);
		} else if (nm_nest_is(p, "align")) {
			status = parse_amount(p, "an alignment", 1, &a->align);
		} else if (nm_nest_is(p, "pad")) {
			status = parse_amount(p, "the padding", 0, &a->pad);
		} else if (nm_nest_is(p, "row") || nm_nest_is(p, "column")) {
			a->row = nm_nest_is(p, "row");
			status = nm_nest_next(p);
		} else {
			return nm_nest_fault(p, p->token.at, "of, at, align, pad, row or column expected");
		}
	}
	return status;
}

/* ---- values ---- */

struct values nm_vec(int64_t);

static int parse_listed_values(struct nm_nest_parser *p, const struct nm_nest_array *a, struct values *values)
{
	for (uint64_t i = 0; i < a->elements; i++) {
		int64_t value = 0;
		int status = i ? nm_nest_expect(p, ',', "','") : 0;

		if (!status)
			status = nm_nest_parse_constant(p, "a value", &value);
		if (!status && nm_vec_push(values, value))
			status = nm_fail_memory(p->err);
		if (status)
			return status;
	}
	if (p->token.kind == ',')
		return nm_nest_fault(p, p->token.at, "%s has only %llu elements", a->name,
				     (unsigned long long)a->elements);
	return 0;
}

/* A path as the text gives it, from the folder of the nest's file. */
static char *beside_the_nest(const struct nm_nest *nest, const struct nm_nest_token *t)
{
	const char *slash = strrchr(nest->path, '/');
	int folder = *t->at == '/' || !slash ? 0 : (int)(slash + 1 - nest->path);
	char *path;

	return asprintf(&path, "%.*s%.*s", folder, nest->path, (int)t->length, t->at) < 0 ? NULL : path;
}

static int take_values(struct nm_nest_parser *p, const char *at, const struct nm_nest_array *a,
		       const char *path, const char *text, struct values *values)
{
	const char *s = text;
	char *end;

	for (uint64_t i = 0; i < a->elements; i++, s = end) {
		int64_t value;

		errno = 0;
		value = strtoll(s, &end, 0);
		if (end == s || errno)
			return nm_nest_fault(p, at, "%s: value %llu of %llu is missing or no number", path,
					     (unsigned long long)i + 1, (unsigned long long)a->elements);
		if (nm_vec_push(values, value))
			return nm_fail_memory(p->err);
		end += *end == ',';
	}
	if (s[strspn(s, " \t\r\n")])
		return nm_nest_fault(p, at, "%s has more than the %llu values of %s", path,
				     (unsigned long long)a->elements, a->name);
	return 0;
}

static int note_file(struct nm_nest *nest, const struct nm_nest_token *t, const char *path)
{
	const struct nm_nest_file file = {nm_intern_n(&nest->names, t->at, t->length),
					  nm_intern(&nest->names, path)};

	return file.name && file.path ? nm_vec_push(&nest->files, file) : NM_ENOMEM;
}

static int read_values(struct nm_nest_parser *p, const struct nm_nest_array *a, struct values *values)
{
	struct nm_nest_token name;
	struct nm_error why;
	size_t bytes;
	char *path, *text = NULL;
	int status = nm_nest_next(p);

	name = p->token;
	if (!status)
		status = nm_nest_expect(p, NM_NEST_STRING, "the name of a file in quotes");
	if (status)
		return status;
	path = beside_the_nest(p->nest, &name);
	if (!path || note_file(p->nest, &name, path)) {
		free(path);
		return nm_fail_memory(p->err);
	}
	status = nm_nest_read_file(path, MAX_FILE, &text, &bytes, &why);
	if (status == NM_ENOMEM)
		status = nm_fail_memory(p->err);
	else if (status)
		status = nm_nest_fault(p, name.at, "%s", why.text);
	else
		status = take_values(p, name.at, a, path, text, values);
	free(text);
	free(path);
	return status;
}

static int parse_values(struct nm_nest_parser *p, struct nm_nest_array *a)
{
	struct values values = {0};
	int status = nm_nest_next(p);

	if (!status)
		status =
		    nm_nest_is(p, "file") ? read_values(p, a, &values) : parse_listed_values(p, a, &values);
	if (!status) {
		a->values = nm_arena_alloc(&p->nest->arena, values.count * sizeof *a->values);
		if (a->values)
			memcpy(a->values, values.at, values.count * sizeof *a->values);
		else
			status = nm_fail_memory(p->err);
	}
	nm_vec_free(&values);
	return status;
}

/* ---- place in memory ---- */

static int place_array(struct nm_nest_parser *p, struct nm_nest_array *a, const struct attributes *how)
{
	uint64_t align = how->align ? how->align : how->element, bytes;
	int64_t set_address;
	int set, status;

	a->element = how->element;
	a->address = how->at ? how->at : (p->cursor + align - 1) / align * align;
	status = apply_setting(p, a->name, &set_address, &set);
	if (status)
		return status;
	if (set)
		a->address = (uint64_t)set_address;
	if (__builtin_mul_overflow(a->elements, a->element, &bytes) || !a->address ||
	    a->address >= END_OF_MEMORY || bytes > END_OF_MEMORY - a->address)
		return nm_nest_fault(p, a->at, "%s does not fit between the addresses 1 and 2^47", a->name);
	for (size_t i = 0; i < p->nest->arrays.count; i++) {
		const struct nm_nest_array *other = p->nest->arrays.at[i];

		if (a->address < other->address + other->elements * other->element &&
		    other->address < a->address + bytes)
			return nm_nest_fault(p, a->at, "%s overlaps %s", a->name, other->name);
	}
	p->cursor = a->address + bytes + how->pad;
	if (nm_vec_push(&p->nest->arrays, a))
		return nm_fail_memory(p->err);
	return 0;
}

static int parse_array(struct nm_nest_parser *p, struct nm_nest_array **ret)
{
	struct nm_nest_name fresh = {.kind = NM_NEST_ARRAY};
	struct nm_nest_array *a = nm_arena_alloc(&p->nest->arena, sizeof *a);
	int status;

	if (!a)
		return nm_fail_memory(p->err);
	a->at = p->token.at;
	status = declare_name(p, "an array", &a->name);
	if (!status)
		status = parse_shape(p, a);
	fresh.name = a->name;
	fresh.array = a;
	if (!status && nm_vec_push(&p->known, fresh))
		status = nm_fail_memory(p->err);
	*ret = a;
	return status;
}

int nm_nest_parse_arrays(struct nm_nest_parser *p)
{
	struct attributes how = {.element = 4, .row = -1};
	struct nm_nest_array *list[MAX_LISTED];
	unsigned n = 0;
	int status;

	do {
		if (n == MAX_LISTED || p->nest->arrays.count + n == MAX_ARRAYS)
			return nm_nest_fault(p, p->token.at, "too many arrays");
		if (n && (status = nm_nest_next(p)))
			return status;
		status = parse_array(p, &list[n++]);
	} while (!status && p->token.kind == ',');
	if (!status)
		status = parse_attributes(p, &how);
	if (!status && n > 1 && how.at)
		return nm_nest_fault(p, how.at_place, "one address for %u arrays", n);
	if (!status && p->token.kind == '=')
		status = n > 1 ? nm_nest_fault(p, p->token.at, "values for %u arrays", n)
			       : parse_values(p, list[0]);
	for (unsigned i = 0; i < n && !status; i++) {
		set_strides(list[i], how.row < 0 ? list[i]->brackets : how.row);
		status = place_array(p, list[i], &how);
	}
	return status;
}
