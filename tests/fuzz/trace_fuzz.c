/* SPDX-License-Identifier: MIT
 *
 * trace_fuzz.c - libFuzzer over what reads a trace: the file, the decoder behind its checksums, the names.
 *
 * The first byte chooses.  The decoder gets the rest in five parts; what it gives has to be whole records, no more than
 * it was told.
 *
 *     build-fuzz/tests/fuzz/trace_fuzz CORPUS tests/data
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ahead.h"
#include "codec.h"
#include "decode.h"
#include "symbol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int holds)
{
	if (!holds)
		abort();
}

static void read_file(const uint8_t *data, size_t size)
{
	struct nm_trace *trace;
	struct nm_ahead *ahead;
	struct nm_piece piece;
	struct nm_error err;
	char path[64];
	int fd = memfd_create("trace", MFD_CLOEXEC);

	demand(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!nm_trace_open(&trace, path, &err)) {
		nm_trace_info(trace, "collector");
		demand(!nm_ahead_new(&ahead, trace, 0, &err));
		while (nm_ahead_next(ahead, &piece, &err) > 0)
			demand(!piece.words || piece.count);
		nm_ahead_free(ahead);
		nm_trace_free(trace);
	}
	close(fd);
}

static void decode(const uint8_t *data, size_t size)
{
	struct nm_bytes parts[NM_PARTS];
	struct nm_decoder *d;
	struct nm_error err;
	const uint64_t *words;
	size_t n, each = size / NM_PARTS, total = 0;
	uint8_t *copy = malloc(size + 1);

	demand(copy && !nm_decoder_new(&d, &err));
	memcpy(copy, data, size);
	for (unsigned i = 0; i < NM_PARTS; i++)
		parts[i] = (struct nm_bytes){copy + i * each, each, each};
	nm_decoder_begin(d, parts, 1 << 18);
	while (nm_decoder_next(d, &words, &n, &err) > 0) {
		demand(n && nm_wire_is_header(words[0]));
		total += n;
	}
	demand(total <= 1 << 18);
	nm_decoder_free(d);
	free(copy);
}

static void learn(const uint8_t *data, size_t size)
{
	struct nm_position at[4];
	struct nm_variable variable;
	struct nm_function function;
	struct nm_symbols *symbols;
	struct nm_module *module;
	struct nm_error err;

	demand(!nm_symbols_new(&symbols, &err));
	nm_symbols_learn(symbols, data, size / 2, &err);
	nm_symbols_learn(symbols, data + size / 2, size - size / 2, &err);
	demand(!nm_symbols_module(symbols, "a", NULL, 0, &module, &err));
	for (uint64_t vaddr = 0; vaddr < 64; vaddr++) {
		nm_module_positions(module, vaddr, at, 4);
		nm_module_variable(module, vaddr, &variable);
		nm_module_tls_variable(module, vaddr, &variable);
		nm_module_function(module, vaddr, &function);
	}
	nm_symbols_free(symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] == 'n') /* the first byte of every trace */
		read_file(data, size);
	else if (data[0] & 1)
		decode(data + 1, size - 1);
	else
		learn(data + 1, size - 1);
	return 0;
}
