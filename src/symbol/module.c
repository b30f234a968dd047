/* SPDX-License-Identifier: MIT
 *
 * module.c - makes and frees modules, and answers queries about a module itself.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol_priv.h"

void module_free(struct nm_module *module)
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
	elf_end(module->expanded);
	free(module->expanded_image);
	elf_file_close(&module->debug);
	elf_file_close(&module->file);
	free(module);
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

const char *nm_module_path(const struct nm_module *module) { return module->path; }

const char *nm_module_name(const struct nm_module *module) { return module->name; }

const char *nm_module_build_id(struct nm_module *module)
{
	HOLD_STORE(module->store);
	char text[2 * BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < module->wanted_id_bytes && !module->build_id; i++)
		snprintf(text + 2 * i, 3, "%02x", module->wanted_id[i]);
	if (!module->build_id)
		module->build_id = nm_intern(module_pool(module), text);
	return module->build_id;
}

int64_t nm_module_modified(const struct nm_module *module) { return module->modified; }

enum nm_debug_level module_debug_level(struct nm_module *module)
{
	module_find_debug(module);
	if (module->dwarf)
		return NM_DEBUG_DWARF;
	module_read_symbols(module);
	return module->functions.count || module->objects.count ? NM_DEBUG_SYMBOLS : NM_DEBUG_NONE;
}

void module_complain(struct nm_module *module, const char *format, ...)
{
	char text[800];
	va_list arguments;

	if (module->complaint)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	module->complaint = nm_intern(module_pool(module), text);
}

const char *nm_symbols_complaint(const struct nm_symbols *symbols, size_t i)
{
	for (size_t k = 0; k < symbols->modules.count; k++)
		if (symbols->modules.at[k]->complaint && !i--)
			return symbols->modules.at[k]->complaint;
	return NULL;
}
