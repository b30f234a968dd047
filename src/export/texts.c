/* SPDX-License-Identifier: MIT
 *
 * texts.c - the names of an export, and their numbers.
 */
#include <stdlib.h>

#include "export_priv.h"
#include "utf8.h"

int nm_export_text(struct nm_export *e, const char *text, const char **ret_text)
{
	char *clean;

	if (!text) {
		*ret_text = NULL;
		return 0;
	}
	clean = nm_utf8_clean(text);
	*ret_text = clean ? nm_intern(&e->pool, clean) : NULL;
	free(clean);
	return *ret_text ? 0 : NM_ENOMEM;
}

int nm_export_id(struct nm_map *ids, const char *text, uint64_t *ret_id, int *ret_new)
{
	uint64_t id = nm_map_get(ids, (uintptr_t)text, 0);

	*ret_new = !id;
	*ret_id = id ? id : ids->count + 1;
	return id ? 0 : nm_map_put(ids, (uintptr_t)text, *ret_id);
}
