/* SPDX-License-Identifier: MIT
 *
 * trace_bench.c - where the time of a replay goes, on one thread: CPU time of each stage by itself.
 *
 *     trace_bench TRACE [ROUNDS [SPEC]]
 *
 * One line of figures, the least of the rounds, in nanoseconds for each reference: reading and inflating
 * (inflate), that and undoing the transform (decode), the engine on words that lie in memory (engine:
 * objects, attribution keys, cache model; without symbols, which cost by lines of code and not by
 * references). Then L1 misses in percent, so that nobody has to believe that a stream is dominated by hits.
 */
#include <stdio.h>
#include <stdlib.h>

#include "machine.h"
#include "recorded.h"
#include "session.h"

struct bench {
	struct nm_trace *trace;
	struct nm_machine machine;
	struct recorded recorded;
	uint64_t references, misses; /* of the first level */
};

static void note_misses(struct bench *b, struct nm_session *session)
{
	struct nm_result *const *results;
	struct nm_error err;
	uint64_t misses = 0, all = 0;
	size_t count;

	must(nm_session_results(session, &results, &count, &err), &err);
	for (size_t i = 0; i < count; i++) {
		const struct nm_counts *t = &results[i]->levels[0].total;

		all += t->reads + t->writes;
		misses += t->read_misses + t->write_misses;
	}
	b->references = all;
	b->misses = misses;
}

/* The engine's CPU seconds; the results, which take as long as there are lines of code, are left out. */
static double simulate(struct bench *b)
{
	struct nm_engine_options options = {.machine = &b->machine, .threads = 1};
	struct nm_session *session;
	struct nm_error err;
	double before, spent = 0;

	must(nm_symbols_new(&options.symbols, &err), &err);
	recorded_learn(b->trace, options.symbols);
	must(nm_session_new(&session, &options, &err), &err);
	for (size_t i = 0; i < b->recorded.pieces.count; i++) {
		const struct piece *p = &b->recorded.pieces.at[i];

		before = cpu_seconds();
		if (p->count)
			must(
			    nm_session_feed(session, p->stream, b->recorded.words.at + p->at, p->count, &err),
			    &err);
		spent += cpu_seconds() - before;
		if (!p->count)
			must(nm_session_end(session, p->stream, &err), &err);
	}
	note_misses(b, session);
	nm_session_free(session);
	nm_symbols_free(options.symbols);
	return spent;
}

static double inflate(struct bench *b)
{
	struct nm_trace_chunk c;
	struct nm_error err;
	double before = cpu_seconds();

	for (size_t i = 0; nm_trace_chunk(b->trace, i, &c, &err) > 0; i++)
		if (c.kind == NM_TRACE_WORDS)
			must(nm_trace_begin(b->trace, &c, &err), &err);
	return cpu_seconds() - before;
}

static double decode(struct bench *b)
{
	double before = cpu_seconds();

	recorded_read(b->trace, SIZE_MAX, NULL);
	return cpu_seconds() - before;
}

static double fastest(struct bench *b, double stage(struct bench *), int rounds)
{
	double least = 1e9;

	for (int i = 0; i < rounds; i++) {
		double spent = stage(b);

		least = spent < least ? spent : least;
	}
	return least;
}

int main(int argc, char **argv)
{
	const char *spec = argc > 3 ? argv[3] : "L1d=32K,8,64:L2=1M,16,64";
	int rounds = argc > 2 ? atoi(argv[2]) : 3;
	struct bench b = {0};
	struct nm_error err;
	double each[3];

	if (argc < 2 || rounds < 1) {
		fprintf(stderr, "Usage: trace_bench TRACE [ROUNDS [SPEC]]\n");
		return 1;
	}
	must(nm_trace_open(&b.trace, argv[1], &err), &err);
	must(nm_machine_parse(spec, &b.machine, &err), &err);
	recorded_read(b.trace, SIZE_MAX, &b.recorded);
	each[0] = fastest(&b, inflate, rounds);
	each[1] = fastest(&b, decode, rounds);
	each[2] = fastest(&b, simulate, rounds);
	const double ns = 1e9 / (double)(b.references + !b.references);

	printf("%.1f M references  inflate %.2f ns  decode %.2f ns  engine %.2f ns  L1 misses %.2f %%\n",
	       (double)b.references / 1e6, each[0] * ns, each[1] * ns, each[2] * ns,
	       (double)b.misses * ns / 1e7);
	recorded_free(&b.recorded);
	nm_trace_free(b.trace);
	return 0;
}
