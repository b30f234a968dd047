/* SPDX-License-Identifier: MIT
 *
 * wire_check_test.c - the checker of streams on good ones and on one bad one for each rule, and the stored
 * samples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "sample_stream.h"

static int check(const struct nm_wire_words *stream, struct nm_wire_stats *ret, struct nm_error *err)
{
	struct nm_wire_check *c;
	int status;

	assert_int_equal(wire_check_new(&c, err), 0);
	status = wire_check_feed(c, stream->at, stream->count, err);
	if (!status)
		status = wire_check_finish(c, 1, err);
	if (ret)
		*ret = *wire_check_stats(c);
	wire_check_free(c);
	return status;
}

/* The sample runs SAMPLE_GROUPS twice, to its end and out through its exit, and code that is only counted. */
static void expect_sample_stats(const struct nm_wire_stats *s)
{
	assert_int_equal(s->records[NM_WIRE_BLOCK], 6 + 2);
	assert_int_equal(s->records[NM_WIRE_BLOCK_DEF], 4);
	assert_int_equal(s->records[NM_WIRE_ALLOC], 3);
	assert_int_equal(s->records[NM_WIRE_EXIT], 1);
	assert_int_equal(s->records[NM_WIRE_RAN], 1);
	assert_int_equal(s->records[NM_WIRE_SYNC], 10);
	assert_int_equal(s->addresses, 12 + 2 + 1);
	assert_int_equal(s->reads, 3 + 1 + 2 + 3 + 1);
	assert_int_equal(s->writes, 2 + 1 + 2 + 2);
	assert_int_equal(s->prefetches, 2);
	assert_int_equal(s->skipped, 1);
	assert_int_equal(s->instructions, 3 + 3 + 2 + 1 + 2 + 2 + 4 + 2 + SAMPLE_RAN);
	assert_int_equal(s->side_exits, 2);
	assert_int_equal(s->calls, 1);
	assert_int_equal(s->returns, 3);
	assert_int_equal(s->unmatched_returns, 2);
	assert_int_equal(s->max_depth, 1);
	assert_int_equal(s->unknown_frees, 1);
	assert_int_equal(s->max_live_bytes, 100);
	assert_int_equal(s->live_blocks, 0); /* forgotten at LOST */
	assert_int_equal(s->lost, 17);
}

static void test_checker_accepts_and_counts_the_sample(void **state)
{
	struct nm_wire_words stream = {0};
	struct nm_wire_stats stats;
	struct nm_error err = {0};

	(void)state;
	assert_int_equal(sample_stream(&stream), 0);
	if (check(&stream, &stats, &err))
		fail_msg("%s", err.text);
	assert_int_equal(stats.words, stream.count);
	expect_sample_stats(&stats);
	nm_vec_free(&stream);
}

static void expect_sampled_stats(const struct nm_wire_stats *s)
{
	assert_int_equal(s->records[NM_WIRE_SAMPLE], 2);
	assert_int_equal(s->records[NM_WIRE_REUSE], 1);
	assert_int_equal(s->open_samples, 1);
	assert_int_equal(s->references, 20000);
	assert_int_equal(s->live_bytes, 256);
}

static void test_checker_accepts_and_counts_the_sampled_stream(void **state)
{
	struct nm_wire_words stream = {0};
	struct nm_wire_stats stats;
	struct nm_error err = {0};

	(void)state;
	assert_int_equal(sample_sampled_stream(&stream), 0);
	if (check(&stream, &stats, &err))
		fail_msg("%s", err.text);
	expect_sampled_stats(&stats);
	nm_vec_free(&stream);
}

static void check_stored(const char *path, struct nm_wire_stats *ret_stats)
{
	struct nm_wire_words stream = {0};
	struct nm_error err = {0};
	FILE *file = fopen(path, "rb");
	uint64_t word;

	assert_non_null(file);
	while (fread(&word, sizeof word, 1, file) == 1)
		assert_int_equal(nm_vec_push(&stream, word), 0);
	fclose(file);
	if (check(&stream, ret_stats, &err))
		fail_msg("%s", err.text);
	nm_vec_free(&stream);
}

static void test_the_stored_samples_are_read(void **state)
{
	struct nm_wire_stats stats;

	(void)state;
	check_stored(NM_TEST_DATA "/wire-v1.bin", &stats);
	expect_sample_stats(&stats);
	check_stored(NM_TEST_DATA "/wire-v1-sampled.bin", &stats);
	expect_sampled_stats(&stats);
}

enum {
	READ = NM_WIRE_READ,
	WRITE = NM_WIRE_WRITE,
	PREFETCH = NM_WIRE_PREFETCH,
	GUARDED = NM_WIRE_GUARDED,
	FRAME = NM_WIRE_FRAME,
	FOLLOWS = NM_WIRE_FOLLOWS
};

#define ACCESS(distance, size, flags) (size | (uint64_t)(flags) << 32 | (uint64_t)(distance) << 48)
#define WORDS_OF(...) (sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
/* A definition of one instruction, which makes the accesses; `exits` words behind them are exits. */
#define ONE_INSTRUCTION(said, end, exits, ...)                                                      \
	{                                                                                           \
		said, NM_WIRE_BLOCK_DEF, 9, 3 + WORDS_OF(__VA_ARGS__),                              \
		{                                                                                   \
			SAMPLE_PC,                                                                  \
			    1 | (WORDS_OF(__VA_ARGS__) - (exits)) << 16 | (uint64_t)(exits) << 32 | \
				(uint64_t)(end) << 48,                                              \
			    SAMPLE_PC | 1ull << 48, __VA_ARGS__                                     \
		}                                                                                   \
	}

/* Records that are wrong after sample_start and sample_define_blocks, and what is said of them. */
#define SAMPLE_CODE (SAMPLE_PC | 8ull << 48) /* reads 8 bytes */

static const struct bad {
	const char *said;
	enum nm_wire_kind kind;
	uint32_t arg;
	size_t words;
	uint64_t payload[8];
} bad_records[] = {
    {"second start", NM_WIRE_PROCESS, 0, 7, {1, 1, 1, 0, 0, 0, 0}},
    {"not defined", NM_WIRE_BLOCK, 99, 0, {0}},
    {"that of no exit", NM_WIRE_BLOCK, SAMPLE_LOOP, 2, {8, 8}},
    {"that of no exit", NM_WIRE_BLOCK, SAMPLE_LOOP, 4, {8, 8, 8, 8}},
    {"no guard", NM_WIRE_BLOCK, SAMPLE_LOOP, 3, {0, 8, 8}},
    {"that of no exit", NM_WIRE_BLOCK, SAMPLE_GROUPS, 0, {0}},
    {"that of no exit", NM_WIRE_BLOCK, SAMPLE_GROUPS, 3, {8, 8, 8}},
    {"that of no exit", NM_WIRE_BLOCK, SAMPLE_GROUPS, 5, {8, 8, 8, 8, 8}},
    {"no guard", NM_WIRE_BLOCK, SAMPLE_GROUPS, 1, {0}},
    {"no guard", NM_WIRE_BLOCK, SAMPLE_GROUPS, 2, {8, 0}},
    {"second definition", NM_WIRE_BLOCK_DEF, SAMPLE_LOOP, 3, {SAMPLE_PC, 1, SAMPLE_PC | 1ull << 48}},
    {"no instruction", NM_WIRE_BLOCK_DEF, 9, 2, {SAMPLE_PC, 0}},
    {"number of words", NM_WIRE_BLOCK_DEF, 9, 2, {SAMPLE_PC, 1}},
    {"number of words", NM_WIRE_BLOCK_DEF, 9, 1, {SAMPLE_PC}},
    {"instruction word", NM_WIRE_BLOCK_DEF, 9, 3, {SAMPLE_PC, 1, SAMPLE_PC}},
    {"first instruction", NM_WIRE_BLOCK_DEF, 9, 3, {SAMPLE_PC, 1, (SAMPLE_PC + 1) | 1ull << 48}},
    {"unknown end", NM_WIRE_BLOCK_DEF, 9, 3, {SAMPLE_PC, 1 | 3ull << 48, SAMPLE_PC | 1ull << 48}},
    {"unknown end or flag", NM_WIRE_BLOCK_DEF, 9, 3, {SAMPLE_PC, 1 | 2ull << 56, SAMPLE_PC | 1ull << 48}},
    {"access word", NM_WIRE_BLOCK_DEF, 9, 4, {SAMPLE_PC, 1 | 1 << 16, SAMPLE_PC | 1ull << 48, 1ull << 32}},
    {"read, write, prefetch",
     NM_WIRE_BLOCK_DEF,
     9,
     4,
     {SAMPLE_PC, 1 | 1 << 16, SAMPLE_PC | 1ull << 48, 8 | 3ull << 32}},
    {"out of range",
     NM_WIRE_BLOCK_DEF,
     9,
     4,
     {SAMPLE_PC, 1 | 1 << 16, SAMPLE_PC | 1ull << 48, 8 | 1 << 16 | 1ull << 32}},
    {"does not end a call",
     NM_WIRE_BLOCK_DEF,
     9,
     4,
     {SAMPLE_PC, 1 | 1 << 16, SAMPLE_PC | 1ull << 48, 8 | 34ull << 32}},
    {"without an access", NM_WIRE_BLOCK_DEF, 9, 3, {SAMPLE_PC, 1 | 1ull << 48, SAMPLE_PC | 1ull << 48}},
    {"not that of its frame",
     NM_WIRE_BLOCK_DEF,
     9,
     4,
     {SAMPLE_PC, 1 | 1 << 16 | 1ull << 48, SAMPLE_PC | 1ull << 48, 8 | 33ull << 32}},
    {"beyond the block", NM_WIRE_BLOCK_DEF, 9, 4, {SAMPLE_PC, 1 | 1ull << 32, SAMPLE_PC | 1ull << 48, 0}},
    {"do not ascend",
     NM_WIRE_BLOCK_DEF,
     9,
     6,
     {SAMPLE_PC, 1 | 1 << 16 | 2ull << 32, SAMPLE_PC | 1ull << 48, 8 | 1ull << 32, 0, 0}},
    ONE_INSTRUCTION("first access that follows", NM_WIRE_JUMP, 0, ACCESS(0, 8, READ | FOLLOWS)),
    ONE_INSTRUCTION("prefetch or non-temporal store in a group", NM_WIRE_JUMP, 0, ACCESS(0, 8, READ),
		    ACCESS(0, 8, READ | GUARDED | FOLLOWS)),
    ONE_INSTRUCTION("prefetch or non-temporal store in a group", NM_WIRE_JUMP, 0,
		    ACCESS(0, 8, READ | GUARDED), ACCESS(0, 8, READ | FOLLOWS)),
    ONE_INSTRUCTION("prefetch or non-temporal store in a group", NM_WIRE_JUMP, 0, ACCESS(0, 64, PREFETCH),
		    ACCESS(0, 8, READ | FOLLOWS)),
    ONE_INSTRUCTION("prefetch or non-temporal store in a group", NM_WIRE_JUMP, 0, ACCESS(0, 8, READ),
		    ACCESS(0, 64, PREFETCH | FOLLOWS)),
    ONE_INSTRUCTION("prefetch or non-temporal store in a group", NM_WIRE_JUMP, 0, ACCESS(0, 8, READ),
		    ACCESS(0, 8, WRITE | NM_WIRE_NON_TEMPORAL | FOLLOWS)),
    ONE_INSTRUCTION("hint that it cannot have", NM_WIRE_JUMP, 0, ACCESS(0, 8, READ | NM_WIRE_NON_TEMPORAL)),
    ONE_INSTRUCTION("hint that it cannot have", NM_WIRE_JUMP, 0, ACCESS(0, 8, WRITE | NM_WIRE_TO_L2)),
    ONE_INSTRUCTION("hint that it cannot have", NM_WIRE_JUMP, 0,
		    ACCESS(0, 8, WRITE | NM_WIRE_NON_TEMPORAL | NM_WIRE_ATOMIC)),
    ONE_INSTRUCTION("hint that it cannot have", NM_WIRE_JUMP, 0,
		    ACCESS(0, 8, PREFETCH | NM_WIRE_NON_TEMPORAL | NM_WIRE_TO_L3)),
    ONE_INSTRUCTION("without an access at its address", NM_WIRE_JUMP, 0, ACCESS(8, 8, READ)),
    ONE_INSTRUCTION("without an access at its address", NM_WIRE_JUMP, 0, ACCESS(8, 8, READ),
		    ACCESS(16, 8, READ | FOLLOWS)),
    ONE_INSTRUCTION("without an access at its address", NM_WIRE_JUMP, 0, ACCESS(8, 8, READ),
		    ACCESS(0, 8, READ)),
    ONE_INSTRUCTION("without an access at its address", NM_WIRE_JUMP, 0, ACCESS(0, 8, READ),
		    ACCESS(4, 8, READ | GUARDED)),
    ONE_INSTRUCTION("goes on behind an exit", NM_WIRE_JUMP, 1, ACCESS(0, 8, READ),
		    ACCESS(8, 8, READ | FOLLOWS), 1),
    ONE_INSTRUCTION("access word", NM_WIRE_JUMP, 0, ACCESS(0, 8, READ), ACCESS(0, 0, READ | FOLLOWS)),
    ONE_INSTRUCTION("access word", NM_WIRE_JUMP, 0, ACCESS(0, 8, READ), ACCESS(0, 8, READ | 64 * FOLLOWS)),
    ONE_INSTRUCTION("chases but does not read", NM_WIRE_JUMP, 0,
		    ACCESS(0, 8, NM_WIRE_WRITE | NM_WIRE_CHASES)),
    ONE_INSTRUCTION("commutes and is not atomic", NM_WIRE_JUMP, 0, ACCESS(0, 8, READ),
		    ACCESS(0, 8, READ | NM_WIRE_COMMUTES)),
    ONE_INSTRUCTION("read, write, prefetch", NM_WIRE_JUMP, 0, ACCESS(0, 8, READ), ACCESS(0, 8, FOLLOWS)),
    ONE_INSTRUCTION("does not end a call", NM_WIRE_JUMP, 0, ACCESS(0, 8, READ),
		    ACCESS(0, 8, WRITE | FRAME | FOLLOWS)),
    ONE_INSTRUCTION("not that of its frame", NM_WIRE_CALL, 0, ACCESS(0, 8, READ),
		    ACCESS(0, 8, READ | FRAME | FOLLOWS)),
    ONE_INSTRUCTION("not that of its frame", NM_WIRE_RETURN, 0, ACCESS(0, 8, READ),
		    ACCESS(0, 8, READ | FOLLOWS)),
    {"started before", NM_WIRE_THREAD_START, 1, 3, {0, 1, 2}},
    {"never started", NM_WIRE_THREAD_START, 2, 3, {7, 1, 2}},
    {"out of range", NM_WIRE_THREAD_START, 2, 3, {0, 2, 1}},
    {"not started", NM_WIRE_THREAD, 2, 0, {0}},
    {"not started", NM_WIRE_THREAD_EXIT, 2, 0, {0}},
    {"not started", NM_WIRE_THREAD_POINTER, 2, 1, {1}},
    {"number of words", NM_WIRE_SIGNAL, 2, 2, {1, 2}},
    {"failed allocation", NM_WIRE_ALLOC, NM_WIRE_MALLOC, 3, {0, 8, 0}},
    {"out of range", NM_WIRE_ALLOC, NM_WIRE_ALLOCATORS, 3, {64, 8, 0}},
    {"out of range", NM_WIRE_ALLOC, NM_WIRE_MALLOC, 3, {64, ~0ull, 0}},
    {"overlaps", NM_WIRE_ALLOC, NM_WIRE_MALLOC, 3, {0x5000ff, 1, 0}},
    {"overlaps", NM_WIRE_ALLOC, NM_WIRE_MALLOC, 3, {0x4fffff, 2, 0}},
    {"overlaps", NM_WIRE_REALLOC, NM_WIRE_REALLOCATE, 4, {0, 0x4ff000, 0x10000, 0}},
    {"failed allocation", NM_WIRE_REALLOC, NM_WIRE_REALLOCATE, 4, {0x500000, 0, 8, 0}},
    {"out of range", NM_WIRE_FREE, NM_WIRE_ALLOCATORS, 1, {64}},
    {"out of range", NM_WIRE_FREE, NM_WIRE_POOL, 1, {64}},
    {"failed allocation", NM_WIRE_ALLOC, NM_WIRE_POOL, 3, {0, 8, 0}},
    {"inside a page", NM_WIRE_MAP, 1, 4, {0x1001, 0x1000, 0, 0}},
    {"unknown flag", NM_WIRE_MAP, 128, 4, {0x1000, 0x1000, 0, 0}},
    {"out of range", NM_WIRE_MAP, 1, 4, {0x1000, 0, 0, 0}},
    {"string", NM_WIRE_MAP, 1, 4, {0x1000, 0x1000, 0, ~0ull}},
    {"left over", NM_WIRE_MAP, 1, 5, {0x1000, 0x1000, 0, 0, 0}},
    {"number of words", NM_WIRE_MAP, 1, 3, {0x1000, 0x1000, 0}},
    {"out of range", NM_WIRE_UNMAP, 0, 2, {~0ull - 4095, 0x2000}},
    {"out of range", NM_WIRE_REMAP, 0, 4, {0, 4096, 4096, 0}},
    {"out of range", NM_WIRE_PAGES, 3, 2, {0, 4096}},
    {"out of range", NM_WIRE_PAGES, 1, 2, {4096, 0}},
    {"out of range", NM_WIRE_PAGES, 1, 2, {4096, ~0ull}},
    {"number of words", NM_WIRE_PAGES, 1, 3, {0, 4096, 0}},
    {"number of words", NM_WIRE_SHARED, 0, 4, {4096, 4096, 1, 2}},
    {"out of range", NM_WIRE_SHARED, 1, 5, {4096, 4096, 1, 2, 0}},
    {"out of range", NM_WIRE_SHARED, 0, 5, {4096, 0, 1, 2, 0}},
    {"out of range", NM_WIRE_SHARED, 0, 5, {4096, 4096, 1, 2, ~0ull}},
    {"out of range", NM_WIRE_BRK, 0, 2, {2, 1}},
    {"loaded already", NM_WIRE_MODULE, 0, 2, {0x401000, 0}},
    {"number of words", NM_WIRE_MODULE, 9, 3, {0x500000, 0, 0}},
    {"not loaded", NM_WIRE_MODULE_GONE, 0, 1, {0x500000}},
    {"string", NM_WIRE_NAME, 0, 3, {1, 2, ~0ull}},
    {"out of range", NM_WIRE_REGION, 2, 1, {0}},
    {"out of range", NM_WIRE_MEASURE, 2, 0, {0}},
    {"number of words", NM_WIRE_LOST, 0, 0, {0}},
    {"number of words", NM_WIRE_PLACE, 0, 3, {SAMPLE_PC, 1, 0}},
    {"string", NM_WIRE_PLACE, 0, 4, {SAMPLE_PC, 1, ~0ull, ~0ull}},
    {"string", NM_WIRE_PLACE, 0, 4, {SAMPLE_PC, 1, 0, ~0ull}},
    {"left over", NM_WIRE_PLACE, 0, 5, {SAMPLE_PC, 1, 0, 0, 0}},
    {"out of range", NM_WIRE_PLACE, 0, 4, {1ull << 48, 1, 0, 0}},
    {"out of range", NM_WIRE_PLACE, 0, 4, {SAMPLE_PC, 1ull << 32, 0, 0}},
    {"number of words", NM_WIRE_RAN, 0, 0, {0}},
    {"number of words", NM_WIRE_RAN, 0, 2, {1, 0}},
    {"out of range", NM_WIRE_RAN, 1, 1, {1}},
    {"number of words", NM_WIRE_SAMPLING, 0, 2, {1, 64}},
    {"out of range", NM_WIRE_SAMPLING, 0, 3, {0, 64, 1}},
    {"out of range", NM_WIRE_SAMPLING, 0, 3, {1, 48, 1}},
    {"late or second start", NM_WIRE_SAMPLING, 0, 3, {1, 64, 1}},
    {"no start of sampling", NM_WIRE_SAMPLE, 0, 3, {1, 64, SAMPLE_CODE}},
    {"unknown kind 36", NM_WIRE_KINDS, 0, 0, {0}},
    {"unknown kind 127", 127, 0, 0, {0}},
};

/* The same behind the start of a sampled stream, the first of these records, and its one sample. */
static const struct bad bad_sampled[] = {
    {"late or second start", NM_WIRE_SAMPLING, 0, 3, {1, 64, 1}},
    {"number of words", NM_WIRE_SAMPLE, 0, 2, {200, 64}},
    {"out of range", NM_WIRE_SAMPLE, 0, 3, {200, 64, SAMPLE_PC}}, /* no bytes */
    {"second sample of a reference", NM_WIRE_SAMPLE, 0, 3, {100, 0x600000, SAMPLE_CODE}},
    {"runs backwards", NM_WIRE_SAMPLE, 0, 3, {99, 0x600000, SAMPLE_CODE}},
    {"no such open sample", NM_WIRE_REUSE, 0, 4, {200, 0x600000, SAMPLE_CODE, 101}},
    {"another line", NM_WIRE_REUSE, 0, 4, {200, 0x600040, SAMPLE_CODE, 100}},
    {"out of range", NM_WIRE_REUSE, 0, 4, {100, 0x600000, SAMPLE_CODE, 100}},
    {"number of words", NM_WIRE_FRAMES, 0, 2, {0, 0x7ff8f8}},
    {"runs backwards", NM_WIRE_CLOCK, 0, 1, {99}},
    {"out of range", NM_WIRE_CLOCK, 1, 1, {200}},
    {"out of range", NM_WIRE_CLOCK, 0, 1, {1ull << 48}},
    {"out of range", NM_WIRE_SAMPLE, 0, 3, {1ull << 48, 0x600000, SAMPLE_CODE}},
    {"out of range", NM_WIRE_REUSE, 0, 4, {1ull << 48, 0x600000, SAMPLE_CODE, 100}},
};

static void start_bad_stream(struct nm_wire_words *stream)
{
	stream->count = 0;
	assert_int_equal(sample_start(stream), 0);
	assert_int_equal(sample_define_blocks(stream), 0);
	assert_int_equal(
	    nm_wire_alloc_encode(stream, &(struct nm_wire_alloc){NM_WIRE_MALLOC, 0x500000, 0x100, 0}), 0);
}

static void expect_fault(const struct nm_wire_words *stream, size_t at, const char *said)
{
	struct nm_error err = {0};
	char word[32];

	assert_int_equal(check(stream, NULL, &err), NM_EFORMAT);
	snprintf(word, sizeof word, "word %zu", at);
	if (strncmp(err.text, word, strlen(word)) || !strstr(err.text, said))
		fail_msg("expected %s: %s, got: %s", word, said, err.text);
}

static void test_checker_refuses_each_bad_record(void **state)
{
	struct nm_wire_words stream = {0};

	(void)state;
	for (size_t i = 0; i < sizeof bad_records / sizeof *bad_records; i++) {
		const struct bad *b = &bad_records[i];
		size_t at;

		start_bad_stream(&stream);
		assert_int_equal(nm_wire_exec_encode(&stream, &(struct nm_wire_exec){"/bin/true"}), 0);
		assert_int_equal(check(&stream, NULL, NULL), 0);
		at = stream.count;
		assert_int_equal(nm_wire_encode(&stream, b->kind, b->arg, b->payload, b->words), 0);
		expect_fault(&stream, at, b->said);
	}
	nm_vec_free(&stream);
}

static void test_checker_refuses_words_out_of_place(void **state)
{
	struct nm_wire_words stream = {0};
	size_t at;

	(void)state;
	assert_int_equal(sample_define_blocks(&stream), 0);
	expect_fault(&stream, 0, "starts not with PROCESS");

	start_bad_stream(&stream); /* an address after a record that is no BLOCK */
	at = stream.count;
	assert_int_equal(nm_vec_push(&stream, 4096), 0);
	expect_fault(&stream, at, "no record header");

	start_bad_stream(&stream);
	at = stream.count;
	assert_int_equal(nm_vec_push(&stream, nm_wire_header(NM_WIRE_BLOCK, SAMPLE_LOOP, 1)), 0);
	assert_int_equal(nm_vec_push(&stream, 4096), 0);
	expect_fault(&stream, at, "stores a length");

	start_bad_stream(&stream);
	assert_int_equal(nm_wire_exit_encode(&stream, &(struct nm_wire_exit){0}), 0);
	at = stream.count;
	assert_int_equal(nm_wire_thread_encode(&stream, &(struct nm_wire_thread){1}), 0);
	expect_fault(&stream, at, "after the exit");

	start_bad_stream(&stream);
	at = stream.count;
	assert_int_equal(
	    nm_wire_sync_event_encode(&stream, &(struct nm_wire_sync_event){NM_WIRE_SYNC_CREATE, 1}), 0);
	expect_fault(&stream, at, "started before");

	start_bad_stream(&stream);
	at = stream.count;
	assert_int_equal(
	    nm_wire_sync_event_encode(&stream, &(struct nm_wire_sync_event){NM_WIRE_SYNC_LOCK, 0}), 0);
	expect_fault(&stream, at, "out of range");

	start_bad_stream(&stream);
	assert_int_equal(nm_wire_thread_exit_encode(&stream, &(struct nm_wire_thread){1}), 0);
	at = stream.count;
	assert_int_equal(
	    nm_wire_sync_event_encode(&stream, &(struct nm_wire_sync_event){NM_WIRE_SYNC_JOIN, 0}), 0);
	expect_fault(&stream, at, "of no thread");

	start_bad_stream(&stream);
	assert_int_equal(nm_wire_thread_exit_encode(&stream, &(struct nm_wire_thread){1}), 0);
	at = stream.count;
	assert_int_equal(nm_wire_block_encode(&stream, SAMPLE_CALL, (const uint64_t[]){8}, 1), 0);
	expect_fault(&stream, at, "before any thread");
	nm_vec_free(&stream);
}

static void test_checker_refuses_each_bad_record_of_a_sampled_stream(void **state)
{
	struct nm_wire_words stream = {0};

	(void)state;
	for (size_t i = 0; i < sizeof bad_sampled / sizeof *bad_sampled; i++) {
		const struct bad *b = &bad_sampled[i];
		size_t at;

		stream.count = 0;
		assert_int_equal(sample_sampled_start(&stream), 0);
		assert_int_equal(nm_wire_sample_encode(
				     &stream, &(struct nm_wire_sample){100, 0x600000, {SAMPLE_PC, 8, 0}}),
				 0);
		at = stream.count;
		assert_int_equal(nm_wire_encode(&stream, b->kind, b->arg, b->payload, b->words), 0);
		expect_fault(&stream, at, b->said);
	}
	nm_vec_free(&stream);
}

static void test_only_a_whole_stream_must_end_with_exit(void **state)
{
	struct nm_wire_words stream = {0};
	struct nm_wire_check *c;

	(void)state;
	assert_int_equal(sample_start(&stream), 0);
	assert_int_equal(wire_check_new(&c, NULL), 0);
	assert_int_equal(wire_check_finish(c, 1, NULL), NM_EFORMAT);
	assert_int_equal(wire_check_finish(c, 0, NULL), 0);
	assert_int_equal(wire_check_feed(c, stream.at, stream.count, NULL), 0);
	assert_int_equal(wire_check_finish(c, 1, NULL), NM_EFORMAT);
	assert_int_equal(wire_check_finish(c, 0, NULL), 0);
	wire_check_free(c);
	nm_vec_free(&stream);
}

static void test_another_version_is_refused_as_such(void **state)
{
	struct nm_wire_words stream = {0};
	struct nm_error err = {0};

	(void)state;
	assert_int_equal(
	    nm_wire_encode(&stream, NM_WIRE_PROCESS, 0, (const uint64_t[]){NM_WIRE_VERSION + 1}, 1), 0);
	assert_int_equal(check(&stream, NULL, &err), NM_EVERSION);
	assert_non_null(strstr(err.text, "version 2, this program reads 1"));
	nm_vec_free(&stream);
}

static void test_a_child_knows_what_its_parent_knew_at_the_fork(void **state)
{
	struct nm_wire_words parent = {0}, child = {0};
	struct nm_wire_check *p, *c;
	struct nm_error err = {0};

	(void)state;
	start_bad_stream(&parent);
	assert_int_equal(nm_wire_fork_encode(&parent, &(struct nm_wire_fork){4712, 1}), 0);
	assert_int_equal(nm_wire_free_encode(&parent, &(struct nm_wire_free){NM_WIRE_FREE_CALL, 0x500000}),
			 0);
	assert_int_equal(nm_wire_encode(&child, NM_WIRE_PROCESS, NM_WIRE_FORKED,
					(const uint64_t[]){1, 4712, 4711, 1, 0, 0, 0}, 7),
			 0);
	assert_int_equal(nm_wire_thread_encode(&child, &(struct nm_wire_thread){1}), 0);
	assert_int_equal(nm_wire_block_encode(&child, SAMPLE_CALL, (const uint64_t[]){8}, 1), 0);
	assert_int_equal(nm_wire_free_encode(&child, &(struct nm_wire_free){NM_WIRE_FREE_CALL, 0x500000}), 0);
	assert_int_equal(check(&child, NULL, &err), NM_EFORMAT); /* alone it makes no sense */

	assert_int_equal(wire_check_new(&p, &err), 0);
	assert_int_equal(wire_check_of_child(&c, p, 1), 0);
	assert_int_equal(wire_check_feed(p, parent.at, parent.count, &err), 0);
	assert_int_equal(wire_check_of_child(&c, p, 2), 0);
	assert_int_equal(wire_check_of_child(&c, p, 1), 1);
	if (wire_check_feed(c, child.at, child.count, &err))
		fail_msg("%s", err.text);
	assert_int_equal(wire_check_stats(c)->unknown_frees, 0);
	assert_int_equal(wire_check_stats(c)->calls, 1);
	wire_check_free(c);
	assert_int_equal(wire_check_of_child(&c, p, 1), 0);
	wire_check_free(p);
	nm_vec_free(&parent);
	nm_vec_free(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_checker_accepts_and_counts_the_sample),
	    cmocka_unit_test(test_checker_accepts_and_counts_the_sampled_stream),
	    cmocka_unit_test(test_checker_refuses_each_bad_record_of_a_sampled_stream),
	    cmocka_unit_test(test_the_stored_samples_are_read),
	    cmocka_unit_test(test_checker_refuses_each_bad_record),
	    cmocka_unit_test(test_checker_refuses_words_out_of_place),
	    cmocka_unit_test(test_only_a_whole_stream_must_end_with_exit),
	    cmocka_unit_test(test_another_version_is_refused_as_such),
	    cmocka_unit_test(test_a_child_knows_what_its_parent_knew_at_the_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
