/* SPDX-License-Identifier: MIT
 *
 * decode.c - stores the answers of items (items.h), for the look-ups of decoded.h.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cache/decoded.h"

void symbol_decoder_free(struct symbol_decoder *d)
{
	if (!d)
		return;
	nm_vec_free(&d->texts);
	nm_vec_free(&d->modules);
	nm_vec_free(&d->types);
	free(d);
}

/* The module that an earlier run has described, or a new one; NULL when out of memory. */
static struct nm_module *find_module(struct nm_symbols *symbols, const struct nm_module *like)
{
	struct nm_module *m;

	for (size_t i = 0; i < symbols->modules.count; i++) {
		m = symbols->modules.at[i];
		if (m->decoded && m->path == like->path && m->wanted_id_bytes == like->wanted_id_bytes &&
		    !memcmp(m->wanted_id, like->wanted_id, like->wanted_id_bytes))
			return m;
	}
	m = module_new(symbols, like->path);
	if (m && !(m->decoded = calloc(1, sizeof *m->decoded)))
		return NULL;
	if (m) {
		m->wanted_id_bytes = like->wanted_id_bytes;
		memcpy(m->wanted_id, like->wanted_id, like->wanted_id_bytes);
	}
	return m;
}

static int add_module(struct nm_symbols *symbols, struct nm_module *from)
{
	struct nm_module *m = find_module(symbols, from);

	if (!m || nm_vec_push(&symbols->decoder->modules, m))
		return NM_ENOMEM;
	m->had_file = from->had_file;
	m->modified = from->modified;
	m->segments.count = 0;
	for (size_t i = 0; i < from->segments.count; i++)
		if (nm_vec_push(&m->segments, from->segments.at[i]))
			return NM_ENOMEM;
	m->tls_bytes = from->tls_bytes;
	m->tls_image_bytes = from->tls_image_bytes;
	m->tls_align = from->tls_align;
	return 0;
}

static int add_text(struct nm_symbols *symbols, const struct item *item)
{
	const char *text = nm_intern_n(&symbols->pool, (const char *)item->data, item->data_bytes);

	return text ? nm_vec_push(&symbols->decoder->texts, text) : NM_ENOMEM;
}

static int add_type(struct nm_symbols *symbols, const struct nm_type *described)
{
	const struct nm_type *type = type_intern(symbols, described);

	return type ? nm_vec_push(&symbols->decoder->types, type) : NM_ENOMEM;
}

/* The range of an item gets the index `id` in the list of its kind. */
static int add_range(struct range_table *table, const struct item *item, size_t id)
{
	return nm_vec_push(&table->added, (struct span){item->low, item->end, (uint32_t)id});
}

static int add_function(struct decoded_symbols *to, const struct item *item)
{
	const struct nm_function f = {item->name, item->linkage_name, item->low, item->end};

	if (nm_vec_push(&to->function_list, f))
		return NM_ENOMEM;
	return add_range(&to->functions, item, to->function_list.count - 1);
}

static int add_positions(struct decoded_symbols *to, const struct item *item)
{
	const struct decoded_positions chain = {(uint32_t)to->position_list.count,
						(uint32_t)item->position_count};

	for (uint64_t i = 0; i < item->position_count; i++)
		if (nm_vec_push(&to->position_list, item->positions[i]))
			return NM_ENOMEM;
	if (nm_vec_push(&to->chains, chain))
		return NM_ENOMEM;
	return add_range(&to->positions, item, to->chains.count - 1);
}

static int add_variable(struct decoded_symbols *to, const struct item *item)
{
	const struct nm_variable v = {.name = item->name,
				      .type = item->type_name,
				      .file = item->file,
				      .line = item->line,
				      .kind = (enum nm_variable_kind)item->number,
				      .low = item->low,
				      .end = item->end,
				      .alignment = item->bytes};

	if (nm_vec_push(&to->variable_list, v))
		return NM_ENOMEM;
	return add_range(item->kind == ITEM_VARIABLE ? &to->variables : &to->tls_variables, item,
			 to->variable_list.count - 1);
}

static int add_code(struct decoded_symbols *to, const struct item *item)
{
	const size_t bytes = item->data_bytes;

	if (nm_vec_reserve(&to->code, sizeof bytes + bytes) ||
	    nm_map_put(&to->code_at, item->low, to->code.count))
		return NM_ENOMEM;
	memcpy(to->code.at + to->code.count, &bytes, sizeof bytes);
	if (bytes)
		memcpy(to->code.at + to->code.count + sizeof bytes, item->data, bytes);
	to->code.count += sizeof bytes + bytes;
	return 0;
}

static int add_locals(struct nm_symbols *symbols, struct decoded_symbols *to, const struct item *item)
{
	const struct nm_locals *locals = NULL;

	if (item->locals.count) {
		locals = locals_intern(symbols, item->locals.at, item->locals.count);
		if (!locals)
			return NM_ENOMEM;
	}
	if (nm_vec_push(&to->locals_list, locals))
		return NM_ENOMEM;
	return add_range(&to->locals, item, to->locals_list.count - 1);
}

static int add_allocated(struct decoded_symbols *to, const struct item *item)
{
	const uint64_t key = allocation_key(item->low, item->bytes);

	if (nm_map_put(&to->allocated, key, item->number))
		return NM_ENOMEM;
	return nm_map_put(&to->allocated_types, key, (uintptr_t)item->type);
}

static int add_assigned(struct decoded_symbols *to, const struct item *item)
{
	if (nm_map_put(&to->assigned, item->low, to->assigned_list.count))
		return NM_ENOMEM;
	return nm_vec_push(&to->assigned_list,
			   ((struct nm_assigned){item->name, item->line, item->number & 1,
						 item->number >> 1 & 1, (unsigned)(item->number >> 2)}));
}

static int add_nothing(struct decoded_symbols *to, const struct item *item)
{
	const uint64_t about = item->number == ITEM_DIGEST ? (uintptr_t)item->file : item->low;

	return nm_map_put(&to->nothing, question_key((enum item_kind)item->number, about), 1);
}

static void begin_run(struct nm_symbols *symbols)
{
	struct symbol_decoder *d = symbols->decoder;

	d->texts.count = d->modules.count = d->types.count = 0;
	memset(d->last, 0, sizeof d->last);
	d->begun++;
	symbols->complete = 0;
}

static int add_answer(struct nm_symbols *symbols, struct decoded_symbols *to, const struct item *item)
{
	switch (item->kind) {
	case ITEM_LEVEL: to->level = (enum nm_debug_level)item->number; return 0;
	case ITEM_FUNCTION: return add_function(to, item);
	case ITEM_POSITIONS: return add_positions(to, item);
	case ITEM_VARIABLE:
	case ITEM_TLS_VARIABLE: return add_variable(to, item);
	case ITEM_CODE: return add_code(to, item);
	case ITEM_DIGEST: return nm_map_put(&to->digests, (uintptr_t)item->file, (uintptr_t)item->digest);
	case ITEM_VARIABLE_TYPE:
		return nm_map_put(&to->variable_types, item->low * 2 + item->number, (uintptr_t)item->type);
	case ITEM_LOCALS: return add_locals(symbols, to, item);
	case ITEM_ALLOCATED: return add_allocated(to, item);
	case ITEM_ASSIGNED: return add_assigned(to, item);
	case ITEM_NOTHING: return add_nothing(to, item);
	default: return NM_EFORMAT;
	}
}

static int add_item(struct nm_symbols *symbols, const struct item *item)
{
	struct symbol_decoder *d = symbols->decoder;

	switch (item->kind) {
	case ITEM_TEXT: return add_text(symbols, item);
	case ITEM_MODULE: return add_module(symbols, item->described);
	case ITEM_TYPE: return add_type(symbols, item->described_type);
	case ITEM_BEGIN: begin_run(symbols); return 0;
	case ITEM_COMPLETE:
		d->completed++;
		symbols->complete = d->completed == d->begun;
		return 0;
	default: return add_answer(symbols, item->module->decoded, item);
	}
}

static int decode_item(struct nm_symbols *symbols, const uint8_t **at, const uint8_t *end)
{
	struct nm_module module = {0};
	struct nm_type type = {0};
	struct item item = {.described = &module, .described_type = &type};
	int status = item_read(symbols, at, end, &item);

	if (!status)
		status = add_item(symbols, &item);
	nm_vec_free(&module.segments);
	free((void *)type.fields);
	free((void *)item.locals.at);
	return status;
}

int nm_symbols_decode(struct nm_symbols *symbols, const uint8_t *bytes, size_t count, struct nm_error *err)
{
	const uint8_t *at = bytes, *end = bytes + count;
	int status = 0;

	assert(bytes || !count);
	if (!symbols->decoder && !(symbols->decoder = calloc(1, sizeof *symbols->decoder)))
		return nm_fail_memory(err);
	while (at < end && !status)
		status = decode_item(symbols, &at, end);
	if (status == NM_ENOMEM)
		return nm_fail_memory(err);
	return status ? nm_fail(err, NM_EFORMAT, "the names are damaged") : 0;
}

void nm_symbols_expect_more(struct nm_symbols *symbols, int more) { symbols->expecting = more; }
