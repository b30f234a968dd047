/* SPDX-License-Identifier: MIT
 *
 * recorded.h - a trace's words in memory, and its names, for what measures the engine alone. What goes wrong
 * ends the program with a line that says what.
 */
#ifndef NM_BENCH_RECORDED_H
#define NM_BENCH_RECORDED_H

#include <stddef.h>
#include <stdint.h>

#include "symbol.h"
#include "trace.h"
#include "vector.h"

/* A piece of a stream, as a replay feeds it. */
struct piece {
	uint32_t stream;
	size_t at, count; /* in the words; count 0: the stream has ended */
};

struct recorded {
	struct nm_vec(uint64_t) words;
	struct nm_vec(struct piece) pieces;
};

void must(int status, const struct nm_error *err);

/* Goes through a trace, as far as `most` words. ret, if it is not NULL, gets them; freed by recorded_free. */
void recorded_read(struct nm_trace *trace, size_t most, struct recorded *ret);
void recorded_free(struct recorded *recorded);

/* What is found depends on the names, so they are learned as in a replay. */
void recorded_learn(struct nm_trace *trace, struct nm_symbols *symbols);

/* Seconds of CPU time of this thread. */
double cpu_seconds(void);

#endif
