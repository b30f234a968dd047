/* SPDX-License-Identifier: MIT
 *
 * ask.c - questions to the debugger; see debug.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "debug.h"
#include "memstream.h"

static const char *query_parameter(void *self, const char *name)
{
	return json_string_value(json_object_get(self, name));
}

/* Takes `said`. */
json_t *nm_debug_ask(struct nm_debugger *debugger, const char *method, const char *path, json_t *said,
		     struct nm_error *err)
{
	const int is_post = !strcmp(method, "POST");
	char *text = NULL, *body = is_post ? json_dumps(said, 0) : NULL;
	const struct nm_debugger_request request = {.method = method,
						    .path = path,
						    .parameter = is_post ? NULL : query_parameter,
						    .self = said,
						    .body = body};
	json_t *answer = NULL;
	FILE *out = nm_memstream_open(&text, NULL);
	int status = out ? nm_debugger_answer(debugger, &request, out, err) : nm_fail_memory(err);

	if (out && nm_memstream_close(out, &text) && !status)
		status = nm_fail_memory(err);
	if (!status)
		answer = json_loads(text, 0, NULL);
	free(text);
	free(body);
	json_decref(said);
	return answer;
}
