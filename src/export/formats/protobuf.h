/* SPDX-License-Identifier: MIT
 *
 * protobuf.h - encodes a message of protocol buffers: numbered fields that hold numbers, texts or other
 * messages. (https://protobuf.dev/programming-guides/encoding)
 *
 * A field that holds 0 is left out, as readers expect of version 3.
 */
#ifndef NM_EXPORT_PROTOBUF_H
#define NM_EXPORT_PROTOBUF_H

#include <stdint.h>

#include "vector.h"

struct nm_protobuf nm_vec(unsigned char); /* {0} is an empty one; count = 0 empties it again */

/* All give 0 or NM_ENOMEM. */
int nm_message_number(struct nm_protobuf *message, unsigned field, uint64_t value);
int nm_message_bytes(struct nm_protobuf *message, unsigned field, const void *bytes, size_t n);
int nm_message_inner(struct nm_protobuf *message, unsigned field, const struct nm_protobuf *inner);
/* Repeated numbers in one piece. */
int nm_message_numbers(struct nm_protobuf *message, unsigned field, const uint64_t *values, size_t n);

#endif
