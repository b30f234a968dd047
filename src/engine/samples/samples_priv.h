/* SPDX-License-Identifier: MIT
 *
 * samples_priv.h - what samples.c, heap.c and exact.c share: the programs that processes run.
 */
#ifndef NM_SAMPLES_PRIV_H
#define NM_SAMPLES_PRIV_H

#include "attribution.h"
#include "contexts.h"
#include "exact.h"
#include "namer.h"
#include "samples.h"
#include "space.h"

/* A program that a process runs. */
struct image {
	uint32_t pid;
	const char *name, *path; /* interned; path: in the tree of forks and execs */
	struct nm_space space;
	struct nm_attributions attrs;
	struct nm_map threads; /* tid -> number, from 1 */
	struct nm_contexts contexts;
	struct nm_map context_of; /* number of a chain in the heap's log -> its context here */
	struct nm_namer namer;
	struct nm_map cell_of; /* what a cell stands for, packed -> index */
	struct nm_vec(struct nm_result_sample) cells;
	uint32_t thread_count, forks;
	uint32_t no_data, kernel; /* objects: of samples without an address; of the kernel's memory */
	struct nm_result result;
};

struct nm_samples {
	struct nm_symbols *symbols;
	const char *user_folders;
	struct nm_exact *exact;               /* borrowed; NULL: samples are not joined */
	struct nm_vec(struct image *) images; /* in the order of their first records */
	struct nm_map image_of;               /* pid -> index of what it runs now */
	struct nm_vec(struct nm_result *) results;
	struct nm_map function_of; /* interned name of a function -> its number in chains, from 1 */
	uint64_t count, lost, roots;
};

/* The program that a process runs now. NULL: out of memory. */
struct image *samples_image_of(struct nm_samples *samples, uint32_t pid);

/* ---- exact.c ---- */

/* In attribution keys, the objects from here on are none of the image's space but the recording's: JOINED +
 * 2 * a datum, + 1 if the instruction accesses others too. */
enum { JOINED = 1u << 25 };

/* An object of the recording, or a field of it. */
struct nm_exact_datum {
	const char *object, *type, *at, *field; /* interned; the last three: or NULL */
	enum nm_object_kind kind;
};

/* Of such an object; NULL: it is the image's own. */
const struct nm_exact_datum *samples_datum(const struct nm_exact *exact, uint32_t object);

/* If it is not known which object a sample accesses: makes it one that its instruction accesses in the recording.
 * 0 or NM_ENOMEM. */
int samples_join(struct nm_samples *samples, struct image *image, const struct nm_perf_sample *sample,
		 uint32_t *object);

#endif
