/* SPDX-License-Identifier: MIT
 *
 * traffic.c - see traffic.h.
 */
#include "traffic.h"

const char *const nm_message_names[NM_MESSAGES] = {
    "read",        "write",          "upgrade",          "forward",   "invalidate",
    "acknowledge", "data from core", "data from memory", "write-back"};
const char *const nm_fabric_names[NM_FABRICS] = {"directory", "snooping"};

uint64_t nm_traffic_messages(const struct nm_traffic *traffic, enum nm_fabric fabric, enum nm_message message)
{
	const int unsaid = message == NM_MESSAGE_FORWARD || message == NM_MESSAGE_INVALIDATE ||
			   message == NM_MESSAGE_ACKNOWLEDGE;

	return fabric == NM_FABRIC_SNOOPING && unsaid ? 0 : traffic->count[message];
}

uint64_t nm_traffic_bytes(const struct nm_traffic *traffic, enum nm_fabric fabric, enum nm_message message)
{
	const uint64_t data = message >= NM_MESSAGE_DATA_FROM_CORE ? traffic->block : 0;

	return nm_traffic_messages(traffic, fabric, message) * (NM_MESSAGE_BYTES + data);
}
