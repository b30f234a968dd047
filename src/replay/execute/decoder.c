/* SPDX-License-Identifier: MIT
 *
 * decoder.c - keeps the definitions of blocks (decoder.h).
 */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

#include "space.h"

struct nm_definition_store *nm_definition_store_new(struct nm_definition_store *older)
{
	struct nm_definition_store *store = calloc(1, sizeof *store);

	if (!store)
		return NULL;
	store->users = 1;
	store->older = older;
	if (older)
		older->users++;
	return store;
}

void nm_definition_store_release(struct nm_definition_store *store)
{
	while (store && --store->users == 0) {
		struct nm_definition_store *older = store->older;

		nm_arena_done(&store->arena);
		free(store);
		store = older;
	}
}

int nm_decoder_define(struct nm_decoder *decoder, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_block_info info;
	int status = nm_wire_block_decode(r, &info, err);
	struct nm_definition *d;

	if (status)
		return status;
	if (info.id > (1u << 28))
		return nm_fail(err, NM_EFORMAT, "block number %u is out of range", info.id);
	if (nm_vec_reach(&decoder->definitions, (size_t)info.id + 1))
		return nm_fail_memory(err);
	d = &decoder->definitions.at[info.id];
	if (d->words)
		return nm_fail(err, NM_EFORMAT, "block %u is defined twice", info.id);
	d->words = nm_arena_alloc(&decoder->definition_store->arena, r->words * sizeof *d->words);
	if (!d->words)
		return nm_fail_memory(err);
	memcpy(d->words, r->payload, r->words * sizeof *d->words);
	d->count = (uint32_t)r->words;
	if (info.def.instructions > decoder->longest)
		decoder->longest = info.def.instructions;
	return 0;
}

struct nm_code_function nm_decoder_function_at(const struct nm_mapping *m, uint64_t pc)
{
	struct nm_function f;

	if (!m || !m->module)
		return (struct nm_code_function){"<code without a file>", NULL, 1};
	if (!nm_module_function(m->module, pc - m->bias, &f))
		return (struct nm_code_function){nm_module_name(m->module), NULL, 1};
	return (struct nm_code_function){f.name, nm_module_locals(m->module, pc - m->bias), 0};
}
