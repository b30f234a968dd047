/* SPDX-License-Identifier: MIT
 *
 * decoded_block.h - a block of code in the form in which the engine executes it, for one thread.
 *
 * A decoded block is made from the block's definition at its first execution by the thread. Each access has
 * an inline cache *entry*: an address range, part of either the running function's stack frame or an object,
 * and the attribution key that applies there, so an access within the range costs one compare. Entries are
 * stored in groups of NM_ENTRIES, one array per field, so that one vector instruction compares a whole group
 * (inline_cache.h). Everything else about an access is in its access site, in one list of the engine.
 *
 * Accesses at constant distances, which share an address word, have one entry and become one reference
 * (coalesced.h). Each also has an entry of its own, for execution one access at a time (single_step.c).
 *
 * Dropped: entries that hold a range and a frame at once; paths of several blocks, compared as a whole with
 * what followed last time: half of the instructions, but no faster, because of the host's mispredicted
 * branches.
 */
#ifndef NM_DECODED_BLOCK_H
#define NM_DECODED_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "checks.h"
#include <nearmiss/wire.h>

enum { NM_ENTRIES = 4 };

/* Entries store numbers with 2^63 added, since vector instructions compare signed numbers. */
#define NM_BIAS (1ull << 63)

/* Of an entry: it has no range; its range ends where the stack does, which lies below all frames. */
#define NM_NO_LENGTH NM_BIAS
#define NM_TO_STACK_END (1ull << 62)

/* Does it serve the running function's frame? */
#define nm_low_is_of_frame(low) (!((low)&NM_BIAS))

/* Hot. A word is the second half of a struct nm_ref: attribution key, size, kind, weight. */
struct nm_cache_entries {
	/* The kept range is [low, low + length). In the running function's frame low has no bias, and is a
	 * distance down from the frame's last byte. */
	uint64_t low[NM_ENTRIES];
	/* Less the bytes of a group but one; or NM_TO_STACK_END and NM_SPARE, less these and low. */
	uint64_t length[NM_ENTRIES];
	uint64_t word[NM_ENTRIES]; /* its attribution key may be 0 */
};

/* Of nm_decoded_block.user_call. */
#define NM_OF_LIBRARY (1u << 31)

struct nm_decoded_block;

/* The cold half of an access, for when its entry does not know the attribution key. */
struct nm_access_site {
	struct nm_decoded_block *decoded;
	uint32_t object;    /* found last */
	uint32_t attr;      /* its attribution key; 0: none yet */
	uint32_t block;     /* heap block, or caller's frame, found last, */
	uint8_t again;      /* how many times in a row */
	uint8_t listed : 1, /* in the engine's list of ranges that end with a mapping */
	    grouped : 1,    /* it is a coalesced access */
	    cached : 1;     /* scratch, while range holders are cleaned: one was seen */
	uint16_t access;
	uint32_t counted; /* runs of its block whose references are counted (nm_resolver_count_runs) */
};

/* An entry of a heap block's list of the access sites that keep its range; block 0: it is in the list of free
 * ones. */
struct nm_range_holder {
	uint32_t access_site, next, block;
};

/* A run of instructions within one cache line, for --instr. */
struct nm_fetch {
	uint64_t address;
	uint32_t attr;
	uint16_t first; /* index of its first instruction in the block */
	uint8_t instructions, bytes;
};

struct nm_side_exit {
	uint16_t accesses, instructions;
	uint16_t words;  /* of addresses, before it */
	uint8_t fetched; /* bytes of the run in which it leaves that are executed, for --instr */
};

/* What makes an access a hint to the caches. */
enum { NM_HINT_FLAGS = NM_WIRE_PREFETCH | NM_WIRE_NON_TEMPORAL | NM_WIRE_TO_L2 | NM_WIRE_TO_L3 };

/* An access, for execution one at a time. */
struct nm_access {
	uint16_t word, distance; /* its address is `distance` above that address word */
	uint16_t entry;
	/* enum nm_sync_kind if it is atomic and the machine has several cores, else NM_SYNC_NONE */
	uint8_t sync;
	uint16_t hint; /* NM_HINT_FLAGS of its NM_WIRE_*; 0: it is none */
};

/* The cold part of a decoded block. */
struct nm_decoded_tables {
	struct nm_side_exit *exit;
	struct nm_fetch *fetch;
	struct nm_access *single; /* [accesses] */
	uint32_t id;              /* of the block */
	uint32_t exits, fetches, accesses;
	/* Address words, which have the first entries; members of coalesced accesses have the entries after
	 * them. */
	uint32_t words, entries;
	/* of repetitions of a string instruction (rep stos, rep movs): the bytes that each writes; else 0 */
	uint32_t string_bytes;
	unsigned watched; /* enum nm_watched: its function is one that the window names */
	int progresses;   /* it is a progress function's (mpi_code.h) */
};

/* The side exit through which the block is left after n address words; NULL: there is none. */
static inline const struct nm_side_exit *nm_side_exit_after(const struct nm_decoded_tables *t, size_t n)
{
	for (uint32_t i = 0; i < t->exits; i++)
		if (t->exit[i].words == n)
			return &t->exit[i];
	return NULL;
}

/* The accesses that share an address word: [first, end) of `single`. */
struct nm_access_range {
	uint32_t first, end;
};

static inline struct nm_access_range nm_word_accesses(const struct nm_decoded_tables *t, uint32_t word)
{
	struct nm_access_range s = {word, 0};

	NM_CHECK(word < t->words);
	while (t->single[s.first].word != word)
		s.first++;
	for (s.end = s.first + 1; s.end < t->accesses && t->single[s.end].word == word;)
		s.end++;
	return s;
}

/* Half a cache line, so that a decoded block with up to NM_ENTRIES entries takes two lines. Its cold part lies
 * behind the entries. */
struct nm_decoded_block {
	uint16_t words;        /* of a whole execution with its header; 0: the block needs single steps */
	uint16_t instructions; /* of the whole block */
	uint8_t end;           /* enum nm_wire_exit_kind */
	uint8_t fills;         /* all bits set: its function copies or clears memory (resolve.c) */
	uint16_t frame;        /* where the return address lies, from the last address word */
	uint32_t first_access_site; /* of its accesses, which are consecutive in the decoder's list */
	uint32_t stack_object;      /* the frame of the block's function; may be none if it has no accesses */
	/* of library code: NM_OF_LIBRARY and the user's call that leads here; else that of its last
	 * instruction, 0 if it is not known yet (user_calls.h) */
	uint32_t user_call;
	uint32_t runs;         /* whole executions with a header that are not counted yet */
	uint64_t call_pc : 48; /* last instruction: the call, if end is CALL */
	uint64_t groups : 16;  /* of entries */
	struct nm_cache_entries entries[];
};
_Static_assert(sizeof(struct nm_decoded_block) == 32 && sizeof(struct nm_cache_entries) == 96,
	       "one group: two cache lines");

static inline int nm_is_of_library(const struct nm_decoded_block *decoded)
{
	return (decoded->user_call & NM_OF_LIBRARY) != 0;
}

/* Is it the user's code, which another function may follow without a call or return? */
static inline int nm_may_tail_call(const struct nm_decoded_block *decoded)
{
	return decoded->end == NM_WIRE_JUMP && !nm_is_of_library(decoded);
}

static inline struct nm_decoded_tables *nm_tables_of(const struct nm_decoded_block *decoded)
{
	return (struct nm_decoded_tables *)((uintptr_t)decoded + sizeof *decoded +
					    decoded->groups * sizeof decoded->entries[0]);
}

/* Stands for blocks that are not decoded yet; never matches, so single_step.c sees it. */
extern struct nm_decoded_block nm_undecoded_block;
/* Stands for the last block where it says nothing about the next one. */
extern struct nm_decoded_block nm_no_last_block;

/* A field of an access site's entry. */
#define nm_entry_of(access_site, figure)                            \
	((access_site)                                              \
	     ->decoded->entries[(access_site)->access / NM_ENTRIES] \
	     .figure[(access_site)->access % NM_ENTRIES])

static inline unsigned nm_word_size(uint64_t word) { return word >> 32 & 0xffff; }
static inline unsigned nm_word_kind(uint64_t word) { return word >> 48 & 0xff; }
static inline int nm_word_is_coalesced(uint64_t word) { return word >> 57 != 0; }

static inline unsigned nm_access_site_kind(const struct nm_access_site *s)
{
	return nm_word_kind(nm_entry_of(s, word));
}

#endif
