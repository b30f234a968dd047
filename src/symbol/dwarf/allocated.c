/* SPDX-License-Identifier: MIT
 *
 * allocated.c - the type of a heap block, from the call that allocates it.
 *
 * DWARF does not say what an expression is assigned to, so the type is inferred from the first of these that
 * is found, for each function at the call, inlined ones first:
 *   1. The template argument of the class, if the function is "allocate" of a C++ allocator.
 *   2. The pointer that the source assigns the call to ("x = ", "t->x = ", "t->x[i] = "), or else one that is
 *      declared on the line. The block must be a multiple of its target's size, or be pages that hold one.
 *   3. The only structure of exactly the block's size to which pointers in scope lead: parameters, locals,
 *      variables of the unit, their members, members of what these lead to, and the function's result.
 * A function that returns void * passes the block on, so its caller is asked next. Anything else ends the
 * search: no structure is guessed from far away. Candidates that disagree are no evidence.
 *
 * In Fortran it is the element of the arrays that the line allocates, "allocate(a(n), g%u(m))", if they agree.
 *
 * In Rust, generic functions of the standard library allocate. RawVec<T>, below Vec, String and boxed slices,
 * gives an array of T. Others of the crate alloc (Box, Rc, Arc, nodes of B-trees) give T, or the target of
 * the returned pointer if that is a structure of exactly the block's size: for Rc<T>, its box with the
 * counts. Other functions of the library pass the block on. Those of programs follow the rules above, except
 * for source lines. A hash table has a type of its own without fields, hashbrown::raw::RawTable<T>: after its
 * elements it holds bytes of another kind.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "dwarf/die.h"
#include "source/assigned.h"
#include "symbol_priv.h"

enum { RUST_HOPS = 4, HOPS = 2, MOST_CANDIDATES = 4096, MOST_ENTRIES = 65536, PAGE = 4096 };

/* A variable or member in scope that is a pointer or has some inside. */
struct candidate {
	const char *name;
	uint32_t line; /* of its declaration, for locals */
	Dwarf_Die type;
};

struct search {
	struct nm_module *module;
	struct unit *unit;
	uint64_t bytes;
	int is_rounded; /* up to whole pages: mmap was asked for a number of elements */
	struct nm_vec(struct candidate) list;
	struct nm_map visited; /* structures whose members are in the list */
	const struct nm_type *found;
};

/* ---- candidates ---- */

static void add_members(struct search *s, Dwarf_Die *structure, int hops);

static unsigned array_dimensions(Dwarf_Die *array)
{
	unsigned n = 0, budget = MOST_CANDIDATES;
	Dwarf_Die child;

	if (dwarf_child(array, &child))
		return 1;
	do
		n += dwarf_tag(&child) == DW_TAG_subrange_type;
	while (--budget && dwarf_siblingof(&child, &child) == 0);
	return n;
}

enum { LEADS_NOWHERE, LEADS_ON, LEADS_TO_VOID };

/* What is assigned to, after so many subscripts and stars, is a pointer: to what? */
static int lead_to(Dwarf_Die type, unsigned steps, Dwarf_Die *ret_target)
{
	if (!type_peel(&type, 0))
		return LEADS_NOWHERE;
	while (steps) {
		int tag = dwarf_tag(&type);
		unsigned taken = tag == DW_TAG_array_type ? array_dimensions(&type) : 1;

		if ((tag != DW_TAG_array_type && tag != DW_TAG_pointer_type) || taken > steps ||
		    !die_reference(&type, DW_AT_type, &type) || !type_peel(&type, 0))
			return LEADS_NOWHERE;
		steps -= taken;
	}
	if (dwarf_tag(&type) != DW_TAG_pointer_type)
		return LEADS_NOWHERE;
	if (!die_reference(&type, DW_AT_type, ret_target) || !type_peel(ret_target, 0))
		return LEADS_TO_VOID;
	return LEADS_ON;
}

/* A variable or member that is a pointer, or an array of them; or a structure with such members. */
static void add_pointer(struct search *s, Dwarf_Die *die, uint32_t line, int hops)
{
	struct candidate c = {.name = die_name(die), .line = line};
	Dwarf_Die inside;
	int pointers = 0;

	if (s->list.count >= MOST_CANDIDATES || !die_reference(die, DW_AT_type, &c.type))
		return;
	if (type_peel(&c.type, 0) && dwarf_tag(&c.type) == DW_TAG_reference_type &&
	    !die_reference(&c.type, DW_AT_type, &c.type))
		return;
	inside = c.type;
	while (type_peel(&inside, 1) && dwarf_tag(&inside) == DW_TAG_pointer_type) {
		pointers++;
		if (!die_reference(&inside, DW_AT_type, &inside))
			break;
	}
	if (pointers && nm_vec_push(&s->list, c))
		return;
	if (type_is_structure(&inside) && (!pointers || hops))
		add_members(s, &inside, hops - !!pointers);
}

static void add_members(struct search *s, Dwarf_Die *structure, int hops)
{
	uint64_t key = (uintptr_t)structure->addr, budget = MOST_CANDIDATES;
	Dwarf_Die child;

	if (nm_map_get(&s->visited, key, 0) > (uint64_t)hops)
		return;
	if (nm_map_put(&s->visited, key, (uint64_t)hops + 1) || dwarf_child(structure, &child))
		return;
	do
		if (dwarf_tag(&child) == DW_TAG_member && !die_flag(&child, DW_AT_external))
			add_pointer(s, &child, 0, hops);
	while (--budget && dwarf_siblingof(&child, &child) == 0);
}

/* The parameters and variables of a function; those of inlined functions are in their common origin. */
static void add_locals(struct search *s, const Dwarf_Die *function)
{
	struct die_walk walk;
	Dwarf_Die root = *function, origin;
	int descend = 1;

	if (die_reference(&root, DW_AT_abstract_origin, &origin))
		root = origin;
	die_walk_start(&walk, &root, MOST_ENTRIES);
	while (die_walk_next(&walk, descend)) {
		Dwarf_Die *die = &walk.at[walk.depth];
		int tag = dwarf_tag(die);

		descend = tag == DW_TAG_lexical_block;
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			add_pointer(s, die, (uint32_t)die_number(die, DW_AT_decl_line), HOPS);
	}
}

static void add_globals(struct search *s)
{
	uint64_t budget = MOST_ENTRIES;
	Dwarf_Die child;

	if (dwarf_child(&s->unit->body, &child))
		return;
	do
		if (dwarf_tag(&child) == DW_TAG_variable)
			add_pointer(s, &child, 0, HOPS);
	while (--budget && dwarf_siblingof(&child, &child) == 0);
}

/* ---- 1: allocators of C++ ---- */

/* The class that a method is of, by its parameter `this`. */
int function_class(const Dwarf_Die *function, Dwarf_Die *ret_class)
{
	Dwarf_Die root = *function, origin, child;

	if (die_reference(&root, DW_AT_abstract_origin, &origin))
		root = origin;
	if (dwarf_child(&root, &child))
		return 0;
	do {
		const char *name = die_name(&child);

		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			return name && !strcmp(name, "this") &&
			       die_reference(&child, DW_AT_type, ret_class) && type_peel(ret_class, 0) &&
			       die_reference(ret_class, DW_AT_type, ret_class) && type_peel(ret_class, 0);
	} while (dwarf_siblingof(&child, &child) == 0);
	return 0;
}

/* The first type that a class or function is instantiated with, or that of a name. */
static int type_argument(Dwarf_Die *generic, const char *wanted, Dwarf_Die *ret_type)
{
	uint64_t budget = MOST_ENTRIES;
	Dwarf_Die child;

	if (dwarf_child(generic, &child))
		return 0;
	do
		if (dwarf_tag(&child) == DW_TAG_template_type_parameter &&
		    (!wanted || (die_name(&child) && !strcmp(die_name(&child), wanted))))
			return die_reference(&child, DW_AT_type, ret_type) && type_peel(ret_type, 1);
	while (--budget && dwarf_siblingof(&child, &child) == 0);
	return 0;
}

/* Numbers and pointers: a type without fields. */
static enum nm_allocated judge_plain(struct search *s, Dwarf_Die *target, uint64_t each)
{
	static const struct nm_field none;
	struct nm_type plain = {.bytes = each, .fields = &none};
	const int tag = dwarf_tag(target);

	if (each && s->bytes % each == 0 &&
	    (tag == DW_TAG_base_type || tag == DW_TAG_pointer_type || tag == DW_TAG_enumeration_type))
		plain.name = type_spelled(s->module, target, s->unit->language);
	s->found = plain.name ? type_intern(s->module->store, &plain) : NULL;
	return NM_ALLOCATED_OTHER;
}

/* Is a block of the target's type, or an array of it, what was allocated? In C++ the number of elements may
 * stand before them. */
static enum nm_allocated judge_type(struct search *s, Dwarf_Die *target)
{
	uint64_t each = type_bytes(target);

	if (!type_is_structure(target))
		return judge_plain(s, target, each);
	if (type_flexible(s->module, target, s->unit->language, s->bytes, &s->found))
		return s->found ? NM_ALLOCATED_STRUCTURE : NM_ALLOCATED_OTHER;
	if (!each || s->bytes < each ||
	    (s->bytes % each && !s->is_rounded &&
	     (!is_cxx(s->unit->language) || (s->bytes - NM_COUNT_BYTES) % each)))
		return NM_ALLOCATED_UNKNOWN;
	s->found = type_of(s->module, target, s->unit->language);
	return s->found ? NM_ALLOCATED_STRUCTURE : NM_ALLOCATED_OTHER;
}

static enum nm_allocated by_allocator(struct search *s, struct frame *frame)
{
	const char *name = die_name(&frame->die), *of;
	Dwarf_Die class, argument;

	if (name &&
	    (!strncmp(name, "make_unique<", 12) || !strncmp(name, "make_unique_for_overwrite<", 26))) {
		Dwarf_Die root = frame->die, origin;

		if (die_reference(&root, DW_AT_abstract_origin, &origin))
			root = origin;
		return type_argument(&root, "_Tp", &argument) ? judge_type(s, &argument)
							      : NM_ALLOCATED_UNKNOWN;
	}
	if (!name || strcmp(name, "allocate") || !function_class(&frame->die, &class))
		return NM_ALLOCATED_UNKNOWN;
	of = die_name(&class);
	if (!of || !strstr(of, "allocator") || !type_argument(&class, NULL, &argument))
		return NM_ALLOCATED_UNKNOWN;
	return judge_type(s, &argument);
}

/* ---- 2: the line ---- */

/* All pointers of this name, or declared on this line: what they lead to, if they agree. A pointer to void
 * agrees with every other and is no evidence. */
static enum nm_allocated agreed_type(struct search *s, const char *name, unsigned steps, uint32_t line)
{
	Dwarf_Die target = {0}, other;

	for (size_t i = 0; i < s->list.count; i++) {
		const struct candidate *c = &s->list.at[i];

		if ((name ? !c->name || strcmp(c->name, name) : !line || c->line != line) ||
		    lead_to(c->type, steps, &other) != LEADS_ON)
			continue;
		if (target.addr && target.addr != other.addr)
			return NM_ALLOCATED_UNKNOWN;
		target = other;
	}
	return target.addr ? judge_type(s, &target) : NM_ALLOCATED_UNKNOWN;
}

static enum nm_allocated by_line(struct search *s, const char *file, uint32_t line, uint32_t column)
{
	struct statement_call call = {.column = column};
	char text[STATEMENT_ROOM], word[ASSIGNED_ROOM];
	enum nm_allocated what = NM_ALLOCATED_UNKNOWN;
	unsigned steps;

	if (statement_read(file, line, text, &call.line)) {
		call.text = text;
		s->is_rounded = s->bytes % PAGE == 0 && statement_counts(&call);
		if (statement_pointer(&call, word, &steps))
			what = agreed_type(s, word, steps, 0);
	}
	what = what == NM_ALLOCATED_UNKNOWN ? agreed_type(s, NULL, 0, line) : what;
	s->is_rounded = 0;
	return what;
}

/* ---- Fortran ---- */

/* The member or local, global or outer variable of a name, which Fortran writes in any case. 1 if there is one. */
static int named_child(Dwarf_Die *parent, const char *name, size_t n, Dwarf_Die *ret_child)
{
	unsigned budget = MOST_ENTRIES;
	Dwarf_Die child;

	if (dwarf_child(parent, &child))
		return 0;
	do {
		const char *own = die_name(&child);

		if (own && strlen(own) == n && !strncasecmp(own, name, n) &&
		    dwarf_tag(&child) != DW_TAG_subprogram) {
			*ret_child = child;
			return 1;
		}
	} while (--budget && dwarf_siblingof(&child, &child) == 0);
	return 0;
}

/* The element of the array that an item names, "a" or "grid%u". */
static int element_of(struct search *s, Dwarf_Die *scopes, int scope_count, const char *item,
		      Dwarf_Die *ret_type)
{
	size_t n = strcspn(item, "%( \t");
	Dwarf_Die at;
	int found = 0;

	for (int i = 0; i < scope_count && !found; i++)
		found = named_child(&scopes[i], item, n, &at);
	found = found || named_child(&s->unit->body, item, n, &at);
	for (; found; found = named_child(ret_type, item, n = strcspn(item, "%( \t"), &at)) {
		if (!die_reference(&at, DW_AT_type, ret_type))
			return 0;
		while (type_peel(ret_type, 1) && dwarf_tag(ret_type) == DW_TAG_pointer_type)
			if (!die_reference(ret_type, DW_AT_type, ret_type))
				return 0;
		item += n;
		if (*item == '(')
			item += strcspn(item, ")") + 1;
		item += strspn(item, " \t");
		if (*item++ != '%')
			return 1;
	}
	return 0;
}

/* All arrays that the line allocates: their element, if they agree. */
static enum nm_allocated by_allocate(struct search *s, const struct frame *frame, const char *file,
				     uint32_t line)
{
	char text[STATEMENT_ROOM];
	Dwarf_Die target = {0}, other, *scopes = NULL, root = frame->die;
	size_t at;
	const char *item = statement_read(file, line, text, &at) ? strcasestr(text + at, "allocate(") : NULL;
	int depth = 0, scope_count = item ? dwarf_getscopes_die(&root, &scopes) : 0;

	for (item = item ? item + strlen("allocate(") : NULL; item && *item && depth >= 0; item++) {
		item += strspn(item, " \t&\n");
		if (!element_of(s, scopes, scope_count, item, &other) ||
		    (target.addr && target.addr != other.addr)) {
			target.addr = NULL;
			break;
		}
		target = other;
		for (; *item && depth >= 0 && (depth || *item != ','); item++)
			depth += (*item == '(') - (*item == ')');
		item -= !*item;
	}
	free(scopes);
	return target.addr ? judge_type(s, &target) : NM_ALLOCATED_UNKNOWN;
}

/* ---- 3: the size ---- */

static enum nm_allocated by_size(struct search *s)
{
	enum { MOST_STARS = 3 };
	const struct nm_type *only = NULL, *type;
	Dwarf_Die target;

	for (size_t i = 0; i < s->list.count; i++)
		for (unsigned steps = 0; steps < MOST_STARS; steps++) {
			if (lead_to(s->list.at[i].type, steps, &target) != LEADS_ON ||
			    !type_is_structure(&target) || type_bytes(&target) != s->bytes)
				continue;
			type = type_of(s->module, &target, s->unit->language);
			if (!type || (only && type != only))
				return NM_ALLOCATED_UNKNOWN;
			only = type;
		}
	s->found = only;
	return only ? NM_ALLOCATED_STRUCTURE : NM_ALLOCATED_UNKNOWN;
}

/* What the function returns is one more candidate; 1 if that is void *, so that the block is the caller's. */
static int add_returned(struct search *s, Dwarf_Die *function)
{
	Dwarf_Die type, target;

	add_pointer(s, function, 0, HOPS);
	return die_reference(function, DW_AT_type, &type) && lead_to(type, 0, &target) == LEADS_TO_VOID;
}

/* ---- Rust ---- */

static int is_of_library(const char *function)
{
	static const char *const crates[] = {"alloc::", "core::", "std::", "hashbrown::", "__r"};

	function += *function == '<';
	for (size_t i = 0; i < sizeof crates / sizeof *crates; i++)
		if (!strncmp(function, crates[i], strlen(crates[i])))
			return 1;
	return 0;
}

/* The type of a whole hash table. */
static enum nm_allocated judge_table(struct search *s, Dwarf_Die *element)
{
	static const struct nm_field none;
	struct nm_type table = {.bytes = s->bytes, .fields = &none};
	const char *of = type_spelled(s->module, element, s->unit->language);

	if (!of || !s->bytes)
		return NM_ALLOCATED_UNKNOWN;
	table.name = nm_symbols_format(s->module->store, "hashbrown::raw::RawTable<%s>", of);
	s->found = table.name ? type_intern(s->module->store, &table) : NULL;
	return NM_ALLOCATED_OTHER;
}

/* A function of Rust's library. */
static enum nm_allocated by_type_argument(struct search *s, struct frame *frame, const char *function)
{
	Dwarf_Die root = frame->die, origin, argument;
	int known;

	if (die_reference(&root, DW_AT_abstract_origin, &origin))
		root = origin;
	known = type_argument(&root, "T", &argument);
	if (strstr(function, "raw_vec::"))
		return known ? judge_type(s, &argument) : NM_ALLOCATED_UNKNOWN;
	if (strstr(function, "hashbrown::raw::RawTable<"))
		return known ? judge_table(s, &argument) : NM_ALLOCATED_UNKNOWN;
	if (strncmp(function + (*function == '<'), "alloc::", 7))
		return NM_ALLOCATED_UNKNOWN;
	if (known && type_is_structure(&argument) && type_bytes(&argument) == s->bytes)
		return judge_type(s, &argument);
	add_pointer(s, &root, 0, RUST_HOPS); /* what it returns */
	return by_size(s);
}

static void empty_search(struct search *s)
{
	s->list.count = 0;
	nm_map_done(&s->visited);
}

/* One function at the call.  *ret_on: its caller may know more. */
static enum nm_allocated ask_frame(struct search *s, struct frame *frame, const char *file, uint32_t line,
				   uint32_t column, int *ret_on)
{
	const char *function = frame_name(s->module, s->unit, frame);
	enum nm_allocated what = by_allocator(s, frame);
	int hands_on;

	*ret_on = 1;
	if (s->unit->language == DW_LANG_Rust && function && is_of_library(function)) {
		what = by_type_argument(s, frame, function);
		empty_search(s);
		return what;
	}
	if (what != NM_ALLOCATED_UNKNOWN || !function || !strncmp(function, "std::", 5) ||
	    !strncmp(function, "__gnu_cxx::", 11) || !strncmp(function, "operator new", 12))
		return what;
	if (is_fortran(s->unit->language)) {
		what = by_allocate(s, frame, file, line);
		*ret_on = 0;
		return what;
	}
	hands_on = add_returned(s, &frame->die);
	add_locals(s, &frame->die);
	add_globals(s);
	if (s->unit->language != DW_LANG_Rust)
		what = by_line(s, file, line, column);
	if (what == NM_ALLOCATED_UNKNOWN && !hands_on)
		what = by_size(s);
	*ret_on = hands_on;
	empty_search(s);
	return what;
}

enum nm_allocated module_allocated(struct nm_module *module, uint64_t vaddr, uint64_t bytes,
				   const struct nm_type **ret_type)
{
	struct search s = {.module = module, .unit = unit_at(module, vaddr), .bytes = bytes};
	enum nm_allocated what = NM_ALLOCATED_UNKNOWN;
	const struct line_row *row;
	const struct span *span;
	const char *file;
	uint32_t line, column;
	int on = 1;

	if (!s.unit)
		return NM_ALLOCATED_UNKNOWN;
	unit_read_lines(module, s.unit);
	unit_read_frames(module, s.unit);
	row = unit_line_at(s.unit, vaddr);
	file = row ? row->file : NULL;
	line = row ? row->line : 0;
	column = row ? row->column : 0;
	span = spans_find(&s.unit->code, vaddr);
	for (uint32_t id = span ? span->id : NO_ID; id != NO_ID && on && what == NM_ALLOCATED_UNKNOWN;) {
		struct frame *frame = &s.unit->frames.at[id];

		what = ask_frame(&s, frame, file, line, column, &on);
		if (frame->parent != NO_ID)
			frame_call(module, frame, &file, &line);
		column = (uint32_t)die_number(&frame->die, DW_AT_call_column);
		id = frame->parent;
	}
	nm_vec_free(&s.list);
	*ret_type = s.found;
	return what == NM_ALLOCATED_UNKNOWN && !on ? NM_ALLOCATED_OTHER : what;
}
