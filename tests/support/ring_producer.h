/* SPDX-License-Identifier: MIT
 *
 * ring_producer.h - the producing end of the live transport, as simple as it can be: for tests, and as
 * an example for authors of collectors.
 */
#ifndef NM_TEST_RING_PRODUCER_H
#define NM_TEST_RING_PRODUCER_H

#include <stddef.h>
#include <stdint.h>

#include "nearmiss/wire.h"

struct ring_producer {
	struct nm_wire_control *control;
	struct nm_wire_ring *ring;
	int fd, slot;
	uint32_t number;
	uint64_t *start; /* of the chunk being written */
	uint32_t waits;  /* how often it has waited for room */
	int patience;    /* s: after which it looks whether the consumer has gone */
};

/* fd: the consumer's file. 0, or -1 with errno. */
int ring_producer_open(struct ring_producer *p, int fd);

/* The two halves of it: the ring has a number, and then can be found. */
int ring_producer_take(struct ring_producer *p, int fd);
void ring_producer_announce(struct ring_producer *p);

/* Appends whole records, at most a chunk of them; publishes the chunk first if they do not fit. 1 if
 * the consumer has gone and the words were thrown away. */
int ring_producer_write(struct ring_producer *p, const uint64_t *words, size_t count);

void ring_producer_publish(struct ring_producer *p);
void ring_producer_close(struct ring_producer *p); /* publishes, and says that the stream is whole */
void ring_producer_unmap(struct ring_producer *p); /* forgets the ring, as a killed process would */

#endif
