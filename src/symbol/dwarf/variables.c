/* SPDX-License-Identifier: MIT
 *
 * variables.c - the variables with static storage that DWARF declares, with their full names.
 *
 * One walk over all units.  Names: the demangled linkage name where there is one (C++, Rust), else the
 * scopes around the entry: "module::name" in a Fortran module, "function()::name" in a function,
 * "block/member" in a COMMON block ("(blank)" for the one without a name).
 *
 * Program units may name the members of one COMMON block differently.  The first unit in the file wins;
 * a later one adds only what lies beyond the end of all before it.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/die.h"
#include "map.h"
#include "symbol_priv.h"

struct scope {
	const char *prefix; /* of names inside, or "" */
	enum nm_variable_kind kind;
	uint64_t covered; /* in a COMMON block: earlier units have named everything below */
};

struct reader {
	struct nm_module *module;
	struct unit *unit;
	struct nm_map blocks; /* interned prefix of a COMMON block -> end of the named members */
	struct die_walk walk;
	struct scope scopes[DIE_DEPTH]; /* what surrounds the entries below each depth */
};

static const char *join_names(struct reader *reader, const char *a, const char *b, const char *c)
{
	return nm_intern_format(module_pool(reader->module), "%s%s%s", a, b, c);
}

static const char *demangled_name(struct reader *reader, Dwarf_Die *die)
{
	const char *linkage = die_linkage_name(die);
	if (!linkage || !is_mangled(linkage))
		return NULL;
	return demangle(module_pool(reader->module), linkage);
}

/* The scope that the entries inside die are in.  0 if nothing inside matters. */
static int enter_scope(struct reader *reader, Dwarf_Die *die, const struct scope *around,
		       struct scope *ret_scope)
{
	const char *name; /* read only if it matters: reading it takes a third of the walk */
	*ret_scope = *around;
	switch (dwarf_tag(die)) {
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block: return dwarf_haschildren(die);
	case DW_TAG_class_type:
	case DW_TAG_structure_type: /* the function of a lambda may be in its class */
	case DW_TAG_union_type: return !is_c(reader->unit->language) && dwarf_haschildren(die);
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		if (!dwarf_haschildren(die))
			return 0;
		ret_scope->prefix = NULL; /* made when a variable is found */
		ret_scope->kind = NM_VAR_STATIC;
		return 1;
	case DW_TAG_namespace:
		name = die_name(die);
		ret_scope->prefix =
		    join_names(reader, around->prefix, name ? name : "(anonymous namespace)", "::");
		return ret_scope->prefix != NULL;
	case DW_TAG_module:
		name = die_name(die);
		ret_scope->prefix = join_names(reader, name ? name : "", "::", "");
		ret_scope->kind = NM_VAR_MODULE;
		return ret_scope->prefix != NULL;
	case DW_TAG_common_block:
		name = die_name(die);
		if (!name || !strcmp(name, "__BLNK__") || !strcmp(name, "//"))
			name = "(blank)";
		ret_scope->prefix = join_names(reader, name, "/", "");
		ret_scope->kind = NM_VAR_COMMON_MEMBER;
		ret_scope->covered = nm_map_get(&reader->blocks, (uintptr_t)ret_scope->prefix, 0);
		return ret_scope->prefix != NULL;
	default: return 0;
	}
}

static const char *full_name(struct reader *reader, Dwarf_Die *die, struct scope *scope, int *ret_lacks_scope)
{
	const char *name = demangled_name(reader, die);
	if (name)
		return name;
	name = die_name(die);
	for (unsigned depth = reader->walk.depth; !scope->prefix && depth-- > 0;) {
		int tag = dwarf_tag(&reader->walk.at[depth]);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			scope->prefix = function_prefix(reader->module, &reader->walk.at[depth]);
	}
	/* A function without a name, or a lambda, of which many have the same. */
	*ret_lacks_scope = scope->prefix && (!scope->prefix[0] || scope->prefix[0] == '<' ||
					     !strncmp(scope->prefix, "operator()", 10));
	return name && scope->prefix ? join_names(reader, scope->prefix, name, "") : NULL;
}

static uint64_t size_of(Dwarf_Die *die)
{
	Dwarf_Word bytes;
	Dwarf_Die type;
	if (!die_reference(die, DW_AT_type, &type) || dwarf_aggregate_size(&type, &bytes) != 0)
		return 0;
	return bytes;
}

static enum nm_variable_kind kind_of(const struct scope *scope, Dwarf_Die *die, int is_thread_local)
{
	if (is_thread_local)
		return NM_VAR_THREAD_LOCAL;
	if (scope->kind != NM_VAR_GLOBAL)
		return scope->kind;
	return die_flag(die, DW_AT_external) ? NM_VAR_GLOBAL : NM_VAR_STATIC;
}

/* Not a variable that the linker left out: its address is 0, which in a shared object is that of the ELF
 * header, with the tables of the dynamic linker behind it. */
static int is_placed(const struct nm_module *module, const struct place *place)
{
	if (place->is_thread_local)
		return place->address < module->tls_bytes;
	return place->address && module_holds(module, place->address);
}

static int add_variable(struct reader *reader, Dwarf_Die *die, struct scope *scope)
{
	struct nm_module *module = reader->module;
	struct place place;
	if (!location_read(die, &place) || !is_placed(module, &place))
		return 0;
	uint64_t bytes = size_of(die), end = place.address + bytes;
	if (end < place.address)
		end = place.address;
	enum nm_variable_kind kind = kind_of(scope, die, place.is_thread_local);
	if (kind == NM_VAR_COMMON_MEMBER) {
		if (place.address < scope->covered)
			return 0;
		uintptr_t block = (uintptr_t)scope->prefix;
		if (end > nm_map_get(&reader->blocks, block, 0) && nm_map_put(&reader->blocks, block, end))
			return NM_ENOMEM;
	}
	struct variables *list = place.is_thread_local ? &module->tls_variables : &module->variables;
	struct variable variable = {
	    .die = *die, .language = reader->unit->language, .order = (uint32_t)list->count};
	variable.seen = (struct nm_variable){.name = full_name(reader, die, scope, &variable.lacks_scope),
					     .kind = kind,
					     .low = place.address,
					     .end = end};
	if (!variable.seen.name)
		return 0;
	return nm_vec_push(list, variable);
}

static int read_unit(struct reader *reader)
{
	struct die_walk *walk = &reader->walk;
	int descend = 1;
	reader->scopes[0] = (struct scope){.prefix = "", .kind = NM_VAR_GLOBAL};
	die_walk_start(walk, &reader->unit->body, reader->unit->bytes);
	while (die_walk_next(walk, descend)) {
		Dwarf_Die *die = &walk->at[walk->depth];
		struct scope *around = &reader->scopes[walk->depth - 1];
		descend = 0;
		if (dwarf_tag(die) != DW_TAG_variable)
			descend = enter_scope(reader, die, around, &reader->scopes[walk->depth]);
		else if (add_variable(reader, die, around))
			return NM_ENOMEM;
	}
	return 0;
}

void dwarf_variables_read(struct nm_module *module)
{
	module_read_units(module);
	struct reader *reader = calloc(1, sizeof *reader);
	if (!reader)
		return;
	reader->module = module;
	for (size_t i = 0; i < module->units.count; i++) {
		reader->unit = &module->units.at[i];
		if (read_unit(reader))
			break;
	}
	nm_map_done(&reader->blocks);
	free(reader);
}
