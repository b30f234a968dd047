/* SPDX-License-Identifier: MIT
 *
 * The recording ends when the program and all rings have ended. Background processes that it leaves behind
 * get GRACE_MS; then they run on unobserved.
 *
 * While the simulation takes more memory than it may, processes that have just begun wait: their rings are not
 * read. If nothing else comes, one of them is let through, since others may be waiting for it.
 */
#include "recorder.h"

#include <assert.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allocator.h"
#include "clock.h"
#include "collector_log.h"
#include "consumer.h"
#include "control.h"
#include "launch.h"
#include "name_preload.h"
#include "run_profile.h"
#include "signals_forward.h"
#include "snapshot.h"
#include "tracer.h"

enum {
	CHUNK_WORDS = 32768, /* 256 KB a chunk ... */
	CHUNKS = 16,         /* ... 4 MB a ring: stays in the last-level cache */
	/* The same of processes on one machine, whose references are merged chunk by chunk. */
	SMALL_CHUNK_WORDS = 8192,
	SMALL_CHUNKS = 64,
	GRACE_MS = 2000,
	POLL_MS = 100,
	EXIT_POLL_MS = 2 /* while no ring is live: the program may be about to exit */
};

struct recorder {
	const struct nm_record_request *request;
	struct nm_launcher launcher;
	struct nm_symbols *symbols;
	struct nm_session *session;
	struct nm_consumer *consumer;
	struct nm_profile_writer *writer;
	struct nm_tracer *tracer; /* or NULL */
	struct nm_progress progress;
	struct nm_manifest manifest;
	char program[4096]; /* path of its file */
	int log;            /* of the collector */
	pid_t pid;
	int exited, exit_status;
	uint32_t streams; /* rings that have sent anything */
	double exited_ms, polled_ms;
	int is_full, has_told; /* more memory is taken than may be; that was said */
	struct nm_control control;
	struct nm_snapshot snapshot; /* that is being written: its command is still to be answered */
	unsigned snapshots;
	int counts, has_counted; /* not paused; ever */
	double change_ms;        /* when that changes by itself */
};

/* ---- the loop ---- */

static void poll_exit(struct recorder *r)
{
	int wait_status;

	if (r->exited || waitpid(r->pid, &wait_status, WNOHANG) != r->pid)
		return;
	r->exited = 1;
	r->exited_ms = nm_now_ms();
	r->exit_status = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
	nm_signals_forward_to(0);
}

/* Memory of this process, its rings included. 0: not known. */
static uint64_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (f && fscanf(f, "%*u %llu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Has new processes wait or not, by the memory that is taken. */
static void check_memory(struct recorder *r)
{
	const uint64_t bound = r->request->memory;

	if (!bound)
		return;
	r->is_full = resident_bytes() > bound;
	nm_consumer_hold_new(r->consumer, r->is_full);
	if (r->is_full && !r->has_told && nm_consumer_live(r->consumer) > 1) {
		r->has_told = 1;
		r->request->run.feedback.warn(
		    "the simulation takes %llu MB: further processes wait (--memory)",
		    (unsigned long long)(bound >> 20));
	}
}

/* A stream that memory does not suffice for ends here, if it is one of several. */
static int drop_stream(struct recorder *r, const struct nm_chunk *chunk, const struct nm_error *fault,
		       struct nm_error *err)
{
	if (r->streams < 2) {
		*err = *fault;
		return NM_ENOMEM;
	}
	r->request->run.feedback.warn("process %u (%s) cannot be simulated: out of memory; it has no counts",
				      chunk->pid, nm_session_name(r->session, chunk->ring));
	return nm_session_drop(r->session, chunk->ring, err);
}

/* Feeds or ends one stream. A fault in one stream is only a warning: the others go on. */
static int take_chunk(struct recorder *r, const struct nm_chunk *chunk, struct nm_error *err)
{
	const struct nm_run_feedback *feedback = &r->request->run.feedback;
	struct nm_error fault;
	int status;

	if (chunk->ring >= r->streams)
		r->streams = chunk->ring + 1;
	if (chunk->kind == NM_CHUNK_DATA) {
		if (r->tracer)
			nm_tracer_start(r->tracer, chunk->ring, chunk->words, chunk->count);
		status = nm_session_feed(r->session, chunk->ring, chunk->words, chunk->count, &fault);
	} else {
		if (chunk->end == NM_END_DAMAGED)
			feedback->warn("the ring of process %u is damaged: %s", chunk->pid, chunk->fault);
		status = nm_session_end(r->session, chunk->ring, &fault);
		if (r->tracer) /* a reader of a pipe needs the names of the objects before the end, too */
			nm_tracer_start(r->tracer, chunk->ring, chunk->words, chunk->count);
	}
	if (r->tracer)
		nm_tracer_wait(r->tracer);
	if (status == NM_ENOMEM)
		return drop_stream(r, chunk, &fault, err);
	if (status)
		feedback->warn("the events of process %u end early: %s", chunk->pid, fault.text);
	return 0;
}

/* How long to wait for a chunk. While processes wait for memory, only those that run can send anything. */
static int patience_ms(const struct recorder *r)
{
	const size_t running = r->is_full ? nm_consumer_started(r->consumer) : nm_consumer_live(r->consumer);

	return running ? POLL_MS : EXIT_POLL_MS;
}

/* Takes the next chunk if one comes soon: 1 or 0, or a code. */
static int take_next(struct recorder *r, int wait_ms, struct nm_error *err)
{
	struct nm_chunk chunk;
	int came = nm_consumer_next(r->consumer, wait_ms, &chunk, err), status = 0;

	if (came > 0) {
		status = take_chunk(r, &chunk, err);
		nm_consumer_release(r->consumer, &chunk);
	} else if (!came && r->tracer) {
		nm_tracer_flush(r->tracer);
	}
	if (!came && r->is_full && nm_consumer_start_one(r->consumer))
		r->exited_ms = nm_now_ms(); /* it has waited for us */
	return status ? status : came;
}

/* ---- commands ---- */

/* Takes all that processes had published when this was called. */
static int catch_up(struct recorder *r, struct nm_error *err)
{
	int came = take_next(r, 0, err); /* finds new rings */

	nm_consumer_mark(r->consumer);
	while (came > 0 && !nm_consumer_passed_mark(r->consumer))
		came = take_next(r, 0, err);
	return came < 0 ? came : 0;
}

/* Starts or stops counting behind all that processes have done so far. */
static int set_counting(struct recorder *r, int counts, struct nm_error *err)
{
	const double length = r->request->times.length;
	struct nm_chunk chunk;
	uint64_t ran;
	int status = catch_up(r, err);

	for (size_t i = 0; i < nm_consumer_rings(r->consumer) && !status; i++)
		if (nm_consumer_peek(r->consumer, i, &chunk, &ran) && chunk.count) {
			status = take_chunk(r, &chunk, err);
			nm_consumer_skip(r->consumer, i, chunk.count);
		}
	if (status)
		return status;
	nm_session_pause(r->session, !counts);
	r->counts = counts;
	r->has_counted |= counts;
	r->change_ms = counts && length > 0 ? nm_now_ms() + length * 1e3 : INFINITY;
	return 0;
}

/* "nearmiss.nmp" becomes "nearmiss-1.nmp". */
static void name_snapshot(struct recorder *r, char *name, size_t room)
{
	const char *output = r->request->run.output ? r->request->run.output : "nearmiss.nmp";
	const char *suffix = strrchr(output, '.'), *slash = strrchr(output, '/');

	if (!suffix || (slash && suffix < slash))
		suffix = output + strlen(output);
	snprintf(name, room, "%.*s-%u%s", (int)(suffix - output), output, ++r->snapshots, suffix);
}

static int tell_manifest(struct recorder *r, struct nm_run_info *info, struct nm_error *err);

/* What cannot be done is only told to who asked for it. */
static int start_snapshot(struct recorder *r, const char *path, struct nm_error *err)
{
	struct nm_run_info info = {
	    .collector = "valgrind", .exit_status = -1, .wall_seconds = nm_progress_seconds(&r->progress)};
	char name[sizeof r->snapshot.output];
	struct nm_error fault;
	int status = catch_up(r, err);

	if (status)
		return status;
	snprintf(name, sizeof name, "%s", path);
	if (!*path)
		name_snapshot(r, name, sizeof name);
	status = tell_manifest(r, &info, &fault);
	if (!status)
		status = nm_snapshot_start(&r->snapshot, name, &r->request->run, &info, r->session,
					   r->consumer, &fault);
	nm_manifest_done(&r->manifest);
	if (status)
		nm_control_answer(&r->control, 0, fault.text);
	return 0;
}

/* Answers whoever asked for the snapshot, when it is there. */
static void end_snapshot(struct recorder *r, int wait)
{
	struct nm_error fault;
	int status;

	if (r->snapshot.writer && nm_snapshot_ended(&r->snapshot, wait, &status, &fault))
		nm_control_answer(&r->control, !status, status ? fault.text : r->snapshot.output);
}

static int obey_command(struct recorder *r, struct nm_error *err)
{
	const char *path;
	const enum nm_control_kind kind = nm_control_next(&r->control, &path);
	int status = 0;

	if (kind == NM_CONTROL_SNAPSHOT)
		return start_snapshot(r, path, err);
	if (kind && r->request->sample.rate)
		nm_control_answer(&r->control, 0, "a sampled recording (--sample) cannot be stopped");
	else if (kind)
		status = set_counting(r, kind == NM_CONTROL_START, err);
	if (kind && !status)
		nm_control_answer(&r->control, 1, "");
	return status;
}

/* Commands come one after another. */
static int poll_commands(struct recorder *r, struct nm_error *err)
{
	int status = nm_now_ms() >= r->change_ms ? set_counting(r, !r->counts, err) : 0;

	end_snapshot(r, 0);
	return status || r->snapshot.writer ? status : obey_command(r, err);
}

/* ---- until all has ended ---- */

static int consume_chunks(struct recorder *r, struct nm_error *err)
{
	for (;;) {
		int came = take_next(r, patience_ms(r), err);

		if (came < 0)
			return came;
		nm_progress_update(&r->progress, r->session);
		if (nm_consumer_live(r->consumer) && nm_now_ms() - r->polled_ms < POLL_MS)
			continue; /* not at each of thousands of chunks */
		r->polled_ms = nm_now_ms();
		check_memory(r);
		came = poll_commands(r, err);
		if (came)
			return came;
		poll_exit(r);
		if (!r->exited)
			continue;
		if (!nm_consumer_live(r->consumer))
			return 0;
		if (nm_now_ms() - r->exited_ms > GRACE_MS && !nm_consumer_draining(r->consumer)) {
			if (r->streams)
				r->request->run.feedback.warn(
				    "processes left in the background are no longer observed");
			return 0;
		}
	}
}

/* ---- the end ---- */

/* Ends the trace after the results, which look up the last names. A trace that fails does not spoil the
 * profile. */
static int close_trace(struct recorder *r, struct nm_error *err)
{
	struct nm_tracer *tracer = r->tracer;
	char text[32];

	if (!tracer)
		return 0;
	r->tracer = NULL;
	snprintf(text, sizeof text, "%d", r->exit_status);
	nm_tracer_info(tracer, "exit_status", text);
	return nm_tracer_close(tracer, err);
}

/* What a hermetic recording has pinned, for the profile and the trace. */
static int tell_manifest(struct recorder *r, struct nm_run_info *info, struct nm_error *err)
{
	int status;

	if (!r->request->hermetic)
		return 0;
	status = nm_manifest_make(&r->manifest, r->request->hermetic, r->log, err);
	for (size_t i = 0; i < NM_MANIFEST_FACTS && !status; i++)
		info->hermetic[i] = r->manifest.values[i];
	return status;
}

static void trace_manifest(struct recorder *r)
{
	for (size_t i = 0; i < NM_MANIFEST_FACTS && r->tracer && r->request->hermetic; i++)
		nm_tracer_info(r->tracer, nm_manifest_keys[i], r->manifest.values[i]);
}

static int finish_recording(struct recorder *r, struct nm_error *err)
{
	struct nm_run_info info = {.collector = "valgrind",
				   .exit_status = r->exit_status,
				   .wall_seconds = nm_progress_seconds(&r->progress)};
	struct nm_profile_writer *writer = r->writer;
	struct nm_error fault;
	const char *to = r->request->trace;
	char *trace = to && strcmp(to, "-") != 0 ? realpath(to, NULL) : NULL;
	int status = tell_manifest(r, &info, err), trace_status;

	info.trace = trace;
	if (!status)
		trace_manifest(r);
	if (status) {
		free(trace);
		return status;
	}
	r->writer = NULL;
	status = nm_run_finish(&r->request->run, &info, r->session, writer, err);
	free(trace);
	trace_status = close_trace(r, &fault);
	if (trace_status && !status)
		*err = fault;
	return status ? status : trace_status;
}

/* ---- one recording ---- */

static int start_trace(struct recorder *r, struct nm_error *err)
{
	int status = nm_tracer_new(&r->tracer, r->request->trace, r->symbols, err);

	r->launcher.output_is_ours = !strcmp(r->request->trace, "-");
	if (!status)
		nm_tracer_info(r->tracer, "collector", "valgrind");
	return status;
}

/* Does anything ask for the program's path through its code, and not only for its references? */
static int needs_all_blocks(const struct nm_record_request *request)
{
	const struct nm_engine_options *engine = &request->run.engine;

	return request->trace || engine->event_query || engine->instructions || engine->contexts ||
	       engine->heap_chains || nm_window_has_functions(&engine->window);
}

static int find_program(struct recorder *r, struct nm_error *err)
{
	switch (nm_launch_resolve(r->request->argv[0], r->program, sizeof r->program, err)) {
	case 0: break;
	case NM_LAUNCH_NO_PROGRAM: return NM_STATUS_NO_PROGRAM;
	default: return NM_STATUS_NOT_EXECUTABLE;
	}
	return nm_launcher_find(&r->launcher, err) ? NM_STATUS_NO_COLLECTOR : 0;
}

/* The trace comes first: opening a FIFO waits for its reader. An interrupt then leaves nothing behind;
 * from here on it waits for the program. */
static int open_outputs(struct recorder *r, sigset_t *ignored, struct nm_error *err)
{
	const char *output = r->request->run.output;
	int status = r->request->trace ? start_trace(r, err) : 0;

	nm_signals_catch(ignored);
	if (!status && output)
		status = nm_profile_writer_new(&r->writer, output, err);
	return status;
}

static int start_program(struct recorder *r, const sigset_t *ignored, struct nm_error *err)
{
	struct nm_engine_options options = r->request->run.engine;
	int status = nm_collector_log_open(&r->log, err);

	options.perf_maps = 1;
	options.symbols = r->symbols;
	options.paused = r->request->times.after > 0;
	if (!status)
		status = nm_session_new(&r->session, &options, err);
	if (!status)
		status = options.on_one_machine
			     ? nm_consumer_new(&r->consumer, SMALL_CHUNK_WORDS, SMALL_CHUNKS, err)
			     : nm_consumer_new(&r->consumer, CHUNK_WORDS, CHUNKS, err);
	if (status)
		return status;
	if (options.on_one_machine)
		nm_consumer_keep_order(r->consumer);
	r->launcher.one_machine = options.on_one_machine;
	r->launcher.sample = r->request->sample;
	r->launcher.all_blocks = needs_all_blocks(r->request);
	r->launcher.environment = r->request->hermetic;
	r->launcher.group = r->request->run.job.group;
	r->launcher.pools = options.pools;
	r->launcher.pool_count = options.pool_count;
	r->launcher.allocators = options.allocators;
	r->launcher.allocator_count = options.on_one_machine ? options.allocator_count : 0;
	return nm_launch(&r->launcher, nm_consumer_fd(r->consumer), r->log, r->program, r->request->argv,
			 ignored, &r->pid, err);
}

/* Everything that can fail before the program runs. */
static int prepare_recording(struct recorder *r, struct nm_error *err)
{
	sigset_t ignored;
	int status = find_program(r, err);

	if (status)
		return status;
	sigemptyset(&ignored);
	nm_signals_ignore_failed_writes(&ignored);
	status = nm_symbols_new(&r->symbols, err);
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_FAILED);
	status = open_outputs(r, &ignored, err);
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_NO_OUTPUT);
	status = start_program(r, &ignored, err);
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_FAILED);
	if (!r->tracer) /* a trace keeps all names that were looked up */
		nm_names_preload(r->symbols, r->program);
	return 0;
}

static int explain_no_events(const struct recorder *r, struct nm_error *err)
{
	char line[1024];
	const char *last;

	if (r->exit_status > 128) { /* by Ctrl-C, say */
		nm_fail(err, NM_EIO, "the program ended before its first instruction, by signal %d",
			r->exit_status - 128);
		return r->exit_status;
	}
	last = nm_collector_log_last_line(r->log, line, sizeof line);
	nm_fail(err, NM_EIO, "Valgrind could not start the program: %s",
		last ? last : "if it gave a reason, that stands above");
	return NM_STATUS_NO_COLLECTOR;
}

static void warn_of_unobserved(const struct recorder *r)
{
	uint32_t processes = nm_consumer_unobserved(r->consumer);

	if (processes)
		r->request->run.feedback.warn("%u process%s ran unobserved, for want of memory to share",
					      (unsigned)processes, processes == 1 ? "" : "es");
}

/* Counting begins now, or by the clock, or by a command. */
static void start_counting(struct recorder *r)
{
	const struct nm_record_times *times = &r->request->times;

	r->counts = r->has_counted = !(times->after > 0);
	r->change_ms = nm_now_ms() + (!r->counts          ? times->after
				      : times->length > 0 ? times->length
							  : INFINITY) *
					 1e3;
}

static int run_recording(struct recorder *r, struct nm_error *err)
{
	int status;

	nm_signals_forward_to(r->pid);
	nm_progress_start(&r->progress, &r->request->run.feedback);
	start_counting(r);
	status = consume_chunks(r, err);
	nm_progress_end(&r->progress);
	end_snapshot(r, 1);
	nm_control_close(&r->control);
	if (!r->has_counted)
		r->request->run.feedback.warn(
		    "nothing was counted: the program ended before counting began (--after)");
	nm_consumer_detach_all(r->consumer);
	warn_of_unobserved(r);
	while (!r->exited) {
		poll_exit(r);
		if (!r->exited)
			usleep(POLL_MS * 1000);
	}
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_FAILED);
	if (!r->streams)
		return explain_no_events(r, err);
	nm_collector_log_report_limits(r->log, r->request->run.feedback.warn);
	status = finish_recording(r, err);
	for (size_t i = 0; nm_symbols_complaint(r->symbols, i); i++)
		r->request->run.feedback.warn("%s", nm_symbols_complaint(r->symbols, i));
	if (!nm_symbols_complaint(r->symbols, 0)) /* names that are missing may be there the next time */
		nm_names_save(r->symbols, r->program);
	return status ? nm_status_of((enum nm_code)status, NM_STATUS_NO_OUTPUT) : 0;
}

int nm_record(const struct nm_record_request *request, int *ret_exit_status, struct nm_error *err)
{
	struct recorder r = {.request = request, .log = -1};
	int status;

	assert(request->argv[0] && request->run.feedback.warn && request->run.engine.machine);
	nm_allocator_set_up();
	nm_control_open(&r.control);
	status = prepare_recording(&r, err);
	if (!status)
		status = run_recording(&r, err);
	if (r.writer)
		nm_profile_writer_abort(r.writer);
	if (r.consumer)
		nm_consumer_free(r.consumer);
	nm_control_close(&r.control);
	nm_tracer_free(r.tracer);
	nm_session_free(r.session);
	nm_symbols_free(r.symbols);
	nm_launcher_done(&r.launcher);
	nm_manifest_done(&r.manifest);
	if (r.log >= 0)
		close(r.log);
	if (!status)
		*ret_exit_status = r.exit_status;
	return status;
}
