/* SPDX-License-Identifier: MIT
 *
 * binaries.c - see binaries.h.
 */
#include "binaries.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode.h"

static const uint64_t PAGE = 4096;

/* "FILE@ADDRESS" into both. 1, 0 without an address, or a code. */
static int take_apart(const char *binary, char *path, size_t room, uint64_t *ret_address,
		      struct nm_error *err)
{
	const char *at = strrchr(binary, '@');
	char *end = NULL;

	if (!at || strchr(at, '/')) { /* of a folder's name */
		snprintf(path, room, "%s", binary);
		return 0;
	}
	snprintf(path, room, "%.*s", (int)(at - binary), binary);
	*ret_address = strtoull(at + 1, &end, 0);
	return end == at + 1 || *end
		   ? nm_fail(err, NM_EINVAL, "%s: an address was expected behind the @", binary)
		   : 1;
}

/* Where the file's addresses begin, in the process. */
static int find_bias(struct nm_module *module, const char *path, int told, uint64_t address,
		     uint64_t *ret_bias, struct nm_error *err)
{
	uint64_t low, end;

	if (!nm_module_extent(module, &low, &end))
		return nm_fail(err, NM_EINVAL, "%s is no program or library", path);
	low &= ~(PAGE - 1);
	if (!told && !low)
		return nm_fail(
		    err, NM_EINVAL,
		    "%s may lie anywhere: say where its first byte lay, %s@ADDRESS (programs under Valgrind: 0x108000)",
		    path, path);
	*ret_bias = told ? address - low : 0;
	return 0;
}

static int write_segments(struct nm_wire_words *words, struct nm_module *module, const char *path,
			  uint64_t bias)
{
	struct nm_module_segment s;
	uint64_t base = 0;
	int status = 0;

	for (size_t i = 0; nm_module_segment_at(module, i, &s) && !status; i++) {
		const uint64_t before = s.vaddr & (PAGE - 1);
		const struct nm_wire_map map = {NM_WIRE_PROT_READ | NM_WIRE_MAP_FILE |
						    (s.executable ? NM_WIRE_PROT_EXEC : NM_WIRE_PROT_WRITE),
						s.vaddr + bias - before,
						(s.bytes + before + PAGE - 1) & ~(PAGE - 1),
						s.offset - before, path};

		status = nm_wire_map_encode(words, &map);
		base = s.executable && !base ? map.address : base;
	}
	return status || nm_wire_module_encode(words, &(struct nm_wire_module){.base = base, .path = path})
		   ? NM_ENOMEM
		   : 0;
}

int nm_binary_map(struct nm_import *import, struct nm_symbols *symbols, const char *binary,
		  struct nm_error *err)
{
	char name[PATH_MAX], path[PATH_MAX];
	struct nm_module *module;
	uint64_t address = 0, bias = 0;
	int told = take_apart(binary, name, sizeof name, &address, err);

	if (told < 0)
		return told;
	if (!realpath(name, path))
		return nm_fail_errno(err, "%s", name);
	int status = nm_symbols_module(symbols, path, NULL, 0, &module, err);
	if (!status)
		status = find_bias(module, name, told, address, &bias, err);
	if (!status && write_segments(nm_import_words(import), module, path, bias))
		status = nm_fail_memory(err);
	return status;
}
