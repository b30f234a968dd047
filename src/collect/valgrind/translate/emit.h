/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * emit.h - adds statements to the superblock being built. Translations do not nest.
 */
#ifndef NEARMISS_VALGRIND_EMIT_H
#define NEARMISS_VALGRIND_EMIT_H

#include "tool.h"

/* The superblock being built. */
extern IRSB *nm_out;

/* Starts the superblock that replaces `in`, with what stands before its first instruction. Returns the index
 * of that instruction, or in->stmts_used if there is none. */
Int nm_emit_start(const IRSB *in);
void nm_emit(IRStmt *statement);
/* Adds a temporary with the value of the expression, and returns it. */
IRExpr *nm_emit_value(IRType type, IRExpr *expression);
IRExpr *nm_constant(ULong value);
IRExpr *nm_emit_sum(IRExpr *a, IRExpr *b);
/* Load and store a word of the tool's own memory. */
IRExpr *nm_emit_load(Addr address);
void nm_emit_store(IRExpr *address, IRExpr *word);
/* Call allocator.c, locks.c or pools.c at the entry of a function, or pending_calls.c before a return; `slot` holds
 * the return address. */
void nm_emit_allocator_entry(UInt function, Addr pc);
void nm_emit_lock_entry(UInt function);
void nm_emit_pool_entry(UInt function, Addr pc);
void nm_emit_return(IRExpr *slot);

#endif
