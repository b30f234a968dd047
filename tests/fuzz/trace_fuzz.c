/* SPDX-License-Identifier: MIT
 *
 * trace_fuzz.c - libFuzzer over what reads a trace: the file, the decoder behind its checksums, the names.
 *
 * The first byte chooses. As a stream, what is packed has to come out again word for word; the decoder also
 * gets the parts of such a stream with bytes changed, and what it gives has to be whole records, no more than
 * it was told.
 *
 *     build-fuzz/tests/fuzz/trace_fuzz CORPUS tests/data
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codec.h"
#include "decode.h"
#include "files.h"
#include "readahead.h"
#include "symbol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int holds)
{
	if (!holds)
		abort();
}

/* The words that it gives. */
static size_t read_trace(struct nm_trace *trace)
{
	struct nm_readahead *ahead;
	struct nm_readahead_piece piece;
	struct nm_error err;
	size_t words = 0;

	demand(!nm_readahead_new(&ahead, trace, 0, &err));
	while (nm_readahead_next(ahead, &piece, &err) > 0) {
		demand(!piece.words || piece.count);
		words += piece.words ? piece.count : 0;
	}
	nm_readahead_free(ahead);
	nm_trace_info(trace, "collector");
	nm_trace_free(trace);
	return words;
}

static size_t read_piped(const uint8_t *data, size_t size)
{
	struct nm_peeked_input peeked = {0};
	struct nm_trace *trace;
	struct nm_error err;
	int ends[2];

	demand(!pipe(ends) && write(ends[1], data, size) == (ssize_t)size);
	close(ends[1]);
	peeked.fd = ends[0];
	demand(!nm_read_full(peeked.fd, peeked.bytes, sizeof peeked.bytes, &peeked.count, &err));
	return nm_trace_take(&trace, &peeked, "a pipe", &err) ? 0 : read_trace(trace);
}

/* Without an index a file is walked over as a pipe is. */
static void read_file(const uint8_t *data, size_t size)
{
	enum { PIPE_ROOM = 1 << 16 };
	struct nm_trace *trace;
	struct nm_error err;
	char path[64];
	size_t words = 0;
	int fd = memfd_create("trace", MFD_CLOEXEC), walked = 0;

	demand(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!nm_trace_open(&trace, path, &err)) {
		walked = nm_trace_fault(trace) != NULL;
		words = read_trace(trace);
	}
	close(fd);
	if (size <= PIPE_ROOM)
		demand(read_piped(data, size) == words || !walked);
}

/* Executions of 16 blocks with up to 7 addresses, and other records, as the bytes say. */
static size_t make_stream(const uint8_t *data, size_t size, uint64_t *words)
{
	uint64_t *w = words, address = 0x1000;

	for (size_t i = 0; i < size; i++) {
		if (data[i] == 0xff) {
			*w++ = nm_wire_header(NM_WIRE_MEASURE, i & 1, 0);
			continue;
		}
		*w++ = nm_wire_header(NM_WIRE_BLOCK, data[i] >> 4, 0);
		for (unsigned k = data[i] & 7u; k && i + 1 < size; k--) {
			uint8_t move = data[++i];

			address += (uint64_t)(int8_t)move << (move & 1 ? 20 : 3);
			*w++ = (move == 0x80 ? 0 : address) & ~NM_WIRE_HEADER_BIT;
		}
	}
	return (size_t)(w - words);
}

static void run_decoder(const struct nm_chunk_bytes *parts, const uint64_t *words, size_t count)
{
	struct nm_chunk_decoder *d;
	struct nm_words piece = {0};
	struct nm_error err;
	size_t total = 0;

	demand(!decoder_new(&d, &err));
	if (!decoder_begin(d, parts, count, &err))
		while (decoder_next(d, &piece, &err) > 0) {
			demand(piece.count && piece.count <= count - total && nm_wire_is_header(piece.at[0]));
			demand(!words || !memcmp(piece.at, words + total, piece.count * sizeof *words));
			total += piece.count;
		}
	demand(!words || total == count);
	nm_vec_free(&piece);
	decoder_free(d);
}

/* Three quarters are a stream; the rest changes its parts. */
static void code(const uint8_t *data, size_t size)
{
	size_t told = size - size / 4, count;
	uint64_t *words = malloc((size + 1) * sizeof *words);
	const struct nm_chunk_bytes *parts[NM_PARTS];
	struct nm_chunk_bytes copies[NM_PARTS];
	struct nm_encoder *e = NULL;
	struct nm_error err;

	demand(words && !encoder_new(&e, &err));
	count = make_stream(data, told, words);
	if (!count) /* a chunk has words */
		goto done;
	demand(!encoder_add(e, words, count, &err) && !encoder_finish(e, parts));
	for (unsigned i = 0; i < NM_PARTS; i++) {
		copies[i] =
		    (struct nm_chunk_bytes){malloc(parts[i]->count + NM_PART_SLACK), parts[i]->count, 0};
		demand(copies[i].at != NULL);
		if (parts[i]->count)
			memcpy(copies[i].at, parts[i]->at, parts[i]->count);
	}
	run_decoder(copies, words, count);
	for (size_t i = told; i + 2 < size; i += 3) {
		struct nm_chunk_bytes *part = &copies[data[i] % NM_PARTS];

		if (part->count)
			part->at[(data[i + 1] | (unsigned)data[i] << 8) % part->count] = data[i + 2];
	}
	run_decoder(copies, NULL, count);
	for (unsigned i = 0; i < NM_PARTS; i++)
		free(copies[i].at);
done:
	encoder_free(e);
	free(words);
}

static void learn(const uint8_t *data, size_t size)
{
	struct nm_source_position at[4];
	struct nm_variable variable;
	struct nm_function function;
	struct nm_symbols *symbols;
	struct nm_module *module;
	struct nm_error err;

	demand(!nm_symbols_new(&symbols, &err));
	nm_symbols_decode(symbols, data, size / 2, &err);
	nm_symbols_decode(symbols, data + size / 2, size - size / 2, &err);
	demand(!nm_symbols_module(symbols, "a", NULL, 0, &module, &err));
	for (uint64_t vaddr = 0; vaddr < 64; vaddr++) {
		nm_module_source_positions(module, vaddr, at, 4);
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
		code(data + 1, size - 1);
	else
		learn(data + 1, size - 1);
	return 0;
}
