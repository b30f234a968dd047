/* SPDX-License-Identifier: MIT
 *
 * chain.h - replays one trace by several processes, the *ranks*: each reads and simulates one part of the trace, and
 * the result is that of one process to the last miss (part.h, slices.h).
 *
 *     rank k     follows the outlines of the parts before its own, which come from rank k - 1; passes them and that of
 *                its own part on to rank k + 1; simulates its part; sends it to rank 0 as an outline with its new keys
 *     rank 0     follows all of these: it makes the keys of the whole run, and tells each rank which its keys are
 *     rank k     settles what its part left open, level by level, by what rank k - 1 leaves; sends its counts to rank 0
 *
 * The state of the program goes through all ranks, so what following takes bounds what ranks can gain.
 */
#ifndef NM_CHAIN_H
#define NM_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "errors.h"

struct nm_symbols;
struct nm_session;
struct nm_trace;

/* What a rank did. Bytes of outlines are packed. */
struct nm_chain_work {
	uint64_t read_bytes;                    /* of the trace's records */
	uint64_t references, open;              /* of its part; loads that other parts decided */
	uint64_t followed_bytes, outline_bytes; /* of the parts before; of its own */
	double follow_seconds, simulate_seconds, settle_seconds; /* of processors */
};

/* How ranks talk, from 0. Messages from one rank to another arrive in order. */
struct nm_chain_transport {
	unsigned rank, ranks;
	/* 0 or a code */
	int (*send)(void *self, unsigned to, const void *bytes, size_t count, struct nm_error *err);
	/* Waits for the next message of a rank; the caller frees *ret_bytes. 0 or a code. */
	int (*receive)(void *self, unsigned from, void **ret_bytes, size_t *ret_count, struct nm_error *err);
	void *self;
};

struct nm_chain_request {
	const struct nm_chain_transport *transport;
	struct nm_chain_work *work; /* [ranks], filled in by rank 0 */
	int is_refused;             /* filled in: all ranks know that there is no result */
};

struct nm_rank_chain;

/* Whether what is asked for can be had in parts: 0, or NM_EINVAL and why not. */
int nm_chain_check(const struct nm_engine_options *options, struct nm_error *err);

/* Between ranks, before the work: the status of the first that fails, whose error rank 0 gets. */
int nm_chain_agree(struct nm_chain_request *request, int status, struct nm_error *err);

/* The replay. Of rank 0, the session has the streams' results, as long as the chain lives; else it is NULL. path: of
 * the trace, for errors. 0 or a code. */
int nm_chain_run(struct nm_rank_chain **ret_chain, struct nm_chain_request *request, struct nm_trace *trace,
		 const char *path, const struct nm_engine_options *options, struct nm_session **ret_session,
		 struct nm_error *err);
void nm_chain_free(struct nm_rank_chain *chain);

#endif
