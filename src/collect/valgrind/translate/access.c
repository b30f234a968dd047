/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "access.h"

static UInt size_of(IRType type) { return (UInt)sizeofIRType(type); }

/* VEX turns a locked addition into a load and a compare-and-swap. The program reads once, and so do we
 * (Cachegrind counts two reads). */
static UInt list_compare_and_swap(const IRTypeEnv *types, const IRCAS *cas, struct nm_traced_access *accesses)
{
	UInt bytes = size_of(typeOfIRExpr(types, cas->dataLo)) * (cas->dataHi == NULL ? 1 : 2);

	accesses[0] = (struct nm_traced_access){.address = cas->addr,
						.bytes = bytes,
						.flags = NM_WIRE_READ | NM_WIRE_ATOMIC,
						.may_be_done = True};
	accesses[1] = (struct nm_traced_access){
	    .address = cas->addr, .bytes = bytes, .flags = NM_WIRE_WRITE | NM_WIRE_ATOMIC};
	return 2;
}

static UInt list_dirty(const IRDirty *dirty, struct nm_traced_access *accesses)
{
	IRExpr *guard = dirty->guard->tag == Iex_Const ? NULL : dirty->guard;
	UInt n = 0;

	if (dirty->mFx == Ifx_Read || dirty->mFx == Ifx_Modify)
		accesses[n++] = (struct nm_traced_access){.address = dirty->mAddr,
							  .guard = guard,
							  .bytes = (UInt)dirty->mSize,
							  .flags = NM_WIRE_READ};
	if (dirty->mFx == Ifx_Write || dirty->mFx == Ifx_Modify)
		accesses[n++] = (struct nm_traced_access){.address = dirty->mAddr,
							  .guard = guard,
							  .bytes = (UInt)dirty->mSize,
							  .flags = NM_WIRE_WRITE};
	return n;
}

static UInt list_load_linked(const IRTypeEnv *types, const IRStmt *st, struct nm_traced_access *accesses)
{
	IRExpr *stored = st->Ist.LLSC.storedata;
	IRType type = stored == NULL ? typeOfIRTemp(types, st->Ist.LLSC.result) : typeOfIRExpr(types, stored);

	accesses[0] = (struct nm_traced_access){.address = st->Ist.LLSC.addr,
						.bytes = size_of(type),
						.flags = (stored == NULL ? NM_WIRE_READ : NM_WIRE_WRITE) |
							 NM_WIRE_ATOMIC};
	return 1;
}

static UInt list_load(const IRExpr *data, struct nm_traced_access *accesses)
{
	if (data->tag != Iex_Load)
		return 0;
	accesses[0] = (struct nm_traced_access){.address = data->Iex.Load.addr,
						.bytes = size_of(data->Iex.Load.ty),
						.flags = NM_WIRE_READ,
						.is_plain_load = True};
	return 1;
}

static UInt list_guarded_store(const IRTypeEnv *types, const IRStoreG *store,
			       struct nm_traced_access *accesses)
{
	accesses[0] = (struct nm_traced_access){.address = store->addr,
						.guard = store->guard,
						.bytes = size_of(typeOfIRExpr(types, store->data)),
						.flags = NM_WIRE_WRITE};
	return 1;
}

static UInt list_guarded_load(const IRLoadG *load, struct nm_traced_access *accesses)
{
	IRType result, loaded;

	typeOfIRLoadGOp(load->cvt, &result, &loaded);
	accesses[0] = (struct nm_traced_access){
	    .address = load->addr, .guard = load->guard, .bytes = size_of(loaded), .flags = NM_WIRE_READ};
	return 1;
}

UInt nm_list_accesses(const IRTypeEnv *types, const IRStmt *st,
		      struct nm_traced_access accesses[MAX_STATEMENT_ACCESSES])
{
	switch (st->tag) {
	case Ist_WrTmp: return list_load(st->Ist.WrTmp.data, accesses);
	case Ist_Store:
		accesses[0] =
		    (struct nm_traced_access){.address = st->Ist.Store.addr,
					      .bytes = size_of(typeOfIRExpr(types, st->Ist.Store.data)),
					      .flags = NM_WIRE_WRITE};
		return 1;
	case Ist_StoreG: return list_guarded_store(types, st->Ist.StoreG.details, accesses);
	case Ist_LoadG: return list_guarded_load(st->Ist.LoadG.details, accesses);
	case Ist_CAS: return list_compare_and_swap(types, st->Ist.CAS.details, accesses);
	case Ist_LLSC: return list_load_linked(types, st, accesses);
	case Ist_Dirty: return list_dirty(st->Ist.Dirty.details, accesses);
	default: return 0;
	}
}

Bool nm_has_access(const IRStmt *st)
{
	switch (st->tag) {
	case Ist_WrTmp: return st->Ist.WrTmp.data->tag == Iex_Load;
	case Ist_Dirty: return st->Ist.Dirty.details->mFx != Ifx_None;
	case Ist_Store:
	case Ist_StoreG:
	case Ist_LoadG:
	case Ist_CAS:
	case Ist_LLSC: return True;
	default: return False;
	}
}

Bool nm_is_direct_call(Addr pc, UInt length, Addr next)
{
	const UChar *end = (const UChar *)pc + length;
	Int offset;

	if (length < 5 || end[-5] != 0xe8)
		return False;
	VG_(memcpy)(&offset, end - 4, sizeof offset);
	return offset != 0 && pc + length + (Long)offset == next;
}

Bool nm_commutes(Addr pc)
{
	const UChar *at = (const UChar *)pc;
	Bool locked = False;

	/* Prefixes: sizes, segments, repetitions, lock; then REX. */
	while (*at == 0x66 || *at == 0x67 || *at == 0x2e || *at == 0x36 || *at == 0x3e || *at == 0x26 ||
	       *at == 0x64 || *at == 0x65 || *at == 0xf2 || *at == 0xf3 || *at == 0xf0)
		locked |= *at++ == 0xf0;
	if ((*at & 0xf0) == 0x40)
		at++;
	if (!locked)
		return False;
	if (*at == 0x0f)
		return (at[1] & 0xfe) == 0xc0; /* xadd */
	return *at < 0x38 || (*at & 0xfc) == 0x80 ||
	       (*at & 0xfe) == 0xfe; /* add to xor; the same of constants; inc, dec */
}
