/* SPDX-License-Identifier: MIT
 *
 * interpreter.c - evaluates a program made of pairs, with a heap that is marked and swept when it is full.
 *
 * The language has numbers, variables by depth, and a few operators; the program builds and sorts lists by
 * insertion into trees of pairs. Arguments: pairs in the heap, lists to sort, length of each.
 */
#include "lots.h"

enum kind { FREE, PAIR, NUMBER };

struct value {
	uint8_t kind, marked;
	int32_t number;
	struct value *head, *tail;
};

enum { ROOTS = 1 << 16, CHUNK = 1024 };

static struct value *free_list, *roots[ROOTS], **chunks;
static size_t root_count, chunk_count, collections;

static void add_chunk(size_t i)
{
	struct value *chunk = (struct value *)need(calloc(CHUNK, sizeof *chunk));

	chunks[i] = chunk;
	for (size_t k = 0; k < CHUNK; k++) {
		chunk[k].head = free_list;
		free_list = &chunk[k];
	}
}

/* The spine by a loop, what hangs on it by recursion. */
static void mark(struct value *v)
{
	for (; v && !v->marked; v = v->tail) {
		v->marked = 1;
		if (v->kind != PAIR)
			return;
		mark(v->head);
	}
}

static void sweep(void)
{
	free_list = NULL;
	for (size_t i = 0; i < chunk_count; i++)
		for (size_t k = 0; k < CHUNK; k++) {
			struct value *v = &chunks[i][k];

			if (!v->marked) {
				v->kind = FREE;
				v->head = free_list;
				free_list = v;
			}
			v->marked = 0;
		}
}

static void collect(void)
{
	for (size_t i = 0; i < root_count; i++)
		mark(roots[i]);
	sweep();
	collections++;
	if (!free_list) {
		fputs("the heap is full\n", stderr);
		exit(1);
	}
}

static struct value *new_value(struct value v)
{
	struct value *fresh;

	if (!free_list) {
		roots[root_count++] = v.head;
		roots[root_count++] = v.tail;
		collect();
		root_count -= 2;
	}
	fresh = free_list;
	free_list = fresh->head;
	*fresh = v;
	return fresh;
}

static struct value *number(int32_t n) { return new_value((struct value){NUMBER, 0, n, NULL, NULL}); }

static struct value *pair(struct value *head, struct value *tail)
{
	return new_value((struct value){PAIR, 0, 0, head, tail});
}

static struct value *keep(struct value *v) { return roots[root_count++] = v; }

/* A tree is nil or (number . (left . right)); a new one shares what did not change. */
static struct value *insert(struct value *tree, struct value *item)
{
	size_t base = root_count;
	struct value *fresh, *below;

	keep(tree);
	keep(item);
	if (!tree) {
		fresh = pair(item, pair(NULL, NULL));
	} else if (item->number < tree->head->number) {
		below = keep(insert(tree->tail->head, item));
		fresh = pair(tree->head, pair(below, tree->tail->tail));
	} else {
		below = keep(insert(tree->tail->tail, item));
		fresh = pair(tree->head, pair(tree->tail->head, below));
	}
	root_count = base;
	return fresh;
}

/* The numbers of a tree in order, before those of `rest`. */
static struct value *flatten(struct value *tree, struct value *rest)
{
	size_t base = root_count;

	if (!tree)
		return rest;
	keep(tree);
	rest = keep(flatten(tree->tail->tail, rest));
	rest = keep(pair(tree->head, rest));
	rest = flatten(tree->tail->head, rest);
	root_count = base;
	return rest;
}

static struct value *sorted_list(long length)
{
	size_t base = root_count;
	struct value *tree = NULL;

	for (long i = 0; i < length; i++) {
		keep(tree);
		tree = insert(tree, number((int32_t)draw_below(1u << 30)));
		root_count = base;
	}
	return flatten(tree, NULL);
}

int main(int argc, char **argv)
{
	enum { KEPT = 64 };
	long lists = argument(argc, argv, 2), length = argument(argc, argv, 3), sum = 0;

	chunk_count = (size_t)argument(argc, argv, 1) / CHUNK;
	chunks = (struct value **)need(calloc(chunk_count, sizeof *chunks));
	for (size_t i = 0; i < chunk_count; i++)
		add_chunk(i);
	root_count = KEPT; /* the last lists stay alive */
	for (long i = 0; i < lists; i++) {
		roots[i % KEPT] = sorted_list(length);
		for (const struct value *v = roots[draw_below(KEPT)]; v; v = v->tail)
			sum += v->head->number & 15;
	}
	printf("%ld, %zu collections\n", sum, collections);
	return 0;
}
