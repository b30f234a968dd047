/* SPDX-License-Identifier: MIT */
#include "snapshot.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nearmiss/wire.h"
#include "signals_forward.h"
#include "vector.h"

/* What a process has done and not published; its words are in the list of all. */
struct rest {
	uint32_t ring;
	size_t count;
};

struct rests {
	struct nm_vec(struct rest) of;
	struct nm_vec(uint64_t) words;
};

static void free_rests(struct rests *r)
{
	nm_vec_free(&r->of);
	nm_vec_free(&r->words);
}

/* Copied before the fork: then producers go on. 0 or NM_ENOMEM. */
static int copy_rests(const struct nm_consumer *consumer, struct rests *r)
{
	for (size_t i = 0; i < nm_consumer_rings(consumer); i++) {
		struct nm_chunk chunk;
		uint64_t ran, *to;
		struct rest rest;

		if (!nm_consumer_peek(consumer, i, &chunk, &ran))
			continue;
		rest = (struct rest){chunk.ring, chunk.count + (ran ? 2 : 0)};
		if (nm_vec_push(&r->of, rest) || nm_vec_reserve(&r->words, rest.count))
			return NM_ENOMEM;
		to = r->words.at + r->words.count;
		memcpy(to, chunk.words, chunk.count * sizeof *to);
		if (ran) {
			to[chunk.count] = nm_wire_header(NM_WIRE_RAN, 0, 1);
			to[chunk.count + 1] = ran;
		}
		r->words.count += rest.count;
	}
	return 0;
}

/* A fault in one stream ends only that one. */
static int feed_rests(const struct rests *r, struct nm_session *session, struct nm_error *err)
{
	const uint64_t *words = r->words.at;
	int status = 0;

	for (size_t i = 0; i < r->of.count && status != NM_ENOMEM; i++) {
		status = nm_session_feed(session, r->of.at[i].ring, words, r->of.at[i].count, err);
		words += r->of.at[i].count;
	}
	return status == NM_ENOMEM ? status : 0;
}

/* In the copy, which shares the rings with the recorder and must leave them alone. */
static int write_profile(const struct nm_snapshot *s, const struct rests *rests,
			 const struct nm_run_request *request, const struct nm_run_info *info,
			 struct nm_session *session, struct nm_error *err)
{
	struct nm_run_request own = *request;
	struct nm_profile_writer *writer;
	int status = feed_rests(rests, session, err);

	own.output = s->output;
	own.candidate_outputs = NULL;
	own.receiver = NULL;
	if (!status)
		status = nm_profile_writer_new(&writer, s->output, err);
	return status ? status : nm_run_finish(&own, info, session, writer, err);
}

static _Noreturn void be_writer(const struct nm_snapshot *s, int fault, const struct rests *rests,
				const struct nm_run_request *request, const struct nm_run_info *info,
				struct nm_session *session)
{
	struct nm_error err;
	int status;

	nm_signals_forward_to(0);
	status = write_profile(s, rests, request, info, session, &err);
	if (status && write(fault, &err, sizeof err) < 0) {
		/* the recorder has gone */
	}
	_exit(status != 0);
}

int nm_snapshot_start(struct nm_snapshot *s, const char *output, const struct nm_run_request *request,
		      const struct nm_run_info *info, struct nm_session *session,
		      const struct nm_consumer *consumer, struct nm_error *err)
{
	struct rests rests = {0};
	int fault[2], status;

	assert(!s->writer);
	if (snprintf(s->output, sizeof s->output, "%s", output) >= (int)sizeof s->output)
		return nm_fail(err, NM_EINVAL, "the name of the profile is too long");
	if (pipe2(fault, O_CLOEXEC))
		return nm_fail_errno(err, "cannot make a pipe");
	status =
	    copy_rests(consumer, &rests) ? nm_fail_memory(err) : nm_session_fork(session, &s->writer, err);
	if (!status && !s->writer)
		be_writer(s, fault[1], &rests, request, info, session);
	close(fault[1]);
	free_rests(&rests);
	s->fault = fault[0];
	if (status) {
		s->writer = 0;
		close(s->fault);
	}
	return status;
}

int nm_snapshot_ended(struct nm_snapshot *s, int wait, int *ret_status, struct nm_error *err)
{
	int how;

	assert(s->writer);
	if (waitpid(s->writer, &how, wait ? 0 : WNOHANG) != s->writer)
		return 0;
	*ret_status = WIFEXITED(how) && !WEXITSTATUS(how) ? 0 : NM_EIO;
	if (*ret_status && read(s->fault, err, sizeof *err) != sizeof *err)
		nm_fail(err, NM_EIO, "the snapshot's writer has ended early");
	close(s->fault);
	s->writer = 0;
	return 1;
}
