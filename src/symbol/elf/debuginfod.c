/* SPDX-License-Identifier: MIT
 *
 * debuginfod.c - debug files from a debuginfod server, if the user has named one.
 *
 * The client library needs libcurl and all its libraries, and most runs never use it. So it is not linked,
 * but loaded when DEBUGINFOD_URLS is set; without it there are no such files. The library has its own cache,
 * also of files that the server lacks. It is never unloaded, because libraries that it loads leave exit
 * handlers.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "symbol_priv.h"

typedef void *begin_fn(void);
typedef int find_fn(void *client, const unsigned char *build_id, int build_id_bytes, char **path);
typedef void end_fn(void *client);

int debuginfod_open(const uint8_t *build_id, size_t build_id_bytes)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	if (!urls || !*urls || !build_id_bytes)
		return -1;
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return -1;
	begin_fn *begin = (begin_fn *)dlsym(library, "debuginfod_begin");
	find_fn *find = (find_fn *)dlsym(library, "debuginfod_find_debuginfo");
	end_fn *end = (end_fn *)dlsym(library, "debuginfod_end");
	void *client = begin && find && end ? begin() : NULL;
	int fd = -1;
	if (client) {
		fd = find(client, build_id, (int)build_id_bytes, NULL);
		end(client);
	}
	return fd;
}
