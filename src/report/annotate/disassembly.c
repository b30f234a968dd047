/* SPDX-License-Identifier: MIT
 *
 * Dropped: binutils' libopcodes, whose interface changes with every release, whose shared library is
 * versioned by the distribution's build, and whose licence (GPL-3) is not ours; running objdump, which needs
 * an ELF file around the bytes.
 */
#include "disassembly.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "capstone.h"

static uint64_t target_of(const struct nm_capstone *cs, csh handle, const cs_insn *instruction)
{
	const cs_x86 *x86 = &instruction->detail->x86;

	if (!cs->insn_group(handle, instruction, CS_GRP_JUMP) &&
	    !cs->insn_group(handle, instruction, CS_GRP_CALL))
		return 0;
	return x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM ? (uint64_t)x86->operands[0].imm : 0;
}

int nm_disassemble(const uint8_t *code, size_t bytes, uint64_t address, enum nm_syntax syntax,
		   struct nm_instructions *ret_instructions, struct nm_error *err)
{
	assert(code || !bytes);
	cs_insn *found = NULL;
	struct nm_capstone cs = {0};
	csh handle;
	int status = nm_capstone_load(&cs, err);

	if (status)
		return status;
	if (cs.open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
		return nm_fail_memory(err);
	cs.option(handle, CS_OPT_SYNTAX, syntax == NM_SYNTAX_ATT ? CS_OPT_SYNTAX_ATT : CS_OPT_SYNTAX_INTEL);
	cs.option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	found = cs.malloc(handle);
	if (!found)
		status = nm_fail_memory(err);
	while (bytes && !status) {
		struct nm_disassembled one = {.address = address, .size = 1};

		if (cs.disasm_iter(handle, &code, &bytes, &address, found)) {
			one.size = found->size;
			one.target = target_of(&cs, handle, found);
			snprintf(one.text, sizeof one.text, "%s%s%s", found->mnemonic,
				 *found->op_str ? " " : "", found->op_str);
		} else {
			snprintf(one.text, sizeof one.text, ".byte 0x%02x", *code);
			code++;
			bytes--;
			address++;
		}
		if (nm_vec_push(ret_instructions, one))
			status = nm_fail_memory(err);
	}
	if (found)
		cs.free(found, 1);
	cs.close(&handle);
	return status;
}
