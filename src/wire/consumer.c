/* SPDX-License-Identifier: MIT
 *
 * The other side is another process, which may be killed, stopped or wrong at any instruction. So
 * every shared word is read once, with an atomic load, and checked before it is used; geometry is what we
 * chose ourselves, never what the ring says; nothing here waits for a producer except
 * on the doorbell, for at most TICK_MS at a time.
 *
 * Ordering. Producer: words, used[], head (release). Consumer: head (acquire), used[], words, and later tail
 * (release), which the producer reads (acquire) before it overwrites the chunk. Against lost wake-ups both
 * sides store their own word, then load the other's, all sequentially consistent: we set consumer_waits and
 * look at the heads again before sleeping, a producer moves head and then looks at consumer_waits; a producer
 * sets producer_waits and looks at tail again, we move tail and then look at producer_waits.
 *
 * A producer that waits is woken when half of its chunks are free, so that the two do not take turns chunk by
 * chunk.
 */
#include "consumer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "consumer_priv.h"
#include "files.h"

enum { ENOUGH_SLOTS = 64, SMALL_CHUNK_WORDS = 8192 };

/* ---- Making and freeing ------------------------------------------------------------------ */

/* As many slots as the limit on file sizes allows. The limit is that of the process that makes the file, so
 * producers may have a lower one. A soft limit is ours to raise. */
static uint64_t largest_file(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit))
		return UINT64_MAX;
	return limit.rlim_max == RLIM_INFINITY ? UINT64_MAX : limit.rlim_max;
}

static uint32_t slots_within(uint64_t bytes, uint32_t chunk_words, uint32_t chunks)
{
	uint64_t slots;

	if (bytes < NM_WIRE_CONTROL_BYTES)
		return 0;
	slots = (bytes - NM_WIRE_CONTROL_BYTES) / nm_wire_ring_bytes(chunk_words, chunks);
	return slots < NM_WIRE_MAX_SLOTS ? (uint32_t)slots : NM_WIRE_MAX_SLOTS;
}

/* Chooses the geometry: smaller rings rather than few. */
static int choose_geometry(struct nm_consumer *c, uint32_t chunk_words, uint32_t chunks, struct nm_error *err)
{
	const uint64_t bytes = largest_file();

	while (slots_within(bytes, chunk_words, chunks) < ENOUGH_SLOTS && chunks > 2)
		chunks /= 2;
	while (slots_within(bytes, chunk_words, chunks) < ENOUGH_SLOTS && chunk_words > SMALL_CHUNK_WORDS)
		chunk_words /= 2;
	c->chunk_words = chunk_words;
	c->chunks = chunks;
	c->slots = slots_within(bytes, chunk_words, chunks);
	c->ring_bytes = nm_wire_ring_bytes(chunk_words, chunks);
	return c->slots
		   ? 0
		   : nm_fail(err, NM_EIO, "the limit on file sizes (ulimit -f) leaves no room for a ring");
}

/* Makes the file as large as it will ever be; its memory is taken slot by slot. */
static int size_file(const struct nm_consumer *c, struct nm_error *err)
{
	const uint64_t bytes = nm_wire_slot_offset(c->slots, c->chunk_words, c->chunks);
	struct rlimit limit, raised;
	int status = 0, limited = !getrlimit(RLIMIT_FSIZE, &limit);

	raised = (struct rlimit){limit.rlim_max, limit.rlim_max};
	if (limited)
		setrlimit(RLIMIT_FSIZE, &raised);
	if (ftruncate(c->fd, (off_t)bytes) || fallocate(c->fd, 0, 0, NM_WIRE_CONTROL_BYTES))
		status = nm_fail_errno(err, "no memory can be shared with the collector");
	if (limited)
		setrlimit(RLIMIT_FSIZE, &limit);
	return status;
}

static int map_control(struct nm_consumer *c, struct nm_error *err)
{
	struct flock alive = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

	c->control = mmap(NULL, NM_WIRE_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (c->control == MAP_FAILED) {
		c->control = NULL;
		return nm_fail_errno(err, "cannot map the memory that is shared with the collector");
	}
	if (fcntl(c->fd, F_SETLK, &alive))
		return nm_fail_errno(err, "cannot lock the memory that is shared with the collector");
	c->control->version = NM_WIRE_VERSION;
	c->control->chunk_words = c->chunk_words;
	c->control->chunks = c->chunks;
	c->control->slots = c->slots;
	__atomic_store_n(&c->control->magic, NM_WIRE_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

int nm_consumer_new(struct nm_consumer **ret, uint32_t chunk_words, uint32_t chunks, struct nm_error *err)
{
	struct nm_consumer *c;
	int status;

	if (chunk_words < NM_CONSUMER_MIN_CHUNK_WORDS || chunk_words > NM_CONSUMER_MAX_CHUNK_WORDS)
		return nm_fail(err, NM_EINVAL, "a chunk of %u words is not possible", chunk_words);
	if (chunks < 2 || chunks > NM_WIRE_MAX_CHUNKS || (chunks & (chunks - 1)))
		return nm_fail(err, NM_EINVAL, "a ring of %u chunks is not possible", chunks);
	c = calloc(1, sizeof *c);
	if (!c)
		return nm_fail_memory(err);
	c->fd = -1;
	status = choose_geometry(c, chunk_words, chunks, err);
	if (!status)
		status = nm_memory_file(&c->fd, "nearmiss", err);
	if (!status)
		status = size_file(c, err);
	if (!status)
		status = map_control(c, err);
	if (status) {
		nm_consumer_free(c);
		return status;
	}
	*ret = c;
	return 0;
}

void nm_consumer_keep_order(struct nm_consumer *c) { c->keeps_order = 1; }

int nm_consumer_fd(const struct nm_consumer *c) { return c->fd; }

void nm_consumer_hold_new(struct nm_consumer *c, int hold) { c->holds_new = hold; }

static int is_held(const struct nm_consumer *c, const struct ring *ring)
{
	return c->holds_new && !c->starts_one && !ring->taken;
}

static int has_published(const struct ring *ring)
{
	return !ring->fault[0] && !ring->rest_taken && load_word(&ring->shared->head) != ring->taken;
}

size_t nm_consumer_started(const struct nm_consumer *c)
{
	size_t started = 0;

	for (size_t i = 0; i < c->rings.count; i++)
		started += c->rings.at[i].taken > 0;
	return started;
}

int nm_consumer_start_one(struct nm_consumer *c)
{
	c->starts_one = c->holds_new && nm_consumer_started(c) < c->rings.count;
	return c->starts_one;
}

size_t nm_consumer_live(const struct nm_consumer *c) { return c->rings.count + rings_expected(c); }

size_t nm_consumer_draining(const struct nm_consumer *c)
{
	size_t draining = 0;

	for (size_t i = 0; i < c->rings.count; i++) {
		const struct ring *ring = &c->rings.at[i];

		draining += ring->ended || acquire_word(&ring->shared->state) == NM_WIRE_RING_CLOSED;
	}
	return draining;
}

void nm_consumer_mark(struct nm_consumer *c)
{
	for (size_t i = 0; i < c->rings.count; i++)
		c->rings.at[i].mark = load_word(&c->rings.at[i].shared->head);
}

int nm_consumer_passed_mark(const struct nm_consumer *c)
{
	for (size_t i = 0; i < c->rings.count; i++) {
		const struct ring *ring = &c->rings.at[i];

		if (has_published(ring) && !is_held(c, ring) && (int32_t)(ring->mark - ring->taken) > 0)
			return 0;
	}
	return 1;
}

uint32_t nm_consumer_unobserved(const struct nm_consumer *c) { return load_word(&c->control->unobserved); }

void nm_consumer_detach_all(struct nm_consumer *c)
{
	struct flock gone = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};

	c->detached = 1;
	for (size_t i = 0; i < c->rings.count; i++)
		ring_detach(&c->rings.at[i]);
	fcntl(c->fd, F_SETLK, &gone); /* tells those whose rings were not found yet */
}

void nm_consumer_free(struct nm_consumer *c)
{
	if (!c)
		return;
	rings_done(c);
	if (c->control)
		munmap(c->control, NM_WIRE_CONTROL_BYTES);
	if (c->fd >= 0)
		close(c->fd); /* which unlocks it */
	free(c);
}

/* ---- Taking chunks ----------------------------------------------------------------------- */

/* In the ring file: of the next chunk to be taken. */
static uint64_t next_offset(const struct nm_consumer *c, const struct ring *ring)
{
	return NM_WIRE_RING_DATA + (uint64_t)(ring->taken % c->chunks) * c->chunk_words * sizeof(uint64_t);
}

static uint64_t *next_chunk(const struct nm_consumer *c, const struct ring *ring)
{
	return (uint64_t *)((char *)ring->shared + next_offset(c, ring));
}

/* What of the next chunk's words was not skipped. */
static struct nm_chunk words_of(const struct nm_consumer *c, const struct ring *ring, size_t count)
{
	assert(count >= ring->early && count <= c->chunk_words);
	return (struct nm_chunk){.kind = NM_CHUNK_DATA,
				 .ring = ring->number,
				 .pid = ring->pid,
				 .words = next_chunk(c, ring) + ring->early,
				 .count = count - ring->early};
}

static void fill_chunk(const struct nm_consumer *c, struct ring *ring, size_t count, struct nm_chunk *ret)
{
	*ret = words_of(c, ring, count);
	ring->early = 0;
	ring->taken++;
}

/* 1 if a published chunk was taken. */
static int take_published(struct nm_consumer *c, struct ring *ring, struct nm_chunk *ret)
{
	uint32_t head = load_word(&ring->shared->head);
	uint32_t used;

	if (head == ring->taken)
		return 0;
	if (head - ring->released > c->chunks) {
		snprintf(ring->fault, sizeof ring->fault, "it claims to hold more chunks than it has");
		return 0;
	}
	used = acquire_word(&ring->shared->used[ring->taken % c->chunks]);
	if (used > c->chunk_words || used < ring->early) {
		snprintf(ring->fault, sizeof ring->fault, "it claims %u words in a chunk of %u", used,
			 c->chunk_words);
		return 0;
	}
	fill_chunk(c, ring, used, ret);
	return 1;
}

/* How many words lie before the cursor, if it lies in the chunk that starts there. */
static size_t words_before_cursor(const struct nm_consumer *c, const struct ring *ring, uint64_t start)
{
	uint64_t cursor = __atomic_load_n(&ring->shared->cursor, __ATOMIC_ACQUIRE) - ring->base;
	uint64_t bytes = cursor - start;

	if (cursor % sizeof(uint64_t) || cursor < start || bytes > c->chunk_words * sizeof(uint64_t))
		return 0;
	return bytes / sizeof(uint64_t);
}

/* 1 if the dead producer had written into its next chunk, and that was taken. If the cursor lies in another
 * chunk, the producer died between publishing one chunk and entering the next. */
static int take_rest(struct nm_consumer *c, struct ring *ring, struct nm_chunk *ret)
{
	size_t words = words_before_cursor(c, ring, next_offset(c, ring));

	ring->rest_taken = 1;
	if (words <= ring->early)
		return 0;
	fill_chunk(c, ring, words, ret);
	return 1;
}

/* 1 if the dead producer had not sent yet what it had run, and that was taken: in a chunk that is free. */
static int take_ran(struct nm_consumer *c, struct ring *ring, struct nm_chunk *ret)
{
	uint64_t ran = __atomic_load_n(&ring->shared->ran, __ATOMIC_ACQUIRE), *words = next_chunk(c, ring);

	ring->ran_taken = 1;
	ring->early = 0; /* all of the rest was skipped */
	if (!ran)
		return 0;
	words[0] = nm_wire_header(NM_WIRE_RAN, 0, 1);
	words[1] = ran;
	fill_chunk(c, ring, 2, ret);
	return 1;
}

size_t nm_consumer_rings(const struct nm_consumer *c) { return c->rings.count; }

int nm_consumer_peek(const struct nm_consumer *c, size_t i, struct nm_chunk *ret, uint64_t *ret_ran)
{
	const struct ring *ring = &c->rings.at[i];
	size_t words;

	assert(i < c->rings.count);
	if (ring->fault[0] || ring->rest_taken || has_published(ring) || is_held(c, ring) ||
	    ring->taken - ring->released == c->chunks)
		return 0;
	words = words_before_cursor(c, ring, next_offset(c, ring));
	*ret = words_of(c, ring, words > ring->early ? words : ring->early);
	*ret_ran = __atomic_load_n(&ring->shared->ran, __ATOMIC_ACQUIRE);
	return ret->count || *ret_ran;
}

void nm_consumer_skip(struct nm_consumer *c, size_t i, size_t count)
{
	assert(i < c->rings.count && c->rings.at[i].early + count <= c->chunk_words);
	c->rings.at[i].early += count;
}

static void take_end(struct nm_consumer *c, struct ring *ring, struct nm_chunk *ret)
{
	*ret = (struct nm_chunk){.kind = NM_CHUNK_END, .ring = ring->number, .pid = ring->pid};
	if (ring->fault[0]) {
		ret->end = NM_END_DAMAGED;
		memcpy(c->fault, ring->fault, sizeof c->fault);
		ret->fault = c->fault;
	} else if (acquire_word(&ring->shared->state) == NM_WIRE_RING_CLOSED)
		ret->end = NM_END_CLOSED;
	else
		ret->end = ring->end;
	ring_done(c, ring);
}

/* 0: nothing to give now. 1: a chunk. 2: the end, and *ring is no more. */
static int take_chunk(struct nm_consumer *c, struct ring *ring, struct nm_chunk *ret)
{
	if (!ring->fault[0] && !ring->rest_taken) {
		int closed = acquire_word(&ring->shared->state) == NM_WIRE_RING_CLOSED;

		if (take_published(c, ring, ret))
			return 1;
		if (!ring->fault[0]) {
			if (!closed && !ring->ended)
				return 0;
			if (!closed && take_rest(c, ring, ret))
				return 1;
			ring->rest_taken = 1;
			ring->ran_taken = closed;
		}
	}
	if (!ring->fault[0] && !ring->ran_taken && ring->taken - ring->released < c->chunks &&
	    take_ran(c, ring, ret))
		return 1;
	if (ring->taken != ring->released)
		return 0;
	take_end(c, ring, ret);
	return 2;
}

/* The ring at an index may have something: 1 if it was taken. */
static int take_at(struct nm_consumer *c, size_t at, struct nm_chunk *ret)
{
	const int is_new = !c->rings.at[at].taken;
	int taken = is_held(c, &c->rings.at[at]) ? 0 : take_chunk(c, &c->rings.at[at], ret);

	c->starts_one &= !(taken && is_new);
	c->next_ring = at + 1;
	if (taken == 2) {
		c->rings.count--;
		memmove(c->rings.at + at, c->rings.at + at + 1, (c->rings.count - at) * sizeof *c->rings.at);
		c->next_ring = at;
	}
	return taken > 0;
}

/* The ring whose next chunk was published first; the number of rings: none has one. */
static size_t find_first(const struct nm_consumer *c)
{
	size_t first = c->rings.count;
	uint32_t least = 0;

	for (size_t i = 0; i < c->rings.count; i++) {
		const struct ring *ring = &c->rings.at[i];
		uint32_t order;

		if (is_held(c, ring) || !has_published(ring))
			continue;
		order = load_word(&ring->shared->order[ring->taken % c->chunks]);
		if (first == c->rings.count || (int32_t)(order - least) < 0) {
			first = i;
			least = order;
		}
	}
	return first;
}

/* Whether nothing but a rest and the end can come. */
static int is_over(const struct ring *ring)
{
	return (ring->fault[0] || ring->ended || acquire_word(&ring->shared->state) == NM_WIRE_RING_CLOSED) &&
	       !has_published(ring);
}

/* Takes the chunk that was published first. A chunk that we see was published after all on which it depends: so once
 * two searches find the same, no chunk on which it depends was missed. */
static int take_in_order(struct nm_consumer *c, struct nm_chunk *ret)
{
	size_t first, again = find_first(c);

	do
		first = again;
	while ((again = find_first(c)) != first);
	for (size_t i = 0; i < c->rings.count; i++)
		if (is_over(&c->rings.at[i]) && take_at(c, i, ret))
			return 1;
	return first < c->rings.count && take_at(c, first, ret);
}

static int take_any(struct nm_consumer *c, struct nm_chunk *ret)
{
	if (c->keeps_order)
		return take_in_order(c, ret);
	for (size_t n = c->rings.count; n > 0; n--) {
		size_t at = c->next_ring < c->rings.count ? c->next_ring : 0;

		if (take_at(c, at, ret))
			return 1;
	}
	return 0;
}

/* ---- Sleeping ---------------------------------------------------------------------------- */

static int anything_new(const struct nm_consumer *c)
{
	if (load_word(&c->control->rings) != c->known)
		return 1;
	for (size_t i = 0; i < c->rings.count; i++) {
		const struct ring *ring = &c->rings.at[i];

		/* A ring that was read to its end waits for its chunks to be released: no news. */
		if (!ring->fault[0] && !ring->rest_taken && !is_held(c, ring) &&
		    (has_published(ring) || load_word(&ring->shared->state) == NM_WIRE_RING_CLOSED))
			return 1;
	}
	return 0;
}

/* 1 if a signal came. */
static int sleep_ms(struct nm_consumer *c, int ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	uint32_t seen = load_word(&c->control->doorbell);
	int signalled = 0;

	store_word(&c->control->consumer_waits, 1);
	if (!anything_new(c))
		signalled = syscall(SYS_futex, &c->control->doorbell, FUTEX_WAIT, seen, &t, NULL, 0) &&
			    errno == EINTR;
	store_word(&c->control->consumer_waits, 0);
	return signalled;
}

int nm_consumer_next(struct nm_consumer *c, int timeout_ms, struct nm_chunk *ret, struct nm_error *err)
{
	const double start = nm_now_ms();

	for (;;) {
		int status = rings_find(c, err);
		double left;

		if (status)
			return status;
		rings_find_dead(c);
		if (take_any(c, ret))
			return 1;
		left = timeout_ms < 0 ? TICK_MS : start + timeout_ms - nm_now_ms();
		if (left <= 0 || sleep_ms(c, left < TICK_MS ? (int)left + 1 : TICK_MS))
			return 0;
	}
}

/* ---- Giving chunks back ------------------------------------------------------------------ */

/* Whether a producer waits, and for a while will have no reason to wait again. */
static int is_to_be_woken(const struct nm_consumer *c, const struct ring *ring)
{
	return load_word(&ring->shared->producer_waits) &&
	       acquire_word(&ring->shared->head) - ring->released <= c->chunks / 2;
}

static void release_ring(struct nm_consumer *c, struct ring *ring)
{
	assert(ring->released != ring->taken); /* a chunk is given back once */
	ring->released++;
	store_word(&ring->shared->tail, ring->released);
	if (is_to_be_woken(c, ring))
		wake_waiters(&ring->shared->tail);
}

void nm_consumer_release(struct nm_consumer *c, const struct nm_chunk *chunk)
{
	if (chunk->kind != NM_CHUNK_DATA)
		return;
	for (size_t i = 0; i < c->rings.count; i++)
		if (c->rings.at[i].number == chunk->ring) {
			release_ring(c, &c->rings.at[i]);
			return;
		}
}
