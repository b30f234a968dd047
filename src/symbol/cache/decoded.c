/* SPDX-License-Identifier: MIT
 *
 * decoded.c - see decoded.h.
 */
#include "cache/decoded.h"

#include <stdlib.h>
#include <string.h>

static void range_table_free(struct range_table *a)
{
	nm_vec_free(&a->added);
	nm_vec_free(&a->flat);
}

void decoded_symbols_free(struct decoded_symbols *l)
{
	if (!l)
		return;
	range_table_free(&l->functions);
	range_table_free(&l->positions);
	range_table_free(&l->variables);
	range_table_free(&l->tls_variables);
	range_table_free(&l->locals);
	nm_vec_free(&l->locals_list);
	nm_vec_free(&l->function_list);
	nm_vec_free(&l->position_list);
	nm_vec_free(&l->chains);
	nm_vec_free(&l->variable_list);
	nm_map_done(&l->digests);
	nm_map_done(&l->code_at);
	nm_vec_free(&l->code);
	nm_map_done(&l->variable_types);
	nm_map_done(&l->allocated);
	nm_map_done(&l->allocated_types);
	nm_map_done(&l->assigned);
	nm_vec_free(&l->assigned_list);
	nm_map_done(&l->nothing);
	free(l);
}

static const struct span *find(struct range_table *a, uint64_t address)
{
	if (a->flattened < a->added.count) {
		a->flat.count = 0;
		if (nm_vec_reserve(&a->flat, a->added.count))
			return NULL;
		memcpy(a->flat.at, a->added.at, a->added.count * sizeof *a->added.at);
		a->flat.count = a->added.count;
		if (spans_flatten(&a->flat))
			return NULL;
		a->flattened = a->added.count;
	}
	return spans_find(&a->flat, address);
}

const struct nm_function *decoded_function(struct nm_module *module, uint64_t vaddr)
{
	struct decoded_symbols *l = module->decoded;
	const struct span *span = l ? find(&l->functions, vaddr) : NULL;

	return span ? &l->function_list.at[span->id] : NULL;
}

const struct decoded_positions *decoded_positions(struct nm_module *module, uint64_t vaddr)
{
	struct decoded_symbols *l = module->decoded;
	const struct span *span = l ? find(&l->positions, vaddr) : NULL;

	return span ? &l->chains.at[span->id] : NULL;
}

int decoded_nothing(const struct nm_module *module, enum item_kind kind, uint64_t about)
{
	const struct decoded_symbols *l = module->decoded;

	return l && nm_map_get(&l->nothing, question_key(kind, about), 0);
}

const char *decoded_digest(const struct nm_module *module, const char *file)
{
	const struct decoded_symbols *l = module->decoded;

	return l ? (const char *)(uintptr_t)nm_map_get(&l->digests, (uintptr_t)file, 0) : NULL;
}

size_t decoded_code(struct nm_module *module, uint64_t vaddr, uint8_t *ret_bytes, size_t room)
{
	const struct decoded_symbols *l = module->decoded;
	uint64_t where = l ? nm_map_get(&l->code_at, vaddr, UINT64_MAX) : UINT64_MAX;
	size_t bytes;

	if (where == UINT64_MAX)
		return 0;
	memcpy(&bytes, l->code.at + where, sizeof bytes);
	bytes = bytes < room ? bytes : room;
	memcpy(ret_bytes, l->code.at + where + sizeof bytes, bytes);
	return bytes;
}

const struct nm_variable *decoded_variable(struct nm_module *module, uint64_t vaddr, int is_thread_local)
{
	struct decoded_symbols *l = module->decoded;
	const struct span *span = l ? find(is_thread_local ? &l->tls_variables : &l->variables, vaddr) : NULL;

	return span ? &l->variable_list.at[span->id] : NULL;
}

int decoded_variable_type(struct nm_module *module, uint64_t vaddr, int is_thread_local,
			  const struct nm_type **ret_type)
{
	const struct decoded_symbols *l = module->decoded;
	uint64_t known =
	    l ? nm_map_get(&l->variable_types, vaddr * 2 + (is_thread_local != 0), UINT64_MAX) : UINT64_MAX;

	if (known == UINT64_MAX)
		return 0;
	*ret_type = (const struct nm_type *)(uintptr_t)known;
	return 1;
}

int decoded_locals(struct nm_module *module, uint64_t vaddr, const struct nm_locals **ret_locals)
{
	struct decoded_symbols *l = module->decoded;
	const struct span *span = l ? find(&l->locals, vaddr) : NULL;

	if (!span)
		return 0;
	*ret_locals = l->locals_list.at[span->id];
	return 1;
}

int decoded_allocated(struct nm_module *module, uint64_t vaddr, uint64_t bytes, enum nm_allocated *ret_what,
		      const struct nm_type **ret_type)
{
	const struct decoded_symbols *l = module->decoded;
	uint64_t key = allocation_key(vaddr, bytes),
		 known = l ? nm_map_get(&l->allocated, key, UINT64_MAX) : UINT64_MAX;

	if (known == UINT64_MAX)
		return 0;
	*ret_what = (enum nm_allocated)known;
	*ret_type = (const struct nm_type *)(uintptr_t)nm_map_get(&l->allocated_types, key, 0);
	return 1;
}

int decoded_assigned(const struct nm_module *module, uint64_t key, struct nm_assigned *ret_assigned)
{
	const struct decoded_symbols *l = module->decoded;
	uint64_t index = l ? nm_map_get(&l->assigned, key, UINT64_MAX) : UINT64_MAX;

	if (index == UINT64_MAX)
		return 0;
	*ret_assigned = l->assigned_list.at[index];
	return 1;
}
