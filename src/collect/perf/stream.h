/* SPDX-License-Identifier: MIT
 *
 * stream.h - samples as perf.data, in the form that perf writes to a pipe: what nm_perf_open reads.
 */
#ifndef NM_SAMPLES_STREAM_H
#define NM_SAMPLES_STREAM_H

#include <stdio.h>

#include "sampled_events.h"

/* What comes before the kernel's records: the event, this machine, the command. 0 or NM_EIO. */
int nm_stream_begin(FILE *out, const struct nm_sampled_event *event, char *const *command,
		    struct nm_error *err);

/* What a process that runs already is called, and a mapping of it; `time` as of the kernel's records, in ns. */
int nm_stream_name(FILE *out, pid_t process, const char *name, uint64_t time);
struct nm_stream_map {
	uint64_t address, bytes, offset;
	int is_executable;
	const char *path;
};
int nm_stream_map(FILE *out, pid_t process, const struct nm_stream_map *map, uint64_t time);

/* After a turn through all buffers: the reader can sort what came before the last turn. */
int nm_stream_round(FILE *out);

/* So many records were lost. */
int nm_stream_lost(FILE *out, uint64_t lost);

#endif
