/* SPDX-License-Identifier: MIT
 *
 * session.c - see session.h.
 *
 * Streams of parallel processes arrive in any order, so the tree of processes is put together at the end:
 * a forked image descends from the youngest earlier stream of its parent's pid, an exec'ed one from that of
 * its own pid.  Paths are made of fork ordinals, not of pids: they are the same in every run.
 */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "nearmiss/wire.h"
#include "vector.h"

enum { PATH_ROOM = 512 };

struct stream {
	uint32_t number;
	struct nm_engine *engine; /* NULL when it has ended */
	struct nm_process_identity identity;
	struct nm_result result;
	const char *path; /* in the tree, once it is known */
	int ended, failed;
};

struct nm_session {
	struct nm_engine_options options;
	struct nm_vec(struct stream *) streams; /* in order of their numbers */
	struct nm_result **sorted;
	size_t sorted_count;
	uint64_t references; /* of streams that have ended */
};

int nm_session_new(struct nm_session **ret_session, const struct nm_engine_options *options,
		   struct nm_error *err)
{
	struct nm_session *s = calloc(1, sizeof *s);

	if (!s)
		return nm_fail(err, NM_ENOMEM, "out of memory");
	s->options = *options;
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
		free(s->streams.at[i]);
	}
	nm_vec_free(&s->streams);
	free(s->sorted);
	free(s);
}

/* The stream's record, made if it is new; the list stays in order of numbers. */
static int find_stream(struct nm_session *s, uint32_t number, struct stream **ret_stream,
		       struct nm_error *err)
{
	size_t i = s->streams.count;
	struct stream *fresh;
	int status;

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
		return nm_fail(err, NM_ENOMEM, "out of memory");
	}
	fresh->number = number;
	status = nm_engine_new(&fresh->engine, &s->options, err);
	if (status) {
		free(fresh);
		return status;
	}
	memmove(&s->streams.at[i + 1], &s->streams.at[i], (s->streams.count - i) * sizeof(struct stream *));
	s->streams.at[i] = fresh;
	s->streams.count++;
	*ret_stream = fresh;
	return 0;
}

int nm_session_feed(struct nm_session *s, uint32_t number, const uint64_t *words, size_t count,
		    struct nm_error *err)
{
	struct stream *stream;
	int status = find_stream(s, number, &stream, err);

	if (status || stream->failed || stream->ended)
		return status;
	status = nm_engine_feed(stream->engine, words, count, err);
	stream->failed = status != 0;
	return status;
}

static int end_stream(struct nm_session *s, struct stream *stream, struct nm_error *err)
{
	int status;

	if (stream->ended)
		return 0;
	stream->ended = 1;
	nm_engine_identity(stream->engine, &stream->identity);
	s->references += nm_engine_references(stream->engine);
	status = nm_engine_finish(stream->engine, &stream->result, err);
	nm_engine_free(stream->engine);
	stream->engine = NULL;
	return status;
}

int nm_session_end(struct nm_session *s, uint32_t number, struct nm_error *err)
{
	struct stream *stream;
	int status = find_stream(s, number, &stream, err);

	return status ? status : end_stream(s, stream, err);
}

/* ---- the tree of processes ---- */

static const struct stream *ancestor(const struct nm_session *s, size_t i)
{
	const struct nm_process_identity *id = &s->streams.at[i]->identity;
	uint32_t pid = id->start == NM_WIRE_EXECED ? id->pid : id->parent;

	while (i-- > 0)
		if (s->streams.at[i]->identity.start >= 0 && s->streams.at[i]->identity.pid == pid)
			return s->streams.at[i];
	return NULL;
}

static int set_path(struct nm_session *s, size_t i, unsigned *roots)
{
	struct stream *stream = s->streams.at[i];
	const struct stream *from = stream->identity.start > NM_WIRE_STARTED ? ancestor(s, i) : NULL;
	char path[PATH_ROOM];

	if (!from)
		snprintf(path, sizeof path, "%u", (*roots)++);
	else if (stream->identity.start == NM_WIRE_EXECED)
		snprintf(path, sizeof path, "%sx", from->path);
	else
		snprintf(path, sizeof path, "%s.%04u", from->path, stream->identity.ordinal);
	stream->path = nm_symbols_intern(s->options.symbols, path);
	stream->result.path = stream->path;
	return stream->path ? 0 : NM_ENOMEM;
}

static int by_path(const void *a, const void *b)
{
	const struct nm_result *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

int nm_session_results(struct nm_session *s, struct nm_result *const **ret_results, size_t *ret_count,
		       struct nm_error *err)
{
	unsigned roots = 0;
	int status = 0;

	for (size_t i = 0; i < s->streams.count && !status; i++)
		status = end_stream(s, s->streams.at[i], err);
	if (status)
		return status;
	s->sorted = calloc(s->streams.count + 1, sizeof(struct nm_result *));
	if (!s->sorted)
		return nm_fail(err, NM_ENOMEM, "out of memory");
	for (size_t i = 0; i < s->streams.count; i++) {
		struct stream *stream = s->streams.at[i];

		if (stream->identity.start < 0) /* it broke off before it said who it is */
			continue;
		if (set_path(s, i, &roots))
			return nm_fail(err, NM_ENOMEM, "out of memory");
		s->sorted[s->sorted_count++] = &stream->result;
	}
	qsort(s->sorted, s->sorted_count, sizeof(struct nm_result *), by_path);
	*ret_results = s->sorted;
	*ret_count = s->sorted_count;
	return 0;
}

uint64_t nm_session_references(const struct nm_session *s)
{
	uint64_t n = s->references;

	for (size_t i = 0; i < s->streams.count; i++)
		if (s->streams.at[i]->engine)
			n += nm_engine_references(s->streams.at[i]->engine);
	return n;
}
