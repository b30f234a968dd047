/* SPDX-License-Identifier: MIT */
#include "name_preload.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache_folder.h"

static void preload_file(struct nm_symbols *symbols, const char *path)
{
	char real[PATH_MAX];

	if (realpath(path, real)) /* the name that the collector sends */
		nm_symbols_preload(symbols, real);
}

/* Preloads the C library and the dynamic linker of nearmiss itself. */
static int preload_library(struct dl_phdr_info *info, size_t size, void *symbols)
{
	const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;

	(void)size;
	if (!strncmp(name, "libc.so", 7) || !strncmp(name, "ld-linux", 8))
		preload_file(symbols, info->dlpi_name);
	return 0;
}

static int uses_debuginfod(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");

	return servers && *servers;
}

/* Finds the cache folder and the program's real path, its key there; 0: no cache. */
static int find_cache(const char *program, char folder[NM_CACHE_PATH], char real[PATH_MAX])
{
	return !uses_debuginfod() && nm_cache_folder_find(folder) && realpath(program, real);
}

void nm_names_preload(struct nm_symbols *symbols, const char *program)
{
	char folder[NM_CACHE_PATH], real[PATH_MAX];
	struct nm_error err;

	if (find_cache(program, folder, real) && nm_symbols_load_cache(symbols, folder, real, &err) == 1)
		return;
	if (uses_debuginfod())
		return;
	dl_iterate_phdr(preload_library, symbols);
	preload_file(symbols, program);
}

void nm_names_save(struct nm_symbols *symbols, const char *program)
{
	char folder[NM_CACHE_PATH], real[PATH_MAX];

	if (find_cache(program, folder, real))
		nm_symbols_save_cache(symbols, folder, real);
}
