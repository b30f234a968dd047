/* SPDX-License-Identifier: MIT
 *
 * store.c - the modules of a run, by path and build-id.
 *
 * A program that is recompiled between two processes of one run is two modules. Opening a module reads its
 * program headers and build-id. If the file has another build-id than the wanted one, the module stays
 * without a file; its debug information may still be found by id. A store that decoded the answers of an
 * earlier run (cache/items.h) knows its modules before they are queried. A run has at most some hundred
 * modules, so they are searched linearly, by the interned path.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache/items.h"

int nm_symbols_new(struct nm_symbols **ret_symbols, struct nm_error *err)
{
	elf_version(EV_CURRENT);
	struct nm_symbols *symbols = calloc(1, sizeof *symbols);
	pthread_mutexattr_t recursive;

	if (!symbols)
		return nm_fail_memory(err);
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&symbols->lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
	*ret_symbols = symbols;
	return 0;
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
	pthread_mutex_destroy(&symbols->lock);
	free(symbols);
}

const char *nm_symbols_intern(struct nm_symbols *symbols, const char *text)
{
	HOLD_STORE(symbols);

	return nm_intern(&symbols->pool, text);
}

const char *nm_symbols_format(struct nm_symbols *symbols, const char *format, ...)
{
	HOLD_STORE(symbols);
	const char *interned;
	va_list args;

	va_start(args, format);
	interned = nm_intern_vformat(&symbols->pool, format, args);
	va_end(args);
	return interned;
}

static int same_id(const struct nm_module *module, const uint8_t *build_id, size_t bytes)
{
	return module->wanted_id_bytes == bytes && !memcmp(module->wanted_id, build_id, bytes);
}

/* Is another file at the path now than the one that the module has open? */
static int is_replaced(const struct nm_module *module)
{
	struct stat now, open;

	return module->file.fd >= 0 && !stat(module->path, &now) && !fstat(module->file.fd, &open) &&
	       (now.st_dev != open.st_dev || now.st_ino != open.st_ino);
}

/* Without a build-id, the file that is now at the path is meant: not a module whose file was replaced. */
static int serves_file(const struct nm_module *module, const uint8_t *build_id, size_t bytes)
{
	if (build_id)
		return same_id(module, build_id, bytes);
	if (is_replaced(module))
		return 0;
	return module->file.elf || module->had_file || !module->wanted_id_bytes;
}

int nm_symbols_module(struct nm_symbols *symbols, const char *path, const uint8_t *build_id,
		      size_t build_id_bytes, struct nm_module **ret_module, struct nm_error *err)
{
	HOLD_STORE(symbols);
	const char *interned = nm_intern(&symbols->pool, path);
	if (!interned)
		return nm_fail_memory(err);
	if (build_id_bytes > BUILD_ID_MAX)
		build_id_bytes = BUILD_ID_MAX;
	for (size_t i = 0; i < symbols->modules.count; i++) {
		struct nm_module *known = symbols->modules.at[i];
		if (known->path == interned && serves_file(known, build_id, build_id_bytes)) {
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
