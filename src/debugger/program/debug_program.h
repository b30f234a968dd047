/* SPDX-License-Identifier: MIT
 *
 * debug_program.h - what is debugged: the references of a loop nest, or of a part of it, and what their
 * attribution keys, objects and addresses are called.
 *
 * Positions count references from 1; position 0 is before the first one.
 */
#ifndef NM_DEBUG_PROGRAM_H
#define NM_DEBUG_PROGRAM_H

#include "arena.h"
#include "debugger.h"
#include "errors.h"
#include "nest.h"
#include "references.h"

#define NM_NO_OBJECT UINT32_MAX

/* What an attribution key stands for. Strings may be NULL. */
struct nm_debug_site {
	const char *function, *file; /* of a nest: the reference as written, and the nest */
	uint32_t line, object;       /* object: index, or NM_NO_OBJECT */
	uint32_t thread;
	uint16_t core;
	uint32_t element; /* bytes of an element of the object; 0: not known */
};

struct nm_debug_object {
	const char *name;
	uint64_t low, end; /* bytes that it has */
};

struct nm_debug_program {
	struct nm_references references;
	struct nm_vec(struct nm_debug_site) sites; /* by attribution key; [0] is none */
	struct nm_vec(struct nm_debug_object) objects;
	struct nm_strings names;
	struct nm_nest *nest; /* or NULL */
	const char *path;
	uint64_t first; /* number in the nest, from 1, of the reference at position 1 */
};

/* program_nest.c.  0 or an enum nm_code. */
int nm_debug_load_nest(struct nm_debug_program *program, const struct nm_debugger_source *source,
		       struct nm_error *err);
void nm_debug_program_done(struct nm_debug_program *program);

/* The index of an object or NM_NO_OBJECT; its name or NULL. */
uint32_t nm_debug_object_named(const struct nm_debug_program *program, const char *name);
const char *nm_debug_object_name(const struct nm_debug_program *program, uint32_t object);

/* The object that has an address, or NM_NO_OBJECT: of those whose bytes are known to lie around it the
 * smallest. */
uint32_t nm_debug_object_at(const struct nm_debug_program *program, uint64_t address);

/* Number of the element of its object that a reference touches; -1: not known. */
int64_t nm_debug_element(const struct nm_debug_program *program, const struct nm_reference *reference);

#endif
