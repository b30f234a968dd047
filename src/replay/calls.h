/* SPDX-License-Identifier: MIT
 *
 * calls.h - calling contexts: the chain of calls in which a reference is made.
 *
 * A context is a node of a tree: a call site and the called function, below the context of the caller. A call
 * that its chain already contains leads back to that node, so recursion is folded and no chain is longer than
 * the program has call sites. Once there are NM_CALLS_MAX contexts, further calls share the context of their
 * caller.
 *
 * Which function is called is known when its first block runs. A call through the linkage table or the
 * dynamic linker's resolver (a trampoline) counts as a call of the function that it reaches. A signal handler
 * is called by its signal, below the root (signals.h).
 *
 * References get attribution keys without a context first (execute.c). Each change of context is noted with
 * its position in the batch; before the batch goes to the passes, each key is replaced by the key of (key,
 * context). So contexts cost nothing unless they are asked for, and do not change any other figure.
 *
 * Dropped: decoded blocks for each context, so that the hot path finds the final key at once. They take
 * memory for contexts times blocks, most of it unused.
 */
#ifndef NM_CALLS_H
#define NM_CALLS_H

#include <stdint.h>

#include "attribution.h"
#include "frames.h"
#include "hierarchy.h"
#include "map.h"
#include "vector.h"

/* A packed key of the map `callees`: 16 bits of context, 24 of site, 22 of function; larger numbers share the
 * last one. */
enum {
	NM_CALLS_MAX = 1 << 16,            /* the root is one of them */
	NM_CALLS_SITE_MAX = (1 << 24) - 1, /* also: unknown */
	NM_CALLS_SIGNALS = 128,
	NM_CALLS_SIGNAL =
	    (1 << 22) - NM_CALLS_SIGNALS, /* this plus a number: that signal, instead of a function */
	NM_CALLS_FUNCTION_MAX = NM_CALLS_SIGNAL - 1,
	NM_CALLS_RECENT = 4096
};

/* nm_stack.pending: 0; 1 + the site of a call, until the callee's first block; or */
#define NM_CALLS_TRAMPOLINE UINT32_MAX /* the context is a trampoline's: another function may follow */

struct nm_call {
	uint32_t parent;   /* the context of the caller */
	uint32_t site;     /* of the call, in nm_attributions.sites; NM_CALLS_SITE_MAX: unknown */
	uint32_t function; /* stack object of the function that is called, or a signal; 0: unknown */
	uint64_t count;    /* how often */
	int is_trampoline;
};

/* An attribution key in a context; models count by its number. */
struct nm_context_attr {
	uint32_t attr, context;
	struct nm_attr_references references;
};

struct nm_calls_change {
	uint32_t from; /* index in the batch */
	uint32_t context;
};

struct nm_calls {
	struct nm_vec(struct nm_call) list;            /* [0] is the root: the start of a thread */
	struct nm_vec(struct nm_context_attr) attrs;   /* [0] is unused */
	struct nm_vec(struct nm_calls_change) changes; /* of the batch that is being filled */
	uint32_t current;
	struct nm_map callees; /* (context, site of the call, function) -> context */
	struct nm_map attr_of; /* context << 32 | attribution key -> index in attrs */
	struct {
		uint64_t key;
		uint32_t attr;
	} recent[NM_CALLS_RECENT];
};

struct nm_calls *nm_calls_new(void); /* NULL: out of memory */
void nm_calls_free(struct nm_calls *calls);

/* A block of a function (its stack object) is about to run on the stack, its first reference at `at` of the
 * batch. 0 or NM_ENOMEM. */
int nm_calls_run(struct nm_calls *calls, struct nm_stack *stack, uint32_t function, int is_trampoline,
		 size_t at);

/* Gets the context in which handlers of a signal run. 0 or NM_ENOMEM. */
int nm_calls_signal(struct nm_calls *calls, unsigned number, uint32_t *ret_context);

/* The block ended with a call at pc, whose frame has been pushed, or (0) with a return. */
void nm_calls_end(const struct nm_calls *calls, const struct nm_attributions *attrs, struct nm_stack *stack,
		  uint64_t pc);

/* The key of an attribution key in the running context; 0: out of memory. */
uint32_t nm_calls_key(struct nm_calls *calls, uint32_t attr);

/* Replaces the attribution keys of a batch, and starts the next one. 0 or NM_ENOMEM. */
int nm_calls_translate(struct nm_calls *calls, struct nm_ref *batch, size_t count);

#endif
