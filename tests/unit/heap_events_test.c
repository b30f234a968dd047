/* SPDX-License-Identifier: MIT
 *
 * heap_events_test.c - a log of allocations is read in the order of time, as far as it is whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "heap_events.h"

struct log {
	int fd;
	struct nm_heap_log_chunk *chunks;
	size_t count, at; /* at: words of the last chunk */
};

static void begin(struct log *log)
{
	char path[] = "/tmp/nm-heap-XXXXXX";

	*log = (struct log){.fd = mkstemp(path)};
	assert_true(log->fd >= 0);
	unlink(path);
	assert_int_equal(nm_heap_log_begin(log->fd, 0, NULL), 0);
}

static void add_chunk(struct log *log, uint64_t pid)
{
	log->chunks = realloc(log->chunks, (log->count + 1) * sizeof *log->chunks);
	assert_non_null(log->chunks);
	memset(&log->chunks[log->count], 0, sizeof *log->chunks);
	log->chunks[log->count++].pid = pid;
	log->at = 0;
}

static void add(struct log *log, uint64_t word) { log->chunks[log->count - 1].words[log->at++] = word; }

static void add_allocation(struct log *log, uint64_t time, uint64_t address, uint64_t bytes, uint64_t chain)
{
	add(log, (uint64_t)NM_HEAP_ALLOCATION << NM_HEAP_KIND | address);
	add(log, time);
	add(log, bytes << NM_HEAP_BYTES | chain);
}

static void add_release(struct log *log, uint64_t time, uint64_t address)
{
	add(log, (uint64_t)NM_HEAP_RELEASE << NM_HEAP_KIND | address);
	add(log, time);
}

static struct nm_heap_events *open_log(struct log *log)
{
	struct nm_heap_events *events;
	const size_t bytes = log->count * sizeof *log->chunks;

	assert_true(pwrite(log->fd, log->chunks, bytes, NM_HEAP_HEADER) == (ssize_t)bytes);
	assert_int_equal(nm_heap_events_open(&events, log->fd, NULL), 0);
	return events;
}

static void expect(struct nm_heap_events *events, uint64_t time, uint32_t pid, uint64_t address)
{
	const struct nm_heap_event *e = nm_heap_events_peek(events);

	assert_non_null(e);
	assert_ptr_equal(e, nm_heap_events_peek(events)); /* looking takes nothing */
	assert_int_equal(e->time, time);
	assert_int_equal(e->pid, pid);
	assert_int_equal(e->address, address);
	nm_heap_events_take(events);
}

static void end(struct log *log, struct nm_heap_events *events)
{
	assert_null(nm_heap_events_peek(events));
	nm_heap_events_free(events);
	close(log->fd);
	free(log->chunks);
}

/* Three chunks of two processes; one chunk's chain is used in another, there also before its own time. */
static void in_the_order_of_time(void **state)
{
	const struct nm_heap_event *e;
	struct nm_heap_events *events;
	struct log log;

	(void)state;
	begin(&log);
	add_chunk(&log, 7);
	add(&log, (uint64_t)NM_HEAP_CHAIN << NM_HEAP_KIND | 2ull << 32 | 5);
	add(&log, 22);
	add(&log, 0x1111);
	add(&log, 0x2222);
	add_allocation(&log, 22, 0x1000, 100, 5);
	add_release(&log, 40, 0x1000);
	add_chunk(&log, 8);
	add_allocation(&log, 30, 0x9000, 1, 6);
	add_chunk(&log, 7);
	add_allocation(&log, 20, 0x3000, (1ull << 40) - 1, 5);
	add_release(&log, 30, 0x3000);
	events = open_log(&log);
	assert_false(nm_heap_events_is_cut(events));
	e = nm_heap_events_peek(events);
	assert_true(e->bytes == (1ull << 40) - 1 && e->chain == 5 && e->count == 2);
	expect(events, 20, 7, 0x3000);
	e = nm_heap_events_peek(events);
	assert_true(!e->is_release && e->bytes == 100 && e->chain == 5 && e->count == 2);
	assert_true(e->pcs[0] == 0x1111 && e->pcs[1] == 0x2222);
	expect(events, 22, 7, 0x1000);
	assert_int_equal(nm_heap_events_peek(events)->count, 0); /* a chain that nobody told of */
	expect(events, 30, 8, 0x9000);
	assert_true(nm_heap_events_peek(events)->is_release);
	expect(events, 30, 7, 0x3000);
	expect(events, 40, 7, 0x1000);
	end(&log, events);
}

/* A program can write anything: an unknown kind and a record beyond the chunk's end are the end of a chunk. */
static void as_far_as_it_is_whole(void **state)
{
	struct nm_heap_log_header header = {.magic = NM_HEAP_MAGIC, .failed = 1};
	struct nm_heap_events *events;
	struct log log;

	(void)state;
	begin(&log);
	add_chunk(&log, 7);
	add_release(&log, 5, 0x1000);
	add(&log, 9ull << NM_HEAP_KIND);
	add_release(&log, 6, 0x2000);
	add_chunk(&log, 7);
	while (log.at < sizeof log.chunks->words / 8 - 2)
		add_release(&log, 4, 0x4000);
	add(&log, (uint64_t)NM_HEAP_CHAIN << NM_HEAP_KIND | 200ull << 32 | 5);
	add_chunk(&log, 7); /* taken, and not written to */
	assert_true(pwrite(log.fd, &header, sizeof header, 0) == sizeof header);
	events = open_log(&log);
	assert_true(nm_heap_events_is_cut(events));
	for (size_t i = 0; i < (sizeof log.chunks->words / 8 - 1) / 2; i++)
		expect(events, 4, 7, 0x4000);
	expect(events, 5, 7, 0x1000);
	end(&log, events);
}

static void no_log(void **state)
{
	struct nm_heap_events *events;
	struct log log;

	(void)state;
	begin(&log);
	assert_int_equal(ftruncate(log.fd, 100), 0);
	assert_int_equal(nm_heap_events_open(&events, log.fd, NULL), NM_EFORMAT);
	close(log.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(in_the_order_of_time),
					   cmocka_unit_test(as_far_as_it_is_whole), cmocka_unit_test(no_log)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
