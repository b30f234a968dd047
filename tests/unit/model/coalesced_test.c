/* SPDX-License-Identifier: MIT
 *
 * coalesced_test.c - a random stream with coalesced references, and the same with each reference by itself,
 * give a hierarchy the same counts of every attribution key at every level, evictions and, if it is
 * monitored, events. Otherwise levels that machines have in common are simulated once for the former.
 *
 * Members of a group read and write, overlap, come in any order, and straddle lines, as does the group; new
 * groups are added all the time, in several chunks of their table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache.h"
#include "coalesced.h"
#include "machine.h"
#include "monitor.h"
#include "numbers.h"
#include "oracle.h"
#include "vector.h"

#define HUGE 0x600000ull /* from here on the memory can have huge pages */

enum {
	REFS = 9000,
	ATTRS = 9,
	CORES = 3,
	STREAMS = 4,
	COUNTS = sizeof(struct nm_counts) / sizeof(uint64_t),
	EXTRAS = sizeof(struct nm_extras) / sizeof(uint64_t)
};

/* ---- streams ---- */

struct stream {
	struct nm_coalesced_table *groups;
	struct nm_ref refs[REFS], singles[REFS * NM_COALESCED_MAX];
	size_t first[REFS + 1]; /* of the singles of each reference */
	unsigned cores[REFS];
};

/* Members that leave no gap, shuffled: each begins within those before it or right behind them. */
static unsigned make_members(struct nm_coalesced_member *members)
{
	const unsigned wanted = 2 + below(below(4) ? 4 : NM_COALESCED_MAX - 1);
	unsigned end = 0, n = 0;

	for (; n < wanted; n++) {
		unsigned distance = below(3) ? end : below(end + 1), size = 1u << below(6);

		if (!below(4))
			size = 1 + below(32);
		if (distance >= NM_COALESCED_SPAN)
			distance = below(NM_COALESCED_SPAN);
		if (distance + size > NM_COALESCED_SPAN)
			size = NM_COALESCED_SPAN - distance;
		end = distance + size > end ? distance + size : end;
		members[n] = (struct nm_coalesced_member){.attr = below(ATTRS),
							  .distance = (uint16_t)distance,
							  .size = (uint8_t)size,
							  .kind = below(3) ? NM_REF_READ : NM_REF_WRITE};
	}
	for (unsigned i = n - 1; i > 0; i--) {
		const unsigned k = below(i + 1);
		const struct nm_coalesced_member m = members[i];

		members[i] = members[k];
		members[k] = m;
	}
	return n;
}

/* A group at an address: one of the latest, or a new one. */
static struct nm_ref make_group(struct stream *s, uint64_t address)
{
	struct nm_coalesced_member members[NM_COALESCED_MAX];
	struct nm_ref r = {.address = address};
	const struct nm_coalesced *g;

	if (s->groups->count > 50 && below(8))
		r.attr = s->groups->count - 1 - below(40);
	else
		r.attr = nm_coalesced_add(s->groups, members, make_members(members));
	assert_int_not_equal(r.attr, 0);
	g = nm_coalesced_at(s->groups, r.attr);
	r.weight = (uint8_t)g->members;
	for (unsigned i = 0; i < g->members; i++) {
		const unsigned end = g->member[i].distance + g->member[i].size;

		r.size = end > r.size ? (uint16_t)end : r.size;
		r.kind = (uint8_t)(r.kind + g->member[i].kind);
	}
	return r;
}

static uint64_t make_address(unsigned i, unsigned stream, uint64_t size)
{
	switch (stream) {
	case 0: return below((uint32_t)(3 * size));   /* anywhere */
	case 1: return (uint64_t)i * 40 % (2 * size); /* a walk */
	case 2: return below(48) * size + below(200); /* a few sets */
	default:
		return (i / 64 * size / 10 + below(300)) % (4 * size) +
		       below(3) * 64 * 50; /* some near, some far */
	}
}

static void make_stream(struct stream *s, unsigned stream, uint64_t size, int fetches, int cores)
{
	size_t n = 0;
	unsigned core = 0;

	assert_non_null(s->groups = nm_coalesced_table_new());
	for (unsigned i = 0; i < REFS; i++) {
		uint64_t address = HUGE - size + make_address(i, stream, size);
		struct nm_ref *r = &s->refs[i];

		if (below(2))
			address &= ~7ull;
		core = cores && !below(40) ? below(CORES) : core;
		s->cores[i] = core;
		s->first[i] = n;
		if (below(5) < 2) {
			const struct nm_coalesced *g;

			*r = make_group(s, address);
			g = nm_coalesced_at(s->groups, r->attr);
			for (unsigned k = 0; k < g->members; k++)
				s->singles[n++] = nm_coalesced_member_ref(r, &g->member[k]);
			continue;
		}
		*r = (struct nm_ref){.address = address,
				     .attr = below(ATTRS - 1), /* the last comes in groups only */
				     .size = (uint16_t)(1 + below(below(9) ? 16 : 90)),
				     .kind = below(3) ? NM_REF_READ : NM_REF_WRITE,
				     .weight = 1};
		if (fetches && below(2)) {
			r->kind = NM_REF_FETCH;
			r->weight = (uint8_t)(1 + below(9));
		}
		s->singles[n++] = *r;
	}
	s->first[REFS] = n;
}

/* ---- hierarchies ---- */

struct events {
	struct nm_vec(struct nm_event) list;
};

static void keep(void *self, const struct nm_event *e)
{
	struct events *events = self;

	assert_int_equal(nm_vec_push(&events->list, *e), 0);
}

/* In batches of random sizes, each of one core. */
static void feed(struct nm_hierarchy *h, const struct stream *s, int grouped)
{
	for (size_t i = 0, to; i < REFS; i = to) {
		const size_t most = below(8) ? 1 + below(60) : NM_BATCH;

		for (to = i + 1; to < REFS && s->cores[to] == s->cores[i] && to - i < most &&
				 (grouped || s->first[to + 1] - s->first[i] <= NM_BATCH);)
			to++;
		nm_hierarchy_set_core(h, s->cores[i]);
		assert_int_equal(
		    grouped ? nm_hierarchy_run(h, s->refs + i, to - i)
			    : nm_hierarchy_run(h, s->singles + s->first[i], s->first[to] - s->first[i]),
		    0);
	}
	assert_int_equal(nm_hierarchy_finish(h), 0);
}

/* Sets a hierarchy up, before its first batch. */
static void prepare(struct nm_hierarchy *h, const struct stream *s, unsigned lookup, struct events *events)
{
	const uint32_t instructions[ATTRS] = {3, 3, 1, 2, 5, 4, 4, 4, 6};
	const struct nm_range huge[] = {{HUGE, HUGE + 0x200000, NM_PAGE_4K},
					{HUGE + 0x400000, HUGE + 0x800000, NM_PAGE_2M}};

	assert_int_equal(nm_hierarchy_set_memory(h, huge, 2), 0);
	assert_int_equal(nm_hierarchy_add_instructions(h, instructions, ATTRS), 0);
	if (events)
		nm_hierarchy_watch(h, &(struct nm_monitor){.event = keep, .self = events});
	else
		nm_hierarchy_use(h, nm_lookup_supported(lookup));
	assert_int_equal(nm_hierarchy_set_coalesced(h, s->groups), 0);
}

/* ---- comparisons ---- */

static void same_row(const char *what, unsigned level, size_t attr, const void *got, const void *want,
		     size_t fields)
{
	uint64_t a[COUNTS], b[COUNTS];

	memcpy(a, got, fields * sizeof *a);
	memcpy(b, want, fields * sizeof *b);
	for (size_t f = 0; f < fields; f++)
		if (a[f] != b[f])
			fail_msg("%s, level %u, cell %zu, figure %zu: %llu in groups, %llu one by one", what,
				 level, attr, f, (unsigned long long)a[f], (unsigned long long)b[f]);
}

static void same_counts(const char *what, unsigned level, const struct nm_hierarchy *a,
			const struct nm_hierarchy *b)
{
	struct nm_counts *got, *want, of_all[2];
	size_t attrs;

	assert_int_equal(nm_hierarchy_counts(a, level, &got, &attrs), 0);
	assert_int_equal(attrs, ATTRS);
	assert_int_equal(nm_hierarchy_counts(b, level, &want, &attrs), 0);
	assert_int_equal(attrs, ATTRS);
	for (size_t c = 0; c < ATTRS; c++)
		same_row(what, level, c, &got[c], &want[c], COUNTS);
	nm_hierarchy_total(a, level, &of_all[0]);
	nm_hierarchy_total(b, level, &of_all[1]);
	same_row(what, level, ATTRS, &of_all[0], &of_all[1], COUNTS);
	free(got);
	free(want);
}

static void same_extras(const char *what, unsigned level, const struct nm_hierarchy *a,
			const struct nm_hierarchy *b)
{
	struct nm_extras *got, *want;
	size_t attrs;

	assert_int_equal(nm_hierarchy_extra_counts(a, level, &got, &attrs), 0);
	assert_int_equal(nm_hierarchy_extra_counts(b, level, &want, &attrs), 0);
	assert_int_equal(!got, !want);
	for (size_t c = 0; got && c < ATTRS; c++)
		same_row(what, level, c, &got[c], &want[c], EXTRAS);
	free(got);
	free(want);
}

static uint64_t gather_evictions(const struct nm_hierarchy *h, unsigned level,
				 uint64_t (*matrix)[ATTRS][ATTRS])
{
	struct nm_eviction *list;
	uint64_t sum = 0;
	size_t count;

	memset(matrix, 0, 2 * sizeof *matrix);
	assert_int_equal(nm_hierarchy_evictions(h, level, &list, &count), 0);
	for (size_t i = 0; i < count; i++) {
		assert_true(list[i].evictor < ATTRS && list[i].victim < ATTRS);
		matrix[list[i].prefetch][list[i].evictor][list[i].victim] += list[i].count;
		sum += list[i].count;
	}
	free(list);
	return sum;
}

/* Returns how many lines were replaced. */
static uint64_t same_figures(const char *what, const struct nm_machine *machine, const struct nm_hierarchy *a,
			     const struct nm_hierarchy *b)
{
	uint64_t got[2][ATTRS][ATTRS], want[2][ATTRS][ATTRS], evictions = 0;

	for (unsigned level = 0; level < machine->count; level++) {
		same_counts(what, level, a, b);
		same_extras(what, level, a, b);
		evictions += gather_evictions(a, level, got);
		gather_evictions(b, level, want);
		assert_memory_equal(got, want, sizeof got);
	}
	return evictions;
}

static void same_events(const char *what, const struct events *a, const struct events *b)
{
	for (size_t i = 0; i < a->list.count && i < b->list.count; i++) {
		const struct nm_event *x = &a->list.at[i], *y = &b->list.at[i];

		if (x->reference != y->reference || x->address != y->address || x->line != y->line ||
		    x->set != y->set || x->bytes != y->bytes || x->times != y->times || x->attr != y->attr ||
		    x->victim != y->victim || x->kind != y->kind || x->level != y->level ||
		    x->core != y->core || x->last != y->last)
			fail_msg(
			    "%s: event %zu, %u of %#llx at level %u by reference %llu, is %u of %#llx at level %u by "
			    "%llu one by one",
			    what, i, x->kind, (unsigned long long)x->line, x->level,
			    (unsigned long long)x->reference, y->kind, (unsigned long long)y->line, y->level,
			    (unsigned long long)y->reference);
	}
	assert_int_equal(a->list.count, b->list.count);
	assert_true(a->list.count > REFS);
}

/* ---- machines ---- */

static const char *const geometries[] = {
    /* the fast loops, of all lengths of lines */
    "L1d=2K,8,64",
    "L1d=4K,8,64:L2=8K,8,64",
    "L1d=2K,8,64:L2=8K,16,64:L3=32K,16,64",
    "L1d=1K,8,16",
    "L1d=2K,8,32:L2=8K,8,64",
    "L1d=4K,8,128",
    "L1d=8K,8,128:L2=16K,8,256",
    "L1d=2K,4,64",
    "L1d=1K,4,16:L2=4K,4,128",
    "L1d=1K,4,32:L2=8K,16,64:L3=16K,4,128",
    "L1d=4K,4,128",
    "L1d=4K,16,64:L2=16K,8,64",
    "L1d=2K,16,32",
    "L1d=1K,16,16:L2=4K,8,32",
    "L1d=8K,16,128:L2=32K,4,128",
    /* the others */
    "L1d=1K,1,32",
    "L1d=64,1,64",
    "L1d=2K,1,16:L2=8K,2,64",
    "L1d=1536,3,64:L2=6K,12,64",
    "L1d=768,3,16",
    "L1d=1K,2,128:L2=4K,4,256",
    "L1d=4K,8,32,sets=13",
    "L1d=512,full,64",
    "L1d=2K,full,32:L2=8K,full,64",
    "L1d=8K,full,64",
    "L1d=5K,80,32:L2=16K,8,32",
    /* data and instructions; data enter at a level that takes fills too */
    "L1i=1K,2,32:L1d=1K,4,64:L2=4K,8,64",
    "L1i=1K,4,64:L1d=2K,8,64:L2=6K,12,64:L3=16K,16,64",
    "L1i=1K,2,64:L2=4K,8,64",
    "L1i=1K,2,32:L2=2K,4,64:L3=8K,8,64",
    "L1=2K,8,64:L2=8K,16,64",
    "L1d=2K,8,64:L2=8K,16,64,side=data:L3=8K,4,64",
    /* replacement and index */
    "L1d=1K,4,32,policy=fifo",
    "L1d=2K,8,64,policy=random",
    "L1d=2K,8,64,policy=tree-plru:L2=8K,16,64,policy=srrip",
    "L1d=2K,8,64,policy=bit-plru:L2=8K,16,64",
    "L1d=2K,8,64:L2=8K,16,64,policy=drrip",
    "L1d=2K,8,64:L2=8K,8,64,policy=random,index=xor",
    "L1d=4K,4,64,index=prime",
    "L1d=2K,8,64:L2=16K,4,64,index=slices",
    /* writes */
    "L1d=2K,8,64,write=through",
    "L1d=2K,8,64,allocate=no:L2=8K,16,64",
    "L1d=2K,8,64,write=through,allocate=no:L2=8K,16,64",
    "L1d=2K,8,64:L2=8K,8,64,write=through:L3=16K,8,128",
    "L1d=1K,4,32:L2=4K,8,64,write=through,allocate=no:L3=16K,8,128",
    /* sectors */
    "L1d=2K,4,64,sector=16",
    "L1d=4K,8,256,sector=64,policy=fifo",
    "L1d=2K,8,64:L2=8K,4,256,sector=64",
    /* inclusion, victim caches */
    "L1d=2K,8,64:L2=4K,4,64,inclusion=inclusive",
    "L1d=1K,4,32:L2=2K,4,64:L3=4K,4,128,inclusion=inclusive",
    "L1d=2K,8,64:L2=4K,4,64,inclusion=exclusive",
    "L1d=1K,4,64:L2=512,full,64,inclusion=exclusive:L3=8K,8,64",
    "L1d=1K,4,64:L2=4K,8,64:L3=8K,8,64,inclusion=exclusive",
    /* prefetchers */
    "L1d=2K,8,64,prefetch=next",
    "L1d=2K,8,64,prefetch=stride:L2=8K,8,64",
    "L1d=2K,8,64:L2=8K,8,64,prefetch=next,degree=2",
    "L1d=1K,4,64:L2=8K,16,64,prefetch=stream",
    "L1d=1K,4,64:L2=4K,4,64:L3=16K,8,64,prefetch=stride",
    "L1i=1K,4,64,prefetch=next:L1d=2K,8,64:L2=4K,8,64,prefetch=stream",
    /* pages */
    "L1d=16K,4,4K,pages=4K:L2=64K,4,4K,pages=4K",
    "L1=32K,full,4K,pages=4K+2M,huge=2M",
    "L1i=32K,4,4K,pages=4K,huge=2M:L1d=16K,full,4K,pages=4K+2M:L2=96K,3,4K,pages=4K+2M",
    /* side by side; the second SPEC follows a blank */
    "L1d=2K,8,64:L2=8K,8,64 L1d=1K,4,128",
    "L1d=2K,16,32 L1d=1536,3,64:L2=6K,12,64 L1d=2K,4,64",
    "L1d=2K,8,64 L1d=2K,8,64,policy=fifo",
    "L1d=2K,8,64:L2=8K,8,64 L1d=16K,4,4K,pages=4K",
    "L1d=2K,8,64 L1d=1K,4,64,prefetch=next",
    "L1d=2K,8,64 L1i=1K,4,64:L2=4K,8,64",
    /* machines that begin with the same levels */
    "L1d=2K,8,64:L2=8K,16,64:prefetchers=stream+stride:tlb=16 L1d=2K,8,64:L2=4K,8,64 L1d=2K,8,64:L2=512,2,64",
    "L1d=2K,8,64 L1d=2K,8,64:L2=8K,16,64:L3=16K,16,64 L1d=2K,8,64:L2=8K,16,64:L3=32K,8,64 L1d=2K,8,64:L2=8K,16,64",
    "L1i=1K,4,64:L1d=2K,8,64:L2=4K,8,64 L1i=1K,4,64:L1d=2K,8,64:L2=16K,8,64 L1i=2K,4,64:L1d=2K,8,64:L2=4K,8,64",
};
enum { GEOMETRIES = sizeof geometries / sizeof *geometries };

static void parse(const char *specs, struct nm_machine *ret_machine)
{
	char text[300], *rest = text;
	struct nm_machine more;
	struct nm_error err;

	snprintf(text, sizeof text, "%s", specs);
	assert_int_equal(nm_machine_parse(strsep(&rest, " "), ret_machine, &err), 0);
	while (rest) {
		assert_int_equal(nm_machine_parse(strsep(&rest, " "), &more, &err), 0);
		assert_int_equal(nm_machine_join(ret_machine, &more, &err), 0);
	}
}

/* Levels in common are simulated once. */
static struct nm_hierarchy *new_shared(const struct nm_machine *machine)
{
	struct nm_hierarchy *h;
	struct nm_error err;

	if (nm_hierarchy_new_shared(&h, machine, NULL, 0, &err))
		fail_msg("%s: %s", machine->name, err.text);
	return h;
}

static struct nm_hierarchy *new_hierarchy(const struct nm_machine *machine, struct nm_oracle *oracle)
{
	struct nm_hierarchy *h;
	struct nm_error err;

	if (nm_hierarchy_new_with_oracle(&h, machine, oracle, &err))
		fail_msg("%s: %s", machine->name, err.text);
	return h;
}

/* lookup: which copy of the loops; watched: a monitor gets the events, one reference at a time. */
static uint64_t check(const char *what, const struct nm_machine *machine, const struct stream *s,
		      unsigned lookup, int watched)
{
	struct nm_hierarchy *a = watched ? new_hierarchy(machine, NULL) : new_shared(machine),
			    *b = new_hierarchy(machine, NULL);
	struct events events[2] = {0};
	uint64_t evictions;

	prepare(a, s, lookup, watched ? &events[0] : NULL);
	prepare(b, s, lookup, watched ? &events[1] : NULL);
	feed(a, s, 1);
	feed(b, s, 0);
	evictions = same_figures(what, machine, a, b);
	if (watched)
		same_events(what, &events[0], &events[1]);
	nm_vec_free(&events[0].list);
	nm_vec_free(&events[1].list);
	nm_hierarchy_free(a);
	nm_hierarchy_free(b);
	return evictions;
}

static uint64_t span_of(const struct nm_machine *machine)
{
	return machine->levels[0].size < 16384 ? machine->levels[0].size : 4 * machine->levels[0].size;
}

static void check_all(unsigned cores)
{
	for (unsigned g = 0; g < GEOMETRIES; g++) {
		struct nm_machine machine;
		uint64_t evictions = 0;

		parse(geometries[g], &machine);
		machine.cores = cores;
		for (unsigned i = 0; i < STREAMS; i++) {
			struct stream *s = calloc(1, sizeof *s);

			rng_state = g * STREAMS + i;
			make_stream(s, i, span_of(&machine), i % 2 || !strncmp(geometries[g], "L1i", 3),
				    cores > 1);
			for (unsigned lookup = 0; nm_lookup_supported(lookup) && (cores == 1 || !lookup);
			     lookup++)
				check(geometries[g], &machine, s, lookup, 0);
			evictions += check(geometries[g], &machine, s, 0, 1);
			nm_coalesced_table_free(s->groups);
			free(s);
		}
		if (evictions < 400)
			fail_msg("%s: hardly a line is replaced", geometries[g]);
	}
}

static void test_figures_and_events(void **state)
{
	(void)state;
	check_all(1);
}

static void test_cores(void **state)
{
	(void)state;
	check_all(CORES);
}

/* For each level of several machines the one that is simulated; `data`: there are no fetches. */
static void test_shared_levels(void **state)
{
	static const struct {
		const char *specs;
		int data;
		const char *simulated;
	} cases[] = {
	    {"L1d=2K,8,64:L2=8K,16,64 L1d=2K,8,64:L2=4K,8,64 L1d=2K,8,64:L2=8K,16,64", 1, "010301"},
	    {"L1d=2K,8,64:L2=8K,16,64 L1d=2K,8,64:L2=4K,8,64", 0, "0123"}, /* fetches enter at L2 */
	    {"L1d=2K,8,64 L1d=2K,8,64:L2=8K,16,64 L1d=2K,8,64:L2=8K,16,64:L3=32K,8,64", 1, "002025"},
	    {"L1i=1K,4,64:L1d=2K,8,64:L2=4K,8,64 L1i=1K,4,64:L1d=2K,8,64:L2=16K,8,64", 0, "012015"},
	    {"L1i=1K,4,64:L1d=2K,8,64:L2=4K,8,64 L1i=1K,4,64:L1d=4K,8,64:L2=4K,8,64", 0, "012345"},
	    {"L1d=2K,8,64:L2=8K,16,64 L1d=2K,8,64:L2=8K,16,64,policy=fifo", 1, "0123"},
	    {"L1d=2K,8,64:L2=8K,16,64 L1d=2K,8,64:L2=8K,16,128", 1, "0123"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct nm_machine machine;
		struct nm_hierarchy *h;

		parse(cases[i].specs, &machine);
		assert_int_equal(nm_hierarchy_new_shared(&h, &machine, NULL, cases[i].data, NULL), 0);
		assert_int_equal(machine.count, strlen(cases[i].simulated));
		for (unsigned level = 0; level < machine.count; level++)
			assert_int_equal(nm_hierarchy_simulated(h, level), cases[i].simulated[level] - '0');
		nm_hierarchy_free(h);
	}
}

/* Levels that look ahead: the runs before the one that counts have groups, too. */
static void test_oracle(void **state)
{
	static const char *const specs[] = {"L1d=2K,8,64,policy=opt",
					    "L1d=1K,4,32:L2=4K,8,64,policy=opt:L3=16K,4,128",
					    "L1i=1K,4,64,policy=opt:L1d=1K,2,64:L2=4K,8,64,policy=opt"};
	(void)state;
	for (unsigned i = 0; i < sizeof specs / sizeof *specs; i++) {
		struct stream *s = calloc(1, sizeof *s);
		struct nm_hierarchy *h[2];
		struct nm_machine machine;

		parse(specs[i], &machine);
		rng_state = i;
		make_stream(s, i % STREAMS, span_of(&machine), 1, 0);
		for (int grouped = 0; grouped < 2; grouped++) {
			struct nm_oracle *oracle;
			struct nm_error err;
			int ready;

			assert_int_equal(nm_oracle_new(&oracle, &machine, &err), 0);
			do {
				ready = nm_oracle_ready(oracle);
				h[grouped] = new_hierarchy(&machine, oracle);
				prepare(h[grouped], s, 0, NULL);
				feed(h[grouped], s, grouped);
				if (!ready)
					nm_hierarchy_free(h[grouped]);
				nm_oracle_next_run(oracle);
			} while (!ready);
			nm_oracle_free(oracle);
		}
		same_figures(specs[i], &machine, h[1], h[0]);
		nm_hierarchy_free(h[0]);
		nm_hierarchy_free(h[1]);
		nm_coalesced_table_free(s->groups);
		free(s);
	}
}

/* Enough of them for several chunks: each number leads to what was added. */
static void test_table(void **state)
{
	enum { MANY = 3 << NM_COALESCED_CHUNK_BITS };
	struct nm_coalesced_table *groups = nm_coalesced_table_new();

	(void)state;
	for (uint32_t i = 1; i < MANY; i++) {
		struct nm_coalesced_member members[NM_COALESCED_MAX];
		unsigned n = 2 + i % (NM_COALESCED_MAX - 1);

		for (unsigned k = 0; k < n; k++)
			members[k] = (struct nm_coalesced_member){i + k, (uint16_t)k, 1, k & 1};
		assert_int_equal(nm_coalesced_add(groups, members, n), i);
		assert_int_equal(atomic_load(&groups->attrs), i == 1 ? 1 + n : atomic_load(&groups->attrs));
	}
	for (uint32_t i = 1; i < MANY; i++) {
		const struct nm_coalesced *g = nm_coalesced_at(groups, i);

		assert_int_equal(g->members, 2 + i % (NM_COALESCED_MAX - 1));
		for (unsigned k = 0; k < g->members; k++)
			assert_int_equal(g->member[k].attr, i + k);
	}
	assert_true(atomic_load(&groups->attrs) >= MANY);
	nm_coalesced_table_free(groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_figures_and_events),
	    cmocka_unit_test(test_cores),
	    cmocka_unit_test(test_shared_levels),
	    cmocka_unit_test(test_oracle),
	    cmocka_unit_test(test_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
