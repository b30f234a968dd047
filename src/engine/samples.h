/* SPDX-License-Identifier: MIT
 *
 * samples.h - from a processor's samples (perf.h) to results: each is charged to the thread, the line of code
 * and the object of its data, with where the data came from and how long that took.
 *
 * Only sums are kept, so memory grows with the program's text and mappings, not with the number of samples.
 * Objects are as fine as mappings tell: variables of programs and libraries by name; each stack and other mappings
 * as a whole, and the heap too, unless nm_samples_allocate says where its blocks lie.
 */
#ifndef NM_SAMPLES_H
#define NM_SAMPLES_H

#include "exact.h"
#include "perf.h"
#include "result.h"
#include "symbol.h"

struct nm_samples;

/* symbols: borrowed. user_folders: as in user_code.h, or NULL. */
int nm_samples_new(struct nm_samples **ret_samples, struct nm_symbols *symbols, const char *user_folders,
		   struct nm_error *err);
void nm_samples_free(struct nm_samples *samples);

/* Before the first record: samples that do not say which data they accessed are joined with what a recording knows
 * of their instructions (borrowed). */
void nm_samples_join(struct nm_samples *samples, struct nm_exact *exact);

/* Takes in the next record, in the order of time. 0 or NM_ENOMEM. */
int nm_samples_take(struct nm_samples *samples, const struct nm_perf_record *record, struct nm_error *err);

/* heap.c: a process has allocated or released a block. chain: the return addresses of the calls that led to that,
 * the innermost first; `number` is that of the chain, the same for the same addresses in a process. 0 or NM_ENOMEM. */
int nm_samples_allocate(struct nm_samples *samples, uint32_t pid, uint64_t address, uint64_t bytes,
			uint32_t number, const uint64_t *chain, uint32_t count);
int nm_samples_release(struct nm_samples *samples, uint32_t pid, uint64_t address);

/* After the last record: the results, one for each program that a process ran and that has samples, in the
 * order of the processes' first records. They live as long as `samples`. The file of a module whose build id
 * is not the one that `perf` lists gives no names. 0 or NM_ENOMEM. */
int nm_samples_results(struct nm_samples *samples, const struct nm_perf *perf,
		       struct nm_result *const **ret_results, size_t *ret_count, struct nm_error *err);

/* Samples taken in, and those that the kernel says it lost. */
uint64_t nm_samples_count(const struct nm_samples *samples);
uint64_t nm_samples_lost(const struct nm_samples *samples);

#endif
