/* SPDX-License-Identifier: MIT
 *
 * wire.h - the event stream between a collector and the engine, version 1.
 *
 * One stream describes one process image (from start or exec to exit or exec). It is an array of
 * 64-bit words in host byte order. A word with its top bit set is a record header; every other word
 * is payload, and the only payload sent at run time is a data address (user addresses never have the
 * top bit set).
 *
 *     header   63       62..56   55..24   23..0
 *              always 1  kind     arg      number of payload words
 *
 * Static facts travel once: NM_WIRE_BLOCK_DEF describes a straight-line block of code (its
 * instructions, its memory accesses, its exits). Each execution is then NM_WIRE_BLOCK with the
 * block's id, followed by the addresses of the accesses that were reached: one word for each, or
 * for a group of accesses at constant distances from each other. The payload length of
 * NM_WIRE_BLOCK is not stored: a block that is left through a side exit is shorter, and the next
 * word, being a header, says so. An access that was skipped because its guard was false (a
 * conditional move, a masked vector store) has the address word 0.
 *
 * The file is freestanding C (no libc), so that collectors living in strange places can include it.
 * docs/format/wire.md has the rules and an example; src/wire/check.c enforces them.
 */
#ifndef NEARMISS_WIRE_H
#define NEARMISS_WIRE_H

#include <stdint.h>

#define NM_WIRE_VERSION 1u
#define NM_WIRE_MAGIC 0x6572697773696d6eull /* the bytes "nmiswire" */

#define NM_WIRE_HEADER_BIT (1ull << 63)
#define NM_WIRE_MAX_PAYLOAD 0xffffffu

enum nm_wire_kind {
	NM_WIRE_BLOCK = 0,     /* arg: block id. Payload: addresses, count implied (see above) */
	NM_WIRE_BLOCK_DEF = 1, /* arg: block id. Payload: struct nm_wire_block_def, then its tables */

	/* Process life. Strings are NUL-terminated, NUL-padded to whole words, one after another. */
	NM_WIRE_PROCESS = 2, /* arg: enum nm_wire_start. version, pid, parent pid, ordinal of this fork
	                        within the parent (0 if start is not FORK), argc, then strings:
	                        executable path, working directory, argv[0..argc) */
	NM_WIRE_FORK = 3,    /* child pid, ordinal of this fork in this process (1, 2, ...) */
	NM_WIRE_EXEC = 4,    /* string: path. The stream ends if the exec succeeds */
	NM_WIRE_EXIT = 5,    /* arg: exit status, or 128 + signal. Last record of a stream */

	/* Threads. */
	NM_WIRE_THREAD_START = 6,   /* arg: thread. parent thread (0: none), stack low, stack end */
	NM_WIRE_THREAD_EXIT = 7,    /* arg: thread */
	NM_WIRE_THREAD = 8,         /* arg: thread that runs from here on */
	NM_WIRE_THREAD_POINTER = 9, /* arg: thread. value of its thread pointer (fs base on x86-64) */
	NM_WIRE_SIGNAL = 10,        /* arg: signal number. stack pointer on entry to the handler */

	/* Heap. Sent when the outermost allocation function returns, by the thread that called it. */
	NM_WIRE_ALLOC = 11,   /* arg: enum nm_wire_allocator. address, bytes, entry pc of the function */
	NM_WIRE_FREE = 12,    /* arg: enum nm_wire_allocator. address */
	NM_WIRE_REALLOC = 13, /* arg: enum nm_wire_allocator. old address, new address, size, entry pc */

	/* Address space. */
	NM_WIRE_MAP = 14,         /* arg: NM_WIRE_PROT_*, NM_WIRE_MAP_*. address, bytes, file offset; string:
	                             path or "" */
	NM_WIRE_UNMAP = 15,       /* address, bytes */
	NM_WIRE_REMAP = 16,       /* old address, old bytes, new address, new bytes */
	NM_WIRE_BRK = 17,         /* lowest address of the data segment's heap, its end now */
	NM_WIRE_MODULE = 18,      /* arg: build-id bytes. lowest mapped address; build-id padded to words;
	                             string: path. Follows the NM_WIRE_MAP of its first code */
	NM_WIRE_MODULE_GONE = 19, /* lowest mapped address given in NM_WIRE_MODULE */

	/* From the program itself (include/nearmiss/client.h). */
	NM_WIRE_NAME = 20,    /* address, bytes; string: name */
	NM_WIRE_UNNAME = 21,  /* address */
	NM_WIRE_REGION = 22,  /* arg: 1 enter, 0 leave; string: name */
	NM_WIRE_MEASURE = 23, /* arg: 1 on, 0 off. Blocks keep coming while it is off (frames must stay
	                         known); the consumer then counts nothing and touches no cache */

	NM_WIRE_LOST = 24, /* number of words lost here */
	NM_WIRE_PAD = 25,  /* payload is to be skipped */

	NM_WIRE_PLACE = 26, /* pc, line (0: unknown); strings: function or "", file or "". Where the
	                       instruction at pc stands in a source, for code that no module holds */

	NM_WIRE_PAGES =
	    27, /* arg: enum nm_wire_page_size. address, bytes. What the program has asked for there */

	NM_WIRE_RAN = 28, /* instructions run since the last such record in code without accesses, of which no
	                     blocks were sent; measured or not as what surrounds the record */

	/* Sampled recordings, which send no blocks. The clock of a process is the number of
	 * references that it has made. */
	NM_WIRE_SAMPLING = 29, /* samples in 10^9 references, bytes of a line (a power of 2), seed */
	NM_WIRE_SAMPLE =
	    30, /* clock, address, code (below): a reference that was drawn; its line is watched */
	NM_WIRE_REUSE = 31, /* clock, address, code, clock of the sample: the next reference to its line */
	NM_WIRE_FRAMES =
	    32, /* slot from which on frames of the running thread have ended (0: none), then for each
	                          new frame, oldest first: slot, pc of the call */
	NM_WIRE_CLOCK = 33, /* references so far */

	NM_WIRE_SYNC =
	    34, /* arg: enum nm_wire_sync. object. What the running thread does orders it and others */
	NM_WIRE_SHARED =
	    35, /* address, bytes, device, inode, offset: what lies there is this part of a memory object, of
	           which other processes may have a part; device and inode 0: of one that only children have */
	NM_WIRE_KINDS = 36
};

/* The device of System V segments, whose inode is their number plus 1. */
#define NM_WIRE_DEVICE_SYSV (1ull << 62)

/* What happens, and what the object is. Locks are known by their address. */
enum nm_wire_sync {
	NM_WIRE_SYNC_CREATE = 0, /* makes a thread: its number */
	NM_WIRE_SYNC_JOIN = 1,   /* has waited for the end of a thread: 0 */
	NM_WIRE_SYNC_CALL = 2,   /* makes a system call, not of a futex: 0 */
	NM_WIRE_SYNC_RESUME = 3, /* comes back from one in which others ran: 0 */
	NM_WIRE_SYNC_ENTER =
	    4, /* calls a function that takes or gives up a lock, of which the events below tell: 0 */
	NM_WIRE_SYNC_LEAVE = 5,      /* that returns: 0 */
	NM_WIRE_SYNC_LOCK = 6,       /* has a lock for itself from here on, or waits for it here: lock */
	NM_WIRE_SYNC_SHARE = 7,      /* the same of a lock that others may have too: lock */
	NM_WIRE_SYNC_UNLOCK = 8,     /* gives up a lock: lock */
	NM_WIRE_SYNC_FUTEX_WAIT = 9, /* makes the system call: address of the futex */
	NM_WIRE_SYNC_FUTEX_WAKE = 10,
	NM_WIRE_SYNCS = 11
};

enum nm_wire_page_size { NM_WIRE_PAGES_4K = 0, NM_WIRE_PAGES_2M = 1, NM_WIRE_PAGES_1G = 2 };

enum nm_wire_start { NM_WIRE_STARTED = 0, NM_WIRE_FORKED = 1, NM_WIRE_EXECED = 2 };

enum nm_wire_allocator {
	NM_WIRE_MALLOC,
	NM_WIRE_CALLOC,
	NM_WIRE_REALLOCATE,
	NM_WIRE_ALIGNED,
	NM_WIRE_NEW,
	NM_WIRE_NEW_ARRAY,
	NM_WIRE_FREE_CALL,
	NM_WIRE_DELETE,
	NM_WIRE_DELETE_ARRAY,
	NM_WIRE_POOL,        /* of ALLOC only: the block is a piece of memory that a pool has; */
	NM_WIRE_SHARED_POOL, /* only if it lies in what processes share */
	NM_WIRE_ALLOCATORS
};

enum {
	NM_WIRE_PROT_READ = 1,
	NM_WIRE_PROT_WRITE = 2,
	NM_WIRE_PROT_EXEC = 4,
	NM_WIRE_MAP_FILE = 16,
	NM_WIRE_MAP_SHARED = 32,
	NM_WIRE_MAP_STACK = 64
};

/* How control leaves a block at its end. */
enum nm_wire_exit_kind {
	NM_WIRE_JUMP = 0,  /* fall through, jump, system call: no frame changes */
	NM_WIRE_CALL = 1,  /* the block's last access writes the return address; where is the frame's slot */
	NM_WIRE_RETURN = 2 /* the block's last access reads the return address from that slot */
};

/* Payload of NM_WIRE_BLOCK_DEF: this head, then
 *   instructions  words: pc (bits 0..47), length in bytes (bits 48..55)
 *   accesses      words: size in bytes (bits 0..15), index of its instruction (bits 16..31), flags
 *                        (bits 32..47), distance in bytes from the address word (bits 48..63)
 *   exits         words: number of accesses before the side exit (bits 0..15), number of instructions
 *                        executed when it is taken (bits 16..31)
 * in program order. The access counts of the exits are strictly ascending and smaller than `accesses`: only
 * then does the number of addresses that follow tell through which exit the block was left. Code that has no
 * access between a side exit and the next exit or the end is therefore sent as a further block that starts
 * right behind the exit (NM_WIRE_BLOCK_CONTINUES). An access with both READ and WRITE never occurs: a
 * read-modify-write is two accesses (the ATOMIC flag marks both).
 *
 * A group is an access without NM_WIRE_FOLLOWS and those behind it that have the flag. It has one address
 * word: of the lowest address that it touches, from which each of its accesses has its distance. Accesses of
 * a group of more than one are not guarded, prefetches or non-temporal. The first access of a block and the first
 * behind a side exit begin a group, so that the number of address words, too, tells through which exit a
 * block was left.
 */
struct nm_wire_block_def {
	uint64_t pc; /* of the first instruction */
	uint16_t instructions, accesses, exits;
	uint8_t end;   /* enum nm_wire_exit_kind */
	uint8_t flags; /* NM_WIRE_BLOCK_* */
};

enum {
	NM_WIRE_BLOCK_CONTINUES = 1 /* the block before it in the stream fell or jumped into this one */
};

enum {
	NM_WIRE_READ = 1,
	NM_WIRE_WRITE = 2,
	NM_WIRE_PREFETCH = 4,
	NM_WIRE_ATOMIC = 8,
	NM_WIRE_GUARDED = 16,   /* address may be 0: not executed */
	NM_WIRE_FRAME = 32,     /* pushes or pops the return address */
	NM_WIRE_FOLLOWS = 64,   /* has no address word, but that of the access before */
	NM_WIRE_CHASES = 128,   /* its address comes of a register that the code loads anew by way of
	                         itself, as the next node of a list */
	NM_WIRE_COMMUTES = 256, /* with ATOMIC: it adds, subtracts, or combines bits, so that the order of
				 * two such does not matter to the word */
	/* Of a write: past the caches. Of a prefetch: into the first level only; without one of these
	 * three, into the first and those behind it. */
	NM_WIRE_NON_TEMPORAL = 512,
	NM_WIRE_TO_L2 = 1024, /* of a prefetch: into the second level and those behind it */
	NM_WIRE_TO_L3 = 2048  /* the same from the third on */
};

/* The code word of NM_WIRE_SAMPLE and NM_WIRE_REUSE: pc of the instruction (bits 0..47), bytes that it
 * touches (bits 48..62), whether it writes (bit 63). */
#define NM_WIRE_CODE_WRITES (1ull << 63)
#define NM_WIRE_CODE_MAX_BYTES 0x7fffu

static inline uint64_t nm_wire_header(enum nm_wire_kind kind, uint32_t arg, uint32_t words)
{
	return NM_WIRE_HEADER_BIT | (uint64_t)kind << 56 | (uint64_t)arg << 24 | words;
}

static inline int nm_wire_is_header(uint64_t w) { return (int64_t)w < 0; }
static inline enum nm_wire_kind nm_wire_kind(uint64_t w) { return (enum nm_wire_kind)(w >> 56 & 0x7f); }
static inline uint32_t nm_wire_arg(uint64_t w) { return (uint32_t)(w >> 24); }
static inline uint32_t nm_wire_words(uint64_t w) { return (uint32_t)(w & NM_WIRE_MAX_PAYLOAD); }

/* ---- The live transport: shared memory ------------------------------------------------------
 *
 * The consumer makes one file in memory (memfd_create, or an unlinked file) and passes its descriptor to the
 * collector. It begins with struct nm_wire_control; behind it lie control->slots slots of equal size, each
 * with room for one ring (struct nm_wire_ring, then its chunks). The file never has a name and never grows,
 * so a process can open a ring whatever its user, root directory and limits are, and nothing is left behind
 * when the last process that maps it has ended.
 *
 * To open a ring a producer takes a free slot i (compares control->slot[i].owner with 0 and swaps in its
 * pid), reserves the slot's memory by fallocate, maps it and fills in the header. Then it takes a ring number
 * by adding 1 to control->rings, and stores that number plus 1 in control->slot[i].ring. The consumer frees
 * the slot when the ring has ended. Without a free slot the producer waits on control->slots_freed for a
 * while. If it then gives up, it adds 1 to control->unobserved, and no other producer waits before a slot is
 * freed.
 *
 * The consumer holds a POSIX write lock on the file as long as it lives: F_GETLK tells a producer whether it
 * does.
 *
 * The ring is `chunks` chunks of `chunk_words` words. The producer fills chunk head % chunks, then
 * stores the number of words in used[], and in order[] the number that control->published gives it (1 is added for
 * each chunk of any ring), and publishes by head += 1. The consumer reads chunk
 * tail % chunks and frees it by tail += 1. Records do not straddle chunks, except that long payloads
 * are not allowed at all: a record fits a chunk. `cursor` is the producer's write position inside the
 * current chunk, as a virtual address of the producer (base: where the ring lies there), so that what
 * a killed process had written can still be read.
 *
 * Waiting is by futex, never by spinning: the producer of a full ring waits on `tail`, the consumer
 * of all-empty rings waits on control->doorbell, which producers increment after publishing if
 * control->consumer_waits is set.
 */
#define NM_WIRE_MAX_SLOTS 4096
#define NM_WIRE_CONTROL_BYTES 36864 /* offset of the first slot in the file */

struct nm_wire_slot {
	uint32_t owner; /* atomic: pid of the process that has the slot; 0: free */
	uint32_t ring;  /* atomic: number of its ring plus 1; 0: not ready */
};

struct nm_wire_control {
	uint64_t magic;
	uint32_t version;
	uint32_t rings;               /* atomic: next ring number */
	uint32_t doorbell;            /* atomic, futex: incremented by producers */
	uint32_t consumer_waits;      /* atomic: the consumer is about to wait, or waits, on doorbell */
	uint32_t chunk_words, chunks; /* geometry of all rings */
	uint32_t slots;
	uint32_t slots_freed; /* atomic, futex: incremented when a slot is freed */
	uint32_t unobserved;  /* atomic: processes that found no room for a ring */
	uint32_t stuck;       /* atomic: slots_freed + 1 when the last of them gave up */
	uint32_t published;   /* atomic: chunks of all rings */
	struct nm_wire_slot slot[NM_WIRE_MAX_SLOTS];
};

enum nm_wire_ring_state { NM_WIRE_RING_OPEN = 0, NM_WIRE_RING_CLOSED = 1 };

#define NM_WIRE_MAX_CHUNKS 64

struct nm_wire_ring {
	uint64_t magic;
	uint32_t version, pid;
	uint32_t chunk_words, chunks;
	uint64_t base;                /* address of this struct in the producer */
	_Alignas(64) uint64_t cursor; /* producer only: next free word, as an address in the producer */
	uint64_t limit;               /* producer only: calls for the next chunk when cursor passes it */
	uint64_t ran;                 /* producer only: instructions that no NM_WIRE_RAN has counted yet */
	_Alignas(64) uint32_t head;   /* atomic: chunks published */
	uint32_t state;               /* atomic: enum nm_wire_ring_state, set by the producer */
	_Alignas(64) uint32_t tail;   /* atomic, futex: chunks consumed */
	uint32_t producer_waits;      /* atomic */
	uint32_t detached;            /* atomic: the consumer has gone; throw events away */
	_Alignas(64) uint32_t used[NM_WIRE_MAX_CHUNKS]; /* words in each published chunk */
	uint32_t order[NM_WIRE_MAX_CHUNKS];             /* its place among the chunks of all rings */
};

#define NM_WIRE_RING_DATA 4096 /* offset of the first chunk in the slot */

/* Bytes of a slot: whole pages. */
static inline uint64_t nm_wire_ring_bytes(uint32_t chunk_words, uint32_t chunks)
{
	return (NM_WIRE_RING_DATA + 8ull * chunk_words * chunks + 4095) / 4096 * 4096;
}

/* Where the slot begins in the file. */
static inline uint64_t nm_wire_slot_offset(uint32_t slot, uint32_t chunk_words, uint32_t chunks)
{
	return NM_WIRE_CONTROL_BYTES + slot * nm_wire_ring_bytes(chunk_words, chunks);
}

#endif
