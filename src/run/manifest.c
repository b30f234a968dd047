/* SPDX-License-Identifier: MIT */
#include "manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "collector_log.h"
#include "memstream.h"
#include "pinned.h"

enum { CLOCK, RANDOM, PROCESSORS, INSTRUCTIONS, ENVIRONMENT, UNPINNED };

const char *const nm_manifest_keys[NM_MANIFEST_FACTS] = {
    [CLOCK] = "hermetic_clock",
    [RANDOM] = "hermetic_random",
    [PROCESSORS] = "hermetic_processors",
    [INSTRUCTIONS] = "hermetic_instructions",
    [ENVIRONMENT] = "hermetic_environment",
    [UNPINNED] = "hermetic_unpinned",
};

static void write_clock(FILE *out)
{
	const time_t epoch = NM_PINNED_EPOCH;
	char text[64];
	struct tm parts;

	gmtime_r(&epoch, &parts);
	strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
	fprintf(out, "1 ns for each instruction, from %s", text);
}

static void write_fact(int fact, const struct nm_environment *environment, int log, FILE *out)
{
	switch (fact) {
	case CLOCK: write_clock(out); break;
	case RANDOM: fprintf(out, "seed %u", NM_PINNED_SEED); break;
	case PROCESSORS: fprintf(out, "%u", NM_PINNED_PROCESSORS); break;
	case INSTRUCTIONS: nm_collector_log_list(log, NM_PINNED_INSTRUCTIONS, out); break;
	case ENVIRONMENT: nm_environment_write(environment, out); break;
	case UNPINNED: nm_collector_log_list(log, NM_PINNED_UNPINNED, out); break;
	}
}

int nm_manifest_make(struct nm_manifest *manifest, const struct nm_environment *environment, int log,
		     struct nm_error *err)
{
	int status = 0;

	for (int i = 0; i < NM_MANIFEST_FACTS && !status; i++) {
		FILE *out = nm_memstream_open(&manifest->values[i], NULL);

		if (out)
			write_fact(i, environment, log, out);
		status = !out || nm_memstream_close(out, &manifest->values[i]) ? nm_fail_memory(err) : 0;
	}
	return status;
}

void nm_manifest_done(struct nm_manifest *manifest)
{
	for (int i = 0; i < NM_MANIFEST_FACTS; i++) {
		free(manifest->values[i]);
		manifest->values[i] = NULL;
	}
}
