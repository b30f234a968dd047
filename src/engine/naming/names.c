/* SPDX-License-Identifier: MIT
 *
 * names.c - names for objects, made when the stream has ended.
 *
 * A heap bucket is named by the call that allocates it (call_names.h). Contexts that lead to the same call
 * are one object, unless they are to be told apart by their chains (chains.c) or as parts of a container
 * (parts.c). Different objects never have the same name: variables are told apart by their file, all else by a number.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_names.h"
#include "namer.h"

enum { NAME_ROOM = 4200 };

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void nm_namer_done(struct nm_namer *namer)
{
	nm_stores_done(&namer->stores);
	nm_site_table_done(&namer->site_table);
}

int nm_namer_object(struct nm_namer *namer, const struct nm_object *o, struct nm_call_name *ret)
{
	const struct nm_context *c = &namer->contexts->list.at[o->context];
	const char *origin;

	*ret = (struct nm_call_name){.name = o->name, .at = o->at};
	if (o->name)
		return 0;
	if (o->pool)
		return nm_namer_pool(namer, o->pool, ret);
	origin = o->kind == NM_OBJECT_HEAP ? NULL : nm_namer_allocation_site(namer, c);
	if (!origin)
		return nm_namer_memory(namer, o, ret);
	ret->name = nm_symbols_intern(namer->symbols, origin);
	return ret->name ? 0 : NM_ENOMEM;
}

/* What objects are that are one: those of a name, of one call of the line, with one chain. */
static uint64_t object_identity(const struct nm_call_name *name, uint32_t chain)
{
	return nm_mix64((uintptr_t)name->name ^ name->site ^ nm_mix64(name->column ^ (uint64_t)chain << 32));
}

static int is_variable(enum nm_object_kind kind)
{
	return kind == NM_OBJECT_GLOBAL || kind == NM_OBJECT_STATIC || kind == NM_OBJECT_THREAD_LOCAL;
}

/* Objects of one name: variables are "name (file:line)", and where that does not tell "name #2". taken: the last
 * number of each name, from 1. */
static int tell_apart(struct nm_namer *namer, struct nm_map *taken, const struct nm_object *o,
		      const char **name)
{
	const char *base = *name;
	uint64_t last = nm_map_get(taken, (uintptr_t)base, 0);
	char text[NAME_ROOM + 32];

	if (o->at && is_variable(o->kind)) {
		snprintf(text, sizeof text, "%.*s (%s)", NAME_ROOM, base, base_name(o->at));
		*name = nm_symbols_intern(namer->symbols, text);
		if (!*name || !nm_map_get(taken, (uintptr_t)*name, 0))
			return *name ? 0 : NM_ENOMEM;
	}
	do {
		snprintf(text, sizeof text, "%.*s #%" PRIu64, NAME_ROOM, base, ++last);
		*name = nm_symbols_intern(namer->symbols, text);
	} while (*name && nm_map_get(taken, (uintptr_t)*name, 0));
	return *name ? nm_map_put(taken, (uintptr_t)base, last) : NM_ENOMEM;
}

/* The objects that have a name, and the names that are taken. */
struct named {
	struct nm_map index; /* identity -> index in the result */
	struct nm_map taken; /* name -> the last number that objects of it have, from 1 */
};

static int add_object(struct nm_namer *namer, struct nm_result *result, struct named *named,
		      const struct nm_object *o, struct nm_call_name name, uint32_t *ret_index)
{
	uint64_t key = object_identity(&name, o->chain);
	uint64_t index = is_variable(o->kind) ? UINT64_MAX : nm_map_get(&named->index, key, UINT64_MAX);

	if (index == UINT64_MAX) {
		index = result->object_count++;
		/* Chains tell their buckets apart when all are known (chains.c). */
		if (!o->chain && nm_map_get(&named->taken, (uintptr_t)name.name, 0) &&
		    tell_apart(namer, &named->taken, o, &name.name))
			return NM_ENOMEM;
		result->objects[index] = (struct nm_result_object){.name = name.name,
								   .kind = o->kind,
								   .allocated_at = name.at,
								   .call = name.site ^ name.column,
								   .chain = o->chain};
		if (nm_map_put(&named->index, key, index) ||
		    nm_map_put(&named->taken, (uintptr_t)name.name, 1))
			return NM_ENOMEM;
	}
	*ret_index = (uint32_t)index;
	return 0;
}

/* What blocks and mappings are made of: traces keep the answer. */
static void set_type(struct nm_namer *namer, struct nm_object *o)
{
	const int is_allocated = o->kind == NM_OBJECT_HEAP || o->kind == NM_OBJECT_ANONYMOUS;
	const char *type = is_allocated ? nm_namer_allocated_text(namer, o) : NULL;

	o->type = type ? type : o->type;
}

/* Names all objects as the types that they have by now say. */
static int name_objects(struct nm_namer *namer, struct nm_result *result, uint32_t **ret_index)
{
	struct named named = {0};
	size_t n = namer->space->objects.count;
	struct nm_call_name *names = calloc(n, sizeof *names);
	uint32_t *index = calloc(n, sizeof *index);
	int status = 0;

	result->objects = calloc(n, sizeof *result->objects);
	if (!result->objects || !names || !index)
		status = NM_ENOMEM;
	for (size_t i = 0; i < n && !status; i++)
		status = nm_namer_object(namer, &namer->space->objects.at[i], &names[i]);
	if (!status)
		status = nm_namer_parts(namer, names);
	for (size_t i = 0; i < n && !status; i++)
		status = add_object(namer, result, &named, &namer->space->objects.at[i], names[i], &index[i]);
	free(names);
	nm_map_done(&named.index);
	nm_map_done(&named.taken);
	if (status) {
		free(index);
		return status;
	}
	*ret_index = index;
	return 0;
}

int nm_namer_objects(struct nm_namer *namer, struct nm_result *result, uint32_t **ret_index)
{
	for (size_t i = 0; i < namer->space->objects.count; i++)
		set_type(namer, &namer->space->objects.at[i]);
	return name_objects(namer, result, ret_index);
}

int nm_namer_unique_name(struct nm_namer *namer, uint32_t object, const char **ret)
{
	struct nm_result so_far = {.objects = NULL};
	uint32_t *index;
	int status = name_objects(namer, &so_far, &index);

	if (!status) {
		*ret = so_far.objects[index[object]].name;
		free(index);
	}
	free(so_far.objects);
	return status;
}
