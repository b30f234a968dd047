/* SPDX-License-Identifier: MIT
 *
 * part.h - a run that is cut into parts, one after the other in time, which different processes simulate.
 *
 * Of the parts before its own a process follows the outline (outline.h); its own part it simulates from empty caches,
 * in a slice (slices.h). The whole run's attribution keys are made by a process that follows all outlines: whoever has
 * a part sends the pieces of it in which it met new keys whole, with the keys of their references in order. Executed
 * there, their references have the whole run's keys in the same order.
 *
 * A session of parts has options.pass = &nm_pass_part, .pass_arg = the part, .part = it too, .threads = 1.
 */
#ifndef NM_PART_H
#define NM_PART_H

#include <stddef.h>
#include <stdint.h>

#include "attribution.h"
#include "errors.h"
#include "vector.h"

struct nm_engine;
struct nm_machine;
struct nm_outline;
struct nm_run_slice;
struct nm_session;

/* What a process does with the words that are fed. */
enum nm_part_manner {
	NM_PART_FOLLOW,  /* executes without references */
	NM_PART_OUTLINE, /* the same, and makes an outline */
	NM_PART_SIMULATE,
	NM_PART_COLLECT /* makes references for their keys alone */
};

/* Of one process of the program. */
struct nm_part_stream {
	uint32_t number;
	struct nm_engine *engine;   /* NULL: the session has ended it */
	struct nm_run_slice *slice; /* of the part; in the end it has the run's counts */
};

struct nm_part_keys nm_vec(uint32_t);

struct nm_run_part {
	const struct nm_machine *machine; /* borrowed */
	enum nm_part_manner manner;
	struct nm_outline *outline; /* of NM_PART_OUTLINE; borrowed */
	int has_hints;              /* the program prefetches, or stores past the caches */
	uint32_t stream;            /* that is fed */
	struct nm_part_keys keys;   /* of the references of the latest piece */
	struct nm_vec(struct nm_part_stream *) streams;
};

struct nm_pass;
extern const struct nm_pass nm_pass_part;

/* Its session must have been freed. */
void nm_part_done(struct nm_run_part *part);

/* A stream that has been fed, or NULL. */
struct nm_part_stream *nm_part_stream(const struct nm_run_part *part, uint32_t number);

/* Feeds whole records, a piece, in the manner that is set. *ret_is_new: it has met new code or keys. 0 or a code;
 * NM_EINVAL: slices cannot follow the program. */
int nm_part_feed(struct nm_run_part *part, struct nm_session *session, uint32_t stream, const uint64_t *words,
		 size_t count, int *ret_is_new, struct nm_error *err);

/* The slice of a stream, made if there is none. 0 or NM_ENOMEM. */
int nm_part_slice(const struct nm_run_part *part, struct nm_part_stream *stream);

/* What a stream's references add up to: rows of reads and writes by attribution key. */
struct nm_part_counts {
	uint64_t references, string_instructions, string_bytes;
	struct nm_vec(struct nm_attr_references) of_key;
};

/* Reads what a stream has counted since its beginning; sets it. 0 or NM_ENOMEM. */
int nm_part_counts_take(const struct nm_part_stream *stream, struct nm_part_counts *ret_counts);
int nm_part_counts_set(const struct nm_part_stream *stream, const struct nm_part_counts *counts);

/* Keys are below. */
size_t nm_part_key_count(const struct nm_part_stream *stream);

#endif
