/* SPDX-License-Identifier: MIT
 *
 * disassembly.h - disassembles machine code.
 */
#ifndef NM_DISASSEMBLY_H
#define NM_DISASSEMBLY_H

#include <stdint.h>

#include "errors.h"
#include "vector.h"

enum nm_syntax { NM_SYNTAX_ATT, NM_SYNTAX_INTEL };

struct nm_disassembled {
	uint64_t address, target; /* target: of a direct jump or call, else 0 */
	unsigned size;
	char text[200];
};
struct nm_instructions nm_vec(struct nm_disassembled);

/* Appends the instructions of x86-64 code at `address`. A byte that starts no instruction becomes ".byte". 0,
 * NM_ENOMEM, or NM_ENOENT if Capstone cannot be loaded. */
int nm_disassemble(const uint8_t *code, size_t bytes, uint64_t address, enum nm_syntax syntax,
		   struct nm_instructions *ret_instructions, struct nm_error *err);

#endif
