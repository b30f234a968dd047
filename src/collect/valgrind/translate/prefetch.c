/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * prefetch.c - evaluates the addresses of prefetches, which VEX drops.
 *
 * The address comes from the guest's registers, so that VEX must store each register before the next instruction,
 * not only before exits. That is costly; we ask for it superblock by superblock, where bytes of its code look like
 * a prefetch. VEX asks us with the bytes that it has decoded, before it drops stores.
 */
#include "prefetch.h"

#include "emit.h"
#include "libvex_guest_amd64.h"
#include "wire_block.h"

static UInt (*core_needs_self_check)(void *closure, VexRegisterUpdates *updates,
				     const VexGuestExtents *extents);

static UInt needs_self_check(void *closure, VexRegisterUpdates *updates, const VexGuestExtents *extents)
{
	const UInt checks = core_needs_self_check(closure, updates, extents);
	Int i;

	for (i = 0; i < extents->n_used; i++)
		if (nm_hint_may_prefetch((const UChar *)extents->base[i], extents->len[i]))
			*updates = VexRegUpdAllregsAtEachInsn;
	return checks;
}

void nm_prefetch_keep_registers(VexTranslateArgs *args)
{
	core_needs_self_check = args->needs_self_check;
	args->needs_self_check = needs_self_check;
}

Bool nm_is_prefetch(Addr pc) { return nm_hint_decode((const UChar *)pc, pc).kind == NM_HINT_PREFETCH; }

static IRExpr *emit_get(Int offset) { return nm_emit_value(Ity_I64, IRExpr_Get(offset, Ity_I64)); }

/* The guest has its registers in the order of their numbers in code. */
static IRExpr *emit_register(Int number)
{
	return emit_get((Int)offsetof(VexGuestAMD64State, guest_RAX) + 8 * number);
}

static IRExpr *emit_address(const struct nm_operand *operand)
{
	IRExpr *sum = nm_constant((ULong)operand->displacement);

	if (operand->base >= 0)
		sum = nm_emit_sum(emit_register(operand->base), sum);
	if (operand->index >= 0)
		sum = nm_emit_sum(
		    sum,
		    nm_emit_value(Ity_I64, IRExpr_Binop(Iop_Shl64, emit_register(operand->index),
							IRExpr_Const(IRConst_U8((UChar)operand->shift)))));
	if (operand->is_narrow)
		sum = nm_emit_value(Ity_I64, IRExpr_Binop(Iop_And64, sum, nm_constant(0xffffffffull)));
	if (operand->segment == NM_SEGMENT_FS)
		sum = nm_emit_sum(sum, emit_get(offsetof(VexGuestAMD64State, guest_FS_CONST)));
	if (operand->segment == NM_SEGMENT_GS)
		sum = nm_emit_sum(sum, emit_get(offsetof(VexGuestAMD64State, guest_GS_CONST)));
	return sum;
}

/* Programs prefetch from pointers that may be wild or null. The processor ignores those that nothing can be
 * mapped at: the first page, and all above user addresses. */
void nm_prefetch_add(const struct nm_hint *prefetch)
{
	IRExpr *address = emit_address(&prefetch->operand);
	IRExpr *above = nm_emit_sum(address, nm_constant(-(ULong)VKI_PAGE_SIZE));
	IRExpr *valid = nm_emit_value(
	    Ity_I1, IRExpr_Binop(Iop_CmpLT64U, above, nm_constant((1ull << 47) - 2 * (ULong)VKI_PAGE_SIZE)));

	nm_block_add_guarded(address, valid, 1, NM_WIRE_PREFETCH | prefetch->flags);
}
