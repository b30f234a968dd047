/* SPDX-License-Identifier: MIT
 *
 * space.h - the address space of one process: finds the object of an address.
 *
 * Order of precedence: a range that the program named, a live heap block or piece of a pool's memory, the rest
 * of that memory, a variable of a loaded module, the mapping (file or anonymous). Stacks are not included:
 * frames change with every call (frames.h).
 *
 * Objects are small dense numbers with a description (struct nm_object); they get names when the stream has
 * ended (naming/names.c), since a bucket's name depends on the whole run.
 */
#ifndef NM_SPACE_H
#define NM_SPACE_H

#include <stdint.h>

#include "arena.h"
#include "blocks.h"
#include "frames.h"
#include "map.h"
#include "object_kind.h"
#include "symbol.h"
#include "vector.h"

enum { NM_OBJECT_NONE = 0 }; /* object 0: <unknown> */

struct nm_object {
	enum nm_object_kind kind;
	const char *name; /* of variables, named ranges, files; NULL: naming/names.c makes it */
	const char *type;
	const char *at;   /* "file:line" of the declaration or NULL */
	uint32_t context; /* heap buckets and anonymous mappings: allocation context (contexts.h) */
	uint64_t pool;  /* heap buckets: entry pc of the function that hands out pieces of the blocks, or 0 */
	uint32_t chain; /* heap buckets: 1 + the calling context (calls.h), if chains are asked for */
	uint64_t bytes, blocks, largest; /* largest: of the blocks, or of an anonymous mapping */
	/* Stack objects: the local variables of the function, whose objects follow this one. */
	const struct nm_locals *locals;
	int is_piece;                    /* heap buckets: their blocks are pieces of a pool's memory */
	uint32_t frame;                  /* local variables: the stack object of their function */
	const struct nm_type *structure; /* of pieces that processes share, or NULL */
	/* Stack objects: properties of the function (nm_space_frame_object). */
	uint8_t is_allocator, copies, clears, is_trampoline, leaps, nameless;
};

#define NM_STACK_OF "stack of " /* before the function, in the names of stack objects */
#define NM_STACK_PATH "[stack]" /* of the first thread's stack */

/* A mapped range. Mappings do not overlap and are kept in order of address. */
struct nm_mapping {
	uint64_t address, end;
	struct nm_module *file;   /* program or library that its bytes come from, or NULL */
	struct nm_module *module; /* that is certainly loaded there, or NULL (modules.c) */
	uint64_t bias;            /* of the module */
	uint32_t object;          /* the whole mapping as one object; 0 until it is asked for */
	uint32_t context;         /* where mmap was called, 0 if unknown */
	const char *path;         /* interned; "" for anonymous memory */
	uint64_t offset;          /* in the file */
	uint32_t born;            /* number of the mapping, from 1, in the order in which they were made */
	uint8_t allocator;        /* a heap block lies in it, or it is the brk heap */
	uint8_t executable;
	uint8_t shared;     /* with other processes, which may write to it */
	uint8_t identified; /* `file` is certain, by its build-id or by when it was opened */
	uint8_t asked; /* page size that the program has requested: 1 + enum nm_wire_page_size; 0: none */
};

/* A cache of recent locations outside of heap blocks, by granule and by page; cleared when it may be
 * stale. */
struct nm_recent_locations {
	struct {
		uint64_t low, end;
		uint32_t object;
	} ranges[1 << 9];
	struct {
		uint64_t page; /* + 1 */
		uint32_t object;
	} pages[1 << 8];
};

struct nm_space {
	struct nm_symbols *symbols; /* borrowed */
	struct nm_vec(struct nm_object) objects;
	struct nm_vec(struct nm_mapping) mappings;
	struct nm_blocks heap, named;
	struct nm_blocks chunks;   /* in which pools have pieces: those are in `heap` (pools.c) */
	struct nm_map variables;   /* module and vaddr of a variable -> object */
	struct nm_map by_name;     /* interned name -> object: named ranges, files, library data */
	struct nm_map buckets;     /* context -> object, for heap and for anonymous mappings (bit 32) */
	struct nm_map frames;      /* function's interned name and local variables -> stack object */
	struct nm_map threadlocal; /* interned name -> object */
	struct nm_map sections;    /* module and section -> object */
	uint32_t bookkeeping;      /* object for the allocator's own data */
	uint32_t unmeasured;       /* object for all that is touched while measuring is off */
	uint64_t heap_end;         /* of the heap in the data segment (brk); 0: unknown */
	uint32_t mapped;           /* number of mappings so far */
	struct nm_vec(struct nm_tls_block) tls;
	struct nm_vec(struct nm_tls_block) static_tls; /* of every thread, relative to its pointer */
	struct nm_recent_locations recall;
};

/* A module's thread-local block of one thread. */
struct nm_tls_block {
	uint64_t address, end;
	struct nm_module *module;
};

/* The object at an address, with the range around it for which the answer is valid. lasting: until mappings
 * or names change. heap, large: while that block lives. Otherwise for this address only. */
struct nm_location {
	uint32_t object;
	int lasting;
	uint64_t low, end; /* the range, if one applies */
	int page;          /* not lasting, but valid until a change wherever the range has no heap block */
	int heap;          /* it is a heap block, and the program has named no ranges */
	uint32_t large;    /* of a large heap block: its index */
};

int nm_space_init(struct nm_space *space, struct nm_symbols *symbols);
void nm_space_done(struct nm_space *space);

/* Copies a space for a forked child; ret_space need not be initialised. */
int nm_space_copy(struct nm_space *ret_space, const struct nm_space *space);

/* In such a copy: forgets chains, which the child numbers anew. */
void nm_space_forget_chains(struct nm_space *space);

/* These return 0 or NM_ENOMEM. */
int nm_space_find(struct nm_space *space, uint64_t address, struct nm_location *ret_location);
void nm_space_remember(struct nm_space *space, uint64_t address, const struct nm_location *location);
void nm_space_forget(struct nm_space *space); /* mappings, names or stacks have changed */
int nm_space_bucket(struct nm_space *space, uint32_t context, uint32_t chain, uint32_t *ret_object);
int nm_space_alloc(struct nm_space *space, uint64_t address, uint64_t size, uint32_t context, uint32_t chain);
/* A block of an object, which is not counted. */
int nm_space_give(struct nm_space *space, uint64_t address, uint64_t size, uint32_t object);

/* pools.c: a function, pool, hands out a piece of memory, which nm_space_alloc may then add. open: prepares
 * the memory around it. *ret_fits: it can be a piece; else it is a whole block, or reaches beyond what is
 * known to be one thing. 0 or NM_ENOMEM. mark: it has been added. close: 1 if a chunk begins at the address;
 * it ends with its pieces. end_pieces: no piece is left in a range whose mappings go. */
int nm_space_open_chunk(struct nm_space *space, uint64_t address, uint64_t size, uint64_t pool,
			int *ret_fits);
void nm_space_mark_piece(struct nm_space *space, uint64_t address);
int nm_space_close_chunk(struct nm_space *space, uint64_t address, struct nm_block *ret_chunk);
void nm_space_end_pieces(struct nm_space *space, uint64_t address, uint64_t bytes);

/* A piece of memory that processes share, as whoever handed it out calls it. All texts are interned. adopt: of another
 * process. 0 or NM_ENOMEM. */
struct nm_shared_piece {
	uint64_t size;
	const char *name, *type, *at; /* struct nm_object */
	const struct nm_type *structure;
};
int nm_space_adopt_piece(struct nm_space *space, uint64_t address, const struct nm_shared_piece *piece);

int nm_space_name(struct nm_space *space, uint64_t address, uint64_t bytes, const char *name);
int nm_space_thread(struct nm_space *space, uint64_t thread_pointer);

/* The variable around an address, and its structure or that of its elements, or NULL. 1 if nm_space_find has
 * found the variable before. */
struct nm_space_variable {
	uint32_t object;
	uint64_t low, end;
	uint64_t alignment; /* that its declaration asks for; 0: none */
	const struct nm_type *type;
};
int nm_space_variable(struct nm_space *space, uint64_t address, struct nm_space_variable *ret_variable);

/* Whether a function is a trampoline: it runs between a call and the function that is meant. */
int nm_is_trampoline(const char *function);

/* Objects by description; *ret_object is 0 only on failure. */
int nm_space_frame_object(struct nm_space *space, const char *function, int nameless,
			  const struct nm_locals *locals, uint32_t *ret_object);
int nm_space_code_object(struct nm_space *space, const char *module, uint32_t *ret_object);

/* What lies `distance` bytes before the last byte of a frame: a local variable or, as the stack object, what
 * is between them; and how far that goes, as distances. end UINT64_MAX: as far as the stack. */
struct nm_frame_part {
	uint32_t object;
	uint64_t low, end;
};
struct nm_frame_part nm_space_frame_part(const struct nm_space *space, uint32_t stack_object,
					 uint64_t distance);

/* The object at an address in a frame: a local variable of its function, or its stack object, if any. */
static inline uint32_t nm_space_object_in_frame(const struct nm_space *space, struct nm_frame_place frame,
						uint64_t address)
{
	if (!space->objects.at[frame.object].locals)
		return frame.object;
	return nm_space_frame_part(space, frame.object, frame.end - 1 - address).object;
}

/* Whether a function belongs to malloc's family, by its name. */
int nm_is_allocator(const char *function);

/* For tests and checks: whether mappings are sorted and do not overlap. */
int nm_space_is_valid(const struct nm_space *space);

/* mappings.c: the mapping around an address, or NULL; adds a mapping, removes a range, replaces a part of a
 * mapping, sets a range's requested page size (0 or NM_ENOMEM). */
struct nm_mapping *nm_space_mapping(struct nm_space *space, uint64_t address);
int nm_space_map(struct nm_space *space, const struct nm_mapping *mapping);
int nm_space_unmap(struct nm_space *space, uint64_t address, uint64_t bytes);
int nm_space_replace(struct nm_space *space, const struct nm_mapping *part);
int nm_space_ask(struct nm_space *space, uint64_t address, uint64_t bytes, uint8_t asked);

/* modules.c: a mapping of a file has been added at the address, or is now known to hold code (is_code): finds
 * out whether its file is loaded, and gives the module to the mappings that are its segments. 0 or
 * NM_ENOMEM. */
int nm_space_place_module(struct nm_space *space, uint64_t address, int is_code);

/* Shortens a part of anonymous memory to what lies in the pages of one segment, which gives it the module, or
 * in none. */
void nm_space_adopt(const struct nm_space *space, struct nm_mapping *part);

/* Looks an address outside of heap blocks up in the cache, if the program has named no ranges. 1 if it is
 * there. */
static inline int nm_space_recent(const struct nm_space *space, uint64_t address,
				  struct nm_location *ret_location)
{
	const struct nm_recent_locations *r = &space->recall;
	size_t i = address >> 4 & (sizeof r->ranges / sizeof r->ranges[0] - 1);
	size_t k = address >> 12 & (sizeof r->pages / sizeof r->pages[0] - 1);

	if (address - r->ranges[i].low < r->ranges[i].end - r->ranges[i].low) {
		*ret_location = (struct nm_location){.object = r->ranges[i].object,
						     .lasting = 1,
						     .low = r->ranges[i].low,
						     .end = r->ranges[i].end};
		return 1;
	}
	*ret_location = (struct nm_location){.object = r->pages[k].object};
	return r->pages[k].page == (address >> 12) + 1;
}

#endif
