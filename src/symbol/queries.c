/* SPDX-License-Identifier: MIT
 *
 * queries.c - the queries of symbol.h, answered from decoded answers, else from the files. If the store
 * encodes, the answers are also encoded.
 */
#include <assert.h>

#include "cache/decoded.h"
#include "symbol_priv.h"

/* Are the decoded answers all that there are, or will be? */
static int is_complete(const struct nm_module *module)
{
	return module->decoded && (module->store->complete || module->store->expecting);
}

/* May the files be searched for an answer that was not decoded? */
static int may_ask(struct nm_module *module, enum item_kind kind, uint64_t about)
{
	if (is_complete(module) || decoded_nothing(module, kind, about))
		return 0;
	module_seek_file(module);
	return 1;
}

enum nm_debug_level nm_module_debug_level(struct nm_module *module)
{
	HOLD_STORE(module->store);
	enum nm_debug_level level;

	if (is_complete(module) || (module->decoded && module->decoded->level))
		return module->decoded->level;
	module_seek_file(module);
	level = module_debug_level(module);
	encode_level(module, level);
	return level;
}

int nm_module_function(struct nm_module *module, uint64_t vaddr, struct nm_function *ret_function)
{
	HOLD_STORE(module->store);
	const struct nm_function *known = decoded_function(module, vaddr);

	if (known) {
		*ret_function = *known;
		return 1;
	}
	if (!may_ask(module, ITEM_FUNCTION, vaddr))
		return 0;
	if (!module_function(module, vaddr, ret_function)) {
		encode_nothing(module, ITEM_FUNCTION, vaddr);
		return 0;
	}
	encode_function(module, ret_function);
	return 1;
}

size_t nm_module_source_positions(struct nm_module *module, uint64_t vaddr, struct nm_source_position *at,
				  size_t max)
{
	HOLD_STORE(module->store);
	const struct decoded_positions *known = decoded_positions(module, vaddr);
	size_t n = 0;

	if (!known) {
		if (!may_ask(module, ITEM_POSITIONS, vaddr))
			return 0;
		encode_positions(module, vaddr);
		return module_source_positions(module, vaddr, at, max);
	}
	for (; n < known->count && n < max; n++)
		at[n] = module->decoded->position_list.at[known->first + n];
	return n;
}

const char *nm_module_digest(struct nm_module *module, const char *file)
{
	HOLD_STORE(module->store);
	const char *digest = decoded_digest(module, file);

	if (digest || !may_ask(module, ITEM_DIGEST, (uintptr_t)file))
		return digest;
	digest = module_digest(module, file);
	if (digest)
		encode_digest(module, file, digest);
	else
		encode_nothing(module, ITEM_DIGEST, (uintptr_t)file);
	return digest;
}

int nm_module_variable(struct nm_module *module, uint64_t vaddr, struct nm_variable *ret_variable)
{
	HOLD_STORE(module->store);
	const struct nm_variable *known = decoded_variable(module, vaddr, 0);

	if (known) {
		*ret_variable = *known;
		return 1;
	}
	if (!may_ask(module, ITEM_VARIABLE, vaddr))
		return 0;
	if (!module_variable(module, vaddr, ret_variable)) {
		encode_nothing(module, ITEM_VARIABLE, vaddr);
		return 0;
	}
	encode_variable(module, ret_variable, 0);
	return 1;
}

int nm_module_tls_variable(struct nm_module *module, uint64_t offset, struct nm_variable *ret_variable)
{
	HOLD_STORE(module->store);
	const struct nm_variable *known = decoded_variable(module, offset, 1);

	if (known) {
		*ret_variable = *known;
		return 1;
	}
	if (!may_ask(module, ITEM_TLS_VARIABLE, offset))
		return 0;
	if (!module_tls_variable(module, offset, ret_variable)) {
		encode_nothing(module, ITEM_TLS_VARIABLE, offset);
		return 0;
	}
	encode_variable(module, ret_variable, 1);
	return 1;
}

const struct nm_type *nm_module_variable_type(struct nm_module *module, uint64_t vaddr, int is_thread_local)
{
	HOLD_STORE(module->store);
	const struct nm_type *type;

	if (decoded_variable_type(module, vaddr, is_thread_local, &type))
		return type;
	if (!may_ask(module, ITEM_VARIABLE_TYPE, vaddr))
		return NULL;
	type = module_variable_type(module, vaddr, is_thread_local);
	encode_variable_type(module, vaddr, is_thread_local, type);
	return type;
}

const struct nm_locals *nm_module_locals(struct nm_module *module, uint64_t vaddr)
{
	HOLD_STORE(module->store);
	const struct nm_locals *locals;

	if (decoded_locals(module, vaddr, &locals))
		return locals;
	if (!may_ask(module, ITEM_LOCALS, vaddr))
		return NULL;
	locals = module_locals(module, vaddr);
	encode_locals(module, vaddr, locals);
	return locals;
}

enum nm_allocated nm_module_allocated(struct nm_module *module, uint64_t vaddr, uint64_t bytes,
				      const struct nm_type **ret_type)
{
	HOLD_STORE(module->store);
	enum nm_allocated what;

	*ret_type = NULL;
	if (decoded_allocated(module, vaddr, bytes, &what, ret_type))
		return what;
	if (!may_ask(module, ITEM_ALLOCATED, vaddr))
		return NM_ALLOCATED_UNKNOWN;
	what = module_allocated(module, vaddr, bytes, ret_type);
	encode_allocated(module, vaddr, bytes, what, *ret_type);
	return what;
}

struct nm_assigned nm_module_assigned(struct nm_module *module, uint64_t vaddr,
				      const struct nm_call_place *call)
{
	HOLD_STORE(module->store);
	uint64_t key = assigned_key(vaddr, call);
	struct nm_assigned assigned = {0};

	if (decoded_assigned(module, key, &assigned) || !may_ask(module, ITEM_ASSIGNED, key))
		return assigned;
	assigned = module_assigned(module, vaddr, call);
	encode_assigned(module, key, assigned);
	return assigned;
}

/* Code that was not kept is read from the file: it adds to the answers, and changes none. */
size_t nm_module_code(struct nm_module *module, uint64_t vaddr, uint8_t *ret_bytes, size_t room)
{
	assert(room > 0);
	HOLD_STORE(module->store);
	size_t bytes = decoded_code(module, vaddr, ret_bytes, room);

	if (bytes)
		return bytes;
	bytes = module_code(module, vaddr, ret_bytes, room);
	encode_code(module, vaddr, ret_bytes, bytes);
	return bytes;
}

/* ---- function at: the function at an address: that of the symbol table, or else of DWARF ---- */

/* Without symbols, the physical function that DWARF knows. */
static int function_of_dwarf(struct nm_module *module, uint64_t vaddr, struct nm_function *ret_function)
{
	struct unit *unit = unit_at(module, vaddr);
	if (!unit)
		return 0;
	unit_read_frames(module, unit);
	const struct span *span = spans_find(&unit->code, vaddr);
	if (!span)
		return 0;
	uint32_t id = span->id;
	while (unit->frames.at[id].parent != NO_ID)
		id = unit->frames.at[id].parent;
	struct frame *frame = &unit->frames.at[id];
	Dwarf_Addr base, low, end;
	for (ptrdiff_t next = 0; (next = dwarf_ranges(&frame->die, next, &base, &low, &end)) > 0;) {
		if (vaddr < low || vaddr >= end)
			continue;
		const char *name = frame_name(module, unit, frame);
		if (!name)
			return 0;
		*ret_function = (struct nm_function){name, name, low, end};
		return 1;
	}
	return 0;
}

int module_function(struct nm_module *module, uint64_t vaddr, struct nm_function *ret_function)
{
	module_read_symbols(module);
	const struct span *span = spans_find(&module->function_spans, vaddr);
	if (!span)
		return function_of_dwarf(module, vaddr, ret_function);
	struct elf_symbol *symbol = &module->functions.at[span->id];
	const char *name = elf_symbol_plain(module, symbol);
	const char *linkage = name ? nm_intern(module_pool(module), symbol->raw) : NULL;
	if (!linkage)
		return 0;
	*ret_function = (struct nm_function){name, linkage, symbol->low, symbol->end};
	return 1;
}
