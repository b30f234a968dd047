/* SPDX-License-Identifier: MIT
 *
 * debug_file.c - finds a module's DWARF: in the file itself, or in a separate file.
 *
 * Separate files are tried in this order: by build-id under /usr/lib/debug; by .gnu_debuglink beside the
 * file, in .debug/ and under /usr/lib/debug; then from debuginfod. A file is accepted if it has the wanted
 * build-id or, if the program has none, the CRC-32 of .gnu_debuglink. libdw finds shared parts moved out by
 * dwz (.gnu_debugaltlink) and split units (.dwo) in the same folders.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol_priv.h"

enum { PATH_ROOM = 4096 };
static const char DEBUG_ROOT[] = "/usr/lib/debug";

static int has_section(Elf *elf, const char *name)
{
	Elf_Scn *section;
	GElf_Shdr header;
	return elf_find_section(elf, name, &section, &header) && header.sh_type != SHT_NOBITS &&
	       header.sh_size;
}

static int has_dwarf(Elf *elf) { return has_section(elf, ".debug_info") || has_section(elf, ".zdebug_info"); }

/* The CRC-32 of zip and .gnu_debuglink, bit by bit over nibbles: it is rarely needed. */
static uint32_t crc32_of(const unsigned char *bytes, size_t count)
{
	uint32_t crc = ~0u;
	for (size_t i = 0; i < count; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
	}
	return ~crc;
}

static int crc_is(Elf *elf, uint32_t wanted)
{
	size_t bytes;
	const char *image = elf_rawfile(elf, &bytes);
	return image && crc32_of((const unsigned char *)image, bytes) == wanted;
}

/* Keeps the file as module->debug if it is the module's.  crc NULL: only the build-id can prove it. */
static int accept_file(struct nm_module *module, const char *path, const uint32_t *crc)
{
	struct elf_file found;
	fingerprint_file(module->store, path);
	if (!elf_file_open(&found, path))
		return 0;
	int ours = module->wanted_id_bytes
		       ? found.build_id_bytes == module->wanted_id_bytes &&
			     !memcmp(found.build_id, module->wanted_id, found.build_id_bytes)
		       : crc && crc_is(found.elf, *crc);
	if (!ours || (!has_dwarf(found.elf) && !has_section(found.elf, ".symtab"))) {
		elf_file_close(&found);
		return 0;
	}
	module->debug = found;
	return 1;
}

static int find_by_id(struct nm_module *module)
{
	char path[sizeof DEBUG_ROOT + 2 * BUILD_ID_MAX + 32];
	if (module->wanted_id_bytes < 2)
		return 0;
	int n = snprintf(path, sizeof path, "%s/.build-id/%02x/", DEBUG_ROOT, module->wanted_id[0]);
	for (size_t i = 1; i < module->wanted_id_bytes; i++)
		n += snprintf(path + n, sizeof path - (size_t)n, "%02x", module->wanted_id[i]);
	snprintf(path + n, sizeof path - (size_t)n, ".debug");
	return accept_file(module, path, NULL);
}

/* The file that .gnu_debuglink names: its name, zero bytes up to a multiple of four, the CRC. */
static int find_by_link(struct nm_module *module)
{
	Elf_Scn *section;
	GElf_Shdr header;
	if (!module->file.elf || !elf_find_section(module->file.elf, ".gnu_debuglink", &section, &header))
		return 0;
	Elf_Data *data = elf_rawdata(section, NULL);
	size_t length = data && data->d_buf ? strnlen(data->d_buf, data->d_size) : 0;
	size_t crc_at = (length + 4) & ~(size_t)3;
	if (!length || crc_at + 4 > data->d_size || memchr(data->d_buf, '/', length))
		return 0;
	uint32_t crc;
	memcpy(&crc, (const char *)data->d_buf + crc_at, sizeof crc);
	int folder = (int)(strrchr(module->path, '/') ? strrchr(module->path, '/') - module->path + 1 : 0);
	const char *name = data->d_buf;
	char path[PATH_ROOM];
	if (snprintf(path, sizeof path, "%.*s%s", folder, module->path, name) < PATH_ROOM &&
	    strcmp(path, module->path) && accept_file(module, path, &crc))
		return 1;
	if (snprintf(path, sizeof path, "%.*s.debug/%s", folder, module->path, name) < PATH_ROOM &&
	    accept_file(module, path, &crc))
		return 1;
	return snprintf(path, sizeof path, "%s%s%.*s%s", DEBUG_ROOT, module->path[0] == '/' ? "" : "/",
			folder, module->path, name) < PATH_ROOM &&
	       accept_file(module, path, &crc);
}

static int find_by_server(struct nm_module *module)
{
	int fd = debuginfod_open(module->wanted_id, module->wanted_id_bytes);
	if (fd < 0)
		return 0;
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int found = accept_file(module, path, NULL);
	close(fd);
	return found;
}

/* Lists of locations are a sixth of the debug information of the C library. Variables that have one are not
 * named by address, and libdw would unpack all of them at the start; it passes over sections that are said to
 * have no bytes. */
static void leave_out(Elf *elf, const char *name)
{
	Elf_Scn *section;
	GElf_Shdr header;
	if (!elf_find_section(elf, name, &section, &header))
		return;
	header.sh_type = SHT_NOBITS;
	gelf_update_shdr(section, &header);
}

static void begin_dwarf(struct nm_module *module, Elf *elf)
{
	module->expanded = elf_expand(elf, &module->expanded_image);
	elf = module->expanded ? module->expanded : elf;
	leave_out(elf, ".debug_loc");
	leave_out(elf, ".debug_loclists");
	module->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!module->dwarf)
		module_complain(module, "the debug information of %s cannot be read: %s", module->path,
				dwarf_errmsg(-1));
}

void module_find_debug(struct nm_module *module)
{
	if (module->debug_sought)
		return;
	module->debug_sought = 1;
	Elf *own = module->file.elf;
	if (!own || !has_dwarf(own))
		(void)(find_by_id(module) || find_by_link(module) || find_by_server(module));
	if (module->debug.elf && has_dwarf(module->debug.elf))
		own = module->debug.elf;
	if (own && has_dwarf(own))
		begin_dwarf(module, own);
}

/* ---- debuginfod ---- */

/* Debug files from a debuginfod server, if the user has named one.
 *
 * The client library needs libcurl and all its libraries, and most runs never use it. So it is not linked,
 * but loaded when DEBUGINFOD_URLS is set; without it there are no such files. The library has its own cache,
 * also of files that the server lacks. It is never unloaded, because libraries that it loads leave exit
 * handlers.
 */

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
