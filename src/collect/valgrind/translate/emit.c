/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "emit.h"

IRSB *nm_out;

void nm_emit(IRStmt *statement) { addStmtToIRSB(nm_out, statement); }

Int nm_emit_start(const IRSB *in)
{
	Int i;

	nm_out = deepCopyIRSBExceptStmts(in);
	for (i = 0; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		nm_emit(in->stmts[i]);
	return i;
}

IRExpr *nm_emit_value(IRType type, IRExpr *expression)
{
	IRTemp temporary = newIRTemp(nm_out->tyenv, type);

	nm_emit(IRStmt_WrTmp(temporary, expression));
	return IRExpr_RdTmp(temporary);
}

IRExpr *nm_constant(ULong value) { return IRExpr_Const(IRConst_U64(value)); }

IRExpr *nm_emit_sum(IRExpr *a, IRExpr *b) { return nm_emit_value(Ity_I64, IRExpr_Binop(Iop_Add64, a, b)); }

IRExpr *nm_emit_load(Addr address)
{
	return nm_emit_value(Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, nm_constant(address)));
}

void nm_emit_store(IRExpr *address, IRExpr *word) { nm_emit(IRStmt_Store(Iend_LE, address, word)); }

void nm_emit_allocator_entry(UInt function, Addr pc)
{
	nm_emit(IRStmt_Dirty(unsafeIRDirty_0_N(2, "nm_allocator_entry",
					       VG_(fnptr_to_fnentry)(&nm_allocator_entry),
					       mkIRExprVec_2(nm_constant(function), nm_constant(pc)))));
}

void nm_emit_lock_entry(UInt function)
{
	nm_emit(IRStmt_Dirty(unsafeIRDirty_0_N(1, "nm_locks_entry", VG_(fnptr_to_fnentry)(&nm_locks_entry),
					       mkIRExprVec_1(nm_constant(function)))));
}

void nm_emit_pool_entry(UInt function, Addr pc)
{
	nm_emit(IRStmt_Dirty(unsafeIRDirty_0_N(2, "nm_pools_entry", VG_(fnptr_to_fnentry)(&nm_pools_entry),
					       mkIRExprVec_2(nm_constant(function), nm_constant(pc)))));
}

void nm_emit_return(IRExpr *slot)
{
	IRDirty *dirty = unsafeIRDirty_0_N(1, "nm_calls_return", VG_(fnptr_to_fnentry)(&nm_calls_return),
					   mkIRExprVec_1(slot));
	IRExpr *pending = nm_emit_load(nm_calls_watched_address());

	dirty->guard = nm_emit_value(Ity_I1, IRExpr_Binop(Iop_CmpLE64U, pending, slot));
	nm_emit(IRStmt_Dirty(dirty));
}
