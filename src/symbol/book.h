/* SPDX-License-Identifier: MIT
 *
 * book.h - notes of answers, and what was learned from such notes.
 *
 * The notes are a row of items: a byte for the kind, then numbers of seven bits a byte, lowest first.  Texts are
 * items of their own and are named by their number (1, 2, ... in order; 0 is none); so are modules.  The start
 * of a range is told by its distance from the start of the range before it of the same kind (zigzag), so that the
 * notes of a whole function take some bytes a line.  docs/format/trace.md lists the items.
 */
#ifndef NM_SYMBOL_BOOK_H
#define NM_SYMBOL_BOOK_H

#include "symbol_priv.h"

enum item {
	ITEM_TEXT = 1,      /* bytes, the bytes */
	ITEM_MODULE,        /* path, bytes of build-id, build-id, had a file, segments, TLS */
	ITEM_LEVEL,         /* module, enum nm_debug_level */
	ITEM_FUNCTION,      /* module, low, bytes, name, linkage name */
	ITEM_POSITIONS,     /* module, low, bytes, count, then function, file, line each */
	ITEM_VARIABLE,      /* module, low, bytes, name, type, file, line, kind */
	ITEM_TLS_VARIABLE,  /* the same in the module's thread-local block */
	ITEM_BEGIN,         /* notes of a run begin: texts, modules and ranges are counted anew */
	ITEM_COMPLETE,      /* nothing else was asked in that run */
	ITEM_CODE,          /* module, low, bytes, the bytes */
	ITEM_TYPE,          /* name, bytes, fields, then name, offset, bytes, stride, count each */
	ITEM_VARIABLE_TYPE, /* module, address, 1 if in the thread-local block, type (0: none) */
	ITEM_ALLOCATED,     /* module, address, bytes, enum nm_allocated, type (0: none) */
	ITEM_LOCALS,        /* as ITEM_TYPE; but behind each count the structure's name, bytes, offset */
	ITEM_FRAME_TYPE,    /* module, low, bytes, type (0: none) */
	ITEM_DIGEST,        /* module, file, digest */
	ITEM_NOTHING,       /* module, kind, address or (of ITEM_DIGEST) file: there is none; not in traces */
	ITEM_KINDS
};

enum { POSITIONS_MAX = 16 };

/* The key of an allocation. */
static inline uint64_t book_allocation(uint64_t vaddr, uint64_t bytes)
{
	return nm_mix64(vaddr ^ nm_mix64(bytes));
}

/* The key of a question; about: an address, or that of an interned text. */
static inline uint64_t book_question(enum item kind, uint64_t about)
{
	return nm_mix64(about ^ nm_mix64((uint64_t)kind));
}

/* The answers of one kind for one module. */
struct answers {
	struct nm_vec(struct span) told; /* as they came; id: into the list of the kind */
	struct spans flat;
	size_t flattened; /* how many of `told` are in `flat` */
};

struct learned_positions {
	uint32_t first, count; /* in the list of positions */
};

struct learned {
	enum nm_debug_level level;
	struct answers functions, positions, variables, tls_variables, frames;
	struct nm_vec(struct nm_function) function_list;
	struct nm_vec(struct nm_position) position_list;
	struct nm_vec(struct learned_positions) chains;
	struct nm_vec(struct nm_variable) variable_list; /* both kinds */
	struct nm_vec(const struct nm_type *) frame_list;
	struct nm_map digests; /* file -> digest */
	struct nm_map code_at; /* low -> where in `code`: its number of bytes, they */
	struct nm_vec(uint8_t) code;
	struct nm_map variable_types; /* address * 2 and 1 if thread-local -> struct nm_type or NULL */
	struct nm_map allocated; /* mix of address and bytes -> enum nm_allocated; and -> struct nm_type */
	struct nm_map allocated_types;
	struct nm_map nothing; /* book_question -> 1 */
};

/* learn.c: 1 if it was learned. */
const struct nm_function *learned_function(struct nm_module *module, uint64_t vaddr);
const struct learned_positions *learned_positions(struct nm_module *module, uint64_t vaddr);
const struct nm_variable *learned_variable(struct nm_module *module, uint64_t vaddr, int is_thread_local);

int learned_nothing(const struct nm_module *module, enum item kind, uint64_t about);
const char *learned_digest(const struct nm_module *module, const char *file); /* or NULL */

/* The bytes that are known from vaddr on, at most `room`. */
size_t learned_code(struct nm_module *module, uint64_t vaddr, uint8_t *ret_bytes, size_t room);

int learned_variable_type(struct nm_module *module, uint64_t vaddr, int is_thread_local,
			  const struct nm_type **ret_type);
int learned_frame_type(struct nm_module *module, uint64_t vaddr, const struct nm_type **ret_type);
int learned_allocated(struct nm_module *module, uint64_t vaddr, uint64_t bytes, enum nm_allocated *ret_what,
		      const struct nm_type **ret_type);

/* book.c: no return values, since a store that runs out of memory while it notes says so in nm_symbols_noted. */
void book_note_module(struct nm_module *module);
void book_note_function(struct nm_module *module, const struct nm_function *function);
void book_note_positions(struct nm_module *module, uint64_t vaddr);
void book_note_variable(struct nm_module *module, const struct nm_variable *variable, int is_thread_local);
void book_note_digest(struct nm_module *module, const char *file, const char *digest);
void book_note_code(struct nm_module *module, uint64_t vaddr, const uint8_t *bytes, size_t count);
void book_note_variable_type(struct nm_module *module, uint64_t vaddr, int is_thread_local,
			     const struct nm_type *type);
void book_note_frame_type(struct nm_module *module, uint64_t vaddr, const struct nm_type *type);
void book_note_allocated(struct nm_module *module, uint64_t vaddr, uint64_t bytes, enum nm_allocated what,
			 const struct nm_type *type);
/* There is nothing; noted for later runs only: where answers are complete that says itself. */
void book_note_nothing(struct nm_module *module, enum item kind, uint64_t about);
void book_note_level(struct nm_module *module, enum nm_debug_level level);

#endif
