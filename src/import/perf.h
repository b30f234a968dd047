/* SPDX-License-Identifier: MIT
 *
 * perf.h - reads perf.data: samples of a processor's counters, and what they need to be named.
 *
 *     nm_perf_open(&perf, "perf.data", &err);
 *     while ((status = nm_perf_next(perf, &record, &err)) > 0)
 *             ...records in the order of their times...
 *     nm_perf_free(perf);
 *
 * Files and what `perf record -o -` writes to a pipe, also packed (gzip, zstd, xz) or with compressed records
 * (perf record -z). Sizes that the file states are believed, so files of later kernels are read: of longer
 * structures the known part, of unknown records nothing. The file is read once, from front to back, in bounded
 * memory.
 *
 * The format: linux, tools/perf/Documentation/perf.data-file-format.txt and include/uapi/linux/perf_event.h.
 */
#ifndef NM_PERF_H
#define NM_PERF_H

#include <stddef.h>
#include <stdint.h>

#include "data_source.h"
#include "errors.h"

enum nm_perf_kind { NM_PERF_MAP, NM_PERF_COMM, NM_PERF_FORK, NM_PERF_EXIT, NM_PERF_SAMPLE, NM_PERF_LOST };

enum { NM_PERF_BUILD_ID = 20 }; /* bytes, at most */

struct nm_perf_mapping {
	uint64_t address, bytes, offset; /* in memory; in the file */
	const char *path;
	int is_executable;
	uint8_t build_id[NM_PERF_BUILD_ID];
	size_t build_id_bytes; /* 0: not known */
};

enum nm_perf_mode { NM_PERF_UNKNOWN_MODE, NM_PERF_KERNEL, NM_PERF_USER, NM_PERF_HYPERVISOR, NM_PERF_GUEST };

/* From DATA_SRC. */
struct nm_perf_source {
	enum nm_operation operation;
	enum nm_served level;
	enum nm_snoop snoop;
	enum nm_tlb tlb;
	int is_miss;   /* the level was asked and missed; what served it is not known */
	int is_locked; /* the instruction locked its line */
};

struct nm_perf_sample {
	unsigned event; /* index: nm_perf_event */
	enum nm_perf_mode mode;
	uint64_t ip, address, period;
	uint64_t physical;   /* address; 0: not known */
	uint64_t latency;    /* cycles that the access took, from WEIGHT; 0: not known */
	uint64_t retire;     /* cycles until the instruction retired, from WEIGHT_STRUCT; 0: not known */
	int has_address;     /* `address` is one of data */
	uint64_t page_bytes; /* of the data's page; 0: not known */
	struct nm_perf_source source;
	const uint64_t *chain; /* [chain_count]: addresses of the call chain, with markers of contexts */
	size_t chain_count;
	uint32_t cpu; /* UINT32_MAX: not known */
};

struct nm_perf_record {
	enum nm_perf_kind kind;
	uint32_t pid, tid;
	uint64_t time; /* ns; 0: not known */
	union {
		struct nm_perf_mapping map;
		struct {
			const char *name;
			int is_exec; /* the process began a program */
		} comm;
		struct {
			uint32_t parent_pid, parent_tid;
		} fork;
		struct nm_perf_sample sample;
		uint64_t lost; /* samples */
	};
};

struct nm_perf;

/* path "-": standard input. NM_EFORMAT: not a perf.data file, or one that this reader cannot read, with the
 * reason. */
int nm_perf_open(struct nm_perf **ret_perf, const char *path, struct nm_error *err);
void nm_perf_free(struct nm_perf *perf);

/* 1 and the next record, valid until the next call; 0 at the end; NM_EFORMAT where the file is damaged or cut
 * off: records before it are good. */
int nm_perf_next(struct nm_perf *perf, struct nm_perf_record *ret_record, struct nm_error *err);

/* An event that was sampled. name: as perf called it, or made of its type and number. NULL behind the last. */
struct nm_perf_event {
	const char *name;
	uint64_t period; /* samples are this far apart, or (is_frequency) this many are taken a second */
	int is_frequency;
	int has_source, has_latency; /* samples say where data came from, and how long it took */
};
const struct nm_perf_event *nm_perf_event_at(const struct nm_perf *perf, unsigned i);

/* What the file says of its making, known after the last record; NULL: nothing. */
struct nm_perf_origin {
	const char *command, *host, *release, *processor;
	uint64_t skipped; /* records of kinds that are not read */
};
struct nm_perf_origin nm_perf_origin_of(const struct nm_perf *perf);

/* The build id that the file lists for a path at its end: its bytes, or 0. */
size_t nm_perf_build_id(const struct nm_perf *perf, const char *path, const uint8_t **ret_bytes);

#endif
