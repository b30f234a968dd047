/* SPDX-License-Identifier: MIT
 *
 * coherence_test.c - coherence protocols: each against its slow twin (coherence_twin.h) on random streams,
 * with states of all copies compared after each reference, a single writer, readers who see the latest value,
 * and classes found from the history of each byte; and textbook cases, whose counts follow from the protocol.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coherence.h"
#include "coherence_twin.h"
#include "hierarchy.h"
#include "machine.h"
#include "numbers.h"
#include "protocol.h"

static struct nm_hierarchy *start(const char *spec, unsigned cores, struct nm_machine *ret_machine)
{
	struct nm_hierarchy *h;
	struct nm_error err;

	if (nm_machine_parse(spec, ret_machine, &err))
		fail_msg("%s: %s", spec, err.text);
	ret_machine->cores = cores;
	if (nm_hierarchy_new(&h, ret_machine, &err))
		fail_msg("%s: %s", spec, err.text);
	return h;
}

static void refer(struct nm_hierarchy *h, unsigned core, uint64_t address, unsigned size, int write,
		  unsigned attr)
{
	const struct nm_ref r = {.address = address,
				 .attr = attr,
				 .size = (uint16_t)size,
				 .kind = write ? NM_REF_WRITE : NM_REF_READ,
				 .weight = 1};

	nm_hierarchy_set_core(h, core);
	assert_int_equal(nm_hierarchy_run(h, &r, 1), 0);
}

/* Of all attribution keys. */
static struct nm_extras extras_of(const struct nm_hierarchy *h, unsigned level)
{
	struct nm_extras *list, sum = {0};
	size_t count;

	assert_int_equal(nm_hierarchy_extra_counts(h, level, &list, &count), 0);
	for (size_t i = 0; list && i < count; i++)
		nm_extras_add(&sum, &list[i]);
	free(list);
	return sum;
}

/* ---- twins ------------------------------------------------------------------------------------------- */

struct setting {
	unsigned cores, levels, line[TWIN_LEVELS], sets[TWIN_LEVELS], ways[TWIN_LEVELS], nodes, references,
	    span;
	unsigned own; /* bytes that each core keeps to most of the time, or 0 */
};

static const struct setting settings[] = {
    {2, 1, {64}, {2}, {2}, 0, 1000, 1024, 0},
    {2, 1, {32}, {4}, {2}, 0, 1000, 512, 0},
    {3, 2, {32, 64}, {2, 4}, {2, 2}, 0, 1000, 2048, 0},
    {4, 1, {64}, {16}, {4}, 2, 2000, 4096 + 512, 0},
    {5, 2, {64, 128}, {2, 2}, {1, 4}, 0, 1000, 2048, 0},
    {8, 1, {128}, {1}, {3}, 4, 2000, 8000, 0},
    {16, 1, {256}, {4}, {2}, 0, 1000, 4096, 0},
    {64, 2, {32, 32}, {1, 2}, {2, 4}, 0, 800, 256, 0},
    {2, 1, {64}, {8}, {8}, 0, 2000, 8192, 4096},
    {4, 1, {32}, {4}, {4}, 0, 2000, 8192, 2048},
    {6, 1, {16}, {2}, {8}, 0, 3000, 8192, 1200},
};

static char letter(enum nm_copy_state state) { return "\0SFEOM"[state]; }

static void compare_states(const struct nm_hierarchy *h, const struct twin *t)
{
	const struct nm_coherence *x = nm_hierarchy_coherence(h, 0);

	for (uint64_t block = 0; block < TWIN_BYTES / t->block; block++) {
		unsigned writers = 0, copies = 0;

		for (unsigned core = 0; core < t->cores; core++) {
			const char state = letter(nm_coherence_state(x, core, block * t->block));

			if (state != t->state[core][block])
				fail_msg(
				    "protocol %u, %u cores, %u levels of %u: core %u, block %u: state %c, not %c",
				    t->protocol, t->cores, t->levels, t->line[0], core, (unsigned)block,
				    state ? state : '-', t->state[core][block] ? t->state[core][block] : '-');
			assert_int_equal(state != 0, twin_has(t, core, block));
			writers += state == 'M' || state == 'E';
			copies += state != 0;
		}
		if (t->protocol <= TWIN_MESIF)
			assert_true(!writers || copies == 1);
	}
}

static void compare_counts(const struct nm_hierarchy *h, const struct twin *t)
{
	const struct nm_coherence *x = nm_hierarchy_coherence(h, 0);
	uint64_t invalidations = 0, interventions = 0;

	for (size_t i = 0; i < x->contention->pairs.count; i++) {
		invalidations += x->contention->pairs.at[i].invalidations;
		interventions += x->contention->pairs.at[i].interventions;
	}
	assert_int_equal(invalidations, t->invalidations);
	assert_int_equal(interventions, t->interventions);
	assert_int_equal(x->traffic.count[NM_MESSAGE_READ], t->reads);
	assert_int_equal(x->traffic.count[NM_MESSAGE_WRITE], t->writes);
	assert_int_equal(x->traffic.count[NM_MESSAGE_UPGRADE], t->upgrades);
	assert_int_equal(x->traffic.count[NM_MESSAGE_DATA_FROM_CORE], t->interventions);
	assert_int_equal(x->traffic.count[NM_MESSAGE_DATA_FROM_MEMORY], t->from_memory);
	assert_int_equal(x->traffic.count[NM_MESSAGE_WRITE_BACK], t->write_backs);
	assert_int_equal(x->traffic.count[NM_MESSAGE_ACKNOWLEDGE], x->traffic.count[NM_MESSAGE_INVALIDATE]);
}

static void compare_classes(const struct nm_hierarchy *h, const struct twin *t, unsigned level)
{
	const struct nm_extras got = extras_of(h, level);
	struct nm_extras want = {0};

	for (size_t i = 0; i < t->miss_count; i++) {
		const struct twin_miss *m = &t->misses[i];

		if (m->level != level)
			continue;
		want.coherence++;
		want.unneeded += (unsigned)m->unneeded;
		want.false_sharing += !m->unneeded && !m->true_sharing;
		want.false_first += !m->unneeded && !m->true_first;
		want.false_words += !m->unneeded && !m->true_words;
	}
	assert_int_equal(got.coherence, want.coherence);
	assert_int_equal(got.unneeded, want.unneeded);
	assert_int_equal(got.false_sharing, want.false_sharing);
	assert_int_equal(got.false_first, want.false_first);
	assert_int_equal(got.false_words, want.false_words);
	assert_true(got.false_sharing <= got.false_first && got.false_words <= got.false_first);
}

static struct twin *new_twin(const struct setting *s, enum twin_protocol protocol)
{
	struct twin *t = calloc(1, sizeof *t);

	t->protocol = protocol;
	t->cores = s->cores;
	t->levels = s->levels;
	t->nodes = s->nodes;
	for (unsigned l = 0; l < s->levels; l++) {
		t->line[l] = s->line[l];
		t->sets[l] = s->sets[l];
		t->ways[l] = s->ways[l];
		if (s->line[l] > t->block)
			t->block = s->line[l];
		for (unsigned c = 0; c < s->cores; c++)
			t->lines[c][l] = calloc((size_t)s->sets[l] * s->ways[l], sizeof(struct twin_line));
	}
	return t;
}

static void check_twin(const struct setting *s, enum twin_protocol protocol, unsigned seed)
{
	struct twin *t = new_twin(s, protocol);
	struct nm_machine machine;
	struct nm_hierarchy *h;
	char spec[300], more[60] = "";

	if (s->nodes)
		snprintf(more, sizeof more, ":nodes=%u", s->nodes);
	snprintf(spec, sizeof spec, "L1d=%u,%u,%u,protocol=%s", s->sets[0] * s->ways[0] * s->line[0],
		 s->ways[0], s->line[0], nm_protocols[protocol]->name);
	if (s->levels == 2)
		snprintf(spec + strlen(spec), 100, ":L2=%u,%u,%u,shared=no",
			 s->sets[1] * s->ways[1] * s->line[1], s->ways[1], s->line[1]);
	snprintf(spec + strlen(spec), 150, ":L3=64K,16,256%s", more);
	h = start(spec, s->cores, &machine);
	rng_state = seed;
	for (unsigned i = 0; i < s->references; i++) {
		const unsigned core = (unsigned)below(s->cores), size = 1u << below(5), attr = 1 + core;
		const int write = below(3) == 0;
		uint64_t address = below(below(2) ? 200 : s->span - 16), end;

		if (s->own && below(30))
			address = (core * s->own + below(s->own)) % (s->span - 16);
		end = address + size;

		if (below(40) == 0) {
			nm_hierarchy_set_core(h, core);
			nm_hierarchy_synchronise(h);
			twin_synchronise(t, core);
			compare_states(h, t);
		}
		refer(h, core, address, size, write, attr);
		while (address < end) {
			uint64_t next = (address / s->line[0] + 1) * s->line[0];

			next = next < end ? next : end;
			twin_take(t, core, address, (unsigned)(next - address), write, attr);
			address = next;
		}
		compare_states(h, t);
	}
	assert_int_equal(nm_hierarchy_finish(h), 0);
	if (protocol <= TWIN_MESIF)
		assert_int_equal(t->wrong_reads, 0);
	compare_counts(h, t);
	twin_classify(t);
	for (unsigned l = 0; l < s->levels; l++)
		compare_classes(h, t, l);
	nm_hierarchy_free(h);
	twin_free(t);
}

static void test_twins(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++)
		for (unsigned protocol = TWIN_MSI; protocol < TWIN_COUNT; protocol++)
			check_twin(&settings[i], (enum twin_protocol)protocol, i * 10 + protocol);
}

/* ---- private pages ------------------------------------------------------------------------------------- */

static void random_stream(struct nm_hierarchy *h, unsigned cores)
{
	for (unsigned i = 0; i < 6000; i++) {
		const unsigned core = (unsigned)below(cores), size = 1u << below(4);
		const uint64_t at = below(40) ? core * 5000 + below(5000) : below(cores * 5000);

		refer(h, core, at / size * size, size, below(3) == 0, 1 + (unsigned)below(20));
	}
	assert_int_equal(nm_hierarchy_finish(h), 0);
}

/* Two lists of structures without padding are the same. */
#define ASSERT_SAME_LISTS(a, b)                                                  \
	do {                                                                     \
		assert_int_equal((a).count, (b).count);                          \
		assert_true((a).count > 0);                                      \
		assert_memory_equal((a).at, (b).at, (a).count * sizeof *(a).at); \
	} while (0)

static void assert_same_pairs(const struct nm_latent *a, const struct nm_latent *b)
{
	assert_int_equal(a->pairs.count, b->pairs.count);
	assert_true(a->pairs.count > 0);
	for (size_t i = 0; i < a->pairs.count; i++) {
		const struct nm_latent_pair *p = &a->pairs.at[i], *q = &b->pairs.at[i];

		assert_int_equal(p->touch, q->touch);
		assert_int_equal(p->other, q->other);
		assert_int_equal(p->layout, q->layout);
		assert_int_equal(p->misses, q->misses);
	}
}

/* That pages are private makes no difference to any figure. */
static void test_private_pages(void **state)
{
	static const char *const specs[] = {"L1d=2K,8,64,protocol=mesi:L2=16K,16,64",
					    "L1d=1K,4,32,protocol=moesi:L2=16K,16,32",
					    "L1d=1K,2,64,protocol=mesif:L2=4K,16,64,inclusion=inclusive"};

	(void)state;
	for (unsigned i = 0; i < sizeof specs / sizeof *specs; i++) {
		struct nm_machine machine;
		struct nm_hierarchy *h = start(specs[i], 5, &machine), *other = start(specs[i], 5, &machine);
		struct nm_coherence *x = nm_hierarchy_coherence(h, 0), *y = nm_hierarchy_coherence(other, 0);
		struct nm_counts a = {0}, b = {0};

		assert_true(x->has_private);
		y->has_private = 0;
		rng_state = i + 1;
		random_stream(h, 5);
		rng_state = i + 1;
		random_stream(other, 5);
		for (unsigned level = 0; level < machine.count; level++) {
			nm_hierarchy_total(h, level, &a);
			nm_hierarchy_total(other, level, &b);
			assert_memory_equal(&a, &b, sizeof a);
		}
		assert_memory_equal(x->traffic.count, y->traffic.count, sizeof x->traffic.count);
		ASSERT_SAME_LISTS(x->contention->touches, y->contention->touches);
		ASSERT_SAME_LISTS(x->contention->pairs, y->contention->pairs);
		ASSERT_SAME_LISTS(x->latent->touches->touches, y->latent->touches->touches);
		assert_same_pairs(x->latent, y->latent);
		nm_hierarchy_free(h);
		nm_hierarchy_free(other);
	}
}

/* ---- laws: with all else that levels can be ---------------------------------------------------------- */

static const char *const others[] = {
    "L1d=1K,2,64,protocol=mesi,policy=tree-plru,prefetch=next:L2=4K,4,64,shared=no,prefetch=stream:L3=16K,8,64",
    "L1d=1K,2,64,protocol=moesi,write=through,allocate=no:L2=4K,4,64,shared=no:L3=16K,8,128",
    "L1d=1K,2,64,protocol=mesif,write=through,allocate=no",
    "L1d=1K,2,64,protocol=msi:L2=4K,4,64,inclusion=inclusive",
    "L1d=1K,2,64,protocol=mesi:L2=4K,4,64,inclusion=exclusive,shared=no:L3=16K,8,64,inclusion=exclusive",
    "L1d=1K,2,64,protocol=full:L2=4K,4,64,inclusion=exclusive,shared=no:L3=16K,8,64",
    "L1d=1K,2,64,protocol=scope:L2=4K,4,64,inclusion=exclusive,shared=no:L3=16K,8,64:nodes=2",
    "L1d=1K,2,64,sector=16,protocol=mesi:L2=4K,4,128,sector=32,shared=no:L3=16K,8,128",
    "L1d=1K,2,64,protocol=opt,index=xor:L2=3K,3,64,shared=no,index=prime:L3=16K,full,64:nodes=4",
    "L1i=1K,2,64,protocol=mesi:L1d=1K,2,32:L2=4K,4,64,shared=no:L3=16K,8,64",
    "L1d=1K,2,64,protocol=mesi:L2=4K,4,64:b/L1d=1K,2,64,protocol=full:b/L2=4K,4,64:c/L1d=512,2,64,protocol=none:c/L2=4K,4,64",
};

static void test_laws(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
		struct nm_machine machine;
		struct nm_hierarchy *h = start(others[i], 4, &machine);
		const struct nm_coherence *x = nm_hierarchy_coherence(h, 0);

		rng_state = i + 1;
		for (unsigned n = 0; n < 20000; n++) {
			const struct nm_ref r = {.address = below(below(4) ? 2000 : 20000),
						 .attr = 1 + (uint32_t)below(9),
						 .size = (uint16_t)(1 + below(32)),
						 .kind = below(9) == 0   ? NM_REF_FETCH
							 : below(3) == 0 ? NM_REF_WRITE
									 : NM_REF_READ,
						 .weight = 1};

			nm_hierarchy_set_core(h, (unsigned)below(4));
			if (below(100) == 0)
				nm_hierarchy_synchronise(h);
			assert_int_equal(nm_hierarchy_run(h, &r, 1), 0);
			if (x->protocol->write == nm_protocol_invalidate_others) {
				unsigned writers = 0, copies = 0;

				for (unsigned core = 0; core < 4; core++) {
					enum nm_copy_state s = nm_coherence_state(x, core, r.address);

					writers += s == NM_COPY_MODIFIED || s == NM_COPY_EXCLUSIVE;
					copies += s != NM_COPY_NONE;
				}
				assert_true(!writers || copies == 1);
			}
		}
		assert_int_equal(nm_hierarchy_finish(h), 0);
		for (unsigned l = 0; l < machine.count; l++) {
			struct nm_counts c;

			nm_hierarchy_total(h, l, &c);
			assert_int_equal(c.cold + c.capacity + c.conflict + c.coherence, c.loads);
			if (l == 0)
				assert_true(c.coherence > 0 || machine.levels[0].side == NM_SIDE_INSTRUCTION);
		}
		nm_hierarchy_free(h);
	}
}

/* ---- textbook cases, ROUNDS times -------------------------------------------------------------------- */

enum { ROUNDS = 100 };

static void read8(struct nm_hierarchy *h, unsigned core, uint64_t address)
{
	refer(h, core, address, 8, 0, core + 1);
}

static void write8(struct nm_hierarchy *h, unsigned core, uint64_t address)
{
	refer(h, core, address, 8, 1, core + 1);
}

static void increment(struct nm_hierarchy *h, unsigned core, uint64_t address)
{
	read8(h, core, address);
	write8(h, core, address);
}

static void neighbours(struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned core = 0; core < 2; core++)
			increment(h, core, core * 8);
}

static void padded(struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned core = 0; core < 2; core++)
			increment(h, core, core * 64);
}

/* One writes every tenth round, three read always. */
static void read_mostly(struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (i % 10 == 0)
			write8(h, 0, 0);
		for (unsigned core = 1; core < 4; core++)
			read8(h, core, 0);
	}
}

static void synchronise(struct nm_hierarchy *h, unsigned core)
{
	nm_hierarchy_set_core(h, core);
	nm_hierarchy_synchronise(h);
}

/* Four have it in turn, under a lock. */
static void migratory(struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned core = 0; core < 4; core++) {
			synchronise(h, core);
			increment(h, core, 0);
		}
}

static void producer_consumer(struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned core = 0; core < 2; core++)
			for (unsigned word = 0; word < 8; word++)
				(core ? read8 : write8)(h, core, word * 8);
}

/* The waiter looks three times, the holder releases, the waiter takes the lock. */
static void spinlock(struct nm_hierarchy *h)
{
	increment(h, 0, 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		const unsigned holder = i % 2, waiter = !holder;

		for (unsigned k = 0; k < 3; k++)
			read8(h, waiter, 0);
		synchronise(h, holder);
		write8(h, holder, 0);
		synchronise(h, waiter);
		increment(h, waiter, 0);
	}
}

/* A field that is only read stands beside the count. The update is atomic, so it synchronises. */
static void reference_count(struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned core = 0; core < 4; core++) {
			synchronise(h, core);
			read8(h, core, 8);
			increment(h, core, 0);
		}
}

static void counters_of_eight(struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned core = 0; core < 8; core++)
			increment(h, core, core * 8);
}

enum { TURNS_2 = 2 * ROUNDS, TURNS_4 = 4 * ROUNDS, TURNS_8 = 8 * ROUNDS, STALE = 3 * (ROUNDS / 10 - 1) };

/* What theory says. Of each protocol: copies invalidated; coherence misses; of these false sharing by Dubois
 * et al., and by the reference that misses; upgrades. */
static const struct textbook {
	const char *name, *protocol;
	void (*run)(struct nm_hierarchy *h);
	uint64_t invalidations, coherence, false_sharing, false_first, upgrades;
} textbook[] = {
    /* Each turn but the first takes the line from the other; each but the first two had lost it. The first
     * reader is alone under MESI and needs no upgrade. OPT: the first of each core has nothing stale. FULL and SCOPE
     * invalidate only where threads synchronise, which they do in the cases migratory, spinlock and reference
     * count. */
    {"neighbours", "msi", neighbours, TURNS_2 - 1, TURNS_2 - 2, TURNS_2 - 2, TURNS_2 - 2, TURNS_2},
    {"neighbours", "mesi", neighbours, TURNS_2 - 1, TURNS_2 - 2, TURNS_2 - 2, TURNS_2 - 2, TURNS_2 - 1},
    {"neighbours", "moesi", neighbours, TURNS_2 - 1, TURNS_2 - 2, TURNS_2 - 2, TURNS_2 - 2, TURNS_2 - 1},
    {"neighbours", "mesif", neighbours, TURNS_2 - 1, TURNS_2 - 2, TURNS_2 - 2, TURNS_2 - 2, TURNS_2 - 1},
    {"neighbours", "opt", neighbours, TURNS_2 - 2, TURNS_2 - 2, TURNS_2 - 2, TURNS_2 - 2, 0},
    {"neighbours", "full", neighbours, 0, 0, 0, 0, 0},
    {"neighbours", "scope", neighbours, 0, 0, 0, 0, 0},
    {"padded", "msi", padded, 0, 0, 0, 0, 2},
    {"padded", "mesi", padded, 0, 0, 0, 0, 0},
    {"padded", "moesi", padded, 0, 0, 0, 0, 0},
    {"padded", "mesif", padded, 0, 0, 0, 0, 0},
    {"padded", "opt", padded, 0, 0, 0, 0, 0},
    {"padded", "full", padded, 0, 0, 0, 0, 0},
    {"padded", "scope", padded, 0, 0, 0, 0, 0},
    /* Each write but the first takes the line from three readers, who read what it wrote. */
    {"read mostly", "msi", read_mostly, STALE, STALE, 0, 0, ROUNDS / 10 - 1},
    {"read mostly", "mesi", read_mostly, STALE, STALE, 0, 0, ROUNDS / 10 - 1},
    {"read mostly", "moesi", read_mostly, STALE, STALE, 0, 0, ROUNDS / 10 - 1},
    {"read mostly", "mesif", read_mostly, STALE, STALE, 0, 0, ROUNDS / 10 - 1},
    {"read mostly", "opt", read_mostly, STALE, STALE, 0, 0, 0},
    {"read mostly", "full", read_mostly, 0, 0, 0, 0, 0},
    {"read mostly", "scope", read_mostly, 0, 0, 0, 0, 0},
    /* Each turn but the first takes the line from one core; FULL: each core loses it at each turn of its own
     * but the first; SCOPE: but for the core whose memory it is. */
    {"migratory", "msi", migratory, TURNS_4 - 1, TURNS_4 - 4, 0, 0, TURNS_4},
    {"migratory", "mesi", migratory, TURNS_4 - 1, TURNS_4 - 4, 0, 0, TURNS_4 - 1},
    {"migratory", "moesi", migratory, TURNS_4 - 1, TURNS_4 - 4, 0, 0, TURNS_4 - 1},
    {"migratory", "mesif", migratory, TURNS_4 - 1, TURNS_4 - 4, 0, 0, TURNS_4 - 1},
    {"migratory", "opt", migratory, TURNS_4 - 4, TURNS_4 - 4, 0, 0, 0},
    {"migratory", "full", migratory, TURNS_4 - 4, TURNS_4 - 4, 0, 0, 0},
    {"migratory", "scope", migratory, 3 * (ROUNDS - 1), 3 * (ROUNDS - 1), 0, 0, 0},
    /* Each round but the first: the first write takes the reader's copy, the first read misses. */
    {"producer and consumer", "msi", producer_consumer, ROUNDS - 1, ROUNDS - 1, 0, 0, ROUNDS - 1},
    {"producer and consumer", "mesi", producer_consumer, ROUNDS - 1, ROUNDS - 1, 0, 0, ROUNDS - 1},
    {"producer and consumer", "moesi", producer_consumer, ROUNDS - 1, ROUNDS - 1, 0, 0, ROUNDS - 1},
    {"producer and consumer", "mesif", producer_consumer, ROUNDS - 1, ROUNDS - 1, 0, 0, ROUNDS - 1},
    {"producer and consumer", "opt", producer_consumer, ROUNDS - 1, ROUNDS - 1, 0, 0, 0},
    {"producer and consumer", "full", producer_consumer, 0, 0, 0, 0, 0},
    {"producer and consumer", "scope", producer_consumer, 0, 0, 0, 0, 0},
    /* A turn: the waiter's first look misses, the release takes its copy, its own taking misses and takes the
     * holder's. The very first look is a cold miss. OPT: each look that misses finds a stale copy. FULL: the
     * release and the taking each lose a copy and load it again; SCOPE: but for the core whose memory it is. */
    {"spinlock", "msi", spinlock, TURNS_2, TURNS_2 - 1, 0, 0, TURNS_2 + 1},
    {"spinlock", "mesi", spinlock, TURNS_2, TURNS_2 - 1, 0, 0, TURNS_2},
    {"spinlock", "moesi", spinlock, TURNS_2, TURNS_2 - 1, 0, 0, TURNS_2},
    {"spinlock", "mesif", spinlock, TURNS_2, TURNS_2 - 1, 0, 0, TURNS_2},
    {"spinlock", "opt", spinlock, TURNS_2 - 1, TURNS_2 - 1, 0, 0, 0},
    {"spinlock", "full", spinlock, TURNS_2, TURNS_2, 0, 0, 0},
    {"spinlock", "scope", spinlock, ROUNDS, ROUNDS, 0, 0, 0},
    /* As migratory; but what misses first is the field that nobody writes, where the definitions differ. FULL:
     * the first core that loses its copy finds nothing new, since writes are seen when their copies leave; under
     * SCOPE that of core 0, whose memory it is, is seen when it synchronises. */
    {"reference count", "msi", reference_count, TURNS_4 - 1, TURNS_4 - 4, 0, TURNS_4 - 4, TURNS_4},
    {"reference count", "mesi", reference_count, TURNS_4 - 1, TURNS_4 - 4, 0, TURNS_4 - 4, TURNS_4 - 1},
    {"reference count", "moesi", reference_count, TURNS_4 - 1, TURNS_4 - 4, 0, TURNS_4 - 4, TURNS_4 - 1},
    {"reference count", "mesif", reference_count, TURNS_4 - 1, TURNS_4 - 4, 0, TURNS_4 - 4, TURNS_4 - 1},
    {"reference count", "opt", reference_count, TURNS_4 - 4, TURNS_4 - 4, 0, TURNS_4 - 4, 0},
    {"reference count", "full", reference_count, TURNS_4 - 4, TURNS_4 - 4, 0, TURNS_4 - 5, 0},
    {"reference count", "scope", reference_count, 3 * (ROUNDS - 1), 3 * (ROUNDS - 1), 0, 3 * (ROUNDS - 1), 0},
    /* As neighbours, of eight. */
    {"counters of eight", "msi", counters_of_eight, TURNS_8 - 1, TURNS_8 - 8, TURNS_8 - 8, TURNS_8 - 8,
     TURNS_8},
    {"counters of eight", "mesi", counters_of_eight, TURNS_8 - 1, TURNS_8 - 8, TURNS_8 - 8, TURNS_8 - 8,
     TURNS_8 - 1},
    {"counters of eight", "moesi", counters_of_eight, TURNS_8 - 1, TURNS_8 - 8, TURNS_8 - 8, TURNS_8 - 8,
     TURNS_8 - 1},
    {"counters of eight", "mesif", counters_of_eight, TURNS_8 - 1, TURNS_8 - 8, TURNS_8 - 8, TURNS_8 - 8,
     TURNS_8 - 1},
    {"counters of eight", "opt", counters_of_eight, TURNS_8 - 8, TURNS_8 - 8, TURNS_8 - 8, TURNS_8 - 8, 0},
    {"counters of eight", "full", counters_of_eight, 0, 0, 0, 0, 0},
    {"counters of eight", "scope", counters_of_eight, 0, 0, 0, 0, 0},
};

static void check_textbook(const struct textbook *b)
{
	struct nm_machine machine;
	char spec[100];

	snprintf(spec, sizeof spec, "L1d=32K,8,64,protocol=%s:L2=1M,16,64", b->protocol);

	struct nm_hierarchy *h = start(spec, 8, &machine);
	const struct nm_coherence *x = nm_hierarchy_coherence(h, 0);
	uint64_t invalidations = 0;

	b->run(h);
	assert_int_equal(nm_hierarchy_finish(h), 0);
	const struct nm_extras extras = extras_of(h, 0);
	for (size_t i = 0; i < x->contention->pairs.count; i++)
		invalidations += x->contention->pairs.at[i].invalidations;
	if (invalidations != b->invalidations || extras.coherence != b->coherence ||
	    extras.false_sharing != b->false_sharing || extras.false_first != b->false_first ||
	    x->traffic.count[NM_MESSAGE_UPGRADE] != b->upgrades)
		fail_msg("%s, %s: %u invalidations, %u coherence misses, %u and %u false, %u upgrades",
			 b->name, b->protocol, (unsigned)invalidations, (unsigned)extras.coherence,
			 (unsigned)extras.false_sharing, (unsigned)extras.false_first,
			 (unsigned)x->traffic.count[NM_MESSAGE_UPGRADE]);
	nm_hierarchy_free(h);
}

static void test_textbook(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof textbook / sizeof *textbook; i++)
		check_textbook(&textbook[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_textbook),
	    cmocka_unit_test(test_private_pages),
	    cmocka_unit_test(test_laws),
	    cmocka_unit_test(test_twins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
