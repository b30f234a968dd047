/* SPDX-License-Identifier: MIT
 *
 * machine_expect.h - what must hold of a machine, or of a fault, that is read from any text: for spec_fuzz.c
 * and machine_fuzz.c.
 */
#ifndef NM_MACHINE_EXPECT_H
#define NM_MACHINE_EXPECT_H

#include <stdlib.h>
#include <string.h>

#include "machine.h"

static void demand(int holds)
{
	if (!holds)
		abort();
}

/* The caret must be able to stand where the fault is. */
static void expect_fault(int code, const struct nm_error *err)
{
	demand(code == NM_EINVAL && err->code == NM_EINVAL && err->text[0]);
	if (err->column >= 0)
		demand((size_t)err->column <= strlen(err->subject));
}

static void expect_same(const struct nm_machine *m, const struct nm_machine *other)
{
	demand(m->count == other->count && m->memory_latency == other->memory_latency);
	for (unsigned i = 0; i < m->count; i++)
		demand(!memcmp(&m->levels[i], &other->levels[i], sizeof m->levels[i]));
}

/* It is possible, its SPEC is read as the same machine, and a named machine can stand beside it. */
static void expect_machine(const struct nm_machine *m)
{
	static char text[NM_MAX_LEVELS * 800];
	struct nm_machine back, both = *nm_machine_named("zen3");
	struct nm_error err;

	demand(!nm_machine_check(m, &err) && m->count <= NM_MAX_LEVELS && m->name[0] && m->description[0]);
	demand(nm_machine_format(m, text, sizeof text) < sizeof text);
	demand(!nm_machine_parse(text, &back, &err));
	expect_same(m, &back);
	if (!nm_machine_join(&both, m, &err))
		demand(both.count > m->count);
}

#endif
