/* SPDX-License-Identifier: MIT
 *
 * session.h - all process images of one recording: an engine for each stream, their results, and how the
 * processes descend from each other.
 */
#ifndef NM_SESSION_H
#define NM_SESSION_H

#include <sys/types.h>

#include "engine.h"

struct nm_session;

int nm_session_new(struct nm_session **ret_session, const struct nm_engine_options *options,
		   struct nm_error *err);
void nm_session_free(struct nm_session *session);

/* Feeds whole records of stream `stream` (any number; streams are taken to start in ascending order).
 * After an error in a stream the rest of that stream is ignored; what was seen before counts. */
int nm_session_feed(struct nm_session *session, uint32_t stream, const uint64_t *words, size_t count,
		    struct nm_error *err);

/* Streams that are introduced, by their first words and in ascending order, may then be fed and ended by several
 * threads, each stream by one. They must take them in this order, too: to feed a forked child may wait for its parent
 * to reach the fork. */
int nm_session_introduce(struct nm_session *session, uint32_t stream, const uint64_t *words, size_t count,
			 struct nm_error *err);

/* What is fed from now on, to any stream, moves lines but does not count, or counts again. */
void nm_session_pause(struct nm_session *session, int paused);

/* fork(): the child has the session as it is, all in one thread, and can end it for results of its own. *ret_pid: as of
 * fork(). For a session that is used by one thread. 0 or a code. */
int nm_session_fork(struct nm_session *session, pid_t *ret_pid, struct nm_error *err);

/* The stream has ended: its engine is turned into a result and freed. */
int nm_session_end(struct nm_session *session, uint32_t stream, struct nm_error *err);

/* Gives a stream up: what it holds is freed, and its result is empty. */
int nm_session_drop(struct nm_session *session, uint32_t stream, struct nm_error *err);

/* The program of a stream, by the last component of its path; "?" if it is not known yet. */
const char *nm_session_name(struct nm_session *session, uint32_t stream);

/* Ends all open streams, and gives the results in the order of the tree of processes (path, see result.h).
 * They belong to the session; may be called again. */
int nm_session_results(struct nm_session *session, struct nm_result *const **ret_results, size_t *ret_count,
		       struct nm_error *err);

/* The same one by one: take gets each result, which has its arrays only until it returns. Those of processes
 * that ended wait packed, so memory does not grow with their number as it does with the call above. */
int nm_session_each(struct nm_session *session,
		    int (*take)(void *arg, const struct nm_result *result, struct nm_error *err), void *arg,
		    struct nm_error *err);

/* If all processes run on one machine: what it has as a whole (nm_profile_writer_add_machine), when nm_session_each has
 * been called; else *ret_machine is NULL. *ret_owners is to be freed. 0 or NM_ENOMEM. */
int nm_session_machine(struct nm_session *session, const struct nm_result **ret_machine,
		       struct nm_result_owner **ret_owners, struct nm_error *err);

/* The same of the phases of all processes, for a session that is fed the same streams (phase_plan.h). *ret_plans
 * must be {0}; call nm_phase_plans_done in any case. */
int nm_session_phases(struct nm_session *session, struct nm_phase_plans *ret_plans, struct nm_error *err);

/* References seen so far, in all streams. */
uint64_t nm_session_references(struct nm_session *session);

#endif
