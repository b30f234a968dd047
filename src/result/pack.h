/* SPDX-License-Identifier: MIT
 *
 * pack.h - results in little memory: those of processes that have ended wait for the profile packed.
 */
#ifndef NM_RESULT_PACK_H
#define NM_RESULT_PACK_H

#include "result.h"

/* The arrays of a result, compressed. {0}: there are none. */
struct nm_packed_result {
	uint8_t *bytes;
	size_t count, whole; /* packed, and as they were */
};

/* Moves the arrays of a result into *ret_packed; numbers and strings stay. 0, or NM_ENOMEM: the result is as
 * it was. */
int nm_result_pack(struct nm_result *result, struct nm_packed_result *ret_packed);

/* Gives a result its arrays again; `packed` keeps them too. 0 or NM_ENOMEM. */
int nm_result_unpack(struct nm_result *result, const struct nm_packed_result *packed);

/* Frees the arrays of a result that can be unpacked again. */
void nm_result_drop_arrays(struct nm_result *result);

void nm_packed_result_done(struct nm_packed_result *packed);

#endif
