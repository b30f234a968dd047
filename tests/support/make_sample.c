/* SPDX-License-Identifier: MIT
 *
 * make_sample.c - writes the sample stream to the file named by its argument.  `ninja wire-sample`
 * runs it for tests/data/wire-v5.bin, which is written once per version of the format and kept as long as
 * that version is read.
 */
#include <stdio.h>

#include "sample_stream.h"

int main(int argc, char **argv)
{
	struct nm_wire_words words = {0};
	FILE *file;
	int ok;

	if (argc != 2) {
		fprintf(stderr, "usage: make_sample FILE\n");
		return 2;
	}
	if (sample_stream(&words))
		return 1;
	file = fopen(argv[1], "wb");
	if (!file) {
		perror(argv[1]);
		return 1;
	}
	ok = fwrite(words.at, sizeof *words.at, words.count, file) == words.count;
	ok &= !fclose(file);
	nm_vec_free(&words);
	return !ok;
}
