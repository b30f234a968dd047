/* SPDX-License-Identifier: MIT */
#include "memstream.h"

#include <stdlib.h>
#include <string.h>

#include "errors.h"

struct memory {
	char **text; /* *text is NULL after memory ran out */
	size_t *ret_bytes;
	size_t bytes, room; /* written; allocated */
};

/* Appends. Fewer than count, here 0, set the stream's error. */
static ssize_t append_bytes(void *cookie, const char *data, size_t count)
{
	struct memory *memory = cookie;
	size_t needed = memory->bytes + count + 1;

	if (!*memory->text)
		return 0;
	if (needed > memory->room) {
		size_t room = needed > 2 * memory->room ? needed : 2 * memory->room;
		char *more = realloc(*memory->text, room);

		if (!more) {
			free(*memory->text);
			*memory->text = NULL;
			return 0;
		}
		*memory->text = more;
		memory->room = room;
	}
	memcpy(*memory->text + memory->bytes, data, count);
	memory->bytes += count;
	(*memory->text)[memory->bytes] = '\0';
	if (memory->ret_bytes)
		*memory->ret_bytes = memory->bytes;
	return (ssize_t)count;
}

static int close_cookie(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *nm_memstream_open(char **ret_text, size_t *ret_bytes)
{
	struct memory *memory = malloc(sizeof *memory);
	FILE *stream = NULL;

	*ret_text = calloc(1, 1);
	if (ret_bytes)
		*ret_bytes = 0;
	if (memory && *ret_text) {
		*memory = (struct memory){.text = ret_text, .ret_bytes = ret_bytes, .room = 1};
		stream = fopencookie(memory, "w",
				     (cookie_io_functions_t){.write = append_bytes, .close = close_cookie});
	}
	if (stream)
		return stream;
	free(memory);
	free(*ret_text);
	*ret_text = NULL;
	return NULL;
}

int nm_memstream_close(FILE *stream, char **text)
{
	int lost = fflush(stream) || ferror(stream);

	if (!fclose(stream) && !lost && *text)
		return 0;
	free(*text);
	*text = NULL;
	return NM_ENOMEM;
}
