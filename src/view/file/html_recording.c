/* SPDX-License-Identifier: MIT
 *
 * html_recording.c - see html_recording.h.
 *
 * A part is compressed by zlib, which browsers can decompress, and written as base64 in a script element of
 * type data.
 */
#include "html_recording.h"

#include <stdlib.h>
#include <zlib.h>

#include "base64.h"

struct writer {
	struct nm_recording_sink sink; /* first */
	FILE *out;
};

enum { ELEMENT_ROOM = 200 };

static int put(struct nm_recording_sink *sink, const struct nm_recording_part *part, int *ret_fits,
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
		 "<script type=\"text/plain\" class=\"recorded\" data-kind=\"%s\" data-from=\"%llu\" "
		 "data-count=\"%llu\">",
		 part->kind, (unsigned long long)part->from, (unsigned long long)part->count);
	bytes = sizeof begin + nm_base64_length(packed_bytes) + sizeof end;
	*ret_fits = bytes <= sink->room;
	if (*ret_fits) {
		sink->room -= bytes;
		fputs(begin, w->out);
		nm_base64_write(packed, packed_bytes, w->out);
		fputs(end, w->out);
	}
	free(packed);
	return 0;
}

int nm_html_write_recording(struct nm_debugger *debugger, const struct nm_recording_window *window,
			    size_t room, FILE *out, struct nm_recording_window *ret_recorded,
			    struct nm_error *err)
{
	struct writer w = {.sink = {put, room}, .out = out};

	return nm_debugger_record(debugger, window, &w.sink, ret_recorded, err);
}
