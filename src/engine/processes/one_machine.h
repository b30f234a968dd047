/* SPDX-License-Identifier: MIT
 *
 * one_machine.h - the one machine on which all processes of a recording run (--one-machine): its caches, and the order
 * in which all threads run.
 *
 * A process is a *member*. Its engine follows the program as ever, and hands its references over in the order in which
 * its stream was read. The machine translates
 *   - addresses to machine addresses (machine_pages.h), also those of locks and futexes;
 *   - attribution keys, coalesced accesses and threads to numbers of its own, unique over all members;
 * merges all threads, and simulates them with the cache pass. What the caches counted by key is added to the results of
 * the processes when all have ended.
 *
 * Everything but the cache pass's batches belongs to the decoding thread.
 */
#ifndef NM_ONE_MACHINE_H
#define NM_ONE_MACHINE_H

#include "contended.h"
#include "elements.h"
#include "engine.h"
#include "interleave.h"
#include "machine_pages.h"
#include "result.h"

struct nm_machine_member;

/* Makes a member of an engine that was just made. before: the process that forked it or whose image it replaces, or
 * NULL; forked: it has its pages. 0 or NM_ENOMEM. */
int nm_member_new(struct nm_machine_member **ret_member, struct nm_one_machine *machine,
		  struct nm_engine *program, struct nm_machine_member *before, int forked);

/* The engine's references; a batch as for nm_interleave_add, but in the numbers of the engine. 0 or a code. */
int nm_member_add(struct nm_machine_member *member, const struct nm_thread_batch *batch);

/* What was read of its stream is handed over: its turn in the recorded order ends. */
void nm_member_end_turn(struct nm_machine_member *member);

/* The machine's number of a thread of the member. */
uint32_t nm_member_thread(const struct nm_machine_member *member, uint32_t thread);

/* Its memory; the engine must have handed its references over before it changes. */
struct nm_machine_pages *nm_member_pages(struct nm_machine_member *member);

/* shared_pieces.c: the engine has a new piece of memory that others have, too: they get it, at their addresses. Or it
 * has mapped such memory: it gets all pieces that are there. 0 or NM_ENOMEM. */
int nm_member_share_piece(struct nm_machine_member *member, uint64_t address);
int nm_member_adopt_pieces(struct nm_machine_member *member, uint64_t address, uint64_t bytes);

/* A heap block is about to be freed. */
void nm_member_released(struct nm_machine_member *member, uint64_t address, uint64_t size, uint32_t object);

/* Its stream has ended, and so have its threads. Others' references may still be merged with its last ones: whether
 * all of them have been; waits until what has been merged is simulated. 0 or a code. */
int nm_member_end(struct nm_machine_member *member);
int nm_member_is_merged(const struct nm_machine_member *member);
int nm_one_machine_catch_up(struct nm_one_machine *machine);

/* Its result is being made: levels get room for counts, and the member keeps what stands for keys of batches in the
 * result. 0 or NM_ENOMEM. */
int nm_member_keep(struct nm_machine_member *member, const struct nm_pass_merge *merge,
		   struct nm_result *result);

/* The engine is freed. */
void nm_member_leave(struct nm_machine_member *member);

/* A touch of the cache pass, in terms of the member that made it: 1; 0: the member has left. */
struct nm_member_touch {
	struct nm_elements *elements;
	uint32_t key;
	uint64_t address;
};
int nm_one_machine_touch(const struct nm_one_machine *machine, struct nm_member_touch *touch);

#endif
