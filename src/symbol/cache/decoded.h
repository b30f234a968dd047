/* SPDX-License-Identifier: MIT
 *
 * decoded.h - the answers for one module that were decoded from items, and their look-up.
 *
 * Ranges may nest, as a symbol inside another one does: the innermost wins. They are flattened (spans.h) at
 * the first look-up after an addition.
 */
#ifndef NM_SYMBOL_DECODED_H
#define NM_SYMBOL_DECODED_H

#include "cache/items.h"

/* The ranges of one kind. */
struct range_table {
	struct nm_vec(struct span) added; /* in the order of arrival; id: index in the list of the kind */
	struct spans flat;
	size_t flattened; /* how many of `added` are in `flat` */
};

struct decoded_positions {
	uint32_t first, count; /* in the list of positions */
};

struct decoded_symbols {
	enum nm_debug_level level;
	struct range_table functions, positions, variables, tls_variables, locals;
	struct nm_vec(struct nm_function) function_list;
	struct nm_vec(struct nm_source_position) position_list;
	struct nm_vec(struct decoded_positions) chains;
	struct nm_vec(struct nm_variable) variable_list; /* both kinds */
	struct nm_vec(const struct nm_locals *) locals_list;
	struct nm_map digests; /* file -> digest */
	struct nm_map code_at; /* address -> where in `code`: the number of bytes (size_t), then the bytes */
	struct nm_vec(uint8_t) code;
	struct nm_map variable_types;  /* address * 2, + 1 if thread-local -> struct nm_type or NULL */
	struct nm_map allocated;       /* allocation_key -> enum nm_allocated */
	struct nm_map allocated_types; /* allocation_key -> struct nm_type or NULL */
	struct nm_map assigned;        /* assigned_key -> index in assigned_list */
	struct nm_vec(struct nm_assigned) assigned_list;
	struct nm_map nothing; /* question_key -> 1 */
};

/* Each returns what was decoded, or NULL or 0. */
const struct nm_function *decoded_function(struct nm_module *module, uint64_t vaddr);
const struct decoded_positions *decoded_positions(struct nm_module *module, uint64_t vaddr);
const struct nm_variable *decoded_variable(struct nm_module *module, uint64_t vaddr, int is_thread_local);
int decoded_nothing(const struct nm_module *module, enum item_kind kind, uint64_t about);
const char *decoded_digest(const struct nm_module *module, const char *file);
size_t decoded_code(struct nm_module *module, uint64_t vaddr, uint8_t *ret_bytes,
		    size_t room); /* bytes copied */
int decoded_variable_type(struct nm_module *module, uint64_t vaddr, int is_thread_local,
			  const struct nm_type **ret_type);
int decoded_locals(struct nm_module *module, uint64_t vaddr, const struct nm_locals **ret_locals);
int decoded_allocated(struct nm_module *module, uint64_t vaddr, uint64_t bytes, enum nm_allocated *ret_what,
		      const struct nm_type **ret_type);
int decoded_assigned(const struct nm_module *module, uint64_t key, struct nm_assigned *ret_assigned);

#endif
