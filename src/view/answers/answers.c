/* SPDX-License-Identifier: MIT
 *
 * answers.c - see answers.h.
 */
#include "answers.h"

#include <stdlib.h>

#include "utf8.h"

json_t *nm_view_text(const char *text)
{
	char *clean = text ? nm_utf8_clean(text) : NULL;
	json_t *json = clean ? json_string(clean) : json_null();

	free(clean);
	return json;
}
