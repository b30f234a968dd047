/* SPDX-License-Identifier: MIT
 *
 * recorded.c - see recorded.h.
 */
#include "recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void must(int status, const struct nm_error *err)
{
	if (!status)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

/* The words of a chunk. */
static void read_words(struct nm_trace *trace, const struct nm_trace_chunk *c, size_t *left,
		       struct recorded *ret)
{
	const uint64_t *words;
	struct nm_error err;
	size_t count;
	int status;

	must(nm_trace_begin(trace, c, &err), &err);
	while (*left && (status = nm_trace_next(trace, &words, &count, &err)) != 0) {
		must(status < 0, &err);
		*left -= count < *left ? count : *left;
		if (!ret)
			continue;
		must(nm_vec_push(&ret->pieces, ((struct piece){c->stream, ret->words.count, count})) ||
			 nm_vec_reserve(&ret->words, count),
		     &err);
		memcpy(ret->words.at + ret->words.count, words, count * sizeof *words);
		ret->words.count += count;
	}
}

void recorded_read(struct nm_trace *trace, size_t most, struct recorded *ret)
{
	struct nm_trace_chunk c;
	struct nm_error err;

	for (size_t i = 0; most && nm_trace_chunk(trace, i, &c, &err) > 0; i++) {
		if (c.kind == NM_TRACE_WORDS)
			read_words(trace, &c, &most, ret);
		else if (ret && c.kind == NM_TRACE_END)
			must(nm_vec_push(&ret->pieces, ((struct piece){c.stream, 0, 0})), &err);
	}
}

void recorded_free(struct recorded *r)
{
	nm_vec_free(&r->words);
	nm_vec_free(&r->pieces);
}

void recorded_learn(struct nm_trace *trace, struct nm_symbols *symbols)
{
	struct nm_trace_chunk c;
	const uint8_t *names;
	struct nm_error err;
	size_t bytes;

	for (size_t i = 0; nm_trace_chunk(trace, i, &c, &err) > 0; i++)
		if (c.kind == NM_TRACE_NAMES) {
			must(nm_trace_payload(trace, &c, &names, &bytes, &err), &err);
			must(nm_symbols_decode(symbols, names, bytes, &err), &err);
		}
}

double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
