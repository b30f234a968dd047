/* SPDX-License-Identifier: MIT
 *
 * sample_stream.h - two small well-formed streams, which together hold every kind of record.
 */
#ifndef NM_TEST_SAMPLE_STREAM_H
#define NM_TEST_SAMPLE_STREAM_H

#include "encode.h"

/* Blocks of the sample; instructions at SAMPLE_PC and after. */
enum { SAMPLE_LOOP = 1, SAMPLE_CALL = 2, SAMPLE_RETURN = 3, SAMPLE_GROUPS = 4 };
#define SAMPLE_PC 0x401000ull
#define SAMPLE_RAN 1000u /* instructions of code of which it has no blocks */

static inline uint64_t sample_instruction(uint64_t pc, unsigned bytes) { return pc | (uint64_t)bytes << 48; }

static inline uint64_t sample_access(unsigned size, unsigned instruction, unsigned flags)
{
	return size | (uint64_t)instruction << 16 | (uint64_t)flags << 32;
}

/* The same of a group: what is `distance` behind the group's address. */
static inline uint64_t sample_access_at(unsigned distance, unsigned size, unsigned instruction,
					unsigned flags)
{
	return sample_access(size, instruction, flags) | (uint64_t)distance << 48;
}

static inline uint64_t sample_exit(unsigned accesses, unsigned instructions)
{
	return accesses | (uint64_t)instructions << 16;
}

/* The four definitions, and the records before and around them. All return 0 or a negative code. */
int sample_define_blocks(struct nm_wire_words *to);
int sample_start(struct nm_wire_words *to); /* PROCESS, MAP, MODULE, the first thread running */
int sample_stream(struct nm_wire_words *to);

/* The same of a sampled recording. */
int sample_sampled_start(struct nm_wire_words *to);
int sample_sampled_stream(struct nm_wire_words *to);

#endif
