/* SPDX-License-Identifier: MIT
 *
 * rings.c - finds the rings that producers announce, and which producers are dead.
 *
 * A dead producer is noticed through a pidfd: kill(pid, 0) would take a zombie for alive, and reads of
 * /proc cost more.  kill() remains the fall-back where pidfd_open is forbidden.
 *
 * A ring file is unlinked as soon as it is mapped, so a crash of ours leaves at most the control file.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "consumer_priv.h"

enum {
	PATIENCE_MS = 5000, /* for a ring that was announced to appear, before we count it as lost */
	MAX_ANNOUNCED = 1 << 16
};

static void file_name(char name[32], uint32_t number) { snprintf(name, 32, "ring.%u", number); }

void nm_ring_detach(struct ring *ring)
{
	set(&ring->shared->detached, 1);
	wake(&ring->shared->tail);
}

void nm_ring_done(struct nm_consumer *c, struct ring *ring)
{
	nm_ring_detach(ring);
	munmap(ring->shared, c->ring_bytes);
	if (ring->pidfd >= 0)
		close(ring->pidfd);
}

void nm_rings_done(struct nm_consumer *c)
{
	for (size_t i = 0; i < c->rings.count; i++)
		nm_ring_done(c, &c->rings.at[i]);
	for (size_t i = 0; i < c->announced.count; i++) {
		char name[32];

		file_name(name, c->announced.at[i].number);
		unlinkat(c->dir, name, 0);
	}
	nm_vec_free(&c->rings);
	nm_vec_free(&c->announced);
}

static void check_header(const struct nm_consumer *c, struct ring *ring)
{
	struct nm_wire_ring *s = ring->shared;

	ring->pid = s->pid;
	ring->base = s->base;
	if (s->magic != NM_WIRE_MAGIC)
		snprintf(ring->fault, sizeof ring->fault, "it is not a ring");
	else if (s->version != NM_WIRE_VERSION)
		snprintf(ring->fault, sizeof ring->fault, "its format version is %u, this program reads %u",
			 s->version, NM_WIRE_VERSION);
	else if (s->chunk_words != c->chunk_words || s->chunks != c->chunks)
		snprintf(ring->fault, sizeof ring->fault, "its geometry is not the one asked for");
	else if (!ring->pid || ring->pid > INT_MAX || ring->base % sizeof(uint64_t))
		snprintf(ring->fault, sizeof ring->fault, "its process or base is impossible");
}

/* 1 and ring->shared if the file is there and complete, 0 if it is still to come. */
static int map_ring(struct nm_consumer *c, struct ring *ring, struct nm_error *err)
{
	struct nm_wire_ring *shared;
	struct stat st;
	char name[32];
	int fd;

	file_name(name, ring->number);
	fd = openat(c->dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : nm_fail_errno(err, "cannot open %s", name);
	if (fstat(fd, &st) || (size_t)st.st_size < c->ring_bytes) {
		close(fd);
		return 0;
	}
	shared = mmap(NULL, c->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shared == MAP_FAILED)
		return nm_fail_errno(err, "cannot map %s", name);
	if (!__atomic_load_n(&shared->magic, __ATOMIC_ACQUIRE)) { /* the producer stores it last */
		munmap(shared, c->ring_bytes);
		return 0;
	}
	unlinkat(c->dir, name, 0);
	ring->shared = shared;
	return 1;
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
static int adopt(struct nm_consumer *c, uint32_t number, struct nm_error *err)
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
			ring.ended = 1;
			ring.end = NM_END_BROKEN;
		}
	}
	if (c->detached)
		nm_ring_detach(&ring);
	c->rings.at[c->rings.count++] = ring;
	return 1;
}

int nm_rings_find(struct nm_consumer *c, struct nm_error *err)
{
	uint32_t rings = look(&c->control->rings);
	size_t kept = 0;

	if (rings - c->known > MAX_ANNOUNCED)
		return nm_fail(err, NM_EFORMAT, "the control file claims %u rings", rings);
	for (; c->known != rings; c->known++)
		if (nm_vec_push(&c->announced, (struct announced){c->known, now_ms()}))
			return nm_fail_memory(err);
	for (size_t i = 0; i < c->announced.count; i++) {
		int status = adopt(c, c->announced.at[i].number, err);

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

size_t nm_consumer_live(const struct nm_consumer *c)
{
	size_t live = c->rings.count + (look(&c->control->rings) - c->known);

	for (size_t i = 0; i < c->announced.count; i++)
		live += now_ms() - c->announced.at[i].since < PATIENCE_MS;
	return live;
}

void nm_rings_find_dead(struct nm_consumer *c)
{
	int64_t now = now_ms();

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
