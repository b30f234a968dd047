/* SPDX-License-Identifier: MIT
 *
 * heap_log.h - the file in which the preloaded library (shim.c) notes allocations, and nearmiss reads them.
 *
 * A header, then chunks. A thread that allocates takes a chunk and writes words into it; when it ends, another
 * thread of the process goes on there. So the records of a chunk are of one process and in the order of their
 * times. The word after the last record is 0. A record's first word is written last: what a killed thread leaves
 * is whole.
 *
 *     allocation  kind | address, time, bytes << 24 | chain
 *     release     kind | address, time           (before the allocator has the block back; also of blocks whose
 *                                                 allocation was not noted)
 *     chain       kind | count << 32 | chain, time, return addresses [count], the innermost first
 *
 * Times are of CLOCK_MONOTONIC in nanoseconds. Numbers of chains are unique in the file.
 */
#ifndef NM_HEAP_LOG_H
#define NM_HEAP_LOG_H

#include <stdint.h>

#define NM_HEAP_LOG_VARIABLE "NEARMISS_HEAP_LOG" /* of the environment: the file's path */

enum { NM_HEAP_ALLOCATION = 1, NM_HEAP_RELEASE = 2, NM_HEAP_CHAIN = 3 };
enum {
	NM_HEAP_KIND = 60,  /* shift of the kind, in the first word */
	NM_HEAP_BYTES = 24, /* shift of the bytes */
	NM_HEAP_FRAMES = 24 /* of a chain, at most */
};

#define NM_HEAP_MAGIC 0x3170616568726e6eull
#define NM_HEAP_CHUNK ((uint64_t)1 << 17) /* bytes */
#define NM_HEAP_HEADER ((uint64_t)1 << 12)

struct nm_heap_log_header {
	uint64_t magic;
	uint64_t end;    /* of the chunks that were taken */
	uint32_t chains; /* the last number of a chain */
	uint32_t failed; /* 1: there was no room for another chunk */
	uint64_t least;  /* bytes of blocks that are noted */
};

struct nm_heap_log_chunk {
	uint64_t pid;
	uint64_t words[NM_HEAP_CHUNK / 8 - 1];
};

#endif
