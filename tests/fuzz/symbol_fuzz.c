/* SPDX-License-Identifier: MIT
 *
 * symbol_fuzz.c - libFuzzer over damaged ELF files.
 *
 * The input is an ELF file (or the ruins of one). It is put into a memory file and asked everything, at
 * addresses spread over its extent. The answers have to keep the promises of symbol.h: ranges contain
 * what was asked for, names are there.
 *
 * Exhausted memory is no error here: tests fail the allocations one by one (support/fuzz_once.c).
 *
 * Bytes are overwritten, never inserted or removed: a file whose sections are shifted says little.
 *
 *     build-fuzz/tests/fuzz/symbol_fuzz -max_len=65536 CORPUS
 *
 * with some small programs (gcc -g, clang -g, stripped) as the corpus.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

enum { QUESTIONS = 256 };

static void demand(int holds)
{
	if (!holds)
		abort();
}

static void demand_type(const struct nm_type *type) { demand(!type || (type->name && type->bytes)); }

static void ask_locals(struct nm_module *module, uint64_t vaddr)
{
	const struct nm_locals *locals = nm_module_locals(module, vaddr);

	for (uint32_t i = 0; locals && i < locals->count; i++) {
		const struct nm_local *local = &locals->at[i];

		demand(local->name && local->bytes && local->bytes <= local->below);
		demand(i + 1 == locals->count || local[1].below <= local->below - local->bytes);
		demand_type(local->structure);
	}
}

static void ask_at(struct nm_module *module, uint64_t vaddr)
{
	struct nm_source_position at[8];
	struct nm_function function;
	struct nm_variable variable;
	struct nm_module_segment segment;
	size_t n = nm_module_source_positions(module, vaddr, at, 8);
	demand(n <= 8);
	for (size_t i = 0; i < n; i++)
		demand(at[i].function || at[i].file);
	const char *digest = n && at[0].file ? nm_module_digest(module, at[0].file) : NULL;
	demand(!digest || strlen(digest) == 32);
	const struct nm_type *type = NULL;
	nm_module_allocated(module, vaddr, 64, &type);
	demand_type(type);
	ask_locals(module, vaddr);
	if (nm_module_function(module, vaddr, &function))
		demand(function.name && function.low <= vaddr && vaddr < function.end);
	if (nm_module_variable(module, vaddr, &variable))
		demand(variable.name && variable.low <= vaddr && vaddr < variable.end);
	if (nm_module_tls_variable(module, vaddr % 4096, &variable))
		demand(variable.name && variable.low <= vaddr % 4096 && vaddr % 4096 < variable.end);
	for (size_t i = 0; nm_module_segment_at(module, i, &segment); i++)
		demand(segment.vaddr + segment.bytes >= segment.vaddr);
}

static void ask(struct nm_symbols *symbols, const char *path)
{
	struct nm_module *module;
	uint64_t low, end;
	int code = nm_symbols_module(symbols, path, NULL, 0, &module, NULL);
	if (code == NM_ENOMEM)
		return;
	demand(!code);
	nm_module_debug_level(module);
	if (!nm_module_extent(module, &low, &end))
		low = 0, end = QUESTIONS;
	uint64_t step = (end - low) / QUESTIONS + 1;
	for (uint64_t i = 0; i < QUESTIONS; i++)
		ask_at(module, low + i * step);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	static const uint8_t telling[] = {0, 1, 2, 3, 0x7f, 0x80, 0xff};
	(void)max;
	for (int changes = 1 + rand_r(&seed) % 6; size && changes > 0; changes--) {
		size_t at = (size_t)rand_r(&seed) % size;
		int how = rand_r(&seed) % 4;
		if (how == 0)
			data[at] = telling[(size_t)rand_r(&seed) % sizeof telling];
		else if (how == 1)
			data[at] ^= (uint8_t)(1 << rand_r(&seed) % 8);
		else if (how == 2)
			data[at] = (uint8_t)(data[at] + rand_r(&seed) % 9 - 4);
		else
			data[at] = data[(size_t)rand_r(&seed) % size];
	}
	return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nm_symbols *symbols;
	char path[64];
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	demand(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	int code = nm_symbols_new(&symbols, NULL);
	demand(!code || code == NM_ENOMEM);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!code) {
		ask(symbols, path);
		nm_symbols_free(symbols);
	}
	close(fd);
	return 0;
}
