/* SPDX-License-Identifier: MIT
 *
 * attribution.h - what references are charged to: an attribution key stands for one (lane, site, object).
 *
 * A site is a line of the source with the chain of calls that it is inlined through; without debug
 * information it is a function, and on request (--asm) an instruction. One in library code also has the user's
 * call that led there, which it is shown at. Attribution keys are dense numbers, so
 * models count in flat arrays. Reads and writes are counted here, as the references are made. A small
 * direct-mapped cache in front of the hash serves sites that alternate between objects.
 *
 * Dropped: one attribution key for each instruction and object, folded to sites at the end. It doubled the
 * memory for gcc, most of it pairs of keys that evict each other.
 */
#ifndef NM_ATTRIBUTION_H
#define NM_ATTRIBUTION_H

#include <stdint.h>

#include "map.h"
#include "result.h"
#include "symbol.h"
#include "vector.h"

struct nm_instruction {
	uint64_t pc;              /* at run time */
	struct nm_module *module; /* or NULL: code without a file */
	uint64_t bias;
	uint32_t site; /* index in nm_attributions.sites */
};

/* A site that the stream named (NM_WIRE_PLACE). */
struct nm_named_site {
	uint64_t pc;
	struct nm_result_site site;
};

struct nm_attribution {
	uint32_t lane, site, object; /* lane: regions.h; of samples, a thread */
};

struct nm_attr_references {
	uint64_t count[2]; /* reads (or instructions fetched), writes */
};

struct nm_recent_attr {
	uint64_t key;
	uint32_t attr; /* 0: none */
};

enum { NM_RECENT_ATTRS_BITS = 12 };

/* A packed key: 12 bits of lane, 26 of site, 26 of object. Larger numbers share the last one. */
enum { NM_LANE_MAX = (1 << 12) - 1, NM_SITE_MAX = (1 << 26) - 1, NM_OBJECT_MAX = (1 << 26) - 1 };

struct nm_attributions {
	struct nm_vec(struct nm_instruction) instructions;
	struct nm_map instruction_of_pc;
	struct nm_map called; /* (instruction << 32 | the user's call) -> instruction with that call's site */
	int by_instruction;   /* a site is one instruction, not a line; */
	/* also of code without a file, which is otherwise one site, or those that the stream names */
	int by_pc;
	struct nm_symbols *symbols; /* interns; NULL: no module is ever looked up */
	const char *user_folders;   /* of the user's sources (user_code.h), or NULL */
	struct nm_vec(struct nm_named_site) named;
	struct nm_vec(struct nm_result_site) sites;
	struct nm_vec(uint32_t) site_instructions; /* of each site: its first instruction */
	struct nm_map site_of; /* hash of a site -> its index; on a collision, the next free key */
	struct nm_vec(struct nm_attribution) list; /* [0] is unused */
	struct nm_attr_references *references;     /* [list.room] */
	size_t references_room;
	struct nm_map attr_of; /* packed (lane, site, object) */
	struct nm_recent_attr *recent;
};

int nm_attributions_init(struct nm_attributions *attrs);
void nm_attributions_done(struct nm_attributions *attrs);

/* The site of the instruction at pc, an index in `sites`. 0 or NM_ENOMEM. */
int nm_attributions_instruction(struct nm_attributions *attrs, uint64_t pc, struct nm_module *module,
				uint64_t bias, uint32_t *ret_instruction);

/* Is the function around pc a library's (user_code.h)? */
int nm_attributions_is_library(const struct nm_attributions *attrs, uint64_t pc, struct nm_module *module,
			       uint64_t bias);

/* The user's calls are told apart by their sites, and numbered: 1 + the first instruction that has the site of this
 * one. Call 0: of none. */
static inline uint32_t nm_attributions_user_call(const struct nm_attributions *attrs, uint32_t instruction)
{
	return 1 + attrs->site_instructions.at[attrs->instructions.at[instruction].site];
}

/* Of the number of a call: where it led to, MPI's code waits (mpi_code.h), */
#define NM_WAITS (1u << 30)
/* or that of the MPI library itself, in a loop around it, and its transports' does other work. */
#define NM_WAITS_AROUND (1u << 29)

/* An instruction, of library code that the user's call led to: its site is shown at the call, and as waiting if it
 * is. The instruction itself where that would tell nothing more. 0 or NM_ENOMEM. */
int nm_attributions_called(struct nm_attributions *attrs, uint32_t instruction, uint32_t call,
			   uint32_t *ret_instruction);

/* Code outside of any module: the stream gives the source line of the instruction at pc. 0 or NM_ENOMEM. */
int nm_attributions_name_site(struct nm_attributions *attrs, uint64_t pc, struct nm_result_site site);

/* Copies the named sites of `from`, for a forked child. 0 or NM_ENOMEM. */
int nm_attributions_inherit_sites(struct nm_attributions *attrs, const struct nm_attributions *from);

/* Forgets the sites of [low, end): other code may be loaded there. */
void nm_attributions_forget_code(struct nm_attributions *attrs, uint64_t low, uint64_t end);

/* The attribution key for a packed key that the cache lacks, made if it is new; 0: out of memory. */
uint32_t nm_attributions_find(struct nm_attributions *attrs, uint64_t key, struct nm_recent_attr *recent);

/* The attribution key of (lane, site, object); 0: out of memory. */
static inline uint32_t nm_attributions_get(struct nm_attributions *attrs, uint32_t lane, uint32_t site,
					   uint32_t object)
{
	uint64_t high = lane < NM_LANE_MAX ? lane : NM_LANE_MAX;
	uint64_t low = object < NM_OBJECT_MAX ? object : NM_OBJECT_MAX;
	uint64_t key = high << 52 | (uint64_t)site << 26 | low;
	struct nm_recent_attr *r = &attrs->recent[key * 0x9e3779b97f4a7c15ull >> (64 - NM_RECENT_ATTRS_BITS)];

	return r->attr && r->key == key ? r->attr : nm_attributions_find(attrs, key, r);
}

#endif
