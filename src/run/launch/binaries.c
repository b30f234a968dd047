/* SPDX-License-Identifier: MIT */
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

/* As a loader does: the pages of the file's bytes are mapped from it, those behind them are anonymous. */
static int write_segment(struct nm_wire_words *words, const struct nm_module_segment *s, const char *path,
			 uint64_t bias)
{
	const uint64_t low = s->vaddr & ~(PAGE - 1), end = (s->vaddr + s->bytes + PAGE - 1) & ~(PAGE - 1),
		       middle = s->file_bytes ? (s->vaddr + s->file_bytes + PAGE - 1) & ~(PAGE - 1) : low;
	const uint32_t flags = NM_WIRE_PROT_READ | (s->executable ? NM_WIRE_PROT_EXEC : NM_WIRE_PROT_WRITE);
	int status = 0;

	if (s->file_bytes)
		status = nm_wire_map_encode(words, &(struct nm_wire_map){flags | NM_WIRE_MAP_FILE, low + bias,
									 middle - low,
									 s->offset - (s->vaddr - low), path});
	if (!status && end > middle)
		status = nm_wire_map_encode(words,
					    &(struct nm_wire_map){flags, middle + bias, end - middle, 0, ""});
	return status;
}

static int write_segments(struct nm_wire_words *words, struct nm_module *module, const char *path,
			  uint64_t bias)
{
	struct nm_module_segment s;
	uint64_t base = 0;
	int status = 0;

	for (size_t i = 0; nm_module_segment_at(module, i, &s) && !status; i++) {
		status = write_segment(words, &s, path, bias);
		base = s.executable && !base ? (s.vaddr & ~(PAGE - 1)) + bias : base;
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
