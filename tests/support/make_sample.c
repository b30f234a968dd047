/* SPDX-License-Identifier: MIT
 *
 * make_sample.c - writes the sample streams to the files named by its arguments: that of blocks, that of
 * samples. `ninja wire-sample` runs it for tests/data/wire-v1.bin and wire-v1-sampled.bin, which are written
 * once per version of the format.
 */
#include <stdio.h>

#include "sample_stream.h"

static int write_stream(int (*make)(struct nm_wire_words *to), const char *path)
{
	struct nm_wire_words words = {0};
	FILE *file;
	int ok;

	if (make(&words))
		return 0;
	file = fopen(path, "wb");
	if (!file) {
		perror(path);
		return 0;
	}
	ok = fwrite(words.at, sizeof *words.at, words.count, file) == words.count;
	ok &= !fclose(file);
	nm_vec_free(&words);
	return ok;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: make_sample FILE FILE\n");
		return 2;
	}
	return !write_stream(sample_stream, argv[1]) || !write_stream(sample_sampled_stream, argv[2]);
}
