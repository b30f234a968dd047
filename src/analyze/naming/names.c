/* SPDX-License-Identifier: MIT
 *
 * names.c - names for objects, made when the stream has ended.
 *
 * A heap bucket is named by the first place in its call chain that means something to the programmer: not
 * the allocator, not a function that only forwards to it (by evidence, contexts.h, or by name), not the
 * plumbing of a language's library, not a C library function that allocates on somebody's behalf.  Buckets
 * that come to the same name are one object, unless they are to be told apart by their chains (chains.c). 
 * Variables of equal name in different files are told apart by their file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine_priv.h"
#include "user_code.h"

enum {
	MAX_INLINED = 16,
	NAME_ROOM = 4200,
	ADDRESS_BITS = 47 /* of a pointer; a chain has no more than the rest */
};
_Static_assert(NM_CALLS_MAX <= 1 << (63 - ADDRESS_BITS), "a name and a chain make a key");

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Functions that by their name hand out memory on somebody's behalf, and that the evidence may miss: they
 * write a header into the block or clear it, or they were inlined. */
static int is_allocation_wrapper(const char *function)
{
	static const char *const words[] = {"malloc", "calloc",  "zalloc", "realloc", "memalign",
					    "strdup", "strndup", "memdup", NULL};
	const char *name = nm_name_proper(function);
	size_t length = strcspn(name, "(<");

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

static void find_call(struct nm_engine *e, uint64_t pc, struct call_place *place)
{
	uint64_t id = nm_map_get(&e->attrs.instruction_of_pc, pc, UINT64_MAX);
	const struct nm_mapping *m;

	*place = (struct call_place){0};
	if (id != UINT64_MAX) {
		place->module = e->attrs.instructions.at[id].module;
		place->vaddr = pc - e->attrs.instructions.at[id].bias;
	} else if ((m = nm_space_mapping(&e->space, pc))) { /* called before the fork */
		place->module = m->module;
		place->vaddr = pc - m->bias;
	}
	if (!place->module)
		return;
	place->count = nm_module_source_positions(place->module, place->vaddr, place->positions, MAX_INLINED);
}

/* Writes "PREFIX function (file:line)" for a position, and "file:line" in full. */
static int describe(struct nm_engine *e, const char *prefix, const struct call_place *place, size_t i,
		    const char **ret_name, const char **ret_at)
{
	const struct nm_source_position *p = &place->positions[i];
	char name[NAME_ROOM];

	*ret_at = NULL;
	if (i >= place->count || !p->function || nm_is_nameless_function(p->function)) {
		if (!place->module)
			snprintf(name, sizeof name, "%s <unknown caller>", prefix);
		else
			snprintf(name, sizeof name, "%s (%s+0x%llx)", prefix, nm_module_name(place->module),
				 (unsigned long long)place->vaddr);
	} else if (!p->file) {
		snprintf(name, sizeof name, "%s %s (%s)", prefix, p->function, nm_module_name(place->module));
	} else {
		snprintf(name, sizeof name, "%s:%u", p->file, p->line);
		*ret_at = nm_symbols_intern(e->symbols, name);
		snprintf(name, sizeof name, "%s %s (%s:%u)", prefix, p->function, base_name(p->file),
			 p->line);
	}
	*ret_name = nm_symbols_intern(e->symbols, name);
	return *ret_name ? 0 : NM_ENOMEM;
}

/* Does this place say what the memory is for? */
static int is_meaningful(const struct nm_source_position *p)
{
	if (!p->function || nm_is_nameless_function(p->function) || nm_is_library_function(p->function) ||
	    is_allocation_wrapper(p->function))
		return 0;
	return !p->file || strncmp(p->file, "/usr/include/", 13) || !strstr(p->file, "/bits/");
}

static int same(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

/* How many of the innermost functions at a call, all inlined, control had left when the block was used: from
 * the outside in, the two places part where one stands in an inlined function and the other does not. */
static size_t inlined_forwarders(struct nm_engine *e, const struct call_place *call, uint64_t used)
{
	const struct nm_source_position *at = call->positions;
	struct call_place use;
	size_t i = call->count, j;

	if (!used || i < 2)
		return 0;
	find_call(e, used, &use);
	j = use.count;
	if (!j || use.module != call->module || !same(at[i - 1].function, use.positions[j - 1].function))
		return 0;
	while (i > 1 && j > 1 && at[i - 1].line == use.positions[j - 1].line &&
	       same(at[i - 2].function, use.positions[j - 2].function)) {
		i--;
		j--;
	}
	return i - 1;
}

/* The first place of a chain, from level `from` outwards, that means something to the programmer. */
static int name_of_chain(struct nm_engine *e, const char *prefix, const struct nm_context *c, unsigned from,
			 const char **ret_name, const char **ret_at)
{
	struct call_place place, first = {0};
	size_t i;

	for (uint32_t level = from; level < c->count; level++) {
		find_call(e, c->pcs[level], &place);
		if (level == from)
			first = place;
		if (!place.count || nm_is_system_library(nm_module_name(place.module)))
			continue;
		i = level == from && from < NM_FORWARD_LEVELS ? inlined_forwarders(e, &place, c->used[from])
							      : 0;
		for (; i < place.count; i++)
			if (is_meaningful(&place.positions[i]))
				return describe(e, prefix, &place, i, ret_name, ret_at);
	}
	return describe(e, prefix, &first, 0, ret_name, ret_at);
}

/* Does a call of the chain stand in an allocator (it got memory from the system), or in the creation of a
 * thread? */
static const char *allocation_site(struct nm_engine *e, const struct nm_context *c)
{
	struct call_place place;

	for (uint32_t level = 0; level < c->count; level++) {
		const char *function;

		find_call(e, c->pcs[level], &place);
		function = place.count ? place.positions[place.count - 1].function : NULL;
		if (function && nm_is_allocator(function))
			return "<heap bookkeeping>";
		if (function && strstr(function, "pthread_create"))
			return "<thread stacks>";
	}
	return NULL;
}

static int name_object(struct nm_engine *e, const struct nm_object *o, const char **ret_name,
		       const char **ret_at)
{
	const struct nm_context *c = &e->contexts.list.at[o->context];
	const char *access_site;

	*ret_name = o->name;
	*ret_at = o->at;
	if (o->name)
		return 0;
	if (o->kind == NM_OBJECT_HEAP)
		return name_of_chain(e, "heap", c, nm_context_wrappers(c), ret_name, ret_at);
	access_site = allocation_site(e, c);
	if (!access_site)
		return name_of_chain(e, "anonymous", c, 0, ret_name, ret_at);
	*ret_name = nm_symbols_intern(e->symbols, access_site);
	return *ret_name ? 0 : NM_ENOMEM;
}

const struct nm_type *nm_engine_allocated_type(struct nm_engine *e, uint32_t context, uint64_t bytes)
{
	const struct nm_context *c = &e->contexts.list.at[context];
	const struct nm_type *type = NULL;
	enum nm_allocated what = NM_ALLOCATED_UNKNOWN;
	struct call_place place;

	for (uint32_t level = 0; level < c->count && what == NM_ALLOCATED_UNKNOWN; level++) {
		find_call(e, c->pcs[level], &place);
		if (place.count && !nm_is_system_library(nm_module_name(place.module)))
			what = nm_module_allocated(place.module, place.vaddr, bytes, &type);
	}
	return type;
}

static int is_variable(enum nm_object_kind kind)
{
	return kind == NM_OBJECT_GLOBAL || kind == NM_OBJECT_STATIC || kind == NM_OBJECT_THREAD_LOCAL;
}

/* Variables of equal name: "name (file:line)", and where that is unknown "name #2". */
static int tell_apart(struct nm_engine *e, struct nm_map *taken, const struct nm_object *o, const char **name)
{
	const char *base = *name;
	char text[NAME_ROOM];

	for (unsigned n = o->at ? 1 : 2;; n++) {
		if (n == 1)
			snprintf(text, sizeof text, "%s (%s)", base, base_name(o->at));
		else
			snprintf(text, sizeof text, "%s #%u", base, n);
		*name = nm_symbols_intern(e->symbols, text);
		if (!*name)
			return NM_ENOMEM;
		if (nm_map_get(taken, (uintptr_t)*name, UINT64_MAX) == UINT64_MAX)
			return 0;
	}
}

static int place_object(struct nm_engine *e, struct nm_result *result, struct nm_map *taken,
			const struct nm_object *o, uint32_t *ret_index)
{
	const char *name, *at;
	uint64_t index, key;
	int status = name_object(e, o, &name, &at);

	if (status)
		return status;
	key = (uintptr_t)name | (uint64_t)o->chain << ADDRESS_BITS;
	index = nm_map_get(taken, key, UINT64_MAX);
	if (index != UINT64_MAX && is_variable(o->kind)) {
		status = tell_apart(e, taken, o, &name);
		if (status)
			return status;
		key = (uintptr_t)name;
		index = UINT64_MAX;
	}
	if (index == UINT64_MAX) {
		index = result->object_count++;
		result->objects[index] = (struct nm_result_object){
		    .name = name, .kind = o->kind, .allocated_at = at, .chain = o->chain};
		if (nm_map_put(taken, key, index))
			return NM_ENOMEM;
	}
	*ret_index = (uint32_t)index;
	return 0;
}

int nm_engine_name_objects(struct nm_engine *e, struct nm_result *result, uint32_t **ret_index)
{
	struct nm_map taken = {0};
	size_t n = e->space.objects.count;
	uint32_t *index = calloc(n, sizeof *index);
	int status = 0;

	result->objects = calloc(n, sizeof *result->objects);
	if (!result->objects || !index)
		status = NM_ENOMEM;
	for (size_t i = 0; i < n && !status; i++)
		status = place_object(e, result, &taken, &e->space.objects.at[i], &index[i]);
	nm_map_done(&taken);
	if (status) {
		free(index);
		return status;
	}
	*ret_index = index;
	return 0;
}
