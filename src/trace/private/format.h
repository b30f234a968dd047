/* SPDX-License-Identifier: MIT
 *
 * format.h - the layout of a trace file: header, chunk header, index, trailer.
 * Numbers are little-endian, as on all machines that collectors run on.
 */
#ifndef NM_TRACE_FORMAT_H
#define NM_TRACE_FORMAT_H

#include <stdint.h>

#include "codec.h"
#include "map.h"
#include "trace.h"

#define NM_TRACE_MAGIC 0x0a65636172746d6eull /* the bytes "nmtrace\n" */
#define NM_TRACE_LAST 0x0a646e6572746d6eull  /* the bytes "nmtrend\n" */

struct file_header {
	uint64_t magic;
	uint32_t version, zero;
};

struct chunk_header {
	uint32_t kind, stream;
	uint64_t words, references;
	struct {
		uint32_t packed, raw;
	} parts[NM_PARTS];
	uint64_t check; /* chunk_check() of the fields before it */
};
_Static_assert(sizeof(struct chunk_header) == 72, "the head of a chunk is packed");

struct index_entry {
	uint64_t offset, bytes;
	uint32_t kind, stream;
	uint64_t words, references;
};
_Static_assert(sizeof(struct index_entry) == 40, "an entry of the index is packed");

struct file_trailer {
	uint64_t index; /* offset of the chunk */
	uint64_t magic;
};

static inline uint64_t chunk_check(const struct chunk_header *head)
{
	const uint64_t *words = (const uint64_t *)head;
	uint64_t sum = NM_TRACE_MAGIC;

	for (unsigned i = 0; i < sizeof *head / sizeof *words - 1; i++)
		sum = nm_mix64(sum ^ words[i]);
	return sum;
}

/* In reader.c. A chunk's header and the bytes behind it, valid until the reader's next call. */
int trace_raw(struct nm_trace *trace, const struct nm_trace_chunk *chunk, struct chunk_header *ret_head,
	      const uint8_t **ret_bytes, struct nm_error *err);

static inline uint64_t chunk_payload(const struct chunk_header *head)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < NM_PARTS; i++)
		bytes += head->parts[i].packed;
	return bytes;
}

#endif
