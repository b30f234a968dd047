/* SPDX-License-Identifier: MIT
 *
 * engine_priv.h - the engine's state, shared by its files:
 *   engine.c   life, the loop over records
 *   execute.c  blocks become references, calls become frames (the hot path)
 *   plan.c     what to do for a block
 *   resolve.c  the cell of a reference, where the access does not know it
 *   events.c   every other record
 *   inherit.c  forked children
 *   names.c    names for objects when the stream has ended
 *   fold.c     cells to source terms: the result
 */
#ifndef NM_ENGINE_PRIV_H
#define NM_ENGINE_PRIV_H

#include "cells.h"
#include "contexts.h"
#include "decode.h"
#include "engine.h"
#include "frames.h"
#include "pass.h"
#include "plan.h"
#include "space.h"
#include "workers.h"

enum { NM_MAX_PASSES = 16 };

struct nm_thread {
	uint32_t wire;   /* the collector's number */
	uint32_t number; /* 1, 2, ... in order of starts */
	int live;
	struct nm_plan **plans; /* by block id */
	size_t plan_room;
	struct nm_frames frames;
	struct nm_watch watch;
};

/* A block's definition, from which each thread makes its plan. */
struct nm_definition {
	uint64_t *words; /* copy of the record's payload, in a codebook */
	uint32_t count;
};

/* Where definitions live: shared with the engines of forked children, which go on using them. */
struct nm_codebook {
	unsigned users;
	struct nm_codebook *older; /* the parent's, kept alive */
	struct nm_arena arena;
};

struct nm_child {
	uint32_t ordinal;
	struct nm_engine *engine;
};

struct nm_engine {
	/* The hot path's. */
	struct nm_ref *batch;
	size_t batched;
	struct nm_plan **plans; /* of the running thread */
	size_t plan_room;
	uint64_t own_low, own_length; /* the running function's part of its stack */
	struct nm_cells cells;
	uint64_t instructions, references; /* while measuring */
	uint64_t clock;                    /* instructions of all */
	uint64_t drain_at;                 /* references at which nm_engine_drain is due */
	int measuring, fetching;
	int watching; /* the running thread watches an allocation */

	struct nm_thread *thread; /* running */
	struct nm_vec(struct nm_thread *) threads;
	struct nm_vec(struct nm_definition) definitions; /* by block id */
	struct nm_vec(struct nm_access_origin *) listed; /* with `listed` set; their accesses are: */
	struct nm_vec(struct nm_access *) cached;        /* those with the range of a mapping or variable */
	struct nm_vec(struct nm_cacher) cachers;         /* [0] is none */
	uint32_t free_cacher;
	struct nm_space space;
	struct nm_contexts contexts;
	struct nm_arena arena; /* plans */
	struct nm_workers *workers;
	void *passes[NM_MAX_PASSES];
	size_t pass_count;

	struct nm_engine_options options;
	struct nm_codebook *codebook;
	struct nm_vec(struct nm_child) children;
	struct nm_symbols *symbols;
	struct nm_machine machine;
	uint32_t fetch_line;            /* bytes of a line of the first level that takes fetches */
	struct nm_wire_process process; /* strings borrowed from the store */
	const char *command;
	int started, exit_status;
	uint64_t lost;
};

/* execute.c */

/* Runs the NM_WIRE_BLOCK records from words[0] on, as many as follow each other in the count words.  Returns the
 * number of words that they took, or a negative code. */
long nm_engine_execute(struct nm_engine *engine, const uint64_t *words, size_t count, struct nm_error *err);
void nm_engine_own_frame(struct nm_engine *engine); /* the top frame changed */
int nm_engine_flush(struct nm_engine *engine);      /* hands the batch to the passes */

/* plan.c: keeps a definition; makes the running thread's plan of a block (NULL: *err tells why). */
int nm_engine_define(struct nm_engine *engine, const struct nm_wire_record *r, struct nm_error *err);
struct nm_plan *nm_engine_plan(struct nm_engine *engine, uint32_t id, struct nm_error *err);

/* resolve.c: the cell for one reference that the access's cache does not know, counted (0: memory is
 * exhausted); accesses' counters to their cells; cached ranges that may have lost their meaning: those of
 * mappings, of heap blocks that are gone, all. */
uint32_t nm_engine_resolve(struct nm_engine *engine, struct nm_plan *plan, uint32_t access, uint64_t address);
void nm_engine_drain(struct nm_engine *engine);
void nm_engine_uncache(struct nm_engine *engine);
void nm_engine_uncache_blocks(struct nm_engine *engine);
void nm_engine_uncache_all(struct nm_engine *engine);

/* inherit.c */
struct nm_codebook *nm_codebook_new(struct nm_codebook *older);
void nm_codebook_release(struct nm_codebook *book);
int nm_engine_fork(struct nm_engine *engine, uint32_t ordinal, struct nm_error *err);

/* events.c */
int nm_engine_event(struct nm_engine *engine, const struct nm_wire_record *r, struct nm_error *err);

/* names.c: unique names for all objects; names[object] is the merged object's index in result->objects. */
int nm_engine_name_objects(struct nm_engine *engine, struct nm_result *result, uint32_t **ret_index);

/* fold.c: from the passes' counts per engine cell to merged cells. */
int nm_engine_fold(struct nm_engine *engine, struct nm_result *result);

#endif
