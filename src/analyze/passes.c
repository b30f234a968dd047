/* SPDX-License-Identifier: MIT
 *
 * passes.c - the table of passes.
 */
#include "pass.h"

static const struct nm_pass *const table[] = {
    &nm_pass_cache,
};

const struct nm_pass *const *nm_passes(size_t *ret_count)
{
	*ret_count = sizeof table / sizeof *table;
	return table;
}
