/* SPDX-License-Identifier: MIT
 *
 * perf_writer.h - writes perf.data as a kernel and perf would: records, samples of every part, files and pipes.
 */
#ifndef NM_PERF_WRITER_H
#define NM_PERF_WRITER_H

#include <stdint.h>
#include <string.h>

#include "numbers.h"

struct bytes {
	uint8_t at[1 << 18];
	size_t count;
};

static inline void put(struct bytes *b, const void *from, size_t count)
{
	assert_true(b->count + count <= sizeof b->at);
	memcpy(b->at + b->count, from, count);
	b->count += count;
}

static inline void put64(struct bytes *b, uint64_t value) { put(b, &value, 8); }
static inline void put32(struct bytes *b, uint32_t value) { put(b, &value, 4); }

static inline void put_text(struct bytes *b, const char *text)
{
	const size_t n = strlen(text) + 1;

	put(b, text, n);
	put(b, "\0\0\0\0\0\0\0", (8 - n % 8) % 8);
}

/* A record: its header, and what it holds. */
static inline void put_record(struct bytes *b, uint32_t type, uint16_t misc, const struct bytes *body)
{
	const uint16_t size = (uint16_t)(body->count + 8);

	put32(b, type);
	put(b, &misc, 2);
	put(b, &size, 2);
	put(b, body->at, body->count);
}

enum { READ_FORMAT = 0x1f, REGS = 0xff0, BRANCHES = 1 << 17 | 1 << 19, ALL_TRAILER = 1 << 18, PARTS = 25 };

static inline void put_attr(struct bytes *b, uint32_t bytes, uint32_t type, uint64_t config,
			    uint64_t sample_type)
{
	const size_t begin = b->count;

	put32(b, type);
	put32(b, bytes);
	put64(b, config);
	put64(b, 1000); /* period */
	put64(b, sample_type);
	put64(b, READ_FORMAT);
	put64(b, ALL_TRAILER);
	put64(b, 0);
	put64(b, 0);
	put64(b, 0);
	if (bytes > 72) {
		put64(b, BRANCHES);
		put64(b, REGS);
		put64(b, 0);
		put64(b, REGS << 1);
	}
	while (b->count - begin < bytes)
		put(b, "\xee", 1); /* what a later kernel has there */
}

/* What a sample of a test holds, and where it is compared. */
struct wanted {
	uint64_t ip, time, address, id, period, weight, data_src, physical, page;
	uint32_t pid, tid, cpu;
};

static inline struct wanted draw(uint64_t id)
{
	return (struct wanted){
	    rng(),           rng() >> 1,      rng() | 1,      id, rng(), rng(), 0, rng(), 4096,
	    (uint32_t)rng(), (uint32_t)rng(), (uint32_t)rng()};
}

static inline void put_read(struct bytes *b)
{
	put64(b, 2); /* a group of two */
	put64(b, rng());
	put64(b, rng());
	for (unsigned i = 0; i < 6; i++)
		put64(b, rng());
}

static inline void put_many(struct bytes *b, unsigned words)
{
	while (words--)
		put64(b, rng());
}

/* The parts of a sample up to the call chain. */
static inline void put_first_parts(struct bytes *b, uint64_t type, const struct wanted *w)
{
	if (type >> 16 & 1)
		put64(b, w->id);
	if (type >> 0 & 1)
		put64(b, w->ip);
	if (type >> 1 & 1) {
		put32(b, w->pid);
		put32(b, w->tid);
	}
	if (type >> 2 & 1)
		put64(b, w->time);
	if (type >> 3 & 1)
		put64(b, w->address);
	if (type >> 6 & 1)
		put64(b, w->id);
	if (type >> 9 & 1)
		put64(b, rng());
	if (type >> 7 & 1) {
		put32(b, w->cpu);
		put32(b, 0);
	}
	if (type >> 8 & 1)
		put64(b, w->period);
	if (type >> 4 & 1)
		put_read(b);
	if (type >> 5 & 1) {
		put64(b, 3);
		put64(b, 11);
		put64(b, 22);
		put64(b, 33);
	}
}

static inline void put_last_parts(struct bytes *b, uint64_t type, const struct wanted *w)
{
	if (type >> 10 & 1) {
		put32(b, 12);
		put(b, "raw raw raw ", 12);
	}
	if (type >> 11 & 1) {
		put64(b, 2);
		put_many(b, 1 + 2 * 3 + 2);
	}
	if (type >> 12 & 1) {
		put64(b, 2);
		put_many(b, 8);
	}
	if (type >> 13 & 1) {
		put64(b, 16);
		put_many(b, 2);
		put64(b, 8);
	}
	if (type & (1 << 14 | 1 << 24))
		put64(b, w->weight);
	if (type >> 15 & 1)
		put64(b, w->data_src);
	if (type >> 17 & 1)
		put64(b, rng());
	if (type >> 18 & 1) {
		put64(b, 2);
		put_many(b, 8);
	}
	if (type >> 19 & 1)
		put64(b, w->physical);
	if (type >> 21 & 1)
		put64(b, rng());
	if (type >> 22 & 1)
		put64(b, w->page);
	if (type >> 23 & 1)
		put64(b, 4096);
	if (type >> 20 & 1) {
		put64(b, 24);
		put_many(b, 3);
	}
}

/* The parts of a sample in their order (perf_event.h). */
static inline void put_sample(struct bytes *b, uint64_t type, const struct wanted *w)
{
	put_first_parts(b, type, w);
	put_last_parts(b, type, w);
}

/* The trailer of other records. */
static inline void put_trailer(struct bytes *b, uint64_t type, const struct wanted *w)
{
	if (type >> 1 & 1) {
		put32(b, w->pid);
		put32(b, w->tid);
	}
	if (type >> 2 & 1)
		put64(b, w->time);
	if (type >> 6 & 1)
		put64(b, w->id);
	if (type >> 9 & 1)
		put64(b, rng());
	if (type >> 7 & 1) {
		put32(b, w->cpu);
		put32(b, 0);
	}
	if (type >> 16 & 1)
		put64(b, w->id);
}

/* A file of two events with the ids 7 and 8. */
static inline void put_file(struct bytes *b, uint32_t attr_bytes, uint64_t type, const struct bytes *records)
{
	const uint64_t entry = attr_bytes + 16, ids = 104 + 2 * entry, data = ids + 16;

	put(b, "PERFILE2", 8);
	put64(b, 104);
	put64(b, entry);
	put64(b, 104);
	put64(b, 2 * entry);
	put64(b, data);
	put64(b, records->count);
	put_many(b, 2);
	for (unsigned i = 0; i < 4; i++)
		put64(b, i ? 0 : 1 << 3); /* the host's name follows */
	for (unsigned i = 0; i < 2; i++) {
		put_attr(b, attr_bytes, 4, i, type);
		put64(b, ids + 8 * i);
		put64(b, 8);
	}
	put64(b, 7);
	put64(b, 8);
	put(b, records->at, records->count);
	put64(b, b->count + 16);
	put64(b, 12);
	put32(b, 8);
	put(b, "a-host\0", 8);
}

static inline void put_pipe(struct bytes *b, uint32_t attr_bytes, uint64_t type, const struct bytes *records)
{
	put(b, "PERFILE2", 8);
	put64(b, 16);
	for (unsigned i = 0; i < 2; i++) {
		static struct bytes body;

		body.count = 0;
		put_attr(&body, attr_bytes, 4, i, type);
		put64(&body, 7 + i);
		put_record(b, 64, 0, &body);
	}
	put(b, records->at, records->count);
}

#endif
