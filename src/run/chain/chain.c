/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chain_priv.h"
#include "slices.h"

double chain_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int chain_send(const struct nm_rank_chain *c, unsigned to, const void *bytes, size_t count,
	       struct nm_error *err)
{
	return c->transport->send(c->transport->self, to, bytes, count, err);
}

int chain_receive(const struct nm_rank_chain *c, unsigned from, void **ret_bytes, size_t *ret_count,
		  struct nm_error *err)
{
	return c->transport->receive(c->transport->self, from, ret_bytes, ret_count, err);
}

/* ---- before the work ---- */

int nm_chain_check(const struct nm_engine_options *o, struct nm_error *err)
{
	struct nm_run_slice *trial = NULL;
	const char *other = o->instructions                 ? "--instr"
			    : o->contexts || o->heap_chains ? "--callgraph"
			    : o->distances                  ? "--distances"
			    : o->estimate_count             ? "--estimate"
			    : o->event_query                ? "--sets"
			    : o->relocations                ? "--relocate"
			    : o->pmu                        ? "--pmu"
			    : o->schedules > 1              ? "--schedules"
			    : o->window.from.unit           ? "--from"
			    : o->window.until.unit          ? "--until"
			    : o->window.in                  ? "--in"
							    : NULL;
	int status = nm_run_slice_new(&trial, o->machine, 1, err);

	nm_run_slice_free(trial);
	if (!status && other)
		return nm_fail(err, NM_EINVAL, "%s needs the run in one piece: use nearmiss replay", other);
	return status;
}

/* What rank 0 tells: the status, and the error's text behind it. */
static int tell_status(const struct nm_chain_transport *t, unsigned to, int status,
		       const struct nm_error *told, struct nm_error *err)
{
	char message[sizeof told->text + sizeof status] = {0};

	memcpy(message, &status, sizeof status);
	if (status)
		memcpy(message + sizeof status, told->text, strlen(told->text));
	return t->send(t->self, to, message, sizeof message, err);
}

static int hear_status(const struct nm_chain_transport *t, unsigned from, int *ret_status,
		       struct nm_error *ret_told, struct nm_error *err)
{
	size_t count;
	void *message;
	const int status = t->receive(t->self, from, &message, &count, err);

	if (status)
		return status;
	assert(count == sizeof *ret_status + sizeof ret_told->text);
	memcpy(ret_status, message, sizeof *ret_status);
	if (*ret_status) {
		ret_told->code = (enum nm_code) * ret_status;
		memcpy(ret_told->text, (char *)message + sizeof *ret_status, sizeof ret_told->text);
	}
	free(message);
	return 0;
}

int nm_chain_agree(struct nm_chain_request *request, int status, struct nm_error *err)
{
	const struct nm_chain_transport *t = request->transport;
	struct nm_error fault;
	int failure = 0;

	if (t->rank) {
		failure = tell_status(t, 0, status, err, &fault);
		if (!failure)
			failure = hear_status(t, 0, &status, err, &fault);
	}
	for (unsigned k = 1; k < t->ranks && !t->rank && !failure; k++) {
		struct nm_error told;
		int of_rank;

		failure = hear_status(t, k, &of_rank, &told, &fault);
		if (failure || !of_rank || status)
			continue;
		status = of_rank;
		nm_fail(err, told.code, "rank %u: %s", k, told.text);
	}
	for (unsigned k = 1; k < t->ranks && !t->rank && !failure; k++)
		failure = tell_status(t, k, status, err, &fault);
	if (failure)
		*err = fault;
	request->is_refused = !failure && status;
	return failure ? failure : status;
}

/* ---- following ---- */

/* A pass through the stream that only knows the state of the program, and makes the outline of the own part. */
struct scout {
	struct nm_rank_chain *chain;
	struct nm_run_part part;
	struct nm_session *session;
	struct nm_outline outline;
};

static int follow_block(struct nm_run_part *part, struct nm_session *session,
			const struct packed_block *block, struct nm_error *err)
{
	struct outline_reader reader;
	struct piece piece;
	int is_new, status = outline_reader_begin(&reader, block);

	if (status)
		nm_fail(err, (enum nm_code)status, "an outline from another rank is damaged");
	part->manner = NM_PART_FOLLOW;
	while (!status && outline_reader_next(&reader, &piece))
		status = nm_part_feed(part, session, piece.stream, piece.words, piece.count, &is_new, err);
	outline_reader_done(&reader);
	return status;
}

/* Passes on the latest of the blocks. */
static int pass_on(const struct nm_rank_chain *c, const struct outlines *o, struct nm_error *err)
{
	const struct packed_block *block = &o->blocks.at[o->blocks.count - 1];
	const unsigned next = c->transport->rank + 1;

	return next < c->transport->ranks ? chain_send(c, next, block->bytes, block->count, err) : 0;
}

/* The parts before, as they come. */
static int follow_others(struct scout *s, struct nm_error *err)
{
	struct nm_rank_chain *c = s->chain;
	void *bytes;
	size_t count;
	int status = 0;

	while (c->transport->rank && !status) {
		status = chain_receive(c, c->transport->rank - 1, &bytes, &count, err);
		if (!status && !count) {
			free(bytes);
			break;
		}
		if (!status && outlines_take(&c->before, bytes, count))
			status = nm_fail_memory(err);
		if (!status)
			status = pass_on(c, &c->before, err);
		if (!status)
			status = follow_block(&s->part, s->session,
					      &c->before.blocks.at[c->before.blocks.count - 1], err);
	}
	return status;
}

static int outline_piece(void *arg, uint32_t stream, const uint64_t *words, size_t count,
			 struct nm_error *err)
{
	struct scout *s = arg;
	int is_new, is_full, status;

	s->part.manner = NM_PART_OUTLINE;
	s->outline.words.count = 0;
	status = nm_part_feed(&s->part, s->session, stream, words, count, &is_new, err);
	if (status)
		return status;
	if (outlines_add(&s->chain->own,
			 &(struct piece){
			     .stream = stream, .words = s->outline.words.at, .count = s->outline.words.count},
			 &is_full) ||
	    (is_full && outlines_close(&s->chain->own)))
		return nm_fail_memory(err);
	return is_full ? pass_on(s->chain, &s->chain->own, err) : 0;
}

/* The rest of the own outline, and its end. */
static int end_outline(struct nm_rank_chain *c, struct nm_error *err)
{
	const size_t before = c->own.blocks.count;
	int status = outlines_close(&c->own) ? nm_fail_memory(err) : 0;

	if (!status && c->own.blocks.count > before)
		status = pass_on(c, &c->own, err);
	return status || c->transport->rank + 1 == c->transport->ranks
		   ? status
		   : chain_send(c, c->transport->rank + 1, NULL, 0, err);
}

static int start_session(const struct nm_rank_chain *c, struct nm_run_part *part,
			 struct nm_session **ret_session, struct nm_error *err)
{
	struct nm_engine_options options = c->options;

	part->machine = options.machine;
	options.threads = 1;
	options.pass = &nm_pass_part;
	options.pass_arg = part;
	options.part = part;
	return nm_session_new(ret_session, &options, err);
}

static int scout(struct nm_rank_chain *c, struct nm_error *err)
{
	struct scout s = {.chain = c};
	const double begin = chain_seconds();
	int status;

	s.part.outline = &s.outline;
	status = start_session(c, &s.part, &s.session, err);
	if (!status)
		status = follow_others(&s, err);
	if (!status)
		status = trace_part_walk(&c->trace, outline_piece, &s, err);
	if (!status)
		status = end_outline(c, err);
	nm_session_free(s.session);
	nm_part_done(&s.part);
	nm_vec_free(&s.outline.words);
	c->work.follow_seconds = chain_seconds() - begin;
	c->work.followed_bytes = c->before.bytes;
	c->work.outline_bytes = c->own.bytes;
	return status;
}

/* ---- the own part ---- */

/* Its pieces, side by side with their outlines. */
struct simulation {
	struct nm_rank_chain *chain;
	struct outline_reader reader;
	size_t next; /* block of the own outline */
};

/* The next outline, of the same piece. */
static int read_outline(struct simulation *s, struct piece *ret, struct nm_error *err)
{
	const struct nm_rank_chain *c = s->chain;
	int status;

	while (!outline_reader_next(&s->reader, ret)) {
		assert(s->next < c->own.blocks.count);
		outline_reader_done(&s->reader);
		status = outline_reader_begin(&s->reader, &c->own.blocks.at[s->next++]);
		if (status)
			return nm_fail(err, (enum nm_code)status, "the part's own outline is damaged");
	}
	return 0;
}

/* What rank 0 gets of the piece that has just been simulated. */
static int tell_piece(struct simulation *s, struct piece whole, struct nm_error *err)
{
	struct nm_rank_chain *c = s->chain;
	struct piece piece;
	int is_full, status = read_outline(s, &piece, err);

	if (status)
		return status;
	assert(piece.stream == whole.stream);
	if (outlines_add(&c->told, whole.is_whole ? &whole : &piece, &is_full) ||
	    (is_full && outlines_close(&c->told)))
		return nm_fail_memory(err);
	return 0;
}

static int simulate_piece(void *arg, uint32_t stream, const uint64_t *words, size_t count,
			  struct nm_error *err)
{
	struct simulation *s = arg;
	struct nm_rank_chain *c = s->chain;
	int is_new, status;

	if ((!c->streams.count || c->streams.at[c->streams.count - 1] != stream) &&
	    nm_vec_push(&c->streams, stream))
		return nm_fail_memory(err);
	c->part.manner = NM_PART_SIMULATE;
	status = nm_part_feed(&c->part, c->session, stream, words, count, &is_new, err);
	if (status || !c->transport->rank)
		return status;
	return tell_piece(s,
			  (struct piece){.stream = stream,
					 .is_whole = is_new,
					 .words = words,
					 .count = count,
					 .keys = c->part.keys.at,
					 .key_count = is_new ? c->part.keys.count : 0},
			  err);
}

static int simulate(struct nm_rank_chain *c, struct nm_error *err)
{
	struct simulation s = {.chain = c};
	const double begin = chain_seconds();
	int status = start_session(c, &c->part, &c->session, err);

	for (size_t i = 0; i < c->before.blocks.count && !status; i++)
		status = follow_block(&c->part, c->session, &c->before.blocks.at[i], err);
	outlines_free(&c->before);
	if (!status)
		status = trace_part_walk(&c->trace, simulate_piece, &s, err);
	outline_reader_done(&s.reader);
	outlines_free(&c->own);
	if (!status && outlines_close(&c->told))
		status = nm_fail_memory(err);
	c->work.read_bytes = c->trace.read_bytes;
	c->work.simulate_seconds = chain_seconds() - begin;
	return status;
}

/* ---- all ---- */

static int run(struct nm_rank_chain *c, struct nm_chain_request *request, struct nm_error *err)
{
	int status = c->transport->ranks > 1 ? scout(c, err) : 0;

	if (!status)
		status = simulate(c, err);
	if (!status)
		status = chain_settle(c, request->work, err);
	return status;
}

int nm_chain_run(struct nm_rank_chain **ret_chain, struct nm_chain_request *request, struct nm_trace *trace,
		 const char *path, const struct nm_engine_options *options, struct nm_session **ret_session,
		 struct nm_error *err)
{
	struct nm_rank_chain *c = calloc(1, sizeof *c);
	struct nm_error fault;
	int status;

	if (!c)
		return nm_fail_memory(err);
	*ret_chain = c;
	c->transport = request->transport;
	c->options = *options;
	status = trace_part_init(&c->trace, trace, c->transport->rank, c->transport->ranks, &fault);
	if (!status)
		status = run(c, request, &fault);
	if (status == NM_EFORMAT)
		return nm_fail(err, NM_EFORMAT, "%s: %s", path, fault.text);
	if (status)
		*err = fault;
	*ret_session = status || c->transport->rank ? NULL : c->session;
	return status;
}

void nm_chain_free(struct nm_rank_chain *c)
{
	if (!c)
		return;
	nm_session_free(c->session);
	nm_part_done(&c->part);
	trace_part_done(&c->trace);
	outlines_free(&c->before);
	outlines_free(&c->own);
	outlines_free(&c->told);
	nm_vec_free(&c->streams);
	free(c);
}
