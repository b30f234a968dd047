/* SPDX-License-Identifier: MIT
 *
 * replayer.c - see replayer.h.
 *
 * The input is one of our traces, or what an importer makes a single stream of.
 *
 * A trace's names are all learned before its first record is fed: the engine asks for them while it runs, and does
 * not look for files that the trace makes needless.  Those of a pipe come with the records, in time for them.
 *
 * With two threads that of the models reads the trace ahead while it has nothing to simulate, so the reader (readahead.h)
 * lives as long as the session.
 */
#include "replayer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/stat.h>

#include "heap.h"
#include "import.h"
#include "message.h"
#include "oracle.h"
#include "outcome.h"
#include "peek.h"
#include "readahead.h"

enum { PROGRESS_MS = 500 };

struct replayer {
	const struct nm_replaying *replaying;
	struct nm_symbols *symbols;
	struct nm_session *session;
	struct nm_oracle *oracle; /* of levels with policy=opt, or NULL */
	struct nm_profile_writer *writer;
	struct nm_trace *trace; /* one of these two */
	struct nm_import *import;
	struct nm_readahead *ahead; /* of the trace, as long as the session */
	double started, shown_at;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void show_progress(struct replayer *r)
{
	double now;

	if (!r->replaying->progress || (now = now_ms()) - r->shown_at < PROGRESS_MS)
		return;
	r->shown_at = now;
	fprintf(stderr, "\r\033[Knearmiss: %.1f M references",
		(double)nm_session_references(r->session) / 1e6);
}

/* ---- a trace ---- */

static int learn_names(struct replayer *r, struct nm_error *err)
{
	struct nm_trace_chunk chunk;
	const uint8_t *names;
	size_t bytes;
	int status = 0;

	if (nm_trace_is_piped(r->trace)) {
		nm_symbols_expect(r->symbols, 1);
		return 0;
	}
	for (size_t i = 0; !status && (status = nm_trace_chunk(r->trace, i, &chunk, err)) > 0; i++) {
		status = 0;
		if (chunk.kind != NM_TRACE_NAMES)
			continue;
		status = nm_trace_payload(r->trace, &chunk, &names, &bytes, err);
		if (!status)
			status = nm_symbols_learn(r->symbols, names, bytes, err);
	}
	return status;
}

/* Is this a run before the one that counts? */
static int looks_ahead(const struct replayer *r) { return r->oracle && !nm_oracle_ready(r->oracle); }

/* One stream's trouble is told, and the others go on. */
static int take(struct replayer *r, const struct nm_piece *piece, struct nm_error *err)
{
	int status;

	if (piece->names)
		return nm_symbols_learn(r->symbols, piece->names, piece->names_count, err);
	status = piece->words ? nm_session_feed(r->session, piece->stream, piece->words, piece->count, err)
			      : nm_session_end(r->session, piece->stream, err);

	if (!status || status == NM_ENOMEM)
		return status;
	if (looks_ahead(r)) /* it will be told when the events count */
		return 0;
	nm_message("the events of stream %u end early: %s", piece->stream, err->text);
	return 0;
}

/* 0, or a code: all that could be read has been fed. */
static int feed_trace(struct replayer *r, struct nm_error *err)
{
	struct nm_piece piece;
	int status;

	while ((status = nm_readahead_next(r->ahead, &piece, err)) > 0 && !(status = take(r, &piece, err)))
		show_progress(r);
	nm_readahead_stop(r->ahead);
	nm_symbols_expect(r->symbols, 0);
	return status;
}

static int read_ahead(void *ahead) { return nm_readahead_step(ahead); }

/* ---- another tool's ---- */

static int feed_import(struct replayer *r, struct nm_error *err)
{
	struct nm_piece piece = {0};
	int status;

	while ((status = nm_import_next(r->import, &piece.words, &piece.count, err)) > 0) {
		status = take(r, &piece, err);
		if (status)
			return status;
		show_progress(r);
	}
	return status;
}

/* ---- one replay ---- */

static const char *input_name(const struct replayer *r)
{
	return strcmp(r->replaying->input, "-") ? r->replaying->input : "standard input";
}

static int open_input(struct replayer *r, struct nm_error *err)
{
	const struct nm_replaying *o = r->replaying;
	struct nm_peeked_input peeked;
	int status = nm_peek_input(&peeked, o->input, err);

	if (status)
		return status;
	if (o->format || !nm_trace_probe(peeked.bytes, peeked.count))
		return nm_import_take(&r->import, &peeked, o->input, o->format, err);
	return nm_trace_take(&r->trace, &peeked, input_name(r), err);
}

static int feed(struct replayer *r, struct nm_error *err)
{
	struct nm_error fault;
	int status = r->trace ? feed_trace(r, &fault) : feed_import(r, &fault);

	if (!status && r->trace && nm_trace_is_cut(r->trace))
		status = nm_fail(&fault, NM_EFORMAT, "%s", nm_trace_fault(r->trace));
	else if (!status && r->trace && nm_trace_fault(r->trace) && !looks_ahead(r))
		nm_message("%s: %s; what stands before was used", input_name(r), nm_trace_fault(r->trace));
	if (status == NM_EFORMAT)
		return nm_fail(err, status, "%s: %s; what stands before was used", input_name(r), fault.text);
	if (status && err)
		*err = fault;
	return status;
}

static int start_session(struct replayer *r, struct nm_error *err)
{
	const struct nm_replaying *replaying = r->replaying;
	struct nm_engine_options options = {.machine = &replaying->machine,
					    .symbols = r->symbols,
					    .threads = replaying->threads,
					    .oracle = r->oracle,
					    .instructions = replaying->instructions};

	if (!looks_ahead(r)) {
		options.by_instruction = replaying->by_instruction;
		options.contexts = replaying->contexts;
		options.heap_chains = replaying->heap_chains;
		options.sift = replaying->sift;
	}
	if (r->trace) {
		int status = nm_readahead_new(&r->ahead, r->trace, replaying->threads > 2, err);

		if (status)
			return status;
		if (replaying->threads == 2)
			options.idle = (struct nm_idle){read_ahead, r->ahead};
	}
	return nm_session_new(&r->session, &options, err);
}

/* Its threads may read ahead until it is gone. */
static void end_session(struct replayer *r)
{
	nm_session_free(r->session);
	nm_readahead_free(r->ahead);
	r->session = NULL;
	r->ahead = NULL;
}

/* ---- what is to come ---- */

/* One run for each level with policy=opt that stands behind another such level; the caches of these runs are forgotten.
 * An import begins anew each time, and is open again in the end. */
static int look_ahead(struct replayer *r, struct nm_error *err)
{
	struct nm_result *const *results;
	size_t count;
	int status = nm_oracle_new(&r->oracle, &r->replaying->machine, err);

	while (!status && looks_ahead(r)) {
		status = start_session(r, err);
		if (!status)
			status = feed(r, err);
		if (!status || status == NM_EFORMAT) /* damage is told by the run that counts */
			status = nm_session_results(r->session, &results, &count, err);
		end_session(r);
		if (!status && r->import) {
			nm_import_free(r->import);
			r->import = NULL;
			status = open_input(r, err);
		}
		nm_oracle_next_run(r->oracle);
	}
	return status;
}

/* A pipe can be read once.  (What is not there is told by those who open it.) */
static int can_look_ahead(const char *input, struct nm_error *err)
{
	struct stat file;

	if (strcmp(input, "-") != 0 && (stat(input, &file) || S_ISREG(file.st_mode)))
		return 0;
	return nm_fail(err, NM_EINVAL,
		       "policy=opt reads the references more than once: give it a file, not a pipe");
}

static int prepare(struct replayer *r, struct nm_error *err)
{
	const struct nm_replaying *replaying = r->replaying;
	const int ahead = nm_machine_runs_ahead(&replaying->machine) > 0;
	int status = ahead ? can_look_ahead(replaying->input, err) : 0;

	if (status)
		return NM_STATUS_BAD_MACHINE;
	status = open_input(r, err);
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_NO_PROFILE);
	if (replaying->output)
		status = nm_profile_writer_new(&r->writer, replaying->output, err);
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_NO_OUTPUT);
	status = nm_symbols_new(&r->symbols, err);
	if (!status && r->trace)
		status = learn_names(r, err);
	if (!status && ahead)
		status = look_ahead(r, err);
	if (!status)
		status = start_session(r, err);
	return status ? nm_status_of((enum nm_code)status, NM_STATUS_FAILED) : 0;
}

/* What the input tells of the run. */
static void describe(struct replayer *r, struct nm_outcome *outcome)
{
	const char *text = r->trace ? nm_trace_info(r->trace, "exit_status") : NULL;

	outcome->exit_status = text ? atoi(text) : 0;
	text = r->trace ? nm_trace_info(r->trace, "collector") : nm_import_format(r->import);
	outcome->collector = text ? text : "unknown";
}

static int run(struct replayer *r, struct nm_error *err)
{
	struct nm_outcome outcome = {.source = r->replaying->input,
				     .embed_sources = r->replaying->embed_sources};
	struct nm_profile_writer *writer = r->writer;
	const struct nm_taker *taker = r->replaying->taker;
	struct nm_error fault;
	int status = 0, fed;

	r->started = r->shown_at = now_ms();
	fed = feed(r, &fault);
	if (r->replaying->progress)
		fprintf(stderr, "\r\033[K");
	if (fed == NM_ENOMEM) {
		*err = fault;
		return NM_STATUS_FAILED;
	}
	describe(r, &outcome);
	outcome.wall_seconds = (now_ms() - r->started) / 1e3;
	r->writer = NULL;
	if (writer)
		status = nm_outcome_write(&outcome, r->session, writer, err);
	if (taker && !status)
		status = taker->take(taker->self, r->session, err);
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_NO_OUTPUT);
	if (fed)
		*err = fault;
	return fed ? nm_status_of((enum nm_code)fed, NM_STATUS_DAMAGED) : 0;
}

int nm_replay(const struct nm_replaying *replaying, struct nm_error *err)
{
	struct replayer r = {.replaying = replaying};
	int status;

	nm_heap_prepare();
	status = prepare(&r, err);
	if (!status)
		status = run(&r, err);
	if (r.writer)
		nm_profile_writer_abort(r.writer);
	end_session(&r);
	nm_oracle_free(r.oracle);
	nm_symbols_free(r.symbols);
	nm_trace_free(r.trace);
	nm_import_free(r.import);
	return status;
}
