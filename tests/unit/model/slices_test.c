/* SPDX-License-Identifier: MIT
 *
 * slices_test.c - random streams cut into random slices, each with attribution keys of its own, against the same
 * streams in one run: all counts by key, all evictions, all walks. Slices may be empty, or too short to fill a set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coalesced.h"
#include "hierarchy.h"
#include "machine.h"
#include "numbers.h"
#include "slices.h"

enum { REFS = 6000, KEYS = 9, MOST_SLICES = 12, GROUPS = 3 };

static const char *const machines[] = {
    "L1d=1K,2,64:L2=4K,4,64:L3=16K,8,64",
    "L1i=512,2,32:L1d=512,4,32:LL=4K,8,32",
    "L1d=768,3,64:L2=3K,6,64",
    "L1d=2K,8,64",
    "L1d=512,full,16:L2=1K,full,16:L3=4K,2,16",
    "L1i=1K,4,64:L1d=1K,4,64:L2i=2K,4,64:L2d=2K,4,64:LL=8K,16,64",
    "L1d=4K,16,64:L2=2K,1,64:prefetchers=pair+stream+stride:tlb=16",
    "L1i=256,1,64:L1d=320,5,64:L2=8K,8,64:prefetchers=stream:tlb=8",
    "a/L1d=1K,2,64:a/L2=4K,4,64:b/L1d=1K,2,64:b/L2=8K,8,64:b/L3=16K,8,64",
};

/* A stream has phases, so that slices begin with what earlier ones left, with other lines, or with new ones. */
static void make_stream(struct nm_ref *refs, int fetches)
{
	static const uint64_t ranges[] = {100, 900, 3000, 9000, 40000};
	uint64_t base = 0, range = 0, step = 0, at = 0;

	for (unsigned i = 0; i < REFS; i++) {
		if (!i || !below(400)) {
			base = 0x400000 + below(4) * 8000;
			range = ranges[below(5)];
			step = below(3) ? 0 : 8 * below(20);
		}
		at = step ? (at + step) % range : below(range);

		const int fetch = fetches && !below(3);
		refs[i] =
		    (struct nm_ref){.address = (base + at) & (below(4) ? ~7ull : ~0ull),
				    .attr = (uint32_t)(1 + below(KEYS - 1)),
				    .size = (uint16_t)(below(30) ? 1 + below(16) : 1 + below(200)),
				    .kind = fetch      ? NM_REF_FETCH
					    : below(3) ? NM_REF_READ
						       : NM_REF_WRITE,
				    .weight = fetch ? (uint8_t)(1 + below(9)) : (uint8_t)(below(50) != 0)};
	}
}

/* Coalesced accesses, whose members have keys of the whole run; or of a slice. */
static void make_groups(struct nm_coalesced_table *table, const uint32_t *to_own)
{
	for (unsigned g = 0; g < GROUPS; g++) {
		struct nm_coalesced_member members[3];

		for (uint32_t i = 0; i < 3; i++)
			members[i] = (struct nm_coalesced_member){.attr = to_own[1 + (g + i) % (KEYS - 1)],
								  .distance = (uint16_t)(i * (4 + g * 4)),
								  .size = (uint8_t)(4 + g * 4),
								  .kind = i == g};
		assert_int_equal(nm_coalesced_add(table, members, 3), g + 1);
	}
	nm_coalesced_raise_limit(table, KEYS);
}

static void make_coalesced(struct nm_ref *refs)
{
	for (unsigned i = 0; i < REFS; i++)
		if (refs[i].kind != NM_REF_FETCH && !below(5)) {
			refs[i].attr = (uint32_t)(1 + below(GROUPS));
			refs[i].kind = 1;
			refs[i].weight = 3;
			refs[i].size = (uint16_t)(12 * refs[i].attr);
		}
}

struct stream {
	struct nm_ref refs[REFS];
	int fetches, coalesced;
};

/* Feeds references [from, end), in batches, with the keys of the whole run or of a slice. */
static void feed(struct nm_hierarchy *h, const struct stream *stream, size_t from, size_t end,
		 const uint32_t *to_own)
{
	struct nm_ref batch[300];

	while (from < end) {
		size_t n = 1 + below(300);

		n = n < end - from ? n : end - from;
		for (size_t i = 0; i < n; i++) {
			batch[i] = stream->refs[from + i];
			if (!nm_ref_is_coalesced(&batch[i]))
				batch[i].attr = to_own[batch[i].attr];
		}
		assert_int_equal(nm_hierarchy_run(h, batch, n), 0);
		from += n;
	}
}

static struct nm_coalesced_table *prepare(struct nm_hierarchy *h, const struct stream *stream,
					  const uint32_t *to_own)
{
	struct nm_coalesced_table *table = NULL;

	nm_hierarchy_allow_uncounted(h);
	if (!stream->fetches)
		nm_hierarchy_set_data_only(h);
	if (stream->coalesced) {
		assert_non_null(table = nm_coalesced_table_new());
		make_groups(table, to_own);
		assert_int_equal(nm_hierarchy_set_coalesced(h, table), 0);
	}
	return table;
}

/* ---- comparing ---- */

static void compare_counts(const struct nm_counts *whole, const struct nm_counts *sliced, unsigned level)
{
	uint64_t want[sizeof *whole / 8], got[sizeof *whole / 8];

	memcpy(want, whole, sizeof want);
	memcpy(got, sliced, sizeof got);
	for (unsigned i = 0; i < sizeof want / sizeof *want; i++)
		if (want[i] != got[i])
			fail_msg("level %u: field %u of struct nm_counts is %llu, not %llu", level, i,
				 (unsigned long long)got[i], (unsigned long long)want[i]);
}

static void fill_matrix(const struct nm_hierarchy *h, unsigned level, uint64_t matrix[KEYS][KEYS])
{
	struct nm_eviction *list;
	size_t count;

	memset(matrix, 0, KEYS * sizeof *matrix);
	assert_int_equal(nm_hierarchy_evictions(h, level, &list, &count), 0);
	for (size_t i = 0; i < count; i++) {
		assert_true(list[i].evictor < KEYS && list[i].victim < KEYS);
		matrix[list[i].evictor][list[i].victim] += list[i].count;
	}
	free(list);
}

static void compare(const struct nm_hierarchy *whole, const struct nm_hierarchy *sliced, unsigned levels)
{
	uint64_t want[KEYS][KEYS], got[KEYS][KEYS];

	for (unsigned level = 0; level < levels; level++) {
		struct nm_counts *mine, *theirs, totals[2];
		size_t attrs, of_slices;

		assert_int_equal(nm_hierarchy_counts(whole, level, &mine, &attrs), 0);
		assert_int_equal(nm_hierarchy_counts(sliced, level, &theirs, &of_slices), 0);
		assert_int_equal(of_slices, KEYS);
		for (size_t i = 0; i < attrs; i++)
			compare_counts(&mine[i], &theirs[i], level);
		free(mine);
		free(theirs);
		nm_hierarchy_total(whole, level, &totals[0]);
		nm_hierarchy_total(sliced, level, &totals[1]);
		compare_counts(&totals[0], &totals[1], level);
		fill_matrix(whole, level, want);
		fill_matrix(sliced, level, got);
		assert_memory_equal(want, got, sizeof want);
	}
	for (uint32_t key = 0; key < KEYS; key++) {
		const struct nm_walk mine = nm_hierarchy_walk(whole, key),
				     theirs = nm_hierarchy_walk(sliced, key);

		assert_memory_equal(&mine, &theirs, sizeof mine);
	}
}

/* ---- slices ---- */

/* The slice's keys of the whole run's, and the other way round; the first is none. */
static void make_keys(uint32_t *to_own, uint32_t *to_whole)
{
	for (uint32_t i = 0; i < KEYS; i++)
		to_own[i] = i;
	for (uint32_t i = KEYS - 1; i > 1; i--) {
		const uint32_t k = (uint32_t)(1 + below(i)), other = to_own[k];

		to_own[k] = to_own[i];
		to_own[i] = other;
	}
	for (uint32_t i = 0; i < KEYS; i++)
		to_whole[to_own[i]] = i;
}

static struct nm_run_slice *make_slice(const struct nm_machine *machine, const struct stream *stream,
				       size_t from, size_t end)
{
	uint32_t to_own[KEYS], to_whole[KEYS];
	struct nm_coalesced_table *table;
	struct nm_run_slice *slice;
	struct nm_error err;

	make_keys(to_own, to_whole);
	if (nm_run_slice_new(&slice, machine, !stream->fetches, &err))
		fail_msg("%s: %s", machine->name, err.text);
	table = prepare(nm_run_slice_hierarchy(slice), stream, to_own);
	feed(nm_run_slice_hierarchy(slice), stream, from, end, to_own);
	assert_int_equal(nm_run_slice_end(slice, to_whole, KEYS, KEYS), 0);
	nm_coalesced_table_free(table);
	return slice;
}

/* Sends a state as if to another process. */
static void send(struct nm_run_slice_state **state, const struct nm_run_slice *slice, unsigned depth)
{
	struct nm_run_slice_state *received = nm_run_slice_state_new(slice, depth);
	void *bytes;
	size_t count;

	assert_non_null(received);
	assert_int_equal(nm_run_slice_state_encode(*state, &bytes, &count), 0);
	assert_int_equal(nm_run_slice_state_decode(received, bytes, count), 0);
	assert_int_equal(nm_run_slice_state_decode(*state, bytes, count - 1), NM_EINVAL);
	free(bytes);
	nm_run_slice_state_free(*state);
	*state = received;
}

static void add_counts(struct nm_hierarchy *to, const struct nm_hierarchy *from)
{
	void *bytes;
	size_t count;

	if (below(2)) {
		assert_int_equal(nm_hierarchy_add_counts(to, from), 0);
		return;
	}
	assert_int_equal(nm_hierarchy_encode_counts(from, &bytes, &count), 0);
	assert_int_equal(nm_hierarchy_decode_counts(to, bytes, count), 0);
	free(bytes);
}

/* Settles the slices; the first one's hierarchy then has all counts. */
static void settle(struct nm_run_slice **slices, unsigned count)
{
	const unsigned depths = nm_run_slice_depths(slices[0]);
	struct nm_run_slice_state *states[NM_MAX_DEPTH];

	for (unsigned depth = 0; depth < depths; depth++) {
		assert_non_null(states[depth] = nm_run_slice_state_new(slices[0], depth));
		for (unsigned i = 0; i < count; i++) {
			assert_int_equal(nm_run_slice_resolve(slices[i], states[depth]), 0);
			if (!below(3))
				send(&states[depth], slices[i], depth);
		}
		for (unsigned i = count; i-- > 0;)
			assert_int_equal(nm_run_slice_advance(slices[i]), 0);
	}
	nm_run_slice_finish(slices[count - 1], states);
	for (unsigned i = 1; i < count; i++)
		add_counts(nm_run_slice_hierarchy(slices[0]), nm_run_slice_hierarchy(slices[i]));
	for (unsigned depth = 0; depth < depths; depth++)
		nm_run_slice_state_free(states[depth]);
}

static void run(const struct nm_machine *machine, struct stream *stream)
{
	const unsigned count = 1 + (unsigned)below(MOST_SLICES);
	struct nm_run_slice *slices[MOST_SLICES];
	uint32_t same[KEYS];
	struct nm_coalesced_table *table;
	struct nm_hierarchy *whole;
	struct nm_error err;
	size_t from = 0, end;

	for (uint32_t i = 0; i < KEYS; i++)
		same[i] = i;
	assert_int_equal(nm_hierarchy_new(&whole, machine, &err), 0);
	table = prepare(whole, stream, same);
	feed(whole, stream, 0, REFS, same);
	assert_int_equal(nm_hierarchy_finish(whole), 0);
	for (unsigned i = 0; i < count; i++, from = end) {
		end = below(4) ? from + below(2 * REFS / count) : from + below(30);
		end = i + 1 == count || end > REFS ? REFS : end;
		slices[i] = make_slice(machine, stream, from, end);
	}
	settle(slices, count);
	compare(whole, nm_run_slice_hierarchy(slices[0]), machine->count);
	for (unsigned i = 0; i < count; i++)
		nm_run_slice_free(slices[i]);
	nm_hierarchy_free(whole);
	nm_coalesced_table_free(table);
}

static void test_equals_whole_run(void **state)
{
	static struct stream stream;

	(void)state;
	for (unsigned m = 0; m < sizeof machines / sizeof *machines; m++) {
		struct nm_machine machine;
		struct nm_error err;

		if (nm_machine_parse(machines[m], &machine, &err))
			fail_msg("%s: %s", machines[m], err.text);
		for (unsigned round = 0; round < 60; round++) {
			rng_state = m * 1000 + round;
			stream.fetches = round % 3 == 1 && strstr(machines[m], "L1i") != NULL;
			stream.coalesced = round % 3 == 2;
			make_stream(stream.refs, stream.fetches);
			if (stream.coalesced)
				make_coalesced(stream.refs);
			run(&machine, &stream);
		}
	}
}

static void test_refused(void **state)
{
	static const char *const refused[][2] = {
	    {"L1d=1K,2,64,policy=random", "default rules"},
	    {"L1d=1K,2,64,prefetch=next", "default rules"},
	    {"L1d=1K,2,32:L2=4K,4,64", "one size"},
	    {"L1d=1K,2,128", "64 bytes"},
	    {"L1d=16K,full,64", "64 ways"},
	    {"L1d=1K,2,64:L2=4K,4,64", "as many levels"}, /* which fetches enter at L2 */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct nm_machine machine;
		struct nm_run_slice *slice;
		struct nm_error err;

		assert_int_equal(nm_machine_parse(refused[i][0], &machine, &err), 0);
		assert_int_equal(nm_run_slice_new(&slice, &machine, 0, &err), NM_EINVAL);
		assert_non_null(strstr(err.text, refused[i][1]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_equals_whole_run),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
