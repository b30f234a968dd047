/* SPDX-License-Identifier: MIT
 *
 * warmup.c - see warmup.h.
 */
#include "warmup.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void prepare(struct nm_symbols *symbols, const char *path)
{
	char real[PATH_MAX];

	if (realpath(path, real)) /* as the collector names it */
		nm_symbols_prepare(symbols, real);
}

/* Of what we are linked to ourselves. */
static int take_library(struct dl_phdr_info *info, size_t size, void *symbols)
{
	const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;

	(void)size;
	if (!strncmp(name, "libc.so", 7) || !strncmp(name, "ld-linux", 8))
		prepare(symbols, info->dlpi_name);
	return 0;
}

static int asks_servers(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");

	return servers && *servers;
}

/* The folder where answers are kept; 0: none. */
static int find_folder(char folder[PATH_MAX])
{
	static const struct {
		const char *variable, *below;
	} places[] = {
	    {"NEARMISS_CACHE_DIR", ""}, {"XDG_CACHE_HOME", "/nearmiss"}, {"HOME", "/.cache/nearmiss"}};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		const char *value = getenv(places[i].variable);

		if (value && (*value || !i)) /* the first may be empty, for nowhere */
			return *value == '/' &&
			       snprintf(folder, PATH_MAX, "%s%s", value, places[i].below) < PATH_MAX;
	}
	return 0;
}

/* Where answers about a program are kept: the folder, and the path that it has there; 0: nowhere. */
static int find_place(const char *program, char folder[PATH_MAX], char real[PATH_MAX])
{
	return !asks_servers() && find_folder(folder) && realpath(program, real);
}

void nm_warm_up(struct nm_symbols *symbols, const char *program)
{
	char folder[PATH_MAX], real[PATH_MAX];
	struct nm_error err;

	if (find_place(program, folder, real) && nm_symbols_recall(symbols, folder, real, &err) == 1)
		return;
	if (asks_servers())
		return;
	dl_iterate_phdr(take_library, symbols);
	prepare(symbols, program);
}

void nm_keep_warm(struct nm_symbols *symbols, const char *program)
{
	char folder[PATH_MAX], real[PATH_MAX];

	if (find_place(program, folder, real))
		nm_symbols_retain(symbols, folder, real);
}
