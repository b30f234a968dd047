/* SPDX-License-Identifier: MIT
 *
 * nest.c - loads and frees a nest, and lists its contents.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser.h"

enum { MAX_TEXT = 64 << 20 };

#define ORIGIN (1u << 20) /* where the first array lies */

/* Takes the text over, whatever comes of it. */
static int parse_text(struct nm_nest **ret_nest, char *text, size_t bytes, const char *path,
		      const char *const *settings, struct nm_error *err)
{
	struct nm_nest_parser p = {.settings = settings, .cursor = ORIGIN, .err = err};
	struct nm_nest *nest = calloc(1, sizeof *nest);
	int status = nest ? 0 : nm_fail_memory(err);

	if (!nest) {
		free(text);
		return status;
	}
	nest->source = (struct nm_nest_source){text, bytes, NULL};
	nest->path = nm_nest_real_path(path);
	if (!nest->path)
		nest->path = strdup(path);
	nest->source.name = nm_intern(&nest->names, path);
	p.nest = nest;
	p.lexer = (struct nm_nest_lexer){.source = &nest->source, .at = text};
	status = nest->path && nest->source.name ? nm_nest_parse_program(&p) : nm_fail_memory(err);
	nest->known = p.known;
	if (status)
		nm_nest_free(nest);
	else
		*ret_nest = nest;
	return status;
}

int nm_nest_parse(struct nm_nest **ret_nest, const char *text, size_t bytes, const char *path,
		  const char *const *settings, struct nm_error *err)
{
	char *copy = malloc(bytes + 1);

	if (!copy)
		return nm_fail_memory(err);
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	return parse_text(ret_nest, copy, bytes, path, settings, err);
}

int nm_nest_load(struct nm_nest **ret_nest, const char *path, const char *const *settings,
		 struct nm_error *err)
{
	char *text;
	size_t bytes;
	int status = nm_nest_read_file(path, MAX_TEXT, &text, &bytes, err);

	return status ? status : parse_text(ret_nest, text, bytes, path, settings, err);
}

void nm_nest_free(struct nm_nest *nest)
{
	if (!nest)
		return;
	free((char *)nest->source.text);
	free(nest->path);
	nm_vec_free(&nest->known);
	nm_vec_free(&nest->arrays);
	nm_vec_free(&nest->references);
	nm_vec_free(&nest->blocks);
	nm_vec_free(&nest->files);
	nm_strings_done(&nest->names);
	nm_arena_done(&nest->arena);
	free(nest);
}

/* ---- what is in it ---- */

int nm_nest_parameter_at(const struct nm_nest *nest, size_t i, struct nm_nest_parameter_info *ret)
{
	assert(ret);
	for (size_t k = 0; k < nest->known.count; k++) {
		const struct nm_nest_name *n = &nest->known.at[k];

		if (n->kind != NM_NEST_PARAMETER || i--)
			continue;
		*ret = (struct nm_nest_parameter_info){n->name, n->value};
		return 1;
	}
	return 0;
}

int nm_nest_array_at(const struct nm_nest *nest, size_t i, struct nm_nest_array_info *ret)
{
	const struct nm_nest_array *a;

	assert(ret);
	if (i >= nest->arrays.count)
		return 0;
	a = nest->arrays.at[i];
	*ret = (struct nm_nest_array_info){a->name, a->address, a->elements * a->element};
	return 1;
}

int nm_nest_file_at(const struct nm_nest *nest, size_t i, struct nm_nest_file *ret)
{
	assert(ret);
	if (i >= nest->files.count)
		return 0;
	*ret = nest->files.at[i];
	return 1;
}

int nm_nest_reference_at(const struct nm_nest *nest, size_t i, struct nm_nest_reference_info *ret)
{
	const struct nm_nest_reference *r;

	assert(ret);
	if (i >= nest->references.count)
		return 0;
	r = &nest->references.at[i];
	*ret = (struct nm_nest_reference_info){.name = r->name,
					       .array = r->array->name,
					       .statement = r->statement,
					       .part = r->part,
					       .is_write = r->is_write,
					       .bytes = (unsigned)r->array->element};
	nm_nest_position(&nest->source, r->at, &ret->line, &ret->column);
	return 1;
}

/* What a slot is called at a reference: the loops around it, or the index array's element. */
static const char *slot_name(const struct nm_nest *nest, const struct nm_nest_reference *r, unsigned slot)
{
	const struct nm_nest_node *n = nest->body;

	for (size_t i = (size_t)(r - nest->references.at); slot >= NM_NEST_DEPTH && i-- > 0;)
		if (nest->references.at[i].slot == slot)
			return nest->references.at[i].text;
	while (n) { /* the last node that starts before the reference holds it */
		while (n->next && n->next->at <= r->at)
			n = n->next;
		if (n->kind == NM_NEST_LOOP && n->slot == slot)
			return n->index;
		n = n->kind == NM_NEST_RUN ? NULL : n->body;
	}
	return "?";
}

size_t nm_nest_reference_address(const struct nm_nest *nest, size_t i, char *text, size_t room)
{
	const struct nm_nest_reference *r = &nest->references.at[i];
	const struct nm_nest_array *a = r->array;
	int64_t bytes = (int64_t)a->element;
	__int128 base = (__int128)a->address, factor;
	size_t n;

	assert(i < nest->references.count);
	for (unsigned d = 0; d < a->dimensions; d++)
		base += ((__int128)r->subscript[d].constant - a->dimension[d].low) * a->dimension[d].stride *
			bytes;
	n = (size_t)snprintf(text, room, "%" PRId64, (int64_t)base);
	for (unsigned slot = 0; slot < NM_NEST_SLOTS; slot++) {
		factor = 0;
		for (unsigned d = 0; d < a->dimensions; d++)
			factor +=
			    (__int128)nm_nest_factor(&r->subscript[d], slot) * a->dimension[d].stride * bytes;
		if (factor)
			n += (size_t)snprintf(n < room ? text + n : NULL, n < room ? room - n : 0,
					      " %c %" PRId64 " %s", factor < 0 ? '-' : '+',
					      (int64_t)(factor < 0 ? -factor : factor),
					      slot_name(nest, r, slot));
	}
	return n;
}
