/* SPDX-License-Identifier: MIT */
#include "cache/decoded.h"

#include <stdlib.h>
#include <string.h>

static void range_table_free(struct range_table *t)
{
	nm_vec_free(&t->added);
	nm_vec_free(&t->flat);
}

void decoded_symbols_free(struct decoded_symbols *s)
{
	if (!s)
		return;
	range_table_free(&s->functions);
	range_table_free(&s->positions);
	range_table_free(&s->variables);
	range_table_free(&s->tls_variables);
	range_table_free(&s->locals);
	nm_vec_free(&s->locals_list);
	nm_vec_free(&s->function_list);
	nm_vec_free(&s->position_list);
	nm_vec_free(&s->chains);
	nm_vec_free(&s->variable_list);
	nm_map_done(&s->digests);
	nm_map_done(&s->code_at);
	nm_vec_free(&s->code);
	nm_map_done(&s->variable_types);
	nm_map_done(&s->allocated);
	nm_map_done(&s->allocated_types);
	nm_map_done(&s->assigned);
	nm_vec_free(&s->assigned_list);
	nm_map_done(&s->nothing);
	free(s);
}

static const struct span *find_range(struct range_table *t, uint64_t address)
{
	if (t->flattened < t->added.count) {
		t->flat.count = 0;
		if (nm_vec_reserve(&t->flat, t->added.count))
			return NULL;
		memcpy(t->flat.at, t->added.at, t->added.count * sizeof *t->added.at);
		t->flat.count = t->added.count;
		if (spans_flatten(&t->flat))
			return NULL;
		t->flattened = t->added.count;
	}
	return spans_find(&t->flat, address);
}

const struct nm_function *decoded_function(struct nm_module *module, uint64_t vaddr)
{
	struct decoded_symbols *s = module->decoded;
	const struct span *span = s ? find_range(&s->functions, vaddr) : NULL;

	return span ? &s->function_list.at[span->id] : NULL;
}

const struct decoded_positions *decoded_positions(struct nm_module *module, uint64_t vaddr)
{
	struct decoded_symbols *s = module->decoded;
	const struct span *span = s ? find_range(&s->positions, vaddr) : NULL;

	return span ? &s->chains.at[span->id] : NULL;
}

int decoded_nothing(const struct nm_module *module, enum item_kind kind, uint64_t about)
{
	const struct decoded_symbols *s = module->decoded;

	return s && nm_map_get(&s->nothing, question_key(kind, about), 0);
}

const char *decoded_digest(const struct nm_module *module, const char *file)
{
	const struct decoded_symbols *s = module->decoded;

	return s ? (const char *)(uintptr_t)nm_map_get(&s->digests, (uintptr_t)file, 0) : NULL;
}

size_t decoded_code(struct nm_module *module, uint64_t vaddr, uint8_t *ret_bytes, size_t room)
{
	const struct decoded_symbols *s = module->decoded;
	uint64_t where = s ? nm_map_get(&s->code_at, vaddr, UINT64_MAX) : UINT64_MAX;
	size_t bytes;

	if (where == UINT64_MAX)
		return 0;
	memcpy(&bytes, s->code.at + where, sizeof bytes);
	bytes = bytes < room ? bytes : room;
	memcpy(ret_bytes, s->code.at + where + sizeof bytes, bytes);
	return bytes;
}

const struct nm_variable *decoded_variable(struct nm_module *module, uint64_t vaddr, int is_thread_local)
{
	struct decoded_symbols *s = module->decoded;
	const struct span *span =
	    s ? find_range(is_thread_local ? &s->tls_variables : &s->variables, vaddr) : NULL;

	return span ? &s->variable_list.at[span->id] : NULL;
}

int decoded_variable_type(struct nm_module *module, uint64_t vaddr, int is_thread_local,
			  const struct nm_type **ret_type)
{
	const struct decoded_symbols *s = module->decoded;
	uint64_t known =
	    s ? nm_map_get(&s->variable_types, vaddr * 2 + (is_thread_local != 0), UINT64_MAX) : UINT64_MAX;

	if (known == UINT64_MAX)
		return 0;
	*ret_type = (const struct nm_type *)(uintptr_t)known;
	return 1;
}

int decoded_locals(struct nm_module *module, uint64_t vaddr, const struct nm_locals **ret_locals)
{
	struct decoded_symbols *s = module->decoded;
	const struct span *span = s ? find_range(&s->locals, vaddr) : NULL;

	if (!span)
		return 0;
	*ret_locals = s->locals_list.at[span->id];
	return 1;
}

int decoded_allocated(struct nm_module *module, uint64_t vaddr, uint64_t bytes, enum nm_allocated *ret_what,
		      const struct nm_type **ret_type)
{
	const struct decoded_symbols *s = module->decoded;
	uint64_t key = allocation_key(vaddr, bytes),
		 known = s ? nm_map_get(&s->allocated, key, UINT64_MAX) : UINT64_MAX;

	if (known == UINT64_MAX)
		return 0;
	*ret_what = (enum nm_allocated)known;
	*ret_type = (const struct nm_type *)(uintptr_t)nm_map_get(&s->allocated_types, key, 0);
	return 1;
}

int decoded_assigned(const struct nm_module *module, uint64_t key, struct nm_assigned *ret_assigned)
{
	const struct decoded_symbols *s = module->decoded;
	uint64_t index = s ? nm_map_get(&s->assigned, key, UINT64_MAX) : UINT64_MAX;

	if (index == UINT64_MAX)
		return 0;
	*ret_assigned = s->assigned_list.at[index];
	return 1;
}
