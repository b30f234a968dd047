/* SPDX-License-Identifier: MIT
 *
 * html_parts.c - see html_parts.h.
 *
 * A part is compressed by zlib, which browsers can decompress, and written as base64 in a script element of
 * type data.
 */
#include "html_parts.h"

#include <stdlib.h>
#include <zlib.h>

#include "parts.h"

void nm_base64_write(const void *bytes, size_t count, FILE *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *at = bytes;

	for (size_t i = 0; i < count; i += 3) {
		const unsigned left = count - i < 3 ? (unsigned)(count - i) : 3;
		const unsigned word = (unsigned)at[i] << 16 | (left > 1 ? (unsigned)at[i + 1] << 8 : 0) |
				      (left > 2 ? at[i + 2] : 0);

		for (unsigned k = 0; k < 4; k++)
			fputc(k <= left ? digits[word >> (18 - 6 * k) & 63] : '=', out);
	}
}

struct writer {
	struct nm_part_sink sink; /* first */
	size_t room;
	FILE *out;
};

enum { ELEMENT_ROOM = 200 };

static int put_part(struct nm_part_sink *sink, const struct nm_program_part *part, int *ret_fits,
		    struct nm_error *err)
{
	static const char end[] = "</script>\n";
	struct writer *w = (struct writer *)sink;
	uLongf packed_bytes = compressBound((uLong)part->size);
	unsigned char *packed = malloc(packed_bytes);
	char begin[ELEMENT_ROOM];
	size_t bytes;

	if (!packed || compress2(packed, &packed_bytes, part->bytes ? part->bytes : (const Bytef *)"",
				 (uLong)part->size, Z_BEST_COMPRESSION) != Z_OK) {
		free(packed);
		return nm_fail_memory(err);
	}
	snprintf(begin, sizeof begin,
		 "<script type=\"text/plain\" class=\"part\" data-kind=\"%s\" data-count=\"%llu\">",
		 part->kind, (unsigned long long)part->count);
	bytes = sizeof begin + nm_base64_length(packed_bytes) + sizeof end;
	*ret_fits = bytes <= w->room;
	if (*ret_fits) {
		w->room -= bytes;
		fputs(begin, w->out);
		nm_base64_write(packed, packed_bytes, w->out);
		fputs(end, w->out);
	}
	free(packed);
	return 0;
}

int nm_html_write_parts(const struct nm_debugger *debugger, const struct nm_asset *engine, size_t room,
			FILE *out, uint64_t *ret_total, struct nm_error *err)
{
	const struct nm_program_part part = {
	    .kind = "engine", .bytes = engine->bytes, .size = engine->n_bytes};
	struct writer w = {.sink = {put_part}, .room = room, .out = out};
	int fits, status = put_part(&w.sink, &part, &fits, err);

	if (!status && !fits)
		status = nm_fail(err, NM_ENOSPC, "there is no room for the debugger");
	return status ? status : nm_parts_write(debugger, &w.sink, ret_total, err);
}
