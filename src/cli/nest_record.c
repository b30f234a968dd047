/* SPDX-License-Identifier: MIT
 *
 * nest_record.c - nearmiss nest without --print, --list or --sweep: one simulation of a nest, its profile, and its
 * trace if one is wanted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "message.h"
#include "nesting.h"
#include "oracle.h"
#include "outcome.h"
#include "tracer.h"

enum { PROGRESS_MS = 500 };

struct recording {
	const struct nm_nesting *nesting;
	struct nm_symbols *symbols;
	struct nm_session *session;
	struct nm_oracle *oracle; /* of levels with policy=opt, or NULL */
	struct nm_profile_writer *writer;
	struct nm_tracer *tracer; /* or NULL */
	double started, shown;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void show_progress(struct recording *r)
{
	double now = now_ms(), references = (double)nm_session_references(r->session) / 1e6;

	if (now - r->shown < PROGRESS_MS)
		return;
	fprintf(stderr, "\r\033[Knearmiss: %.1f M references, %.1f M/s", references,
		references / (now - r->started) * 1e3);
	r->shown = now;
}

static int take(void *self, const uint64_t *words, size_t count, struct nm_error *err)
{
	struct recording *r = self;
	int status;

	if (r->nesting->progress)
		show_progress(r);
	if (!count)
		return 0;
	if (r->tracer)
		nm_tracer_start(r->tracer, 0, words, count);
	status = nm_session_feed(r->session, 0, words, count, err);
	if (r->tracer)
		nm_tracer_wait(r->tracer);
	return status;
}

/* What was run, as the stream tells it: the file and the settings. */
static int run_nest(struct recording *r, struct nm_nest *nest, struct nm_error *err)
{
	const struct nm_nesting *n = r->nesting;
	const char **argv = calloc(n->setting_count + 2, sizeof *argv);
	struct nm_nest_sink sink = {take, r};
	int status;

	if (!argv)
		return nm_fail_memory(err);
	argv[0] = n->path;
	memcpy(argv + 1, n->settings, n->setting_count * sizeof *argv);
	r->started = r->shown = now_ms();
	status = nm_nest_run(nest, argv, &sink, err);
	if (n->progress)
		fputs("\r\033[K", stderr);
	free(argv);
	return status;
}

static int start_session(struct recording *r, const struct nm_sift_request *sift, struct nm_error *err)
{
	struct nm_engine_options options = {.machine = &r->nesting->machine,
					    .symbols = r->symbols,
					    .threads = r->nesting->threads,
					    .sift = sift,
					    .oracle = r->oracle};

	return nm_session_new(&r->session, &options, err);
}

/* Levels with policy=opt are told of references that are to come by runs whose counts are forgotten. */
static int look_ahead(struct recording *r, struct nm_nest *nest, struct nm_error *err)
{
	struct nm_result *const *results;
	size_t count;
	int status = nm_oracle_new(&r->oracle, &r->nesting->machine, err);

	while (!status && !nm_oracle_ready(r->oracle)) {
		status = start_session(r, NULL, err);
		if (!status)
			status = run_nest(r, nest, err);
		if (!status)
			status = nm_session_results(r->session, &results, &count, err);
		nm_session_free(r->session);
		r->session = NULL;
		nm_oracle_next_run(r->oracle);
	}
	return status;
}

static int prepare(struct recording *r, struct nm_nest *nest, const char *output, const char *trace,
		   struct nm_error *err)
{
	int status = nm_profile_writer_new(&r->writer, output, err);

	if (!status)
		status = nm_symbols_new(&r->symbols, err);
	if (!status && nm_machine_runs_ahead(&r->nesting->machine))
		status = look_ahead(r, nest, err);
	if (!status)
		status = start_session(r, r->nesting->sift, err);
	if (!status && trace)
		status = nm_tracer_new(&r->tracer, trace, r->symbols, err);
	if (!status && trace)
		nm_tracer_info(r->tracer, "collector", "nest");
	return status;
}

/* The trace ends after the results, which ask for the last names. */
static int finish(struct recording *r, struct nm_error *err)
{
	struct nm_outcome outcome = {.collector = "nest", .wall_seconds = (now_ms() - r->started) / 1e3};
	struct nm_profile_writer *writer = r->writer;
	struct nm_tracer *tracer = r->tracer;
	int status;

	if (tracer) {
		nm_tracer_start(tracer, 0, NULL, 0);
		nm_tracer_wait(tracer);
		nm_tracer_info(tracer, "exit_status", "0");
	}
	r->writer = NULL;
	status = nm_outcome_write(&outcome, r->session, writer, err);
	if (status || !tracer)
		return status;
	r->tracer = NULL;
	return nm_tracer_close(tracer, err);
}

static void done(struct recording *r)
{
	if (r->writer)
		nm_profile_writer_abort(r->writer);
	nm_tracer_free(r->tracer);
	nm_session_free(r->session);
	nm_oracle_free(r->oracle);
	nm_symbols_free(r->symbols);
}

int nm_nest_record(const struct nm_nesting *nesting, const char *output, const char *trace, int quiet)
{
	struct recording r = {.nesting = nesting};
	struct nm_nest *nest;
	struct nm_error err;
	int code, status;

	if (nm_nest_load(&nest, nesting->path, nesting->settings, &err))
		return nm_failed(&err, NM_STATUS_BAD_NEST);
	code = prepare(&r, nest, output, trace, &err);
	status = nm_status_of((enum nm_code)code, NM_STATUS_NO_OUTPUT);
	if (!status)
		status = nm_status_of((enum nm_code)run_nest(&r, nest, &err), NM_STATUS_BAD_NEST);
	if (!status)
		status = nm_status_of((enum nm_code)finish(&r, &err), NM_STATUS_NO_OUTPUT);
	done(&r);
	nm_nest_free(nest);
	if (status)
		nm_message_error(&err);
	else if (!quiet)
		nm_summarise(output);
	return status;
}
