/* SPDX-License-Identifier: MIT */
#include "capstone.h"

#include <dlfcn.h>

#define TEXT_OF(number) #number
#define SONAME(major) "libcapstone.so." TEXT_OF(major)

int nm_capstone_load(struct nm_capstone *ret, struct nm_error *err)
{
	void *library = dlopen(SONAME(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return nm_fail(err, NM_ENOENT, "cannot load Capstone, which disassembles machine code: %s",
			       dlerror());
	ret->open = (__typeof__(ret->open))dlsym(library, "cs_open");
	ret->option = (__typeof__(ret->option))dlsym(library, "cs_option");
	ret->malloc = (__typeof__(ret->malloc))dlsym(library, "cs_malloc");
	ret->disasm_iter = (__typeof__(ret->disasm_iter))dlsym(library, "cs_disasm_iter");
	ret->insn_group = (__typeof__(ret->insn_group))dlsym(library, "cs_insn_group");
	ret->regs_access = (__typeof__(ret->regs_access))dlsym(library, "cs_regs_access");
	ret->free = (__typeof__(ret->free))dlsym(library, "cs_free");
	ret->close = (__typeof__(ret->close))dlsym(library, "cs_close");
	return ret->open && ret->option && ret->malloc && ret->disasm_iter && ret->insn_group &&
		       ret->regs_access && ret->free && ret->close
		   ? 0
		   : nm_fail(err, NM_ENOENT, "Capstone, %s, lacks a function", SONAME(CS_API_MAJOR));
}
