/* SPDX-License-Identifier: MIT
 *
 * The input is one of our traces, or another tool's that an importer turns into a single stream.
 *
 * All names of a trace file are loaded before its first record: the engine looks names up while it runs, and
 * must not search for files whose names the trace has. In a pipe, names come just before the records that
 * need them.
 *
 * With two threads the simulating thread reads the trace ahead while it is idle. So the reader (readahead.h)
 * lives as long as the session. Where no process has most of the trace, each thread replays a process instead
 * (side_by_side.h).
 */
#include "replayer.h"

#include "binaries.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "allocator.h"
#include "files.h"
#include "import.h"
#include "oracle.h"
#include "phase_choice.h"
#include "readahead.h"
#include "run_profile.h"
#include "side_by_side.h"

struct replayer {
	const struct nm_run_replay_request *request;
	struct nm_symbols *symbols;
	struct nm_session *session;
	struct nm_oracle *oracle; /* of levels with policy=opt, or NULL */
	struct nm_phase_plans phases;
	int has_phases; /* they are found, or not asked for */
	struct nm_profile_writer *writer;
	struct nm_trace *trace; /* one of these two */
	struct nm_import *import;
	struct nm_readahead *readahead; /* of the trace, as long as the session; NULL: */
	unsigned side_by_side;          /* so many processes at a time */
	struct nm_progress progress;
	struct nm_rank_chain *chain; /* has the session, or NULL */
};

/* ---- a trace ---- */

static int learn_names(struct replayer *r, struct nm_error *err)
{
	struct nm_trace_chunk chunk;
	const uint8_t *names;
	size_t bytes;
	int status = 0;

	if (nm_trace_is_piped(r->trace)) {
		nm_symbols_expect_more(r->symbols, 1);
		return 0;
	}
	for (size_t i = 0; !status && (status = nm_trace_chunk(r->trace, i, &chunk, err)) > 0; i++) {
		status = 0;
		if (chunk.kind != NM_TRACE_NAMES)
			continue;
		status = nm_trace_payload(r->trace, &chunk, &names, &bytes, err);
		if (!status)
			status = nm_symbols_decode(r->symbols, names, bytes, err);
	}
	return status;
}

/* Is this a pass that only collects the next uses for policy=opt, or finds the phases? */
static int looks_ahead(const struct replayer *r)
{
	return (r->oracle && !nm_oracle_ready(r->oracle)) || !r->has_phases;
}

/* A fault in one stream is only a warning: the others go on. */
static void end_early(void *arg, uint32_t stream, const struct nm_error *err)
{
	const struct replayer *r = arg;

	if (!looks_ahead(r)) /* the pass that counts will warn */
		r->request->run.feedback.warn("the events of stream %u end early: %s", stream, err->text);
}

static void show_progress(void *arg)
{
	struct replayer *r = arg;

	nm_progress_update(&r->progress, r->session);
}

static int take_piece(struct replayer *r, const struct nm_readahead_piece *piece, struct nm_error *err)
{
	int status;

	if (piece->names)
		return nm_symbols_decode(r->symbols, piece->names, piece->names_count, err);
	status = piece->words ? nm_session_feed(r->session, piece->stream, piece->words, piece->count, err)
			      : nm_session_end(r->session, piece->stream, err);

	if (!status || status == NM_ENOMEM)
		return status;
	end_early(r, piece->stream, err);
	return 0;
}

/* 0, or a code; what could be read has been fed. */
static int feed_trace(struct replayer *r, struct nm_error *err)
{
	const struct nm_side_by_side side_by_side = {.path = r->request->input,
						     .threads = r->side_by_side,
						     .session = r->session,
						     .fed = show_progress,
						     .ends_early = end_early,
						     .arg = r};
	struct nm_readahead_piece piece;
	int status;

	if (r->side_by_side)
		return nm_side_by_side_feed(&side_by_side, r->trace, err);
	while ((status = nm_readahead_next(r->readahead, &piece, err)) > 0 &&
	       !(status = take_piece(r, &piece, err)))
		nm_progress_update(&r->progress, r->session);
	nm_readahead_stop(r->readahead);
	nm_symbols_expect_more(r->symbols, 0);
	return status;
}

/* Where the code of an import lay. */
static int map_binaries(struct replayer *r, struct nm_error *err)
{
	const struct nm_run_replay_request *o = r->request;
	int status = 0;

	if (o->binary_count && r->trace)
		return nm_fail(err, NM_EINVAL,
			       "%s has the names of its binaries: --binary is for traces of other tools",
			       o->input);
	for (size_t i = 0; i < o->binary_count && !status; i++)
		status = nm_binary_map(r->import, r->symbols, o->binaries[i], err);
	return status;
}

static int read_ahead(void *ahead) { return nm_readahead_step(ahead); }

/* ---- another tool's trace ---- */

static int feed_import(struct replayer *r, struct nm_error *err)
{
	struct nm_readahead_piece piece = {0};
	int status;

	while ((status = nm_import_next(r->import, &piece.words, &piece.count, err)) > 0) {
		status = take_piece(r, &piece, err);
		if (status)
			return status;
		nm_progress_update(&r->progress, r->session);
	}
	return status;
}

/* ---- one replay ---- */

static const char *input_name(const struct replayer *r)
{
	return strcmp(r->request->input, "-") ? r->request->input : "standard input";
}

static int open_input(struct replayer *r, struct nm_error *err)
{
	const struct nm_run_replay_request *o = r->request;
	struct nm_peeked_input peeked;
	int status = nm_peek_input(&peeked, o->input, err);

	if (status)
		return status;
	if (o->import.format || !nm_trace_probe(peeked.bytes, peeked.count))
		return nm_import_take(&r->import, &peeked, o->input, &o->import, err);
	return nm_trace_take(&r->trace, &peeked, input_name(r), err);
}

/* Of an import: there is nothing to make a profile of. */
static int is_empty(const struct replayer *r) { return r->import && !nm_import_references(r->import); }

/* Says what was passed over; of a file without a reference, its error says so. */
static void remark_gaps(const struct replayer *r)
{
	char text[400];

	for (unsigned i = is_empty(r) ? 1 : 0; nm_import_remark(r->import, i, text, sizeof text); i++)
		r->request->run.feedback.warn("%s: %s", input_name(r), text);
}

static int feed_pieces(struct replayer *r, struct nm_error *err)
{
	struct nm_error fault;
	int status = r->trace ? feed_trace(r, &fault) : feed_import(r, &fault);

	if (!status && r->trace && nm_trace_is_cut(r->trace))
		status = nm_fail(&fault, NM_EFORMAT, "%s", nm_trace_fault(r->trace));
	else if (!status && r->trace && nm_trace_fault(r->trace) && !looks_ahead(r))
		r->request->run.feedback.warn("%s: %s; the part before it was used", input_name(r),
					      nm_trace_fault(r->trace));
	if (!looks_ahead(r) && r->import)
		remark_gaps(r);
	if (status == NM_EFORMAT)
		return nm_fail(err, status, is_empty(r) ? "%s: %s" : "%s: %s; the part before it was used",
			       input_name(r), fault.text);
	if (status && err)
		*err = fault;
	return status;
}

/* How many processes to replay at a time; 0: one after another. A user's plug-in and what policy=opt looks ahead serve
 * one process at a time. */
static unsigned choose_side_by_side(const struct replayer *r)
{
	const struct nm_run_replay_request *o = r->request;
	const struct nm_machine *machine = o->run.engine.machine;
	unsigned processes;

	if (!r->trace || !strcmp(o->input, "-") || r->oracle || o->processors < 2)
		return 0;
	for (unsigned i = 0; i < machine->count; i++)
		if (*machine->levels[i].plugin)
			return 0;
	processes = nm_side_by_side_processes(r->trace);
	if (processes > NM_SIDE_BY_SIDE)
		processes = NM_SIDE_BY_SIDE;
	return processes < o->processors ? processes : o->processors;
}

static int start_session(struct replayer *r, struct nm_error *err)
{
	struct nm_engine_options options = r->request->run.engine;

	options.symbols = r->symbols;
	options.oracle = r->oracle;
	options.phases = r->has_phases && r->phases.at.count ? &r->phases : NULL;
	if (looks_ahead(r)) {
		options.by_instruction = options.contexts = options.heap_chains = options.distances = 0;
		options.event_query = NULL;
		options.pmu = NULL;
		options.estimate_count = options.relocations = options.schedules = 0;
	}
	r->side_by_side = choose_side_by_side(r);
	if (r->side_by_side) {
		options.threads = 1;
	} else if (r->trace) {
		const int unpacks = options.threads > 2; /* one of them does nothing else */
		int status = nm_readahead_new(&r->readahead, r->trace, unpacks, err);

		if (status)
			return status;
		if (options.threads == 2)
			options.idle = (struct nm_idle){read_ahead, r->readahead};
		options.threads -= (unsigned)unpacks;
	}
	return nm_session_new(&r->session, &options, err);
}

/* The session goes first: its threads may be reading ahead. */
static void end_session(struct replayer *r)
{
	nm_session_free(r->session);
	nm_readahead_free(r->readahead);
	r->session = NULL;
	r->readahead = NULL;
}

/* ---- passes before the one that counts ---- */

/* One pass over the input, whose results end with the session. An import is opened again for the next. */
static int pass_over(struct replayer *r, struct nm_error *err)
{
	struct nm_result *const *results;
	size_t count;
	int status = start_session(r, err);

	if (!status)
		status = feed_pieces(r, err);
	if (!status || status == NM_EFORMAT) /* the pass that counts reports damage */
		status = r->has_phases ? nm_session_results(r->session, &results, &count, err)
				       : nm_session_phases(r->session, &r->phases, err);
	if (!status && !r->has_phases && r->request->phase)
		status = nm_phase_choose(r->session, r->request->phase, &r->phases, err);
	end_session(r);
	if (!status && r->import) {
		nm_import_free(r->import);
		r->import = NULL;
		status = open_input(r, err);
		if (!status)
			status = map_binaries(r, err);
	}
	return status;
}

/* Levels with policy=opt need to know the next use of each line: a pass finds it for one such level and those
 * before it. Then another finds the phases, if they are asked for. */
static int look_ahead(struct replayer *r, struct nm_error *err)
{
	int status = nm_machine_runs_ahead(r->request->run.engine.machine)
			 ? nm_oracle_new(&r->oracle, r->request->run.engine.machine, err)
			 : 0;

	r->has_phases = 1;
	while (!status && looks_ahead(r)) {
		status = pass_over(r, err);
		nm_oracle_next_run(r->oracle);
	}
	r->has_phases = !nm_run_replay_finds_phases(r->request);
	if (!status && !r->has_phases)
		status = pass_over(r, err);
	r->has_phases = 1;
	return status;
}

/* A pipe can be read only once. (A missing file is reported when it is opened.) */
static int can_look_ahead(const char *input, struct nm_error *err)
{
	struct stat file;

	if (strcmp(input, "-") != 0 && (stat(input, &file) || S_ISREG(file.st_mode)))
		return 0;
	return nm_fail(
	    err, NM_EINVAL,
	    "policy=opt, --by-phase and --phase read the references more than once: they need a file, not a pipe");
}

static int prepare_replay(struct replayer *r, struct nm_error *err)
{
	const struct nm_run_replay_request *request = r->request;
	const int ahead =
	    nm_machine_runs_ahead(request->run.engine.machine) > 0 || nm_run_replay_finds_phases(request);
	int status = ahead ? can_look_ahead(request->input, err) : 0;

	if (status)
		return NM_STATUS_USAGE;
	status = open_input(r, err);
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_BAD_INPUT);
	if (request->run.output)
		status = nm_profile_writer_new(&r->writer, request->run.output, err);
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_NO_OUTPUT);
	status = nm_symbols_new(&r->symbols, err);
	if (!status && r->trace)
		status = learn_names(r, err);
	if (!status && map_binaries(r, err))
		return NM_STATUS_USAGE;
	r->has_phases = 1;
	if (!status && ahead && (status = look_ahead(r, err)) == NM_EINVAL)
		return NM_STATUS_USAGE;
	if (!status)
		status = start_session(r, err);
	return status ? nm_status_of((enum nm_code)status, NM_STATUS_FAILED) : 0;
}

/* Reads from the input how the program ran. */
static void describe_run(struct replayer *r, struct nm_run_info *info)
{
	const char *text = r->trace ? nm_trace_info(r->trace, "exit_status") : NULL;

	info->exit_status = text ? atoi(text) : 0;
	text = r->trace ? nm_trace_info(r->trace, "collector") : nm_import_format(r->import);
	info->collector = text ? text : "unknown";
	for (size_t i = 0; i < NM_MANIFEST_FACTS; i++)
		info->hermetic[i] = r->trace ? nm_trace_info(r->trace, nm_manifest_keys[i]) : NULL;
}

static int run_replay(struct replayer *r, int *ret_has_result, struct nm_error *err)
{
	struct nm_run_info info = {.source = r->request->input};
	struct nm_profile_writer *writer = r->writer;
	struct nm_error fault;
	int status, fed = feed_pieces(r, &fault);

	nm_progress_end(&r->progress);
	if (fed == NM_ENOMEM) {
		*err = fault;
		return NM_STATUS_FAILED;
	}
	if (fed && is_empty(r)) {
		*err = fault;
		return nm_status_of((enum nm_code)fed, NM_STATUS_BAD_INPUT);
	}
	describe_run(r, &info);
	info.wall_seconds = nm_progress_seconds(&r->progress);
	r->writer = NULL;
	status = nm_run_finish(&r->request->run, &info, r->session, writer, err);
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_NO_OUTPUT);
	*ret_has_result = 1;
	if (fed)
		*err = fault;
	return fed ? nm_status_of((enum nm_code)fed, NM_STATUS_BAD_INPUT) : 0;
}

/* ---- by several processes (chain.h) ---- */

static int open_for_chain(struct replayer *r, struct nm_error *err)
{
	const struct nm_run_replay_request *o = r->request;
	struct nm_error fault;
	int status = nm_chain_check(&o->run.engine, err);

	if (!status && nm_run_replay_finds_phases(o))
		return nm_fail(err, NM_EINVAL, "phases need the run in one piece: use nearmiss replay");
	if (!status && !strcmp(o->input, "-"))
		return nm_fail(err, NM_EINVAL, "each rank reads a part of a file: name one instead of \"-\"");
	if (!status)
		status = open_input(r, err);
	if (!status && !r->trace)
		return nm_fail(err, NM_EINVAL, "%s is another tool's trace: use nearmiss replay", o->input);
	if (!status && nm_trace_fault(r->trace))
		return nm_fail(err, NM_EFORMAT, "%s: %s; nearmiss replay uses the part before", o->input,
			       nm_trace_fault(r->trace));
	if (!status && !o->chain->transport->rank)
		status = nm_profile_writer_new(&r->writer, o->run.output, err);
	if (!status)
		status = nm_symbols_new(&r->symbols, err);
	if (!status && (status = learn_names(r, &fault)))
		return nm_fail(err, (enum nm_code)status, "%s: %s", o->input, fault.text);
	return status;
}

static int finish_chain(struct replayer *r, struct nm_session *session, int *ret_has_result,
			struct nm_error *err)
{
	struct nm_run_info info = {.source = r->request->input};
	struct nm_profile_writer *writer = r->writer;
	int status;

	describe_run(r, &info);
	info.wall_seconds = nm_progress_seconds(&r->progress);
	r->writer = NULL;
	status = nm_run_finish(&r->request->run, &info, session, writer, err);
	*ret_has_result = !status;
	return status ? nm_status_of((enum nm_code)status, NM_STATUS_NO_OUTPUT) : 0;
}

static int run_chain(struct replayer *r, int *ret_has_result, struct nm_error *err)
{
	struct nm_engine_options options = r->request->run.engine;
	struct nm_session *session;
	int status = nm_chain_agree(r->request->chain, open_for_chain(r, err), err);

	options.symbols = r->symbols;
	if (!status)
		status = nm_chain_run(&r->chain, r->request->chain, r->trace, r->request->input, &options,
				      &session, err);
	if (status)
		return status == NM_EINVAL ? NM_STATUS_USAGE
					   : nm_status_of((enum nm_code)status, NM_STATUS_BAD_INPUT);
	return session ? finish_chain(r, session, ret_has_result, err) : 0;
}

int nm_run_replay(const struct nm_run_replay_request *request, int *ret_has_result, struct nm_error *err)
{
	struct replayer r = {.request = request};
	int status;

	assert(request->input && request->run.feedback.warn && request->run.engine.machine);
	*ret_has_result = 0;
	nm_allocator_set_up();
	nm_progress_start(&r.progress, &request->run.feedback);
	status = request->chain ? run_chain(&r, ret_has_result, err) : prepare_replay(&r, err);
	if (!status && !request->chain)
		status = run_replay(&r, ret_has_result, err);
	if (r.writer)
		nm_profile_writer_abort(r.writer);
	end_session(&r);
	nm_chain_free(r.chain);
	nm_oracle_free(r.oracle);
	nm_phase_plans_done(&r.phases);
	nm_symbols_free(r.symbols);
	nm_trace_free(r.trace);
	nm_import_free(r.import);
	return status;
}
