/* SPDX-License-Identifier: MIT
 *
 * program.h - what a pass may ask about the program, as of the point that the decoding thread has reached:
 * objects, attributions, heap blocks, variables, stack frames and their types. From the decoding thread only,
 * in `sample`, `retired` and `ending` (pass.h); attributions and objects in `finish` too. Pointers hold until
 * the callback returns.
 */
#ifndef NM_PROGRAM_H
#define NM_PROGRAM_H

#include "attribution.h"
#include "space.h"

struct nm_engine;
struct nm_phase_plan;

/* An attribution (thread, site, object); the attribution of a batch's key, which may be one in a context. */
const struct nm_attribution *nm_program_attribution(const struct nm_engine *program, uint32_t attr);
uint32_t nm_program_attr_of_key(const struct nm_engine *program, uint32_t key);

/* Whether a function made an attribution's references, itself or through calls inlined there (window.h: its name). */
int nm_program_is_in_function(const struct nm_engine *program, uint32_t attr, const char *wanted);

/* How many attributions there are, from 1 on; and, in `finish`, how many references each made. */
size_t nm_program_attributions(const struct nm_engine *program);
uint64_t nm_program_references(const struct nm_engine *program, uint32_t attr);

/* Instructions that count, executed so far. */
uint64_t nm_program_instructions(const struct nm_engine *program);

/* The phases that it is counted by, or NULL. */
const struct nm_phase_plan *nm_program_phases(const struct nm_engine *program);

/* The line size of a sampled recording, in bytes; 0: the recording is not sampled. */
uint32_t nm_program_sampled_line(const struct nm_engine *program);

/* An object's description; sets its type. */
const struct nm_object *nm_program_object(const struct nm_engine *program, uint32_t object);
void nm_program_set_type(struct nm_engine *program, uint32_t object, const char *type);

/* Its name, as far as it is known by now: objects of one name are told apart when the stream has ended. 0 or
 * NM_ENOMEM. */
int nm_program_object_name(struct nm_engine *program, uint32_t object, const char **ret_name);

/* The same, told apart from the objects before it: "name #2", "name (file:line)". */
int nm_program_unique_name(struct nm_engine *program, uint32_t object, const char **ret_name);

/* The heap block around an address: 1 if there is one. */
int nm_program_block(const struct nm_engine *program, uint64_t address, struct nm_block *ret_block);
uint32_t nm_program_owner(const struct nm_engine *program, uint64_t address); /* its object alone, or 0 */

/* The range around an address that the program has named: 1 if there is one. */
int nm_program_named(const struct nm_engine *program, uint64_t address, struct nm_block *ret_range);

/* The variable around an address: 1 if there is one that was asked for before (space.h). */
int nm_program_variable(struct nm_engine *program, uint64_t address, struct nm_space_variable *ret_variable);

/* Where the frame around an address ends on any stack, if it is that of a local variable's function and has
 * called another; 0: it is not. */
uint64_t nm_program_open_frame(const struct nm_engine *program, uint64_t address, uint32_t local);

/* The end of the running function's frame, if the address is in it or below, else 0. */
uint64_t nm_program_running_frame(const struct nm_engine *program, uint64_t address);

/* Whether an access (sample->access[i], sample->frame_end[i]) to a local variable is to one of the function
 * that made it. */
int nm_program_own_frame(const struct nm_engine *program, uint32_t access, uint64_t frame_end,
			 uint64_t address, uint32_t local);

/* A local variable's place in its frame, and type. */
const struct nm_local *nm_program_local(const struct nm_engine *program, uint32_t local);

/* The anonymous mapping around an address, if it is the object's: 1, and its range. */
int nm_program_mapping(struct nm_engine *program, uint64_t address, uint32_t object, uint64_t *ret_low,
		       uint64_t *ret_end);

/* The structure which blocks of a size are made of when allocated in an object's context, or its mapping. NULL:
 * not known. */
const struct nm_type *nm_program_allocated_type(struct nm_engine *program, uint32_t object, uint64_t bytes);

#endif
