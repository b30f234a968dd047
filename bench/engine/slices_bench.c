/* SPDX-License-Identifier: MIT
 *
 * slices_bench.c - what it costs to simulate a trace in slices of time, on one thread, and whether the counts are those
 * of one run, by key.
 *
 *     slices_bench TRACE SLICES [SPEC]
 *
 * A line for each trace: CPU seconds of one run's model and of the slices', these by what runs side by side (from
 * empty, and settled misses) and what the slices do one after another (resolving); and of all loads from empty caches
 * the share that was open. Prefetches of the program are left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "pass.h"
#include "recorded.h"
#include "session.h"
#include "slices.h"

enum { MOST = 256 };

struct bench {
	struct recorded recorded;
	struct nm_machine machine;
	struct nm_symbols *symbols;
	uint64_t references, most; /* made so far; in a slice; 0: they are only counted */
	unsigned count;            /* slices begun */
	size_t keys;
	struct nm_hierarchy *whole;
	struct nm_run_slice *slices[MOST];
	const struct nm_coalesced_table *coalesced;
	double in_one_run, from_empty, settled, one_after_another;
};

static int make(void **ret_self, const struct nm_pass_setup *setup, struct nm_error *err)
{
	struct bench *b = *ret_self = setup->options->pass_arg;

	b->coalesced = setup->coalesced;
	if (!b->most)
		return 0;
	must(nm_hierarchy_new_shared(&b->whole, &b->machine, NULL, 1, err), err);
	return nm_hierarchy_set_coalesced(b->whole, b->coalesced);
}

static struct nm_hierarchy *slice_of(struct bench *b)
{
	struct nm_error err;

	if (b->references / b->most >= b->count) {
		must(nm_run_slice_new(&b->slices[b->count], &b->machine, 1, &err), &err);
		must(nm_hierarchy_set_coalesced(nm_run_slice_hierarchy(b->slices[b->count++]), b->coalesced),
		     NULL);
	}
	return nm_run_slice_hierarchy(b->slices[b->count - 1]);
}

static int batch(void *self, const struct nm_pass_batch *of)
{
	struct bench *b = self;
	double at;

	if (b->most) {
		struct nm_hierarchy *slice = slice_of(b);

		at = cpu_seconds();
		must(nm_hierarchy_run(b->whole, of->refs, of->count), NULL);
		b->in_one_run += cpu_seconds() - at;
		at = cpu_seconds();
		must(nm_hierarchy_run(slice, of->refs, of->count), NULL);
		b->from_empty += cpu_seconds() - at;
	}
	b->references += of->count;
	return 0;
}

static int finish(void *self, const struct nm_pass_merge *merge, struct nm_result *result)
{
	(void)result;
	((struct bench *)self)->keys = merge->key_count;
	return 0;
}

static void release(void *self) { (void)self; }

static const struct nm_pass pass = {
    .name = "slices", .make = make, .batch = batch, .finish = finish, .free = release};

static void replay(struct bench *b, uint64_t most)
{
	struct nm_engine_options options = {
	    .machine = &b->machine, .threads = 1, .symbols = b->symbols, .pass = &pass, .pass_arg = b};
	struct nm_result *const *results;
	struct nm_session *session;
	struct nm_error err;
	size_t count;

	b->references = 0;
	b->most = most;
	must(nm_session_new(&session, &options, &err), &err);
	for (size_t i = 0; i < b->recorded.pieces.count; i++) {
		const struct piece *p = &b->recorded.pieces.at[i];

		must(p->count
			 ? nm_session_feed(session, p->stream, b->recorded.words.at + p->at, p->count, &err)
			 : nm_session_end(session, p->stream, &err),
		     &err);
	}
	must(nm_session_results(session, &results, &count, &err), &err);
	nm_session_free(session);
}

static void settle(struct bench *b)
{
	const unsigned depths = nm_run_slice_depths(b->slices[0]);
	struct nm_run_slice_state *states[NM_MAX_DEPTH];
	double at = cpu_seconds();

	for (unsigned i = 0; i < b->count; i++)
		must(nm_run_slice_end(b->slices[i], NULL, 0, b->keys), NULL);
	b->settled = cpu_seconds() - at;
	for (unsigned d = 0; d < depths; d++) {
		at = cpu_seconds();
		states[d] = nm_run_slice_state_new(b->slices[0], d);
		must(states[d] ? 0 : NM_ENOMEM, NULL);
		for (unsigned i = 0; i < b->count; i++)
			must(nm_run_slice_resolve(b->slices[i], states[d]), NULL);
		b->one_after_another += cpu_seconds() - at;
		at = cpu_seconds();
		for (unsigned i = 0; i < b->count; i++)
			must(nm_run_slice_advance(b->slices[i]), NULL);
		b->settled += cpu_seconds() - at;
	}
	nm_run_slice_finish(b->slices[b->count - 1], states);
	for (unsigned i = 1; i < b->count; i++)
		must(nm_hierarchy_add_counts(nm_run_slice_hierarchy(b->slices[0]),
					     nm_run_slice_hierarchy(b->slices[i])),
		     NULL);
	for (unsigned d = 0; d < depths; d++)
		nm_run_slice_state_free(states[d]);
}

static int is_equal(const struct bench *b)
{
	const struct nm_hierarchy *sliced = nm_run_slice_hierarchy(b->slices[0]);
	int equal = 1;

	must(nm_hierarchy_finish(b->whole), NULL);
	for (unsigned level = 0; level < b->machine.count && equal; level++) {
		struct nm_counts *counts[2];
		size_t attrs[2];

		must(nm_hierarchy_counts(b->whole, level, &counts[0], &attrs[0]), NULL);
		must(nm_hierarchy_counts(sliced, level, &counts[1], &attrs[1]), NULL);
		equal = attrs[0] <= attrs[1] && !memcmp(counts[0], counts[1], attrs[0] * sizeof *counts[0]);
		free(counts[0]);
		free(counts[1]);
	}
	return equal;
}

int main(int argc, char **argv)
{
	static struct bench b;
	struct nm_trace *trace;
	struct nm_error err;
	struct nm_run_slice_work work = {0};
	const unsigned count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	if (!count || count >= MOST) {
		fprintf(stderr, "Usage: slices_bench TRACE SLICES [SPEC]\n");
		return 1;
	}
	must(nm_machine_parse(argc > 3 ? argv[3] : "L1d=32K,8,64:L2=1M,16,64", &b.machine, &err), &err);
	must(nm_trace_open(&trace, argv[1], &err), &err);
	must(nm_symbols_new(&b.symbols, &err), &err);
	recorded_learn(trace, b.symbols);
	recorded_read(trace, SIZE_MAX, &b.recorded);
	replay(&b, 0);
	replay(&b, b.references / count + 1);
	settle(&b);
	for (unsigned i = 0; i < b.count; i++) {
		const struct nm_run_slice_work of = nm_run_slice_work(b.slices[i]);

		work.misses += of.misses;
		work.open += of.open;
		work.first += of.first;
	}
	printf(
	    "%2u slices  %.1f M references  in one run %.2f s  from empty %.2f s  settled %.2f s  one after another "
	    "%.3f s  loads %.2f M  open %.2f %%  %s\n",
	    b.count, (double)b.references / 1e6, b.in_one_run, b.from_empty, b.settled, b.one_after_another,
	    (double)work.misses / 1e6, 100. * (double)work.open / (double)(work.misses + !work.misses),
	    is_equal(&b) ? "equal" : "NOT EQUAL");
	for (unsigned i = 0; i < b.count; i++)
		nm_run_slice_free(b.slices[i]);
	nm_hierarchy_free(b.whole);
	nm_symbols_free(b.symbols);
	recorded_free(&b.recorded);
	nm_trace_free(trace);
	return 0;
}
