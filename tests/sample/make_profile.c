/* SPDX-License-Identifier: MIT
 *
 * make_profile.c - writes the sample profile: make_profile FILE.
 *
 * tests/data/profile-v1.nmp was made with it.  That file stays as it is when the format changes: it is
 * what an older version wrote.
 */
#include <stdio.h>

#include "sample.h"

int main(int argc, char **argv)
{
	struct nm_error err;

	if (argc != 2) {
		fputs("usage: make_profile FILE\n", stderr);
		return 2;
	}
	if (nm_sample_write(argv[1], &err)) {
		fprintf(stderr, "make_profile: %s\n", err.text);
		return 1;
	}
	return 0;
}
