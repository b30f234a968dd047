/* SPDX-License-Identifier: MIT */
#include "attribution.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "mpi_code.h"
#include "user_code.h"

/* Grows the reference counters with the list of attribution keys. */
static int grow_references(struct nm_attributions *attrs)
{
	struct nm_attr_references *bigger;
	size_t room = attrs->list.room;

	if (attrs->references_room >= attrs->list.count + 1)
		return 0;
	if (room < attrs->list.count + 1)
		room = attrs->list.count * 2;
	bigger = realloc(attrs->references, room * sizeof *bigger);
	if (!bigger)
		return NM_ENOMEM;
	memset(bigger + attrs->references_room, 0, (room - attrs->references_room) * sizeof *bigger);
	attrs->references = bigger;
	attrs->references_room = room;
	return 0;
}

int nm_attributions_init(struct nm_attributions *attrs)
{
	memset(attrs, 0, sizeof *attrs);
	attrs->recent = calloc(1u << NM_RECENT_ATTRS_BITS, sizeof *attrs->recent);
	if (!attrs->recent || nm_vec_push(&attrs->list, (struct nm_attribution){0}))
		return NM_ENOMEM;
	return grow_references(attrs);
}

void nm_attributions_done(struct nm_attributions *attrs)
{
	nm_vec_free(&attrs->instructions);
	nm_map_done(&attrs->instruction_of_pc);
	nm_map_done(&attrs->called);
	nm_vec_free(&attrs->site_instructions);
	nm_vec_free(&attrs->named);
	nm_vec_free(&attrs->sites);
	nm_map_done(&attrs->site_of);
	nm_vec_free(&attrs->list);
	nm_map_done(&attrs->attr_of);
	free(attrs->references);
	free(attrs->recent);
}

enum { INLINED_MAX = 64, TEXT_ROOM = 4096 };

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The chain of inlined calls as text, interned. */
static const char *chain_text(struct nm_symbols *symbols, const struct nm_source_position *at, size_t count)
{
	char text[TEXT_ROOM];
	size_t used = 0;

	for (size_t i = 0; i < count && used < sizeof text; i++) {
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " < " : "",
					 at[i].function ? at[i].function : "?");
		if (at[i].file && used < sizeof text)
			used += (size_t)snprintf(text + used, sizeof text - used, " (%s:%" PRIu32 ")",
						 base_name(at[i].file), at[i].line);
	}
	return nm_symbols_intern(symbols, text);
}

static void take_positions(const struct nm_attributions *attrs, struct nm_result_site *site,
			   const struct nm_source_position *at, size_t count)
{
	size_t user = 0;

	while (user < count && !nm_is_user_code(attrs->user_folders, site->module, &at[user]))
		user++;
	site->is_library = user == count;
	user = site->is_library ? 0 : user;
	site->function = at[0].function;
	site->file = at[0].file;
	site->line = at[0].line;
	site->user_function = at[user].function;
	site->user_file = at[user].file;
	site->user_line = at[user].line;
	if (count > 1)
		site->inlined = chain_text(attrs->symbols, at, count);
}

static struct nm_result_site source_of(const struct nm_attributions *attrs, uint64_t pc,
				       struct nm_module *module, uint64_t bias)
{
	struct nm_result_site r = {0};
	struct nm_source_position at[INLINED_MAX];
	size_t count;

	if (!module) {
		r.address = attrs->by_pc || attrs->by_instruction ? pc : 0;
		return r;
	}
	r.module = r.user_module = nm_module_name(module);
	r.address = attrs->by_instruction ? pc - bias : 0;
	r.built = r.user_built = nm_module_modified(module);
	count = nm_module_source_positions(module, pc - bias, at, INLINED_MAX);
	if (count)
		take_positions(attrs, &r, at, count);
	else
		r.is_library =
		    !nm_is_user_code(attrs->user_folders, r.module, &(struct nm_source_position){0});
	r.md5 = r.file ? nm_module_digest(module, r.file) : NULL;
	r.user_md5 = r.user_file ? nm_module_digest(module, r.user_file) : NULL;
	return r;
}

/* Long chains may be cut where they read the same. */
static int same_site(const struct nm_result_site *s, const struct nm_result_site *r)
{
	return s->function == r->function && s->file == r->file && s->module == r->module &&
	       s->inlined == r->inlined && s->line == r->line && s->address == r->address &&
	       s->user_function == r->user_function && s->user_file == r->user_file &&
	       s->user_line == r->user_line;
}

/* The index of a site, which the next new instruction has if it is new. */
static int find_site(struct nm_attributions *attrs, struct nm_result_site s, uint32_t *ret_site)
{
	uint64_t key = nm_mix64(
	    (uintptr_t)s.function ^
	    nm_mix64((uintptr_t)s.file ^ nm_mix64((uintptr_t)s.module + s.line +
						  nm_mix64(s.address ^ nm_mix64((uintptr_t)s.inlined)))));
	uint64_t at;

	while ((at = nm_map_get(&attrs->site_of, key, UINT64_MAX)) != UINT64_MAX &&
	       !same_site(&attrs->sites.at[at], &s))
		key++;
	if (at == UINT64_MAX) {
		at = attrs->sites.count;
		if (nm_vec_push(&attrs->sites, s) ||
		    nm_vec_push(&attrs->site_instructions, (uint32_t)attrs->instructions.count) ||
		    nm_map_put(&attrs->site_of, key, at))
			return NM_ENOMEM;
	}
	*ret_site = at > NM_SITE_MAX ? NM_SITE_MAX : (uint32_t)at;
	return 0;
}

int nm_attributions_instruction(struct nm_attributions *attrs, uint64_t pc, struct nm_module *module,
				uint64_t bias, uint32_t *ret_instruction)
{
	uint64_t instruction = nm_map_get(&attrs->instruction_of_pc, pc, UINT64_MAX);
	struct nm_instruction fresh = {pc, module, bias, 0};

	if (instruction == UINT64_MAX) {
		instruction = attrs->instructions.count;
		if (find_site(attrs, source_of(attrs, pc, module, bias), &fresh.site) ||
		    nm_vec_push(&attrs->instructions, fresh) ||
		    nm_map_put(&attrs->instruction_of_pc, pc, instruction))
			return NM_ENOMEM;
	}
	*ret_instruction = (uint32_t)instruction;
	return 0;
}

int nm_attributions_is_library(const struct nm_attributions *attrs, uint64_t pc, struct nm_module *module,
			       uint64_t bias)
{
	struct nm_source_position at[INLINED_MAX];
	size_t count;

	if (!module)
		return 0;
	count = nm_module_source_positions(module, pc - bias, at, INLINED_MAX);
	if (!count)
		at[count++] = (struct nm_source_position){0};
	return !nm_is_user_code(attrs->user_folders, nm_module_name(module), &at[count - 1]);
}

/* "__memset_avx2_unaligned_erms" is called as memset; interned. */
static const char *called_name(struct nm_symbols *symbols, const char *function)
{
	static const char *const made_for[] = {"_avx", "_sse", "_ssse", "_evex", "_erms", NULL};
	const char *start = function + strspn(function, "_"), *end = NULL;
	char name[64];

	for (size_t i = 0; made_for[i]; i++) {
		const char *at = strstr(start, made_for[i]);

		end = at && (!end || at < end) ? at : end;
	}
	if (!end || start == function || (size_t)(end - start) >= sizeof name)
		return function;
	snprintf(name, sizeof name, "%.*s", (int)(end - start), start);
	return nm_symbols_intern(symbols, name);
}

/* Of a library that comes with the system, the function that was called says enough. */
static int forget_line(struct nm_attributions *attrs, const struct nm_instruction *at,
		       struct nm_result_site *site)
{
	struct nm_function f;

	if (!nm_is_system_library(site->module) || !nm_module_function(at->module, at->pc - at->bias, &f))
		return 0;
	site->function = called_name(attrs->symbols, f.name);
	site->file = site->md5 = site->inlined = NULL;
	site->line = 0;
	return site->function ? 0 : NM_ENOMEM;
}

static const char *chain_of(struct nm_symbols *symbols, const struct nm_result_site *s)
{
	const struct nm_source_position p = {.function = s->function, .file = s->file, .line = s->line};

	return s->inlined ? s->inlined : chain_text(symbols, &p, 1);
}

/* The user's code called that of a site: the site is shown at the call. 0 or NM_ENOMEM. */
static int append_call(struct nm_symbols *symbols, struct nm_result_site *site,
		       const struct nm_result_site *call)
{
	const char *inner = chain_of(symbols, site), *outer = chain_of(symbols, call);
	char text[TEXT_ROOM];

	if (!inner || !outer)
		return NM_ENOMEM;
	snprintf(text, sizeof text, "%s < %s", inner, outer);
	site->inlined = nm_symbols_intern(symbols, text);
	site->user_function = call->user_function;
	site->user_file = call->user_file;
	site->user_line = call->user_line;
	site->user_module = call->user_module;
	site->user_md5 = call->user_md5;
	site->user_built = call->user_built;
	site->is_library = 0;
	return site->inlined ? 0 : NM_ENOMEM;
}

/* MPI's code waits, for the user's call where that is known. 0 or NM_ENOMEM. */
static int show_waiting(struct nm_symbols *symbols, struct nm_result_site *site)
{
	if (site->is_library) {
		site->user_file = site->user_module = site->user_md5 = NULL;
		site->user_line = 0;
		site->is_library = 0;
		site->inlined = chain_of(symbols, site);
	}
	site->user_function = nm_symbols_intern(symbols, nm_mpi_waiting);
	return site->inlined && site->user_function ? 0 : NM_ENOMEM;
}

/* Does the instruction wait, whose call has this number? */
static int does_wait(const struct nm_result_site *site, uint32_t call)
{
	return site->module && (call & NM_WAITS          ? nm_is_mpi_library(site->module)
				: call & NM_WAITS_AROUND ? nm_is_mpi_proper(site->module)
							 : 0);
}

int nm_attributions_called(struct nm_attributions *attrs, uint32_t instruction, uint32_t call,
			   uint32_t *ret_instruction)
{
	const uint64_t key = (uint64_t)instruction << 32 | call,
		       known = nm_map_get(&attrs->called, key, UINT64_MAX);
	const uint32_t caller = call & ~(NM_WAITS | NM_WAITS_AROUND);
	struct nm_instruction fresh = attrs->instructions.at[instruction];
	struct nm_result_site site = attrs->sites.at[fresh.site], user = {0};
	int waits;

	assert(instruction < attrs->instructions.count);
	*ret_instruction = known == UINT64_MAX ? instruction : (uint32_t)known;
	if (known != UINT64_MAX || !site.is_library)
		return 0;
	if (caller)
		user = attrs->sites.at[attrs->instructions.at[caller - 1].site];
	waits = does_wait(&site, call);
	if (!user.user_function && !waits)
		return 0;
	*ret_instruction = (uint32_t)attrs->instructions.count;
	return forget_line(attrs, &fresh, &site) ||
		       (user.user_function && append_call(attrs->symbols, &site, &user)) ||
		       (waits && show_waiting(attrs->symbols, &site)) ||
		       find_site(attrs, site, &fresh.site) || nm_vec_push(&attrs->instructions, fresh) ||
		       nm_map_put(&attrs->called, key, *ret_instruction)
		   ? NM_ENOMEM
		   : 0;
}

int nm_attributions_name_site(struct nm_attributions *attrs, uint64_t pc, struct nm_result_site site)
{
	struct nm_instruction fresh = {pc, NULL, 0, 0};
	struct nm_result_site stored = site;
	size_t instruction = attrs->instructions.count;

	stored.address = attrs->by_pc || attrs->by_instruction ? pc : 0;
	stored.user_function = stored.function;
	stored.user_file = stored.file;
	stored.user_line = stored.line;
	if (find_site(attrs, stored, &fresh.site) || nm_vec_push(&attrs->instructions, fresh) ||
	    nm_map_put(&attrs->instruction_of_pc, pc, instruction))
		return NM_ENOMEM;
	return nm_vec_push(&attrs->named, (struct nm_named_site){pc, site});
}

int nm_attributions_inherit_sites(struct nm_attributions *attrs, const struct nm_attributions *from)
{
	int status = 0;

	assert(attrs != from);
	for (size_t i = 0; i < from->named.count && !status; i++)
		status = nm_attributions_name_site(attrs, from->named.at[i].pc, from->named.at[i].site);
	return status;
}

void nm_attributions_forget_code(struct nm_attributions *attrs, uint64_t low, uint64_t end)
{
	assert(low <= end);
	for (size_t i = 0; i < attrs->instructions.count; i++)
		if (attrs->instructions.at[i].pc - low < end - low &&
		    nm_map_get(&attrs->instruction_of_pc, attrs->instructions.at[i].pc, UINT64_MAX) == i)
			nm_map_remove(&attrs->instruction_of_pc, attrs->instructions.at[i].pc);
}

static uint32_t make_attribution(struct nm_attributions *attrs, uint64_t key)
{
	size_t attr = attrs->list.count;
	struct nm_attribution fresh = {(uint32_t)(key >> 52), (uint32_t)(key >> 26) & NM_SITE_MAX,
				       (uint32_t)key & NM_OBJECT_MAX};

	if (grow_references(attrs) || nm_vec_push(&attrs->list, fresh) ||
	    nm_map_put(&attrs->attr_of, key, attr))
		return 0;
	return (uint32_t)attr;
}

uint32_t nm_attributions_find(struct nm_attributions *attrs, uint64_t key, struct nm_recent_attr *recent)
{
	uint32_t attr = (uint32_t)nm_map_get(&attrs->attr_of, key, 0);

	if (!attr)
		attr = make_attribution(attrs, key);
	*recent = (struct nm_recent_attr){key, attr};
	return attr;
}
