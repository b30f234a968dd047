/* SPDX-License-Identifier: MIT
 *
 * contexts.h - allocation contexts: the call chains at which memory is allocated or mapped.
 *
 * One context is one chain of call instructions, with evidence on which of its functions are allocation
 * wrappers (xmalloc, safe_malloc, a pool's grow): a function is one if it returns within a few instructions
 * after the allocation and has not written to the block. Evidence is gathered per chain and level, so a
 * function may forward at one of its calls and allocate for itself at another. An inlined function is a
 * wrapper if control has left it before the block is written to or a few instructions have passed.
 *
 * Recursion is folded: a function appears in a chain once, by its innermost call; calls made by its outer
 * activations are left out. So a tree has one context, whether a loop or a recursive function builds it, and
 * the number of contexts is bounded by the program's text, not by the depth of its data. Code without a name
 * (in a stripped module) is distinguished by its calls instead. Dropped: folding by call instruction alone,
 * which keeps five contexts of a function that calls itself from two places.
 */
#ifndef NM_CONTEXTS_H
#define NM_CONTEXTS_H

#include <stdint.h>

#include "arena.h"
#include "map.h"
#include "vector.h"

enum {
	NM_CONTEXT_DEPTH = 16, /* calls of a chain, at most */
	NM_CHAIN_INNER = 112,  /* innermost frames that are considered */
	/* outermost frames that are considered: those between, in a deep stack, are taken for recursion */
	NM_CHAIN_OUTER = 16,
	NM_FORWARD_LEVELS = 4,       /* nested wrappers that are recognised */
	NM_FORWARD_INSTRUCTIONS = 48 /* that a wrapper may execute after the allocation */
};

struct nm_context {
	const uint64_t *pcs; /* [count], innermost first; pcs[0] is the call of the allocator */
	uint32_t count;
	uint64_t entered;                      /* how often */
	uint64_t forwarded[NM_FORWARD_LEVELS]; /* how often the function at pcs[i] acted as a wrapper */
	uint64_t used[NM_FORWARD_LEVELS];      /* pc in that function when the block was first used, or 0 */
};

/* A chain being collected from the innermost call outwards; {0} is empty. */
struct nm_chain {
	uint64_t pcs[NM_CONTEXT_DEPTH];
	uint32_t functions[NM_CONTEXT_DEPTH]; /* that make the calls; 0: nameless */
	uint32_t count;
	uint32_t unfolded; /* innermost calls without one left out between them */
	uint64_t seen;     /* one bit for each function, by its number modulo 64 */
	int folded;
};

struct nm_contexts {
	struct nm_arena arena;
	struct nm_map ids; /* hash of the chain -> context; on a collision, the next free key */
	struct nm_vec(struct nm_context) list; /* [0] is the unknown context */
};

int nm_contexts_init(struct nm_contexts *contexts);
void nm_contexts_done(struct nm_contexts *contexts);
int nm_contexts_copy(struct nm_contexts *ret_contexts, const struct nm_contexts *contexts);

/* Adds the next call, unless its function is in the chain. function: its stack object; 0: nameless. */
void nm_chain_add(struct nm_chain *chain, uint64_t pc, uint32_t function);

/* Adds the calls of the oldest `frames` frames of a stack; objects: of their callers. */
struct nm_stack;
struct nm_object;
void nm_chain_add_stack(struct nm_chain *chain, const struct nm_stack *stack, size_t frames,
			const struct nm_object *objects);

/* The context of a chain of count <= NM_CONTEXT_DEPTH pcs. 0 or NM_ENOMEM. */
int nm_contexts_get(struct nm_contexts *contexts, const uint64_t *pcs, uint32_t count, uint32_t *ret_context);

/* The same, and counts one entry. */
int nm_contexts_enter(struct nm_contexts *contexts, const uint64_t *pcs, uint32_t count,
		      uint32_t *ret_context);

/* How many of the chain's innermost functions are wrappers: they act as such in at least nine of ten
 * cases. */
unsigned nm_context_wrappers(const struct nm_context *context);

/* Follows one allocation until the block is used. */
struct nm_wrapper_probe {
	uint32_t context;      /* 0: the probe is idle */
	unsigned level;        /* the function of the chain that is followed, */
	unsigned levels;       /* out of this many: those of the unfolded part, at most NM_FORWARD_LEVELS */
	uint64_t address, end; /* of the block */
	uint64_t slot;         /* of the function at this level: a return through it ends the function */
	uint64_t ran;          /* instructions executed at this level, in blocks with accesses */
};

/* The block is used, or the limit of instructions is reached; the function that is followed is at pc. */
static inline void nm_wrapper_probe_note(const struct nm_wrapper_probe *probe, struct nm_contexts *contexts,
					 uint64_t pc)
{
	uint64_t *used = &contexts->list.at[probe->context].used[probe->level];

	*used = *used ? *used : pc;
}

/* The function at probe->slot returns; next_slot is its caller's. */
void nm_wrapper_probe_return(struct nm_wrapper_probe *probe, struct nm_contexts *contexts, uint64_t slot,
			     uint64_t next_slot);

#endif
