/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * emit.h - adds statements to the superblock that is being made. Translations do not nest.
 */
#ifndef NEARMISS_VALGRIND_EMIT_H
#define NEARMISS_VALGRIND_EMIT_H

#include "tool.h"

/* The superblock being made. */
extern IRSB *nm_out;

void nm_emit(IRStmt *statement);
/* Adds a temporary with the value of the expression, and returns it. */
IRExpr *nm_emit_value(IRType type, IRExpr *expression);
IRExpr *nm_constant(ULong value);
IRExpr *nm_emit_sum(IRExpr *a, IRExpr *b);
/* Loads, stores a word of the tool's own. */
IRExpr *nm_emit_load(Addr address);
void nm_emit_store(IRExpr *address, IRExpr *word);
/* The calls of allocator.c and locks.c at the entry of a function; of returns.c: `slot` holds the return
 * address. */
void nm_emit_allocator_entry(UInt function, Addr pc);
void nm_emit_lock_entry(UInt function);
void nm_emit_return(IRExpr *slot);

#endif
