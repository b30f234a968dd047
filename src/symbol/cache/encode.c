/* SPDX-License-Identifier: MIT
 *
 * encode.c - writes the answers that a store gives as items (items.h), each once.
 *
 * A function is written with the source positions of all its instructions: a later reader may ask for other
 * ones, for instance for the fetches of instructions.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cache/items.h"

int nm_symbols_start_encoding(struct nm_symbols *symbols, struct nm_error *err)
{
	if (!symbols->encoder && !(symbols->encoder = calloc(1, sizeof *symbols->encoder)))
		return nm_fail_memory(err);
	return 0;
}

void symbol_encoder_free(struct symbol_encoder *e)
{
	if (!e)
		return;
	nm_vec_free(&e->items);
	nm_vec_free(&e->given);
	nm_map_done(&e->texts);
	nm_map_done(&e->types);
	nm_map_done(&e->seen);
	free(e);
}

/* Is the store encoding, and the answer new? Writes its module if that is new too. about: an address or a
 * hash. */
static int is_new(struct nm_module *module, enum item_kind kind, uint64_t about)
{
	struct symbol_encoder *e = module->store->encoder;
	uint64_t key;

	if (!e)
		return 0;
	encode_module(module);
	key = nm_mix64(about ^ nm_mix64((uint64_t)kind << 32 | module->encoded_number));
	if (nm_map_get(&e->seen, key, 0))
		return 0;
	if (nm_map_put(&e->seen, key, 1))
		e->status = NM_ENOMEM;
	return 1;
}

static void write_about(struct nm_module *module, struct item item)
{
	item.module = module;
	item_write(module->store, &item);
}

void encode_module(struct nm_module *module)
{
	struct symbol_encoder *e = module->store->encoder;

	if (!e || module->encoded_number)
		return;
	if (!e->modules)
		write_about(module, (struct item){.kind = ITEM_BEGIN});
	module->encoded_number = ++e->modules;
	write_about(module, (struct item){.kind = ITEM_MODULE, .described = module});
}

void encode_level(struct nm_module *module, enum nm_debug_level level)
{
	if (is_new(module, ITEM_LEVEL, 0))
		write_about(module, (struct item){.kind = ITEM_LEVEL, .number = level});
}

/* Where the answer for vaddr may change next: a unit, a row of its lines or an inlined function begins or
 * ends. */
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

static int same_chain(const struct nm_source_position *p, size_t n, const struct nm_source_position *s,
		      size_t m)
{
	for (size_t i = 0; i < n && n == m; i++)
		if (p[i].function != s[i].function || p[i].file != s[i].file || p[i].line != s[i].line)
			return 0;
	return n == m;
}

static void encode_chain(struct nm_module *module, uint64_t low, uint64_t end,
			 const struct nm_source_position *chain, size_t count)
{
	struct item item = {.kind = ITEM_POSITIONS, .low = low, .end = end, .position_count = count};

	assert(count <= POSITIONS_MAX);
	memcpy(item.positions, chain, count * sizeof *chain);
	write_about(module, item);
}

/* All source positions in [low, end), neighbours with the same answer as one range. */
static void encode_range(struct nm_module *module, uint64_t low, uint64_t end)
{
	struct nm_source_position chain[POSITIONS_MAX], here[POSITIONS_MAX];
	uint64_t since = low;
	size_t count = 0;

	for (uint64_t at = low, next; at < end; at = next) {
		size_t n = module_source_positions(module, at, here, POSITIONS_MAX);

		next = next_change(module, at, end);
		if (at > low && !same_chain(chain, count, here, n)) {
			encode_chain(module, since, at, chain, count);
			since = at;
		}
		count = n;
		memcpy(chain, here, n * sizeof *here);
	}
	encode_chain(module, since, end, chain, count);
}

void encode_function(struct nm_module *module, const struct nm_function *f)
{
	if (!is_new(module, ITEM_FUNCTION, f->low))
		return;
	encode_level(module, module_debug_level(module));
	write_about(module, (struct item){.kind = ITEM_FUNCTION,
					  .low = f->low,
					  .end = f->end,
					  .name = f->name,
					  .linkage_name = f->linkage_name});
	encode_range(module, f->low, f->end);
}

/* With the whole function around vaddr; if there is none, of this address alone. */
void encode_positions(struct nm_module *module, uint64_t vaddr)
{
	struct nm_function f;

	if (!module->store->encoder)
		return;
	encode_module(module);
	if (module_function(module, vaddr, &f))
		encode_function(module, &f);
	else if (is_new(module, ITEM_POSITIONS, vaddr))
		encode_range(module, vaddr, vaddr + 1);
}

void encode_variable(struct nm_module *module, const struct nm_variable *v, int is_thread_local)
{
	enum item_kind kind = is_thread_local ? ITEM_TLS_VARIABLE : ITEM_VARIABLE;

	if (!is_new(module, kind, v->low))
		return;
	write_about(module, (struct item){.kind = kind,
					  .low = v->low,
					  .end = v->end,
					  .name = v->name,
					  .type_name = v->type,
					  .file = v->file,
					  .line = v->line,
					  .number = v->kind,
					  .bytes = v->alignment});
}

void encode_digest(struct nm_module *module, const char *file, const char *digest)
{
	if (is_new(module, ITEM_DIGEST, (uintptr_t)file))
		write_about(module, (struct item){.kind = ITEM_DIGEST, .file = file, .digest = digest});
}

void encode_nothing(struct nm_module *module, enum item_kind kind, uint64_t about)
{
	struct item item = {.kind = ITEM_NOTHING, .number = kind, .low = about};

	if (kind == ITEM_DIGEST)
		item.file = (const char *)(uintptr_t)about;
	if (module->store->cache && is_new(module, ITEM_NOTHING, question_key(kind, about)))
		write_about(module, item);
}

void encode_code(struct nm_module *module, uint64_t vaddr, const uint8_t *bytes, size_t count)
{
	if (count && is_new(module, ITEM_CODE, vaddr))
		write_about(module, (struct item){
					.kind = ITEM_CODE, .low = vaddr, .data = bytes, .data_bytes = count});
}

void encode_variable_type(struct nm_module *module, uint64_t vaddr, int is_thread_local,
			  const struct nm_type *type)
{
	if (is_new(module, ITEM_VARIABLE_TYPE, vaddr * 2 + (is_thread_local != 0)))
		write_about(module, (struct item){.kind = ITEM_VARIABLE_TYPE,
						  .low = vaddr,
						  .number = is_thread_local != 0,
						  .type = type});
}

/* One answer for the whole function. */
void encode_locals(struct nm_module *module, uint64_t vaddr, const struct nm_locals *locals)
{
	struct item item = {.kind = ITEM_LOCALS, .low = vaddr, .end = vaddr + 1};
	struct nm_function f;

	if (!module->store->encoder)
		return;
	if (module_function(module, vaddr, &f)) {
		item.low = f.low;
		item.end = f.end;
	}
	if (locals)
		item.locals = *locals;
	if (is_new(module, ITEM_LOCALS, item.low))
		write_about(module, item);
}

void encode_allocated(struct nm_module *module, uint64_t vaddr, uint64_t bytes, enum nm_allocated what,
		      const struct nm_type *type)
{
	if (is_new(module, ITEM_ALLOCATED, allocation_key(vaddr, bytes)))
		write_about(
		    module,
		    (struct item){
			.kind = ITEM_ALLOCATED, .low = vaddr, .bytes = bytes, .number = what, .type = type});
}

void encode_assigned(struct nm_module *module, uint64_t key, struct nm_assigned assigned)
{
	if (is_new(module, ITEM_ASSIGNED, key))
		write_about(module, (struct item){.kind = ITEM_ASSIGNED,
						  .low = key,
						  .name = assigned.name,
						  .line = assigned.column,
						  .number = (assigned.keeps != 0) |
							    (uint64_t)(assigned.is_returned != 0) << 1 |
							    (uint64_t)assigned.parameter << 2});
}

int nm_symbols_take_encoded(struct nm_symbols *symbols, int last, const uint8_t **ret_bytes,
			    size_t *ret_count, struct nm_error *err)
{
	struct symbol_encoder *e = symbols->encoder;

	if (last)
		item_write(symbols, &(struct item){.kind = ITEM_COMPLETE});
	e->given.count = 0;
	if (e->status || nm_vec_reserve(&e->given, e->items.count))
		return nm_fail_memory(err);
	if (e->items.count)
		memcpy(e->given.at, e->items.at, e->items.count);
	e->given.count = e->items.count;
	e->items.count = 0;
	*ret_bytes = e->given.at;
	*ret_count = e->given.count;
	return 0;
}
