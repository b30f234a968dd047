/* SPDX-License-Identifier: MIT
 *
 * perf_fuzz.c - libFuzzer over the reader of perf.data.
 *
 * Whatever is read keeps the contracts of perf.h: every string ends, every event that a sample names is there.
 *
 *     build-fuzz/tests/fuzz/perf_fuzz CORPUS tests/fuzz/corpus/perf_fuzz
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t seen; /* of all that was read, so that sanitizers see it read */

static void demand(int holds)
{
	if (!holds)
		abort();
}

static void read_record(const struct nm_perf *perf, const struct nm_perf_record *r)
{
	switch (r->kind) {
	case NM_PERF_MAP: seen += strlen(r->map.path) + (r->map.build_id_bytes <= NM_PERF_BUILD_ID); break;
	case NM_PERF_COMM: seen += strlen(r->comm.name); break;
	case NM_PERF_SAMPLE:
		demand(nm_perf_event_at(perf, r->sample.event) != NULL);
		demand(r->sample.source.operation < NM_OPERATIONS &&
		       r->sample.source.level < NM_SERVED_KINDS);
		demand(r->sample.source.snoop < NM_SNOOPS && r->sample.source.tlb < NM_TLBS);
		for (size_t i = 0; i < r->sample.chain_count; i++)
			seen += r->sample.chain[i];
		break;
	default: break;
	}
}

static void read_origin(const struct nm_perf *perf)
{
	const struct nm_perf_origin origin = nm_perf_origin_of(perf);
	const char *texts[] = {origin.command, origin.host, origin.release, origin.processor};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		seen += texts[i] ? strlen(texts[i]) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("perf", MFD_CLOEXEC);
	struct nm_perf_record record;
	struct nm_perf *perf;
	struct nm_error err;
	char path[64];

	demand(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!nm_perf_open(&perf, path, &err)) {
		int status;

		while ((status = nm_perf_next(perf, &record, &err)) > 0)
			read_record(perf, &record);
		demand(!status || (*err.text && !strchr(err.text, '\n')));
		read_origin(perf);
		nm_perf_free(perf);
	}
	close(fd);
	return 0;
}
