/* SPDX-License-Identifier: MIT
 *
 * debug_program.h - the program to debug: the references of a loop nest or a trace, or of a part of it, and
 * the names of their attribution keys, objects and addresses.
 *
 * Positions count references from 1; position 0 is before the first one.
 */
#ifndef NM_DEBUG_PROGRAM_H
#define NM_DEBUG_PROGRAM_H

#include "arena.h"
#include "errors.h"
#include "hierarchy.h"
#include "nest.h"
#include "references.h"

struct nm_debugger_source;

#define NM_NO_OBJECT UINT32_MAX

/* The meaning of an attribution key. Strings may be NULL. */
struct nm_debug_site {
	const char *function, *file; /* of a nest: the reference as written, and the nest */
	uint32_t line, object;       /* object: index, or NM_NO_OBJECT */
	uint32_t thread;
	uint16_t core;
	uint32_t element; /* bytes of an element of the object; 0: unknown */
	int is_uncounted; /* its references move lines, and are in no sum (nm_ref, weight 0) */
	uint32_t row;     /* the first key of the same meaning: sums are shown there */
};

struct nm_debug_object {
	const char *name;
	uint64_t low, end; /* its bytes; of a trace, those that were referenced */
	int is_scattered;  /* several places of one name: other objects lie between them */
};

/* The memory that can have huge pages from the reference after `position` on (nm_hierarchy_set_memory). */
struct nm_memory_change {
	uint64_t position;
	struct nm_range *ranges;
	size_t count;
};

struct nm_debug_program {
	struct nm_references references;
	struct nm_vec(struct nm_debug_site) sites; /* by attribution key; [0] is none */
	struct nm_vec(struct nm_debug_object) objects;
	struct nm_strings names;
	struct nm_nest *nest; /* or NULL: a trace */
	const char *path;
	uint64_t first; /* number in the whole, from 1, of the reference at position 1 */
	/* of a trace: */
	struct nm_vec(struct nm_memory_change) memory;
	struct nm_vec(uint32_t) instructions; /* by key (nm_hierarchy_add_instructions) */
	int has_uncounted;
};

/* Reads all references of a source: a trace, ours or another tool's, or else a loop nest (program_nest.c). 0 or
 * an enum nm_code. */
int nm_debug_load(struct nm_debug_program *program, const struct nm_debugger_source *source,
		  struct nm_error *err);
int nm_debug_load_nest(struct nm_debug_program *program, const struct nm_debugger_source *source,
		       struct nm_error *err);
void nm_debug_program_done(struct nm_debug_program *program);

/* The index of an object or NM_NO_OBJECT; its name or NULL. */
uint32_t nm_debug_object_named(const struct nm_debug_program *program, const char *name);
const char *nm_debug_object_name(const struct nm_debug_program *program, uint32_t object);

/* Number of the element of its object that a reference touches; -1: unknown. */
int64_t nm_debug_element(const struct nm_debug_program *program, const struct nm_reference *reference);

#endif
