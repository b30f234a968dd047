/* SPDX-License-Identifier: MIT */
#include "run_profile.h"
#include "clock.h"
#include "session.h"
#include "status.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "candidate.h"

static int write_info(const struct nm_run_info *info, struct nm_profile_writer *writer, struct nm_error *err)
{
	char wall_seconds[64], recorded_at[32], exit_status[16];
	const struct {
		const char *key, *value;
	} rows[] = {
	    {"wall_seconds", wall_seconds}, {"collector", info->collector}, {"version", NM_VERSION},
	    {"recorded_at", recorded_at},   {"exit_status", exit_status},   {"source", info->source},
	    {"trace", info->trace},
	};
	int status = 0;

	snprintf(wall_seconds, sizeof wall_seconds, "%.3f", info->wall_seconds);
	snprintf(recorded_at, sizeof recorded_at, "%lld", (long long)time(NULL));
	snprintf(exit_status, sizeof exit_status, "%d", info->exit_status);
	for (size_t i = 0; i < sizeof rows / sizeof *rows && !status; i++)
		if (rows[i].value)
			status = nm_profile_writer_info(writer, rows[i].key, rows[i].value, err);
	for (size_t i = 0; i < NM_MANIFEST_FACTS && !status; i++)
		if (info->hermetic[i])
			status = nm_profile_writer_info(writer, nm_manifest_keys[i], info->hermetic[i], err);
	return status;
}

static int write_job(const struct nm_run_job *job, struct nm_profile_writer *writer, struct nm_error *err)
{
	const char *const keys[] = {"rank", "ranks", "host"}, *const values[] = {job->rank, job->ranks,
										 job->host};
	int status = 0;

	for (int i = 0; i < 3 && !status; i++)
		if (values[i])
			status = nm_profile_writer_info(writer, keys[i], values[i], err);
	return status;
}

/* What the writing of results has seen of them. */
struct written {
	struct nm_profile_writer *writer;
	size_t layout;                      /* 1 + the candidate; 0: the program as it is */
	const char *command;                /* of the first process */
	struct nm_result_sampling sampling; /* the same for all processes; samples: of all */
	unsigned window_met;                /* by any */
};

static int write_result(void *arg, const struct nm_result *result, struct nm_error *err)
{
	struct written *w = arg;
	const uint64_t samples = w->sampling.samples;

	if (!w->command) {
		w->command = result->command;
		w->sampling = result->sampling;
	}
	w->sampling.samples = samples + result->sampling.samples;
	w->window_met |= result->window_met;
	if (w->layout) {
		const struct nm_result changed = nm_result_with_layout(result, w->layout - 1);

		return nm_profile_writer_add(w->writer, &changed, err);
	}
	return nm_profile_writer_add(w->writer, result, err);
}

/* That of a candidate says what it changes. */
static int write_command(const struct nm_run_request *request, const struct written *w, struct nm_error *err)
{
	char *text = NULL;
	int status;

	if (!w->layout)
		return nm_profile_writer_info(w->writer, "command", w->command, err);
	if (asprintf(&text, "%s, if: %s", w->command, request->engine.candidates[w->layout - 1].text) < 0)
		return nm_fail_memory(err);
	status = nm_profile_writer_info(w->writer, "command", text, err);
	free(text);
	return status;
}

/* Of a sampled recording. */
static int write_sampling(const struct nm_result_sampling *s, struct nm_profile_writer *writer,
			  struct nm_error *err)
{
	const char *const keys[] = {"sampling_rate", "sampling_line", "sampling_seed", "samples"};
	char values[4][32];
	int status = 0;

	snprintf(values[0], sizeof values[0], "%.9g", s->rate / 1e9);
	snprintf(values[1], sizeof values[1], "%" PRIu32, s->line);
	snprintf(values[2], sizeof values[2], "%" PRIu32, s->seed);
	snprintf(values[3], sizeof values[3], "%" PRIu64, s->samples);
	for (size_t i = 0; i < 4 && !status; i++)
		status = nm_profile_writer_info(writer, keys[i], values[i], err);
	return status;
}

/* What counts of the run, as "6000 references" or "enter#1:main". */
static int write_window(const struct nm_run_window *w, struct nm_profile_writer *writer, struct nm_error *err)
{
	const struct {
		const char *key;
		const struct nm_run_position *position;
	} ends[] = {{"window_from", &w->from}, {"window_until", &w->until}};
	int status = w->in ? nm_profile_writer_info(writer, "window_in", w->in, err) : 0;

	for (unsigned i = 0; i < 2 && !status; i++) {
		const struct nm_run_position *p = ends[i].position;
		char *text = NULL;

		if (!p->unit)
			continue;
		if ((p->name
			 ? asprintf(&text, "%s#%" PRIu64 ":%s", nm_position_words[p->unit], p->at, p->name)
			 : asprintf(&text, "%" PRIu64 " %s", p->at, nm_position_words[p->unit])) < 0)
			return nm_fail_memory(err);
		status = nm_profile_writer_info(writer, ends[i].key, text, err);
		free(text);
	}
	return status;
}

/* Warns of functions and regions that the window waited for. */
static void warn_of_unmet(const struct nm_run_request *request, unsigned met)
{
	const struct nm_run_window *w = &request->engine.window;
	const struct {
		const struct nm_run_position *position;
		const char *option, *so;
		unsigned bit;
	} ends[] = {{&w->from, "from", "nothing was counted", NM_WATCH_FROM},
		    {&w->until, "until", "the run was counted to its end", NM_WATCH_UNTIL}};

	if (w->in && !(met & NM_WATCH_IN))
		request->feedback.warn("--in %s: no function of this name ran (it may have been inlined); "
				       "nothing was counted",
				       w->in);
	for (unsigned i = 0; i < 2; i++)
		if (ends[i].position->name && !(met & ends[i].bit))
			request->feedback.warn("--%s %s#%" PRIu64 ":%s was not reached%s; %s", ends[i].option,
					       nm_position_words[ends[i].position->unit],
					       ends[i].position->at, ends[i].position->name,
					       nm_position_is_of_function(ends[i].position)
						   ? " (the function may have been inlined)"
						   : "",
					       ends[i].so);
}

/* What one machine of all processes has as a whole. */
static int write_machine(struct nm_session *session, struct nm_profile_writer *writer, struct nm_error *err)
{
	const struct nm_result *machine;
	struct nm_result_owner *owners = NULL;
	int status = nm_session_machine(session, &machine, &owners, err);

	if (!status && machine)
		status = nm_profile_writer_add_machine(writer, machine, owners, err);
	if (!status && machine)
		status = nm_profile_writer_info(writer, "one_machine", "yes", err);
	free(owners);
	return status;
}

/* Of the program as it is (0), or of a candidate. */
static int write_profile(const struct nm_run_request *request, const struct nm_run_info *info,
			 struct nm_session *session, size_t layout, struct nm_profile_writer *writer,
			 struct nm_error *err)
{
	struct written written = {.writer = writer, .layout = layout};
	int status = nm_session_each(session, write_result, &written, err);

	if (!status)
		status = write_machine(session, writer, err);
	if (!status && !layout)
		warn_of_unmet(request, written.window_met);
	if (!status && written.command)
		status = write_command(request, &written, err);
	if (!status && written.sampling.rate)
		status = write_sampling(&written.sampling, writer, err);
	if (!status)
		status = nm_profile_writer_sources(writer, &request->sources, err);
	if (!status)
		status = write_window(&request->engine.window, writer, err);
	if (!status)
		status = write_job(&request->job, writer, err);
	if (!status)
		status = write_info(info, writer, err);
	if (!status)
		return nm_profile_writer_commit(writer, err);
	nm_profile_writer_abort(writer);
	return status;
}

/* The profiles of the candidates. */
static int write_candidates(const struct nm_run_request *request, const struct nm_run_info *info,
			    struct nm_session *session, struct nm_error *err)
{
	int status = 0;

	for (size_t i = 0; i < request->engine.candidate_count && !status; i++) {
		struct nm_profile_writer *writer;

		status = nm_profile_writer_new(&writer, request->candidate_outputs[i], err);
		if (!status)
			status = write_profile(request, info, session, i + 1, writer, err);
	}
	return status;
}

int nm_run_finish(const struct nm_run_request *request, const struct nm_run_info *info,
		  struct nm_session *session, struct nm_profile_writer *writer, struct nm_error *err)
{
	const struct nm_result_receiver *receiver = request->receiver;
	int status = 0;

	assert(!writer == !request->output);
	if (writer)
		status = write_profile(request, info, session, 0, writer, err);
	if (writer && !status && request->candidate_outputs)
		status = write_candidates(request, info, session, err);
	if (receiver && !status)
		status = receiver->receive(receiver->self, session, err);
	return status;
}

/* ---- status ---- */

int nm_status_of(enum nm_code code, int otherwise)
{
	switch (code) {
	case NM_OK: return NM_STATUS_OK;
	case NM_ENOSPC: return NM_STATUS_NO_OUTPUT;
	case NM_EFORMAT:
	case NM_EVERSION: return NM_STATUS_BAD_INPUT;
	case NM_EPLUGIN:
	case NM_ENOMEM: return NM_STATUS_FAILED;
	default: return otherwise;
	}
}

/* ---- progress ---- */

enum { INTERVAL_MS = 500 };

void nm_progress_start(struct nm_progress *p, const struct nm_run_feedback *feedback)
{
	assert(!feedback->progress || feedback->progress_end);
	*p = (struct nm_progress){.feedback = feedback};
	p->started_ms = p->shown_ms = nm_now_ms();
}

void nm_progress_update(struct nm_progress *p, struct nm_session *session)
{
	double now;
	uint64_t references;

	if (!p->feedback->progress)
		return;
	now = nm_now_ms();
	if (now - p->shown_ms < INTERVAL_MS)
		return;
	references = nm_session_references(session);
	p->feedback->progress(references,
			      (double)(references - p->shown_references) / (now - p->shown_ms) * 1e3);
	p->shown_references = references;
	p->shown_ms = now;
}

void nm_progress_end(const struct nm_progress *p)
{
	if (p->feedback->progress)
		p->feedback->progress_end();
}

double nm_progress_seconds(const struct nm_progress *p) { return (nm_now_ms() - p->started_ms) / 1e3; }
