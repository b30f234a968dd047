/* SPDX-License-Identifier: MIT
 *
 * call_names.c - what a block of the heap or a mapping is called, by the chain of calls that asked for it.
 *
 * The telling call is the first one, from the inside out, that means something to the programmer: not in the
 * allocator, not in a function that only forwards to it (by evidence, contexts.h, by name, or because the
 * user says so), not in the plumbing of a language's library, not in a method of a class template (a
 * container: its caller knows what for), not in a C library function that allocates on somebody's behalf. The
 * name is what the source assigns the call's result to, else the type of the block, else the function; and
 * the line.
 */
#include "call_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "namer.h"
#include "site_facts.h"
#include "user_code.h"

enum { MAX_INLINED = 16, NAME_ROOM = 4200 };

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Is a function called so, apart from its parameters and template arguments? */
static int is_called(const char *name, const char *told, size_t length)
{
	const char *end = told + length;
	int depth = 0;

	for (; *name && (depth || *name != '('); name++) {
		depth += *name == '<';
		if (!depth && (told == end || *name != *told++))
			return 0;
		depth -= depth && *name == '>';
	}
	return told == end;
}

/* Did the user say that a function allocates for its callers? A pool's size may follow its name. */
static int is_told(const struct nm_namer *namer, const char *name)
{
	for (size_t i = 0; i < namer->allocator_count; i++)
		if (is_called(name, namer->allocators[i], strlen(namer->allocators[i])))
			return 1;
	for (size_t i = 0; i < namer->pool_count; i++) {
		const char *told = namer->pools[i], *end = told + strlen(told), *digits = end;

		while (digits > told && digits[-1] >= '0' && digits[-1] <= '9')
			digits--;
		if (digits > told && digits < end && strchr(":=", digits[-1]))
			end = digits - 1;
		if (is_called(name, told, (size_t)(end - told)))
			return 1;
	}
	return 0;
}

/* Functions that by their name hand out memory on somebody's behalf, and that the evidence may miss: they
 * write a header into the block or clear it, or they were inlined. */
static int is_allocation_wrapper(const struct nm_namer *namer, const char *function)
{
	static const char *const words[] = {
	    "malloc",   "calloc",    "zalloc",    "realloc",       "memalign",   "strdup",      "strndup",
	    "memdup",   "objalloc",  "obstack",   "slice_alloc",   "pool_alloc", "arena_alloc", "palloc",
	    "newchunk", "new_chunk", "bfd_alloc", "hash_allocate", "pstrcat",    "psprintf",    NULL};
	const char *name = nm_name_proper(function);
	size_t length = strcspn(name, "(<");

	if (is_told(namer, name))
		return 1;
	for (const char *s = name; s < name + length; s++)
		for (size_t i = 0; words[i]; i++)
			if (!strncasecmp(s, words[i], strlen(words[i])))
				return 1;
	return 0;
}

/* One call instruction of a chain: where it stands in the source. */
struct call_place {
	struct nm_source_position positions[MAX_INLINED];
	size_t count;
	struct nm_module *module; /* or NULL */
	uint64_t vaddr;
};

static void find_call(struct nm_namer *namer, uint64_t pc, struct call_place *place)
{
	uint64_t id = nm_map_get(&namer->attrs->instruction_of_pc, pc, UINT64_MAX);
	const struct nm_mapping *m;

	*place = (struct call_place){0};
	if (id != UINT64_MAX) {
		place->module = namer->attrs->instructions.at[id].module;
		place->vaddr = pc - namer->attrs->instructions.at[id].bias;
	} else if ((m = nm_space_mapping(namer->space, pc))) { /* called before the fork */
		place->module = m->module;
		place->vaddr = pc - m->bias;
	}
	if (!place->module)
		return;
	place->count = nm_module_source_positions(place->module, place->vaddr, place->positions, MAX_INLINED);
}

/* Code without debug information, of which only the machine code tells what it does with a pointer. */
static int is_bare(const struct call_place *place)
{
	return place->count && !place->positions[place->count - 1].file;
}

/* Does this place say what the memory is for? */
static int is_meaningful(const struct nm_namer *namer, const struct nm_source_position *p)
{
	if (!p->function || nm_is_nameless_function(p->function) || nm_is_library_function(p->function) ||
	    is_allocation_wrapper(namer, p->function))
		return 0;
	return !p->file || strncmp(p->file, "/usr/include/", 13) || !strstr(p->file, "/bits/");
}

/* A method of a class template, "vec<int>::push(int const&)"; without debug information a function template,
 * too: what it assigns the block to is not known, but may be its caller's. */
static int is_container(const char *function, int bare)
{
	const char *name = nm_name_proper(function);
	int depth = 0;

	for (const char *at = name; *at && (depth || *at != '('); at++) {
		depth += (*at == '<') - (*at == '>');
		if (!depth && *at == '>' && at > name &&
		    (!strncmp(at + 1, "::", 2) || (bare && at[1] == '(')))
			return 1;
	}
	return 0;
}

static int same_name(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

/* How many of the innermost functions at a call, all inlined, control had left when the block was used: from
 * the outside in, the two places part where one stands in an inlined function and the other does not. */
static size_t inlined_forwarders(struct nm_namer *namer, const struct call_place *call, uint64_t used)
{
	const struct nm_source_position *at = call->positions;
	struct call_place use;
	size_t i = call->count, j;

	if (!used || i < 2)
		return 0;
	find_call(namer, used, &use);
	j = use.count;
	if (!j || use.module != call->module || !same_name(at[i - 1].function, use.positions[j - 1].function))
		return 0;
	while (i > 1 && j > 1 && at[i - 1].line == use.positions[j - 1].line &&
	       same_name(at[i - 2].function, use.positions[j - 2].function)) {
		i--;
		j--;
	}
	return i - 1;
}

/* The call that tells: which of its functions, and the function that it calls. */
struct telling_call {
	struct call_place place;
	unsigned position;
	const char *callee; /* or NULL */
	uint32_t level;
	unsigned argument; /* from 1: that the callee hands the block out through; 0: it returns it */
	uint64_t site; /* hash of the sites that tell blocks apart which the source does not; 0: it does */
};

static int same_position(const struct nm_source_position *p, const struct nm_source_position *s)
{
	return p->line == s->line && same_name(p->file, s->file) && same_name(p->function, s->function);
}

/* How many calls of the same line come before this one in the code: gfortran gives all arrays of an ALLOCATE
 * one column. */
static unsigned order_of(struct nm_namer *namer, const struct telling_call *call)
{
	const char *file = call->place.positions[call->position].file,
		   *dot = file ? strrchr(file, '.') : NULL;
	struct nm_map seen = {0};
	unsigned order = 0;

	if (!dot || (dot[1] != 'f' && dot[1] != 'F'))
		return 0;
	for (size_t i = 0; i < namer->contexts->list.count; i++) {
		const struct nm_context *c = &namer->contexts->list.at[i];
		struct call_place other;

		if (call->level >= c->count)
			continue;
		find_call(namer, c->pcs[call->level], &other);
		if (other.module != call->place.module || other.vaddr >= call->place.vaddr ||
		    call->position >= other.count ||
		    !same_position(&other.positions[call->position],
				   &call->place.positions[call->position]) ||
		    nm_map_get(&seen, other.vaddr, 0))
			continue;
		order++;
		if (nm_map_put(&seen, other.vaddr, 1))
			break;
	}
	nm_map_done(&seen);
	return order;
}

static struct nm_assigned assigned_by(struct nm_namer *namer, const struct telling_call *call)
{
	return nm_module_assigned(call->place.module, call->place.vaddr,
				  &(struct nm_call_place){.position = call->position,
							  .order = order_of(namer, call),
							  .callee = call->callee,
							  .argument = call->argument});
}

/* Does the function at a bare call hand the block on to its caller? It does if the code returns it, unless all
 * blocks are alike and small: then it makes nodes of a structure. Where the code does not tell, evidence does; code
 * that writes the pointer to memory keeps it, unless many call it for blocks of any size; or several, where a name of
 * the function would say nothing: it is a container's, in which all arrays grow. */
static int bare_forwards(struct nm_namer *namer, const struct nm_context *c, uint32_t level,
			 const struct call_place *place, int by_evidence)
{
	const struct nm_site_facts facts =
	    nm_site_facts_of(&namer->site_table, namer->space, namer->contexts, c->pcs[level]);
	const enum nm_stored_kind kind = nm_stored_result(&namer->stores, place->module, place->vaddr).kind;
	struct call_place caller = {0};

	if (level + 1 < c->count)
		find_call(namer, c->pcs[level + 1], &caller);
	if (is_bare(&caller) && nm_stored_result(&namer->stores, caller.module, caller.vaddr).is_ignored)
		return kind == NM_STORED_MEMORY && by_evidence && facts.varies && facts.callers > 1 &&
		       nm_is_nameless_function(place->positions[0].function);
	switch (kind) {
	case NM_STORED_VARIABLE: return 0;
	case NM_STORED_RETURNED: return by_evidence || facts.varies || facts.largest >= NM_LARGE_BLOCK;
	case NM_STORED_MEMORY: return by_evidence && facts.varies && facts.callers == NM_SITE_CALLERS;
	default: return by_evidence;
	}
}

/* How many functions at a call hand the block on, from the inside. */
static size_t count_forwarders(struct nm_namer *namer, const struct nm_context *c, uint32_t level,
			       unsigned from, const struct call_place *place)
{
	if (is_bare(place))
		return (size_t)bare_forwards(namer, c, level, place, level < from);
	if (level < from)
		return place->count;
	return level == from && from < NM_FORWARD_LEVELS ? inlined_forwarders(namer, place, c->used[from])
							 : 0;
}

/* The same in every run. */
static uint64_t hash_site(uint64_t before, const struct call_place *place)
{
	uint64_t hash = before ^ place->vaddr;

	for (const char *name = nm_module_name(place->module); *name; name++)
		hash = nm_mix64(hash ^ (unsigned char)*name);
	return nm_mix64(hash);
}

/* 1 if there is one; a container's when nothing outside it tells. Of code without debug information the innermost
 * site that does not hand the block on counts, too: *ret_call is that if no other tells. */
static int find_telling(struct nm_namer *namer, const struct nm_context *c, unsigned from,
			struct telling_call *ret_call)
{
	struct call_place place;
	const char *called = NULL; /* the function that the next call enters */
	uint64_t inner = 0;
	int found = 0;

	*ret_call = (struct telling_call){0};
	for (uint32_t level = 0; level < c->count; level++) {
		size_t forwards = 0; /* of the functions at this call */
		int is_own, bare;

		find_call(namer, c->pcs[level], &place);
		is_own = place.count && !nm_is_system_library(nm_module_name(place.module));
		bare = is_own && is_bare(&place);
		forwards = is_own ? count_forwarders(namer, c, level, from, &place) : 0;
		for (size_t i = 0; is_own && i < place.count; i++) {
			const char *function = place.positions[i].function;
			struct telling_call call = {.place = place,
						    .position = (unsigned)i,
						    .callee = i ? place.positions[i - 1].function : called,
						    .level = level};
			const int means = is_meaningful(namer, &place.positions[i]);
			const int contains = means && is_container(function, bare);

			if (bare && !forwards && !inner &&
			    (contains || (function && nm_is_nameless_function(function)))) {
				inner = hash_site(0, &place);
				*ret_call = found ? *ret_call : call;
			}
			if (!means || (contains && found) ||
			    (i < forwards && (bare || !assigned_by(namer, &call).keeps)))
				continue;
			call.site = bare || inner ? hash_site(inner, &place) : 0;
			*ret_call = call;
			found = 1;
			if (!contains)
				return 1;
		}
		called = place.count ? place.positions[place.count - 1].function : NULL;
	}
	return found;
}

/* "WORDS (file:line)"; where that is not known, "WORDS (function+0x1a)" for a variable, else "WORDS+0x1a
 * (module)". */
static int put_place(struct nm_namer *namer, const char *words, int is_variable,
		     const struct telling_call *call, struct nm_call_name *ret)
{
	const struct nm_source_position *p = &call->place.positions[call->position];
	const char *module = nm_module_name(call->place.module);
	unsigned long long offset = 0;
	struct nm_function f;
	char text[NAME_ROOM];

	if (nm_module_function(call->place.module, call->place.vaddr, &f))
		offset = call->place.vaddr - f.low;
	if (p->file) {
		snprintf(text, sizeof text, "%s:%u", p->file, p->line);
		ret->at = nm_symbols_intern(namer->symbols, text);
		snprintf(text, sizeof text, "%s (%s:%u)", words, base_name(p->file), p->line);
	} else if (is_variable) {
		snprintf(text, sizeof text, "%s (%s+0x%llx)", words, p->function, offset);
	} else {
		snprintf(text, sizeof text, "%s+0x%llx (%s)", words, offset, module);
	}
	ret->site = call->site;
	ret->name = nm_symbols_intern(namer->symbols, text);
	return ret->name ? 0 : NM_ENOMEM;
}

/* Nothing tells: the innermost call that may. */
static int put_address(struct nm_namer *namer, const char *prefix, const struct telling_call *call,
		       struct nm_call_name *ret)
{
	const struct call_place *place = &call->place;
	char text[NAME_ROOM];

	if (place->count && place->positions[0].function &&
	    !nm_is_nameless_function(place->positions[0].function)) {
		snprintf(text, sizeof text, "%s %s", prefix, place->positions[0].function);
		return put_place(namer, text, 0, call, ret);
	}
	if (place->module)
		snprintf(text, sizeof text, "%s %s+0x%llx", prefix, nm_module_name(place->module),
			 (unsigned long long)place->vaddr);
	else
		snprintf(text, sizeof text, "%s <unknown caller>", prefix);
	ret->name = nm_symbols_intern(namer->symbols, text);
	return ret->name ? 0 : NM_ENOMEM;
}

/* The call at a level of a chain, as far as it exists. */
static struct telling_call call_at(struct nm_namer *namer, const struct nm_context *c, unsigned level)
{
	struct telling_call call = {0};

	if (level < c->count)
		find_call(namer, c->pcs[level], &call.place);
	return call;
}

int nm_namer_pool(struct nm_namer *namer, uint64_t entry, struct nm_call_name *ret)
{
	const struct nm_context function = {.pcs = &entry, .count = 1};
	const struct telling_call call = call_at(namer, &function, 0);

	*ret = (struct nm_call_name){0};
	return put_address(namer, "pool", &call, ret);
}

/* "a", "state+0x8": the variable that the machine code behind the telling call stores the block in, or NULL. */
static const char *stored_in(struct nm_namer *namer, const struct telling_call *call)
{
	struct nm_stored stored = {0};
	char text[NAME_ROOM];

	if (call->position + 1 ==
	    call->place.count) /* code of inlined functions is mixed with their callers' */
		stored = nm_stored_result(&namer->stores, call->place.module, call->place.vaddr);
	if (stored.kind != NM_STORED_VARIABLE || !stored.offset)
		return stored.kind == NM_STORED_VARIABLE ? stored.name : NULL;
	snprintf(text, sizeof text, "%s+0x%llx", stored.name, (unsigned long long)stored.offset);
	return nm_symbols_intern(namer->symbols, text);
}

/* Is it memory that Go's run-time system has mapped? Its allocator, which no call of malloc shows, shares it out. */
static int is_gos(const struct nm_source_position *position)
{
	const char *end = position->file ? strrchr(position->file, '.') : NULL;

	return end && !strcmp(end, ".go") && position->function &&
	       !strncmp(position->function, "runtime.", 8);
}

/* To the call of the function in which a call stands. 1 if that means something. */
static int step_out(struct nm_namer *namer, const struct nm_context *c, struct telling_call *call)
{
	call->callee = call->place.positions[call->position].function;
	call->argument = 0;
	if (++call->position >= call->place.count) {
		if (++call->level >= c->count)
			return 0;
		find_call(namer, c->pcs[call->level], &call->place);
		call->position = 0;
	}
	return call->position < call->place.count &&
	       is_meaningful(namer, &call->place.positions[call->position]);
}

/* To the call in the function that a call enters, on the way to the allocator. 1 if there is one. */
static int step_in(struct nm_namer *namer, const struct nm_context *c, struct telling_call *call)
{
	struct call_place inner;

	if (!call->position) {
		if (!call->level)
			return 0;
		find_call(namer, c->pcs[--call->level], &call->place);
		call->position = (unsigned)call->place.count;
	}
	if (!call->position--)
		return 0;
	call->callee = call->position ? call->place.positions[call->position - 1].function : NULL;
	if (!call->position && call->level) {
		find_call(namer, c->pcs[call->level - 1], &inner);
		call->callee = inner.count ? inner.positions[inner.count - 1].function : NULL;
	}
	return 1;
}

/* What the callers assign the value to that the function of the telling call returns: the next one outwards that
 * has a name for it. */
static const char *name_of_returned(struct nm_namer *namer, const struct nm_context *c,
				    struct telling_call call)
{
	struct nm_assigned assigned = assigned_by(namer, &call);

	while (!assigned.name && assigned.is_returned) {
		if (!step_out(namer, c, &call))
			return NULL;
		assigned = assigned_by(namer, &call);
	}
	return assigned.name;
}

/* The name of a block that functions hand out through parameters, "create(x, n)": that of the outermost argument,
 * whose call then tells. */
static struct nm_assigned assigned_through(struct nm_namer *namer, const struct nm_context *c,
					   struct telling_call *call)
{
	struct nm_assigned assigned = assigned_by(namer, call), named;
	struct telling_call other = *call;

	if (!assigned.name && step_in(namer, c, &other) && other.place.positions[other.position].file) {
		call->argument = assigned_by(namer, &other).parameter;
		assigned = call->argument ? assigned_by(namer, call) : assigned;
	}
	for (other = *call; assigned.parameter; assigned = named) {
		if (!step_out(namer, c, &other))
			break;
		other.argument = assigned.parameter;
		named = assigned_by(namer, &other);
		if (!named.name)
			break;
		*call = other;
	}
	return assigned;
}

/* The variable that a block or mapping is kept in, or NULL. */
static struct nm_assigned kept_in(struct nm_namer *namer, const struct nm_context *c,
				  struct telling_call *call)
{
	struct nm_assigned assigned = assigned_through(namer, c, call);

	if (!assigned.name && assigned.is_returned)
		assigned.name = name_of_returned(namer, c, *call);
	if (!assigned.name)
		assigned.name = stored_in(namer, call);
	return assigned;
}

int nm_namer_memory(struct nm_namer *namer, const struct nm_object *o, struct nm_call_name *ret)
{
	const struct nm_context *c = &namer->contexts->list.at[o->context];
	const char *prefix = o->kind == NM_OBJECT_HEAP ? "heap" : "anonymous";
	const unsigned from = o->kind == NM_OBJECT_HEAP ? nm_context_wrappers(c) : 0;
	const struct nm_type *type;
	struct telling_call call;
	struct nm_assigned assigned;
	char text[NAME_ROOM];

	*ret = (struct nm_call_name){0};
	if (!find_telling(namer, c, from, &call)) {
		call = call.place.count ? call : call_at(namer, c, from);
		return put_address(namer, prefix, &call, ret);
	}
	if (o->kind != NM_OBJECT_HEAP && is_gos(&call.place.positions[call.position])) {
		ret->name = nm_symbols_intern(namer->symbols, "<Go heap>");
		return ret->name ? 0 : NM_ENOMEM;
	}
	assigned = kept_in(namer, c, &call);
	type = assigned.name ? NULL : nm_namer_allocated_type(namer, o, o->largest);
	if (assigned.name)
		snprintf(text, sizeof text, "%s", assigned.name);
	else
		snprintf(text, sizeof text, "%s %s", prefix,
			 type ? type->name : call.place.positions[call.position].function);
	ret->column = assigned.column;
	return put_place(namer, text, assigned.name != NULL, &call, ret);
}

/* Does a call of the chain stand in an allocator (it got memory from the system), or in the creation of a
 * thread? */
const char *nm_namer_allocation_site(struct nm_namer *namer, const struct nm_context *c)
{
	struct call_place place;

	for (uint32_t level = 0; level < c->count; level++) {
		const char *function;

		find_call(namer, c->pcs[level], &place);
		function = place.count ? place.positions[place.count - 1].function : NULL;
		if (function && nm_is_allocator(function))
			return "<heap bookkeeping>";
		if (function && strstr(function, "pthread_create"))
			return "<thread stacks>";
	}
	return NULL;
}

/* The type of a block or mapping or of its elements, which may have no fields, or NULL. */
static const struct nm_type *allocated_type(struct nm_namer *namer, const struct nm_object *o, uint64_t bytes)
{
	const struct nm_context *c = &namer->contexts->list.at[o->context];
	const struct nm_type *type = NULL;
	enum nm_allocated what = NM_ALLOCATED_UNKNOWN;
	struct call_place place;

	if (o->structure)
		return o->structure;
	if (o->kind == NM_OBJECT_ANONYMOUS && (o->name || nm_namer_allocation_site(namer, c)))
		return NULL;
	for (uint32_t level = 0; level < c->count && what == NM_ALLOCATED_UNKNOWN; level++) {
		find_call(namer, c->pcs[level], &place);
		if (place.count && !nm_is_system_library(nm_module_name(place.module)))
			what = nm_module_allocated(place.module, place.vaddr, bytes, &type);
	}
	return type;
}

const struct nm_type *nm_namer_allocated_type(struct nm_namer *namer, const struct nm_object *o,
					      uint64_t bytes)
{
	const struct nm_type *type = allocated_type(namer, o, bytes);

	return type && type->field_count ? type : NULL;
}

const char *nm_namer_allocated_text(struct nm_namer *namer, const struct nm_object *o)
{
	const struct nm_type *type = allocated_type(namer, o, o->largest);
	char text[NAME_ROOM];

	if (!type || o->largest < 2 * type->bytes)
		return type ? type->name : NULL;
	snprintf(text, sizeof text, "%s[]", type->name);
	return nm_symbols_intern(namer->symbols, text);
}
