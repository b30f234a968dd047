/* SPDX-License-Identifier: MIT
 *
 * types.c - a variable's type as its language writes it.
 *
 * C and C++ declarators are built from the inside out: along the chain of pointers, arrays and functions,
 * the declarator grows around the (absent) name, "*", "(*)", "(*)[100]", until the base type is reached and
 * put in front. Fortran writes bounds after the type, Rust writes "[T; N]". C++ and Rust names include their
 * namespaces. Chains are followed for a bounded number of steps, so a type that contains itself in damaged
 * debug information ends.
 */
#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/die.h"
#include "symbol_priv.h"

enum { DECLARATOR_ROOM = 512, CHAIN_STEPS = 64, NESTED = 4, MOST_PARAMETERS = 8 };

enum family { FAMILY_C, FAMILY_CXX, FAMILY_FORTRAN, FAMILY_RUST };

struct speller {
	struct nm_module *module;
	enum family family;
	int nested;                       /* how many types deep we are in parameters */
	char declarator[DECLARATOR_ROOM]; /* "" at first */
	size_t brackets;                  /* of Rust arrays, in front of the base type */
	char qualifiers[64];              /* of the base type, each with a blank behind */
};

static enum family family_of(int language)
{
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2a: /* C++17, from the list that DWARF 6 extends */
	case 0x2b: /* C++20 */ return FAMILY_CXX;
	case DW_LANG_Rust: return FAMILY_RUST;
	default: return is_fortran(language) ? FAMILY_FORTRAN : FAMILY_C;
	}
}

static void put_before(struct speller *speller, const char *text)
{
	size_t n = strlen(text), old = strlen(speller->declarator);
	if (n + old + 1 > sizeof speller->declarator)
		return;
	memmove(speller->declarator + n, speller->declarator, old + 1);
	memcpy(speller->declarator, text, n);
}

static void put_behind(struct speller *speller, const char *text)
{
	size_t old = strlen(speller->declarator);
	snprintf(speller->declarator + old, sizeof speller->declarator - old, "%s", text);
}

/* Before "[...]" or "(...)" goes behind a pointer, the pointer has to be bracketed. */
static void bracket_pointer(struct speller *speller)
{
	char first = speller->declarator[0];
	if (first && first != '[' && first != '(') {
		put_before(speller, "(");
		put_behind(speller, ")");
	}
}

/* A constant bound; 0 if it is computed or not given. */
static int bound_of(Dwarf_Die *range, unsigned attribute, int64_t *ret_bound)
{
	Dwarf_Attribute found;
	Dwarf_Sword number;
	Dwarf_Word word;
	if (!dwarf_attr_integrate(range, attribute, &found))
		return 0;
	if (dwarf_whatform(&found) == DW_FORM_sdata || dwarf_whatform(&found) == DW_FORM_implicit_const) {
		if (dwarf_formsdata(&found, &number) != 0)
			return 0;
		*ret_bound = number;
		return 1;
	}
	if (dwarf_formudata(&found, &word) != 0)
		return 0;
	*ret_bound = (int64_t)word;
	return 1;
}

/* One dimension: "[100]" or "[]" in C, "100", "0:99" or ":" in Fortran. */
static void put_dimension(struct speller *speller, Dwarf_Die *range, char *text, size_t room)
{
	int fortran = speller->family == FAMILY_FORTRAN;
	int64_t low = fortran, upper = 0, count = 0;
	int has_low = bound_of(range, DW_AT_lower_bound, &low), known = bound_of(range, DW_AT_count, &count);
	if (!known && bound_of(range, DW_AT_upper_bound, &upper)) {
		known = upper < INT64_MAX;
		count = known ? (int64_t)((uint64_t)upper - (uint64_t)low + 1) : 0;
	} else if (known) {
		upper = (int64_t)((uint64_t)low + (uint64_t)count - 1);
	}
	if (fortran && !known)
		snprintf(text, room, ":");
	else if (fortran && has_low && low != 1)
		snprintf(text, room, "%lld:%lld", (long long)low, (long long)upper);
	else if (fortran)
		snprintf(text, room, "%lld", (long long)upper);
	else if (known)
		snprintf(text, room, "[%lld]", (long long)count);
	else
		snprintf(text, room, "[]");
}

/* Dimensions of one Rust array type: from the outermost inwards, so each goes before those so far. */
static void put_rust_dimension(struct speller *speller, const char *brackets)
{
	char text[64];
	snprintf(text, sizeof text, "; %.*s", (int)sizeof text - 4, brackets + 1);
	put_before(speller, text);
	speller->brackets++;
}

static void put_array(struct speller *speller, Dwarf_Die *array)
{
	Dwarf_Die child;
	char all[DECLARATOR_ROOM] = "", one[64];
	size_t used = 0, budget = 32; /* more dimensions than any language allows */
	int more = dwarf_child(array, &child) == 0;
	for (; more && budget; budget--, more = dwarf_siblingof(&child, &child) == 0) {
		int tag = dwarf_tag(&child);
		if ((tag != DW_TAG_subrange_type && tag != DW_TAG_enumeration_type) ||
		    used + sizeof one + 4 > sizeof all)
			continue;
		put_dimension(speller, &child, one, sizeof one);
		if (speller->family == FAMILY_RUST) {
			put_rust_dimension(speller, one);
			continue;
		}
		const char *comma = speller->family == FAMILY_FORTRAN && used ? "," : "";
		used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", comma, one);
	}
	if (speller->family == FAMILY_FORTRAN) {
		snprintf(one, sizeof one, "%s", used ? "(" : "(:");
		put_behind(speller, one);
		put_behind(speller, all);
		put_behind(speller, ")");
		return;
	}
	if (speller->family == FAMILY_RUST)
		return;
	bracket_pointer(speller);
	put_behind(speller, used ? all : "[]");
}

static const char *base_name(struct speller *speller, Dwarf_Die *type);

/* "app::point::*" */
static void put_member_pointer(struct speller *speller, Dwarf_Die *type)
{
	Dwarf_Die containing;
	put_before(speller, "::*");
	if (die_reference(type, DW_AT_containing_type, &containing)) {
		const char *name = base_name(speller, &containing);
		put_before(speller, name ? name : "");
	}
}

static const char *spell_type(struct nm_module *module, Dwarf_Die *type, enum family family, int nested);

static void put_parameters(struct speller *speller, Dwarf_Die *function)
{
	Dwarf_Die child, type;
	bracket_pointer(speller);
	put_behind(speller, "(");
	int count = 0, left = MOST_PARAMETERS,
	    more = speller->nested < NESTED && dwarf_child(function, &child) == 0;
	for (; more && left; left--, more = dwarf_siblingof(&child, &child) == 0) {
		const char *name = "...";
		if (die_flag(&child, DW_AT_artificial)) /* this */
			continue;
		if (dwarf_tag(&child) != DW_TAG_unspecified_parameters)
			name = die_reference(&child, DW_AT_type, &type)
				   ? spell_type(speller->module, &type, speller->family, speller->nested + 1)
				   : NULL;
		put_behind(speller, count++ ? ", " : "");
		put_behind(speller, name ? name : "?");
	}
	if (!count && speller->family == FAMILY_C)
		put_behind(speller, "void");
	put_behind(speller, more ? ", ...)" : ")");
}

static const char *qualifier_of(int tag)
{
	switch (tag) {
	case DW_TAG_const_type: return "const";
	case DW_TAG_volatile_type: return "volatile";
	case DW_TAG_restrict_type: return "restrict";
	case DW_TAG_atomic_type: return "_Atomic";
	default: return NULL;
	}
}

/* A qualifier of a pointer comes after its star, every other one before the base type. */
static void put_qualifier(struct speller *speller, const char *qualifier, int of_pointer)
{
	if (of_pointer) {
		if (speller->declarator[0] && speller->declarator[0] != '[')
			put_before(speller, " ");
		put_before(speller, qualifier);
	} else if (strstr(speller->qualifiers, qualifier)) {
		return; /* a const array of const elements */
	} else if (strlen(speller->qualifiers) + strlen(qualifier) + 2 < sizeof speller->qualifiers) {
		strcat(strcat(speller->qualifiers, qualifier), " ");
	}
}

/* Takes one step from a derived type towards its base.  0 if `type` is a base. */
static int step_to_base(struct speller *speller, Dwarf_Die *type, Dwarf_Die *target, int has_target)
{
	int tag = dwarf_tag(type);
	const char *qualifier = qualifier_of(tag);
	if (qualifier) {
		put_qualifier(speller, qualifier, has_target && dwarf_tag(target) == DW_TAG_pointer_type);
		return 1;
	}
	switch (tag) {
	case DW_TAG_pointer_type:
		if (speller->family == FAMILY_RUST && die_name(type))
			return 0;
		if (speller->family == FAMILY_FORTRAN)
			put_behind(speller, ", pointer");
		else
			put_before(speller, "*");
		return 1;
	case DW_TAG_reference_type: put_before(speller, "&"); return 1;
	case DW_TAG_rvalue_reference_type: put_before(speller, "&&"); return 1;
	case DW_TAG_ptr_to_member_type: put_member_pointer(speller, type); return 1;
	case DW_TAG_array_type: put_array(speller, type); return 1;
	case DW_TAG_subroutine_type: put_parameters(speller, type); return 1;
	default: return 0;
	}
}

/* C's name of a structure without a tag, "node" of "typedef struct { ... } node;", or NULL. */
static const char *typedef_name(Dwarf_Die *structure)
{
	struct die_walk walk;
	Dwarf_Die unit, target;

	if (!dwarf_diecu(structure, &unit, NULL, NULL))
		return NULL;
	die_walk_start(&walk, &unit, UINT32_MAX);
	for (int into_unit = 1; die_walk_next(&walk, into_unit); into_unit = 0) {
		Dwarf_Die *die = &walk.at[walk.depth];

		if (dwarf_tag(die) == DW_TAG_typedef && die_reference(die, DW_AT_type, &target) &&
		    target.addr == structure->addr)
			return die_name(die);
	}
	return NULL;
}

/* "frame of f(int)" for the frame of a coroutine, which g++ calls "_Z1fi.Frame"; or NULL. */
static const char *frame_type_name(struct nm_module *module, const char *name)
{
	const size_t length = strlen(name), behind = strlen(".Frame");
	const char *mangled;

	if (!is_mangled(name) || length <= behind || strcmp(name + length - behind, ".Frame"))
		return NULL;
	mangled = nm_intern_n(module_pool(module), name, length - behind);
	return mangled ? nm_intern_format(module_pool(module), "frame of %s",
					  demangle(module_pool(module), mangled))
		       : NULL;
}

/* "struct node", "std::vector<int>", "type(particle)": the name of a type that has one, interned. */
static const char *base_name(struct speller *speller, Dwarf_Die *type)
{
	const char *name = die_name(type), *keyword = "", *close = "";
	const char *frame = name ? frame_type_name(speller->module, name) : NULL;
	int tag = dwarf_tag(type), is_compound = 1;
	if (frame)
		return frame;
	if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
		keyword = "struct";
	else if (tag == DW_TAG_union_type)
		keyword = "union";
	else if (tag == DW_TAG_enumeration_type)
		keyword = "enum";
	else
		is_compound = 0;
	const char *alias = !name && is_compound && speller->family == FAMILY_C ? typedef_name(type) : NULL;
	name = name ? name : alias;
	char scope[DECLARATOR_ROOM] = "";
	if (name && (speller->family == FAMILY_CXX || speller->family == FAMILY_RUST) &&
	    tag != DW_TAG_base_type)
		die_scope(type, scope, sizeof scope);
	if (speller->family == FAMILY_FORTRAN && is_compound)
		keyword = "type(", close = ")";
	else if (alias || (speller->family != FAMILY_C && name))
		keyword = "";
	else if (is_compound)
		keyword = tag == DW_TAG_union_type         ? "union "
			  : tag == DW_TAG_enumeration_type ? "enum "
							   : "struct ";
	char length[40] = "";
	if (tag == DW_TAG_string_type && !name) {
		snprintf(length, sizeof length, "character(len=%" PRIu64 ")", type_bytes(type));
		name = length;
	}
	if (!name)
		name = is_compound ? "{...}" : "?";
	return nm_intern_format(module_pool(speller->module), "%s%s%s%s", keyword, scope, name, close);
}

static const char *spell_type(struct nm_module *module, Dwarf_Die *type, enum family family, int nested)
{
	struct speller speller = {.module = module, .family = family, .nested = nested};
	Dwarf_Die here = *type, target;
	int has_target = 1, steps = CHAIN_STEPS;
	for (; steps; steps--) {
		has_target = die_reference(&here, DW_AT_type, &target);
		if (!step_to_base(&speller, &here, &target, has_target) || !has_target)
			break;
		here = target;
	}
	int is_void = !has_target && steps &&
		      (qualifier_of(dwarf_tag(&here)) || dwarf_tag(&here) == DW_TAG_pointer_type ||
		       dwarf_tag(&here) == DW_TAG_subroutine_type);
	const char *base = is_void ? "void" : base_name(&speller, &here);
	if (!base || !steps)
		return NULL;
	char open[CHAIN_STEPS + 1] = "";
	memset(open, '[', speller.brackets < CHAIN_STEPS ? speller.brackets : CHAIN_STEPS);
	int joined =
	    !speller.declarator[0] || strchr("[;,", speller.declarator[0]) || family == FAMILY_FORTRAN;
	return nm_intern_format(module_pool(module), "%s%s%s%s%s", open, speller.qualifiers, base,
				joined ? "" : " ", speller.declarator);
}

const char *type_spelled(struct nm_module *module, Dwarf_Die *type, int language)
{
	return spell_type(module, type, family_of(language), 0);
}

const char *type_name(struct nm_module *module, Dwarf_Die *variable, int language)
{
	Dwarf_Die type;
	if (!die_reference(variable, DW_AT_type, &type))
		return NULL;
	return spell_type(module, &type, family_of(language), 0);
}
