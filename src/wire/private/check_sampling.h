/* SPDX-License-Identifier: MIT
 *
 * check_sampling.h - what holds between the records of a sampled stream (check.c):
 *  - it says that it is one before any thread runs, once;
 *  - its clock never runs backwards, and no two samples have the same;
 *  - a reuse touches the line of a sample, and ends it: no other reuse names that sample again.
 */
#ifndef NM_WIRE_CHECK_SAMPLING_H
#define NM_WIRE_CHECK_SAMPLING_H

#include "decode.h"
#include "map.h"

struct wire_sampling_check {
	struct nm_wire_sampling options; /* rate 0: no sampled stream */
	struct nm_map open;              /* clock of a sample that nothing has ended -> its line */
	uint64_t clock;                  /* the last one seen */
	uint64_t next_sample;            /* the least clock that the next sample may have */
};

/* thread: the one that runs; 0: none. */
int wire_sampling_check(struct wire_sampling_check *check, const struct nm_wire_record *r, uint32_t thread,
			struct nm_error *err);
void wire_sampling_check_done(struct wire_sampling_check *check);

#endif
