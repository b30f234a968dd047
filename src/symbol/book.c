/* SPDX-License-Identifier: MIT
 *
 * book.c - notes answers (book.h).
 *
 * An answer is noted once.  With a function go the positions of all its instructions: a later reader may ask for
 * ones that were not asked now (the fetches of instructions, say).
 */
#include <stdlib.h>
#include <string.h>

#include "book.h"

struct book {
	struct nm_vec(uint8_t) notes, given;
	struct nm_map texts; /* address of an interned text -> its number */
	struct nm_map seen;  /* what was noted, by kind, module and start */
	struct nm_map types; /* address of a type -> its number */
	uint32_t modules;
	uint64_t last[ITEM_KINDS]; /* start of the last range of a kind */
	int failed;                /* memory was exhausted */
};

int nm_symbols_keep(struct nm_symbols *symbols, struct nm_error *err)
{
	if (!symbols->book && !(symbols->book = calloc(1, sizeof *symbols->book)))
		return nm_fail_memory(err);
	return 0;
}

void book_free(struct book *book)
{
	if (!book)
		return;
	nm_vec_free(&book->notes);
	nm_vec_free(&book->given);
	nm_map_done(&book->texts);
	nm_map_done(&book->types);
	nm_map_done(&book->seen);
	free(book);
}

/* ---- items ---- */

static void put(struct book *b, uint64_t n)
{
	if (nm_vec_reserve(&b->notes, 10)) {
		b->failed = 1;
		return;
	}
	for (; n >= 0x80; n >>= 7)
		b->notes.at[b->notes.count++] = (uint8_t)(n | 0x80);
	b->notes.at[b->notes.count++] = (uint8_t)n;
}

static void put_bytes(struct book *b, const void *bytes, size_t count)
{
	put(b, count);
	if (nm_vec_reserve(&b->notes, count)) {
		b->failed = 1;
		return;
	}
	if (count)
		memcpy(b->notes.at + b->notes.count, bytes, count);
	b->notes.count += count;
}

/* Notes a text if it is new.  Called before the item that names it begins. */
static void note_text(struct book *b, const char *text)
{
	if (!text || nm_map_get(&b->texts, (uintptr_t)text, 0))
		return;
	if (nm_map_put(&b->texts, (uintptr_t)text, b->texts.count + 1))
		b->failed = 1;
	put(b, ITEM_TEXT);
	put_bytes(b, text, strlen(text));
}

static void put_text(struct book *b, const char *text)
{
	put(b, text ? nm_map_get(&b->texts, (uintptr_t)text, 0) : 0);
}

static void put_range(struct book *b, enum item kind, const struct nm_module *module, uint64_t low,
		      uint64_t end)
{
	uint64_t distance = low - b->last[kind];

	b->last[kind] = low;
	put(b, kind);
	put(b, module->noted);
	put(b, distance << 1 ^ (uint64_t)((int64_t)distance >> 63));
	put(b, end - low);
}

/* 1 the first time. */
static int is_new(struct book *b, enum item kind, const struct nm_module *module, uint64_t low)
{
	uint64_t key = nm_mix64(low ^ nm_mix64((uint64_t)kind << 32 | module->noted));

	if (nm_map_get(&b->seen, key, 0))
		return 0;
	if (nm_map_put(&b->seen, key, 1))
		b->failed = 1;
	return 1;
}

/* The module's book, with the module in it, or NULL. */
static struct book *open_book(struct nm_module *module)
{
	if (module->store->book)
		book_note_module(module);
	return module->store->book;
}

/* ---- answers ---- */

void book_note_module(struct nm_module *module)
{
	struct book *b = module->store->book;

	if (!b || module->noted)
		return;
	if (!b->modules)
		put(b, ITEM_BEGIN);
	note_text(b, module->path);
	module->noted = ++b->modules;
	put(b, ITEM_MODULE);
	put_text(b, module->path);
	put_bytes(b, module->wanted_id, module->wanted_id_bytes);
	put(b, (uint64_t)module->had_file);
	put(b, (uint64_t)module->modified);
	put(b, module->segments.count);
	for (size_t i = 0; i < module->segments.count; i++) {
		const struct segment *s = &module->segments.at[i];

		put(b, s->offset);
		put(b, s->vaddr);
		put(b, s->file_bytes);
		put(b, s->bytes);
		put(b, (uint64_t)s->executable);
	}
	put(b, module->tls_bytes);
	put(b, module->tls_image_bytes);
	put(b, module->tls_align);
}

void book_note_level(struct nm_module *module, enum nm_debug_level level)
{
	struct book *b = open_book(module);

	if (!b || !is_new(b, ITEM_LEVEL, module, 0))
		return;
	put(b, ITEM_LEVEL);
	put(b, module->noted);
	put(b, level);
}

static void note_chain(struct book *b, const struct nm_module *module, uint64_t low, uint64_t end,
		       const struct nm_position *at, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		note_text(b, at[i].function);
		note_text(b, at[i].file);
	}
	put_range(b, ITEM_POSITIONS, module, low, end);
	put(b, count);
	for (size_t i = 0; i < count; i++) {
		put_text(b, at[i].function);
		put_text(b, at[i].file);
		put(b, at[i].line);
	}
}

/* Where the answer for vaddr may change next: a unit, a row of its lines or an inlined function begins or ends. */
static uint64_t next_change(struct nm_module *module, uint64_t vaddr, uint64_t end)
{
	struct unit *unit = unit_at(module, vaddr);
	const struct spans *lists[] = {&module->unit_spans, unit ? &unit->code : NULL};
	size_t low = 0, high = unit ? unit->lines.count : 0;

	for (unsigned i = 0; i < 2; i++) {
		size_t at = lists[i] ? spans_search(lists[i], vaddr) : 0;
		const struct span *span = lists[i] && at < lists[i]->count ? &lists[i]->at[at] : NULL;
		uint64_t change = span ? (span->low > vaddr ? span->low : span->end) : end;

		end = change < end ? change : end;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (unit->lines.at[middle].low <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return unit && low < unit->lines.count && unit->lines.at[low].low < end ? unit->lines.at[low].low
										: end;
}

static int same_chain(const struct nm_position *a, size_t n, const struct nm_position *b, size_t m)
{
	for (size_t i = 0; i < n && n == m; i++)
		if (a[i].function != b[i].function || a[i].file != b[i].file || a[i].line != b[i].line)
			return 0;
	return n == m;
}

/* All positions in [low, end), neighbours of the same answer as one range. */
static void note_code(struct book *b, struct nm_module *module, uint64_t low, uint64_t end)
{
	struct nm_position chain[POSITIONS_MAX], here[POSITIONS_MAX];
	uint64_t since = low;
	size_t count = 0;

	for (uint64_t at = low, next; at < end; at = next) {
		size_t n = module_positions(module, at, here, POSITIONS_MAX);

		next = next_change(module, at, end);
		if (at > low && !same_chain(chain, count, here, n)) {
			note_chain(b, module, since, at, chain, count);
			since = at;
		}
		count = n;
		memcpy(chain, here, n * sizeof *here);
	}
	note_chain(b, module, since, end, chain, count);
}

void book_note_function(struct nm_module *module, const struct nm_function *f)
{
	struct book *b = open_book(module);

	if (!b || !is_new(b, ITEM_FUNCTION, module, f->low))
		return;
	book_note_level(module, module_debug_level(module));
	note_text(b, f->name);
	note_text(b, f->linkage_name);
	put_range(b, ITEM_FUNCTION, module, f->low, f->end);
	put_text(b, f->name);
	put_text(b, f->linkage_name);
	note_code(b, module, f->low, f->end);
}

/* The function around it has them all; else this address alone. */
void book_note_positions(struct nm_module *module, uint64_t vaddr)
{
	struct book *b = open_book(module);
	struct nm_function f;

	if (!b)
		return;
	if (module_function(module, vaddr, &f))
		book_note_function(module, &f);
	else if (is_new(b, ITEM_POSITIONS, module, vaddr))
		note_code(b, module, vaddr, vaddr + 1);
}

void book_note_variable(struct nm_module *module, const struct nm_variable *v, int is_thread_local)
{
	struct book *b = open_book(module);
	enum item kind = is_thread_local ? ITEM_TLS_VARIABLE : ITEM_VARIABLE;

	if (!b || !is_new(b, kind, module, v->low))
		return;
	note_text(b, v->name);
	note_text(b, v->type);
	note_text(b, v->file);
	put_range(b, kind, module, v->low, v->end);
	put_text(b, v->name);
	put_text(b, v->type);
	put_text(b, v->file);
	put(b, v->line);
	put(b, v->kind);
}

void book_note_digest(struct nm_module *module, const char *file, const char *digest)
{
	struct book *b = open_book(module);

	if (!b || !is_new(b, ITEM_DIGEST, module, (uintptr_t)file))
		return;
	note_text(b, file);
	note_text(b, digest);
	put(b, ITEM_DIGEST);
	put(b, module->noted);
	put_text(b, file);
	put_text(b, digest);
}

void book_note_nothing(struct nm_module *module, enum item kind, uint64_t about)
{
	struct book *b = module->store->cache ? open_book(module) : NULL;

	if (!b || !is_new(b, ITEM_NOTHING, module, book_question(kind, about)))
		return;
	if (kind == ITEM_DIGEST)
		note_text(b, (const char *)(uintptr_t)about);
	put(b, ITEM_NOTHING);
	put(b, module->noted);
	put(b, kind);
	if (kind == ITEM_DIGEST)
		put_text(b, (const char *)(uintptr_t)about);
	else
		put(b, about);
}

void book_note_code(struct nm_module *module, uint64_t vaddr, const uint8_t *bytes, size_t count)
{
	struct book *b = open_book(module);

	if (!b || !count || !is_new(b, ITEM_CODE, module, vaddr))
		return;
	put(b, ITEM_CODE);
	put(b, module->noted);
	put(b, vaddr);
	put_bytes(b, bytes, count);
}

/* Notes a type if it is new.  Called before the item that names it begins. */
static void note_type(struct book *b, const struct nm_type *type)
{
	int is_frame = type && type->fields[0].type;

	if (!type || nm_map_get(&b->types, (uintptr_t)type, 0))
		return;
	if (nm_map_put(&b->types, (uintptr_t)type, b->types.count + 1))
		b->failed = 1;
	note_text(b, type->name);
	for (uint32_t i = 0; i < type->field_count; i++) {
		note_text(b, type->fields[i].name);
		note_text(b, type->fields[i].type);
	}
	put(b, is_frame ? ITEM_LOCALS : ITEM_TYPE);
	put_text(b, type->name);
	put(b, type->bytes);
	put(b, type->field_count);
	for (uint32_t i = 0; i < type->field_count; i++) {
		put_text(b, type->fields[i].name);
		put(b, type->fields[i].offset);
		put(b, type->fields[i].bytes);
		put(b, type->fields[i].stride);
		put(b, type->fields[i].count);
		if (!is_frame)
			continue;
		put_text(b, type->fields[i].type);
		put(b, type->fields[i].type_bytes);
		put(b, type->fields[i].type_offset);
	}
}

static void put_type(struct book *b, const struct nm_type *type)
{
	put(b, type ? nm_map_get(&b->types, (uintptr_t)type, 0) : 0);
}

void book_note_variable_type(struct nm_module *module, uint64_t vaddr, int is_thread_local,
			     const struct nm_type *type)
{
	struct book *b = open_book(module);

	if (!b || !is_new(b, ITEM_VARIABLE_TYPE, module, vaddr * 2 + (is_thread_local != 0)))
		return;
	note_type(b, type);
	put(b, ITEM_VARIABLE_TYPE);
	put(b, module->noted);
	put(b, vaddr);
	put(b, is_thread_local != 0);
	put_type(b, type);
}

/* One answer for all of the function. */
void book_note_frame_type(struct nm_module *module, uint64_t vaddr, const struct nm_type *type)
{
	struct book *b = open_book(module);
	struct nm_function f;

	if (!b)
		return;
	if (!module_function(module, vaddr, &f))
		f = (struct nm_function){.low = vaddr, .end = vaddr + 1};
	if (!is_new(b, ITEM_FRAME_TYPE, module, f.low))
		return;
	note_type(b, type);
	put_range(b, ITEM_FRAME_TYPE, module, f.low, f.end);
	put_type(b, type);
}

void book_note_allocated(struct nm_module *module, uint64_t vaddr, uint64_t bytes, enum nm_allocated what,
			 const struct nm_type *type)
{
	struct book *b = open_book(module);

	if (!b || !is_new(b, ITEM_ALLOCATED, module, book_allocation(vaddr, bytes)))
		return;
	note_type(b, type);
	put(b, ITEM_ALLOCATED);
	put(b, module->noted);
	put(b, vaddr);
	put(b, bytes);
	put(b, what);
	put_type(b, type);
}

int nm_symbols_noted(struct nm_symbols *symbols, int last, const uint8_t **ret_bytes, size_t *ret_count,
		     struct nm_error *err)
{
	struct book *b = symbols->book;

	if (last)
		put(b, ITEM_COMPLETE);
	if (b->failed)
		return nm_fail_memory(err);
	b->given.count = 0;
	if (nm_vec_reserve(&b->given, b->notes.count))
		return nm_fail_memory(err);
	if (b->notes.count)
		memcpy(b->given.at, b->notes.at, b->notes.count);
	b->given.count = b->notes.count;
	b->notes.count = 0;
	*ret_bytes = b->given.at;
	*ret_count = b->given.count;
	return 0;
}
