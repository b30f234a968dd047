/* SPDX-License-Identifier: MIT
 *
 * chains.c - names of heap buckets that are told apart by the chains of calls that allocate them.
 *
 * Buckets of one place have one name (names.c).  Each gets so many of its callers behind it, from the inside
 * out, that no other has the same: "heap new_node (tree.c:88) < insert:12 < build:40"; what lies between the
 * first and the last is left out.  Chains whose callers read the same, such as of two functions that one
 * line calls, get a number.
 *
 * Sorted by their callers, a chain shares most with one of its neighbours.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"

enum { SHOWN = 3 /* callers, at most */, TEXT_ROOM = 2048 };

struct bucket {
	uint32_t object; /* in the result */
	uint32_t from;   /* context: the call that it names is the first that the name does not tell */
};

struct naming {
	const struct nm_engine *engine;
	struct nm_result *result;
	struct bucket *list;
	size_t count;
	struct nm_map taken; /* names */
};

static const struct nm_call *call_of(const struct nm_engine *e, uint32_t context)
{
	assert(context < e->calls->list.count);
	return &e->calls->list.at[context];
}

/* Where the call of a context stands; NULL: unknown. */
static const struct nm_result_site *site_of(const struct nm_engine *e, uint32_t context)
{
	uint32_t site = call_of(e, context)->site;

	return site < e->attrs.sites.count ? &e->attrs.sites.at[site] : NULL;
}

static int compare_text(const char *a, const char *b)
{
	if (a == b)
		return 0;
	return !a ? -1 : !b ? 1 : strcmp(a, b);
}

static int compare_calls(const struct nm_engine *e, uint32_t x, uint32_t y)
{
	const struct nm_result_site *s = site_of(e, x), *b = site_of(e, y);
	uint32_t f = call_of(e, x)->function, g = call_of(e, y)->function;
	int order;

	if (!s || !b) /* signals */
		return s ? 1 : b ? -1 : (f > g) - (f < g);
	order = compare_text(s->function, b->function);
	if (!order)
		order = compare_text(s->file, b->file);
	return order ? order : (s->line > b->line) - (s->line < b->line);
}

/* How many calls two chains have in common, from the inside out; *ret_order compares the next. */
static unsigned in_common(const struct nm_engine *e, uint32_t x, uint32_t y, int *ret_order)
{
	unsigned n = 0;

	*ret_order = 0;
	while (x && y && !(*ret_order = compare_calls(e, x, y))) {
		x = call_of(e, x)->parent;
		y = call_of(e, y)->parent;
		n++;
	}
	if (!*ret_order)
		*ret_order = (x != 0) - (y != 0);
	return n;
}

/* By name, then by callers. */
static int compare_buckets(const void *left, const void *right, void *arg)
{
	const struct naming *n = arg;
	const struct bucket *a = left, *b = right;
	const struct nm_result_object *o = &n->result->objects[a->object];
	const struct nm_result_object *r = &n->result->objects[b->object];
	int order = o->name == r->name ? 0 : strcmp(o->name, r->name);

	if (!order)
		in_common(n->engine, a->from, b->from, &order);
	return order ? order : (o->chain > r->chain) - (o->chain < r->chain);
}

/* Behind the call in the chain that the name tells already, as of a wrapper. */
static uint32_t behind_name(const struct nm_engine *e, const struct nm_result_object *o)
{
	char text[TEXT_ROOM];
	uint32_t context = o->chain - 1;

	for (unsigned i = 0; o->allocated_at && context && i < NM_FORWARD_LEVELS; i++) {
		const struct nm_result_site *site = site_of(e, context);

		context = call_of(e, context)->parent;
		if (!site || !site->file)
			continue;
		snprintf(text, sizeof text, "%s:%u", site->file, site->line);
		if (!strcmp(text, o->allocated_at))
			return context;
	}
	return o->chain - 1;
}

static void append_text(char *text, const char *more) { strncat(text, more, TEXT_ROOM - strlen(text) - 1); }

/* " < function:line" */
static void append_caller(const struct nm_engine *e, uint32_t context, char *text)
{
	const struct nm_result_site *site = site_of(e, context);
	char line[16] = "";

	if (site && site->line)
		snprintf(line, sizeof line, ":%" PRIu32, site->line);
	append_text(text, " < ");
	append_text(text, site && site->function ? site->function : site ? "?" : "<signal>");
	append_text(text, line);
}

/* The name with `callers` of its callers. */
static int rename_bucket(struct naming *n, const struct bucket *b, unsigned callers)
{
	const struct nm_engine *e = n->engine;
	struct nm_result_object *o = &n->result->objects[b->object];
	char text[TEXT_ROOM] = "", numbered[TEXT_ROOM + 16];
	uint32_t context = b->from;

	append_text(text, o->name);
	for (unsigned i = 0; i < callers && context; i++, context = call_of(e, context)->parent)
		if (callers <= SHOWN || i == 0 || i + 1 == callers)
			append_caller(e, context, text);
		else if (i == 1)
			append_text(text, " < ...");
	o->name = nm_symbols_intern(e->symbols, text);
	for (unsigned k = 2; o->name && nm_map_get(&n->taken, (uintptr_t)o->name, 0); k++) {
		snprintf(numbered, sizeof numbered, "%s #%u", text, k);
		o->name = nm_symbols_intern(e->symbols, numbered);
	}
	return o->name ? nm_map_put(&n->taken, (uintptr_t)o->name, 1) : NM_ENOMEM;
}

/* Buckets [from, to) have one name.  An older block may have it too, of which no chain is known: it keeps
 * it. */
static int rename_group(struct naming *n, size_t from, size_t to)
{
	const char *name = n->result->objects[n->list[from].object].name;
	unsigned before = 0, behind;
	int order, status = 0;

	if (to - from == 1 && !nm_map_get(&n->taken, (uintptr_t)name, 0))
		return nm_map_put(&n->taken, (uintptr_t)name, 1);
	for (size_t i = from; i < to && !status; i++, before = behind) {
		const struct bucket *b = &n->list[i];

		behind = i + 1 < to ? in_common(n->engine, b->from, b[1].from, &order) : 0;
		status = rename_bucket(n, b, (before > behind ? before : behind) + 1);
	}
	return status;
}

static int rename_all(struct naming *n)
{
	size_t from = 0;
	int status = 0;

	for (uint32_t i = 0; i < n->result->object_count && !status; i++) {
		const struct nm_result_object *o = &n->result->objects[i];

		if (o->chain)
			n->list[n->count++] = (struct bucket){i, behind_name(n->engine, o)};
		else
			status = nm_map_put(&n->taken, (uintptr_t)o->name, 1);
	}
	qsort_r(n->list, n->count, sizeof *n->list, compare_buckets, n);
	for (size_t i = 1; i <= n->count && !status; i++) {
		const char *name = n->result->objects[n->list[i - 1].object].name;

		if (i < n->count && n->result->objects[n->list[i].object].name == name)
			continue;
		status = rename_group(n, from, i);
		from = i;
	}
	return status;
}

int nm_engine_name_chains(struct nm_engine *e, struct nm_result *result)
{
	struct naming n = {
	    .engine = e, .result = result, .list = calloc(result->object_count + 1, sizeof *n.list)};
	int status = n.list ? rename_all(&n) : NM_ENOMEM;

	nm_map_done(&n.taken);
	free(n.list);
	return status;
}
