/* SPDX-License-Identifier: MIT */
#include "nest_runner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "nest.h"
#include "oracle.h"
#include "run_profile.h"
#include "tracer.h"

struct runner {
	const struct nm_nest_run_request *request;
	struct nm_symbols *symbols;
	struct nm_session *session;
	struct nm_oracle *oracle; /* of levels with policy=opt, or NULL */
	struct nm_profile_writer *writer;
	struct nm_tracer *tracer; /* or NULL */
	struct nm_progress progress;
};

static int take_words(void *self, const uint64_t *words, size_t count, struct nm_error *err)
{
	struct runner *r = self;
	int status;

	nm_progress_update(&r->progress, r->session);
	if (!count)
		return 0;
	if (r->tracer)
		nm_tracer_start(r->tracer, 0, words, count);
	status = nm_session_feed(r->session, 0, words, count, err);
	if (r->tracer)
		nm_tracer_wait(r->tracer);
	return status;
}

/* The command that the stream names is the file and its settings. */
static int run_nest(struct runner *r, struct nm_nest *nest, struct nm_error *err)
{
	const struct nm_nest_run_request *n = r->request;
	const char **argv = calloc(n->setting_count + 2, sizeof *argv);
	struct nm_nest_sink sink = {take_words, r};
	int status;

	if (!argv)
		return nm_fail_memory(err);
	argv[0] = n->path;
	memcpy(argv + 1, n->settings, n->setting_count * sizeof *argv);
	status = nm_nest_run(nest, argv, &sink, err);
	free(argv);
	return status;
}

static int start_session(struct runner *r, int counts, struct nm_error *err)
{
	struct nm_engine_options options = r->request->run.engine;

	options.symbols = r->symbols;
	options.oracle = r->oracle;
	if (!counts)
		options.event_query = NULL;
	return nm_session_new(&r->session, &options, err);
}

/* Finds the next uses for levels with policy=opt, by passes whose counts are thrown away. */
static int look_ahead(struct runner *r, struct nm_nest *nest, struct nm_error *err)
{
	struct nm_result *const *results;
	size_t count;
	int status = nm_oracle_new(&r->oracle, r->request->run.engine.machine, err);

	while (!status && !nm_oracle_ready(r->oracle)) {
		status = start_session(r, 0, err);
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

static int prepare_run(struct runner *r, struct nm_nest *nest, struct nm_error *err)
{
	const char *trace = r->request->trace;
	const char *output = r->request->run.output;
	int status = output ? nm_profile_writer_new(&r->writer, output, err) : 0;

	if (!status)
		status = nm_symbols_new(&r->symbols, err);
	if (!status && nm_machine_runs_ahead(r->request->run.engine.machine))
		status = look_ahead(r, nest, err);
	if (!status)
		status = start_session(r, 1, err);
	if (!status && trace)
		status = nm_tracer_new(&r->tracer, trace, r->symbols, err);
	if (!status && trace)
		nm_tracer_info(r->tracer, "collector", "nest");
	return status;
}

/* Ends the trace after the results, which look up the last names. */
static int finish_run(struct runner *r, struct nm_error *err)
{
	struct nm_run_info info = {.collector = "nest", .wall_seconds = nm_progress_seconds(&r->progress)};
	struct nm_profile_writer *writer = r->writer;
	struct nm_tracer *tracer = r->tracer;
	int status;

	if (tracer) {
		nm_tracer_start(tracer, 0, NULL, 0);
		nm_tracer_wait(tracer);
		nm_tracer_info(tracer, "exit_status", "0");
	}
	r->writer = NULL;
	status = nm_run_finish(&r->request->run, &info, r->session, writer, err);
	if (status || !tracer)
		return status;
	r->tracer = NULL;
	return nm_tracer_close(tracer, err);
}

static void free_run(struct runner *r)
{
	if (r->writer)
		nm_profile_writer_abort(r->writer);
	nm_tracer_free(r->tracer);
	nm_session_free(r->session);
	nm_oracle_free(r->oracle);
	nm_symbols_free(r->symbols);
}

int nm_nest_simulate(const struct nm_nest_run_request *request, struct nm_error *err)
{
	struct runner r = {.request = request};
	struct nm_nest *nest;
	int status;

	assert(request->run.engine.machine);
	nm_progress_start(&r.progress, &request->run.feedback);
	if (nm_nest_load(&nest, request->path, request->settings, err))
		return nm_status_of(err->code, NM_STATUS_BAD_INPUT);
	status = nm_status_of((enum nm_code)prepare_run(&r, nest, err), NM_STATUS_NO_OUTPUT);
	if (!status)
		status = nm_status_of((enum nm_code)run_nest(&r, nest, err), NM_STATUS_BAD_INPUT);
	nm_progress_end(&r.progress);
	if (!status)
		status = nm_status_of((enum nm_code)finish_run(&r, err), NM_STATUS_NO_OUTPUT);
	free_run(&r);
	nm_nest_free(nest);
	return status;
}
