/* SPDX-License-Identifier: MIT
 *
 * engine.c - the debugger as a WebAssembly module of a page: what web/src/debugger/engine/ calls.
 *
 * The page gives all parts (parts.h), opens the debugger, and then asks as it would ask the server: the same
 * function answers. A string that a function returns says what was wrong; NULL: nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "debugger.h"
#include "page.h"
#include "parts.h"

#define NM_PAGE_CALLS(name) __attribute__((export_name(#name)))

static struct nm_parts_run run;
static struct nm_references references;
static struct nm_debugger *debugger;
static struct nm_error err;

static const char *answer_status(int status) { return status ? err.text : NULL; }

int nm_debug_load(struct nm_debug_program *p, const struct nm_debugger_source *source, struct nm_error *fault)
{
	if (!run.is_trace)
		return nm_debug_load_nest(p, source, fault);
	*p = run.program;
	p->references = references;
	memset(&run.program, 0, sizeof run.program);
	memset(&references, 0, sizeof references);
	return 0;
}

NM_PAGE_CALLS(room) void *room(size_t bytes) { return malloc(bytes); }

NM_PAGE_CALLS(leave) void leave(void *memory) { free(memory); }

/* The bytes are in memory of room(), which these take over. */
NM_PAGE_CALLS(give_run) const char *give_run(char *text)
{
	const int status = nm_parts_read_run(&run, text, &err);

	free(text);
	return answer_status(status);
}

NM_PAGE_CALLS(give_file) const char *give_file(const char *part, size_t size)
{
	const int status = nm_page_add_file(part, size);

	return answer_status(status ? nm_fail(&err, (enum nm_code)status, "this file is damaged") : 0);
}

NM_PAGE_CALLS(give_blocks) const char *give_blocks(char *bytes, size_t size, double count)
{
	const struct nm_program_part part = {.count = (uint64_t)count, .bytes = bytes, .size = size};
	const int status = nm_parts_read_blocks(&references, &part, &err);

	free(bytes);
	return answer_status(status);
}

NM_PAGE_CALLS(open) const char *open_debugger(void)
{
	const struct nm_debugger_source source = {.path = run.program.path,
						  .settings = run.settings.at,
						  .machine = &run.machine,
						  .from = run.from,
						  .to = run.to};

	return answer_status(nm_debugger_open(&debugger, &source, &err));
}

/* The answer is the value of json_dumpf(). Parameters are in the body. */
NM_PAGE_CALLS(answer) const char *answer(char *method, char *path, char *body)
{
	const struct nm_debugger_request request = {.method = method, .path = path, .body = body};
	const int status = nm_debugger_answer(debugger, &request, NULL, &err);

	free(method);
	free(path);
	free(body);
	return answer_status(status);
}
