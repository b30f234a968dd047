/* SPDX-License-Identifier: MIT
 *
 * ring_producer.c - see ring_producer.h.
 */
#include "ring_producer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static size_t ring_bytes(const struct nm_wire_control *control)
{
	return nm_wire_ring_bytes(control->chunk_words, control->chunks);
}

static uint64_t *chunk_start(const struct ring_producer *p)
{
	return (uint64_t *)((char *)p->ring + NM_WIRE_RING_DATA) +
	       (size_t)(p->ring->head % p->ring->chunks) * p->ring->chunk_words;
}

static void begin_chunk(struct ring_producer *p)
{
	p->start = chunk_start(p);
	__atomic_store_n(&p->ring->cursor, (uint64_t)(uintptr_t)p->start, __ATOMIC_RELEASE);
}

static void ring_doorbell(struct nm_wire_control *control)
{
	if (!__atomic_load_n(&control->consumer_waits, __ATOMIC_SEQ_CST))
		return;
	__atomic_fetch_add(&control->doorbell, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &control->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void *map(int fd, uint64_t offset, size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
}

/* The first free slot, or -1. */
static int take_slot(struct nm_wire_control *control)
{
	for (uint32_t i = 0; i < control->slots; i++) {
		uint32_t free = 0;

		if (__atomic_compare_exchange_n(&control->slot[i].owner, &free, (uint32_t)getpid(), 0,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return (int)i;
	}
	errno = ENOSPC;
	return -1;
}

int ring_producer_take(struct ring_producer *p, int fd)
{
	uint64_t offset;

	p->waits = 0;
	p->patience = 1;
	p->fd = fd;
	p->control = map(fd, 0, NM_WIRE_CONTROL_BYTES);
	if (p->control == MAP_FAILED)
		return -1;
	p->slot = take_slot(p->control);
	if (p->slot < 0)
		return -1;
	offset = nm_wire_slot_offset((uint32_t)p->slot, p->control->chunk_words, p->control->chunks);
	errno = posix_fallocate(fd, (off_t)offset, (off_t)ring_bytes(p->control));
	if (errno)
		return -1;
	p->ring = map(fd, offset, ring_bytes(p->control));
	if (p->ring == MAP_FAILED)
		return -1;
	p->ring->version = NM_WIRE_VERSION;
	p->ring->pid = (uint32_t)getpid();
	p->ring->chunk_words = p->control->chunk_words;
	p->ring->chunks = p->control->chunks;
	p->ring->base = (uint64_t)(uintptr_t)p->ring;
	begin_chunk(p);
	__atomic_store_n(&p->ring->magic, NM_WIRE_MAGIC, __ATOMIC_RELEASE);
	p->number = __atomic_fetch_add(&p->control->rings, 1, __ATOMIC_SEQ_CST);
	return 0;
}

void ring_producer_announce(struct ring_producer *p)
{
	__atomic_store_n(&p->control->slot[p->slot].ring, p->number + 1, __ATOMIC_SEQ_CST);
	ring_doorbell(p->control);
}

int ring_producer_open(struct ring_producer *p, int fd)
{
	if (ring_producer_take(p, fd))
		return -1;
	ring_producer_announce(p);
	return 0;
}

/* The consumer holds a lock while it lives. Asked so, it is seen in the consumer's own process, too. */
static int consumer_has_gone(const struct ring_producer *p)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

	if (__atomic_load_n(&p->ring->detached, __ATOMIC_SEQ_CST))
		return 1;
	return !fcntl(p->fd, F_OFD_GETLK, &lock) && lock.l_type == F_UNLCK;
}

static void wait_on(const struct ring_producer *p, uint32_t *word, uint32_t value)
{
	struct timespec patience = {p->patience, 0};

	syscall(SYS_futex, word, FUTEX_WAIT, value, &patience, NULL, 0);
}

static int has_room(const struct ring_producer *p, uint32_t *ret_tail)
{
	*ret_tail = __atomic_load_n(&p->ring->tail, __ATOMIC_SEQ_CST);
	return p->ring->head - *ret_tail < p->ring->chunks;
}

static void wait_for_room(struct ring_producer *p)
{
	struct nm_wire_ring *ring = p->ring;
	uint32_t tail;

	if (has_room(p, &tail))
		return;
	__atomic_store_n(&ring->producer_waits, 1, __ATOMIC_SEQ_CST);
	while (!has_room(p, &tail) && !consumer_has_gone(p)) {
		__atomic_fetch_add(&p->waits, 1, __ATOMIC_SEQ_CST);
		wait_on(p, &ring->tail, tail);
	}
	__atomic_store_n(&ring->producer_waits, 0, __ATOMIC_SEQ_CST);
}

void ring_producer_publish(struct ring_producer *p)
{
	uint64_t used = (uint64_t)((uint64_t *)(uintptr_t)p->ring->cursor - p->start);

	if (!used)
		return;
	__atomic_store_n(&p->ring->used[p->ring->head % p->ring->chunks], (uint32_t)used, __ATOMIC_RELEASE);
	p->ring->order[p->ring->head % p->ring->chunks] =
	    __atomic_fetch_add(&p->control->published, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&p->ring->head, p->ring->head + 1, __ATOMIC_SEQ_CST);
	ring_doorbell(p->control);
	wait_for_room(p);
	begin_chunk(p);
}

int ring_producer_write(struct ring_producer *p, const uint64_t *words, size_t count)
{
	uint64_t *at = (uint64_t *)(uintptr_t)p->ring->cursor;

	if (__atomic_load_n(&p->ring->detached, __ATOMIC_SEQ_CST))
		return 1;
	if (count > p->ring->chunk_words - (size_t)(at - p->start)) {
		ring_producer_publish(p);
		if (consumer_has_gone(p))
			return 1;
		at = (uint64_t *)(uintptr_t)p->ring->cursor;
	}
	memcpy(at, words, count * sizeof *words);
	__atomic_store_n(&p->ring->cursor, (uint64_t)(uintptr_t)(at + count), __ATOMIC_RELEASE);
	return 0;
}

void ring_producer_unmap(struct ring_producer *p)
{
	munmap(p->ring, ring_bytes(p->control));
	munmap(p->control, NM_WIRE_CONTROL_BYTES);
}

void ring_producer_close(struct ring_producer *p)
{
	ring_producer_publish(p);
	__atomic_store_n(&p->ring->state, NM_WIRE_RING_CLOSED, __ATOMIC_SEQ_CST);
	ring_doorbell(p->control);
	ring_producer_unmap(p);
}
