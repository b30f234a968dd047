/* SPDX-License-Identifier: MIT
 *
 * nest_stream.h - runs a loop nest and collects the references of its stream.
 */
#ifndef NEST_STREAM_H
#define NEST_STREAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "decode.h"
#include "nest.h"
#include "vector.h"

#define ORIGIN 0x100000ull
#define NO_SETTINGS ((const char *const[]){NULL})

struct seen {
	uint64_t address;
	unsigned bytes;
	int is_write;
	const char *place;
	uint32_t line;
};

struct stream {
	struct nm_wire_check *check;
	struct nm_vec(uint64_t) words;
	struct nm_vec(struct seen) seen;
	size_t largest; /* words in one piece */
};

static inline int take(void *self, const uint64_t *words, size_t count, struct nm_error *err)
{
	struct stream *s = self;

	if (nm_vec_reserve(&s->words, count))
		return NM_ENOMEM;
	if (count)
		memcpy(s->words.at + s->words.count, words, count * sizeof *words);
	s->words.count += count;
	if (count > s->largest)
		s->largest = count;
	return wire_check_feed(s->check, words, count, err);
}

static inline void see_block(struct stream *s, const struct nm_wire_record *run,
			     const struct nm_wire_block_info *block, const struct nm_wire_place *places,
			     size_t count)
{
	for (size_t i = 0; i < run->words; i++) {
		uint64_t w = block->accesses[i];
		uint64_t pc = nm_wire_instruction_pc(block->instructions[nm_wire_access_instruction(w)]);
		struct seen seen = {run->payload[i], nm_wire_access_size(w),
				    (nm_wire_access_flags(w) & NM_WIRE_WRITE) != 0, NULL, 0};

		for (size_t k = 0; k < count; k++)
			if (places[k].pc == pc) {
				seen.place = places[k].function;
				seen.line = places[k].line;
			}
		assert_non_null(seen.place);
		assert_int_equal(nm_vec_push(&s->seen, seen), 0);
	}
}

/* Runs a nest; every reference that the checked stream holds, in order. To be freed by done(). */
static inline int run(struct stream *s, struct nm_nest *nest, struct nm_error *err)
{
	const char *argv[] = {"test.nest", NULL};
	struct nm_nest_sink sink = {take, s};
	struct nm_wire_block_info blocks[200] = {0};
	struct nm_wire_place places[200];
	struct nm_wire_scan scan;
	struct nm_wire_record r;
	size_t count = 0;
	int status;

	*s = (struct stream){0};
	assert_int_equal(wire_check_new(&s->check, NULL), 0);
	status = nm_nest_run(nest, argv, &sink, err);
	if (status)
		return status;
	assert_int_equal(wire_check_finish(s->check, 1, err), 0);
	scan = nm_wire_scan_over(s->words.at, s->words.count);
	while (nm_wire_scan_next(&scan, &r, NULL) > 0) {
		if (r.kind == NM_WIRE_BLOCK_DEF) {
			assert_in_range(r.arg, 1, 199);
			assert_int_equal(nm_wire_block_decode(&r, &blocks[r.arg], NULL), 0);
		} else if (r.kind == NM_WIRE_PLACE) {
			assert_in_range(count, 0, 199);
			assert_int_equal(nm_wire_place_decode(&r, &places[count++], NULL), 0);
		} else if (r.kind == NM_WIRE_BLOCK) {
			see_block(s, &r, &blocks[r.arg], places, count);
		}
	}
	return 0;
}

static inline void done(struct stream *s)
{
	wire_check_free(s->check);
	nm_vec_free(&s->words);
	nm_vec_free(&s->seen);
}

static inline struct nm_nest *parse(const char *text, const char *const *settings)
{
	struct nm_error err;
	struct nm_nest *nest;

	if (nm_nest_parse(&nest, text, strlen(text), "test.nest", settings, &err))
		fail_msg("%s\n%s", err.text, err.subject);
	return nest;
}

/* The stream of a text. */
static inline void run_text(struct stream *s, const char *text, const char *const *settings)
{
	struct nm_nest *nest = parse(text, settings);
	struct nm_error err;

	if (run(s, nest, &err))
		fail_msg("%s\n%s", err.text, err.subject);
	nm_nest_free(nest);
}

/* The next reference that is expected. */
static inline void expect(struct stream *s, size_t *i, int is_write, uint64_t address)
{
	assert_in_range(*i, 0, s->seen.count - 1);
	assert_int_equal(s->seen.at[*i].address, address);
	assert_int_equal(s->seen.at[*i].is_write, is_write);
	(*i)++;
}

#endif
