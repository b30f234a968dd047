/* SPDX-License-Identifier: MIT
 *
 * code.c - the machine code of what missed, so that it can be shown where the program is not: each function
 * with an instruction that loaded a line, its bytes and where its lines begin.  Where no symbol tells the
 * function, or it is too large to be one, only the instructions themselves are kept.
 */
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"

enum {
	LARGEST_FUNCTION = 1 << 20,
	LONGEST_INSTRUCTION = 15 /* bytes, on x86 */
};

struct collector {
	struct nm_engine *engine;
	struct nm_result *result;
	/* hash of module and address -> index of the code; equal hashes are told apart */
	struct nm_map known;
	size_t room;
};

/* Which places loaded anything, at any level; malloc'ed. */
static char *find_loading(const struct nm_result *r)
{
	char *loads = calloc(r->site_count + 1, 1);

	for (unsigned level = 0; loads && level < r->machine.count; level++)
		for (size_t i = 0; i < r->attr_count; i++)
			if (r->levels[level].counts[i].loads)
				loads[r->attrs[i].site] = 1;
	return loads;
}

static int add_lines(struct nm_result_code *code, struct nm_module *module)
{
	struct nm_vec(struct nm_result_line) lines = {0};
	struct nm_source_position last = {0}, p;

	for (uint64_t at = code->address; at < code->address + code->size; at++) {
		if (!nm_module_source_positions(module, at, &p, 1))
			p = (struct nm_source_position){0};
		if (lines.count && p.function == last.function && p.file == last.file && p.line == last.line)
			continue;
		last = p;
		if (nm_vec_push(&lines, (struct nm_result_line){at, p.function, p.file, p.line})) {
			nm_vec_free(&lines);
			return NM_ENOMEM;
		}
	}
	code->lines = lines.at;
	code->line_count = lines.count;
	return 0;
}

static int append_code(struct collector *c, struct nm_result_code code)
{
	if (c->result->code_count == c->room) {
		size_t room = c->room ? 2 * c->room : 64;
		struct nm_result_code *more = realloc(c->result->code, room * sizeof *more);

		if (!more)
			return NM_ENOMEM;
		c->result->code = more;
		c->room = room;
	}
	c->result->code[c->result->code_count++] = code;
	return 0;
}

/* Adds [address, address + size) of a module, as far as its file has it. */
static int add_code(struct collector *c, struct nm_module *module, struct nm_result_code code)
{
	uint8_t *bytes = malloc(code.size + 1);

	if (!bytes)
		return NM_ENOMEM;
	code.module = nm_module_name(module);
	code.size = nm_module_code(module, code.address, bytes, code.size);
	code.bytes = bytes;
	if (code.size && !add_lines(&code, module) && !append_code(c, code))
		return 0;
	free(bytes);
	free(code.lines);
	return code.size ? NM_ENOMEM : 0;
}

/* Once for each function, or for each instruction without one. */
static int visit_site(struct collector *c, const struct nm_instruction *site)
{
	struct nm_result_code code = {.address = site->pc - site->bias, .size = LONGEST_INSTRUCTION};
	const char *module = nm_module_name(site->module);
	struct nm_function f;
	uint64_t key, at;

	if (nm_module_function(site->module, code.address, &f) && f.end - f.low <= LARGEST_FUNCTION)
		code = (struct nm_result_code){.function = f.name, .address = f.low, .size = f.end - f.low};
	key = nm_mix64((uintptr_t)module ^ nm_mix64(code.address));
	for (; (at = nm_map_get(&c->known, key, UINT64_MAX)) != UINT64_MAX; key++)
		if (at >= c->result->code_count ||
		    (c->result->code[at].address == code.address && c->result->code[at].module == module))
			return 0;
	if (nm_map_put(&c->known, key, c->result->code_count))
		return NM_ENOMEM;
	return add_code(c, site->module, code);
}

int nm_engine_list_code(struct nm_engine *e, struct nm_result *result)
{
	struct collector c = {.engine = e, .result = result};
	char *loads = find_loading(result);
	int status = loads ? 0 : NM_ENOMEM;

	for (size_t i = 0; i < e->attrs.instructions.count && !status; i++) {
		const struct nm_instruction *site = &e->attrs.instructions.at[i];

		if (site->module && loads[site->site])
			status = visit_site(&c, site);
	}
	nm_map_done(&c.known);
	free(loads);
	return status;
}
