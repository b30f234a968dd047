/* SPDX-License-Identifier: MIT
 *
 * check.h - checks whether a stream is well-formed. Enforces docs/format/wire.md and counts what is in the
 * stream.
 *
 * Every end-to-end test runs its streams through this checker: a collector that passes may rely on
 * being understood, and a reader may rely on what it enforces.
 */
#ifndef NM_WIRE_CHECK_H
#define NM_WIRE_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "nearmiss/wire.h"

struct nm_wire_stats {
	uint64_t words, records[NM_WIRE_KINDS];
	uint64_t addresses; /* words of payload of BLOCK records */
	uint64_t reads, writes, prefetches;
	uint64_t non_temporal; /* of the writes */
	uint64_t skipped;      /* guarded accesses that did not take place: address 0 */
	uint64_t instructions; /* of blocks, and by RAN records */
	uint64_t side_exits;
	uint64_t calls, returns;
	uint64_t unmatched_returns; /* with no call before them in their thread */
	uint64_t max_depth;         /* of calls, over all threads */
	uint64_t unknown_frees;     /* FREE and REALLOC of addresses that no live block has */
	uint64_t live_blocks, live_bytes, max_live_bytes;
	uint64_t lost;         /* words, by LOST records */
	uint64_t open_samples; /* samples whose line nobody has touched since */
	uint64_t references;   /* of a sampled stream: its last clock */
};

struct nm_wire_check;

int wire_check_new(struct nm_wire_check **ret, struct nm_error *err);

/* Feeds whole records (a chunk). 0, or a negative code with the first fault and its word offset in the
 * stream; afterwards only statistics and wire_check_free make sense. */
int wire_check_feed(struct nm_wire_check *check, const uint64_t *words, size_t count, struct nm_error *err);

/* A forked child starts with what its parent knew: its blocks, threads, heap and modules. Every FORK
 * record that the parent's checker passes leaves a copy of that for the child. 1 and a checker for the
 * child's stream if that record has been fed, 0 if it is still to come (it can be asked for once). */
int wire_check_of_child(struct nm_wire_check **ret, struct nm_wire_check *parent, uint32_t ordinal);

/* Ends the stream. whole: its producer closed it, so its last record must be EXIT or EXEC. */
int wire_check_finish(const struct nm_wire_check *check, int whole, struct nm_error *err);

const struct nm_wire_stats *wire_check_stats(const struct nm_wire_check *check);
void wire_check_free(struct nm_wire_check *check);

#endif
