/* SPDX-License-Identifier: MIT
 *
 * tables.h - what a chunk's tables say about its paths and slots, for the encoder and the decoder.
 *
 * A path is a block together with the number of addresses that one execution of it sent. Each address of a
 * block has a slot, which all paths of the block share. A slot's address is stored as its distance from a
 * base; the slot says from which base, and in which form its distances are stored.
 */
#ifndef NM_TRACE_TABLES_H
#define NM_TRACE_TABLES_H

#include <stdint.h>

enum { NM_MAX_ADDRESSES = UINT16_MAX, NM_MAX_RANKS = 255 };

/* How the distances of a slot are stored, one after another in its column. */
enum nm_form {
	NM_FORM_CONSTANT, /* all are equal: no column */
	NM_FORM_INDEX,    /* 1 byte: which of up to 256 values */
	NM_FORM_INDEX2,   /* 2 bytes: which of up to 65536 */
	NM_FORM_OFFSET,   /* .. + 7: 1 to 8 bytes above the least */
	NM_FORMS = NM_FORM_OFFSET + 8
};

/* Where distances are measured from. */
enum nm_base {
	NM_BASE_OWN,    /* the slot's own last address */
	NM_BASE_BEFORE, /* the last address of the blocks before this one */
	NM_BASE_ANCHOR, /* that of the last path that is an anchor */
	NM_BASE_NONE,   /* 0 */
	NM_BASE_BACK    /* + k: the address k + 1 accesses before in the same execution */
};

/* The first slots are no accesses. */
enum { NM_SLOT_BEFORE, NM_SLOT_ANCHOR, NM_SLOT_SPARE, NM_SLOT_NONE, NM_SLOT_FIRST };

static inline unsigned form_width(unsigned form)
{
	return form < NM_FORM_OFFSET ? form : form - NM_FORM_OFFSET + 1;
}

/* Distance `d` with its sign in the lowest bit, and back. */
static inline uint64_t trace_zigzag(uint64_t d) { return d << 1 ^ (uint64_t)((int64_t)d >> 63); }
static inline uint64_t trace_unzigzag(uint64_t n) { return n >> 1 ^ -(n & 1); }

#endif
