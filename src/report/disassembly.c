/* SPDX-License-Identifier: MIT
 *
 * disassembly.c - see disassembly.h.
 *
 * By Capstone, a library for the purpose with a stable interface.  Dropped: binutils' libopcodes, whose interface
 * changes with every release, whose shared library is versioned by the distribution's build, and whose licence
 * (GPL-3) is not ours; objdump as a program, which would have to be given an ELF file made of the bytes.
 */
#include "disassembly.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <string.h>

static uint64_t target_of(csh handle, const cs_insn *instruction)
{
	const cs_x86 *x86 = &instruction->detail->x86;

	if (!cs_insn_group(handle, instruction, CS_GRP_JUMP) &&
	    !cs_insn_group(handle, instruction, CS_GRP_CALL))
		return 0;
	return x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM ? (uint64_t)x86->operands[0].imm : 0;
}

int nm_disassemble(const uint8_t *code, size_t bytes, uint64_t address, enum nm_syntax syntax,
		   struct nm_instructions *ret_instructions)
{
	cs_insn *found = NULL;
	csh handle;
	int rc = 0;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
		return NM_ENOMEM;
	cs_option(handle, CS_OPT_SYNTAX, syntax == NM_SYNTAX_ATT ? CS_OPT_SYNTAX_ATT : CS_OPT_SYNTAX_INTEL);
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	found = cs_malloc(handle);
	if (!found)
		rc = NM_ENOMEM;
	while (bytes && !rc) {
		struct nm_instruction one = {.address = address, .size = 1};

		if (cs_disasm_iter(handle, &code, &bytes, &address, found)) {
			one.size = found->size;
			one.target = target_of(handle, found);
			snprintf(one.text, sizeof one.text, "%s%s%s", found->mnemonic,
				 *found->op_str ? " " : "", found->op_str);
		} else {
			snprintf(one.text, sizeof one.text, ".byte 0x%02x", *code);
			code++;
			bytes--;
			address++;
		}
		rc = nm_vec_push(ret_instructions, one);
	}
	if (found)
		cs_free(found, 1);
	cs_close(&handle);
	return rc;
}
