/* SPDX-License-Identifier: MIT
 *
 * placed.c - faults of the places and the order of data, and their repairs: the same code on the same values, placed
 * or visited in order instead of at random (pairs.h).
 */
#include "pairs.h"

/* An order of things, which the loops go by. */
static uint32_t order[WORDS];

/* 0 to count - 1 in order[from...], shuffled unless `in_order`. */
static void number(size_t from, size_t count, int in_order)
{
	uint64_t x = 1;

	EACH(i, count) order[from + i] = (uint32_t)i;
	for (size_t i = count - 1; i && !in_order; i--) {
		const size_t k = (size_t)((x = next(x)) >> 33) % (i + 1);
		const uint32_t t = order[from + i];

		order[from + i] = order[from + k];
		order[from + k] = t;
	}
}

/* ---- indices ---- */

static void indices(uint64_t *w, size_t n, int repaired)
{
	numbers(w, n, repaired);
	number(0, 2 * MILLION, repaired);
}

PAIR(gathered)
{
	uint64_t s = 0;
	TIMES(2) EACH(i, 2 * MILLION) s += w[order[i] & mask];
	return s;
}

PAIR(scattered)
{
	TIMES(2) EACH(i, 2 * MILLION) w[order[i] & mask] = i;
	return w[1];
}

static void objects(uint64_t *w, size_t n, int repaired)
{
	numbers(w, n, repaired);
	number(0, MILLION / 2, repaired);
}

/* Three fields of objects of a line. */
PAIR(objects_by_pointer)
{
	uint64_t s = 0;

	TIMES(6) EACH(i, MILLION / 2)
	{
		const uint64_t *o = w + (order[i] * (size_t)LINE & mask);
		s += o[0] + o[3] * o[6];
	}
	return s;
}

/* Records of 256 bytes are copied in the order of a sort. */
static void records(uint64_t *w, size_t n, int repaired)
{
	numbers(w, n, repaired);
	number(0, MILLION / 16, repaired);
}
PAIR(records_copied)
{
	TIMES(2) EACH(i, MILLION / 16)
	{
		uint64_t *to = w + ((WORDS / 2 + i * 32) & mask), *from = w + (order[i] * (size_t)32 & mask);
		EACH(k, 32) to[k] = from[k];
	}
	return w[1];
}

/* Names of 40 bytes, each compared with the one after it. */
static void names(uint64_t *w, size_t n, int repaired)
{
	objects(w, n, repaired);
	EACH(i, MILLION / 2)
	{
		memcpy(w + (order[i] * (size_t)LINE & (n - 1)), (uint64_t[]){1, 1, 1, 1, i}, 40);
	}
}
PAIR(names_compared)
{
	uint64_t s = 0;

	TIMES(4) EACH(i, MILLION / 2 - 1)
	{
		const uint64_t *a = w + (order[i] * (size_t)LINE & mask),
			       *b = w + (order[i + 1] * (size_t)LINE & mask);
		s += memcmp(a, b, 40) < 0;
	}
	return s;
}

/* Keys into parts that are filled in order. */
PAIR(parts_filled)
{
	static uint16_t used[8192];

	TIMES(2) EACH(i, 2 * MILLION)
	{
		const size_t part = order[i] >> 8;
		w[(part * 512 + (used[part]++ & 511)) & mask] = i;
	}
	return w[1];
}

/* A sparse matrix of 32 entries a row, times a vector of 8M: columns anywhere, or near the diagonal. */
static void entries(uint64_t *w, size_t n, int repaired)
{
	uint64_t x = 1;

	(void)n;
	set_up(w, WORDS, REALS);
	EACH(i, 2 * MILLION)
	order[i] = (uint32_t)(drawn(x = next(x), repaired ? 512 : MILLION) + i / 64 * 31);
}
PAIR(sparse_matrix)
{
	const double *values = real(w), *v = real(w) + WORDS / 2;
	double s = 0;

	TIMES(2) for (size_t i = 0; i < 2 * MILLION; i += 32)
	{
		double row = 0;

		EACH(k, 32) row += values[(i + k) & mask] * v[order[i + k] & (MILLION - 1) & mask];
		s += row * row;
	}
	return (uint64_t)s;
}

/* Three bits for each key, in a filter that is larger or smaller than the caches. */
PAIR(bits_of_filter)
{
	const size_t all = repaired ? 1023 : mask;
	uint64_t x = 1, found = 0;

	EACH(i, 2 * MILLION)
	{
		const uint64_t a = x = next(x), b = a * 0x9e3779b97f4a7c15u, c = b * 0x9e3779b97f4a7c15u;

		found += w[a >> 32 & all] >> (a & 63) & w[b >> 32 & all] >> (b & 63) &
			 w[c >> 32 & all] >> (c & 63) & 1;
	}
	return found;
}

/* ---- chains ---- */

/* A list through nodes of some words; each holds the index of the next. */
static void link_nodes(uint64_t *w, size_t n, size_t words, int repaired)
{
	const size_t count = n / words;

	numbers(w, n, repaired);
	number(0, count, repaired);
	EACH(i, count) w[order[i] * words] = order[(i + 1) % count] * words;
}
static void nodes_of_lines(uint64_t *w, size_t n, int repaired) { link_nodes(w, n, 8, repaired); }
static void nodes_of_16(uint64_t *w, size_t n, int repaired) { link_nodes(w, n, 2, repaired); }
static void nodes_of_128(uint64_t *w, size_t n, int repaired) { link_nodes(w, n, 16, repaired); }

PAIR(list_of_lines)
{
	uint64_t p = 0, s = 0;

	TIMES(2 * MILLION)
	{
		s += w[p + 1];
		p = w[p];
	}
	return s;
}
PAIR(list_of_small_nodes) { return list_of_lines(w, n, mask, repaired); }
PAIR(list_of_two_lines)
{
	uint64_t p = 0, s = 0;

	TIMES(MILLION)
	{
		s += w[p + 8] * w[p + 9];
		p = w[p];
	}
	return s;
}

/* A search tree of nodes of four words at random places: key, left, right. Its keys are looked up in order or not.
 * The first place has the node that is none. */
static void tree(uint64_t *w, size_t n, int repaired)
{
	const size_t nodes = n / 4;

	number(1, nodes - 1, 0);
	for (size_t key = 1; key < nodes; key++) {
		const size_t step = (key & -key) / 2;
		uint64_t *node = w + (order[key] + 1) * (size_t)4;

		node[0] = key;
		node[1] = step ? (order[key - step] + 1) * (size_t)4 : 0;
		node[2] = step ? (order[key + step] + 1) * (size_t)4 : 0;
	}
	order[0] = order[nodes / 2];
	number(MILLION, MILLION / 8, repaired);
}
PAIR(tree_looked_up)
{
	const size_t root = (order[0] + 1) * (size_t)4;
	uint64_t s = 0;

	EACH(i, MILLION / 8)
	{
		const uint64_t key = order[MILLION + i] * (uint64_t)8 & (n / 4 - 1);
		size_t at = root;

		TIMES(20)
		{
			s += w[at];
			at = w[at + 1 + (w[at] < key)];
		}
	}
	return s;
}

/* A sorted array; the keys come in order or not. */
static void sorted(uint64_t *w, size_t n, int repaired)
{
	set_up(w, n, SORTED);
	number(0, MILLION / 8, repaired);
}
PAIR(sorted_array)
{
	const size_t levels = (size_t)__builtin_ctzll(n);
	uint64_t s = 0;

	TIMES(22 / levels) EACH(i, MILLION / 8)
	{
		const uint64_t key = order[i] * (uint64_t)32 & mask;
		size_t low = 0;

		for (size_t half = n / 2; half; half /= 2)
			low += w[low + half - 1] < key ? half : 0;
		s += low;
	}
	return s;
}

/* A hash table with two nodes of two words for each of its heads: nodes were made, and are looked up, in order or
 * not. */
static void chains(uint64_t *w, size_t n, int repaired)
{
	const size_t keys = n / 4;
	uint64_t *nodes = w + keys;

	number(0, keys, repaired);
	EACH(i, keys)
	{
		uint64_t *head = &w[order[i] / 2];

		nodes[2 * i] = order[i];
		nodes[2 * i + 1] = *head;
		*head = 2 * i;
	}
	EACH(i, MILLION) order[MILLION + i] = repaired ? (uint32_t)i : order[i * 5 & (keys - 1)];
}
PAIR(hash_chains)
{
	const uint64_t *nodes = w + n / 4;
	uint64_t s = 0;

	TIMES(2) EACH(i, MILLION)
	{
		const size_t key = order[MILLION + i] & (n / 4 - 1);
		uint64_t at = w[key / 2];

		while (nodes[at] != key)
			at = nodes[at + 1];
		s += at;
	}
	return s;
}

/* Slots from a place on, up to an empty one. */
static void slots(uint64_t *w, size_t n, int repaired)
{
	set_up(w, n, SMALL);
	number(0, 2 * MILLION, repaired);
}
PAIR(open_addressing)
{
	uint64_t s = 0;

	EACH(i, 2 * MILLION)
	{
		size_t k = order[i] * (size_t)2 & mask;

		while (w[k] & 3)
			k++;
		s += k;
	}
	return s;
}

/* A state machine: the state after each byte is in a table of 32M, of which all or few states are used. */
static void states(uint64_t *w, size_t n, int repaired)
{
	uint64_t x = 1;

	EACH(i, n) w[i] = drawn(x = next(x), repaired ? 8 : n / 256) * 256;
	EACH(i, MILLION) order[i] = (uint32_t)((x = next(x)) >> 56);
}
PAIR(state_machine)
{
	uint64_t state = 0;
	EACH(i, MILLION) state = w[(state + order[i]) & mask];
	return state;
}

/* Eight particles of four words in each cell, in chains; the first particle ends them. */
static void cells(uint64_t *w, size_t n, int repaired)
{
	const size_t particles = n / 4;
	uint32_t *heads = order + MILLION;

	numbers(w, n, repaired);
	number(0, particles, repaired);
	memset(heads, 0, particles / 8 * sizeof *heads);
	for (size_t i = 1; i < particles; i++) {
		w[4 * i] = heads[order[i] / 8];
		heads[order[i] / 8] = (uint32_t)i;
	}
}
PAIR(particles_of_cells)
{
	uint64_t s = 0;

	EACH(cell, MILLION / 4)
	{
		for (uint64_t i = order[MILLION + (cell & (n / 32 - 1))]; i; i = w[4 * i])
			s += w[4 * i + 1] * w[4 * i + 2];
	}
	return s;
}

/* ---- graphs ---- */

/* Nodes of a line with eight neighbours each in a ring, numbered along it or not. */
static void graph(uint64_t *w, size_t n, int repaired)
{
	static const int away[8] = {1, -1, 7, -7, 40, -40, 60, -60};
	const size_t count = n / 16;
	const uint32_t *node = order + 8 * count;

	memset(w, 0, ALL);
	number(8 * count, count, repaired);
	EACH(i, count) EACH(k, 8) order[node[i] * (size_t)8 + k] = node[(i + (size_t)away[k]) & (count - 1)];
}
PAIR(breadth_first)
{
	uint64_t *queue = w + n / 2, s = 0;

	TIMES(2 * WORDS / n)
	{
		size_t head = 0, tail = 0;

		w[1] = times + 1;
		queue[tail++] = 0;
		while (head < tail) {
			const uint64_t at = queue[head++];

			EACH(k, 8)
			{
				const size_t to = order[at * 8 + k];

				if (w[to * 8 + 1] == times + 1)
					continue;
				w[to * 8 + 1] = times + 1;
				w[to * 8] = at;
				queue[tail++] = to;
			}
		}
		s += tail;
	}
	return s;
}

/* Sets of 32 points, each of which leads to the root by up to five others. */
static void sets(uint64_t *w, size_t n, int repaired)
{
	number(0, n, repaired);
	EACH(i, n) w[order[i]] = order[i & 31 ? i & (i - 1) : i];
}
PAIR(roots_of_sets)
{
	uint64_t s = 0;

	EACH(i, MILLION)
	{
		uint64_t p = order[i & mask];

		while (w[p] != p)
			p = w[p];
		s += p;
	}
	return s;
}

static const struct pair pairs[] = {
    BOTH(gathered, indices),
    BOTH(scattered, indices),
    BOTH(objects_by_pointer, objects),
    BOTH(records_copied, records),
    BOTH(names_compared, names),
    BOTH(parts_filled, indices),
    BOTH(sparse_matrix, entries),
    BOTH(bits_of_filter, numbers),
    BOTH(list_of_lines, nodes_of_lines),
    BOTH(list_of_small_nodes, nodes_of_16),
    BOTH(list_of_two_lines, nodes_of_128),
    BOTH(tree_looked_up, tree),
    BOTH(sorted_array, sorted),
    BOTH(hash_chains, chains),
    BOTH(open_addressing, slots),
    BOTH(state_machine, states),
    BOTH(particles_of_cells, cells),
    BOTH(breadth_first, graph),
    BOTH(roots_of_sets, sets),
};

int main(int argc, char **argv) { return run_pair(pairs, sizeof pairs / sizeof *pairs, argc, argv); }
