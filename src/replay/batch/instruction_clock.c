/* SPDX-License-Identifier: MIT
 *
 * instruction_clock.c - see instruction_clock.h.
 */
#include "instruction_clock.h"

#include <stdlib.h>

struct nm_instruction_clock *nm_instruction_clock_new(void)
{
	struct nm_instruction_clock *m = calloc(1, sizeof *m);

	if (m && !(m->lists = malloc(NM_INSTRUCTION_CLOCK_LISTS * sizeof *m->lists))) {
		free(m);
		return NULL;
	}
	return m;
}

void nm_instruction_clock_free(struct nm_instruction_clock *c)
{
	if (!c)
		return;
	free(c->lists);
	free(c);
}
