/* SPDX-License-Identifier: MIT
 *
 * writer.c - writes a trace (trace.h).
 *
 * Each running stream has an encoder with an open chunk. A chunk ends when it holds CHUNK_WORDS, and after a
 * FORK: a reader needs that record before the child's first chunk, and would otherwise have to keep all
 * children in memory. A complete chunk is written when anything else is fed, so that the names that it uses
 * can be written before it.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "checks.h"
#include "nearmiss/wire.h"
#include "writer_priv.h"

enum { LEVEL = 1 };

/* A file is locked while it is written, so that a second writer is refused and does not truncate it. */
static int open_output(const char *path, int *ret_fd, struct nm_error *err)
{
	int is_stdout = !strcmp(path, "-"), status = 0;
	int fd = is_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
			   : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	struct stat s;

	if (fd < 0)
		return nm_fail_errno(err, "cannot write %s", path);
	if (!is_stdout && !fstat(fd, &s) && S_ISREG(s.st_mode)) {
		if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
			status = nm_fail(err, NM_EIO, "cannot write %s: another process is writing it", path);
		else if (ftruncate(fd, 0))
			status = nm_fail_errno(err, "cannot write %s", path);
	}
	if (status)
		close(fd);
	else
		*ret_fd = fd;
	return status;
}

int nm_trace_writer_new(struct nm_trace_writer **ret_writer, const char *path, struct nm_error *err)
{
	const struct file_header head = {NM_TRACE_MAGIC, NM_TRACE_VERSION, 0};
	struct nm_trace_writer *w = calloc(1, sizeof *w);
	int status;

	if (!w)
		return nm_fail_memory(err);
	w->fd = -1;
	status = open_output(path, &w->fd, err);
	if (!status && write(w->fd, &head, sizeof head) != sizeof head)
		status = nm_fail_errno(err, "cannot write %s", path);
	if (!status && !(w->zstd = ZSTD_createCCtx()))
		status = nm_fail_memory(err);
	if (status) {
		nm_trace_writer_free(w);
		return status;
	}
	w->at = sizeof head;
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	*ret_writer = w;
	return 0;
}

void nm_trace_writer_free(struct nm_trace_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->streams.count; i++)
		encoder_free(w->streams.at[i].encoder);
	for (size_t i = 0; i < w->idle.count; i++)
		encoder_free(w->idle.at[i]);
	nm_vec_free(&w->idle);
	nm_vec_free(&w->streams);
	nm_vec_free(&w->index);
	nm_vec_free(&w->packed);
	ZSTD_freeCCtx(w->zstd);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

/* ---- chunks ---- */

static int write_all(struct nm_trace_writer *w, const void *bytes, size_t count, struct nm_error *err)
{
	const char *at = bytes;

	while (count) {
		ssize_t n = write(w->fd, at, count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return nm_fail_errno(err, "cannot write the trace");
		at += n;
		count -= (size_t)n;
	}
	return 0;
}

static int pack_part(struct nm_trace_writer *w, struct chunk_header *head, unsigned part,
		     const uint8_t *bytes, size_t count, struct nm_error *err)
{
	size_t room = ZSTD_compressBound(count), n;

	assert(part < NM_PARTS);
	if (!count)
		return 0;
	if (nm_vec_reserve(&w->packed, room))
		return nm_fail_memory(err);
	n = ZSTD_compress2(w->zstd, w->packed.at + w->packed.count, room, bytes, count);
	if (ZSTD_isError(n) || count > UINT32_MAX)
		return nm_fail(err, NM_ENOMEM, "cannot compress: %s", ZSTD_getErrorName(n));
	head->parts[part].packed = (uint32_t)n;
	head->parts[part].raw = (uint32_t)count;
	w->packed.count += n;
	return 0;
}

/* Writes the chunk whose parts have been packed, in one piece. */
static int write_chunk(struct nm_trace_writer *w, struct chunk_header *head, struct nm_error *err)
{
	struct index_entry entry = {
	    w->at, sizeof *head + w->packed.count, head->kind, head->stream, head->words, head->references};
	int status;

	assert(chunk_payload(head) == w->packed.count);
	head->check = chunk_check(head);
	if (nm_vec_push(&w->index, entry))
		return nm_fail_memory(err);
	status = write_all(w, head, sizeof *head, err);
	if (!status)
		status = write_all(w, w->packed.at, w->packed.count, err);
	w->at += entry.bytes;
	return status;
}

static int write_plain(struct nm_trace_writer *w, enum nm_trace_kind kind, uint32_t stream,
		       const uint8_t *bytes, size_t count, struct nm_error *err)
{
	struct chunk_header head = {.kind = kind, .stream = stream};
	int status;

	w->packed.count = 0;
	status = pack_part(w, &head, 0, bytes, count, err);
	return status ? status : write_chunk(w, &head, err);
}

static int write_stream(struct nm_trace_writer *w, struct open_stream *s, struct nm_error *err)
{
	struct chunk_header head = {.kind = NM_TRACE_WORDS, .stream = s->number};
	const struct nm_chunk_bytes *parts[NM_PARTS];
	int status = 0;

	s->full = s->forked = 0;
	head.words = encoder_words(s->encoder);
	head.references = encoder_references(s->encoder);
	if (!head.words)
		return 0;
	if (encoder_finish(s->encoder, parts))
		return nm_fail_memory(err);
	w->packed.count = 0;
	for (unsigned i = 0; i < NM_PARTS && !status; i++)
		status = pack_part(w, &head, i, parts[i]->at, parts[i]->count, err);
	if (!status)
		status = write_chunk(w, &head, err);
	encoder_reset(s->encoder);
	return status;
}

int nm_trace_writer_copy(struct nm_trace_writer *w, struct nm_trace *from, const struct nm_trace_chunk *chunk,
			 uint32_t stream, struct nm_error *err)
{
	struct chunk_header head;
	const uint8_t *bytes;
	int status = trace_raw(from, chunk, &head, &bytes, err);
	size_t count;

	if (status)
		return status;
	count = (size_t)chunk_payload(&head);
	w->packed.count = 0;
	if (nm_vec_reserve(&w->packed, count + 1))
		return nm_fail_memory(err);
	memcpy(w->packed.at, bytes, count);
	w->packed.count = count;
	head.stream = stream;
	return write_chunk(w, &head, err);
}

/* ---- streams ---- */

static struct open_stream *known_stream(const struct nm_trace_writer *w, uint32_t number)
{
	for (size_t i = 0; i < w->streams.count; i++)
		if (w->streams.at[i].number == number)
			return &w->streams.at[i];
	return NULL;
}

static int find_stream(struct nm_trace_writer *w, uint32_t number, struct open_stream **ret_stream,
		       struct nm_error *err)
{
	struct open_stream fresh = {.number = number};
	int status = 0;

	assert(w->fd >= 0);
	*ret_stream = known_stream(w, number);
	if (*ret_stream)
		return 0;
	if (w->idle.count)
		fresh.encoder = w->idle.at[--w->idle.count];
	else
		status = encoder_new(&fresh.encoder, err);
	if (!status && nm_vec_push(&w->streams, fresh)) {
		encoder_free(fresh.encoder);
		status = nm_fail_memory(err);
	}
	if (!status)
		*ret_stream = &w->streams.at[w->streams.count - 1];
	return status;
}

/* A fork's record ends a piece that is fed. */
static int ends_with_fork(const uint64_t *words, size_t count)
{
	return count >= 3 && nm_wire_is_header(words[count - 3]) &&
	       nm_wire_kind(words[count - 3]) == NM_WIRE_FORK && nm_wire_words(words[count - 3]) == 2;
}

/* The stream that has to be written before any other, or NULL. */
static struct open_stream *forked_stream(const struct nm_trace_writer *w)
{
	for (size_t i = 0; i < w->streams.count; i++)
		if (w->streams.at[i].forked)
			return &w->streams.at[i];
	return NULL;
}

static int write_forked(struct nm_trace_writer *w, struct nm_error *err)
{
	struct open_stream *s = forked_stream(w);

	return s ? write_stream(w, s, err) : 0;
}

int nm_trace_writer_full(const struct nm_trace_writer *w, uint32_t number)
{
	const struct open_stream *s = known_stream(w, number);

	return (s && s->full) || forked_stream(w);
}

int nm_trace_writer_feed(struct nm_trace_writer *w, uint32_t number, const uint64_t *words, size_t count,
			 struct nm_error *err)
{
	struct open_stream *s;
	int status = write_forked(w, err);

	assert(words || !count);
	if (!status)
		status = find_stream(w, number, &s, err);
	if (!status && s->full)
		status = write_stream(w, s, err);
	if (!status)
		status = encoder_add(s->encoder, words, count, err);
	if (status)
		return status;
	s->full = encoder_words(s->encoder) >= CHUNK_WORDS;
	s->forked = ends_with_fork(words, count);
	NM_CHECK(trace_writer_is_valid(w));
	return 0;
}

int nm_trace_writer_end(struct nm_trace_writer *w, uint32_t number, struct nm_error *err)
{
	struct open_stream *s = known_stream(w, number);
	int status = write_forked(w, err);

	if (s && !status)
		status = write_stream(w, s, err);
	if (s) {
		if (nm_vec_push(&w->idle, s->encoder))
			encoder_free(s->encoder);
		*s = w->streams.at[--w->streams.count];
	}
	return status ? status : write_plain(w, NM_TRACE_END, number, NULL, 0, err);
}

int nm_trace_writer_flush(struct nm_trace_writer *w, struct nm_error *err)
{
	int status = write_forked(w, err);

	for (size_t i = 0; i < w->streams.count && !status; i++)
		status = write_stream(w, &w->streams.at[i], err);
	return status;
}

int nm_trace_writer_names(struct nm_trace_writer *w, const uint8_t *bytes, size_t count, struct nm_error *err)
{
	assert(bytes || !count);
	return count ? write_plain(w, NM_TRACE_NAMES, 0, bytes, count, err) : 0;
}

int nm_trace_writer_info(struct nm_trace_writer *w, const char *key, const char *value, struct nm_error *err)
{
	size_t n = strlen(key) + 1, m = strlen(value) + 1;
	uint8_t *both = malloc(n + m);
	int status;

	if (!both)
		return nm_fail_memory(err);
	memcpy(both, key, n);
	memcpy(both + n, value, m);
	status = write_plain(w, NM_TRACE_INFO, 0, both, n + m, err);
	free(both);
	return status;
}

int nm_trace_writer_close(struct nm_trace_writer *w, struct nm_error *err)
{
	struct file_trailer tail = {.magic = NM_TRACE_LAST};
	int status = nm_trace_writer_flush(w, err);

	assert(w->fd >= 0);
	NM_CHECK(status || trace_writer_is_valid(w));
	tail.index = w->at;
	if (!status)
		status = write_plain(w, NM_TRACE_INDEX, 0, (const uint8_t *)w->index.at,
				     w->index.count * sizeof *w->index.at, err);
	if (!status)
		status = write_all(w, &tail, sizeof tail, err);
	if (!status && close(w->fd))
		status = nm_fail_errno(err, "cannot write the trace");
	else if (!status)
		w->fd = -1;
	return status;
}

int trace_writer_is_valid(const struct nm_trace_writer *w)
{
	uint64_t at = sizeof(struct file_header);
	unsigned forked = 0;

	for (size_t i = 0; i < w->index.count; i++) {
		if (w->index.at[i].offset != at || w->index.at[i].bytes < sizeof(struct chunk_header))
			return 0;
		at += w->index.at[i].bytes;
	}
	for (size_t i = 0; i < w->streams.count; i++) {
		const struct open_stream *s = &w->streams.at[i];

		if (known_stream(w, s->number) != s || s->full != (encoder_words(s->encoder) >= CHUNK_WORDS))
			return 0;
		forked += s->forked != 0;
	}
	return at == w->at && forked <= 1;
}
