/* SPDX-License-Identifier: MIT
 *
 * placement.c - places the cells of a circuit by simulated annealing: short lists of small structs.
 *
 *     gcc -g -O1 -o placement placement.c                    every struct from malloc, in order of reading
 *     gcc -g -O1 -DREPAIRED=1 -o placement-near placement.c  each beside the one that leads to it
 *     nearmiss record -- ./placement [CELLS [MOVES]]
 *
 * A cell has terminals, a terminal belongs to a net, and a net has a pin for each of its terminals. A move
 * swaps two cells that are chosen at random and follows all their nets to see how the wires' lengths
 * change. Pins and terminals are made as the circuit is read, cell by cell, so the pins of a net
 * lie far apart. Both versions print the same numbers.
 *
 * docs/case-studies/placement.md tells how that shows and what the repair does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef REPAIRED
#define REPAIRED 0
#endif

enum { TERMINALS = 4, PINS_PER_NET = 3, LINE = 64 };

struct pin {
	struct pin *next;
	int x, y;
};

struct net {
	struct pin *pins;
	int length;
};

struct terminal {
	struct terminal *next;
	struct net *net;
	struct pin *pin;
};

struct cell {
	struct terminal *terminals;
	int x, y;
};

struct circuit {
	long cell_count, net_count;
	struct cell **cells;
	struct net **nets;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t random_below(uint64_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % limit;
}

/* ---- the one way to memory ---------------------------------------------------------------------- */

static void *checked(void *memory)
{
	if (!memory) {
		fprintf(stderr, "placement: out of memory\n");
		exit(1);
	}
	return memory;
}

#if REPAIRED

/* Memory in cache lines, without headers: how much of each line is taken stands in a table apart. A struct
 * goes into the line of the one that leads to it (`near`) where there is room, and else starts a new line. */
static struct {
	char *lines;
	unsigned char *taken;
	long used, count;
} pool;

static void make_pool(long count)
{
	pool.lines = checked(aligned_alloc(LINE, (size_t)count * LINE));
	pool.taken = checked(calloc(count, 1));
	pool.count = count;
}

static long next_line(void)
{
	if (pool.used == pool.count)
		checked(NULL);
	return pool.used++;
}

static void *struct_malloc(size_t bytes, const void *near)
{
	long line = near ? ((const char *)near - pool.lines) / LINE : -1;
	void *place;

	if (line < 0 || pool.taken[line] + bytes > LINE)
		line = next_line();
	place = pool.lines + line * LINE + pool.taken[line];
	pool.taken[line] += bytes;
	return place;
}

#else

static void make_pool(long count) { (void)count; }

static void *struct_malloc(size_t bytes, const void *near)
{
	(void)near;
	return checked(malloc(bytes));
}

#endif

/* ---- reading the circuit ------------------------------------------------------------------------- */

static struct pin *new_pin(struct net *net, const struct cell *cell)
{
	struct pin *pin = struct_malloc(sizeof *pin, net->pins ? (void *)net->pins : net); /* @pin */

	pin->x = cell->x;
	pin->y = cell->y;
	pin->next = net->pins;
	net->pins = pin;
	return pin;
}

static void new_terminal(struct cell *cell, struct net *net)
{
	void *near = cell->terminals ? (void *)cell->terminals : cell;
	struct terminal *terminal = struct_malloc(sizeof *terminal, near);

	terminal->net = net;
	terminal->pin = new_pin(net, cell);
	terminal->next = cell->terminals;
	cell->terminals = terminal;
}

static void read_circuit(struct circuit *c, long cells)
{
	long side = 1;

	while (side * side < cells)
		side++;
	c->cell_count = cells;
	c->net_count = cells * TERMINALS / PINS_PER_NET;
	c->cells = checked(malloc(cells * sizeof *c->cells));
	c->nets = checked(malloc(c->net_count * sizeof *c->nets));
	make_pool(c->net_count * 4 + cells * 4);
	for (long n = 0; n < c->net_count; n++) {
		c->nets[n] = struct_malloc(sizeof *c->nets[n], NULL);
		*c->nets[n] = (struct net){NULL, 0};
	}
	for (long i = 0; i < cells; i++) {
		c->cells[i] = struct_malloc(sizeof *c->cells[i], NULL);
		*c->cells[i] = (struct cell){NULL, (int)(i % side), (int)(i / side)};
		for (int t = 0; t < TERMINALS; t++)
			new_terminal(c->cells[i], c->nets[random_below(c->net_count)]);
	}
}

/* ---- annealing ----------------------------------------------------------------------------------- */

/* Half the outline of the rectangle around all pins. */
static int wire_length(const struct net *net)
{
	int left = 1 << 30, right = 0, low = 1 << 30, high = 0;

	for (const struct pin *pin = net->pins; pin; pin = pin->next) { /* @walk */
		left = pin->x < left ? pin->x : left;                   /* @x */
		right = pin->x > right ? pin->x : right;
		low = pin->y < low ? pin->y : low;
		high = pin->y > high ? pin->y : high;
	}
	return net->pins ? right - left + high - low : 0;
}

static void move_pins(const struct cell *cell)
{
	for (const struct terminal *t = cell->terminals; t; t = t->next) {
		t->pin->x = cell->x;
		t->pin->y = cell->y;
	}
}

/* How much longer the cell's nets have become; notes their new lengths. */
static int settle(const struct cell *cell)
{
	int change = 0;

	for (const struct terminal *t = cell->terminals; t; t = t->next) {
		int length = wire_length(t->net);

		change += length - t->net->length;
		t->net->length = length;
	}
	return change;
}

static int swap(struct cell *a, struct cell *b)
{
	int x = a->x, y = a->y;

	a->x = b->x;
	a->y = b->y;
	b->x = x;
	b->y = y;
	move_pins(a);
	move_pins(b);
	return settle(a) + settle(b);
}

static long anneal(struct circuit *c, long moves)
{
	long taken = 0;
	int limit = 64;

	for (long m = 0; m < moves; m++) {
		struct cell *a = c->cells[random_below(c->cell_count)],
			    *b = c->cells[random_below(c->cell_count)];

		if (swap(a, b) <= limit * (int)random_below(100) / 100)
			taken++;
		else
			swap(a, b);
		if (m % (moves / 8 + 1) == moves / 8)
			limit /= 2;
	}
	return taken;
}

int main(int argc, char **argv)
{
	long cells = argc > 1 ? atol(argv[1]) : 5000, moves = argc > 2 ? atol(argv[2]) : 20000, total = 0,
	     taken;
	struct circuit c;

	if (cells < 2) {
		fprintf(stderr, "placement: CELLS must be at least 2\n");
		return 2;
	}
	read_circuit(&c, cells);
	for (long n = 0; n < c.net_count; n++)
		c.nets[n]->length = wire_length(c.nets[n]);
	taken = anneal(&c, moves);
	for (long n = 0; n < c.net_count; n++)
		total += c.nets[n]->length;
	printf("%ld cells, %ld nets, %ld of %ld moves taken, wires %ld\n", cells, c.net_count, taken, moves,
	       total);
	return 0;
}
