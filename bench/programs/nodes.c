/* SPDX-License-Identifier: MIT
 *
 * nodes.c - kernels over small linked blocks, as Olden has them, written as textbooks do.
 *
 * Arguments: name of the kernel, its size.
 */
#include <string.h>

#include "lots.h"

#define NEW(type) ((type *)need(calloc(1, sizeof(type))))

/* Villages in a tree of four; patients wait in lists, and some go to the village above. */
struct patient {
	struct patient *next;
	int age, treated;
};

struct village {
	struct village *below[4];
	struct patient *waiting;
	long seen;
};

static struct village *found_village(int depth)
{
	struct village *v = NEW(struct village);

	for (int i = 0; depth && i < 4; i++)
		v->below[i] = found_village(depth - 1);
	return v;
}

/* A day in a village and all below; returns who goes up. */
static struct patient *pass_day(struct village *v)
{
	struct patient *up = NULL, **link = &v->waiting;

	for (int i = 0; i < 4 && v->below[i]; i++)
		for (struct patient *p = pass_day(v->below[i]), *next; p; p = next) {
			next = p->next;
			p->next = v->waiting;
			v->waiting = p;
		}
	if (draw_below(3) == 0) {
		struct patient *p = NEW(struct patient);

		p->next = v->waiting;
		v->waiting = p;
	}
	while (*link) {
		struct patient *p = *link;

		v->seen += p->treated;
		if (++p->age < 12) {
			link = &p->next;
			continue;
		}
		p->age = 0;
		*link = p->next;
		if (p->treated++ < 3) {
			p->next = up;
			up = p;
		} else {
			free(p);
		}
	}
	return up;
}

static long health(long days)
{
	struct village *v = found_village(6);

	while (days--)
		for (struct patient *p = pass_day(v), *next; p; p = next) {
			next = p->next;
			free(p);
		}
	return v->seen;
}

/* Sorts the values of a tree by merging bitonic sequences, with exchanges of values and subtrees. */
struct node {
	struct node *left, *right;
	int value;
};

static struct node *plant(long nodes)
{
	struct node *t;

	if (!nodes)
		return NULL;
	t = NEW(struct node);
	t->left = plant(nodes / 2);
	t->value = (int)draw_below(1u << 30);
	t->right = plant(nodes / 2);
	return t;
}

static int exchange(int *a, int *b, int down)
{
	const int old = *a;

	if ((old > *b) == down)
		return 0;
	*a = *b;
	*b = old;
	return 1;
}

static int merge(struct node *root, int spare, int down)
{
	struct node *l = root->left, *r = root->right;
	const int swap_right = exchange(&root->value, &spare, down);

	while (l) {
		const int swapped = exchange(&l->value, &r->value, down);
		struct node *const ll = l->left, *const lr = l->right;

		if (swapped && !swap_right) {
			l->right = r->right;
			r->right = lr;
		} else if (swapped) {
			l->left = r->left;
			r->left = ll;
		}
		if (swapped == swap_right) {
			l = l->left;
			r = r->left;
		} else {
			l = l->right;
			r = r->right;
		}
	}
	if (root->left) {
		root->value = merge(root->left, root->value, down);
		spare = merge(root->right, spare, down);
	}
	return spare;
}

static int sort_tree(struct node *root, int spare, int down)
{
	if (!root->left) {
		exchange(&root->value, &spare, down);
		return spare;
	}
	root->value = sort_tree(root->left, root->value, down);
	spare = sort_tree(root->right, spare, !down);
	return merge(root, spare, down);
}

static long bisort(long nodes) { return sort_tree(plant(nodes), 0, 0); }

/* A spanning tree of least cost; each vertex keeps its distances in a hash table of lists. */
struct entry {
	struct entry *next;
	int key, cost;
};

struct vertex {
	struct vertex *next;
	struct entry *table[16];
	int number, cost;
};

static int cost_to(const struct vertex *v, int key)
{
	const struct entry *e = v->table[key % 16];

	while (e && e->key != key)
		e = e->next;
	return e ? e->cost : 1 << 30;
}

static long mst(long n)
{
	struct vertex *all = NULL;
	long sum = 0;

	for (int i = 0; i < n; i++) {
		struct vertex *v = NEW(struct vertex);

		v->number = i;
		v->cost = 1 << 30;
		for (int k = 0; k < n / 2; k++) {
			struct entry *e = NEW(struct entry);

			e->key = (int)draw_below((uint32_t)n);
			e->cost = (int)draw_below(100000);
			e->next = v->table[e->key % 16];
			v->table[e->key % 16] = e;
		}
		v->next = all;
		all = v;
	}

	struct vertex *last = all, **best;

	for (all = all->next; all; last = *best, *best = last->next, sum += last->cost) {
		best = &all;
		for (struct vertex **link = &all; *link; link = &(*link)->next) {
			const int cost = cost_to(*link, last->number);

			(*link)->cost = cost < (*link)->cost ? cost : (*link)->cost;
			if ((*link)->cost < (*best)->cost)
				best = link;
		}
	}
	return sum;
}

/* Fields on a bipartite graph: each node's value comes from others, by pointers to their values. */
struct field {
	struct field *next;
	double value, **from, *coefficient;
	int count;
};

static struct field *make_fields(long n, struct field **table)
{
	struct field *first = NULL, **link = &first;

	for (long i = 0; i < n; i++) {
		struct field *f = table[i] = NEW(struct field);

		f->value = draw_below(1000);
		*link = f;
		link = &f->next;
	}
	return first;
}

static void connect(struct field *to, struct field **from, long n, int degree)
{
	for (; to; to = to->next) {
		to->count = degree;
		to->from = (double **)need(malloc((size_t)degree * sizeof *to->from));
		to->coefficient = (double *)need(malloc((size_t)degree * sizeof *to->coefficient));
		for (int k = 0; k < degree; k++) {
			to->from[k] = &from[draw_below((uint32_t)n)]->value;
			to->coefficient[k] = draw_below(100) / 1e4;
		}
	}
}

static void compute(struct field *f)
{
	for (; f; f = f->next)
		for (int k = 0; k < f->count; k++)
			f->value -= f->coefficient[k] * *f->from[k];
}

static long em3d(long n)
{
	struct field **e = (struct field **)need(calloc((size_t)n, sizeof *e));
	struct field **h = (struct field **)need(calloc((size_t)n, sizeof *h));
	struct field *electric = make_fields(n, e), *magnetic = make_fields(n, h);

	connect(electric, h, n, 10);
	connect(magnetic, e, n, 10);
	for (int round = 0; round < 20; round++) {
		compute(electric);
		compute(magnetic);
	}
	return (long)electric->value;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		long (*run)(long);
	} kernels[] = {{"health", health}, {"bisort", bisort}, {"mst", mst}, {"em3d", em3d}};
	const long n = argument(argc, argv, 2);

	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
		if (!strcmp(kernels[i].name, argv[1])) {
			printf("%ld\n", kernels[i].run(n));
			return 0;
		}
	fprintf(stderr, "%s: no kernel %s\n", argv[0], argv[1]);
	return 1;
}
