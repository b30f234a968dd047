/* SPDX-License-Identifier: MIT
 *
 * capstone.h - Capstone, which decodes machine code, loaded when it is first needed.
 *
 * Loading it takes 400 page faults, and most commands decode no code: so it is loaded on demand instead of being
 * linked, and never unloaded. Its interface is stable.
 */
#ifndef NM_CAPSTONE_H
#define NM_CAPSTONE_H

#include <capstone/capstone.h>

#include "errors.h"

/* The functions that are used of it. */
struct nm_capstone {
	__typeof__(&cs_open) open;
	__typeof__(&cs_option) option;
	__typeof__(&cs_malloc) malloc;
	__typeof__(&cs_disasm_iter) disasm_iter;
	__typeof__(&cs_insn_group) insn_group;
	__typeof__(&cs_regs_access) regs_access;
	__typeof__(&cs_free) free;
	__typeof__(&cs_close) close;
};

/* 0, or NM_ENOENT if the library is missing or lacks a function. */
int nm_capstone_load(struct nm_capstone *ret_capstone, struct nm_error *err);

#endif
