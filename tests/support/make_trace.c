/* SPDX-License-Identifier: MIT
 *
 * make_trace.c - writes the sample trace: the stream of its first argument, which is one of tests/data, as a
 * trace in the file of its second. `ninja trace-sample` runs it for tests/data/trace-v1.nmt, which is written
 * once per version of the format.
 */
#include <stdio.h>
#include <stdlib.h>

#include "trace.h"

int main(int argc, char **argv)
{
	static const uint8_t names[] = {8,   1,   4,   'n',
					'a', 'm', 'e', 9}; /* begin, the text "name", complete */
	static uint64_t words[4096];
	struct nm_trace_writer *w;
	struct nm_error err;
	FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
	size_t n = file ? fread(words, sizeof *words, 4096, file) : 0;

	if (!n || nm_trace_writer_new(&w, argv[2], &err) ||
	    nm_trace_writer_info(w, "collector", "sample", &err) ||
	    nm_trace_writer_names(w, names, sizeof names, &err) ||
	    nm_trace_writer_feed(w, 0, words, n, &err) || nm_trace_writer_end(w, 0, &err) ||
	    nm_trace_writer_close(w, &err)) {
		fprintf(stderr, "usage: make_trace STREAM TRACE\n");
		return 1;
	}
	nm_trace_writer_free(w);
	fclose(file);
	return 0;
}
