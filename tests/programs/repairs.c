/* SPDX-License-Identifier: MIT
 *
 * repairs.c - loops with one fault each, and the same loops with what the rule of docs/advice.md advises; for the rules
 * that examples/faults has no program of.
 *
 *     repairs RULE [repaired]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nearmiss/client.h>

static int repaired;
static unsigned long state = 1;

static unsigned draw(unsigned below)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(state >> 33) % below;
}

/* The compiler knows no more what the array holds, or that nobody reads it. */
static void hide(void *array) { __asm__ volatile("" : : "r"(array) : "memory"); }

/* The numbers below n in random order. */
static void shuffle(unsigned *order, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const unsigned other = draw(i + 1);

		order[i] = order[other];
		order[other] = i;
	}
}

/* ---- lines that collide ---- */

/* Rows of 4,096 bytes in one block. Repaired: a line longer. */
static long step_length(void)
{
	enum { ROWS = 256, USED = 512 };
	const int row = USED + (repaired ? 8 : 0);
	long *grid = calloc((size_t)(ROWS * row), sizeof *grid), sum = 0;

	for (int column = 0; column < USED; column++)
		for (int i = 0; i < ROWS; i++)
			sum += grid[i * row + column]; /* @step-length */
	free(grid);
	return sum;
}

/* Blocks that all begin in one set. Repaired: each begins at another line. */
static long same_sets(void)
{
	enum { BLOCKS = 64, BLOCK = 4096 };
	static long *blocks[BLOCKS];
	unsigned order[BLOCKS];
	long sum = 0;

	shuffle(order, BLOCKS);
	for (int i = 0; i < BLOCKS; i++) {
		char *block = aligned_alloc(BLOCK, BLOCK);

		blocks[order[i]] = (long *)(block + (repaired ? i * 64 : 0));
		*blocks[order[i]] = i;
	}
	for (int round = 0; round < 1000; round++)
		for (int i = 0; i < BLOCKS; i++)
			sum += *blocks[i]; /* @same-sets */
	return sum;
}

/* Hot entries at random places of a table: some sets get more than they have ways for. Repaired: side by side. */
static long uneven_sets(void)
{
	enum { ENTRIES = 1 << 14, HOT = 400, WORDS = 8 };
	static long entries[ENTRIES * WORDS];
	static unsigned order[ENTRIES];
	long sum = 0;

	hide(entries);
	shuffle(order, ENTRIES);
	if (repaired)
		shuffle(order, HOT);
	for (int round = 0; round < 200; round++)
		for (int i = 0; i < HOT; i++)
			sum += entries[order[i] * WORDS]; /* @uneven-sets */
	return sum;
}

/* ---- bytes that are not used ---- */

/* Small blocks, to which the program gave one name. Repaired: one array. */
static long small_blocks(void)
{
	enum { CELLS = 10000 };
	struct cell {
		long value, weight, spare;
	};
	static struct cell *cells[CELLS];
	struct cell *array = repaired ? calloc(CELLS, sizeof *array) : NULL;
	long sum = 0;

	if (repaired)
		NEARMISS_NAME(array, CELLS * sizeof *array, "cells");
	for (int i = 0; i < CELLS; i++) {
		cells[i] = repaired ? &array[i] : malloc(sizeof *cells[i]);
		if (!repaired)
			NEARMISS_NAME(cells[i], sizeof *cells[i], "cells");
		cells[i]->value = cells[i]->weight = i;
		free(malloc(draw(100))); /* moves the next one */
		if (!malloc(40))
			return 0;
	}
	for (int round = 0; round < 10; round++)
		for (int i = 0; i < CELLS; i++)
			sum += cells[i]->value * cells[i]->weight; /* @small-blocks */
	return sum;
}

/* Values behind an array of pointers. Repaired: the values themselves. */
static long pointer_array(void)
{
	enum { VALUES = 1 << 15 };
	static long values[VALUES], *places[VALUES];
	long sum = 0;

	for (int i = 0; i < VALUES; i++)
		places[i] = &values[i];
	for (int i = 0; i < 200000; i++) {
		const unsigned at = draw(VALUES);
		const long *place = repaired ? &values[at] : places[at]; /* @pointer-array */

		sum += *place;
	}
	return sum;
}

/* A macro, so that all accesses are at the line that uses it. */
#define LEAST(a, b, c) ((a) < (b) ? ((a) < (c) ? (a) : (c)) : (b) < (c) ? (b) : (c))

/* The columns of a table of distances, each from the one to its left. Repaired: its rows. */
static long across_rows(void)
{
	enum { WORDS = 600 };
	static int cost[WORDS][WORDS], first[WORDS], second[WORDS];

	for (int i = 0; i < WORDS; i++) {
		first[i] = i % 7;
		second[i] = i % 5;
	}
	for (int outer = 1; outer < WORDS; outer++)
		for (int inner = 1; inner < WORDS; inner++) {
			const int i = repaired ? outer : inner, j = repaired ? inner : outer;

			/* clang-format off */
			cost[i][j] = LEAST(cost[i - 1][j], cost[i][j - 1], cost[i - 1][j - 1]) + (first[i] != second[j]); /* @across-rows */
			/* clang-format on */
		}
	return cost[WORDS - 1][WORDS - 1];
}

/* Columns of a block of which no type tells that it has any. Repaired: rows. */
static long long_steps(void)
{
	enum { SIDE = 1000 };
	int *grid = calloc(SIDE * SIDE, sizeof *grid);
	long sum = 0;

	for (int outer = 0; outer < SIDE; outer++)
		for (int inner = 0; inner < SIDE; inner++)
			sum += repaired ? grid[outer * SIDE + inner]  /* @rows */
					: grid[inner * SIDE + outer]; /* @long-steps */
	free(grid);
	return sum;
}

/* A histogram with keys in random order. Repaired: in order. */
static long scattered(void)
{
	enum { KEYS = 1 << 17, HIGH = 512, LOW = 512 };
	static int histogram[HIGH][LOW];
	static unsigned keys[KEYS];

	for (int i = 0; i < KEYS; i++)
		keys[i] = repaired ? 2u * (unsigned)i : draw(HIGH * LOW);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < KEYS; i++)
			histogram[keys[i] / LOW][keys[i] % LOW]++; /* @scattered */
	return histogram[1][1];
}

/* Every third to eighth number of an array, onward. Repaired: those side by side. */
static long gaps(void)
{
	enum { NUMBERS = 1 << 18, USED = NUMBERS / 12 };
	static long numbers[NUMBERS], packed[USED];
	static unsigned used[USED];
	unsigned at = 0;
	long sum = 0;

	hide(numbers);
	hide(packed);
	for (int i = 0; i < USED; i++)
		used[i] = at += 8 + draw(5);
	for (int round = 0; round < 4; round++)
		for (int i = 0; i < USED; i++)
			sum += repaired ? packed[i] : numbers[used[i] % NUMBERS]; /* @gaps */
	return sum;
}

/* ---- lines that do not stay ---- */

/* Many passes over what no first cache holds. Repaired: in parts. */
static long too_large(void)
{
	enum { NUMBERS = 1 << 15, PART = 1024, PASSES = 20 };
	static long numbers[NUMBERS];
	const int part = repaired ? PART : NUMBERS;
	long sum = 0;

	hide(numbers);
	for (int start = 0; start < NUMBERS; start += part)
		for (int pass = 0; pass < PASSES; pass++)
			for (int i = 0; i < part; i++)
				sum += numbers[start + i] * pass; /* @too-large */
	return sum;
}

/* A table that is used between parts of something large. Repaired: more often at a time. */
static long evicted_by_rival(void)
{
	enum { TABLE = 2048, PARTS = 64, PART = 4096 };
	static long table[TABLE], large[PARTS * PART];
	const int batch = repaired ? 8 : 1;
	long sum = 0;

	hide(table);
	hide(large);
	for (int part = 0; part < PARTS; part += batch) {
		for (int i = 0; i < batch; i++)
			for (int j = 0; j < TABLE; j++)
				sum += table[j] * (part + i); /* @evicted-by-rival */
		for (int i = 0; i < batch * PART; i++)
			sum += large[part * PART + i];
	}
	return sum;
}

/* Numbers that are read once. Repaired: narrower ones. */
static long first_touch(void)
{
	enum { NUMBERS = 1 << 17 };
	static long wide[NUMBERS];
	static signed char narrow[NUMBERS];
	long sum = 0;

	hide(wide);
	hide(narrow);
	for (int i = 0; i < NUMBERS; i++)
		sum += repaired ? narrow[i] : wide[i]; /* @first-touch */
	return sum;
}

/* ---- what is not laid out by the program ---- */

/* Blocks that are freed in random order and allocated again. Repaired: one block that stays. */
static long allocator(void)
{
	enum { CELLS = 10000, BYTES = 200 };
	static char *cells[CELLS];
	static unsigned order[CELLS];
	char *all = calloc(CELLS, BYTES);
	long sum = 0;

	shuffle(order, CELLS);
	for (int round = 0; round < 6; round++) {
		for (int i = 0; i < CELLS; i++) {
			cells[i] = repaired ? all + (size_t)i * BYTES : malloc(BYTES);
			cells[i][100] = (char)i;
		}
		for (int i = 0; i < CELLS; i++) {
			sum += cells[order[i]][100];
			if (!repaired)
				free(cells[order[i]]); /* @allocator */
		}
	}
	return sum;
}

static __attribute__((noinline)) long descend(int depth)
{
	volatile long first = depth, second = depth;

	return depth ? descend(depth - 1) + first + second : 0;
}

/* Deep recursion. Repaired: a loop. */
static long stack_frame(void)
{
	enum { DEPTH = 50000 };
	long sum = 0;

	if (!repaired)
		return descend(DEPTH);
	for (int depth = DEPTH; depth > 0; depth--) {
		volatile long first = depth, second = depth;

		sum += first + second;
	}
	return sum;
}

#define ONCE               \
	sum = sum * 7 + 1; \
	sum ^= sum >> 9;
#define EIGHT(x) x x x x x x x x

/* Code that no first cache holds. Repaired: a loop. Unoptimised: the optimiser takes a minute for the copies. */
__attribute__((optimize(0))) static long code(void)
{
	unsigned long sum = 1;

	for (int round = 0; round < 20; round++)
		if (repaired)
			for (int i = 0; i < 8 * 8 * 8 * 8; i++) {
				ONCE
			}
		else {
			EIGHT(EIGHT(EIGHT(EIGHT(ONCE))))
		}
	return (long)sum;
}

static __attribute__((noinline)) double sum_line(const double *line)
{
	double sum = 0;

	for (int i = 0; i < 8; i++)
		sum += line[i]; /* @mixed */
	return sum;
}

/* Lists of indices lead to elements at random places. Repaired: both in the order of the lists, so that a range is one. */
static long index_chain(void)
{
	enum { LISTS = 1000, EACH = 40, ELEMENTS = LISTS * EACH, PASSES = 100 };
	static unsigned order[ELEMENTS], next[ELEMENTS];
	static long elements[ELEMENTS][8];
	long sum = 0;

	for (unsigned i = 0; i < ELEMENTS; i++)
		order[i] = i;
	if (!repaired)
		shuffle(order, ELEMENTS);
	for (unsigned i = 0; i < ELEMENTS; i++)
		next[order[i]] = i % EACH < EACH - 1 ? order[i + 1] : ELEMENTS;
	hide(next);
	hide(elements);
	for (int pass = 0; pass < PASSES; pass++)
		for (unsigned list = 0; list < LISTS; list++)
			for (unsigned i = order[list * EACH]; i < ELEMENTS; i = next[i]) /* @index-chain */
				sum += elements[i][0];
	return sum;
}

/* As many lines are loaded for the first time as again because there are too many, and because they collide.
 * Repaired: half as many, which stay. */
static long mixed(void)
{
	enum { ROWS = 12, ROW = 512, PASSES = 40 };
	static double rows[ROWS * ROW];
	const int count = repaired ? ROWS / 2 : ROWS;
	double sum = 0;

	hide(rows);
	for (int pass = 0; pass < 2; pass++)
		for (int line = 0; line < count * ROW; line += 8)
			sum += sum_line(rows + line);
	for (int pass = 0; pass < PASSES; pass++)
		for (int row = 0; row < count; row++)
			sum += sum_line(rows + row * ROW);
	return (long)sum;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *rule;
		long (*run)(void);
	} cases[] = {
	    {"step length", step_length},
	    {"same sets", same_sets},
	    {"uneven sets", uneven_sets},
	    {"small blocks", small_blocks},
	    {"pointer array", pointer_array},
	    {"across rows", across_rows},
	    {"long steps", long_steps},
	    {"scattered", scattered},
	    {"gaps", gaps},
	    {"too large", too_large},
	    {"evicted by rival", evicted_by_rival},
	    {"first touch", first_touch},
	    {"allocator", allocator},
	    {"stack frame", stack_frame},
	    {"code", code},
	    {"index chain", index_chain},
	    {"mixed", mixed},
	};

	repaired = argc > 2 && !strcmp(argv[2], "repaired");
	for (unsigned i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(argv[1], cases[i].rule))
			return printf("%ld\n", cases[i].run()) < 0;
	return 2;
}
