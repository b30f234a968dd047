/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * ring.c - the write end of the shared-memory ring that wire.h describes.
 *
 * The ring of the running process always lies at the same address, in a page-aligned hole of the tool's
 * own image: translated code has the addresses of `cursor` and `limit` built in, and a forked child maps
 * its new ring over its parent's, so that all translations stay valid. `limit` lies NM_MARGIN_WORDS
 * before the end of the chunk; translated code checks it once per superblock, records written from C
 * check the real end.
 *
 * The producer waits for the consumer on a futex with a timeout, because the consumer may die. If it does, or
 * if it sets `detached`, the stream is discarded: writing continues in private memory and the program runs
 * on. The same happens if no ring becomes free for a long time; control->unobserved counts such processes.
 *
 * The consumer's file is open under a number that the program cannot reach (descriptors.c), so a process
 * needs no path, no permission and no file size of its own to open a ring.
 */
#include "tool.h"

#include "libvex_guest_amd64.h"

#define AREA_BYTES (64u << 20)
#define PATIENCE_SECONDS 1 /* after which we look whether the consumer is alive */
#define MAX_WAITS 10       /* of PATIENCE_SECONDS, for a slot */
#define NO_SLOT NM_WIRE_MAX_SLOTS
#define RAN_WORDS 2

static _Alignas(4096) UChar area[AREA_BYTES];
static _Alignas(4096) UChar control_area[NM_WIRE_CONTROL_BYTES];

static struct nm_wire_ring *const ring = (struct nm_wire_ring *)area;
static struct nm_wire_control *const control = (struct nm_wire_control *)control_area;

static Bool detached;
static Int file;      /* the consumer's; negative: none */
static ULong *record; /* header of the record being made */
static ULong *record_end;
static ULong *start;     /* of the chunk being written */
static ULong *chunk_end; /* behind it is room for a RAN record */

Addr nm_ring_cursor_address(void) { return (Addr)&ring->cursor; }
Addr nm_ring_limit_address(void) { return (Addr)&ring->limit; }
Addr nm_ring_ran_address(void) { return (Addr)&ring->ran; }

static ULong *chunk_start(UInt index)
{
	return (ULong *)(area + NM_WIRE_RING_DATA) + (SizeT)(index % ring->chunks) * ring->chunk_words;
}

static void begin_chunk(void)
{
	start = chunk_start(ring->head);
	chunk_end = start + ring->chunk_words - RAN_WORDS;
	ring->limit = (Addr)(chunk_end - NM_MARGIN_WORDS);
	__atomic_store_n(&ring->cursor, (Addr)start, __ATOMIC_RELEASE);
}

/* Linux constants that Valgrind's headers lack. MAP_POPULATE avoids a thousand page faults. */
enum { MAP_POPULATE_ = 0x8000, F_WRLCK_ = 1, F_UNLCK_ = 2, EOPNOTSUPP_ = 95 };

static Bool map_over(void *where, ULong offset, SizeT bytes)
{
	return nm_syscall(__NR_mmap, (long)where, (long)bytes, VKI_PROT_READ | VKI_PROT_WRITE,
			  VKI_MAP_SHARED | VKI_MAP_FIXED | MAP_POPULATE_, file, (long)offset) == (long)where;
}

/* Sets up a ring that nobody reads. */
static void open_private(void)
{
	nm_syscall(__NR_mmap, (long)area, AREA_BYTES, VKI_PROT_READ | VKI_PROT_WRITE,
		   VKI_MAP_PRIVATE | VKI_MAP_FIXED | VKI_MAP_ANONYMOUS, -1, 0);
	detached = True;
	ring->chunks = 1;
	ring->chunk_words = 8 * NM_MARGIN_WORDS;
	ring->head = 0;
	begin_chunk();
}

static Bool geometry_is_valid(void)
{
	return control->magic == NM_WIRE_MAGIC && control->version == NM_WIRE_VERSION &&
	       control->slots <= NM_WIRE_MAX_SLOTS && control->chunks >= 2 &&
	       control->chunks <= NM_WIRE_MAX_CHUNKS && control->chunk_words >= 4 * NM_MARGIN_WORDS &&
	       nm_wire_ring_bytes(control->chunk_words, control->chunks) <= AREA_BYTES;
}

static void ring_doorbell(void)
{
	if (!__atomic_load_n(&control->consumer_waits, __ATOMIC_SEQ_CST))
		return;
	__atomic_fetch_add(&control->doorbell, 1, __ATOMIC_SEQ_CST);
	nm_syscall(__NR_futex, (long)&control->doorbell, NM_FUTEX_WAKE, 1, 0, 0, 0);
}

static Bool consumer_is_gone(void)
{
	struct vki_flock lock = {.l_type = F_WRLCK_, .l_whence = VKI_SEEK_SET, .l_start = 0, .l_len = 1};

	/* The consumer holds a lock on the file as long as it lives. */
	return nm_syscall(__NR_fcntl, file, VKI_F_GETLK, (long)&lock, 0, 0, 0) == 0 &&
	       lock.l_type == F_UNLCK_;
}

/* Waits for the consumer, with a timeout. False: the consumer is gone. */
static Bool wait_on(UInt *word, UInt value)
{
	struct vki_timespec patience = {PATIENCE_SECONDS, 0};

	if (consumer_is_gone())
		return False;
	nm_syscall(__NR_futex, (long)word, NM_FUTEX_WAIT, value, (long)&patience, 0, 0);
	return True;
}

/* ---- Slots ---- */

/* Reserves memory before it is touched: a store without memory behind it would be fatal. */
static Bool map_slot(UInt i)
{
	const ULong offset = nm_wire_slot_offset(i, control->chunk_words, control->chunks);
	const SizeT bytes = nm_wire_ring_bytes(control->chunk_words, control->chunks);
	const long reserved = nm_syscall(__NR_fallocate, file, 0, (long)offset, (long)bytes, 0, 0);

	return (reserved == 0 || reserved == -EOPNOTSUPP_) && map_over(area, offset, bytes);
}

/* Returns the slot whose memory lies at `area` now, or NO_SLOT. */
static UInt try_slots(void)
{
	UInt i;

	for (i = 0; i < control->slots; i++) {
		UInt free = 0;

		if (!__atomic_compare_exchange_n(&control->slot[i].owner, &free, (UInt)VG_(getpid)(), False,
						 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			continue;
		if (map_slot(i))
			return i;
		__atomic_store_n(&control->slot[i].owner, 0, __ATOMIC_SEQ_CST);
		break; /* out of memory */
	}
	return NO_SLOT;
}

/* Waits until a slot may be free. Gives up if another process has timed out since the last slot was freed:
 * the processes that hold slots may all be waiting for those that have none. */
static UInt take_slot(void)
{
	UInt waits, slot, freed = 0;

	for (waits = 0; waits < MAX_WAITS; waits++) {
		freed = __atomic_load_n(&control->slots_freed, __ATOMIC_SEQ_CST);
		slot = try_slots();
		if (slot != NO_SLOT)
			return slot;
		if (__atomic_load_n(&control->stuck, __ATOMIC_SEQ_CST) == freed + 1)
			break;
		if (!wait_on(&control->slots_freed, freed))
			return NO_SLOT;
	}
	__atomic_store_n(&control->stuck, freed + 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&control->unobserved, 1, __ATOMIC_SEQ_CST);
	return NO_SLOT;
}

static void announce_ring(UInt slot)
{
	UInt number = __atomic_fetch_add(&control->rings, 1, __ATOMIC_SEQ_CST);

	__atomic_store_n(&control->slot[slot].ring, number + 1, __ATOMIC_SEQ_CST);
	ring_doorbell();
}

void nm_ring_open(Int shared_file)
{
	UInt slot;

	file = shared_file;
	if (!map_over(control_area, 0, sizeof control_area) || !geometry_is_valid() || consumer_is_gone() ||
	    (slot = take_slot()) == NO_SLOT) {
		open_private();
		return;
	}
	detached = False;
	ring->version = NM_WIRE_VERSION;
	ring->pid = (UInt)VG_(getpid)();
	ring->chunk_words = control->chunk_words;
	ring->chunks = control->chunks;
	ring->base = (Addr)area;
	begin_chunk();
	__atomic_store_n(&ring->magic, NM_WIRE_MAGIC, __ATOMIC_RELEASE);
	announce_ring(slot);
}

static Bool has_room(UInt *ret_tail)
{
	*ret_tail = __atomic_load_n(&ring->tail, __ATOMIC_SEQ_CST);
	return ring->head - *ret_tail < ring->chunks;
}

static void wait_for_room(void)
{
	UInt tail;

	if (has_room(&tail))
		return;
	__atomic_store_n(&ring->producer_waits, 1, __ATOMIC_SEQ_CST);
	while (!has_room(&tail) && !detached)
		if (__atomic_load_n(&ring->detached, __ATOMIC_ACQUIRE) || !wait_on(&ring->tail, tail))
			detached = True;
	__atomic_store_n(&ring->producer_waits, 0, __ATOMIC_SEQ_CST);
}

/* There is always room: space for records ends before it. */
static void write_ran(void)
{
	ULong *words = (ULong *)ring->cursor;

	if (ring->ran == 0)
		return;
	words[0] = nm_wire_header(NM_WIRE_RAN, 0, 1);
	words[1] = ring->ran;
	ring->ran = 0;
	ring->cursor = (Addr)(words + RAN_WORDS);
}

void nm_ring_publish(void)
{
	UInt used;

	write_ran();
	used = (UInt)((ULong *)ring->cursor - start);
	if (used == 0)
		return;
	tl_assert(used <= ring->chunk_words);
	if (!detached && __atomic_load_n(&ring->detached, __ATOMIC_ACQUIRE))
		detached = True;
	if (!detached) {
		ring->used[ring->head % ring->chunks] = used;
		ring->order[ring->head % ring->chunks] =
		    __atomic_fetch_add(&control->published, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_SEQ_CST);
		ring_doorbell();
		wait_for_room();
	}
	begin_chunk();
}

void nm_ring_drain(void)
{
	UInt tail;

	nm_ring_publish();
	__atomic_store_n(&ring->producer_waits, 1, __ATOMIC_SEQ_CST);
	while (!detached && (tail = __atomic_load_n(&ring->tail, __ATOMIC_SEQ_CST)) != ring->head)
		if (__atomic_load_n(&ring->detached, __ATOMIC_ACQUIRE) || !wait_on(&ring->tail, tail))
			detached = True;
	__atomic_store_n(&ring->producer_waits, 0, __ATOMIC_SEQ_CST);
}

void nm_ring_full(void) { nm_ring_publish(); }

void nm_ring_close(void)
{
	nm_ring_publish();
	if (detached)
		return;
	__atomic_store_n(&ring->state, NM_WIRE_RING_CLOSED, __ATOMIC_SEQ_CST);
	ring_doorbell();
	open_private(); /* the slot may now be another process's */
}

/* ---- Records made in C ---- */

/* Whether the count of instructions run must be sent before such a record. */
static Bool orders_instructions(enum nm_wire_kind kind)
{
	return kind == NM_WIRE_MEASURE || kind == NM_WIRE_REGION || kind == NM_WIRE_THREAD ||
	       kind == NM_WIRE_FORK || kind == NM_WIRE_EXEC || kind == NM_WIRE_EXIT;
}

void nm_record_begin(enum nm_wire_kind kind, UInt arg)
{
	/* Every record fits the margin: see nm_record_word. */
	if ((ULong *)ring->cursor + NM_MARGIN_WORDS + RAN_WORDS > chunk_end)
		nm_ring_publish();
	if (orders_instructions(kind))
		write_ran();
	record = (ULong *)ring->cursor;
	record[0] = nm_wire_header(kind, arg, 0);
	record_end = record + 1;
}

void nm_record_word(ULong word)
{
	/* Truncates what does not fit. Only strings and argument lists are that long. */
	if (record_end < record + NM_MARGIN_WORDS)
		*record_end++ = word;
}

void nm_record_string(const HChar *string)
{
	SizeT bytes = VG_(strlen)(string);
	SizeT room = (SizeT)((record + NM_MARGIN_WORDS) - record_end) * 8;
	SizeT words;

	if (room == 0)
		return;
	if (bytes >= room)
		bytes = room - 1;
	words = bytes / 8 + 1;
	record_end[words - 1] = 0;
	VG_(memcpy)(record_end, string, bytes);
	record_end += words;
}

void nm_record_end(void)
{
	record[0] |= (ULong)(record_end - record - 1);
	ring->cursor = (Addr)record_end;
}

void nm_record(enum nm_wire_kind kind, UInt arg, UInt n, const ULong *words)
{
	UInt i;

	nm_record_begin(kind, arg);
	for (i = 0; i < n; i++)
		nm_record_word(words[i]);
	nm_record_end();
}
