/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * wire_block.h - builds the wire blocks of one translation from the accesses that instrument.c finds.
 */
#ifndef NEARMISS_VALGRIND_WIRE_BLOCK_H
#define NEARMISS_VALGRIND_WIRE_BLOCK_H

#include "emit.h"

#define MAX_INSTRUCTIONS 512u
#define MAX_ACCESSES 768u
#define MAX_EXITS 256u
/* More than any one instruction makes. */
#define SLACK 128u
/* Accesses of a group and bytes from its lowest to its end. */
#define MAX_GROUP 15u
#define MAX_SPAN 32u

/* The wire block being built. */
struct block {
	UInt id;
	Addr pc;
	UInt instructions, accesses, exits;
	Bool continues;
	UInt left; /* instructions run at the side exit that no access has followed yet; 0: no such exit */
	Bool sent; /* its header has been stored */
	UInt ran;  /* instructions counted, if not */
	ULong instruction[MAX_INSTRUCTIONS], access[MAX_ACCESSES], exit[MAX_EXITS];
};

/* The last accesses of the wire block, while their address word has not been stored yet. */
struct group {
	UInt accesses;             /* 0: there is none */
	Bool whole;                /* takes no more */
	IRTemp root;               /* of all addresses */
	ULong low, end;            /* their range, as distances from the root */
	IRExpr *lowest;            /* the address at low */
	ULong distance[MAX_GROUP]; /* of each from the root */
};

/* The translation in progress. Translations do not nest. */
struct translation {
	const IRSB *in;
	Bool may_tail_call; /* it may end with a jump to another function */
	IRTemp cursor;
	UInt words;        /* stored since the cursor was loaded, */
	UInt committed;    /* and before it was stored last */
	UInt ran;          /* instructions that are still to be added up */
	Bool open;         /* a block has been begun */
	IRExpr *last_load; /* address of the last plain load; NULL: none yet */
	UInt store_flags;  /* of the current instruction's writes: NM_WIRE_NON_TEMPORAL or 0 */
	struct block block;
	struct group group;
};

extern struct translation nm_translation;

/* Asks for the next chunk if the cursor has passed the limit; loads the cursor. */
void nm_emit_limit_check(void);
/* Begins a wire block at pc. continues: the block before fell or jumped into it. */
void nm_block_begin(Addr pc, Bool continues);
/* Ends the block; returns the kind of exit that is sent: a call or return without its access is a jump. */
enum nm_wire_exit_kind nm_block_end(enum nm_wire_exit_kind end);
/* From here on the block is sent, not only counted. */
void nm_block_send(void);
/* Counts the instructions of a block that is not sent. */
void nm_block_count(void);
/* Publishes what has been stored. Call before each exit. */
void nm_block_commit(void);
/* An access as the block definition has it, except how its address is sent. */
ULong nm_access_word(UInt bytes, UInt instruction, UInt flags);
/* Whether this is the last access of the block (nm_access_word). */
Bool nm_block_last_access_is(ULong word);
/* Adds an access of the current instruction. flags: NM_WIRE_READ and so on. */
void nm_block_add_access(IRExpr *address, UInt bytes, UInt flags);
/* The same for an access that takes place only if the guard holds. */
void nm_block_add_guarded(IRExpr *address, IRExpr *guard, UInt bytes, UInt flags);

#endif
