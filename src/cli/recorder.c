/* SPDX-License-Identifier: MIT
 *
 * recorder.c - see recorder.h.
 *
 * The recorder outlives the program: SIGINT and SIGQUIT from the terminal reach the program's process group by
 * themselves and are ignored here; a signal sent to the recorder alone is passed on to the program.  The
 * recording ends when the program has ended and all rings have; processes that it leaves behind in the
 * background are given GRACE, then they run on unobserved.
 */
#include "recorder.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "consumer.h"
#include "heap.h"
#include "launch.h"
#include "outcome.h"
#include "placement.h"
#include "session.h"
#include "status.h"
#include "tracer.h"
#include "warmup.h"
#include "writer.h"

enum {
	CHUNK_WORDS = 32768, /* 256 KB a chunk ... */
	CHUNKS = 16,         /* ... 4 MB a ring: stays in the last-level cache */
	ROOM_FOR_RINGS = 32 << 20,
	GRACE_MS = 2000,
	PROGRESS_MS = 500,
	POLL_MS = 100,
	EXIT_POLL_MS = 2 /* when the program has no ring, as at its end */
};

struct recorder {
	const struct nm_recording *recording;
	struct nm_launcher launcher;
	struct nm_symbols *symbols;
	struct nm_session *session;
	struct nm_consumer *consumer;
	struct nm_profile_writer *writer;
	struct nm_tracer *tracer;         /* or NULL */
	char run_dir[256], program[4096]; /* its file */
	pid_t pid;
	int exited, exit_status;
	uint32_t streams; /* rings that have sent anything */
	double started, exited_at, shown_at, asked_at;
	uint64_t shown_references;
};

static volatile sig_atomic_t pass_on_to; /* pid of the program */

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- signals ---- */

static void pass_on(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code <= 0 && pass_on_to > 0) /* sent by a process, not by the terminal */
		kill((pid_t)pass_on_to, number);
}

/* Notes whether it was ignored (by nohup, by a shell's background). */
static void take_signal(int number, const struct sigaction *action, sigset_t *ignored)
{
	struct sigaction before;

	if (!sigaction(number, action, &before) && before.sa_handler == SIG_IGN)
		sigaddset(ignored, number);
}

/* A trace's reader that goes away is told, and does not end the recording. */
static void ignore_broken_pipes(sigset_t *ignored)
{
	take_signal(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, ignored);
}

static void catch_signals(sigset_t *ignored)
{
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};

	for (size_t i = 0; i < sizeof nm_launch_signals / sizeof *nm_launch_signals; i++)
		if (nm_launch_signals[i] != SIGPIPE)
			take_signal(nm_launch_signals[i], &action, ignored);
}

/* ---- the run directory ---- */

/* Rings live in memory where there is some to spare, else in files. */
static int has_room(const char *path)
{
	struct statvfs fs;

	return !statvfs(path, &fs) && (uint64_t)fs.f_bavail * fs.f_frsize >= ROOM_FOR_RINGS;
}

static int make_run_dir(struct recorder *r, struct nm_error *err)
{
	const char *tmp = getenv("TMPDIR");
	const char *const places[] = {"/dev/shm", tmp && *tmp == '/' ? tmp : "/tmp"};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (!has_room(places[i]))
			continue;
		snprintf(r->run_dir, sizeof r->run_dir, "%s/nearmiss-XXXXXX", places[i]);
		if (mkdtemp(r->run_dir))
			return 0;
	}
	r->run_dir[0] = '\0';
	return nm_fail(err, NM_EIO, "%s and %s have no room for shared memory (%d MB)", places[0], places[1],
		       ROOM_FOR_RINGS >> 20);
}

static void remove_run_dir(const char *path)
{
	DIR *dir = path[0] ? opendir(path) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (path[0])
		rmdir(path);
}

/* The last line that Valgrind wrote before it gave up, or NULL. */
static const char *valgrind_said(const struct recorder *r, char *line, size_t room)
{
	char path[512], text[1024];
	const char *said = NULL;
	FILE *log;

	snprintf(path, sizeof path, "%s/log.%d", r->run_dir, (int)r->pid);
	log = fopen(path, "r");
	while (log && fgets(text, sizeof text, log)) {
		const char *at = text + strspn(text, "=-0123456789 ");

		text[strcspn(text, "\n")] = '\0';
		if (strncmp(at, "valgrind: ", 10) == 0)
			at += 10;
		if (*at) {
			snprintf(line, room, "%s", at);
			said = line;
		}
	}
	if (log)
		fclose(log);
	return said;
}

/* ---- the loop ---- */

static void show_progress(struct recorder *r, int final)
{
	double now = now_ms();
	uint64_t references;

	if (!r->recording->progress || (!final && now - r->shown_at < PROGRESS_MS))
		return;
	if (final) {
		fprintf(stderr, "\r\033[K");
		return;
	}
	references = nm_session_references(r->session);
	fprintf(stderr, "\r\033[Knearmiss: %.1f M references, %.1f M/s", (double)references / 1e6,
		(double)(references - r->shown_references) / (now - r->shown_at) / 1e3);
	r->shown_references = references;
	r->shown_at = now;
}

static void notice_exit(struct recorder *r)
{
	int status;

	if (r->exited || waitpid(r->pid, &status, WNOHANG) != r->pid)
		return;
	r->exited = 1;
	r->exited_at = now_ms();
	r->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	pass_on_to = 0;
}

/* Feeds or ends one stream.  What is wrong with a stream is told, and the others go on. */
static int take(struct recorder *r, const struct nm_chunk *chunk, struct nm_error *err)
{
	struct nm_error fault;
	int status;

	if (chunk->ring >= r->streams)
		r->streams = chunk->ring + 1;
	if (r->tracer)
		nm_tracer_start(r->tracer, chunk->ring, chunk->words, chunk->count);
	if (chunk->kind == NM_CHUNK_DATA) {
		status = nm_session_feed(r->session, chunk->ring, chunk->words, chunk->count, &fault);
	} else {
		if (chunk->end == NM_END_DAMAGED)
			fprintf(stderr, "nearmiss: the ring of process %u is damaged: %s\n", chunk->pid,
				chunk->fault);
		status = nm_session_end(r->session, chunk->ring, &fault);
	}
	if (r->tracer)
		nm_tracer_wait(r->tracer);
	if (status == NM_ENOMEM) {
		*err = fault;
		return status;
	}
	if (status)
		fprintf(stderr, "nearmiss: the events of process %u end early: %s\n", chunk->pid, fault.text);
	return 0;
}

static void place_program(struct recorder *r)
{
	int apart, processor = nm_placement_of_feeder(&apart);

	nm_consumer_place(r->consumer, processor, apart);
}

/* Takes the next chunk, if one comes soon: 1 or 0, or a code.  Where no ring is live the program may be about to exit. */
static int take_next(struct recorder *r, struct nm_error *err)
{
	struct nm_chunk chunk;
	int wait_ms = nm_consumer_live(r->consumer) ? POLL_MS : EXIT_POLL_MS;
	int came = nm_consumer_next(r->consumer, wait_ms, &chunk, err), status = 0;

	if (came > 0) {
		status = take(r, &chunk, err);
		place_program(r);
		nm_consumer_release(r->consumer, &chunk);
	} else if (!came && r->tracer) {
		nm_tracer_flush(r->tracer);
	}
	return status ? status : came;
}

static int consume(struct recorder *r, struct nm_error *err)
{
	for (;;) {
		int came = take_next(r, err);

		if (came < 0)
			return came;
		show_progress(r, 0);
		if (nm_consumer_live(r->consumer) && now_ms() - r->asked_at < POLL_MS)
			continue; /* not at each of thousands of chunks */
		r->asked_at = now_ms();
		notice_exit(r);
		if (!r->exited)
			continue;
		if (!nm_consumer_live(r->consumer))
			return 0;
		if (now_ms() - r->exited_at > GRACE_MS) {
			fprintf(stderr,
				"nearmiss: processes left in the background are no longer observed\n");
			return 0;
		}
	}
}

/* ---- the profile ---- */

/* The trace ends after the results, which ask for the last names.  A trace that failed is told, and does not take the
 * profile along. */
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

static int write_profile(struct recorder *r, struct nm_error *err)
{
	struct nm_outcome outcome = {.collector = "valgrind",
				     .embed_sources = r->recording->embed_sources,
				     .exit_status = r->exit_status,
				     .wall_seconds = (now_ms() - r->started) / 1e3};
	const struct nm_taker *taker = r->recording->taker;
	struct nm_profile_writer *writer = r->writer;
	struct nm_error fault;
	int status = 0, trace_status;

	r->writer = NULL;
	if (writer)
		status = nm_outcome_write(&outcome, r->session, writer, err);
	if (taker && !status)
		status = taker->take(taker->self, r->session, err);
	trace_status = close_trace(r, &fault);
	if (trace_status && !status)
		*err = fault;
	return status ? status : trace_status;
}

/* ---- one recording ---- */

static int start_trace(struct recorder *r, struct nm_error *err)
{
	int status = nm_tracer_new(&r->tracer, r->recording->trace, r->symbols, err);

	r->launcher.output_is_ours = !strcmp(r->recording->trace, "-");
	if (!status)
		nm_tracer_info(r->tracer, "collector", "valgrind");
	return status;
}

/* Whether anything asks for the way that the program took, and not only for its references. */
static int needs_all_blocks(const struct nm_recording *r)
{
	return r->trace || r->sift || r->instructions || r->contexts || r->heap_chains;
}

/* Everything that can fail without the program having run.  The trace comes first: a FIFO waits for its reader, and who
 * does not want to wait leaves nothing behind. */
static int prepare(struct recorder *r, struct nm_error *err)
{
	sigset_t ignored;
	const struct nm_recording *recording = r->recording;
	struct nm_engine_options options = {.machine = &recording->machine,
					    .threads = recording->threads,
					    .instructions = recording->instructions,
					    .by_instruction = recording->by_instruction,
					    .contexts = recording->contexts,
					    .heap_chains = recording->heap_chains,
					    .sift = recording->sift};
	int status = nm_launch_resolve(r->recording->argv[0], r->program, sizeof r->program, err);

	if (status)
		return status == NM_LAUNCH_NO_PROGRAM ? NM_STATUS_NO_PROGRAM : NM_STATUS_NOT_EXECUTABLE;
	if (nm_launcher_find(&r->launcher, err))
		return NM_STATUS_NO_COLLECTOR;
	sigemptyset(&ignored);
	ignore_broken_pipes(&ignored);
	status = nm_symbols_new(&r->symbols, err);
	if (!status && recording->trace && (status = start_trace(r, err)))
		return nm_status_of((enum nm_code)status, NM_STATUS_NO_OUTPUT);
	if (!status && recording->output &&
	    (status = nm_profile_writer_new(&r->writer, recording->output, err)))
		return nm_status_of((enum nm_code)status, NM_STATUS_NO_OUTPUT);
	if (!status)
		status = make_run_dir(r, err);
	options.symbols = r->symbols;
	if (!status)
		status = nm_session_new(&r->session, &options, err);
	if (!status)
		status = nm_consumer_new(&r->consumer, r->run_dir, CHUNK_WORDS, CHUNKS, err);
	if (!status) {
		catch_signals(&ignored);
		r->launcher.all_blocks = needs_all_blocks(recording);
		status = nm_launch(&r->launcher, r->run_dir, r->recording->argv, &ignored, &r->pid, err);
	}
	if (!status && !r->tracer) /* which keeps all names that were asked for */
		nm_warm_up(r->symbols, r->program);
	return status ? nm_status_of((enum nm_code)status, NM_STATUS_FAILED) : 0;
}

static int run(struct recorder *r, struct nm_error *err)
{
	char line[1024];
	const char *said;
	int status;

	pass_on_to = r->pid;
	r->started = r->shown_at = now_ms();
	status = consume(r, err);
	show_progress(r, 1);
	nm_consumer_detach_all(r->consumer);
	while (!r->exited) {
		notice_exit(r);
		if (!r->exited)
			usleep(POLL_MS * 1000);
	}
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_FAILED);
	said = r->streams ? NULL : valgrind_said(r, line, sizeof line);
	if (!r->streams) {
		nm_fail(err, NM_EIO, "the collector did not start: %s",
			said ? said : "Valgrind says nothing more");
		return NM_STATUS_COLLECTOR_FAILED;
	}
	status = write_profile(r, err);
	nm_keep_warm(r->symbols, r->program);
	return status ? nm_status_of((enum nm_code)status, NM_STATUS_NO_OUTPUT) : 0;
}

int nm_record(const struct nm_recording *recording, int *ret_exit, struct nm_error *err)
{
	struct recorder r = {.recording = recording};
	int status;

	nm_heap_prepare();
	status = prepare(&r, err);
	if (!status)
		status = run(&r, err);
	if (r.writer)
		nm_profile_writer_abort(r.writer);
	if (r.consumer)
		nm_consumer_free(r.consumer);
	nm_tracer_free(r.tracer);
	nm_session_free(r.session);
	nm_symbols_free(r.symbols);
	remove_run_dir(r.run_dir);
	if (!status)
		*ret_exit = r.exit_status;
	return status;
}
