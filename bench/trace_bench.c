/* SPDX-License-Identifier: MIT
 *
 * trace_bench.c - where the time of a replay goes, on one thread: CPU time of each stage by itself.
 *
 *     trace_bench TRACE [ROUNDS [SPEC]]
 *
 * One line of figures, the least of the rounds, in nanoseconds for each reference: reading and inflating (inflate), that
 * and undoing the transform (decode), the engine on words that lie in memory (engine: objects, cells, cache model;
 * without symbols, which cost by lines of code and not by references).  Then L1 misses in percent, so that nobody has to
 * believe that a stream is dominated by hits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "machine.h"
#include "session.h"
#include "trace.h"
#include "vector.h"

/* A piece of a stream, as a replay feeds it. */
struct piece {
	uint32_t stream;
	size_t at, count; /* in the words; count 0: the stream has ended */
};

struct bench {
	struct nm_trace *trace;
	struct nm_machine machine;
	struct nm_vec(uint64_t) words;
	struct nm_vec(struct piece) pieces;
	uint64_t references, misses; /* of the first level */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(int status, const struct nm_error *err)
{
	if (!status)
		return;
	fprintf(stderr, "trace_bench: %s\n", err->text);
	exit(1);
}

/* Goes through the trace; keep: the words stay in memory. */
static void read_all(struct bench *b, int decode, int keep)
{
	struct nm_trace_chunk c;
	const uint64_t *words;
	struct nm_error err;
	size_t count;
	int status;

	for (size_t i = 0; nm_trace_chunk(b->trace, i, &c, &err) > 0; i++) {
		if (keep && c.kind == NM_TRACE_END)
			must(nm_vec_push(&b->pieces, ((struct piece){c.stream, 0, 0})), &err);
		if (c.kind != NM_TRACE_WORDS)
			continue;
		must(nm_trace_begin(b->trace, &c, &err), &err);
		while (decode && (status = nm_trace_next(b->trace, &words, &count, &err)) != 0) {
			must(status < 0, &err);
			if (!keep)
				continue;
			must(nm_vec_push(&b->pieces, ((struct piece){c.stream, b->words.count, count})) ||
				 nm_vec_reserve(&b->words, count),
			     &err);
			memcpy(b->words.at + b->words.count, words, count * sizeof *words);
			b->words.count += count;
		}
	}
}

/* What is found depends on the names, so they are learned as in a replay. */
static void learn(struct bench *b, struct nm_symbols *symbols)
{
	struct nm_trace_chunk c;
	const uint8_t *names;
	struct nm_error err;
	size_t bytes;

	for (size_t i = 0; nm_trace_chunk(b->trace, i, &c, &err) > 0; i++)
		if (c.kind == NM_TRACE_NAMES) {
			must(nm_trace_payload(b->trace, &c, &names, &bytes, &err), &err);
			must(nm_symbols_learn(symbols, names, bytes, &err), &err);
		}
}

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
	learn(b, options.symbols);
	must(nm_session_new(&session, &options, &err), &err);
	for (size_t i = 0; i < b->pieces.count; i++) {
		const struct piece *p = &b->pieces.at[i];

		before = now();
		if (p->count)
			must(nm_session_feed(session, p->stream, b->words.at + p->at, p->count, &err), &err);
		spent += now() - before;
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
	double before = now();

	read_all(b, 0, 0);
	return now() - before;
}

static double decode(struct bench *b)
{
	double before = now();

	read_all(b, 1, 0);
	return now() - before;
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
	read_all(&b, 1, 1);
	each[0] = fastest(&b, inflate, rounds);
	each[1] = fastest(&b, decode, rounds);
	each[2] = fastest(&b, simulate, rounds);
	const double ns = 1e9 / (double)(b.references + !b.references);

	printf("%.1f M references  inflate %.2f ns  decode %.2f ns  engine %.2f ns  L1 misses %.2f %%\n",
	       (double)b.references / 1e6, each[0] * ns, each[1] * ns, each[2] * ns,
	       (double)b.misses * ns / 1e7);
	nm_vec_free(&b.words);
	nm_vec_free(&b.pieces);
	nm_trace_free(b.trace);
	return 0;
}
