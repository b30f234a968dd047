/* SPDX-License-Identifier: MIT
 *
 * features.c - what perf.data says of its making: host, processor, command, names of events, build ids.
 *
 * A file has them behind its records, where a table says which lies where; a pipe in records of perf's own.
 */
#include "perf_priv.h"

#include <stdio.h>
#include <stdlib.h>

enum { RECORD_HEADER = 8, MOST_FEATURE = 1 << 24 /* bytes of a feature that is read */ };

/* Features. */
enum { BUILD_IDS = 2, HOST = 3, RELEASE = 4, PROCESSOR = 8, COMMAND = 11, EVENTS = 12 };

/* A text with its length before it. */
static const char *counted_text(struct nm_perf *perf, struct perf_cursor *c)
{
	const uint32_t bytes = perf_u32(c);
	const uint8_t *at = perf_take(c, bytes);

	return at ? nm_intern_n(&perf->strings, (const char *)at, bytes) : NULL;
}

static const char *joined_texts(struct nm_perf *perf, struct perf_cursor *c)
{
	uint32_t count = perf_u32(c);
	char *joined = strdup("");
	const char *kept;

	while (count-- && !c->is_short && joined) {
		const char *text = counted_text(perf, c);
		char *longer;

		if (!text || asprintf(&longer, "%s%s%s", joined, *joined ? " " : "", text) < 0)
			break;
		free(joined);
		joined = longer;
	}
	kept = joined ? nm_intern(&perf->strings, joined) : NULL;
	free(joined);
	return kept;
}

/* A record of a build id: without its header. */
int perf_take_build_id(struct nm_perf *perf, struct perf_cursor *c, uint16_t misc)
{
	enum { HAS_SIZE = 1 << 15 };
	const uint8_t *id;
	struct nm_perf_mapping built = {.build_id_bytes = NM_PERF_BUILD_ID};

	perf_take(c, 4); /* pid */
	id = perf_take(c, 24);
	built.path = perf_text(perf, c);
	if (!id || !built.path)
		return 0;
	if ((misc & HAS_SIZE) && id[NM_PERF_BUILD_ID] <= NM_PERF_BUILD_ID)
		built.build_id_bytes = id[NM_PERF_BUILD_ID];
	memcpy(built.build_id, id, built.build_id_bytes);
	return nm_map_put(&perf->build_ids, (uintptr_t)built.path, perf->built.count) ||
		       nm_vec_push(&perf->built, built)
		   ? NM_ENOMEM
		   : 0;
}

static int take_build_ids(struct nm_perf *perf, struct perf_cursor *c)
{
	while (c->end - c->at > RECORD_HEADER) {
		struct perf_cursor one = *c;
		uint16_t misc, bytes;

		perf_take(&one, 4);
		memcpy(&misc, one.at, sizeof misc);
		memcpy(&bytes, one.at + 2, sizeof bytes);
		if (bytes < RECORD_HEADER || !perf_take(c, bytes))
			break;
		one.at += 4;
		one.end = c->at;
		if (perf_take_build_id(perf, &one, misc))
			return NM_ENOMEM;
	}
	return 0;
}

/* The names by which perf record was given the events. */
static void take_events(struct nm_perf *perf, struct perf_cursor *c)
{
	uint32_t count = perf_u32(c);
	const uint32_t attr_bytes = perf_u32(c);

	for (uint32_t i = 0; i < count && !c->is_short; i++) {
		const char *name;
		uint32_t ids;

		perf_take(c, attr_bytes);
		ids = perf_u32(c);
		name = counted_text(perf, c);
		perf_take(c, 8 * (uint64_t)ids);
		if (name && *name && i < perf->attrs.count)
			perf->attrs.at[i].event.name = name;
	}
}

int perf_take_feature(struct nm_perf *perf, unsigned feature, const uint8_t *at, size_t bytes)
{
	struct perf_cursor c = {at, at + bytes, 0};

	switch (feature) {
	case BUILD_IDS: return take_build_ids(perf, &c);
	case HOST: perf->origin.host = counted_text(perf, &c); break;
	case RELEASE: perf->origin.release = counted_text(perf, &c); break;
	case PROCESSOR: perf->origin.processor = counted_text(perf, &c); break;
	case COMMAND: perf->origin.command = joined_texts(perf, &c); break;
	case EVENTS: take_events(perf, &c); break;
	default: break;
	}
	return 0;
}

struct section {
	uint64_t offset, bytes;
	unsigned feature;
};

static int by_offset(const void *a, const void *b)
{
	const struct section *s = a, *y = b;

	return (s->offset > y->offset) - (s->offset < y->offset);
}

/* The sections of features, in the order in which they lie; `at` is where the input stands. */
static int read_sections(struct nm_perf *perf, struct section *sections, size_t count, uint64_t at,
			 struct nm_error *err)
{
	int status = 0;

	qsort(sections, count, sizeof *sections, by_offset);
	for (size_t i = 0; i < count && !status; i++) {
		struct section *s = &sections[i];
		uint8_t *bytes;

		if (s->offset < at || s->bytes > MOST_FEATURE)
			continue;
		status = perf_pass(perf, s->offset - at, NULL, err);
		bytes = malloc(s->bytes + 1);
		if (!status && !bytes)
			status = nm_fail_memory(err);
		if (!status)
			status = perf_pass(perf, s->bytes, bytes, err);
		if (!status && perf_take_feature(perf, s->feature, bytes, s->bytes))
			status = nm_fail_memory(err);
		free(bytes);
		at = s->offset + s->bytes;
	}
	return status;
}

/* Features lie behind the records: a table of sections for those that the header names. A file that ends
 * before has its samples all the same. */
int perf_read_features(struct nm_perf *perf, struct nm_error *err)
{
	struct section sections[PERF_FEATURES];
	const uint8_t *at;
	size_t count = 0;
	uint64_t end = 0;
	struct nm_error ignored;

	for (unsigned feature = 0; feature < PERF_FEATURES; feature++) {
		if (!(perf->features[feature / 64] >> feature % 64 & 1))
			continue;
		if (input_bytes(perf->input, 16, &at, &ignored) <= 0)
			return 0;
		memcpy(&sections[count].offset, at, 8);
		memcpy(&sections[count].bytes, at + 8, 8);
		sections[count++].feature = feature;
		end = input_offset(perf->input) + 16;
	}
	return read_sections(perf, sections, count, end, err) == NM_ENOMEM ? NM_ENOMEM : 0;
}
