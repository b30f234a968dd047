/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * access.h - the memory accesses of a VEX statement.
 */
#ifndef NEARMISS_VALGRIND_ACCESS_H
#define NEARMISS_VALGRIND_ACCESS_H

#include "tool.h"

#define MAX_STATEMENT_ACCESSES 2u

struct nm_traced_access {
	IRExpr *address;   /* an atom */
	IRExpr *guard;     /* NULL: it always takes place */
	UInt bytes, flags; /* NM_WIRE_READ and so on */
	Bool is_plain_load;
	Bool may_be_done; /* the read of a compare-and-swap, of which VEX may have made a load before */
};

/* Lists the accesses of the statement in program order; returns their number. */
UInt nm_list_accesses(const IRTypeEnv *types, const IRStmt *st,
		      struct nm_traced_access ret_accesses[MAX_STATEMENT_ACCESSES]);
/* Whether the statement has any. */
Bool nm_has_access(const IRStmt *st);

/* Whether the locked instruction at pc adds, subtracts, or combines bits (and, or, exclusive or), so that two
 * of them commute. Exchanges, with or without a comparison, and tests of single bits do not. */
Bool nm_commutes(Addr pc);

/* Whether the instruction is a direct call that leads to `next`. The opcode may stand behind prefixes, so
 * the byte alone proves nothing (a displacement looks the same): the target must be right too, and not
 * be the next instruction, where zeros would pass. */
Bool nm_is_direct_call(Addr pc, UInt length, Addr next);

#endif
