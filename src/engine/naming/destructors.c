/* SPDX-License-Identifier: MIT
 *
 * destructors.c - which variables the destructors destroy that the C library calls when a program or a thread
 * ends.
 *
 * No code of the user's is in such a call's chain: the compiler registers a container's destructor directly.
 * What the user wrote is the variable's declaration. It is the variable that the destructor accesses; if it
 * accesses several, as when two variables of a type share a destructor, nothing tells which one a miss is for.
 */
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"
#include "user_code.h"

/* "std::vector<int, std::allocator<int> >::~vector()" */
static int is_destructor(const char *function)
{
	int depth = 0;

	for (const char *at = function ? nm_name_proper(function) : ""; *at; at++) {
		if (!depth && !strncmp(at, "::~", 3))
			return 1;
		if (!depth && *at == '(' && strncmp(at, "(anonymous", 10))
			return 0;
		depth += *at == '<';
		depth -= *at == '>' && depth;
	}
	return 0;
}

/* Is a context one whose chain holds no code of the user's? called: the same of contexts, for those before. */
static int by_library(const struct nm_result *r, const char *called, size_t i)
{
	const struct nm_result_context *c = &r->contexts[i];

	return !i || (called[c->parent] && (c->site == UINT32_MAX || r->sites[c->site].is_library));
}

static int is_declared(const struct nm_result_object *o)
{
	return o->allocated_at && (o->kind == NM_OBJECT_GLOBAL || o->kind == NM_OBJECT_STATIC ||
				   o->kind == NM_OBJECT_THREAD_LOCAL);
}

/* Is an access the C library's, such as of free(), which the destructor jumped to? */
static int in_system_library(const struct nm_result_site *site)
{
	const char *slash = site->module ? strrchr(site->module, '/') : NULL;

	return site->module && nm_is_system_library(slash ? slash + 1 : site->module);
}

int nm_engine_find_destroyed(struct nm_result *r)
{
	enum { SEVERAL = UINT32_MAX };
	char *called = malloc(r->context_count + 1);

	if (!called)
		return NM_ENOMEM;
	for (size_t i = 0; i < r->context_count; i++)
		called[i] = (char)by_library(r, called, i);
	for (size_t i = 0; i < r->context_attr_count; i++) {
		const struct nm_result_context_attr *at = &r->context_attrs[i];
		struct nm_result_context *c = &r->contexts[at->context];
		const uint32_t object = r->attrs[at->attr].object;

		if (!called[at->context] || !is_declared(&r->objects[object]) ||
		    !is_destructor(c->function) || in_system_library(&r->sites[r->attrs[at->attr].site]))
			continue;
		c->destroys = c->destroys && c->destroys != object + 1 ? SEVERAL : object + 1;
	}
	for (size_t i = 0; i < r->context_count; i++)
		if (r->contexts[i].destroys == SEVERAL)
			r->contexts[i].destroys = 0;
	free(called);
	return 0;
}
