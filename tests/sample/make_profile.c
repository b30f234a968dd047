/* SPDX-License-Identifier: MIT
 *
 * make_profile.c - writes a sample profile: make_profile FILE, make_profile --asm FILE for one in which
 * instructions are told apart, or make_profile --shared FILE for one of threads that contend for lines.
 *
 * renew.sh makes tests/data/profile-v1.nmp, profile-asm.nmp and profile-shared.nmp with it.
 */
#include <stdio.h>
#include <string.h>

#include "sample.h"

static const struct {
	const char *option; /* "": none */
	int (*write)(const char *path, struct nm_error *err);
} samples[] = {{"", nm_sample_write}, {"--asm", nm_asm_sample_write}, {"--shared", nm_shared_sample_write}};

int main(int argc, char **argv)
{
	const char *option = argc == 3 ? argv[1] : "";
	struct nm_error err;
	size_t i, count = sizeof samples / sizeof *samples;

	for (i = 0; i < count && strcmp(samples[i].option, option); i++)
		;
	if (argc < 2 || argc > 3 || i == count) {
		fputs("usage: make_profile [--asm | --shared] FILE\n", stderr);
		return 2;
	}
	if (samples[i].write(argv[argc - 1], &err)) {
		fprintf(stderr, "make_profile: %s\n", err.text);
		return 1;
	}
	return 0;
}
