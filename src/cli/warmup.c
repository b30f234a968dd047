/* SPDX-License-Identifier: MIT
 *
 * warmup.c - see warmup.h.
 */
#include "warmup.h"

#include <limits.h>
#include <link.h>
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

void nm_warm_up(struct nm_symbols *symbols, const char *program)
{
	const char *servers = getenv("DEBUGINFOD_URLS");

	if (servers && *servers)
		return;
	dl_iterate_phdr(take_library, symbols);
	prepare(symbols, program);
}
