/* SPDX-License-Identifier: MIT
 *
 * items.c - the fields of each item, visited in the order of the format, by a coder that writes or reads
 * them.
 *
 * Writing visits an item twice: first to write the texts and types that are new, as items of their own, then
 * the fields. After an error, reading yields zeros; the caller checks the status once.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/items.h"
#include "varint.h"

struct coder {
	struct nm_symbols *symbols;
	enum { INTRODUCE, WRITE, READ } mode;
	const uint8_t *at, *end; /* input */
	int status;
};

static void fail_coding(struct coder *c, int status) { c->status = c->status ? c->status : status; }

/* A condition on input. */
static void require_valid(struct coder *c, int valid)
{
	if (c->mode == READ && !valid)
		fail_coding(c, NM_EFORMAT);
}

/* ---- numbers and bytes ---- */

static void put_number(struct coder *c, uint64_t n)
{
	struct symbol_encoder *e = c->symbols->encoder;

	if (nm_vec_reserve(&e->items, NM_VARINT_BYTES)) {
		fail_coding(c, NM_ENOMEM);
		return;
	}
	e->items.count += nm_varint_put(e->items.at + e->items.count, n);
}

static uint64_t get_number(struct coder *c)
{
	uint64_t n = 0;

	if (c->status || !nm_varint_get(&c->at, c->end, &n))
		fail_coding(c, NM_EFORMAT);
	return n;
}

static void code_number(struct coder *c, uint64_t *n)
{
	if (c->mode == WRITE)
		put_number(c, *n);
	else if (c->mode == READ)
		*n = get_number(c);
}

static void small_number(struct coder *c, uint32_t *n)
{
	uint64_t wide = *n;

	code_number(c, &wide);
	require_valid(c, wide <= UINT32_MAX);
	*n = (uint32_t)wide;
}

static void code_flag(struct coder *c, int *n)
{
	uint64_t wide = (uint64_t)*n;

	code_number(c, &wide);
	*n = wide != 0;
}

static void write_bytes(struct coder *c, const uint8_t *bytes, size_t count)
{
	struct symbol_encoder *e = c->symbols->encoder;

	put_number(c, count);
	if (nm_vec_reserve(&e->items, count)) {
		fail_coding(c, NM_ENOMEM);
		return;
	}
	if (count)
		memcpy(e->items.at + e->items.count, bytes, count);
	e->items.count += count;
}

static void code_bytes(struct coder *c, const uint8_t **bytes, size_t *count)
{
	if (c->mode == WRITE) {
		write_bytes(c, *bytes, *count);
	} else if (c->mode == READ) {
		uint64_t n = get_number(c);

		require_valid(c, n <= (size_t)(c->end - c->at));
		*bytes = c->at;
		*count = c->status ? 0 : (size_t)n;
		c->at += *count;
	}
}

/* ---- references to earlier items ---- */

static void write_item(struct coder *c, struct item *item);

static void code_text(struct coder *c, const char **name)
{
	if (c->mode == READ) {
		const struct symbol_decoder *d = c->symbols->decoder;
		uint64_t n = get_number(c);

		require_valid(c, n <= d->texts.count);
		*name = n && !c->status ? d->texts.at[n - 1] : NULL;
		return;
	}
	struct nm_map *texts = &c->symbols->encoder->texts;
	uint64_t n = *name ? nm_map_get(texts, (uintptr_t)*name, 0) : 0;

	if (c->mode == WRITE) {
		put_number(c, n);
	} else if (*name && !n) {
		if (nm_map_put(texts, (uintptr_t)*name, texts->count + 1))
			fail_coding(c, NM_ENOMEM);
		write_item(c, &(struct item){.kind = ITEM_TEXT,
					     .data = (const uint8_t *)*name,
					     .data_bytes = strlen(*name)});
	}
}

static void code_type(struct coder *c, const struct nm_type **ret_type)
{
	if (c->mode == READ) {
		const struct symbol_decoder *d = c->symbols->decoder;
		uint64_t n = get_number(c);

		require_valid(c, n <= d->types.count);
		*ret_type = n && !c->status ? d->types.at[n - 1] : NULL;
		return;
	}
	struct nm_map *types = &c->symbols->encoder->types;
	uint64_t n = *ret_type ? nm_map_get(types, (uintptr_t)*ret_type, 0) : 0;

	if (c->mode == WRITE) {
		put_number(c, n);
	} else if (*ret_type && !n) {
		struct nm_type copy = **ret_type;

		if (nm_map_put(types, (uintptr_t)*ret_type, types->count + 1))
			fail_coding(c, NM_ENOMEM);
		write_item(c, &(struct item){.kind = ITEM_TYPE, .described_type = &copy});
	}
}

static void code_module(struct coder *c, struct nm_module **ret_module)
{
	if (c->mode == WRITE) {
		put_number(c, (*ret_module)->encoded_number);
	} else if (c->mode == READ) {
		const struct symbol_decoder *d = c->symbols->decoder;
		uint64_t n = get_number(c);

		require_valid(c, n && n <= d->modules.count);
		*ret_module = c->status ? NULL : d->modules.at[n - 1];
	}
}

/* The module, and low and end. */
static void code_range(struct coder *c, struct item *item)
{
	uint64_t *last =
	    c->mode == READ ? &c->symbols->decoder->last[item->kind] : &c->symbols->encoder->last[item->kind];
	uint64_t distance = item->low - *last;
	uint64_t zigzag = distance << 1 ^ (uint64_t)((int64_t)distance >> 63), bytes = item->end - item->low;

	code_module(c, &item->module);
	code_number(c, &zigzag);
	code_number(c, &bytes);
	if (c->mode == READ) {
		item->low = *last + (zigzag >> 1 ^ -(zigzag & 1));
		item->end = item->low + bytes;
		require_valid(c, item->end >= item->low);
	}
	if (c->mode != INTRODUCE)
		*last = item->low;
}

/* ---- the fields of each kind ---- */

static void build_id(struct coder *c, struct nm_module *m)
{
	const uint8_t *id = m->wanted_id;

	code_bytes(c, &id, &m->wanted_id_bytes);
	require_valid(c, m->wanted_id_bytes <= BUILD_ID_MAX);
	if (c->mode == READ && !c->status)
		memcpy(m->wanted_id, id, m->wanted_id_bytes);
}

static void code_segments(struct coder *c, struct nm_module *m)
{
	uint64_t count = m->segments.count;

	code_number(c, &count);
	for (uint64_t i = 0; i < count && !c->status; i++) {
		if (c->mode == READ && nm_vec_push(&m->segments, (struct segment){0})) {
			fail_coding(c, NM_ENOMEM);
			return;
		}
		struct segment *s = &m->segments.at[i];

		code_number(c, &s->offset);
		code_number(c, &s->vaddr);
		code_number(c, &s->file_bytes);
		code_number(c, &s->bytes);
		code_flag(c, &s->executable);
		require_valid(c, s->vaddr + s->bytes >= s->vaddr && s->offset + s->file_bytes >= s->offset);
	}
}

static void module_fields(struct coder *c, struct nm_module *m)
{
	uint64_t modified = (uint64_t)m->modified;

	code_text(c, &m->path);
	build_id(c, m);
	code_flag(c, &m->had_file);
	code_number(c, &modified);
	m->modified = (int64_t)modified;
	code_segments(c, m);
	code_number(c, &m->tls_bytes);
	code_number(c, &m->tls_image_bytes);
	code_number(c, &m->tls_align);
	require_valid(c, m->path != NULL);
}

static void position_fields(struct coder *c, struct item *item)
{
	code_range(c, item);
	code_number(c, &item->position_count);
	require_valid(c, item->position_count <= POSITIONS_MAX);
	for (uint64_t i = 0; i < item->position_count && !c->status; i++) {
		code_text(c, &item->positions[i].function);
		code_text(c, &item->positions[i].file);
		small_number(c, &item->positions[i].line);
	}
}

static void field_fields(struct coder *c, struct nm_field *f)
{
	code_text(c, &f->name);
	code_number(c, &f->offset);
	code_number(c, &f->bytes);
	code_number(c, &f->stride);
	small_number(c, &f->count);
	code_text(c, &f->type);
	require_valid(c, f->name && f->count && (f->count == 1 || f->stride));
}

static void type_fields(struct coder *c, struct nm_type *t)
{
	struct nm_field *fields = (struct nm_field *)t->fields; /* writing leaves them alone */

	code_text(c, &t->name);
	code_number(c, &t->bytes);
	code_number(c, &t->alignment);
	small_number(c, &t->field_count);
	require_valid(c, t->name && t->bytes && t->field_count <= TYPE_FIELDS_MAX);
	if (c->mode == READ && !c->status) {
		t->fields = fields = calloc(t->field_count + 1, sizeof *fields);
		if (!fields)
			fail_coding(c, NM_ENOMEM);
	}
	for (uint32_t i = 0; i < t->field_count && !c->status; i++)
		field_fields(c, &fields[i]);
}

static void local_fields(struct coder *c, struct nm_local *l)
{
	code_text(c, &l->name);
	code_text(c, &l->type);
	code_text(c, &l->file);
	small_number(c, &l->line);
	code_number(c, &l->below);
	code_number(c, &l->bytes);
	code_type(c, &l->structure);
	require_valid(c, l->name && l->bytes && l->bytes <= l->below);
}

static void locals_fields(struct coder *c, struct nm_locals *locals)
{
	struct nm_local *list = (struct nm_local *)locals->at; /* writing leaves them alone */

	small_number(c, &locals->count);
	require_valid(c, locals->count <= LOCALS_MAX);
	if (c->mode == READ && !c->status) {
		locals->at = list = calloc(locals->count + 1, sizeof *list);
		if (!list)
			fail_coding(c, NM_ENOMEM);
	}
	for (uint32_t i = 0; i < locals->count && !c->status; i++) {
		local_fields(c, &list[i]);
		require_valid(c, !i || list[i].below <= list[i - 1].below - list[i - 1].bytes);
	}
}

static void variable_fields(struct coder *c, struct item *item)
{
	code_range(c, item);
	code_text(c, &item->name);
	code_text(c, &item->type_name);
	code_text(c, &item->file);
	small_number(c, &item->line);
	code_number(c, &item->number);
	code_number(c, &item->bytes);
	require_valid(c, item->name && item->number <= NM_VAR_SECTION);
}

static void question_fields(struct coder *c, struct item *item)
{
	code_module(c, &item->module);
	code_number(c, &item->number);
	if (item->number == ITEM_DIGEST)
		code_text(c, &item->file);
	else
		code_number(c, &item->low);
	require_valid(c, item->number < ITEM_KINDS);
}

static void allocated_fields(struct coder *c, struct item *item)
{
	code_module(c, &item->module);
	code_number(c, &item->low);
	code_number(c, &item->bytes);
	code_number(c, &item->number);
	code_type(c, &item->type);
	require_valid(c, item->number < NM_ALLOCATED_STRUCTURE || item->number == NM_ALLOCATED_OTHER ||
			     (item->number == NM_ALLOCATED_STRUCTURE && item->type));
}

static void assigned_fields(struct coder *c, struct item *item)
{
	code_module(c, &item->module);
	code_number(c, &item->low);
	code_text(c, &item->name);
	small_number(c, &item->line);
	code_number(c, &item->number);
}

static void item_fields(struct coder *c, struct item *item)
{
	switch (item->kind) {
	case ITEM_TEXT: code_bytes(c, &item->data, &item->data_bytes); return;
	case ITEM_MODULE: module_fields(c, item->described); return;
	case ITEM_LEVEL:
		code_module(c, &item->module);
		code_number(c, &item->number);
		require_valid(c, item->number <= NM_DEBUG_DWARF);
		return;
	case ITEM_FUNCTION:
		code_range(c, item);
		code_text(c, &item->name);
		code_text(c, &item->linkage_name);
		require_valid(c, item->name && item->linkage_name);
		return;
	case ITEM_POSITIONS: position_fields(c, item); return;
	case ITEM_VARIABLE:
	case ITEM_TLS_VARIABLE: variable_fields(c, item); return;
	case ITEM_CODE:
		code_module(c, &item->module);
		code_number(c, &item->low);
		code_bytes(c, &item->data, &item->data_bytes);
		return;
	case ITEM_TYPE: type_fields(c, item->described_type); return;
	case ITEM_VARIABLE_TYPE:
		code_module(c, &item->module);
		code_number(c, &item->low);
		code_number(c, &item->number);
		code_type(c, &item->type);
		require_valid(c, item->number <= 1);
		return;
	case ITEM_ALLOCATED: allocated_fields(c, item); return;
	case ITEM_LOCALS:
		code_range(c, item);
		locals_fields(c, &item->locals);
		return;
	case ITEM_DIGEST:
		code_module(c, &item->module);
		code_text(c, &item->file);
		code_text(c, &item->digest);
		require_valid(c, item->file && item->digest);
		return;
	case ITEM_ASSIGNED: assigned_fields(c, item); return;
	case ITEM_NOTHING: question_fields(c, item); return;
	case ITEM_BEGIN:
	case ITEM_COMPLETE:
	case ITEM_KINDS: return;
	}
}

/* ---- whole items ---- */

static void write_item(struct coder *c, struct item *item)
{
	struct coder fields = {.symbols = c->symbols, .mode = INTRODUCE};

	item_fields(&fields, item);
	fields.mode = WRITE;
	put_number(&fields, item->kind);
	item_fields(&fields, item);
	if (fields.status)
		fail_coding(c, fields.status);
}

void item_write(struct nm_symbols *symbols, struct item *item)
{
	struct coder c = {.symbols = symbols, .mode = WRITE};

	write_item(&c, item);
	if (c.status)
		symbols->encoder->status = NM_ENOMEM;
}

int item_read(struct nm_symbols *symbols, const uint8_t **at, const uint8_t *end, struct item *item)
{
	struct coder c = {.symbols = symbols, .mode = READ, .at = *at, .end = end};
	uint64_t kind = get_number(&c);

	require_valid(&c, kind && kind < ITEM_KINDS);
	if (!c.status) {
		item->kind = (enum item_kind)kind;
		item_fields(&c, item);
	}
	*at = c.at;
	return c.status;
}
