/* SPDX-License-Identifier: MIT
 *
 * latent_test.c - latent false sharing equals a quadratic twin, which keeps all accesses and looks back from
 * each; and textbook cases give what theory says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hierarchy.h"
#include "latent.h"
#include "numbers.h"

enum { ACCESSES = 1500, BLOCKS = 6 };

struct access {
	uint64_t address;
	unsigned core, bytes;
	int write;
};

struct twin {
	unsigned block;
	struct access accesses[ACCESSES];
	size_t count;
};

/* Number of the virtual line at an address; its start is *ret_start. */
static int64_t line_of(const struct twin *t, unsigned layout, uint64_t address, uint64_t *ret_start)
{
	const uint64_t size = layout ? t->block : 2 * t->block, later = layout * t->block / 4;
	const int64_t number = (int64_t)((address + size - later) / size) - 1;

	*ret_start = (uint64_t)(number * (int64_t)size + (int64_t)later);
	return number;
}

static int in_line(const struct twin *t, unsigned layout, const struct access *a, int64_t line)
{
	uint64_t start;

	return line_of(t, layout, a->address, &start) == line ||
	       line_of(t, layout, a->address + a->bytes - 1, &start) == line;
}

static uint64_t block_of(const struct twin *t, const struct access *a) { return a->address / t->block; }

/* Whether access i is a latent miss of a virtual line that it is in. */
static int misses(const struct twin *t, unsigned layout, size_t i, int64_t line)
{
	const struct access *now = &t->accesses[i];
	uint64_t blocks[ACCESSES], taken = UINT64_MAX;
	size_t touched = 0;
	int valid = 0;

	/* From the start: what the core has touched since it had the line, and which write took it. */
	for (size_t k = 0; k < i; k++) {
		const struct access *a = &t->accesses[k];

		if (!in_line(t, layout, a, line))
			continue;
		if (a->core == now->core) {
			touched = valid ? touched : 0;
			blocks[touched++] = block_of(t, a);
			valid = 1;
		} else if (a->write && valid) {
			valid = 0;
			taken = block_of(t, a);
		}
	}
	if (valid || !touched || taken == block_of(t, now))
		return 0;
	for (size_t k = 0; k < touched; k++)
		if (blocks[k] == taken)
			return 0;
	return 1;
}

static uint64_t twin_misses(const struct twin *t, unsigned layout)
{
	uint64_t sum = 0, start;

	for (size_t i = 0; i < t->count; i++) {
		const struct access *a = &t->accesses[i];
		const int64_t first = line_of(t, layout, a->address, &start),
			      last = line_of(t, layout, a->address + a->bytes - 1, &start);

		for (int64_t line = first; line <= last; line++)
			sum += (uint64_t)misses(t, layout, i, line);
	}
	return sum;
}

static uint64_t misses_of(const struct nm_latent *l, unsigned layout)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->pairs.count; i++)
		if (l->pairs.at[i].layout == layout)
			sum += l->pairs.at[i].misses;
	return sum;
}

static void check_twin(unsigned block, unsigned cores, unsigned seed)
{
	static struct twin t;
	struct nm_latent *l;
	uint64_t all = 0;

	rng_state = seed;
	t.block = block;
	t.count = 0;
	assert_int_equal(nm_latent_new(&l, (unsigned)__builtin_ctz(block)), 0);
	for (size_t i = 0; i < ACCESSES; i++) {
		const unsigned bytes = 1u << below(4);
		const uint64_t number = 1 + below(BLOCKS), offset = below(block - bytes + 1);
		const struct access a = {number * block + offset, (unsigned)below(cores), bytes,
					 below(3) == 0};

		t.accesses[t.count++] = a;
		nm_latent_touch(l, nm_latent_watch(l, number), a.core, a.address, a.bytes, 1, a.write);
	}
	for (unsigned layout = 0; layout < NM_LATENT_LAYOUTS; layout++) {
		assert_int_equal(misses_of(l, layout), twin_misses(&t, layout));
		all += misses_of(l, layout);
	}
	assert_true(all > 0);
	nm_latent_free(l);
}

static void test_twin(void **state)
{
	(void)state;
	for (unsigned block = 32; block <= 256; block *= 2)
		for (unsigned cores = 2; cores <= 16; cores *= 2)
			check_twin(block, cores, block + cores);
}

/* Two cores write n times each, in turn, `apart` bytes apart; the first at `address`. */
static struct nm_latent *in_turn(uint64_t address, uint64_t apart, int n)
{
	struct nm_latent *l;

	assert_int_equal(nm_latent_new(&l, 6), 0);
	for (int i = 0; i < n; i++)
		for (unsigned core = 0; core < 2; core++) {
			const uint64_t at = address + core * apart;

			nm_latent_touch(l, nm_latent_watch(l, at / 64), core, at, 8, core + 1, 1);
		}
	return l;
}

/* Each write but a core's first misses in a line that holds both; none in one that holds one of them. */
static void test_textbook(void **state)
{
	static const struct {
		uint64_t address, apart;
		uint64_t misses[NM_LATENT_LAYOUTS]; /* of 10 rounds */
	} cases[] = {
	    {128, 64, {18, 0, 0, 0}},        /* one line each, side by side */
	    {192, 64, {0, 0, 0, 0}},         /* lines 3 and 4: no pair of 128 bytes */
	    {128 + 56, 8, {18, 18, 18, 18}}, /* the last word of one and the first of the next */
	    {128 + 40, 40, {18, 0, 18, 0}},  /* 168 and 208: only what begins at 160 holds both */
	    {128, 8, {0, 0, 0, 0}},          /* one line already: false sharing indeed */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct nm_latent *l = in_turn(cases[i].address, cases[i].apart, 10);

		for (unsigned layout = 0; layout < NM_LATENT_LAYOUTS; layout++)
			assert_int_equal(misses_of(l, layout), cases[i].misses[layout]);
		nm_latent_free(l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_textbook),
	    cmocka_unit_test(test_twin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
