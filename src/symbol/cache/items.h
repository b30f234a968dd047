/* SPDX-License-Identifier: MIT
 *
 * items.h - the symbol cache: answers about addresses as a sequence of items, in traces and in files for
 * later runs.
 *
 * An item is its kind, then numbers of seven bits per byte, lowest bits first. Texts, modules and types are
 * items of their own; later items refer to them by number (1, 2, ... in order of appearance; 0: none). The
 * start of a range is stored as its distance from the start of the previous range of its kind (zigzag), so
 * that all lines of a function take a few bytes each.
 *
 * items.c visits the fields of each kind in one place, for writing and for reading: the encoder (encode.c)
 * and the decoder (decode.c) cannot disagree about a field.
 */
#ifndef NM_SYMBOL_ITEMS_H
#define NM_SYMBOL_ITEMS_H

#include "symbol_priv.h"

enum item_kind {
	ITEM_TEXT = 1,
	ITEM_MODULE,
	ITEM_LEVEL,
	ITEM_FUNCTION,
	ITEM_POSITIONS,
	ITEM_VARIABLE,
	ITEM_TLS_VARIABLE,
	ITEM_BEGIN,    /* of a run: texts, modules, types and ranges are renumbered */
	ITEM_COMPLETE, /* nothing else was asked in that run */
	ITEM_CODE,
	ITEM_TYPE,
	ITEM_VARIABLE_TYPE,
	ITEM_ALLOCATED,
	ITEM_DIGEST,
	ITEM_NOTHING,  /* the question has no answer; in files for later runs only */
	ITEM_ASSIGNED, /* what the source assigns a call's result to */
	ITEM_LOCALS,   /* local variables of a function */
	ITEM_KINDS
};

enum { POSITIONS_MAX = 16, TYPE_FIELDS_MAX = 1 << 16, LOCALS_MAX = 1 << 10 };

/* The fields of all kinds; item_fields() in items.c says which kind has which. What was read belongs to the
 * store, except data, which points into the input. */
struct item {
	enum item_kind kind;
	struct nm_module *module;
	uint64_t low, end; /* a range; or an address, in low alone */
	const char *name, *linkage_name, *type_name, *file, *digest;
	uint32_t line;
	/* enum nm_debug_level, nm_variable_kind, nm_allocated or item_kind; whether thread-local */
	uint64_t number;
	uint64_t bytes; /* of a block; an alignment */
	const uint8_t *data;
	size_t data_bytes;
	struct nm_source_position positions[POSITIONS_MAX];
	uint64_t position_count;
	const struct nm_type *type;
	struct nm_module *described;    /* ITEM_MODULE */
	struct nm_type *described_type; /* ITEM_TYPE */
	struct nm_locals locals;        /* read: allocated, the caller frees them */
};

struct symbol_encoder {
	struct nm_vec(uint8_t) items,
	    given;           /* encoded since the last nm_symbols_take_encoded; what that returned */
	struct nm_map texts; /* address of an interned text -> its number */
	struct nm_map types; /* address of a type -> its number */
	struct nm_map seen;  /* hash of kind, module and address -> 1 */
	uint32_t modules;
	uint64_t last[ITEM_KINDS]; /* start of the last range of a kind */
	int status;                /* NM_ENOMEM: reported by nm_symbols_take_encoded */
};

struct symbol_decoder {
	struct nm_vec(const char *) texts; /* [number - 1] */
	struct nm_vec(struct nm_module *) modules;
	struct nm_vec(const struct nm_type *) types;
	uint64_t last[ITEM_KINDS];
	unsigned begun, completed; /* runs */
};

/* Appends an item, and before it those of the texts and types that it is the first to name. */
void item_write(struct nm_symbols *symbols, struct item *item);

/* Reads the item at *at and moves *at behind it. *item is zeros but for the two `described`, which point to
 * zeros: their segments and fields are allocated, also on failure, and the caller frees them. 0, NM_EFORMAT
 * or NM_ENOMEM. */
int item_read(struct nm_symbols *symbols, const uint8_t **at, const uint8_t *end, struct item *item);

/* Keys of questions.  about: an address, or the pointer of an interned text. */
static inline uint64_t allocation_key(uint64_t vaddr, uint64_t bytes)
{
	return nm_mix64(vaddr ^ nm_mix64(bytes));
}
static inline uint64_t assigned_key(uint64_t vaddr, const struct nm_call_place *call)
{
	uint64_t key = nm_mix64(vaddr ^ nm_mix64(call->position | (uint64_t)call->order << 32));

	key = call->argument ? nm_mix64(key ^ call->argument) : key;
	for (const char *at = call->callee; at && *at; at++)
		key = nm_mix64(key ^ (unsigned char)*at);
	return key;
}
static inline uint64_t question_key(enum item_kind kind, uint64_t about)
{
	return nm_mix64(about ^ nm_mix64((uint64_t)kind));
}

/* encode.c: each does nothing unless the store encodes, and writes an answer once. Running out of memory is
 * reported by nm_symbols_take_encoded. */
void encode_module(struct nm_module *module);
void encode_level(struct nm_module *module, enum nm_debug_level level);
void encode_function(struct nm_module *module, const struct nm_function *function);
void encode_positions(struct nm_module *module, uint64_t vaddr);
void encode_variable(struct nm_module *module, const struct nm_variable *variable, int is_thread_local);
void encode_digest(struct nm_module *module, const char *file, const char *digest);
void encode_code(struct nm_module *module, uint64_t vaddr, const uint8_t *bytes, size_t count);
void encode_variable_type(struct nm_module *module, uint64_t vaddr, int is_thread_local,
			  const struct nm_type *type);
void encode_locals(struct nm_module *module, uint64_t vaddr, const struct nm_locals *locals);
void encode_allocated(struct nm_module *module, uint64_t vaddr, uint64_t bytes, enum nm_allocated what,
		      const struct nm_type *type);
void encode_assigned(struct nm_module *module, uint64_t key, struct nm_assigned assigned);
/* For later runs only: a complete set of answers implies it. */
void encode_nothing(struct nm_module *module, enum item_kind kind, uint64_t about);

#endif
