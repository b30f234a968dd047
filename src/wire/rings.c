/* SPDX-License-Identifier: MIT
 *
 * rings.c - finds the rings that producers announce, detects dead producers, and frees slots.
 *
 * A pidfd detects a dead producer: kill(pid, 0) would take a zombie for alive, and reading /proc costs more.
 * kill() is the fallback where pidfd_open is forbidden.
 *
 * A slot is freed only when no process writes to it any more: the ring was closed, or its process is dead or
 * has replaced its image. A process that was never seen alive may live in another pid namespace, and keeps
 * its slot. The memory of the first slots is kept for the next process; that of others is freed.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "consumer_priv.h"

enum {
	PATIENCE_MS = 5000, /* for a ring that was announced to appear, before we count it as lost */
	MAX_ANNOUNCED = 1 << 16,
	SLOTS_KEPT = 8
};

void ring_detach(struct ring *ring)
{
	store_word(&ring->shared->detached, 1);
	wake_waiters(&ring->shared->tail);
}

static void free_slot(struct nm_consumer *c, uint32_t slot)
{
	const off_t offset = (off_t)nm_wire_slot_offset(slot, c->chunk_words, c->chunks);

	assert(slot < c->slots);
	if (slot >= SLOTS_KEPT)
		fallocate(c->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, (off_t)c->ring_bytes);
	store_word(&c->control->slot[slot].ring, 0);
	store_word(&c->control->slot[slot].owner, 0);
	__atomic_fetch_add(&c->control->slots_freed, 1, __ATOMIC_SEQ_CST);
	wake_waiters(&c->control->slots_freed);
}

void ring_done(struct nm_consumer *c, struct ring *ring)
{
	int closed = acquire_word(&ring->shared->state) == NM_WIRE_RING_CLOSED;
	int unused = !ring->fault[0] && (closed || (ring->ended && !ring->unknown));

	assert(ring->slot < c->slots);
	if (unused)
		memset(ring->shared, 0, sizeof *ring->shared);
	else
		ring_detach(ring);
	munmap(ring->shared, c->ring_bytes);
	if (unused)
		free_slot(c, ring->slot);
	if (ring->pidfd >= 0)
		close(ring->pidfd);
}

void rings_done(struct nm_consumer *c)
{
	for (size_t i = 0; i < c->rings.count; i++)
		ring_done(c, &c->rings.at[i]);
	nm_vec_free(&c->rings);
	nm_vec_free(&c->announced);
}

static void check_header(const struct nm_consumer *c, struct ring *ring)
{
	struct nm_wire_ring *r = ring->shared;

	ring->pid = r->pid;
	ring->base = r->base;
	if (r->magic != NM_WIRE_MAGIC)
		snprintf(ring->fault, sizeof ring->fault, "it is not a ring");
	else if (r->version != NM_WIRE_VERSION)
		snprintf(ring->fault, sizeof ring->fault, "its format version is %u, this program reads %u",
			 r->version, NM_WIRE_VERSION);
	else if (r->chunk_words != c->chunk_words || r->chunks != c->chunks)
		snprintf(ring->fault, sizeof ring->fault, "its geometry is not the one asked for");
	else if (!ring->pid || ring->pid > INT_MAX || ring->base % sizeof(uint64_t))
		snprintf(ring->fault, sizeof ring->fault, "its process or base is impossible");
}

/* 1 and ring->shared if a slot has the ring, 0 if it is still to come. */
static int map_ring(const struct nm_consumer *c, struct ring *ring, struct nm_error *err)
{
	while (ring->slot < c->slots && load_word(&c->control->slot[ring->slot].ring) != ring->number + 1)
		ring->slot++;
	if (ring->slot == c->slots)
		return 0;
	ring->shared = mmap(NULL, c->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd,
			    (off_t)nm_wire_slot_offset(ring->slot, c->chunk_words, c->chunks));
	return ring->shared == MAP_FAILED ? nm_fail_errno(err, "cannot map a ring") : 1;
}

/* The process has replaced its own image: whatever ring it had before is no longer written. */
static void retire_older(struct nm_consumer *c, uint32_t pid)
{
	for (size_t i = 0; i < c->rings.count; i++)
		if (c->rings.at[i].pid == pid && !c->rings.at[i].ended) {
			c->rings.at[i].ended = 1;
			c->rings.at[i].end = NM_END_REPLACED;
		}
}

/* 1 if the ring of that number is in c->rings now. */
static int adopt_ring(struct nm_consumer *c, uint32_t number, struct nm_error *err)
{
	struct ring ring = {.number = number, .pidfd = -1};
	int status;

	if (nm_vec_reserve(&c->rings, 1))
		return nm_fail_memory(err);
	status = map_ring(c, &ring, err);
	if (status <= 0)
		return status;
	check_header(c, &ring);
	if (!ring.fault[0]) {
		retire_older(c, ring.pid);
		ring.pidfd = (int)syscall(SYS_pidfd_open, (pid_t)ring.pid, 0);
		if (ring.pidfd < 0 && errno == ESRCH) {
			ring.ended = ring.unknown = 1;
			ring.end = NM_END_BROKEN;
		}
	}
	if (c->detached)
		ring_detach(&ring);
	c->rings.at[c->rings.count++] = ring;
	return 1;
}

int rings_find(struct nm_consumer *c, struct nm_error *err)
{
	uint32_t rings = load_word(&c->control->rings);
	size_t kept = 0;

	if (rings - c->known > MAX_ANNOUNCED)
		return nm_fail(err, NM_EFORMAT, "producers claim to have made %u rings", rings);
	for (; c->known != rings; c->known++)
		if (nm_vec_push(&c->announced, (struct announced){c->known, nm_now_ms()}))
			return nm_fail_memory(err);
	for (size_t i = 0; i < c->announced.count; i++) {
		int status = adopt_ring(c, c->announced.at[i].number, err);

		if (status < 0) {
			memmove(c->announced.at + kept, c->announced.at + i + 1,
				(c->announced.count - i - 1) * sizeof *c->announced.at);
			c->announced.count -= i + 1 - kept;
			return status;
		}
		if (!status)
			c->announced.at[kept++] = c->announced.at[i];
	}
	c->announced.count = kept;
	return 0;
}

size_t rings_expected(const struct nm_consumer *c)
{
	size_t expected = load_word(&c->control->rings) - c->known;

	for (size_t i = 0; i < c->announced.count; i++)
		expected += nm_now_ms() - c->announced.at[i].since < PATIENCE_MS;
	return expected;
}

void rings_find_dead(struct nm_consumer *c)
{
	const double now = nm_now_ms();

	if (now - c->checked_at < TICK_MS)
		return;
	c->checked_at = now;
	for (size_t i = 0; i < c->rings.count; i++) {
		struct ring *ring = &c->rings.at[i];
		struct pollfd p = {.fd = ring->pidfd, .events = POLLIN};

		if (ring->ended || ring->fault[0])
			continue;
		if (ring->pidfd >= 0 ? poll(&p, 1, 0) > 0 : kill((pid_t)ring->pid, 0) && errno == ESRCH) {
			ring->ended = 1;
			ring->end = NM_END_BROKEN;
		}
	}
}
