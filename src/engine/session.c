/* SPDX-License-Identifier: MIT
 *
 * Streams of parallel processes arrive in any order, so the tree of processes is put together at the end:
 * a forked image descends from the youngest earlier stream of its parent's pid, an exec'ed one from that of
 * its own pid. Paths are made of fork ordinals, not of pids: they are the same in every run.
 *
 * On one machine, the references of processes are merged after they have been fed: a stream that has ended is finished
 * when its last ones have been.
 *
 * The lock is held but while an engine works on its stream: all else is short.
 */
#include "session.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode.h"
#include "map.h"
#include "pack.h"
#include "vector.h"

struct stream {
	uint32_t number;
	struct nm_wire_process process;  /* its strings are not kept */
	struct nm_engine *engine;        /* NULL before the start and after the end */
	struct nm_vec(uint64_t) waiting; /* words that arrived before the parent's fork */
	struct nm_result result;
	struct nm_packed_result packed; /* its arrays, unless this is the only stream */
	const char *path;               /* in the tree of processes, or NULL */
	const char *name;               /* of its program, interned */
	const struct nm_machine_member
	    *member; /* of the one machine; its share of the counts is still to be added */
	int known, ended, failed, is_open; /* is_open: the result has its arrays */
	int introduced;                    /* whoever feeds it waits for its parent's fork */
	int closed;          /* nothing more comes; it ends when its parent's fork has been seen */
	uint64_t references; /* for progress: as they were `uncounted` words ago */
	uint64_t uncounted;
};

enum { COUNT_EVERY = 1 << 18 /* words: counting walks over all code */ };
enum { UNMERGED_MOST = 64 /* streams that have ended and wait, each with its engine */ };

/* An engine made at a fork, for a stream that has not started yet. */
struct forked_engine {
	uint32_t parent; /* stream number */
	uint32_t ordinal;
	struct nm_engine *engine;
};

struct nm_session {
	struct nm_engine_options options;
	pthread_mutex_t lock;                       /* of all below, but for engines that work */
	pthread_cond_t changed;                     /* a fork was seen, or a stream has ended */
	struct nm_vec(struct stream *) streams;     /* in order of their numbers */
	struct nm_vec(struct forked_engine) forked; /* whose streams have not started yet */
	struct nm_result **sorted;
	size_t sorted_count;
	struct nm_one_machine *one_machine;      /* or NULL */
	struct nm_vec(struct stream *) unmerged; /* have ended on it, and are not finished */
};

int nm_session_new(struct nm_session **ret_session, const struct nm_engine_options *options,
		   struct nm_error *err)
{
	struct nm_session *s = calloc(1, sizeof *s);

	int status;

	if (!s)
		return nm_fail_memory(err);
	s->options = *options;
	status = options->on_one_machine ? nm_one_machine_new(&s->one_machine, options, err) : 0;
	if (status) {
		free(s);
		return status;
	}
	s->options.one_machine = s->one_machine;
	if (s->one_machine)
		s->options.threads = 1; /* the machine's are at work */
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	*ret_session = s;
	return 0;
}

void nm_session_free(struct nm_session *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->streams.count; i++) {
		nm_engine_free(s->streams.at[i]->engine);
		nm_result_free(&s->streams.at[i]->result);
		nm_packed_result_done(&s->streams.at[i]->packed);
		nm_vec_free(&s->streams.at[i]->waiting);
		free(s->streams.at[i]);
	}
	for (size_t i = 0; i < s->forked.count; i++)
		nm_engine_free(s->forked.at[i].engine);
	nm_one_machine_free(s->one_machine);
	nm_vec_free(&s->forked);
	nm_vec_free(&s->unmerged);
	nm_vec_free(&s->streams);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s->sorted);
	free(s);
}

/* The stream's record, made if it is new; the list stays in order of numbers. */
static int find_stream(struct nm_session *s, uint32_t number, struct stream **ret_stream,
		       struct nm_error *err)
{
	size_t i = s->streams.count;
	struct stream *fresh;

	while (i > 0 && s->streams.at[i - 1]->number >= number) {
		if (s->streams.at[i - 1]->number == number) {
			*ret_stream = s->streams.at[i - 1];
			return 0;
		}
		i--;
	}
	fresh = calloc(1, sizeof *fresh);
	if (!fresh || nm_vec_reserve(&s->streams, 1)) {
		free(fresh);
		return nm_fail_memory(err);
	}
	fresh->number = number;
	memmove(&s->streams.at[i + 1], &s->streams.at[i], (s->streams.count - i) * sizeof(struct stream *));
	s->streams.at[i] = fresh;
	s->streams.count++;
	*ret_stream = fresh;
	return 0;
}

/* The youngest stream before `stream` that has the pid. */
static struct stream *earlier_stream(const struct nm_session *s, const struct stream *stream, uint32_t pid)
{
	for (size_t i = s->streams.count; i-- > 0;) {
		struct stream *other = s->streams.at[i];

		if (other->number < stream->number && other->known && other->process.pid == pid)
			return other;
	}
	return NULL;
}

/* Reads the process record of a stream. */
static int identify_stream(struct nm_session *s, struct stream *stream, const uint64_t *words, size_t count,
			   struct nm_error *err)
{
	struct nm_wire_scan scan = nm_wire_scan_over(words, count);
	struct nm_wire_record r;
	const char *called, *slash;
	int status = nm_wire_scan_next(&scan, &r, err);

	if (status < 0)
		return status;
	if (!status || r.kind != NM_WIRE_PROCESS)
		return nm_fail(err, NM_EFORMAT, "the stream does not begin with a process");
	status = nm_wire_process_decode(&r, &stream->process, err);
	if (status)
		return status;
	stream->known = 1;
	/* As it was called: a program may have several names, of which each does another thing. */
	called = stream->process.argc && *stream->process.arguments ? stream->process.arguments
								    : stream->process.executable;
	slash = strrchr(called, '/');
	stream->name = nm_symbols_intern(s->options.symbols, slash ? slash + 1 : called);
	return stream->name ? 0 : nm_fail_memory(err);
}

static int follow_phases(struct nm_session *s, struct stream *stream, struct nm_error *err)
{
	const struct nm_phase_plan *plan =
	    s->options.phases ? nm_phase_plan_of(s->options.phases, stream->number) : NULL;

	return plan && nm_engine_follow_phases(stream->engine, plan) ? nm_fail_memory(err) : 0;
}

/* On one machine, an image that exec has started comes after the one that it replaces. */
static int join_machine(struct nm_session *s, struct stream *stream, struct nm_error *err)
{
	const struct stream *before =
	    stream->process.start == NM_WIRE_EXECED ? earlier_stream(s, stream, stream->process.pid) : NULL;

	return nm_engine_join(stream->engine, before ? before->engine : NULL) ? nm_fail_memory(err) : 0;
}

/* Gives the stream its engine: a fresh one, or for a forked child the one made at the fork. The fork's record
 * may arrive later (or never, if the parent was killed): 0 and no engine, unless `now`. */
static int start_stream(struct nm_session *s, struct stream *stream, int now, struct nm_error *err)
{
	const struct stream *parent = NULL;
	int status;

	if (stream->process.start == NM_WIRE_FORKED)
		parent = earlier_stream(s, stream, stream->process.parent);
	for (size_t i = 0; parent && i < s->forked.count; i++) {
		struct forked_engine *e = &s->forked.at[i];

		if (e->parent == parent->number && e->ordinal == stream->process.ordinal) {
			stream->engine = e->engine;
			*e = s->forked.at[--s->forked.count];
			return follow_phases(s, stream, err);
		}
	}
	if (stream->process.start == NM_WIRE_FORKED && !now)
		return 0;
	status = nm_engine_new(&stream->engine, &s->options, err);
	if (!status && s->one_machine)
		status = join_machine(s, stream, err);
	return status ? status : follow_phases(s, stream, err);
}

static int resume_waiting(struct nm_session *s, struct nm_error *err);

/* Once so many words were taken since the last time. */
static void count_references(struct stream *stream, uint64_t taken, uint64_t every)
{
	stream->uncounted += taken;
	if (stream->uncounted < every)
		return;
	stream->references = nm_engine_references(stream->engine);
	stream->uncounted = 0;
}

/* A child runs as far as its words have come before its parent goes on: one that has ended needs no memory
 * beside its parent's. */
static int run_stream(struct nm_session *s, struct stream *stream, const uint64_t *words, size_t count,
		      struct nm_error *err)
{
	struct forked_engine n = {.parent = stream->number};
	int status = 0;
	size_t taken;

	for (; count && !status; words += taken, count -= taken) {
		pthread_mutex_unlock(&s->lock);
		status = nm_engine_feed_to_fork(stream->engine, words, count, &taken, err);
		n.engine = nm_engine_take_child(stream->engine, &n.ordinal);
		pthread_mutex_lock(&s->lock);
		count_references(stream, taken, COUNT_EVERY);
		if (n.engine && nm_vec_push(&s->forked, n)) {
			nm_engine_free(n.engine);
			return nm_fail_memory(err);
		}
		stream->failed = status != 0;
		if (!status && n.engine)
			status = resume_waiting(s, err);
		pthread_cond_broadcast(&s->changed);
	}
	return status;
}

/* Turns a stream's engine into its result. */
static int finish_stream(struct nm_session *s, struct stream *stream, struct nm_error *err)
{
	const int is_only = s->streams.count < 2;
	int status;

	pthread_mutex_unlock(&s->lock);
	status = nm_engine_finish(stream->engine, &stream->result, err);
	stream->member = nm_engine_member(stream->engine);
	nm_engine_free(stream->engine);
	if (!status && !is_only && nm_result_pack(&stream->result, &stream->packed))
		status = nm_fail_memory(err);
	pthread_mutex_lock(&s->lock);
	stream->engine = NULL;
	return status;
}

/* Finishes streams that have ended and are merged; if too many wait, after merging what can be. */
static int finish_merged(struct nm_session *s, struct nm_error *err)
{
	int status = s->unmerged.count > UNMERGED_MOST ? nm_one_machine_settle(s->one_machine, 0, err) : 0;

	for (size_t i = s->unmerged.count; i-- > 0 && !status;) {
		struct stream *stream = s->unmerged.at[i];

		if (!nm_engine_is_merged(stream->engine))
			continue;
		s->unmerged.at[i] = s->unmerged.at[--s->unmerged.count];
		status = finish_stream(s, stream, err);
	}
	return status;
}

static int end_stream(struct nm_session *s, struct stream *stream, struct nm_error *err)
{
	int status;

	if (stream->ended || !stream->engine)
		return 0;
	stream->ended = 1;
	count_references(stream, 0, 1);
	pthread_cond_broadcast(&s->changed);
	if (!s->one_machine)
		return finish_stream(s, stream, err);
	status = nm_engine_stop(stream->engine, err);
	if (!status && nm_vec_push(&s->unmerged, stream))
		status = nm_fail_memory(err);
	return status ? status : finish_merged(s, err);
}

/* Feeds the words that have been waiting, if the stream has its engine now. */
static int resume_stream(struct nm_session *s, struct stream *stream, int now, struct nm_error *err)
{
	int status = 0;

	if (stream->engine || !stream->known || stream->ended)
		return 0;
	status = start_stream(s, stream, now, err);
	if (status || !stream->engine)
		return status;
	status = run_stream(s, stream, stream->waiting.at, stream->waiting.count, err);
	nm_vec_free(&stream->waiting);
	return status ? status : stream->closed ? end_stream(s, stream, err) : 0;
}

/* Resumes children that waited for a fork that has just been seen; they may be parents themselves. */
static int resume_waiting(struct nm_session *s, struct nm_error *err)
{
	int status = 0;

	for (size_t i = 0; i < s->streams.count && s->forked.count && !status; i++)
		status = resume_stream(s, s->streams.at[i], 0, err);
	return status;
}

/* Waits until a stream's parent, which another thread feeds, has forked it or will never do so. */
static int await_fork(struct nm_session *s, struct stream *stream, struct nm_error *err)
{
	const struct stream *parent = earlier_stream(s, stream, stream->process.parent);

	while (!stream->engine && parent && !parent->ended && !parent->failed)
		pthread_cond_wait(&s->changed, &s->lock);
	return stream->engine ? 0 : start_stream(s, stream, 1, err);
}

static int feed(struct nm_session *s, uint32_t number, const uint64_t *words, size_t count,
		struct nm_error *err)
{
	struct stream *stream;
	int status = find_stream(s, number, &stream, err);

	if (status || stream->failed || stream->ended || !count)
		return status;
	status = stream->known ? 0 : identify_stream(s, stream, words, count, err);
	if (!status && !stream->engine)
		status = resume_stream(s, stream, 0, err);
	if (!status && !stream->engine && stream->introduced)
		status = await_fork(s, stream, err);
	if (status) {
		stream->failed = 1;
		pthread_cond_broadcast(&s->changed);
		return status;
	}
	if (!stream->engine) {
		if (nm_vec_reserve(&stream->waiting, count))
			return nm_fail_memory(err);
		memcpy(stream->waiting.at + stream->waiting.count, words, count * sizeof *words);
		stream->waiting.count += count;
		return 0;
	}
	return run_stream(s, stream, words, count, err);
}

int nm_session_feed(struct nm_session *s, uint32_t number, const uint64_t *words, size_t count,
		    struct nm_error *err)
{
	int status;

	assert(words || !count);
	pthread_mutex_lock(&s->lock);
	status = feed(s, number, words, count, err);
	pthread_mutex_unlock(&s->lock);
	return status;
}

void nm_session_pause(struct nm_session *s, int paused)
{
	pthread_mutex_lock(&s->lock);
	s->options.paused = paused;
	for (size_t i = 0; i < s->streams.count; i++)
		if (s->streams.at[i]->engine)
			nm_engine_pause(s->streams.at[i]->engine, paused);
	for (size_t i = 0; i < s->forked.count; i++)
		nm_engine_pause(s->forked.at[i].engine, paused);
	pthread_mutex_unlock(&s->lock);
}

/* Of the first `count` streams, and of the machine. */
static void after_fork(struct nm_session *s, size_t count, int has_machine, int is_child)
{
	for (size_t i = 0; i < count; i++)
		if (s->streams.at[i]->engine)
			nm_engine_after_fork(s->streams.at[i]->engine, is_child);
	if (has_machine)
		nm_one_machine_after_fork(s->one_machine, is_child);
}

int nm_session_fork(struct nm_session *s, pid_t *ret_pid, struct nm_error *err)
{
	size_t ready = 0;
	int status = 0;

	while (ready < s->streams.count && !status) {
		struct nm_engine *engine = s->streams.at[ready]->engine;

		status = engine ? nm_engine_before_fork(engine) : 0;
		ready += !status;
	}
	if (!status && s->one_machine)
		status = nm_one_machine_before_fork(s->one_machine);
	if (status) {
		after_fork(s, ready, 0, 0);
		return nm_fail(err, (enum nm_code)status, "the simulation has failed");
	}
	*ret_pid = fork();
	after_fork(s, ready, s->one_machine != NULL, *ret_pid == 0);
	if (!*ret_pid)
		s->options.threads = 1;
	return *ret_pid < 0 ? nm_fail_errno(err, "cannot fork") : 0;
}

int nm_session_introduce(struct nm_session *s, uint32_t number, const uint64_t *words, size_t count,
			 struct nm_error *err)
{
	struct stream *stream;
	int status;

	assert(words || !count);
	pthread_mutex_lock(&s->lock);
	status = find_stream(s, number, &stream, err);
	if (!status) {
		stream->introduced = 1;
		status = identify_stream(s, stream, words, count, err);
		stream->failed = status != 0;
	}
	pthread_mutex_unlock(&s->lock);
	return status;
}

int nm_session_end(struct nm_session *s, uint32_t number, struct nm_error *err)
{
	struct stream *stream;
	int status;

	pthread_mutex_lock(&s->lock);
	status = find_stream(s, number, &stream, err);
	if (!status) {
		stream->closed = 1; /* one that waits for its parent ends when it has run */
		status = end_stream(s, stream, err);
	}
	pthread_mutex_unlock(&s->lock);
	return status;
}

int nm_session_drop(struct nm_session *s, uint32_t number, struct nm_error *err)
{
	struct stream *stream;
	int status = find_stream(s, number, &stream, err);

	if (status)
		return status;
	for (size_t i = s->unmerged.count; i-- > 0;)
		if (s->unmerged.at[i] == stream)
			s->unmerged.at[i] = s->unmerged.at[--s->unmerged.count];
	if (stream->engine && s->one_machine) /* others must not wait for it */
		nm_engine_stop(stream->engine, NULL);
	nm_engine_free(stream->engine);
	stream->engine = NULL;
	nm_vec_free(&stream->waiting);
	nm_result_free(&stream->result);
	stream->ended = stream->failed = stream->closed = 1;
	stream->result.machine = *s->options.machine;
	stream->result.process = stream->name ? stream->name : "?";
	stream->result.command = stream->result.process;
	stream->result.exit_status = -1;
	return 0;
}

const char *nm_session_name(struct nm_session *s, uint32_t number)
{
	struct stream *stream;

	return find_stream(s, number, &stream, NULL) || !stream->name ? "?" : stream->name;
}

/* ---- the tree of processes ---- */

static int path_is_taken(const struct nm_session *s, const struct stream *stream)
{
	for (size_t i = 0; i < s->streams.count && s->streams.at[i] != stream; i++)
		if (s->streams.at[i]->path == stream->path)
			return 1;
	return 0;
}

/* Chains of forks and execs may be of any length. */
static int set_path(struct nm_session *s, struct stream *stream, unsigned *roots)
{
	struct nm_symbols *symbols = s->options.symbols;
	const struct nm_wire_process *p = &stream->process;
	const struct stream *from = NULL;

	if (p->start != NM_WIRE_STARTED)
		from = earlier_stream(s, stream, p->start == NM_WIRE_EXECED ? p->pid : p->parent);
	if (!from)
		stream->path = nm_symbols_format(symbols, "%u", (*roots)++);
	else if (p->start == NM_WIRE_EXECED)
		stream->path = nm_symbols_format(symbols, "%sx", from->path);
	else
		stream->path = nm_symbols_format(symbols, "%s.%04u", from->path, p->ordinal);
	while (stream->path && path_is_taken(s, stream)) /* two parents look alike */
		stream->path = nm_symbols_format(symbols, "%s+", stream->path);
	stream->result.path = stream->path;
	return stream->path ? 0 : NM_ENOMEM;
}

/* Numbers in paths may be of any length. */
static int by_path(const void *a, const void *b)
{
	const struct nm_result *const *x = a, *const *y = b;

	return strverscmp((*x)->path, (*y)->path);
}

static int sort_results(struct nm_session *s, struct nm_error *err)
{
	unsigned roots = 0;

	s->sorted = calloc(s->streams.count + 1, sizeof(struct nm_result *));
	if (!s->sorted)
		return nm_fail_memory(err);
	for (size_t i = 0; i < s->streams.count; i++) {
		struct stream *stream = s->streams.at[i];

		if (!stream->known) /* it ended before its process record */
			continue;
		if (set_path(s, stream, &roots))
			return nm_fail_memory(err);
		s->sorted[s->sorted_count++] = &stream->result;
	}
	qsort(s->sorted, s->sorted_count, sizeof(struct nm_result *), by_path);
	return 0;
}

/* Merges what is left, and finishes the machine with the streams that waited for that. */
static int end_machine(struct nm_session *s, struct nm_error *err)
{
	int status = nm_one_machine_settle(s->one_machine, 1, err);

	if (!status)
		status = finish_merged(s, err);
	return status ? status : nm_one_machine_finish(s->one_machine, err);
}

/* Ends all streams, and sorts their results. */
static int end_all(struct nm_session *s, struct nm_error *err)
{
	int status = 0;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->streams.count && !status; i++) {
		status = resume_stream(s, s->streams.at[i], 1, err);
		if (status != NM_ENOMEM) /* what was seen before a fault counts */
			status = end_stream(s, s->streams.at[i], err);
	}
	if (!status && s->one_machine)
		status = end_machine(s, err);
	pthread_mutex_unlock(&s->lock);
	return status || s->sorted ? status : sort_results(s, err);
}

static struct stream *stream_of(struct nm_result *result)
{
	return (struct stream *)((uintptr_t)result - offsetof(struct stream, result));
}

static int open_result(struct nm_result *result, struct nm_error *err)
{
	struct stream *stream = stream_of(result);

	if (stream->is_open)
		return 0;
	if (stream->packed.bytes && nm_result_unpack(result, &stream->packed))
		return nm_fail_memory(err);
	stream->is_open = 1;
	return stream->member ? nm_member_add_counts(stream->member, result, err) : 0;
}

static void close_result(struct nm_result *result)
{
	struct stream *stream = stream_of(result);

	if (!stream->is_open || !stream->packed.bytes)
		return;
	nm_result_drop_arrays(result);
	stream->is_open = 0;
}

int nm_session_each(struct nm_session *s,
		    int (*take)(void *arg, const struct nm_result *result, struct nm_error *err), void *arg,
		    struct nm_error *err)
{
	int status = end_all(s, err);

	for (size_t i = 0; i < s->sorted_count && !status; i++) {
		status = open_result(s->sorted[i], err);
		if (!status)
			status = take(arg, s->sorted[i], err);
		close_result(s->sorted[i]);
	}
	return status;
}

int nm_session_results(struct nm_session *s, struct nm_result *const **ret_results, size_t *ret_count,
		       struct nm_error *err)
{
	int status = end_all(s, err);

	for (size_t i = 0; i < s->sorted_count && !status; i++)
		status = open_result(s->sorted[i], err);
	if (status)
		return status;
	*ret_results = s->sorted;
	*ret_count = s->sorted_count;
	return 0;
}

int nm_session_machine(struct nm_session *s, const struct nm_result **ret_machine,
		       struct nm_result_owner **ret_owners, struct nm_error *err)
{
	const struct nm_result *machine = s->one_machine ? nm_one_machine_result(s->one_machine) : NULL;
	struct nm_result_owner *owners = machine ? calloc(machine->attr_count + 1, sizeof *owners) : NULL;
	struct nm_map process_of = {0};
	int status = machine && !owners ? NM_ENOMEM : 0;

	for (size_t i = 0; i < s->sorted_count && machine && !status; i++)
		status = nm_map_put(&process_of, (uintptr_t)stream_of(s->sorted[i])->member, i);
	for (uint32_t key = 0; machine && !status && key < machine->attr_count; key++) {
		const struct nm_machine_member *member =
		    nm_one_machine_owner(s->one_machine, key, &owners[key].attr);

		owners[key].process =
		    member ? (uint32_t)nm_map_get(&process_of, (uintptr_t)member, UINT32_MAX) : UINT32_MAX;
	}
	nm_map_done(&process_of);
	*ret_machine = machine;
	*ret_owners = owners;
	return status ? nm_fail_memory(err) : 0;
}

/* The limits of the phases that a result has. 0 or NM_ENOMEM. */
static int list_limits(const struct nm_result *r, struct nm_phase_plan *plan)
{
	for (size_t i = 0; i < r->stretch_count; i++) {
		const struct nm_result_stretch *s = &r->stretches[i];

		if (nm_vec_push(&plan->limits,
				(struct nm_phase_limit){r->intervals[s->first].begin, s->phase}))
			return NM_ENOMEM;
	}
	return 0;
}

int nm_session_phases(struct nm_session *s, struct nm_phase_plans *plans, struct nm_error *err)
{
	int status = end_all(s, err);

	for (size_t i = 0; i < s->sorted_count && !status; i++) {
		struct nm_phase_plan plan = {.stream = stream_of(s->sorted[i])->number,
					     .only = NM_ALL_PHASES};

		status = open_result(s->sorted[i], err);
		if (!status && (nm_vec_push(&plans->at, plan) ||
				list_limits(s->sorted[i], &plans->at.at[plans->at.count - 1])))
			status = nm_fail_memory(err);
		close_result(s->sorted[i]);
	}
	return status;
}

uint64_t nm_session_references(struct nm_session *s)
{
	uint64_t n = 0;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->streams.count; i++)
		n += s->streams.at[i]->references;
	pthread_mutex_unlock(&s->lock);
	return n;
}
