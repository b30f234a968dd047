/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * returns.c - detects returns from allocation and lock functions.
 *
 * Translated code compares the slot of each return address with the lowest slot of all pending calls.
 */
#include "tool.h"

static Addr watched = ~(Addr)0; /* read by translated code */

Addr nm_returns_watched_address(void) { return (Addr)&watched; }

void nm_returns_watch(void)
{
	Addr allocator = nm_allocator_pending(), lock = nm_locks_pending();

	watched = allocator < lock ? allocator : lock;
}

VG_REGPARM(1) void nm_returns_from(Addr slot)
{
	if (slot >= nm_allocator_pending())
		nm_allocator_return(slot);
	if (slot >= nm_locks_pending())
		nm_locks_return(slot);
	nm_returns_watch();
}
