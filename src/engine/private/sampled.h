/* SPDX-License-Identifier: MIT
 *
 * sampled.h - streams of sampled recordings, which have samples of references and the next access to their
 * lines instead of all references.
 *
 * Each sample gets an attribution, as a reference of a block does, and goes to the passes as a reuse sample
 * (pass.h) when it ends. Samples that never end go to them at the end of the stream, in the order in which
 * they began.
 */
#ifndef NM_SAMPLED_H
#define NM_SAMPLED_H

#include "decode.h"
#include "map.h"
#include "vector.h"

struct nm_engine;

/* An open sample; attr 0: it has ended. */
struct nm_open_sample {
	uint64_t clock;
	uint32_t attr;
};

struct nm_sampled {
	struct nm_wire_sampling options;              /* rate 0: the stream is not a sampled one */
	struct nm_vec(struct nm_open_sample) samples; /* in order of their clocks */
	size_t ended;                                 /* of them */
	uint64_t taken;                               /* samples */
	struct nm_map frame_objects; /* pc of a call -> stack object of the function around it */
};

/* Handles a record of such a stream. */
int nm_engine_sampled(struct nm_engine *engine, const struct nm_wire_record *r, struct nm_error *err);

/* At the end of the stream: gives the passes the samples that are still open. 0 or NM_ENOMEM. */
int nm_engine_end_samples(struct nm_engine *engine);

void nm_sampled_done(struct nm_sampled *sampled);

#endif
