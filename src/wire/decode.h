/* SPDX-License-Identifier: MIT
 *
 * decode.h - reads the wire: an iterator over the records of a chunk, and one struct per record kind.
 *
 *     struct nm_wire_scan scan = nm_wire_scan_over(words, count);
 *     struct nm_wire_record r;
 *     while ((code = nm_wire_scan_next(&scan, &r, err)) > 0)
 *             switch (r.kind) {
 *             case NM_WIRE_MAP: {
 *                     struct nm_wire_map map;
 *                     if ((code = nm_wire_map_decode(&r, &map, err)))
 *                             return code;
 *                     ...
 *
 * Nothing is copied: strings and tables point into the words, which must outlive the struct. Every decoder
 * has checked its record completely before it fills the struct (length, strings, indices, ranges that wrap),
 * so its user needs no checks for the safety of memory. check.h checks records against each other (is the
 * block defined, is the thread known).
 *
 * The words must not change while they are read: the words of a ring belong to the consumer until it releases
 * their chunk.
 */
#ifndef NM_WIRE_DECODE_H
#define NM_WIRE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "nearmiss/wire.h"

/* ---- The walker -------------------------------------------------------------------------- */

struct nm_wire_record {
	enum nm_wire_kind kind;
	uint32_t arg;
	const uint64_t *payload;
	size_t words;    /* of payload; for NM_WIRE_BLOCK the run of words that are not headers */
	uint64_t offset; /* of the header, in words from the start of what is scanned */
};

struct nm_wire_scan {
	const uint64_t *words;
	size_t count, at;
	uint64_t origin; /* added to every offset: where words[0] stands in its stream */
};

static inline struct nm_wire_scan nm_wire_scan_over(const uint64_t *words, size_t count)
{
	return (struct nm_wire_scan){words, count, 0, 0};
}

/* 1 and the next record (NM_WIRE_PAD is skipped), 0 at the end, NM_EFORMAT where no whole record
 * stands; the position then stays at the fault. */
int nm_wire_scan_next(struct nm_wire_scan *scan, struct nm_wire_record *ret, struct nm_error *err);

/* The name of a kind as the specification writes it ("BLOCK_DEF"), or "?". */
const char *nm_wire_kind_name(unsigned kind);

/* NM_EFORMAT and a message: what is wrong with the record, and where it stands. */
int nm_wire_fault(const struct nm_wire_record *r, struct nm_error *err, const char *what);

/* ---- Blocks ------------------------------------------------------------------------------ */

struct nm_wire_block_info {
	uint32_t id;
	struct nm_wire_block_def def;
	const uint64_t *instructions; /* def.instructions words, see the functions below */
	const uint64_t *accesses;     /* def.accesses words */
	uint32_t groups;              /* of accesses: address words of a whole execution */
	const uint64_t *exits;        /* def.exits words */
};

int nm_wire_block_decode(const struct nm_wire_record *r, struct nm_wire_block_info *ret,
			 struct nm_error *err);

static inline uint64_t nm_wire_instruction_pc(uint64_t w) { return w & 0xffffffffffffull; }
static inline unsigned nm_wire_instruction_bytes(uint64_t w) { return w >> 48 & 0xff; }
static inline unsigned nm_wire_access_size(uint64_t w) { return w & 0xffff; }
static inline unsigned nm_wire_access_instruction(uint64_t w) { return w >> 16 & 0xffff; }
static inline unsigned nm_wire_access_flags(uint64_t w) { return w >> 32 & 0xffff; }
static inline unsigned nm_wire_access_distance(uint64_t w) { return w >> 48; }
static inline unsigned nm_wire_exit_accesses(uint64_t w) { return w & 0xffff; }
static inline unsigned nm_wire_exit_instructions(uint64_t w) { return w >> 16 & 0xffff; }

/* How many instructions ran, and accesses were made, when `words` addresses were sent; or -1 if the block has
 * no such exit. */
int nm_wire_block_executed(const struct nm_wire_block_info *block, size_t words, unsigned *ret_accesses);

/* ---- All other records ------------------------------------------------------------------- */

struct nm_wire_process {
	enum nm_wire_start start;
	uint32_t version, pid, parent, ordinal, argc;
	const char *executable, *directory;
	const char *arguments; /* argv[0]; nm_wire_string_after() gives the next of argc; NULL if argc is 0 */
};

/* The string that follows s in the same record. */
const char *nm_wire_string_after(const char *s);

/* clang-format off */
struct nm_wire_fork { uint32_t child, ordinal; };
struct nm_wire_exec { const char *path; };
struct nm_wire_exit { uint32_t status; };
struct nm_wire_thread_start { uint32_t thread, parent; uint64_t stack_low, stack_end; };
struct nm_wire_thread { uint32_t thread; }; /* THREAD_EXIT and THREAD */
struct nm_wire_thread_pointer { uint32_t thread; uint64_t value; };
struct nm_wire_signal { uint32_t number; uint64_t stack_pointer; };

struct nm_wire_alloc { enum nm_wire_allocator allocator; uint64_t address, size, entry; };
struct nm_wire_free { enum nm_wire_allocator allocator; uint64_t address; };
struct nm_wire_realloc { enum nm_wire_allocator allocator; uint64_t old_address, address, size, entry; };

struct nm_wire_map { uint32_t flags; uint64_t address, bytes, offset; const char *path; };
struct nm_wire_unmap { uint64_t address, bytes; };
struct nm_wire_remap { uint64_t old_address, old_bytes, address, bytes; };
struct nm_wire_brk { uint64_t low, end; };

struct nm_wire_module {
	uint64_t base;
	const unsigned char *build_id; /* build_id_bytes of them, maybe 0 */
	uint32_t build_id_bytes;
	const char *path;
};
struct nm_wire_module_gone { uint64_t base; };

struct nm_wire_name { uint64_t address, bytes; const char *name; };
struct nm_wire_unname { uint64_t address; };
struct nm_wire_region { int enter; const char *name; };
struct nm_wire_measure { int on; };
struct nm_wire_lost { uint64_t words; };
struct nm_wire_ran { uint64_t instructions; };
struct nm_wire_sync_event { enum nm_wire_sync what; uint64_t object; };
struct nm_wire_pages { enum nm_wire_page_size size; uint64_t address, bytes; };
struct nm_wire_shared { uint64_t address, bytes, device, inode, offset; };
struct nm_wire_sampling { uint32_t rate, line, seed; }; /* rate: samples in 10^9 references */
struct nm_wire_code { uint64_t pc; uint16_t bytes; uint8_t writes; };
struct nm_wire_sample { uint64_t clock, address; struct nm_wire_code code; };
struct nm_wire_reuse { uint64_t clock, address; struct nm_wire_code code; uint64_t sample; };
struct nm_wire_call { uint64_t slot, pc; };
/* oldest first */
struct nm_wire_frames { uint64_t ended; const struct nm_wire_call *calls; uint32_t count; };
struct nm_wire_clock { uint64_t references; };
struct nm_wire_place { uint64_t pc; uint32_t line; const char *function, *file; };
/* clang-format on */

/* 0, or NM_EFORMAT with *ret left alone. r->kind must be the kind that the struct is for. */
#define NM_WIRE_DECODER(record)                                                                     \
	int nm_wire_##record##_decode(const struct nm_wire_record *r, struct nm_wire_##record *ret, \
				      struct nm_error *err)

NM_WIRE_DECODER(process);
NM_WIRE_DECODER(fork);
NM_WIRE_DECODER(exec);
NM_WIRE_DECODER(exit);
NM_WIRE_DECODER(thread_start);
NM_WIRE_DECODER(thread);
NM_WIRE_DECODER(thread_pointer);
NM_WIRE_DECODER(signal);
NM_WIRE_DECODER(alloc);
NM_WIRE_DECODER(free);
NM_WIRE_DECODER(realloc);
NM_WIRE_DECODER(map);
NM_WIRE_DECODER(unmap);
NM_WIRE_DECODER(remap);
NM_WIRE_DECODER(brk);
NM_WIRE_DECODER(module);
NM_WIRE_DECODER(module_gone);
NM_WIRE_DECODER(name);
NM_WIRE_DECODER(unname);
NM_WIRE_DECODER(region);
NM_WIRE_DECODER(measure);
NM_WIRE_DECODER(lost);
NM_WIRE_DECODER(place);
NM_WIRE_DECODER(pages);
NM_WIRE_DECODER(shared);
NM_WIRE_DECODER(ran);
NM_WIRE_DECODER(sampling);
NM_WIRE_DECODER(sample);
NM_WIRE_DECODER(reuse);
NM_WIRE_DECODER(frames);
NM_WIRE_DECODER(clock);
NM_WIRE_DECODER(sync_event);

#endif
