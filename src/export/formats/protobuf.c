/* SPDX-License-Identifier: MIT
 *
 * protobuf.c - see protobuf.h. A generator and its library would be more than these two kinds of field.
 */
#include "protobuf.h"

#include <assert.h>
#include <string.h>

#include "varint.h"

enum { KIND_NUMBER = 0, KIND_BYTES = 2, LONGEST = NM_VARINT_BYTES };

static int append_bytes(struct nm_protobuf *message, const void *bytes, size_t n)
{
	if (nm_vec_reserve(message, n))
		return NM_ENOMEM;
	if (n)
		memcpy(message->at + message->count, bytes, n);
	message->count += n;
	return 0;
}

static int append_number(struct nm_protobuf *message, uint64_t value)
{
	unsigned char bytes[LONGEST];

	return append_bytes(message, bytes, (unsigned)nm_varint_put(bytes, value));
}

int nm_message_number(struct nm_protobuf *message, unsigned field, uint64_t value)
{
	assert(field > 0);
	if (!value)
		return 0;
	return append_number(message, field << 3 | KIND_NUMBER) || append_number(message, value) ? NM_ENOMEM
												 : 0;
}

int nm_message_bytes(struct nm_protobuf *message, unsigned field, const void *bytes, size_t n)
{
	assert(field > 0);
	return append_number(message, field << 3 | KIND_BYTES) || append_number(message, n) ||
		       append_bytes(message, bytes, n)
		   ? NM_ENOMEM
		   : 0;
}

int nm_message_inner(struct nm_protobuf *message, unsigned field, const struct nm_protobuf *inner)
{
	assert(field > 0);
	return nm_message_bytes(message, field, inner->at, inner->count);
}

int nm_message_numbers(struct nm_protobuf *message, unsigned field, const uint64_t *values, size_t n)
{
	struct nm_protobuf inner = {0};
	int status = 0;

	assert(field > 0);
	for (size_t i = 0; !status && i < n; i++)
		status = append_number(&inner, values[i]);
	if (!status)
		status = nm_message_inner(message, field, &inner);
	nm_vec_free(&inner);
	return status;
}
