/* SPDX-License-Identifier: MIT
 *
 * pages_test.c - TLBs with pages of several sizes against a slow, obvious twin: memory is a flag for each
 * 4096 bytes, an entry is a size and a number, everything is found by looking at everything; and pages in a
 * SPEC.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hierarchy.h"
#include "machine.h"
#include "numbers.h"
#include "pages.h"

enum { REFS = 6000, ATTRS = 4, SMALL = 1 << 20 /* pages of 4K, 4G in all */, MOST_SETS = 64, MOST_WAYS = 64 };

static const uint64_t bytes_of[3] = {4096, 4096 * 512ull, 4096 * 512ull * 512ull};

/* ---- the twin ---- */

struct entry {
	int there;
	unsigned size;
	uint64_t number, touched;
	uint32_t attr;
	unsigned char used[4096]; /* a part of the page each */
};

struct twin_level {
	struct nm_level_spec spec;
	struct entry *entries; /* [sets][ways] */
	struct nm_counts counts[ATTRS];
};

struct twin {
	struct nm_machine machine;
	struct twin_level levels[NM_MAX_LEVELS];
	unsigned char *can_be_huge; /* [SMALL], 0 or 1 + the size that was asked for */
	uint64_t clock;
};

static int takes(const struct twin *t, unsigned level, unsigned size, int fetch)
{
	const struct nm_level_spec *s = &t->machine.levels[level];

	return (s->pages >> size & 1) &&
	       (s->side == NM_SIDE_UNIFIED || (s->side == NM_SIDE_INSTRUCTION) == fetch);
}

/* The first level from `level` on, or the number of levels. */
static unsigned level_for(const struct twin *t, unsigned level, unsigned size, int fetch)
{
	while (level < t->machine.count && !takes(t, level, size, fetch))
		level++;
	return level;
}

static int are_alike(const unsigned char *flags, uint64_t n)
{
	return flags[0] && !memcmp(flags, flags + 1, n - 1);
}

static unsigned size_of(const struct twin *t, uint64_t address, int fetch)
{
	for (unsigned size = 2; size > 0; size--) {
		uint64_t first = address / bytes_of[size] * (bytes_of[size] / 4096),
			 n = bytes_of[size] / 4096;

		if (level_for(t, 0, size, fetch) < t->machine.count && first + n <= SMALL &&
		    (size <= t->machine.levels[0].huge || size < t->can_be_huge[first]) &&
		    are_alike(t->can_be_huge + first, n))
			return size;
	}
	return 0;
}

static struct entry *find(struct twin_level *l, unsigned size, uint64_t number)
{
	struct entry *set = l->entries + number % l->spec.sets * l->spec.ways;

	for (unsigned w = 0; w < l->spec.ways; w++)
		if (set[w].there && set[w].size == size && set[w].number == number)
			return &set[w];
	return NULL;
}

static void leave(struct twin *t, unsigned level, struct entry *e)
{
	struct twin_level *l = &t->levels[level];
	struct entry *to;

	for (unsigned i = 0; i < 4096; i++)
		l->counts[e->attr].used_bytes += e->used[i];
	do { /* what is known of it goes on */
		level = level_for(t, level + 1, e->size, l->spec.side == NM_SIDE_INSTRUCTION);
		to = level < t->machine.count ? find(&t->levels[level], e->size, e->number) : NULL;
	} while (level < t->machine.count && !to);
	for (unsigned i = 0; to && i < 4096; i++)
		to->used[i] |= e->used[i];
}

/* 1 if it missed. */
static int look_up(struct twin *t, unsigned level, unsigned size, uint64_t number, const struct nm_ref *r)
{
	struct twin_level *l = &t->levels[level];
	struct nm_counts *c = &l->counts[r->attr];
	struct entry *e = find(l, size, number), *set = l->entries + number % l->spec.sets * l->spec.ways;
	unsigned next = level_for(t, level + 1, size, l->spec.side == NM_SIDE_INSTRUCTION);

	if (e) {
		e->touched = ++t->clock;
		return 0;
	}
	for (unsigned w = 0; w < l->spec.ways; w++)
		if (!e || !set[w].there || (e->there && set[w].touched < e->touched))
			if (!e || e->there)
				e = &set[w];
	if (e->there) {
		l->counts[e->attr].evictions++;
		leave(t, level, e);
	}
	*e = (struct entry){1, size, number, ++t->clock, r->attr, {0}};
	c->loads++;
	if (next < t->machine.count) {
		struct nm_counts *below = &t->levels[next].counts[r->attr];
		int write = r->kind == NM_REF_WRITE, missed = look_up(t, next, size, number, r);

		*(write ? &below->writes : &below->reads) += 1;
		*(write ? &below->write_misses : &below->read_misses) += (unsigned)missed;
	}
	return 1;
}

/* Byte by byte, as far as pages of one size go. */
static void take(struct twin *t, const struct nm_ref *r)
{
	int fetch = r->kind == NM_REF_FETCH, write = r->kind == NM_REF_WRITE;
	uint64_t at = r->address, end = r->address + r->size;

	while (at < end) {
		unsigned size = size_of(t, at, fetch), level = level_for(t, 0, size, fetch), missed = 0;
		struct nm_counts *c = &t->levels[level].counts[r->attr];
		uint64_t latest = UINT64_MAX;

		for (; at < end && size_of(t, at, fetch) == size; at++) {
			if (level == t->machine.count)
				continue;
			if (at / bytes_of[size] != latest)
				missed |= (unsigned)look_up(t, level, size, latest = at / bytes_of[size], r);
			find(&t->levels[level], size, latest)
			    ->used[at % bytes_of[size] / (bytes_of[size] / 4096)] = 1;
		}
		if (level == t->machine.count)
			continue;
		*(write ? &c->writes : &c->reads) += r->weight;
		*(write ? &c->write_misses : &c->read_misses) += missed;
	}
}

/* ---- streams ---- */

/* Some stretches of memory, and the same as ranges; asks: for some of them large pages are asked for. */
static size_t change_memory(struct twin *t, int asks, struct nm_range *ranges)
{
	size_t count = 0;

	memset(t->can_be_huge, 0, SMALL);
	for (unsigned i = 0; i < 6; i++) {
		uint64_t first = below(3) ? below(SMALL) : below(SMALL / 512) * 512;
		uint64_t n = i == 0 ? SMALL / 2 : below(3000);
		unsigned char flag = (unsigned char)(1 + (asks ? below(3) : 0));

		for (uint64_t p = first; p < first + n && p < SMALL; p++)
			t->can_be_huge[p] = flag;
	}
	for (uint64_t p = 0; p < SMALL; p++)
		if (t->can_be_huge[p] && p && t->can_be_huge[p - 1] == t->can_be_huge[p])
			ranges[count - 1].end += 4096;
		else if (t->can_be_huge[p])
			ranges[count++] =
			    (struct nm_range){p * 4096, p * 4096 + 4096, t->can_be_huge[p] - 1u};
	return count;
}

static struct nm_ref make_reference(unsigned i, unsigned stream, int fetches)
{
	static uint64_t hot[64];
	uint64_t address = below(4) * 1000 * 1000 * 1000 + below(stream ? 20 << 20 : 400 << 20);

	if (i % 8) /* comes back */
		address = hot[below(stream == 2 ? 12 : 64)] + below(below(8) ? 4096 : 2 << 20);
	hot[below(64)] = address;
	if (below(16) == 0) /* spans pages */
		address = address / bytes_of[1] * bytes_of[1] + bytes_of[below(2)] - 1 - below(8);
	return (struct nm_ref){.address = address,
			       .attr = (uint32_t)below(ATTRS),
			       .size = (uint16_t)(below(64) ? 1 + below(16) : 5000),
			       .kind = (uint8_t)below(fetches ? 3 : 2),
			       .weight = 1};
}

static void compare(const struct nm_hierarchy *h, const struct twin *t, const char *spec)
{
	for (unsigned level = 0; level < t->machine.count; level++) {
		struct nm_counts *counts;
		size_t attrs;

		assert_int_equal(nm_hierarchy_counts(h, level, &counts, &attrs), 0);
		for (size_t c = 0; c < attrs; c++) {
			const struct nm_counts *a = &counts[c], *b = &t->levels[level].counts[c];

			if (a->reads != b->reads || a->writes != b->writes ||
			    a->read_misses != b->read_misses || a->write_misses != b->write_misses ||
			    a->loads != b->loads || a->evictions != b->evictions ||
			    a->used_bytes != b->used_bytes)
				fail_msg("%s, level %u, cell %zu: %llu %llu %llu %llu %llu %llu %llu, not "
					 "%llu %llu %llu %llu %llu %llu %llu",
					 spec, level, c, (unsigned long long)a->reads,
					 (unsigned long long)a->writes, (unsigned long long)a->read_misses,
					 (unsigned long long)a->write_misses, (unsigned long long)a->loads,
					 (unsigned long long)a->evictions, (unsigned long long)a->used_bytes,
					 (unsigned long long)b->reads, (unsigned long long)b->writes,
					 (unsigned long long)b->read_misses,
					 (unsigned long long)b->write_misses, (unsigned long long)b->loads,
					 (unsigned long long)b->evictions, (unsigned long long)b->used_bytes);
			assert_int_equal(a->cold + a->capacity + a->conflict, a->loads);
			assert_int_equal(a->loaded_bytes, 4096 * a->loads);
		}
		free(counts);
	}
}

static void check(const char *spec, unsigned stream)
{
	static struct nm_range ranges[SMALL];
	struct twin *t = calloc(1, sizeof *t);
	struct nm_hierarchy *h;
	struct nm_error err;

	rng_state = stream + 1;
	if (nm_machine_parse(spec, &t->machine, &err) || nm_hierarchy_new(&h, &t->machine, &err))
		fail_msg("%s: %s", spec, err.text);
	t->can_be_huge = calloc(SMALL, 1);
	for (unsigned i = 0; i < t->machine.count; i++) {
		t->levels[i].spec = t->machine.levels[i];
		t->levels[i].entries =
		    calloc(t->levels[i].spec.sets * t->levels[i].spec.ways, sizeof(struct entry));
	}
	for (unsigned i = 0; i < REFS; i++) {
		struct nm_ref ref = make_reference(i, stream, strstr(spec, "L1i") != NULL);

		if (i % 1500 == 700)
			assert_int_equal(
			    nm_hierarchy_set_memory(h, ranges, change_memory(t, stream > 1, ranges)), 0);
		take(t, &ref);
		assert_int_equal(nm_hierarchy_run(h, &ref, 1), 0);
	}
	for (unsigned level = 0; level < t->machine.count; level++)
		for (uint64_t i = 0; i < t->levels[level].spec.sets * t->levels[level].spec.ways; i++)
			if (t->levels[level].entries[i].there)
				leave(t, level, &t->levels[level].entries[i]);
	assert_int_equal(nm_hierarchy_finish(h), 0);
	compare(h, t, spec);
	nm_hierarchy_free(h);
	for (unsigned i = 0; i < t->machine.count; i++)
		free(t->levels[i].entries);
	free(t->can_be_huge);
	free(t);
}

static void test_twin(void **state)
{
	static const char *const specs[] = {
	    "L1=64K,4,4K,pages=4K",
	    "L1d=64K,4,4K,pages=4K:L1Md=16M,4,2M,pages=2M:L1Gd=2G,full,1G,pages=1G:L2=256K,4,4K,pages=4K+2M",
	    "L1=64K,4,4K,pages=4K,huge=2M",
	    "L1=32K,full,4K,pages=4K+2M,huge=2M",
	    "L1=32K,full,4K,pages=4K+2M+1G,huge=1G:L2=256K,8,4K,pages=4K+2M+1G",
	    "L1d=64K,4,4K,pages=4K,huge=1G:L1Md=16M,4,2M,pages=2M:L1Gd=2G,full,1G,pages=1G:L2=256K,4,4K,pages=4K+2M",
	    "L1d=64K,4,4K,pages=4K,huge=1G:L1Md=16M,4,2M,pages=2M:L2=256K,4,4K,pages=4K+2M:L2G=4G,2,1G,pages=1G",
	    "L1i=32K,4,4K,pages=4K,huge=2M:L1d=16K,full,4K,pages=4K+2M:L2=96K,3,4K,pages=4K+2M",
	    "L1i=32K,4,4K,pages=4K,huge=2M:L1Mi=8M,full,2M,pages=2M:L1d=44K,full,4K,pages=4K+2M:L2=256K,8,4K,pages=4K+2M"};
	(void)state;
	for (unsigned s = 0; s < sizeof specs / sizeof *specs; s++)
		for (unsigned stream = 0; stream < 3; stream++)
			check(specs[s], stream);
}

/* A program that walks 64M by pages misses each of them, and one in 512 with huge ones. */
static void test_walk(void **state)
{
	struct nm_machine machine;
	struct nm_hierarchy *h;
	struct nm_counts total;
	struct nm_error err;
	const struct nm_range all = {0x10000000, 0x10000000 + (64 << 20), NM_PAGE_4K};
	(void)state;
	for (unsigned huge = 0; huge < 2; huge++) {
		assert_int_equal(
		    nm_machine_parse(huge ? "L1=256K,4,4K,pages=4K+2M,huge=2M" : "L1=256K,4,4K,pages=4K+2M",
				     &machine, &err),
		    0);
		assert_int_equal(nm_hierarchy_new(&h, &machine, &err), 0);
		assert_int_equal(nm_hierarchy_set_memory(h, &all, 1), 0);
		for (uint64_t at = all.low; at < all.end; at += 4096) {
			struct nm_ref ref = {.address = at, .size = 8, .weight = 1};
			assert_int_equal(nm_hierarchy_run(h, &ref, 1), 0);
		}
		nm_hierarchy_total(h, 0, &total);
		assert_int_equal(total.reads, 16384);
		assert_int_equal(total.read_misses, huge ? 32 : 16384);
		nm_hierarchy_free(h);
	}
}

static void test_addresses(void **state)
{
	(void)state;
	assert_int_equal(page_origin(model_page_address(0x7fff12345678, NM_PAGE_4K)), 0x7fff12345678);
	assert_int_equal(page_origin(model_page_address(0xffffffffff600010, NM_PAGE_4K)), 0xffffffffff600010);
	assert_int_equal(page_origin(model_page_address(0x7fff12345678, NM_PAGE_2M)), 0x7fff12345600);
	assert_int_equal(page_origin(model_page_address(0x7fff12345678, NM_PAGE_1G)), 0x7fff12340000);
}

static void check_fault(const char *spec, int column, const char *word)
{
	struct nm_machine machine;
	struct nm_error err;

	assert_int_equal(nm_machine_parse(spec, &machine, &err), NM_EINVAL);
	if (err.column != column || !strstr(err.text, word))
		fail_msg("%s: %d, %s", spec, err.column, err.text);
}

static void test_words(void **state)
{
	static const char spec[] =
	    "L1d=256K,4,4K,pages=4K,huge=2M:L1Md=64M,4,2M,pages=2M:L2=6M,12,4K,pages=4K+2M";
	struct nm_machine machine;
	struct nm_error err;
	char text[200];
	(void)state;
	assert_int_equal(nm_machine_parse(spec, &machine, &err), 0);
	assert_int_equal(nm_machine_format(&machine, text, sizeof text), sizeof spec - 1);
	assert_string_equal(text, spec);
	assert_int_equal(machine.levels[1].sets, 8);
	check_fault("L1=256K,4,4K,pages=8K", 19, "4K, 2M and 1G");
	check_fault("L1=256K,4,4K,pages=", 19, "4K, 2M and 1G");
	check_fault("L1=256K,4,4K,pages=4K+", 22, "4K, 2M and 1G");
	check_fault("L1=256K,4,4K,pages=2M", 10, "smallest");
	check_fault("L1=256K,4,2M", 10, "power of two");
	check_fault("L1=256K,4,4K,huge=2M", 18, "pages=");
	check_fault("L1=256K,4,4K,pages=4K,huge=4K", 27, "huge must be");
	check_fault("L1=256K,4,4K,pages=4K:L2=1M,4,4K", 22, "beside caches");
	check_fault("L1=256K,4,4K,pages=4K:L2=1M,4,4K,pages=4K,huge=2M", 22, "first level");
	check_fault("L1=256K,4,4K,pages=4K+2M:L2=1M,4,4K,pages=4K", 25, "not all");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_twin),
	    cmocka_unit_test(test_walk),
	    cmocka_unit_test(test_addresses),
	    cmocka_unit_test(test_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
