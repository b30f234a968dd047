/* SPDX-License-Identifier: MIT
 *
 * perf_test.c - perf.data is read as it was written (perf_writer.h): each part of samples alone and with all
 * others, as a file, a pipe, and compressed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "perf.h"
#include "perf_writer.h"

/* ---- reading it --------------------------------------------------------------------------------- */

static struct nm_perf *open_bytes(const struct bytes *b, struct nm_error *err)
{
	char path[] = "/tmp/nm-perf-XXXXXX";
	const int fd = mkstemp(path);
	struct nm_perf *perf = NULL;

	assert_true(fd >= 0 && write(fd, b->at, b->count) == (ssize_t)b->count);
	close(fd);
	if (nm_perf_open(&perf, path, err))
		perf = NULL;
	unlink(path);
	return perf;
}

static void check_sample(const struct nm_perf_record *r, uint64_t type, const struct wanted *w)
{
	const struct nm_perf_sample *s = &r->sample;

	assert_int_equal(r->kind, NM_PERF_SAMPLE);
	assert_true(s->ip == (type & 1 ? w->ip : 0));
	assert_int_equal(r->pid, type >> 1 & 1 ? w->pid : 0);
	assert_int_equal(r->tid, type >> 1 & 1 ? w->tid : 0);
	assert_true(r->time == (type >> 2 & 1 ? w->time : 0));
	assert_true(s->address == (type >> 3 & 1 ? w->address : 0));
	assert_true(s->period == (type >> 8 & 1 ? w->period : 1000));
	assert_int_equal(s->cpu, type >> 7 & 1 ? w->cpu : UINT32_MAX);
	assert_int_equal(s->chain_count, type >> 5 & 1 ? 3 : 0);
	if (s->chain_count)
		assert_true(s->chain[0] == 11 && s->chain[2] == 33);
	if (type >> 24 & 1) {
		assert_true(s->latency == (uint32_t)w->weight);
		assert_true(s->retire == (w->weight >> 32 & 0xffff));
	} else {
		assert_true(s->latency == (type >> 14 & 1 ? w->weight : 0));
	}
	assert_int_equal(s->source.operation, type >> 15 & 1 ? NM_OPERATION_LOAD : NM_OPERATION_UNKNOWN);
	assert_int_equal(s->source.level, type >> 15 & 1 ? NM_SERVED_L2 : NM_SERVED_UNKNOWN);
	assert_true(s->physical == (type >> 19 & 1 ? w->physical : 0));
	assert_true(s->page_bytes == (type >> 22 & 1 ? w->page : 0));
	assert_int_equal(s->event, type & (1 << 16 | 1 << 6) ? w->id - 7 : 0);
}

/* A load that hit in L2: op, level bits, level number. */
static const uint64_t load_from_l2 = 2 | (uint64_t)(2 | 0x20) << 5 | (uint64_t)2 << 33;

static void one_type(uint64_t type, uint32_t attr_bytes,
		     void (*write_all)(struct bytes *, uint32_t, uint64_t, const struct bytes *))
{
	static struct bytes records, body, file;
	struct wanted w[2] = {draw(8), draw(7)};
	struct nm_perf_record r;
	struct nm_error err;
	struct nm_perf *perf;

	records.count = file.count = 0;
	w[1].time = w[0].time + 1;
	for (unsigned i = 0; i < 2; i++) {
		w[i].data_src = load_from_l2;
		body.count = 0;
		put_sample(&body, type, &w[i]);
		put_record(&records, 9, 2, &body);
	}
	write_all(&file, attr_bytes, type, &records);
	perf = open_bytes(&file, &err);
	assert_non_null(perf);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(nm_perf_next(perf, &r, &err), 1);
		check_sample(&r, type, &w[i]);
	}
	assert_int_equal(nm_perf_next(perf, &r, &err), 0);
	nm_perf_free(perf);
}

static const uint64_t both_weights = 1 << 14 | 1 << 24; /* an event has at most one of them */

static void test_each_part(void **state)
{
	const uint64_t all = (1 << PARTS) - 1;

	(void)state;
	rng_state = 3;
	for (unsigned part = 0; part < PARTS; part++) {
		const uint64_t others = all & ~(1ull << part) & ~(part == 14 ? 1ull << 24 : 1ull << 14);

		one_type(1ull << part, 136, put_file);
		one_type(1ull << part, 136, put_pipe);
		one_type(others, 136, put_file);
		one_type(1ull << part | 1 << 16, 192, put_pipe); /* a later kernel's attributes */
	}
	for (unsigned round = 0; round < 300; round++) {
		uint64_t type = rng() & all;

		type &= (type & both_weights) == both_weights ? ~(1ull << 14) : ~0ull;
		one_type(type, 112 + 8 * (uint32_t)below(12), round % 2 ? put_file : put_pipe);
	}
}

static void test_sources(void **state)
{
	static const struct {
		uint64_t word;
		struct nm_perf_source source;
	} cases[] = {
	    {1, {.operation = NM_OPERATION_NONE}},
	    {2 | (2 | 8) << 5, {.operation = NM_OPERATION_LOAD, .level = NM_SERVED_L1}},
	    {4 | (2 | 0x40) << 5 | 2 << 24,
	     {.operation = NM_OPERATION_STORE, .level = NM_SERVED_L3, .is_locked = 1}},
	    {6 | (2 | 0x80) << 5, {.operation = NM_OPERATION_BOTH, .level = NM_SERVED_MEMORY}},
	    {2 | (2 | 0x400) << 5 | 0x10 << 19,
	     {.operation = NM_OPERATION_LOAD, .level = NM_SERVED_REMOTE_CACHE, .snoop = NM_SNOOP_HITM}},
	    {2 | (4 | 8) << 5, {.operation = NM_OPERATION_LOAD, .level = NM_SERVED_L1, .is_miss = 1}},
	    {8 | (uint64_t)0xd << 33, {.operation = NM_OPERATION_PREFETCH, .level = NM_SERVED_MEMORY}},
	    {2 | (uint64_t)0xd << 33 | (uint64_t)1 << 37 | (uint64_t)3 << 43,
	     {.operation = NM_OPERATION_LOAD, .level = NM_SERVED_REMOTE_MEMORY}},
	    {2 | (uint64_t)3 << 33 | (uint64_t)1 << 37 | (uint64_t)1 << 43 | (uint64_t)2 << 38,
	     {.operation = NM_OPERATION_LOAD, .level = NM_SERVED_L3, .snoop = NM_SNOOP_HIT}},
	    /* Intel's stores before Alder Lake: L1 was missed; a load of which another core had the line modified */
	    {4 | (4 | 8) << 5 | 2 << 19,
	     {.operation = NM_OPERATION_STORE, .level = NM_SERVED_L1, .snoop = NM_SNOOP_NONE, .is_miss = 1}},
	    {2 | (2 | 0x40) << 5 | 0x10 << 19 | 1 << 24 | (uint64_t)(2 | 8 | 0x10) << 26 | (uint64_t)3 << 33,
	     {.operation = NM_OPERATION_LOAD,
	      .level = NM_SERVED_L3,
	      .snoop = NM_SNOOP_HITM,
	      .tlb = NM_TLB_HIT}},
	    /* Arm's SPE after perf inject: the last level was missed, and so was the TLB; data of a peer's L2 */
	    {2 | (4 | 0x40) << 5 | (uint64_t)(4 | 0x20) << 26,
	     {.operation = NM_OPERATION_LOAD, .level = NM_SERVED_L3, .tlb = NM_TLB_MISS, .is_miss = 1}},
	    {2 | 2 << 5 | (uint64_t)2 << 33 | (uint64_t)2 << 38,
	     {.operation = NM_OPERATION_LOAD, .level = NM_SERVED_L2, .snoop = NM_SNOOP_HIT}},
	    {2 | (uint64_t)(2 | 8) << 26, {.operation = NM_OPERATION_LOAD, .tlb = NM_TLB_L1}},
	    {2 | (uint64_t)(4 | 0x10) << 26, {.operation = NM_OPERATION_LOAD, .tlb = NM_TLB_MISS}},
	    {2 | (uint64_t)(2 | 8 | 0x10) << 26, {.operation = NM_OPERATION_LOAD, .tlb = NM_TLB_HIT}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		static struct bytes records, body, file;
		struct wanted w = {.data_src = cases[i].word};
		struct nm_perf_record r;
		struct nm_error err;
		struct nm_perf *perf;

		records.count = body.count = file.count = 0;
		put_sample(&body, 1 << 15, &w);
		put_record(&records, 9, 2, &body);
		put_file(&file, 136, 1 << 15, &records);
		perf = open_bytes(&file, &err);
		assert_non_null(perf);
		assert_int_equal(nm_perf_next(perf, &r, &err), 1);
		assert_memory_equal(&r.sample.source, &cases[i].source, sizeof r.sample.source);
		nm_perf_free(perf);
	}
}

/* ---- other records ------------------------------------------------------------------------------ */

enum { TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 16 };

/* MMAP, as older kernels write it: without build id and protection. */
static void put_old_map(struct bytes *records, const struct wanted *w)
{
	static struct bytes body;

	body.count = 0;
	put32(&body, w->pid);
	put32(&body, w->tid);
	put64(&body, 0x7000);
	put64(&body, 0x1000);
	put64(&body, 0x2000);
	put_text(&body, "/usr/lib/lib.so");
	put_trailer(&body, TYPE, w);
	put_record(records, 1, 1 << 13, &body); /* of data */
}

static void put_map(struct bytes *records, const struct wanted *w, int with_build_id)
{
	static struct bytes body;

	body.count = 0;
	put32(&body, w->pid);
	put32(&body, w->tid);
	put64(&body, 0x400000);
	put64(&body, 0x3000);
	put64(&body, 0x1000);
	put32(&body, 20); /* of the build id, if it is one */
	put(&body, "ABCDEFGHIJKLMNOPQRST", 20);
	put32(&body, 5);
	put32(&body, 2);
	put_text(&body, "/usr/bin/prog");
	put_trailer(&body, TYPE, w);
	put_record(records, 10, with_build_id ? 1 << 14 : 0, &body);
}

static void put_comm(struct bytes *records, const struct wanted *w)
{
	static struct bytes body;

	body.count = 0;
	put32(&body, w->pid);
	put32(&body, w->tid);
	put_text(&body, "prog");
	put_trailer(&body, TYPE, w);
	put_record(records, 3, 1 << 13, &body);
}

static void put_task(struct bytes *records, uint32_t type, const struct wanted *w)
{
	static struct bytes body;

	body.count = 0;
	put32(&body, w->pid);
	put32(&body, 1);
	put32(&body, w->tid);
	put32(&body, 2);
	put64(&body, w->time);
	put_trailer(&body, TYPE, w);
	put_record(records, type, 0, &body);
}

static void put_lost(struct bytes *records, const struct wanted *w)
{
	static struct bytes body;

	body.count = 0;
	put64(&body, 7);
	put64(&body, 42);
	put_trailer(&body, TYPE, w);
	put_record(records, 2, 0, &body);
}

static void put_lost_samples(struct bytes *records, const struct wanted *w)
{
	static struct bytes body;

	body.count = 0;
	put64(&body, 42);
	put_trailer(&body, TYPE, w);
	put_record(records, 13, 0, &body);
}

static void put_round(struct bytes *records)
{
	static const struct bytes none;

	put_record(records, 68, 0, &none);
}

static void put_timed_sample(struct bytes *records, uint64_t time)
{
	static struct bytes body;
	struct wanted w = {.id = 7, .time = time, .pid = 5, .tid = 6};

	body.count = 0;
	put_sample(&body, TYPE, &w);
	put_record(records, 9, 2, &body);
}

enum { RUN = 9 }; /* records */

/* The buffers of two processors, one after the other: what happened comes out in the order of time. */
static void put_run(struct bytes *records)
{
	struct wanted w = {.id = 7, .pid = 5, .tid = 6};

	put_timed_sample(records, 50);
	put_timed_sample(records, 70);
	w.time = 10;
	put_comm(records, &w);
	w.time = 20;
	put_map(records, &w, 1);
	put_round(records);
	w.time = 60;
	put_task(records, 7, &w);
	put_round(records);
	w.time = 80;
	put_task(records, 4, &w);
	put_lost(records, &w);
	put_lost_samples(records, &w);
	put_old_map(records, &w);
	put_round(records);
}

static void check_run(const struct bytes *file, int has_host)
{
	static const enum nm_perf_kind kinds[] = {NM_PERF_COMM, NM_PERF_MAP,    NM_PERF_SAMPLE,
						  NM_PERF_FORK, NM_PERF_SAMPLE, NM_PERF_EXIT,
						  NM_PERF_LOST, NM_PERF_LOST,   NM_PERF_MAP};
	static const uint64_t times[] = {10, 20, 50, 60, 70, 80, 80, 80, 80};
	struct nm_error err;
	struct nm_perf *perf = open_bytes(file, &err);
	struct nm_perf_record r;

	assert_non_null(perf);
	for (unsigned i = 0; i < RUN; i++) {
		assert_int_equal(nm_perf_next(perf, &r, &err), 1);
		assert_int_equal(r.kind, kinds[i]);
		assert_true(r.time == times[i]);
		if (r.kind == NM_PERF_COMM) {
			assert_string_equal(r.comm.name, "prog");
			assert_true(r.comm.is_exec);
		} else if (r.kind == NM_PERF_MAP && i == RUN - 1) {
			assert_string_equal(r.map.path, "/usr/lib/lib.so");
			assert_true(r.map.address == 0x7000 && r.map.bytes == 0x1000 &&
				    r.map.offset == 0x2000);
			assert_true(!r.map.is_executable && !r.map.build_id_bytes);
		} else if (r.kind == NM_PERF_MAP) {
			assert_string_equal(r.map.path, "/usr/bin/prog");
			assert_true(r.map.address == 0x400000 && r.map.bytes == 0x3000 &&
				    r.map.offset == 0x1000);
			assert_true(r.map.is_executable && r.map.build_id_bytes == 20);
			assert_memory_equal(r.map.build_id, "ABCDEFGHIJKLMNOPQRST", 20);
		} else if (r.kind == NM_PERF_FORK) {
			assert_true(r.pid == 5 && r.fork.parent_pid == 1 && r.tid == 6 &&
				    r.fork.parent_tid == 2);
		} else if (r.kind == NM_PERF_LOST) {
			assert_true(r.lost == 42);
		}
	}
	assert_int_equal(nm_perf_next(perf, &r, &err), 0);
	if (has_host)
		assert_string_equal(nm_perf_origin_of(perf).host, "a-host");
	nm_perf_free(perf);
}

static void test_run(void **state)
{
	static struct bytes records, file, pipe;

	(void)state;
	records.count = file.count = pipe.count = 0;
	put_run(&records);
	put_file(&file, 136, TYPE, &records);
	check_run(&file, 1);
	put_pipe(&pipe, 136, TYPE, &records);
	check_run(&pipe, 0);
}

/* Compressed records hold pieces of one stream, which end anywhere. */
static void test_compressed(void **state)
{
	static struct bytes records, packed, file;

	(void)state;
	for (unsigned kind = 81; kind <= 83; kind += 2) {
		static uint8_t room[1 << 16];
		ZSTD_inBuffer in = {records.at, 0, 0};
		ZSTD_CStream *zstd = ZSTD_createCStream();

		records.count = packed.count = file.count = 0;
		put_run(&records);
		while (in.pos < records.count) {
			static struct bytes body;
			ZSTD_outBuffer out = {room, sizeof room, 0};
			const uint64_t padding = 0;

			in.size = in.pos + 37 < records.count ? in.pos + 37 : records.count;
			ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush);
			body.count = 0;
			if (kind == 83)
				put64(&body, out.pos);
			put(&body, room, out.pos);
			put(&body, &padding, kind == 83 ? (8 - out.pos % 8) % 8 : 0);
			put_record(&packed, kind, 0, &body);
		}
		ZSTD_freeCStream(zstd);
		put_file(&file, 136, TYPE, &packed);
		check_run(&file, 1);
	}
}

static void expect_refused(const struct bytes *file, const char *told)
{
	struct nm_error err;

	assert_null(open_bytes(file, &err));
	assert_non_null(strstr(err.text, told));
	assert_null(strchr(err.text, '\n'));
}

/* Files of the test's run, of these parts. */
static void put_run_file(struct bytes *file, uint64_t type)
{
	static struct bytes records;

	records.count = file->count = 0;
	put_run(&records);
	put_file(file, 136, type, &records);
}

static void test_refusals(void **state)
{
	static struct bytes file;

	(void)state;
	put_run_file(&file, TYPE);
	memcpy(file.at, "2ELIFREP", 8);
	expect_refused(&file, "big-endian");
	memcpy(file.at, "PERFILE2\0\0\0\0\0\0\0\150", 16);
	expect_refused(&file, "big-endian");
	memcpy(file.at, "2ELIFERP", 8);
	expect_refused(&file, "no perf.data");
	put_run_file(&file, TYPE | 1 << 25);
	expect_refused(&file, "later kernel");
	put_run_file(&file, TYPE);
	file.count = 60;
	expect_refused(&file, "header");
}

/* Records up to the end, which status and words tell. */
static unsigned read_to_end(const struct bytes *file, int wanted, const char *told)
{
	struct nm_error err;
	struct nm_perf_record r;
	struct nm_perf *perf = open_bytes(file, &err);
	unsigned records = 0;
	int status;

	assert_non_null(perf);
	while ((status = nm_perf_next(perf, &r, &err)) > 0)
		records++;
	assert_int_equal(status, wanted);
	if (status)
		assert_non_null(strstr(err.text, told));
	nm_perf_free(perf);
	return records;
}

/* What lies before the end is read, wherever a file is cut off. */
static void test_cut_off(void **state)
{
	enum { FINISHED_ROUND = 68 };
	static struct bytes file;
	size_t data, end, at, whole = 0;

	(void)state;
	put_run_file(&file, TYPE);
	memcpy(&data, file.at + 40, 8);
	memcpy(&end, file.at + 48, 8);
	end += data;
	for (at = data; at < end;) { /* every place within a record */
		uint16_t size;
		uint32_t kind;

		memcpy(&kind, file.at + at, 4);
		memcpy(&size, file.at + at + 6, 2);
		for (size_t cut = at; cut < at + size; cut += 3) {
			file.count = cut;
			assert_int_equal(read_to_end(&file, NM_EFORMAT, "cut off"), whole);
		}
		whole += kind != FINISHED_ROUND;
		at += size;
	}
	file.count = end; /* without what it says of its making */
	assert_int_equal(read_to_end(&file, 0, ""), RUN);
	memset(file.at + 48, 0, 8); /* perf record was killed */
	assert_int_equal(read_to_end(&file, NM_EFORMAT, "did not finish"), RUN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_each_part), cmocka_unit_test(test_sources),
	    cmocka_unit_test(test_run),       cmocka_unit_test(test_compressed),
	    cmocka_unit_test(test_refusals),  cmocka_unit_test(test_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
