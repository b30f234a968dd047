/* SPDX-License-Identifier: MIT
 *
 * slow_model.c - simulates a stored trace of one process with the twin of the models, which looks at everything, and
 * prints what it counts.
 *
 *     slow_model TRACE SPEC
 *
 * The trace's records are decoded here, access by access, without the replay: all that this has in common with
 * nearmiss are the format of the wire and the rules of counting. A line for each level of data:
 *
 *     LEVEL MISSES PREFETCHES USEFUL REDUNDANT LATE NON_TEMPORAL
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode.h"
#include "machine.h"
#include "model_twin.h"
#include "trace.h"
#include "vector.h"

struct program {
	struct nm_vec(struct nm_wire_block_info) blocks; /* by number; def.accesses 0: none */
	struct nm_vec(struct nm_ref) refs;
	struct nm_vec(unsigned char) streams; /* of each */
	struct nm_vec(struct nm_software_prefetch) prefetches;
	struct nm_vec(size_t) before; /* of each */
};

static void check(int done, const char *what)
{
	if (done)
		return;
	fprintf(stderr, "slow_model: %s\n", what);
	exit(1);
}

static void define_block(struct program *p, const struct nm_wire_record *r)
{
	struct nm_wire_block_info b;
	uint64_t *copy;

	check(!nm_wire_block_decode(r, &b, NULL), "malformed block");
	check(!nm_vec_reach(&p->blocks, b.id + 1), "out of memory");
	copy = malloc((b.def.accesses + b.def.exits + 1) * sizeof *copy);
	check(copy != NULL, "out of memory");
	memcpy(copy, b.accesses, (b.def.accesses + b.def.exits) * sizeof *copy);
	b.accesses = copy;
	b.exits = copy + b.def.accesses;
	p->blocks.at[b.id] = b;
}

static void add_access(struct program *p, uint64_t access, uint64_t address)
{
	const unsigned flags = nm_wire_access_flags(access);

	if (flags & NM_WIRE_PREFETCH) {
		const struct nm_software_prefetch prefetch = {.address = address,
							      .depth = flags & NM_WIRE_TO_L3   ? 2
								       : flags & NM_WIRE_TO_L2 ? 1
											       : 0,
							      .alone = (flags & NM_WIRE_NON_TEMPORAL) != 0};

		check(!nm_vec_push(&p->prefetches, prefetch) && !nm_vec_push(&p->before, p->refs.count),
		      "out of memory");
		return;
	}
	const struct nm_ref ref = {.address = address,
				   .size = (uint16_t)nm_wire_access_size(access),
				   .kind = flags & NM_WIRE_WRITE ? NM_REF_WRITE : NM_REF_READ,
				   .weight = 1};

	check(!nm_vec_push(&p->refs, ref) &&
		  !nm_vec_push(&p->streams, (unsigned char)((flags & NM_WIRE_NON_TEMPORAL) != 0)),
	      "out of memory");
}

static void run_block(struct program *p, const struct nm_wire_record *r)
{
	const struct nm_wire_block_info *b = &p->blocks.at[r->arg];
	const uint64_t *word = r->payload - 1;
	unsigned accesses;

	check(nm_wire_block_executed(b, r->words, &accesses) >= 0, "a block without such an exit");
	for (unsigned i = 0; i < accesses; i++) {
		const uint64_t access = b->accesses[i];

		word += !(nm_wire_access_flags(access) & NM_WIRE_FOLLOWS);
		if (*word)
			add_access(p, access, *word + nm_wire_access_distance(access));
	}
}

static void read_words(struct program *p, const uint64_t *words, size_t count)
{
	struct nm_wire_scan scan = nm_wire_scan_over(words, count);
	struct nm_wire_record r;

	while (nm_wire_scan_next(&scan, &r, NULL) > 0) {
		if (r.kind == NM_WIRE_BLOCK_DEF)
			define_block(p, &r);
		else if (r.kind == NM_WIRE_BLOCK)
			run_block(p, &r);
	}
}

static void read_trace(struct program *p, const char *path)
{
	struct nm_trace_chunk chunk;
	struct nm_trace *trace;
	const uint64_t *words;
	size_t count;

	check(!nm_trace_open(&trace, path, NULL), "cannot read the trace");
	for (size_t i = 0; nm_trace_chunk(trace, i, &chunk, NULL) > 0; i++) {
		if (chunk.kind != NM_TRACE_WORDS)
			continue;
		check(!nm_trace_begin(trace, &chunk, NULL), "cannot read a chunk");
		while (nm_trace_next(trace, &words, &count, NULL) > 0)
			read_words(p, words, count);
	}
	nm_trace_free(trace);
}

int main(int argc, char **argv)
{
	static struct program p;
	static struct twin t;

	check(argc == 3 && !nm_machine_parse(argv[2], &t.machine, NULL), "usage: slow_model TRACE SPEC");
	read_trace(&p, argv[1]);
	t.machine.hints = 1;
	t.prefetches = p.prefetches.at;
	t.before = p.before.at;
	t.prefetch_count = p.prefetches.count;
	t.streams = p.streams.at;
	twin_run(&t, p.refs.at, p.refs.count);
	for (unsigned i = 0; i < t.machine.count; i++) {
		const struct twin_level *l = &t.levels[i];
		const struct nm_counts *c = &l->attrs[0];
		const struct nm_extras *e = &l->extras[0];

		printf("%s %llu %llu %llu %llu %llu %llu\n", l->spec.name,
		       (unsigned long long)(c->read_misses + c->write_misses),
		       (unsigned long long)e->prefetches, (unsigned long long)e->useful,
		       (unsigned long long)e->redundant, (unsigned long long)e->late,
		       (unsigned long long)e->non_temporal);
	}
	return 0;
}
