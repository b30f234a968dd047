/* SPDX-License-Identifier: MIT
 *
 * file.c - the structure of perf.data: header, attributes, records.
 *
 * A file has a header of 104 bytes, the attributes of its events, records, and behind them a table of features
 * (host, command, build ids, ...). A pipe has a header of 16 bytes and says all else in records of perf's own.
 * The input is only read forward, so a file's attributes must lie before its records, where perf puts them.
 */
#include "perf_priv.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	PIPE_HEADER = 16,
	FILE_HEADER = 104,
	RECORD_HEADER = 8,
	ATTR_LEAST = 64, /* PERF_ATTR_SIZE_VER0 */
	MOST_ATTR_BYTES = 1 << 20,
	MOST_FRONT = 1 << 26,    /* bytes of attributes and ids */
	MOST_UNPACKED = 1 << 26, /* of one compressed record */
	UNPACK_STEP = 1 << 16
};

static const char magic[] = "PERFILE2", magic_of_others[] = "2ELIFREP";

int perf_damaged(const struct nm_perf *perf, const char *what, struct nm_error *err)
{
	return nm_fail(err, NM_EFORMAT, "%s is damaged at byte %llu: %s", perf->path,
		       (unsigned long long)input_offset(perf->input), what);
}

static int cut_off(const struct nm_perf *perf, struct nm_error *err)
{
	if (perf->is_unfinished)
		return nm_fail(err, NM_EFORMAT, "perf record did not finish %s: what it wrote was read",
			       perf->path);
	return nm_fail(err, NM_EFORMAT, "%s is cut off after byte %llu", perf->path,
		       (unsigned long long)input_offset(perf->input));
}

int perf_pass(struct nm_perf *perf, uint64_t bytes, uint8_t *to, struct nm_error *err)
{
	const uint8_t *at;

	while (bytes) {
		const size_t step = bytes < NM_INPUT_AHEAD ? (size_t)bytes : NM_INPUT_AHEAD;
		const int status = input_bytes(perf->input, step, &at, err);

		if (status <= 0)
			return status ? status : cut_off(perf, err);
		if (to) {
			memcpy(to, at, step);
			to += step;
		}
		bytes -= step;
	}
	return 0;
}

/* ---- attributes --------------------------------------------------------------------------------- */

/* An event as perf's own names for it: by type, then number. */
static const char *event_name(struct nm_perf *perf, uint32_t type, uint64_t config)
{
	static const char *const software[] = {"cpu-clock",        "task-clock",       "page-faults",
					       "context-switches", "cpu-migrations",   "minor-faults",
					       "major-faults",     "alignment-faults", "emulation-faults"};
	static const char *const hardware[] = {"cycles",       "instructions", "cache-references",
					       "cache-misses", "branches",     "branch-misses"};
	char text[64];

	if (type == TYPE_SOFTWARE && config < sizeof software / sizeof *software)
		return software[config];
	if (type == TYPE_HARDWARE && config < sizeof hardware / sizeof *hardware)
		return hardware[config];
	snprintf(text, sizeof text, "event %u/0x%llx", type, (unsigned long long)config);
	return nm_intern(&perf->strings, text);
}

/* perf_event_attr: the fields of known places, as far as the structure reaches. */
static int take_attr(struct nm_perf *perf, const uint8_t *at, size_t bytes, struct nm_error *err)
{
	enum { FREQUENCY = 1 << 10, TRAILER = 1 << 18 };
	struct perf_cursor c = {at, at + bytes, 0};
	struct perf_attr attr = {.type = perf_u32(&c)};
	uint64_t flags;

	if (bytes < ATTR_LEAST)
		return perf_damaged(perf, "the attributes of an event are too short", err);
	perf_take(&c, 4);
	attr.config = perf_u64(&c);
	attr.event.period = perf_u64(&c);
	attr.sample_type = perf_u64(&c);
	attr.read_format = perf_u64(&c);
	flags = perf_u64(&c);
	perf_take(&c, 24);
	attr.branch_type = perf_u64(&c);
	attr.regs_user = perf_u64(&c);
	perf_take(&c, 8);
	attr.regs_intr = perf_u64(&c);
	if (attr.sample_type & ~(uint64_t)SAMPLE_KNOWN)
		return nm_fail(
		    err, NM_EFORMAT,
		    "samples in %s have parts that this version does not know (sample_type 0x%llx): a later "
		    "kernel wrote them",
		    perf->path, (unsigned long long)attr.sample_type);
	attr.has_trailer = (flags & TRAILER) != 0;
	attr.event.is_frequency = (flags & FREQUENCY) != 0;
	attr.event.has_source = (attr.sample_type & SAMPLE_DATA_SRC) != 0;
	attr.event.has_latency = (attr.sample_type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT)) != 0;
	attr.event.name = event_name(perf, attr.type, attr.config);
	return !attr.event.name || nm_vec_push(&perf->attrs, attr) ? nm_fail_memory(err) : 0;
}

/* Ids of the event that was taken last. */
static int take_ids(struct nm_perf *perf, const uint8_t *at, size_t bytes, struct nm_error *err)
{
	struct perf_cursor c = {at, at + bytes, 0};

	for (size_t i = 0; i < bytes / 8; i++)
		if (nm_map_put(&perf->attr_of, perf_u64(&c), perf->attrs.count - 1))
			return nm_fail_memory(err);
	return 0;
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* Attributes and their ids, from the bytes before the records. */
static int take_attrs(struct nm_perf *perf, const uint8_t *front, uint64_t front_bytes, struct nm_error *err)
{
	uint64_t entry, attrs, bytes;
	int status = 0;

	memcpy(&entry, front + 16, 8);
	memcpy(&attrs, front + 24, 8);
	memcpy(&bytes, front + 32, 8);
	if (entry < ATTR_LEAST + 16 || entry > MOST_ATTR_BYTES || attrs > front_bytes ||
	    bytes > front_bytes - attrs)
		return nm_fail(err, NM_EFORMAT,
			       "%s is damaged: its events are not where perf record writes them", perf->path);
	for (uint64_t at = attrs; at + entry <= attrs + bytes && !status; at += entry) {
		uint64_t ids, id_bytes;

		memcpy(&ids, front + at + entry - 16, 8);
		memcpy(&id_bytes, front + at + entry - 8, 8);
		status = take_attr(perf, front + at, entry - 16, err);
		if (!status && ids <= front_bytes && id_bytes <= front_bytes - ids)
			status = take_ids(perf, front + ids, id_bytes, err);
	}
	return status;
}

static int open_file(struct nm_perf *perf, struct nm_error *err)
{
	const uint8_t *header;
	uint64_t offset;
	uint8_t *front;
	size_t there;
	int status = input_peek(perf->input, FILE_HEADER, &header, &there, err);

	if (status)
		return status;
	if (there < FILE_HEADER)
		return nm_fail(err, NM_EFORMAT, "%s is cut off within its header", perf->path);
	memcpy(&offset, header + 40, 8);
	memcpy(&perf->data_left, header + 48, 8);
	memcpy(perf->features, header + 72, sizeof perf->features);
	if (offset < FILE_HEADER || offset > MOST_FRONT)
		return nm_fail(err, NM_EFORMAT, "%s is damaged: its records cannot begin at byte %llu",
			       perf->path, (unsigned long long)offset);
	if (!perf->data_left) {
		perf->is_unfinished = 1;
		perf->data_left = UINT64_MAX;
	}
	front = malloc(offset);
	if (!front)
		return nm_fail_memory(err);
	status = perf_pass(perf, offset, front, err);
	if (!status)
		status = take_attrs(perf, front, offset, err);
	free(front);
	return status;
}

/* The first 16 bytes: which kind of file, if any. */
static int read_magic(struct nm_perf *perf, struct nm_error *err)
{
	const uint8_t *at;
	size_t there;
	uint64_t size;
	int status = input_peek(perf->input, PIPE_HEADER, &at, &there, err);

	if (status)
		return status;
	if (there < PIPE_HEADER || (memcmp(at, magic, 8) && memcmp(at, magic_of_others, 8)))
		return nm_fail(err, NM_EFORMAT, "%s is no perf.data file", perf->path);
	memcpy(&size, at + 8, 8);
	if (!memcmp(at, magic_of_others, 8) || size > UINT32_MAX)
		return nm_fail(err, NM_EFORMAT,
			       "%s was recorded on a big-endian machine: only little-endian files are read",
			       perf->path);
	perf->is_pipe = size == PIPE_HEADER;
	return perf->is_pipe ? perf_pass(perf, PIPE_HEADER, NULL, err) : open_file(perf, err);
}

int nm_perf_open(struct nm_perf **ret_perf, const char *path, struct nm_error *err)
{
	struct nm_perf *perf = calloc(1, sizeof *perf);
	int status;

	if (!perf)
		return nm_fail_memory(err);
	perf->path = nm_intern(&perf->strings, strcmp(path, "-") ? path : "standard input");
	status = perf->path ? input_open(&perf->input, path, err) : nm_fail_memory(err);
	if (!status)
		status = read_magic(perf, err);
	if (status) {
		nm_perf_free(perf);
		return status;
	}
	*ret_perf = perf;
	return 0;
}

void nm_perf_free(struct nm_perf *perf)
{
	if (!perf)
		return;
	if (perf->input)
		input_close(perf->input);
	if (perf->zstd)
		ZSTD_freeDStream(perf->zstd);
	perf_order_done(perf);
	nm_vec_free(&perf->attrs);
	nm_vec_free(&perf->built);
	nm_vec_free(&perf->unpacked);
	nm_map_done(&perf->attr_of);
	nm_map_done(&perf->build_ids);
	nm_strings_done(&perf->strings);
	free(perf);
}

/* ---- records ------------------------------------------------------------------------------------ */

/* Appends what a compressed record holds: records, of which the last may go on in the next one. */
static int unpack_record(struct nm_perf *perf, const uint8_t *at, size_t bytes, struct nm_error *err)
{
	ZSTD_inBuffer in = {at, bytes, 0};
	const size_t left = perf->unpacked.count - perf->unpacked_at;

	if (!perf->zstd && !(perf->zstd = ZSTD_createDStream()))
		return nm_fail_memory(err);
	if (perf->unpacked_at)
		memmove(perf->unpacked.at, perf->unpacked.at + perf->unpacked_at, left);
	perf->unpacked.count = left;
	perf->unpacked_at = 0;
	for (size_t before = 1; in.pos < in.size || before;) {
		ZSTD_outBuffer out = {NULL, UNPACK_STEP, 0};
		size_t status;

		if (nm_vec_reserve(&perf->unpacked, UNPACK_STEP))
			return nm_fail_memory(err);
		out.dst = perf->unpacked.at + perf->unpacked.count;
		status = ZSTD_decompressStream(perf->zstd, &out, &in);
		perf->unpacked.count += out.pos;
		if (ZSTD_isError(status) || perf->unpacked.count - left > MOST_UNPACKED)
			return perf_damaged(perf, "a compressed record cannot be unpacked", err);
		before = out.pos == out.size; /* there may be more */
	}
	return 0;
}

/* The next record among unpacked bytes: 1, or 0 if it is not whole yet. */
static int unpacked_record(struct nm_perf *perf, struct perf_bytes *ret, struct nm_error *err)
{
	const size_t there = perf->unpacked.count - perf->unpacked_at;
	const uint8_t *at;
	uint16_t bytes;

	if (there < RECORD_HEADER)
		return 0;
	at = perf->unpacked.at + perf->unpacked_at;
	memcpy(&bytes, at + 6, 2);
	if (bytes < RECORD_HEADER)
		return perf_damaged(perf, "a record has no size", err);
	if (bytes > there)
		return 0;
	*ret = (struct perf_bytes){.at = at + RECORD_HEADER, .count = bytes - (size_t)RECORD_HEADER};
	memcpy(&ret->type, at, 4);
	memcpy(&ret->misc, at + 4, 2);
	perf->unpacked_at += bytes;
	return 1;
}

static int input_record(struct nm_perf *perf, struct perf_bytes *ret, struct nm_error *err)
{
	const uint8_t *at;
	size_t there;
	uint16_t bytes;
	int status;

	if (!perf->is_pipe && !perf->data_left)
		return 0;
	status = input_peek(perf->input, RECORD_HEADER, &at, &there, err);
	if (status || (!there && perf->is_pipe))
		return status;
	if (there < RECORD_HEADER)
		return cut_off(perf, err);
	memcpy(&bytes, at + 6, 2);
	if (bytes < RECORD_HEADER || (!perf->is_pipe && bytes > perf->data_left))
		return perf_damaged(perf, "a record has an impossible size", err);
	status = input_bytes(perf->input, bytes, &at, err);
	if (status <= 0)
		return status ? status : cut_off(perf, err);
	perf->data_left -= perf->is_pipe ? 0 : bytes;
	*ret = (struct perf_bytes){.at = at + RECORD_HEADER, .count = bytes - (size_t)RECORD_HEADER};
	memcpy(&ret->type, at, 4);
	memcpy(&ret->misc, at + 4, 2);
	return 1;
}

/* An event of a pipe: its attributes, then its ids. */
static int take_attr_record(struct nm_perf *perf, const struct perf_bytes *bytes, struct nm_error *err)
{
	uint32_t size = 0;
	int status;

	if (bytes->count >= 8)
		memcpy(&size, bytes->at + 4, 4); /* the structure states its own size */
	if (size > bytes->count)
		return perf_damaged(perf, "the attributes of an event are too short", err);
	status = take_attr(perf, bytes->at, size, err);
	return status ? status : take_ids(perf, bytes->at + size, bytes->count - size, err);
}

/* Bytes that follow a record without being one. */
static int pass_payload(struct nm_perf *perf, const struct perf_bytes *bytes, struct nm_error *err)
{
	struct perf_cursor c = {bytes->at, bytes->at + bytes->count, 0};
	const uint64_t size =
	    bytes->type == RECORD_AUXTRACE ? perf_u64(&c) : ((uint64_t)perf_u32(&c) + 7) & ~7ull;

	if (!perf->is_pipe) {
		if (size > perf->data_left)
			return perf_damaged(perf, "a trace is longer than the file", err);
		perf->data_left -= size;
	}
	return perf_pass(perf, size, NULL, err);
}

/* Takes in a record of perf's own: 0, or a code. */
static int take_own_record(struct nm_perf *perf, const struct perf_bytes *bytes, struct nm_error *err)
{
	struct perf_cursor c = {bytes->at, bytes->at + bytes->count, 0};
	uint64_t word = 0;

	switch (bytes->type) {
	case RECORD_ATTR: return take_attr_record(perf, bytes, err);
	case RECORD_TRACING_DATA:
	case RECORD_AUXTRACE: return pass_payload(perf, bytes, err);
	case RECORD_BUILD_ID: return perf_take_build_id(perf, &c, bytes->misc) ? nm_fail_memory(err) : 0;
	case RECORD_FEATURE:
		word = perf_u64(&c);
		return word < PERF_FEATURES &&
			       perf_take_feature(perf, (unsigned)word, c.at, (size_t)(c.end - c.at))
			   ? nm_fail_memory(err)
			   : 0;
	case RECORD_COMPRESSED: return unpack_record(perf, bytes->at, bytes->count, err);
	case RECORD_COMPRESSED2:
		word = perf_u64(&c);
		if (word > (uint64_t)(c.end - c.at))
			return perf_damaged(perf, "a compressed record is too short", err);
		return unpack_record(perf, c.at, word, err);
	default: perf->origin.skipped++; return 0;
	}
}

int perf_file_next(struct nm_perf *perf, struct perf_bytes *ret, struct nm_error *err)
{
	int status;

	for (;;) {
		status = unpacked_record(perf, ret, err);
		if (!status)
			status = input_record(perf, ret, err);
		if (status <= 0)
			break;
		if (ret->type < RECORD_USER || ret->type == RECORD_FINISHED_ROUND)
			return 1;
		status = take_own_record(perf, ret, err);
		if (status)
			return status;
	}
	if (!status && !perf->at_end) {
		perf->at_end = 1;
		status = perf->is_pipe || perf_read_features(perf, err) == 0 ? 0 : nm_fail_memory(err);
	}
	return status;
}

/* ---- what the file says of itself --------------------------------------------------------------- */

const struct nm_perf_event *nm_perf_event_at(const struct nm_perf *perf, unsigned i)
{
	return i < perf->attrs.count ? &perf->attrs.at[i].event : NULL;
}

struct nm_perf_origin nm_perf_origin_of(const struct nm_perf *perf) { return perf->origin; }

size_t nm_perf_build_id(const struct nm_perf *perf, const char *path, const uint8_t **ret_bytes)
{
	for (size_t i = 0; i < perf->built.count; i++) {
		if (strcmp(perf->built.at[i].path, path))
			continue;
		*ret_bytes = perf->built.at[i].build_id;
		return perf->built.at[i].build_id_bytes;
	}
	return 0;
}
