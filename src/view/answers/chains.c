/* SPDX-License-Identifier: MIT
 *
 * chains.c - misses by object, line and the calls that led there, as a tree; or by the calls, then line and object.
 *
 * The tree grows level by level. What is below 1 % of its root is summed in its parent's `rest` and grows no further,
 * so that a level has at most 100 nodes, however many chains there are. The parameter `at` makes a node the root: its
 * number among its siblings, the largest first, and those of the nodes above it. Only its part is grown.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "name_match.h"

enum { MOST_DEPTH = 64, MOST_AT = 400 };

enum kind { KIND_ALL, KIND_OBJECT, KIND_LINE, KIND_CALL };
static const char *const kinds[] = {"all", "object", "line", "call"};

/* name: of the object, or of the called function; file, line: of the line, or of the call */
struct step {
	enum kind kind;
	nm_key name, file, line;
};

struct node {
	struct step step;
	uint32_t parent;
	int is_cut; /* summed in its parent */
	int64_t misses, rest;
};

/* Misses of an object by a line in a chain, and the node that they have come to. */
struct part {
	nm_key object, file, line;
	uint32_t call, node;
	int64_t misses;
};

struct chains {
	struct nm_recorded_calls calls;
	struct nm_vec(struct node) nodes; /* parents first */
	struct nm_hash_index index;       /* of the nodes, by parent and step */
	struct nm_vec(struct part) parts; /* that may go on */
	uint32_t *above;                  /* of each call, the one of the current depth that led to it */
	int by_call;                      /* from the first call inwards */
	unsigned at[MOST_AT], at_count;
	uint32_t root;
	int is_deeper; /* than is shown */
};

/* ---- what a node is ---- */

static uint64_t hash_of(uint32_t parent, const struct step *s)
{
	return nm_mix64(nm_mix64(nm_mix64(nm_mix64(parent * 4u + s->kind) ^ s->name) ^ s->file) ^ s->line);
}

/* Adds misses to the child of a node. *node becomes the child. 0 or NM_ENOMEM. */
static int enter(struct chains *c, uint32_t *node, const struct step *s, int64_t misses)
{
	const uint64_t hash = hash_of(*node, s);
	uint32_t child;

	for (size_t at = 0; nm_hash_index_next(&c->index, hash, &at, &child);) {
		struct node *n = &c->nodes.at[child];

		if (n->parent == *node && n->step.kind == s->kind && n->step.name == s->name &&
		    n->step.file == s->file && n->step.line == s->line) {
			n->misses = nm_sum_bounded(n->misses, misses);
			*node = child;
			return 0;
		}
	}
	child = (uint32_t)c->nodes.count;
	if (nm_vec_push(&c->nodes, (struct node){.step = *s, .parent = *node, .misses = misses}) ||
	    nm_hash_index_add(&c->index, hash, child))
		return NM_ENOMEM;
	*node = child;
	return 0;
}

static struct step step_of_call(const struct chains *c, uint32_t call)
{
	const struct nm_recorded_call *of = &c->calls.at.at[call];

	return (struct step){KIND_CALL, of->function, of->file, of->line};
}

/* The step of a part at a depth; 0: it has ended. A line that is not known is no step. */
static int next_step(const struct chains *c, struct part *p, unsigned depth, struct step *ret)
{
	const unsigned calls = p->call == NM_NO_CALL ? 0 : c->calls.at.at[p->call].depth + 1;
	const unsigned lines = p->file != 0, left = c->by_call ? calls + lines - depth : depth;

	if (c->by_call && depth < calls) {
		*ret = step_of_call(c, c->above[p->call]);
	} else if (left == 0) {
		*ret = (struct step){.kind = KIND_OBJECT, .name = p->object};
	} else if (left == lines) {
		*ret = (struct step){.kind = KIND_LINE, .file = p->file, .line = p->line};
	} else if (c->by_call || p->call == NM_NO_CALL) {
		return 0;
	} else {
		*ret = step_of_call(c, p->call);
		p->call = c->calls.at.at[p->call].by;
	}
	return 1;
}

/* ---- one level more ---- */

static void find_above(struct chains *c, unsigned depth)
{
	for (uint32_t i = 0; c->by_call && i < c->calls.at.count; i++) {
		const struct nm_recorded_call *call = &c->calls.at.at[i];

		c->above[i] = call->depth <= depth ? i : c->above[call->by];
	}
}

/* Largest first; equal ones by what they are. */
static int by_parent_and_misses(const void *a, const void *b, void *self)
{
	const struct chains *c = self;
	const struct node *x = &c->nodes.at[*(const uint32_t *)a], *y = &c->nodes.at[*(const uint32_t *)b];
	int order = (x->parent > y->parent) - (x->parent < y->parent);

	if (!order)
		order = (x->misses < y->misses) - (x->misses > y->misses);
	if (!order)
		order = nm_key_compare(x->step.name, y->step.name, 0);
	if (!order)
		order = nm_key_compare(x->step.file, y->step.file, 0);
	return order ? order : nm_key_compare(x->step.line, y->step.line, 1);
}

/* The nodes from `first` on, those of a parent together; malloc'ed. NULL: no memory. */
static uint32_t *ordered_nodes(struct chains *c, uint32_t first)
{
	const size_t count = c->nodes.count - first;
	uint32_t *order = malloc((count + 1) * sizeof *order);

	for (size_t i = 0; order && i < count; i++)
		order[i] = first + (uint32_t)i;
	if (order)
		qsort_r(order, count, sizeof *order, by_parent_and_misses, c);
	return order;
}

/* Leaves of the new nodes the one that becomes the root. */
static int choose_root(struct chains *c, uint32_t first, unsigned number)
{
	const size_t count = c->nodes.count - first;
	uint32_t *order = ordered_nodes(c, first);

	if (!order)
		return NM_ENOMEM;
	if (number < count)
		c->root = order[number];
	else
		c->at_count = 0; /* the address leads no further */
	for (uint32_t i = first; number < count && i < c->nodes.count; i++)
		c->nodes.at[i].is_cut = i != c->root;
	free(order);
	return 0;
}

static void cut_small(struct chains *c, uint32_t first)
{
	for (uint32_t i = first; i < c->nodes.count; i++) {
		struct node *n = &c->nodes.at[i];

		n->is_cut = (double)n->misses * 100 < (double)c->nodes.at[c->root].misses;
		if (n->is_cut)
			c->nodes.at[n->parent].rest += n->misses;
	}
}

/* Leaves the parts that may go on. */
static void drop_cut(struct chains *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->parts.count; i++)
		if (!c->nodes.at[c->parts.at[i].node].is_cut)
			c->parts.at[kept++] = c->parts.at[i];
	c->parts.count = kept;
}

static int grow_level(struct chains *c, unsigned depth)
{
	const uint32_t first = (uint32_t)c->nodes.count;
	size_t kept = 0;
	int status = 0;

	find_above(c, depth);
	for (size_t i = 0; !status && i < c->parts.count; i++) {
		struct part p = c->parts.at[i];
		struct step step;

		if (!next_step(c, &p, depth, &step))
			continue;
		status = enter(c, &p.node, &step, p.misses);
		c->parts.at[kept++] = p;
	}
	c->parts.count = kept;
	if (!status && depth < c->at_count)
		status = choose_root(c, first, c->at[depth]);
	if (!status && depth >= c->at_count)
		cut_small(c, first);
	drop_cut(c);
	return status;
}

/* ---- the parts ---- */

/* Whether a text contains the filter; `known` caches the results. -1: no memory. */
static int contains(nm_key text, const char *filter, struct nm_map *known)
{
	uint64_t found = text ? nm_map_get(known, text, 2) : 0;

	if (found < 2)
		return (int)found;
	found = strcasestr(nm_key_text(text), filter) != NULL;
	return nm_map_put(known, text, found) ? -1 : (int)found;
}

static int is_kept(const struct chains *c, const struct part *p, const char *filter, struct nm_map *known)
{
	int found = contains(p->object, filter, known);

	if (!found)
		found = contains(p->file, filter, known);
	for (uint32_t call = p->call; !found && call != NM_NO_CALL; call = c->calls.at.at[call].by)
		found = contains(c->calls.at.at[call].function, filter, known);
	return found;
}

static int take_parts(struct chains *c, const struct nm_cube *facts, const char *filter, int is_mine)
{
	const unsigned object = nm_cube_key(facts, "object"), library = nm_cube_key(facts, "library"),
		       file = nm_cube_key(facts, "user_file"), line = nm_cube_key(facts, "user_line");
	struct nm_map known = {0};
	int status = nm_vec_push(&c->nodes, (struct node){.step.kind = KIND_ALL});

	for (size_t row = 0; !status && row < facts->row_count; row++) {
		const nm_key *keys = nm_cube_keys(facts, row);
		const struct part p = {keys[object],
				       keys[file],
				       keys[line],
				       nm_calls_of_row(&c->calls, facts, row),
				       0,
				       *nm_cube_sums(facts, row)};
		int kept = p.misses > 0 && !(is_mine && keys[library]);

		if (kept && filter)
			kept = is_kept(c, &p, filter, &known);
		if (kept > 0) {
			c->nodes.at[0].misses += p.misses;
			status = nm_vec_push(&c->parts, p);
		}
		if (kept < 0)
			status = NM_ENOMEM;
	}
	nm_map_done(&known);
	return status;
}

static int grow(struct chains *c)
{
	int status = 0;

	c->above = calloc(c->calls.at.count + 1, sizeof *c->above);
	if (!c->above)
		return NM_ENOMEM;
	for (unsigned depth = 0; !status && c->parts.count; depth++) {
		c->is_deeper = depth >= c->at_count + MOST_DEPTH;
		if (c->is_deeper)
			break;
		status = grow_level(c, depth);
	}
	return status;
}

/* ---- the answer ---- */

static json_t *json_of_node(const struct node *n)
{
	json_t *json = json_pack("{ss sI}", "kind", kinds[n->step.kind], "value", (json_int_t)n->misses);

	if (n->step.kind == KIND_OBJECT || n->step.kind == KIND_CALL)
		json_object_set_new(json, "name", nm_view_key(n->step.name, 0));
	if (n->step.kind == KIND_LINE || n->step.kind == KIND_CALL) {
		json_object_set_new(json, "file", nm_view_key(n->step.file, 0));
		json_object_set_new(json, "line", nm_view_key(n->step.line, 1));
	}
	return json;
}

/* From the sum of all to the root's parent. */
static json_t *json_of_path(const struct chains *c)
{
	json_t *path = json_array();

	for (uint32_t i = c->root; i; i = c->nodes.at[i].parent)
		json_array_insert_new(path, 0, json_of_node(&c->nodes.at[c->nodes.at[i].parent]));
	return path;
}

/* The root with all below it. 0 or NM_ENOMEM. */
static int make_tree(struct chains *c, json_t **ret_tree)
{
	uint32_t *order = ordered_nodes(c, c->root + 1);
	json_t **json = calloc(c->nodes.count, sizeof *json);

	if (!order || !json) {
		free(order);
		free(json);
		return NM_ENOMEM;
	}
	*ret_tree = json[c->root] = json_of_node(&c->nodes.at[c->root]);
	for (size_t i = 0; i < c->nodes.count - c->root - 1; i++) {
		const struct node *n = &c->nodes.at[order[i]];
		json_t *parent = json[n->parent];

		if (n->is_cut || !parent)
			continue;
		if (!json_object_get(parent, "children"))
			json_object_set_new(parent, "children", json_array());
		json[order[i]] = json_of_node(n);
		json_array_append_new(json_object_get(parent, "children"), json[order[i]]);
	}
	for (uint32_t i = c->root; i < c->nodes.count; i++)
		if (json[i] && c->nodes.at[i].rest)
			json_object_set_new(json[i], "rest", json_integer((json_int_t)c->nodes.at[i].rest));
	free(order);
	free(json);
	return 0;
}

/* "0.3.1" */
static int read_at(struct chains *c, const char *at, struct nm_error *err)
{
	char *end;

	for (; at && *at; at = *end ? end + 1 : end) {
		const unsigned long number = strtoul(at, &end, 10);

		if (end == at || (*end && *end != '.') || number > UINT32_MAX - 1 || c->at_count == MOST_AT)
			return nm_fail(err, NM_EINVAL, "at: numbers with points between them, at most %d",
				       MOST_AT);
		c->at[c->at_count++] = (unsigned)number;
	}
	return 0;
}

static int read_request(struct chains *c, const struct nm_view_profile *of, const struct nm_request *request,
			char **ret_level, struct nm_error *err)
{
	static const char *const orders[] = {"object", "call", NULL};
	const char *by = nm_request_text(request, "by");
	int status = 0;

	c->by_call = by && !strcmp(by, "call");
	if (by && !c->by_call && strcmp(by, "object"))
		status = nm_fail_unknown("order", by, orders, err);
	if (!status)
		status = read_at(c, nm_request_text(request, "at"), err);
	return status ? status : nm_view_level(of->profile, request, ret_level, err);
}

int nm_view_chains(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		   struct nm_error *err)
{
	struct chains c = {.root = 0};
	const struct nm_cube *facts;
	char *level = NULL;
	json_t *tree = NULL;
	int status = read_request(&c, of, request, &level, err);

	if (!status)
		status = nm_calls_load(&c.calls, of, level, err);
	if (!status)
		status = nm_fact_store_get(of->facts, of->profile, NM_FACTS_CHAINS, level, NULL, &facts, err);
	if (!status && (take_parts(&c, facts, nm_request_text(request, "filter"), nm_view_is_mine(request)) ||
			grow(&c) || make_tree(&c, &tree)))
		status = nm_fail_memory(err);
	if (!status)
		*ret_answer =
		    json_pack("{ss ss so so sb}", "level", level, "by", c.by_call ? "call" : "object", "path",
			      json_of_path(&c), "tree", tree, "deeper", c.is_deeper);
	nm_calls_done(&c.calls);
	nm_vec_free(&c.nodes);
	nm_vec_free(&c.parts);
	nm_hash_index_done(&c.index);
	free(c.above);
	free(level);
	return status;
}
