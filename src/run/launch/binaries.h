/* SPDX-License-Identifier: MIT
 *
 * binaries.h - maps programs and libraries for traces of other tools, which contain addresses only.
 */
#ifndef NM_BINARIES_H
#define NM_BINARIES_H

#include "import.h"
#include "symbol.h"

/* Has the process of an import, before anything was read, map FILE[@ADDRESS]: the lowest byte of the file's
 * segments lies at ADDRESS (decimal, or hexadecimal with 0x); without one, where it is linked to. NM_EINVAL:
 * the file is no ELF file of code, or ADDRESS is no number; or it may lie anywhere, and there is no
 * ADDRESS. */
int nm_binary_map(struct nm_import *import, struct nm_symbols *symbols, const char *binary,
		  struct nm_error *err);

#endif
