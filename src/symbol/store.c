/* SPDX-License-Identifier: MIT
 *
 * store.c - the modules of a run and the strings they hand out.
 *
 * A module is known by its path and build-id, so a program that is recompiled between two processes of one
 * run is two modules. Opening reads program headers and the build-id; if the file's build-id is not the
 * wanted one, the module stays without a file (debug information may still be found by id). A store that
 * decoded the answers of an earlier run (cache/items.h) knows its modules before they are asked for. A run
 * has at most some hundred modules: they are searched one by one, by the interned path.
 */
#include <stdlib.h>
#include <string.h>

#include "cache/items.h"

int nm_symbols_new(struct nm_symbols **ret_symbols, struct nm_error *err)
{
	elf_version(EV_CURRENT);
	struct nm_symbols *symbols = calloc(1, sizeof *symbols);
	if (!symbols)
		return nm_fail_memory(err);
	*ret_symbols = symbols;
	return 0;
}

static void module_free(struct nm_module *module)
{
	decoded_symbols_free(module->decoded);
	for (size_t i = 0; i < module->units.count; i++) {
		nm_vec_free(&module->units.at[i].lines);
		nm_vec_free(&module->units.at[i].frames);
		nm_vec_free(&module->units.at[i].code);
	}
	nm_vec_free(&module->units);
	nm_map_done(&module->scoped_names);
	nm_map_done(&module->digests);
	nm_map_done(&module->types_of);
	nm_map_done(&module->locals_of);
	nm_vec_free(&module->unit_spans);
	nm_vec_free(&module->segments);
	nm_vec_free(&module->sections);
	nm_vec_free(&module->functions);
	nm_vec_free(&module->objects);
	nm_vec_free(&module->tls_objects);
	nm_vec_free(&module->function_spans);
	nm_vec_free(&module->variables);
	nm_vec_free(&module->tls_variables);
	nm_vec_free(&module->variable_spans);
	nm_vec_free(&module->tls_spans);
	dwarf_end(module->dwarf);
	if (module->cfi)
		dwarf_cfi_end(module->cfi);
	elf_file_close(&module->debug);
	elf_file_close(&module->file);
	free(module);
}

void nm_symbols_free(struct nm_symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->modules.count; i++)
		module_free(symbols->modules.at[i]);
	symbol_encoder_free(symbols->encoder);
	symbol_decoder_free(symbols->decoder);
	symbol_cache_free(symbols->cache);
	nm_vec_free(&symbols->modules);
	nm_map_done(&symbols->types);
	nm_map_done(&symbols->locals);
	nm_arena_done(&symbols->arena);
	nm_strings_done(&symbols->pool);
	free(symbols);
}

const char *nm_symbols_intern(struct nm_symbols *symbols, const char *text)
{
	return nm_intern(&symbols->pool, text);
}

struct nm_strings *module_pool(struct nm_module *module) { return &module->store->pool; }

static int same_id(const struct nm_module *module, const uint8_t *build_id, size_t bytes)
{
	return module->wanted_id_bytes == bytes && !memcmp(module->wanted_id, build_id, bytes);
}

/* Without a build-id, what is at the path is asked for: not a module whose file was replaced. */
static int serves(const struct nm_module *module, const uint8_t *build_id, size_t bytes)
{
	if (build_id)
		return same_id(module, build_id, bytes);
	return module->file.elf || module->had_file || !module->wanted_id_bytes;
}

struct nm_module *module_new(struct nm_symbols *symbols, const char *path)
{
	struct nm_module *module = calloc(1, sizeof *module);
	if (!module)
		return NULL;
	module->store = symbols;
	module->path = path;
	module->file.fd = module->debug.fd = -1;
	const char *slash = strrchr(path, '/');
	module->name = slash ? nm_intern(&symbols->pool, slash + 1) : path;
	if (module->name && !nm_vec_push(&symbols->modules, module))
		return module;
	module_free(module);
	return NULL;
}

int nm_symbols_module(struct nm_symbols *symbols, const char *path, const uint8_t *build_id,
		      size_t build_id_bytes, struct nm_module **ret_module, struct nm_error *err)
{
	const char *interned = nm_intern(&symbols->pool, path);
	if (!interned)
		return nm_fail_memory(err);
	if (build_id_bytes > BUILD_ID_MAX)
		build_id_bytes = BUILD_ID_MAX;
	for (size_t i = 0; i < symbols->modules.count; i++) {
		struct nm_module *known = symbols->modules.at[i];
		if (known->path == interned && serves(known, build_id, build_id_bytes)) {
			*ret_module = known;
			return 0;
		}
	}
	struct nm_module *module = module_new(symbols, interned);
	if (!module)
		return nm_fail_memory(err);
	if (!symbols->complete && !symbols->expecting) {
		fingerprint_file(symbols, interned);
		elf_file_open(&module->file, interned);
	}
	const uint8_t *wanted = build_id ? build_id : module->file.build_id;
	module->wanted_id_bytes = build_id ? build_id_bytes : module->file.build_id_bytes;
	memcpy(module->wanted_id, wanted, module->wanted_id_bytes);
	if (build_id && !same_id(module, module->file.build_id, module->file.build_id_bytes))
		elf_file_close(&module->file);
	module_read_segments(module);
	module->had_file = module->file.elf != NULL;
	module->modified = module->had_file ? module->file.modified : 0;
	encode_module(module);
	*ret_module = module;
	return 0;
}

void nm_symbols_preload(struct nm_symbols *symbols, const char *path)
{
	struct nm_module *module = NULL;
	struct nm_error err;

	if (!nm_symbols_module(symbols, path, NULL, 0, &module, &err) && module->file.elf)
		module_read_variables(module);
}

void module_seek_file(struct nm_module *module)
{
	if (!module->decoded || module->sought)
		return;
	module->sought = 1;
	if (!module->wanted_id_bytes || !elf_file_open(&module->file, module->path))
		return;
	if (!same_id(module, module->file.build_id, module->file.build_id_bytes))
		elf_file_close(&module->file);
}

const char *nm_module_path(const struct nm_module *module) { return module->path; }

const char *nm_module_name(const struct nm_module *module) { return module->name; }

int64_t nm_module_modified(const struct nm_module *module) { return module->modified; }

enum nm_debug_level module_debug_level(struct nm_module *module)
{
	module_find_debug(module);
	if (module->dwarf)
		return NM_DEBUG_DWARF;
	module_read_symbols(module);
	return module->functions.count || module->objects.count ? NM_DEBUG_SYMBOLS : NM_DEBUG_NONE;
}
