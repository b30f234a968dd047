/* SPDX-License-Identifier: MIT
 *
 * one_machine_priv.h - shared by the files of this folder: one_machine.c takes references in, machine_shares.c gives
 * results out.
 */
#ifndef NM_ONE_MACHINE_PRIV_H
#define NM_ONE_MACHINE_PRIV_H

#include "batch_builder.h"
#include "one_machine.h"
#include "schedules.h"
#include "workers.h"

struct nm_machine_member {
	struct nm_one_machine *machine;
	struct nm_engine *program; /* NULL: it has left */
	uint32_t number;
	uint32_t running, after; /* threads of the machine: the running one, 0: none; before the first */
	struct nm_machine_pages pages;
	struct nm_elements elements;     /* of its touches */
	struct nm_vec(uint32_t) threads; /* by number in the engine -> in the machine; 0: none yet */
	struct nm_vec(uint32_t) keys;    /* the same of keys of batches */
	struct nm_vec(uint32_t) groups;  /* the same of coalesced accesses */
	/* By key of a batch, of which there are `named`: indices in the result. contexts: or NULL. */
	uint32_t *attrs, *contexts;
	size_t named;
};

struct machine_key {
	struct nm_machine_member *member;
	uint32_t key;      /* of its batches; when its result is known: */
	uint32_t thread;   /* of the machine */
	int is_unmeasured; /* it does not count */
};

/* A piece of shared memory that a process has handed out (shared_pieces.c). */
struct machine_piece {
	uint64_t address; /* of the machine */
	uint64_t number;  /* in the order in which they were handed out */
	struct nm_shared_piece is;
};

struct nm_one_machine {
	struct nm_engine_options options;
	struct nm_interleave *interleave;
	struct nm_schedules *schedules; /* further orders of its threads, or NULL */
	struct nm_workers *workers;
	void *pass; /* of nm_pass_cache */
	struct nm_coalesced_table *coalesced;
	struct nm_machine_memory memory;
	struct nm_vec(struct machine_piece) pieces;
	struct nm_map piece_at; /* address -> 1 + index in pieces */
	uint64_t pieces_handed_out;
	struct nm_vec(struct nm_machine_member *) members;
	struct nm_vec(struct machine_key) keys; /* [0] is none */
	uint32_t thread_count;
	uint64_t submitted, retired; /* batches */
	int has_uncounted, has_ended;
	int has_turn;            /* a member is in its turn */
	struct nm_result result; /* whose attributions are the machine's keys; at the end */
	/* What is being added. */
	struct nm_ref refs[NM_BATCH];
	struct nm_sync syncs[NM_SYNCS];
	struct nm_cache_hint hints[NM_BATCH];
};

#endif
