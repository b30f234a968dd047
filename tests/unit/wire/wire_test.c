/* SPDX-License-Identifier: MIT
 *
 * wire_test.c - records: every kind through decoder and encoder and back, and the walker.
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

#define AGAIN(record)                                                              \
	{                                                                          \
		struct nm_wire_##record decoded;                                   \
		assert_int_equal(nm_wire_##record##_decode(r, &decoded, NULL), 0); \
		assert_int_equal(nm_wire_##record##_encode(to, &decoded), 0);      \
		break;                                                             \
	}

static void process_again(const struct nm_wire_record *r, struct nm_wire_words *to)
{
	struct nm_wire_process p;
	const char *argv[3];

	assert_int_equal(nm_wire_process_decode(r, &p, NULL), 0);
	assert_int_equal(p.start, NM_WIRE_STARTED);
	assert_int_equal(p.version, NM_WIRE_VERSION);
	assert_int_equal(p.pid, 4711);
	assert_int_equal(p.parent, 4710);
	assert_int_equal(p.argc, 3);
	assert_string_equal(p.executable, "/usr/bin/sample");
	assert_string_equal(p.directory, "/home/user");
	argv[0] = p.arguments;
	argv[1] = nm_wire_string_after(argv[0]);
	argv[2] = nm_wire_string_after(argv[1]);
	assert_string_equal(argv[0], "./sample");
	assert_string_equal(argv[1], "");
	assert_string_equal(argv[2], "exactly8");
	assert_int_equal(nm_wire_process_encode(to, &p, argv), 0);
}

static void record_again(const struct nm_wire_record *r, struct nm_wire_words *to)
{
	switch (r->kind) {
	case NM_WIRE_BLOCK:
		assert_int_equal(nm_wire_block_encode(to, r->arg, r->payload, r->words), 0);
		break;
	case NM_WIRE_BLOCK_DEF: {
		struct nm_wire_block_info b;

		assert_int_equal(nm_wire_block_decode(r, &b, NULL), 0);
		assert_int_equal(nm_wire_block_def_encode(to, &b), 0);
		break;
	}
	case NM_WIRE_PROCESS: process_again(r, to); break;
	case NM_WIRE_FORK: AGAIN(fork)
	case NM_WIRE_EXEC: AGAIN(exec)
	case NM_WIRE_EXIT: AGAIN(exit)
	case NM_WIRE_THREAD_START: AGAIN(thread_start)
	case NM_WIRE_THREAD_EXIT: {
		struct nm_wire_thread t;

		assert_int_equal(nm_wire_thread_decode(r, &t, NULL), 0);
		assert_int_equal(nm_wire_thread_exit_encode(to, &t), 0);
		break;
	}
	case NM_WIRE_THREAD: AGAIN(thread)
	case NM_WIRE_THREAD_POINTER: AGAIN(thread_pointer)
	case NM_WIRE_SIGNAL: AGAIN(signal)
	case NM_WIRE_ALLOC: AGAIN(alloc)
	case NM_WIRE_FREE: AGAIN(free)
	case NM_WIRE_REALLOC: AGAIN(realloc)
	case NM_WIRE_MAP: AGAIN(map)
	case NM_WIRE_UNMAP: AGAIN(unmap)
	case NM_WIRE_REMAP: AGAIN(remap)
	case NM_WIRE_BRK: AGAIN(brk)
	case NM_WIRE_MODULE: AGAIN(module)
	case NM_WIRE_MODULE_GONE: AGAIN(module_gone)
	case NM_WIRE_NAME: AGAIN(name)
	case NM_WIRE_UNNAME: AGAIN(unname)
	case NM_WIRE_REGION: AGAIN(region)
	case NM_WIRE_MEASURE: AGAIN(measure)
	case NM_WIRE_LOST: AGAIN(lost)
	case NM_WIRE_PLACE: AGAIN(place)
	case NM_WIRE_PAGES: AGAIN(pages)
	case NM_WIRE_SHARED: AGAIN(shared)
	case NM_WIRE_RAN: AGAIN(ran)
	case NM_WIRE_SAMPLING: AGAIN(sampling)
	case NM_WIRE_SAMPLE: AGAIN(sample)
	case NM_WIRE_REUSE: AGAIN(reuse)
	case NM_WIRE_FRAMES: AGAIN(frames)
	case NM_WIRE_CLOCK: AGAIN(clock)
	case NM_WIRE_SYNC: AGAIN(sync_event)
	default: fail_msg("kind %d", r->kind);
	}
}

static void stream_again(int (*make)(struct nm_wire_words *to), unsigned seen[NM_WIRE_KINDS])
{
	struct nm_wire_words stream = {0}, again = {0};
	struct nm_wire_scan scan;
	struct nm_wire_record r;

	assert_int_equal(make(&stream), 0);
	scan = nm_wire_scan_over(stream.at, stream.count);
	while (nm_wire_scan_next(&scan, &r, NULL) > 0) {
		again.count = 0;
		record_again(&r, &again);
		assert_int_equal(again.count, r.words + 1);
		assert_memory_equal(again.at, r.payload - 1, again.count * sizeof(uint64_t));
		seen[r.kind]++;
	}
	assert_int_equal(scan.at, stream.count);
	nm_vec_free(&stream);
	nm_vec_free(&again);
}

static void test_every_record_survives_decoding_and_encoding(void **state)
{
	unsigned seen[NM_WIRE_KINDS] = {0};

	(void)state;
	stream_again(sample_stream, seen);
	stream_again(sample_sampled_stream, seen);
	for (unsigned k = 0; k < NM_WIRE_KINDS; k++)
		assert_true(k == NM_WIRE_PAD ? !seen[k] : seen[k] > 0); /* the walker skips PAD */
}

/* A block of the sample, whose words the caller frees. */
static struct nm_wire_block_info sample_block(struct nm_wire_words *words, uint32_t id)
{
	struct nm_wire_scan scan;
	struct nm_wire_record r;
	struct nm_wire_block_info b;

	assert_int_equal(sample_define_blocks(words), 0);
	scan = nm_wire_scan_over(words->at, words->count);
	do
		assert_int_equal(nm_wire_scan_next(&scan, &r, NULL), 1);
	while (r.arg != id);
	assert_int_equal(nm_wire_block_decode(&r, &b, NULL), 0);
	assert_int_equal(b.id, id);
	return b;
}

static void test_a_block_definition_is_read_word_for_word(void **state)
{
	struct nm_wire_words words = {0};
	struct nm_wire_block_info b = sample_block(&words, SAMPLE_LOOP);
	unsigned accesses;

	(void)state;
	assert_int_equal(b.def.pc, SAMPLE_PC);
	assert_int_equal(b.def.end, NM_WIRE_JUMP);
	assert_int_equal(nm_wire_instruction_pc(b.instructions[2]), SAMPLE_PC + 6);
	assert_int_equal(nm_wire_instruction_bytes(b.instructions[2]), 8);
	assert_int_equal(nm_wire_access_size(b.accesses[1]), 32);
	assert_int_equal(nm_wire_access_instruction(b.accesses[1]), 2);
	assert_int_equal(nm_wire_access_flags(b.accesses[1]), NM_WIRE_READ | NM_WIRE_GUARDED);
	assert_int_equal(nm_wire_block_executed(&b, 0, &accesses), -1);
	assert_int_equal(nm_wire_block_executed(&b, 1, &accesses), 2);
	assert_int_equal(nm_wire_block_executed(&b, 2, &accesses), -1);
	assert_int_equal(nm_wire_block_executed(&b, 3, &accesses), 3);
	assert_int_equal(nm_wire_block_executed(&b, 4, &accesses), -1);
	nm_vec_free(&words);
}

static void test_a_definition_with_groups_tells_accesses_from_address_words(void **state)
{
	struct nm_wire_words words = {0};
	struct nm_wire_block_info b = sample_block(&words, SAMPLE_GROUPS);
	unsigned accesses;

	(void)state;
	assert_int_equal(b.def.accesses, 5);
	assert_int_equal(b.groups, 2);
	assert_int_equal(nm_wire_access_distance(b.accesses[0]), 8);
	assert_int_equal(nm_wire_access_distance(b.accesses[1]), 8);
	assert_int_equal(nm_wire_access_distance(b.accesses[2]), 0);
	assert_int_equal(nm_wire_access_size(b.accesses[4]), 8);
	assert_int_equal(nm_wire_access_instruction(b.accesses[4]), 3);
	assert_int_equal(nm_wire_access_flags(b.accesses[4]), NM_WIRE_READ | NM_WIRE_FRAME | NM_WIRE_FOLLOWS);
	assert_int_equal(nm_wire_access_distance(b.accesses[4]), 8);
	assert_int_equal(nm_wire_block_executed(&b, 0, &accesses), -1);
	assert_int_equal(nm_wire_block_executed(&b, 1, &accesses), 2);
	assert_int_equal(accesses, 3);
	assert_int_equal(nm_wire_block_executed(&b, 2, &accesses), 4);
	assert_int_equal(accesses, 5);
	assert_int_equal(nm_wire_block_executed(&b, 3, &accesses), -1);
	assert_int_equal(nm_wire_block_executed(&b, 5, &accesses), -1);
	nm_vec_free(&words);
}

/* As many exits as groups: each number of address words is one way out. */
static void test_every_exit_between_groups_is_told_by_the_address_words(void **state)
{
	const uint64_t instructions[] = {sample_instruction(SAMPLE_PC, 1),
					 sample_instruction(SAMPLE_PC + 1, 1),
					 sample_instruction(SAMPLE_PC + 2, 1)};
	const uint64_t accesses[] = {
	    sample_access(8, 0, NM_WIRE_READ), sample_access(8, 0, NM_WIRE_WRITE | NM_WIRE_FOLLOWS),
	    sample_access(8, 1, NM_WIRE_READ), sample_access_at(4, 8, 2, NM_WIRE_READ),
	    sample_access(8, 2, NM_WIRE_READ | NM_WIRE_FOLLOWS)};
	const uint64_t exits[] = {sample_exit(0, 1), sample_exit(2, 1), sample_exit(3, 2)};
	const struct nm_wire_block_info block = {
	    .id = 9,
	    .def = {.pc = SAMPLE_PC, .instructions = 3, .accesses = 5, .exits = 3},
	    .instructions = instructions,
	    .accesses = accesses,
	    .exits = exits};
	static const struct {
		int instructions;
		unsigned accesses;
	} ways[] = {{1, 0}, {1, 2}, {2, 3}, {3, 5}};
	struct nm_wire_words words = {0};
	struct nm_wire_scan scan;
	struct nm_wire_record r;
	struct nm_wire_block_info b;

	(void)state;
	assert_int_equal(nm_wire_block_def_encode(&words, &block), 0);
	scan = nm_wire_scan_over(words.at, words.count);
	assert_int_equal(nm_wire_scan_next(&scan, &r, NULL), 1);
	assert_int_equal(nm_wire_block_decode(&r, &b, NULL), 0);
	assert_int_equal(b.groups, 3);
	for (size_t sent = 0; sent < sizeof ways / sizeof *ways; sent++) {
		unsigned made;

		assert_int_equal(nm_wire_block_executed(&b, sent, &made), ways[sent].instructions);
		assert_int_equal(made, ways[sent].accesses);
	}
	nm_vec_free(&words);
}

static void test_no_prefix_of_a_record_is_taken_for_one(void **state)
{
	struct nm_wire_words stream = {0};
	struct nm_wire_scan scan;
	struct nm_wire_record r;

	(void)state;
	assert_int_equal(sample_stream(&stream), 0);
	scan = nm_wire_scan_over(stream.at, stream.count);
	while (nm_wire_scan_next(&scan, &r, NULL) > 0) {
		size_t start = r.offset;

		if (r.kind == NM_WIRE_BLOCK) /* its length is not stored: a shorter one is another one */
			continue;
		for (size_t words = 1; words < r.words + 1; words++) {
			struct nm_wire_scan cut = nm_wire_scan_over(stream.at + start, words);
			struct nm_wire_record none;

			assert_int_equal(nm_wire_scan_next(&cut, &none, NULL), NM_EFORMAT);
			assert_int_equal(cut.at, 0);
		}
	}
	nm_vec_free(&stream);
}

static void test_encoders_refuse_what_a_header_cannot_say(void **state)
{
	static const uint64_t word;
	struct nm_wire_words words = {0};

	(void)state;
	assert_int_equal(nm_wire_encode(&words, NM_WIRE_PAD, 0, &word, NM_WIRE_MAX_PAYLOAD + 1ull),
			 NM_EINVAL);
	assert_int_equal(words.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_record_survives_decoding_and_encoding),
	    cmocka_unit_test(test_a_block_definition_is_read_word_for_word),
	    cmocka_unit_test(test_a_definition_with_groups_tells_accesses_from_address_words),
	    cmocka_unit_test(test_every_exit_between_groups_is_told_by_the_address_words),
	    cmocka_unit_test(test_no_prefix_of_a_record_is_taken_for_one),
	    cmocka_unit_test(test_encoders_refuse_what_a_header_cannot_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
