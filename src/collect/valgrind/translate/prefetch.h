/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * prefetch.h - adds the program's prefetches, which VEX drops, to wire blocks.
 */
#ifndef NEARMISS_VALGRIND_PREFETCH_H
#define NEARMISS_VALGRIND_PREFETCH_H

#include "hints.h"
#include "tool.h"

/* Whether the instruction at pc is a prefetch. */
Bool nm_is_prefetch(Addr pc);
/* Adds the current instruction's prefetch. */
void nm_prefetch_add(const struct nm_hint *prefetch);

#endif
