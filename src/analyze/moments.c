/* SPDX-License-Identifier: MIT
 *
 * moments.c - see moments.h.
 */
#include "moments.h"

#include <stdlib.h>

struct nm_moments *nm_moments_new(void)
{
	struct nm_moments *m = calloc(1, sizeof *m);

	if (m && !(m->lists = malloc(NM_MOMENTS * sizeof *m->lists))) {
		free(m);
		return NULL;
	}
	return m;
}

void nm_moments_free(struct nm_moments *m)
{
	if (!m)
		return;
	free(m->lists);
	free(m);
}

uint64_t nm_moments_take(struct nm_moments *m, const struct nm_ref *refs, size_t count, uint64_t reference)
{
	uint64_t found = 0;

	for (size_t i = 0; i < count; i++) {
		m->references += refs[i].weight;
		if (m->references == reference)
			found = m->lists[m->taking][i];
	}
	m->taking = (m->taking + 1) % NM_MOMENTS;
	return found;
}
