/* SPDX-License-Identifier: MIT
 *
 * traffic.h - the messages that a coherence protocol sends, with a directory and with snooping caches.
 *
 * Both are counted from the same transactions. With a directory, each request is sent to it; it sends a
 * forward to the owner and an invalidation to each sharer, which acknowledges it. On a bus a request is one
 * message that all others see, and forwards, invalidations and acknowledgements are implicit. A message
 * takes NM_MESSAGE_BYTES, and one with data the block as well. Clean copies leave silently.
 */
#ifndef NM_TRAFFIC_H
#define NM_TRAFFIC_H

#include <stdint.h>

enum nm_message {
	NM_MESSAGE_READ,    /* a core requests a block to read it */
	NM_MESSAGE_WRITE,   /* or to write it */
	NM_MESSAGE_UPGRADE, /* or the right to write the block that it has */
	NM_MESSAGE_FORWARD, /* of a request, to the core that supplies the data */
	NM_MESSAGE_INVALIDATE,
	NM_MESSAGE_ACKNOWLEDGE,
	NM_MESSAGE_DATA_FROM_CORE,
	NM_MESSAGE_DATA_FROM_MEMORY,
	NM_MESSAGE_WRITE_BACK,
	NM_MESSAGES
};
enum { NM_MESSAGE_BYTES = 8 };

/* Their names: "read", "write", ... */
extern const char *const nm_message_names[NM_MESSAGES];

struct nm_traffic {
	uint64_t count[NM_MESSAGES];
	uint64_t block; /* bytes of data in a message that carries some */
};

enum nm_fabric { NM_FABRIC_DIRECTORY, NM_FABRIC_SNOOPING, NM_FABRICS };
extern const char *const nm_fabric_names[NM_FABRICS];

/* Messages of a kind, and their bytes. */
uint64_t nm_traffic_messages(const struct nm_traffic *traffic, enum nm_fabric fabric,
			     enum nm_message message);
uint64_t nm_traffic_bytes(const struct nm_traffic *traffic, enum nm_fabric fabric, enum nm_message message);

#endif
