/* SPDX-License-Identifier: MIT
 *
 * symbol.h - from addresses in ELF files to names: functions, inlined functions, lines, variables, types.
 *
 * Addresses here are link-time addresses of one module ("vaddr"); the caller knows where the module was
 * loaded. Everything is lazy: opening a module reads only its program headers; symbol tables and DWARF are
 * read at the first query that needs them, and kept. A module without a file, without symbols or with
 * damaged debug information gives fewer answers, never an error. All strings are interned in the store and
 * live as long as it. Several threads may ask one store.
 */
#ifndef NM_SYMBOL_H
#define NM_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

struct nm_symbols; /* a store of modules, shared by all processes of a run */
struct nm_module;

int nm_symbols_new(struct nm_symbols **ret_symbols, struct nm_error *err);
void nm_symbols_free(struct nm_symbols *symbols);

/* The module at path, opened once per (path, build-id). build_id may be NULL; if the file has another one, it
 * was replaced meanwhile and is not used. Separate debug information is searched beside the file, in
 * /usr/lib/debug (by build-id and by .gnu_debuglink), and through debuginfod if DEBUGINFOD_URLS is set. Only
 * exhausted memory is an error. */
int nm_symbols_module(struct nm_symbols *symbols, const char *path, const uint8_t *build_id,
		      size_t build_id_bytes, struct nm_module **ret_module, struct nm_error *err);

/* Reads ahead of the first queries: the symbol table of the module at path, its DWARF and its variables.
 * Optional: it moves work to a time when the caller is idle, and changes no answer. */
void nm_symbols_preload(struct nm_symbols *symbols, const char *path);

/* Interns in the store's pool (NULL when memory is exhausted). */
const char *nm_symbols_intern(struct nm_symbols *symbols, const char *text);
const char *nm_symbols_format(struct nm_symbols *symbols, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The i-th sentence on debug information that a module has but that could not be read, so far; NULL: no more. */
const char *nm_symbols_complaint(const struct nm_symbols *symbols, size_t i);

const char *nm_module_path(const struct nm_module *module);
const char *nm_module_name(const struct nm_module *module); /* last component of the path */

/* The build-id that the module was asked for by, else its file's, in hexadecimal digits, interned; "": it has none;
 * NULL: out of memory. */
const char *nm_module_build_id(struct nm_module *module);

/* When the module's file was last written, seconds since 1970; 0 without a file. */
int64_t nm_module_modified(const struct nm_module *module);

enum nm_debug_level { NM_DEBUG_NONE, NM_DEBUG_SYMBOLS, NM_DEBUG_DWARF };
enum nm_debug_level nm_module_debug_level(struct nm_module *module);

/* The vaddr range that the PT_LOAD segments cover (bss included). 0 if there is none. */
int nm_module_extent(struct nm_module *module, uint64_t *ret_low, uint64_t *ret_end);

/* The i-th PT_LOAD segment: the file's bytes from `offset` on lie at vaddr, `file_bytes` of them; `bytes` in
 * memory. 0 if there is none. */
struct nm_module_segment {
	uint64_t offset, vaddr, file_bytes, bytes;
	int executable;
};
int nm_module_segment_at(const struct nm_module *module, size_t i, struct nm_module_segment *ret_segment);

/* The function, as the linker knows it, that contains vaddr: the unit that owns a stack frame.
 * From the symbol table, or DWARF when the table is stripped.  1 if found.
 * [low, end) is its extent; name is demangled, linkage_name is not. */
struct nm_function {
	const char *name, *linkage_name;
	uint64_t low, end;
};
int nm_module_function(struct nm_module *module, uint64_t vaddr, struct nm_function *ret_function);

/* Source positions of the instruction at vaddr, innermost inlined function first, the physical function last;
 * position [0] is the line of the instruction, [1] the line of the call that was inlined, ... A line of 0
 * (compilers leave such holes) takes the nearest line before it within the same function. file is the path as
 * DWARF gives it (absolute where the compilation directory is known), or NULL. A function that is in no
 * symbol table is called "module+0x1234" after its start, as far as unwind tables tell that. Returns the
 * number of positions, at most max; 0 if nothing is known. */
struct nm_source_position {
	const char *function, *file;
	uint32_t line;
};
size_t nm_module_source_positions(struct nm_module *module, uint64_t vaddr, struct nm_source_position *at,
				  size_t max);

/* Is a function named after its address? */
int nm_is_nameless_function(const char *function);

/* The MD5 of a source when it was compiled, in hexadecimal digits, or NULL if it is unknown or units differ.
 * The file is one that nm_module_source_positions has named. */
const char *nm_module_digest(struct nm_module *module, const char *file);

/* Machine code from vaddr on, from the file: at most `room` bytes, and none beyond its segment. Returns
 * their number; 0 without a file. */
size_t nm_module_code(struct nm_module *module, uint64_t vaddr, uint8_t *ret_bytes, size_t room);

enum nm_variable_kind {
	NM_VAR_GLOBAL,
	NM_VAR_STATIC,        /* file or function static */
	NM_VAR_COMMON_MEMBER, /* member of a Fortran COMMON block: name is "block/member" */
	NM_VAR_MODULE,        /* Fortran module variable: name is "module::name" */
	NM_VAR_THREAD_LOCAL,
	NM_VAR_SECTION /* no symbol here: name is the section's, e.g. ".bss" */
};

/* A variable and its address. name is the source's, demangled, with its namespace, class or module. A
 * function static is "function()::name" in C and Fortran, "app::use(int)::name" in C++.  type is
 * written as in the source language, or NULL: "struct node *[512]", "real(kind=8)(100,0:9)",
 * "[u64; 64]".  file and line are those of the declaration, or NULL and 0.  For NM_VAR_SECTION the
 * range is the hole between the neighbouring variables. */
struct nm_variable {
	const char *name, *type, *file;
	uint32_t line;
	enum nm_variable_kind kind;
	uint64_t low, end;
	uint64_t alignment; /* that its declaration asks for; 0: none */
};
int nm_module_variable(struct nm_module *module, uint64_t vaddr, struct nm_variable *ret_variable);

/* Thread-local storage (ELF TLS, variant II on x86-64): template size and alignment (0 if the module has
 * none), and the variable at `offset` from the start of the module's block. */
int nm_module_tls(struct nm_module *module, uint64_t *ret_bytes, uint64_t *ret_align);
int nm_module_tls_variable(struct nm_module *module, uint64_t offset, struct nm_variable *ret_variable);

/* A field of a structure: `bytes` bytes at `offset`; of those in an array inside, `count` times, `stride`
 * bytes apart. */
struct nm_field {
	/* as the source writes it: "key", "place.x", "cells[].next", "a|b" if they overlap */
	const char *name;
	uint64_t offset, bytes, stride;
	uint32_t count;
	const char *type; /* as in the types of variables; of overlapping ones, if it is the same; or NULL */
};

/* A structure with its fields by offset.  Equal ones have equal addresses. */
struct nm_type {
	const char *name; /* as in the types of variables */
	uint64_t bytes;
	uint64_t alignment; /* that the source asks for (alignas), of it or a member; 0: none */
	const struct nm_field *fields;
	uint32_t field_count;
};

/* The field at an offset, or NM_NO_FIELD: padding. */
#define NM_NO_FIELD UINT32_MAX
uint32_t nm_type_field(const struct nm_type *type, uint64_t offset);

/* The structure that the variable around vaddr is, or that its elements are; NULL if it is none.
 * is_thread_local: vaddr is an offset in the module's thread-local block. */
const struct nm_type *nm_module_variable_type(struct nm_module *module, uint64_t vaddr, int is_thread_local);

/* A local variable in the frame of its function: [end - below, end - below + bytes), if the frame ends, and
 * that of the caller begins, at `end` (the CFA of DWARF). name: "rank()::large", after the function that
 * declares it, which may be inlined. */
struct nm_local {
	const char *name, *type, *file; /* file and line of the declaration, or NULL and 0 */
	uint32_t line;
	uint64_t below, bytes;
	const struct nm_type *structure; /* that it is or its elements are, or NULL */
};
struct nm_locals {
	uint32_t count;
	const struct nm_local *at; /* by falling `below`; they do not overlap */
};

/* The local variables of the function at vaddr that are arrays, structures or unions of a cache line or more
 * and have one location in its frame for the whole function (dwarf/locals.c). NULL: none. Equal lists have equal
 * addresses. */
const struct nm_locals *nm_module_locals(struct nm_module *module, uint64_t vaddr);

/* The type of the block of `bytes` bytes that the call at vaddr allocates, if the debug information gives it
 * (allocated.c). NM_ALLOCATED_UNKNOWN: nothing here, perhaps in the caller. NM_ALLOCATED_OTHER: not of a
 * structure, but perhaps of numbers or pointers, a type without fields. */
enum { NM_COUNT_BYTES = 8 }; /* that new[] puts before elements that have a destructor */
enum nm_allocated { NM_ALLOCATED_UNKNOWN, NM_ALLOCATED_STRUCTURE, NM_ALLOCATED_OTHER };
enum nm_allocated nm_module_allocated(struct nm_module *module, uint64_t vaddr, uint64_t bytes,
				      const struct nm_type **ret_type);

/* One of the source positions of the call at vaddr: position 0 is the innermost. callee: the called function,
 * as nm_source_position names it, or NULL; order: the number of calls of its line before it in the code. */
struct nm_call_place {
	unsigned position, order;
	const char *callee;
	/* from 1: the argument through which the callee hands the block out; 0: it returns it */
	unsigned argument;
};

/* What the source assigns the result of a call to ("u", "SD.grid", "Solver::assigns", "v[]";
 * source/assigned.h), or NULL if that is unknown; and the column of the call, or 0. */
struct nm_assigned {
	const char *name;
	uint32_t column;
	/* the function returns nothing that could lead to the block: it does not allocate for its caller */
	int keeps;
	int is_returned; /* it has no name here, but is what the function returns */
	/* from 1: the parameter that it is assigned through, "array" of "T *&array" or "*out", which the caller's
	 * argument names; 0: none */
	unsigned parameter;
};
struct nm_assigned nm_module_assigned(struct nm_module *module, uint64_t vaddr,
				      const struct nm_call_place *call);

/* The symbol cache: answers that outlive the files. A store that encodes writes every answer that it gives,
 * and all lines of each function in a query; a store that decodes them gives the same answers without the
 * files.
 *
 * nm_symbols_take_encoded returns what was encoded since the last call (valid until the next one); `last`
 * declares the answers complete, so that a decoding store never opens a file. nm_symbols_decode takes these
 * pieces in order; NM_EFORMAT if one is damaged. Between nm_symbols_expect_more(1) and (0) files are not
 * opened either: the pieces must arrive before the queries that they answer. */
int nm_symbols_start_encoding(struct nm_symbols *symbols, struct nm_error *err);
int nm_symbols_take_encoded(struct nm_symbols *symbols, int last, const uint8_t **ret_bytes,
			    size_t *ret_count, struct nm_error *err);
int nm_symbols_decode(struct nm_symbols *symbols, const uint8_t *bytes, size_t count, struct nm_error *err);
void nm_symbols_expect_more(struct nm_symbols *symbols, int more);

/* The symbol cache of a program in a folder, for later recordings (cache/folder.c). nm_symbols_load_cache,
 * called before any query, decodes the answers of earlier runs unless one of their files has changed; 1 if
 * there were any, 0 if not, or NM_ENOMEM. nm_symbols_save_cache adds the answers given since. It creates the
 * folder if the user owns the folder above it, or the one above that; if it cannot write, it keeps
 * nothing. */
int nm_symbols_load_cache(struct nm_symbols *symbols, const char *folder, const char *program,
			  struct nm_error *err);
void nm_symbols_save_cache(struct nm_symbols *symbols, const char *folder, const char *program);

#endif
