/* SPDX-License-Identifier: MIT
 *
 * Each thread that is watched has an event on each processor; all events of a processor write into its one
 * buffer. Bytes are moved as they are; of records only the heads are read, to count what is told to be lost.
 */
#include "rings.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vector.h"

enum {
	LEAST_RING = 1 << 16, /* bytes */
	MOST_RING = 1 << 23,
	MOST_ALL = 1 << 27 /* of all processors */
};

struct ring {
	int fd; /* of the event that owns the buffer; -1: there is none yet */
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	size_t bytes;
};

struct watched {
	int fd, leader; /* leader: -1 or a file descriptor */
};

struct nm_rings {
	struct nm_sampled_event event;
	struct nm_vec(struct ring) rings; /* by processor */
	struct nm_vec(struct watched) watched;
	struct nm_vec(struct pollfd) polled; /* those that have not ended first */
	size_t running;                      /* of `polled` */
	size_t bytes;                        /* of a ring; less where the kernel permits no more */
	uint64_t told;
};

/* That users without privileges may share with the kernel, for each processor. */
static size_t permitted_bytes(void)
{
	FILE *in = geteuid() ? fopen("/proc/sys/kernel/perf_event_mlock_kb", "re") : NULL;
	size_t kilobytes;

	if (!in || fscanf(in, "%zu", &kilobytes) != 1)
		kilobytes = MOST_RING >> 10;
	if (in)
		fclose(in);
	return kilobytes << 10;
}

int nm_rings_new(struct nm_rings **ret, const struct nm_sampled_event *event, struct nm_error *err)
{
	const long processors = sysconf(_SC_NPROCESSORS_CONF);
	struct nm_rings *rings = calloc(1, sizeof *rings);

	if (!rings)
		return nm_fail_memory(err);
	rings->event = *event;
	for (long i = 0; i < processors; i++)
		if (nm_vec_push(&rings->rings, (struct ring){.fd = -1})) {
			nm_rings_free(rings);
			return nm_fail_memory(err);
		}
	rings->bytes = MOST_RING;
	while (rings->bytes > LEAST_RING &&
	       (rings->bytes > permitted_bytes() || rings->bytes * (size_t)processors > MOST_ALL))
		rings->bytes /= 2;
	*ret = rings;
	return 0;
}

void nm_rings_free(struct nm_rings *rings)
{
	if (!rings)
		return;
	for (size_t i = 0; i < rings->rings.count; i++)
		if (rings->rings.at[i].page)
			munmap(rings->rings.at[i].page,
			       rings->rings.at[i].bytes + (size_t)sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < rings->watched.count; i++) {
		close(rings->watched.at[i].fd);
		if (rings->watched.at[i].leader >= 0)
			close(rings->watched.at[i].leader);
	}
	nm_vec_free(&rings->rings);
	nm_vec_free(&rings->watched);
	nm_vec_free(&rings->polled);
	free(rings);
}

/* ---- watching ----------------------------------------------------------------------------------- */

/* The buffer of an event, as large as the kernel permits. 0 or -1 (errno). */
static int map_ring(struct nm_rings *rings, struct ring *ring, int fd)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at;

	while ((at = mmap(NULL, rings->bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) ==
	       MAP_FAILED) {
		if (rings->bytes <= LEAST_RING || (errno != EPERM && errno != ENOMEM))
			return -1;
		rings->bytes /= 2;
	}
	ring->page = at;
	ring->data = (const uint8_t *)at + page;
	ring->bytes = rings->bytes;
	ring->fd = fd;
	return 0;
}

static int add_ring(struct nm_rings *rings, struct watched w, int processor, struct nm_error *err)
{
	struct ring *ring = &rings->rings.at[processor];

	assert(processor >= 0 && (size_t)processor < rings->rings.count);
	if (nm_vec_push(&rings->watched, w)) {
		close(w.fd);
		return nm_fail_memory(err);
	}
	if (ring->fd < 0 ? map_ring(rings, ring, w.fd) : ioctl(w.fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd))
		return nm_fail_errno(err, "cannot share memory with the kernel for samples");
	return nm_vec_push(&rings->polled, ((struct pollfd){.fd = w.fd, .events = POLLIN}))
		   ? nm_fail_memory(err)
		   : 0;
}

/* A processor may be switched off, or be of a kind that does not have the event. */
int nm_rings_watch(struct nm_rings *rings, pid_t thread, int now, struct nm_error *err)
{
	struct perf_event_attr attr = rings->event.attr;
	size_t opened = 0;

	attr.disabled = attr.enable_on_exec = !now;
	attr.watermark = 1;
	attr.wakeup_watermark = (uint32_t)(rings->bytes / 8);
	for (size_t i = 0; i < rings->rings.count; i++) {
		struct watched w = {.leader = -1};
		int status;

		if (rings->event.has_leader)
			w.leader = nm_perf_event_open(&rings->event.leader, thread, (int)i, -1);
		w.fd = nm_perf_event_open(&attr, thread, (int)i, w.leader);
		if (w.fd < 0) {
			const int error = errno;

			if (w.leader >= 0)
				close(w.leader);
			errno = error;
			if (error == ENODEV || error == ENXIO || error == ENOENT)
				continue;
			if (error == ESRCH)
				return nm_fail(err, NM_ENOENT, "there is no thread %d", (int)thread);
			return nm_fail_errno(err, "cannot sample %s on processor %zu", rings->event.name, i);
		}
		status = add_ring(rings, w, (int)i, err);
		if (status)
			return status;
		opened++;
	}
	rings->running = rings->polled.count;
	return opened ? 0 : nm_fail_errno(err, "cannot sample %s on any processor", rings->event.name);
}

/* ---- reading ------------------------------------------------------------------------------------ */

int nm_rings_wait(struct nm_rings *rings, int ms)
{
	if (poll(rings->polled.at, rings->running, ms) <= 0)
		return !rings->running;
	for (size_t i = 0; i < rings->running;) {
		if (rings->polled.at[i].revents & (POLLHUP | POLLERR))
			rings->polled.at[i] = rings->polled.at[--rings->running];
		else
			i++;
	}
	return !rings->running;
}

/* A byte's place in the buffer, and how many follow until its end. */
static const uint8_t *at_offset(const struct ring *ring, uint64_t offset, size_t *ret_rest)
{
	const size_t place = offset & (ring->bytes - 1);

	*ret_rest = ring->bytes - place;
	return ring->data + place;
}

/* Records begin at multiples of 8 bytes, so no head and no number is split by the buffer's end. */
static uint64_t told_lost(const struct ring *ring, uint64_t from, uint64_t to)
{
	enum { HEAD = 8 };
	uint64_t lost = 0, told;
	size_t rest;

	while (from < to) {
		struct perf_event_header head;

		memcpy(&head, at_offset(ring, from, &rest), HEAD);
		if (head.size < HEAD) /* the kernel writes none */
			break;
		if (head.type == PERF_RECORD_LOST) {
			memcpy(&told, at_offset(ring, from + HEAD + 8, &rest), sizeof told);
			lost += told;
		}
		from += head.size;
	}
	return lost;
}

static int drain_one(struct nm_rings *rings, struct ring *ring, FILE *out)
{
	const uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE),
		       tail = ring->page->data_tail;

	rings->told += told_lost(ring, tail, head);
	for (uint64_t at = tail; at < head;) {
		size_t rest;
		const uint8_t *bytes = at_offset(ring, at, &rest);
		const size_t n = head - at < rest ? (size_t)(head - at) : rest;

		if (fwrite(bytes, 1, n, out) != n)
			return -1;
		at += n;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
	return 0;
}

int nm_rings_drain(struct nm_rings *rings, FILE *out)
{
	for (size_t i = 0; i < rings->rings.count; i++)
		if (rings->rings.at[i].page && drain_one(rings, &rings->rings.at[i], out))
			return -1;
	return 0;
}

uint64_t nm_rings_untold(const struct nm_rings *rings)
{
	uint64_t lost = 0, counts[2];

	if (!rings->event.attr.read_format) /* an older kernel does not say */
		return 0;
	for (size_t i = 0; i < rings->watched.count; i++)
		if (read(rings->watched.at[i].fd, counts, sizeof counts) == sizeof counts)
			lost += counts[1];
	return lost > rings->told ? lost - rings->told : 0;
}
