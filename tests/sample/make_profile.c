/* SPDX-License-Identifier: MIT
 *
 * make_profile.c - writes a sample profile: make_profile FILE, or make_profile --asm FILE for one in which
 * instructions are told apart.
 *
 * renew.sh makes tests/data/profile-v1.nmp and profile-asm.nmp with it.
 */
#include <stdio.h>
#include <string.h>

#include "sample.h"

int main(int argc, char **argv)
{
	int by_instruction = argc == 3 && !strcmp(argv[1], "--asm");
	struct nm_error err;

	if (argc != 2 + by_instruction) {
		fputs("usage: make_profile [--asm] FILE\n", stderr);
		return 2;
	}
	if ((by_instruction ? nm_asm_sample_write : nm_sample_write)(argv[argc - 1], &err)) {
		fprintf(stderr, "make_profile: %s\n", err.text);
		return 1;
	}
	return 0;
}
