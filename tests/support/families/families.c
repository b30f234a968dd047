/* SPDX-License-Identifier: MIT
 *
 * families.c - see families.h.
 *
 * Each family is a function that emits references until the stream is full. Objects lie behind each other, so a
 * line is the first line of its object and a number below the object's lines.
 */
#include "families.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- chance (splitmix64: Steele, Lea, Flood, OOPSLA 2014) ---- */

static uint64_t draw(uint64_t *random)
{
	uint64_t x = *random += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static uint32_t below(uint64_t *random, uint32_t n) { return (uint32_t)((draw(random) >> 32) * n >> 32); }

static double uniform(uint64_t *random) { return ((double)(draw(random) >> 11) + 0.5) * 0x1p-53; }

static double between(uint64_t *random, double low, double high)
{
	return low + (high - low) * uniform(random);
}

/* Every octave of [low, high] is as likely as another. */
static uint32_t size_between(uint64_t *random, double low, double high)
{
	return (uint32_t)exp(between(random, log(low), log(fmax(low, high))));
}

static double normal(uint64_t *random)
{
	return sqrt(-2 * log(uniform(random))) * cos(2 * M_PI * uniform(random));
}

/* ---- streams ---- */

struct emitter {
	struct family_stream *stream;
	size_t count; /* emitted */
};

/* Returns whether there is room for more. */
static int emit(struct emitter *e, unsigned object, unsigned site, uint32_t line)
{
	if (e->count < e->stream->count) {
		e->stream->lines[e->count] = line;
		e->stream->keys[e->count++] = (uint8_t)(1 + 2 * object + site);
	}
	return e->count < e->stream->count;
}

/* A footprint that the stream visits many times. */
static uint32_t lines_for(const struct family_stream *s, uint64_t *random)
{
	return size_between(random, 300, fmin((double)s->count / 12, 400000));
}

/* ---- one kind of access to a range of lines ---- */

enum kind { UNIFORM, CYCLIC, ZIPF, GAUSSIAN, KINDS };

static const char *const kind_names[] = {"uniform", "cyclic", "Zipf", "Gaussian walk"};

struct access {
	enum kind kind;
	uint32_t first, lines, next;
	double skew, *sums; /* of a Zipf distribution */
	uint32_t stride;    /* that shuffles its ranks */
	double centre, spread;
};

static struct access access_to(enum kind kind, uint32_t first, uint32_t lines, uint64_t *random)
{
	struct access a = {.kind = kind, .first = first, .lines = lines};

	a.centre = lines / 2.0;
	a.spread = lines * between(random, 0.05, 0.2);
	a.stride = (uint32_t)(lines * 0.618) | 1;
	if (kind == ZIPF) {
		double sum = 0;

		a.skew = between(random, 0.6, 1.4);
		a.sums = malloc(lines * sizeof *a.sums);
		for (uint32_t i = 0; a.sums && i < lines; i++)
			a.sums[i] = sum += pow(i + 1.0, -a.skew);
	}
	return a;
}

static uint32_t zipf_rank(const struct access *a, uint64_t *random)
{
	const double at = uniform(random) * a->sums[a->lines - 1];
	uint32_t low = 0, high = a->lines - 1;

	while (low < high) {
		const uint32_t mid = (low + high) / 2;

		if (a->sums[mid] < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static uint32_t wander(struct access *a, uint64_t *random)
{
	double at;

	a->centre += normal(random) * a->lines / 1500;
	a->centre = fmin(fmax(a->centre, 0), a->lines - 1.0);
	do
		at = a->centre + normal(random) * a->spread;
	while (at < 0 || at >= a->lines);
	return (uint32_t)at;
}

static uint32_t next_line(struct access *a, uint64_t *random)
{
	switch (a->kind) {
	case UNIFORM: return a->first + below(random, a->lines);
	case CYCLIC: return a->first + a->next++ % a->lines;
	case ZIPF: return a->first + (uint32_t)((uint64_t)zipf_rank(a, random) * a->stride % a->lines);
	default: return a->first + wander(a, random);
	}
}

static void one_kind(struct family_stream *s, uint64_t *random, enum kind kind)
{
	const uint32_t lines = lines_for(s, random);
	struct emitter e = {s, 0};
	struct access a = access_to(kind, 0, lines, random);

	s->footprint = lines;
	snprintf(s->about, sizeof s->about, "%u lines%s", lines, "");
	if (kind == ZIPF)
		snprintf(s->about, sizeof s->about, "%u lines, exponent %.2f", lines, a.skew);
	for (uint32_t line = next_line(&a, random); emit(&e, line % 2, line / 2 % 2, line);)
		line = next_line(&a, random);
	free(a.sums);
}

static void make_uniform(struct family_stream *s, uint64_t *random) { one_kind(s, random, UNIFORM); }
static void make_cyclic(struct family_stream *s, uint64_t *random) { one_kind(s, random, CYCLIC); }
static void make_zipf(struct family_stream *s, uint64_t *random) { one_kind(s, random, ZIPF); }
static void make_gaussian(struct family_stream *s, uint64_t *random) { one_kind(s, random, GAUSSIAN); }

/* ---- what changes with time ---- */

/* Two to five phases of different kinds, over objects that may come again. */
static void make_phases(struct family_stream *s, uint64_t *random)
{
	const unsigned phases = 2 + below(random, 4);
	struct emitter e = {s, 0};
	struct access a[FAMILY_OBJECTS];

	for (unsigned i = 0; i < FAMILY_OBJECTS; i++) {
		a[i] = access_to((enum kind)below(random, KINDS), s->footprint, lines_for(s, random), random);
		s->footprint += a[i].lines;
	}
	snprintf(s->about, sizeof s->about, "%u phases: %s %u, %s %u, %s %u", phases, kind_names[a[0].kind],
		 a[0].lines, kind_names[a[1].kind], a[1].lines, kind_names[a[2].kind], a[2].lines);
	for (unsigned phase = 0; phase < phases; phase++) {
		const unsigned object = (phase + below(random, 2)) % FAMILY_OBJECTS;
		const double share = phase + 1 < phases ? between(random, 0.5, 1.5) / phases : 1;
		size_t left = (size_t)((double)s->count * share);

		while (left-- && emit(&e, object, phase % 2, next_line(&a[object], random)))
			;
	}
	for (unsigned i = 0; i < FAMILY_OBJECTS; i++)
		free(a[i].sums);
}

/* A set from which lines are drawn at random, beside a small one in constant use. */
static void changing(struct family_stream *s, uint64_t *random, int grows)
{
	const uint32_t lines = lines_for(s, random), few = 8 + below(random, 200);
	const double shape = between(random, 0.5, 2);
	struct emitter e = {s, 0};

	s->footprint = lines + few;
	snprintf(s->about, sizeof s->about, "%u lines, beside %u, power %.1f", lines, few, shape);
	for (int more = 1; more;) {
		const double at = (double)e.count / (double)s->count, part = pow(grows ? at : 1 - at, shape);
		const uint32_t set = 1 + (uint32_t)(part * (lines - 1));

		more = below(random, 3) ? emit(&e, 0, below(random, 2), below(random, set))
					: emit(&e, 1, 0, lines + below(random, few));
	}
}

static void make_growing(struct family_stream *s, uint64_t *random) { changing(s, random, 1); }
static void make_shrinking(struct family_stream *s, uint64_t *random) { changing(s, random, 0); }

/* Three kinds at once, each with its share. */
static void make_mixture(struct family_stream *s, uint64_t *random)
{
	struct emitter e = {s, 0};
	struct access a[FAMILY_OBJECTS];
	double share[FAMILY_OBJECTS], sum = 0;
	unsigned object = 0;

	for (unsigned i = 0; i < FAMILY_OBJECTS; i++) {
		a[i] = access_to((enum kind)below(random, KINDS), s->footprint, lines_for(s, random), random);
		s->footprint += a[i].lines;
		sum += share[i] = between(random, 0.05, 1);
	}
	snprintf(s->about, sizeof s->about, "%s %u, %s %u, %s %u", kind_names[a[0].kind], a[0].lines,
		 kind_names[a[1].kind], a[1].lines, kind_names[a[2].kind], a[2].lines);
	do {
		double at = uniform(random) * sum;

		for (object = 0; object + 1 < FAMILY_OBJECTS && at >= share[object]; object++)
			at -= share[object];
	} while (emit(&e, object, below(random, 2), next_line(&a[object], random)));
	for (unsigned i = 0; i < FAMILY_OBJECTS; i++)
		free(a[i].sums);
}

/* ---- programs ---- */

enum { NUMBERS = 8 /* in a line */ };

/* C = A B of n by n doubles, with the middle loop over rows or over columns; again until the stream is full. */
static void make_matrices(struct family_stream *s, uint64_t *random)
{
	const uint32_t n = NUMBERS *
			   (1 + (uint32_t)(cbrt((double)s->count / 3) * between(random, 0.5, 1) / NUMBERS)),
		       row = n / NUMBERS, size = n * row;
	const int by_rows = (int)below(random, 2);
	struct emitter e = {s, 0};
	int more = 1;

	s->footprint = 3 * size;
	snprintf(s->about, sizeof s->about, "%u by %u, %s", n, n, by_rows ? "i, k, j" : "i, j, k");
	while (more)
		for (uint32_t i = 0; i < n && more; i++)
			for (uint32_t x = 0; x < n && more; x++)
				for (uint32_t y = 0; y < n && more; y++) {
					const uint32_t k = by_rows ? x : y, j = by_rows ? y : x;

					emit(&e, 0, 0, i * row + k / NUMBERS);
					emit(&e, 1, 0, size + k * row + j / NUMBERS);
					more = emit(&e, 2, 0, 2 * size + i * row + j / NUMBERS);
				}
}

/* Sweeps of a five-point stencil over a grid, from one array to another and back. */
static void make_stencil(struct family_stream *s, uint64_t *random)
{
	const uint32_t lines = lines_for(s, random),
		       row = 2 + (uint32_t)(sqrt(lines / 2.0) * between(random, 0.2, 1)),
		       rows = 3 + lines / 2 / row, size = rows * row;
	struct emitter e = {s, 0};
	int more = 1;

	s->footprint = 2 * size;
	snprintf(s->about, sizeof s->about, "%u rows of %u lines", rows, row);
	for (uint32_t sweep = 0; more; sweep++) {
		const uint32_t from = sweep % 2 * size, to = size - from;

		for (uint32_t i = row; i + row < size && more; i++)
			for (unsigned n = 0; n < NUMBERS && more; n++) {
				emit(&e, sweep % 2, 0, from + i - row);
				emit(&e, sweep % 2, 0, from + i);
				emit(&e, sweep % 2, 1, from + i + row);
				more = emit(&e, !(sweep % 2), 0, to + i);
			}
	}
}

/* Builds a hash table of a relation and looks the rows of another one up. */
static void make_join(struct family_stream *s, uint64_t *random)
{
	const uint32_t table = lines_for(s, random), build = table * 2;
	const double found = between(random, 1, 3);
	struct emitter e = {s, 0};
	uint32_t probe = 0, most = (uint32_t)(s->count / 4) + 1;

	s->footprint = table + build / 4 + 1 + most;
	snprintf(s->about, sizeof s->about, "table of %u lines", table);
	for (uint32_t i = 0; i < build; i++) {
		emit(&e, 1, 0, table + i / 4);
		emit(&e, 0, 0, below(random, table));
	}
	do {
		emit(&e, 2, 0, table + build / 4 + 1 + probe++ / 4 % most);
		for (double looks = found * uniform(random); looks > 0.5; looks--)
			emit(&e, 0, 1, below(random, table));
	} while (emit(&e, 0, 1, below(random, table)));
}

/* Sorts by merges, from one array to another and back, again and again. */
static void make_merges(struct family_stream *s, uint64_t *random)
{
	const uint32_t size = lines_for(s, random) / 2 + 2;
	struct emitter e = {s, 0};
	int more = 1;

	s->footprint = 2 * size;
	snprintf(s->about, sizeof s->about, "two arrays of %u lines", size);
	for (uint32_t run = 1, pass = 0; more; run = run < size ? 2 * run : 1, pass++)
		for (uint32_t start = 0; start < size && more; start += 2 * run) {
			uint32_t a = 0, b = 0; /* numbers taken from either run */
			const uint32_t left = size - start, first = run < left ? run : left,
				       second = left - first < run ? left - first : run;

			while (a + b < (first + second) * NUMBERS && more) {
				const int take =
				    b == second * NUMBERS || (a < first * NUMBERS && below(random, 2));
				const uint32_t from = take ? a++ / NUMBERS : first + b++ / NUMBERS;

				emit(&e, 0, pass % 2, (pass % 2) * size + start + from);
				more = emit(&e, 1, pass % 2,
					    (1 - pass % 2) * size + start + (a + b - 1) / NUMBERS);
			}
		}
}

/* Searches of a binary tree, a node a line, for keys that are equally likely or not; and the rows found. */
static void make_tree(struct family_stream *s, uint64_t *random)
{
	const uint32_t nodes = lines_for(s, random);
	struct emitter e = {s, 0};
	struct access keys = access_to(below(random, 2) ? UNIFORM : ZIPF, 0, nodes, random);
	int more = 1;

	s->footprint = 2 * nodes + 1;
	snprintf(s->about, sizeof s->about, "%u nodes, %s", nodes, kind_names[keys.kind]);
	while (more) {
		const uint32_t key = next_line(&keys, random);
		uint32_t low = 0, high = nodes, mid = nodes / 2;

		for (; mid != key && more; mid = (low + high) / 2) {
			more = emit(&e, 0, 0, (uint32_t)((uint64_t)mid * keys.stride % nodes));
			*(mid < key ? &low : &high) = mid + (mid < key);
		}
		more = more && emit(&e, 1, 0, nodes + key);
	}
	free(keys.sums);
}

const struct family families[] = {{"uniform", make_uniform},
				  {"cyclic", make_cyclic},
				  {"Zipf", make_zipf},
				  {"Gaussian walk", make_gaussian},
				  {"phases", make_phases},
				  {"growing set", make_growing},
				  {"shrinking set", make_shrinking},
				  {"mixture", make_mixture},
				  {"matrix product", make_matrices},
				  {"stencil", make_stencil},
				  {"hash join", make_join},
				  {"merges", make_merges},
				  {"tree", make_tree},
				  {NULL, NULL}};

struct family_stream family_draw(const struct family *family, size_t count, uint64_t seed)
{
	struct family_stream s = {
	    .lines = malloc(count * sizeof *s.lines), .keys = malloc(count), .count = count};
	uint64_t random = seed;

	if (!s.lines || !s.keys)
		exit(125);
	draw(&random);
	family->make(&s, &random);
	return s;
}

void family_free(struct family_stream *s)
{
	free(s->lines);
	free(s->keys);
}
