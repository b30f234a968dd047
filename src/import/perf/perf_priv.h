/* SPDX-License-Identifier: MIT
 *
 * perf_priv.h - the parts of the reader of perf.data.
 *
 * file.c: records as they lie in the file or pipe, unpacked; features.c: what the file says of its making;
 * order.c: records in the order of their times; decode.c: what they say.
 */
#ifndef NM_PERF_PRIV_H
#define NM_PERF_PRIV_H

#include <string.h>
#include <zstd.h>

#include "arena.h"
#include "input.h"
#include "map.h"
#include "perf.h"
#include "vector.h"

/* Types of records (perf_event.h, and perf's own from 64 on). */
enum {
	RECORD_MMAP = 1,
	RECORD_LOST = 2,
	RECORD_COMM = 3,
	RECORD_EXIT = 4,
	RECORD_FORK = 7,
	RECORD_SAMPLE = 9,
	RECORD_MMAP2 = 10,
	RECORD_LOST_SAMPLES = 13,
	RECORD_USER = 64,
	RECORD_ATTR = 64,
	RECORD_TRACING_DATA = 66,
	RECORD_BUILD_ID = 67,
	RECORD_FINISHED_ROUND = 68,
	RECORD_AUXTRACE = 71,
	RECORD_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_COMPRESSED2 = 83
};

enum { TYPE_HARDWARE = 0, TYPE_SOFTWARE = 1, TYPE_RAW = 4 }; /* of events */

/* Parts of a sample (sample_type). */
enum {
	SAMPLE_IP = 1 << 0,
	SAMPLE_TID = 1 << 1,
	SAMPLE_TIME = 1 << 2,
	SAMPLE_ADDRESS = 1 << 3,
	SAMPLE_READ = 1 << 4,
	SAMPLE_CALLCHAIN = 1 << 5,
	SAMPLE_ID = 1 << 6,
	SAMPLE_CPU = 1 << 7,
	SAMPLE_PERIOD = 1 << 8,
	SAMPLE_STREAM_ID = 1 << 9,
	SAMPLE_RAW = 1 << 10,
	SAMPLE_BRANCH_STACK = 1 << 11,
	SAMPLE_REGS_USER = 1 << 12,
	SAMPLE_STACK_USER = 1 << 13,
	SAMPLE_WEIGHT = 1 << 14,
	SAMPLE_DATA_SRC = 1 << 15,
	SAMPLE_IDENTIFIER = 1 << 16,
	SAMPLE_TRANSACTION = 1 << 17,
	SAMPLE_REGS_INTR = 1 << 18,
	SAMPLE_PHYSICAL = 1 << 19,
	SAMPLE_AUX = 1 << 20,
	SAMPLE_CGROUP = 1 << 21,
	SAMPLE_DATA_PAGE = 1 << 22,
	SAMPLE_CODE_PAGE = 1 << 23,
	SAMPLE_WEIGHT_STRUCT = 1 << 24,
	SAMPLE_KNOWN = (1 << 25) - 1
};

/* What is kept of a perf_event_attr. */
struct perf_attr {
	struct nm_perf_event event;
	uint32_t type;
	uint64_t config, sample_type, read_format, branch_type, regs_user, regs_intr;
	int has_trailer; /* sample_id_all: other records end with parts of a sample */
};

/* A record, in memory that stays until the next one. */
struct perf_bytes {
	const uint8_t *at; /* behind the header of 8 bytes */
	size_t count;
	uint32_t type;
	uint16_t misc;
};

struct perf_ordered { /* a record that waits; its bytes with their header are malloc'ed */
	uint64_t time, number;
	uint8_t *bytes;
};

struct nm_perf {
	struct nm_input *input;
	const char *path;
	int is_pipe, at_end;
	int is_unfinished;  /* perf record ended before it wrote how many bytes of records there are */
	uint64_t data_left; /* bytes of records that follow, in a file */
	uint64_t features[4];
	struct nm_vec(struct perf_attr) attrs;
	struct nm_map attr_of; /* id of an event -> index */
	struct nm_strings strings;
	struct nm_map build_ids; /* interned path -> index in: */
	struct nm_vec(struct nm_perf_mapping) built;
	struct nm_perf_origin origin;

	/* compressed records: what has been unpacked, and not yet read */
	ZSTD_DStream *zstd;
	struct nm_vec(uint8_t) unpacked;
	size_t unpacked_at;

	/* order.c */
	struct nm_vec(struct perf_ordered) waiting; /* a heap by time, then number */
	uint64_t number, newest, round,
	    limit; /* those up to `limit` may leave; `round`: up to it at the next one */
	size_t waiting_bytes;
	int flushing;
	uint8_t *given; /* the bytes of the record that was given last */
	struct nm_error
	    fault; /* what ended the input, told when the records before it have left; or code 0 */
};

/* Reads bytes of a structure and stops at its end: then `short_` is set and all reads give 0. */
struct perf_cursor {
	const uint8_t *at, *end;
	int is_short;
};

static inline const uint8_t *perf_take(struct perf_cursor *c, uint64_t bytes)
{
	const uint8_t *at = c->at;

	if (c->is_short || bytes > (uint64_t)(c->end - c->at)) {
		c->is_short = 1;
		return NULL;
	}
	c->at += bytes;
	return at;
}

static inline uint64_t perf_u64(struct perf_cursor *c)
{
	const uint8_t *at = perf_take(c, 8);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, sizeof value);
	return value;
}

static inline uint32_t perf_u32(struct perf_cursor *c)
{
	const uint8_t *at = perf_take(c, 4);
	uint32_t value = 0;

	if (at)
		memcpy(&value, at, sizeof value);
	return value;
}

/* A text that ends within the structure, interned; NULL: it does not end, or memory is exhausted. */
const char *perf_text(struct nm_perf *perf, struct perf_cursor *c);

/* ---- file.c ---- */

/* 1 and the next record of the kernel, or FINISHED_ROUND; 0 at the end. Others are taken in here. */
int perf_file_next(struct nm_perf *perf, struct perf_bytes *ret_bytes, struct nm_error *err);

/* Reads over bytes; copies them to `to` if it is not NULL. */
int perf_pass(struct nm_perf *perf, uint64_t bytes, uint8_t *to, struct nm_error *err);

/* "PATH is damaged at byte N: WHAT". NM_EFORMAT. */
int perf_damaged(const struct nm_perf *perf, const char *what, struct nm_error *err);

/* ---- features.c ---- */

enum { PERF_FEATURES = 256 };

/* Those behind the records of a file. 0 or NM_ENOMEM: a file that ends before has its samples all the same. */
int perf_read_features(struct nm_perf *perf, struct nm_error *err);

/* One, and a build id, from a record without its header. 0 or NM_ENOMEM. */
int perf_take_feature(struct nm_perf *perf, unsigned feature, const uint8_t *at, size_t bytes);
int perf_take_build_id(struct nm_perf *perf, struct perf_cursor *c, uint16_t misc);

/* ---- order.c ---- */

int perf_order_next(struct nm_perf *perf, struct perf_bytes *ret_bytes, struct nm_error *err);
void perf_order_done(struct nm_perf *perf);

/* ---- decode.c ---- */

/* The time of a record; 0: it has none. */
uint64_t perf_time_of(const struct nm_perf *perf, const struct perf_bytes *bytes);

/* 1 and the record; 0: it says nothing that is wanted; NM_EFORMAT: it is damaged. */
int perf_decode(struct nm_perf *perf, const struct perf_bytes *bytes, struct nm_perf_record *ret_record,
		struct nm_error *err);

/* DATA_SRC, decoded. */
struct nm_perf_source perf_source_of(uint64_t data_src);

#endif
