/* SPDX-License-Identifier: MIT
 *
 * slices.h - one run simulated in slices of time, side by side, with the counts of one run to the last one
 * (Heidelberger and Stone, Parallel Trace-Driven Cache Simulation by Time Partitioning, 1990).
 *
 * Each slice begins with empty caches. A load into a way that was empty is *open*: with the lines that the slices
 * before left it may be a hit, or it evicts one of them. All else is exact, since a set whose ways the slice has
 * filled holds what it holds in the whole run. Once the state is known in which the slice before leaves the levels
 * of a depth, the open loads are settled (nm_run_slice_resolve), at most one for each way; the exact misses are then
 * what the levels of the next depth are simulated from, empty again (nm_run_slice_advance). So, of each slice:
 *
 *     nm_run_slice_new; feed nm_run_slice_hierarchy, without hints and sampler; nm_run_slice_end
 *     for each depth: nm_run_slice_resolve, the slices in their order, with one state that all pass on
 *                     nm_run_slice_advance, all slices at once
 *     nm_run_slice_finish of the last slice; the counts are the sum (nm_hierarchy_add_counts)
 *
 * Slices may have attribution keys of their own; keys of states and counts are those of the whole run.
 */
#ifndef NM_SLICES_H
#define NM_SLICES_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "hierarchy.h"
#include "machine.h"

struct nm_run_slice;
struct nm_run_slice_state;

/* An empty slice. 0, NM_ENOMEM, or NM_EINVAL: names the rule of the machine with which runs cannot be cut: other
 * policies than LRU, prefetchers, TLBs, several cores, lines of different sizes. data_only: there are no fetches. */
int nm_run_slice_new(struct nm_run_slice **ret_slice, const struct nm_machine *machine, int data_only,
		     struct nm_error *err);
void nm_run_slice_free(struct nm_run_slice *slice);

/* What takes the slice's references, and has its counts in the end. Not to be finished or freed. */
struct nm_hierarchy *nm_run_slice_hierarchy(const struct nm_run_slice *slice);

/* After the last reference. keys: the whole run's for each of the slice's, [count]; NULL: they are the same.
 * key_count: the whole run's are below. 0 or NM_ENOMEM. */
int nm_run_slice_end(struct nm_run_slice *slice, const uint32_t *keys, size_t count, size_t key_count);

/* How many levels a reference may pass: 3 for L1, L2 and L3. */
unsigned nm_run_slice_depths(const struct nm_run_slice *slice);

/* What the levels of a depth hold, at first nothing; for slices like this one. NULL: out of memory. */
struct nm_run_slice_state *nm_run_slice_state_new(const struct nm_run_slice *slice, unsigned depth);
void nm_run_slice_state_free(struct nm_run_slice_state *state);

/* Settles what is open at the slice's present depth. `state` is what the slice before left, and becomes what this
 * one leaves. Costs by the lines of the caches, not by the references; but by the misses of the first levels where
 * loads are covered (prefetch_coverage.h). 0 or NM_ENOMEM. */
int nm_run_slice_resolve(struct nm_run_slice *slice, struct nm_run_slice_state *state);

/* Counts what is settled, and simulates the levels of the next depth, if there is one. 0 or NM_ENOMEM. */
int nm_run_slice_advance(struct nm_run_slice *slice);

/* Of the last slice: credits the lines that are still resident. states: of all depths, which change. */
void nm_run_slice_finish(struct nm_run_slice *slice, struct nm_run_slice_state *const *states);

/* Flat bytes, for another process of the same build. The caller frees *ret_bytes. 0 or NM_ENOMEM; for decoding also
 * NM_EINVAL: the bytes are of another version or of other caches. */
int nm_run_slice_state_encode(const struct nm_run_slice_state *state, void **ret_bytes, size_t *ret_count);
int nm_run_slice_state_decode(struct nm_run_slice_state *state, const void *bytes, size_t count);

/* How much of a slice was open, over all depths so far. */
struct nm_run_slice_work {
	uint64_t misses; /* loads of lines, as simulated from empty caches */
	uint64_t open; /* of these, into empty ways; and credits of lines that were loaded before the slice */
	uint64_t first; /* lines whose class depends on the slices before */
};
struct nm_run_slice_work nm_run_slice_work(const struct nm_run_slice *slice);

/* Adds all counts of a finished hierarchy of the same machine, as slices have; the same as flat bytes. 0 or
 * NM_ENOMEM; NM_EINVAL as above. */
int nm_hierarchy_add_counts(struct nm_hierarchy *to, const struct nm_hierarchy *from);
int nm_hierarchy_encode_counts(const struct nm_hierarchy *hierarchy, void **ret_bytes, size_t *ret_count);
int nm_hierarchy_decode_counts(struct nm_hierarchy *to, const void *bytes, size_t count);

#endif
