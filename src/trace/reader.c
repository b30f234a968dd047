/* SPDX-License-Identifier: MIT
 *
 * reader.c - reads a trace (trace.h).
 *
 * The index is believed only as far as each chunk's own header agrees; without one the headers are walked from the
 * start up to the first that is not whole.  Damage within a chunk shows by zstd's checksum, or at the latest in the
 * decoder.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "chunk.h"

/* A chunk of CHUNK_WORDS takes some 32 MB unpacked.  More than this in one part is damage. */
#define PART_MAX (1u << 30)

struct nm_trace {
	int fd;
	uint64_t size;
	struct nm_vec(struct nm_trace_chunk) chunks;
	char fault[160];
	int cut;
	ZSTD_DCtx *zstd;
	struct nm_bytes packed, parts[NM_PARTS];
	struct nm_decoder *decoder;
	struct nm_words words;    /* of the last piece */
	struct nm_vec(char) info; /* the value that was asked for last */
	const struct nm_trace_chunk *reading;
};

int nm_trace_probe(const uint8_t *bytes, size_t count)
{
	const uint64_t magic = NM_TRACE_MAGIC;

	return count >= sizeof magic && !memcmp(bytes, &magic, sizeof magic);
}

void nm_trace_free(struct nm_trace *t)
{
	if (!t)
		return;
	if (t->fd >= 0)
		close(t->fd);
	for (unsigned i = 0; i < NM_PARTS; i++)
		nm_vec_free(&t->parts[i]);
	nm_vec_free(&t->packed);
	nm_vec_free(&t->chunks);
	nm_vec_free(&t->info);
	nm_vec_free(&t->words);
	nm_decoder_free(t->decoder);
	ZSTD_freeDCtx(t->zstd);
	free(t);
}

const char *nm_trace_fault(const struct nm_trace *t) { return t->fault[0] ? t->fault : NULL; }

int nm_trace_is_cut(const struct nm_trace *t) { return t->cut; }

const struct nm_trace_chunk *nm_trace_chunks(const struct nm_trace *t, size_t *ret_count)
{
	*ret_count = t->chunks.count;
	return t->chunks.at;
}

/* ---- bytes ---- */

/* All of them or NM_EFORMAT. */
static int read_at(struct nm_trace *t, uint64_t offset, void *to, size_t count)
{
	char *at = to;

	if (offset > t->size || count > t->size - offset)
		return NM_EFORMAT;
	while (count) {
		ssize_t n = pread(t->fd, at, count, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NM_EFORMAT;
		at += n;
		offset += (uint64_t)n;
		count -= (size_t)n;
	}
	return 0;
}

static int read_head(struct nm_trace *t, uint64_t offset, struct chunk_head *head)
{
	if (read_at(t, offset, head, sizeof *head) || head->check != chunk_check(head) ||
	    head->kind < NM_TRACE_WORDS || head->kind > NM_TRACE_INDEX ||
	    chunk_payload(head) > t->size - offset - sizeof *head)
		return NM_EFORMAT;
	for (unsigned i = 0; i < NM_PARTS; i++)
		if (head->parts[i].raw > PART_MAX)
			return NM_EFORMAT;
	return 0;
}

/* One part of a chunk, unpacked. */
static int unpack(struct nm_trace *t, uint64_t offset, const struct chunk_head *head, unsigned part)
{
	struct nm_bytes *to = &t->parts[part];
	size_t n, packed = head->parts[part].packed, raw = head->parts[part].raw;

	to->count = t->packed.count = 0;
	if (nm_vec_reserve(&t->packed, packed + 1) || nm_vec_reserve(to, raw + NM_PART_SLACK))
		return NM_ENOMEM;
	if (!raw)
		return 0;
	if (read_at(t, offset, t->packed.at, packed))
		return NM_EFORMAT;
	n = ZSTD_decompressDCtx(t->zstd, to->at, raw, t->packed.at, packed);
	to->count = raw;
	return ZSTD_isError(n) || n != raw ? NM_EFORMAT : 0;
}

static int damaged(const struct nm_trace_chunk *chunk, int code, struct nm_error *err)
{
	return code == NM_ENOMEM ? nm_fail(err, code, "out of memory")
				 : nm_fail(err, NM_EFORMAT, "the trace is damaged in the chunk at byte %llu",
					   (unsigned long long)chunk->offset);
}

/* ---- opening ---- */

static int add_chunk(struct nm_trace *t, uint64_t offset, const struct chunk_head *head)
{
	return nm_vec_push(&t->chunks, (struct nm_trace_chunk){(enum nm_trace_kind)head->kind, head->stream,
							       offset, sizeof *head + chunk_payload(head),
							       head->words, head->references});
}

/* From the index; 0 if all of it fits. */
static int read_index(struct nm_trace *t)
{
	struct file_tail tail;
	struct chunk_head head;
	struct index_entry e;
	uint64_t at = sizeof(struct file_head);

	if (t->size < sizeof tail || read_at(t, t->size - sizeof tail, &tail, sizeof tail) ||
	    tail.magic != NM_TRACE_LAST || read_head(t, tail.index, &head) || head.kind != NM_TRACE_INDEX ||
	    unpack(t, tail.index + sizeof head, &head, 0) || t->parts[0].count % sizeof e)
		return NM_EFORMAT;
	for (size_t i = 0; i < t->parts[0].count / sizeof e; i++) {
		memcpy(&e, t->parts[0].at + i * sizeof e, sizeof e);
		if (e.offset != at || e.bytes > tail.index - at)
			return NM_EFORMAT;
		at += e.bytes;
		if (nm_vec_push(&t->chunks,
				(struct nm_trace_chunk){(enum nm_trace_kind)e.kind, e.stream, e.offset,
							e.bytes, e.words, e.references}))
			return NM_ENOMEM;
	}
	return at == tail.index ? 0 : NM_EFORMAT;
}

static int scan(struct nm_trace *t)
{
	uint64_t at = sizeof(struct file_head);
	struct chunk_head head;

	t->chunks.count = 0;
	while (at < t->size && !read_head(t, at, &head) && head.kind != NM_TRACE_INDEX) {
		if (add_chunk(t, at, &head))
			return NM_ENOMEM;
		at += sizeof head + chunk_payload(&head);
	}
	t->cut = at < t->size;
	if (t->cut)
		snprintf(t->fault, sizeof t->fault, "it is damaged or cut off at byte %llu of %llu",
			 (unsigned long long)at, (unsigned long long)t->size);
	else
		snprintf(t->fault, sizeof t->fault,
			 "it has no end: it is still being written, or was cut off");
	return 0;
}

static int read_start(struct nm_trace *t, const char *path, struct nm_error *err)
{
	struct file_head head;
	struct stat st;

	if (t->fd < 0 || fstat(t->fd, &st))
		return nm_fail_errno(err, "cannot read %s", path);
	t->size = (uint64_t)st.st_size;
	if (!S_ISREG(st.st_mode))
		return nm_fail(err, NM_EINVAL, "%s is no regular file: a trace is not read from a pipe",
			       path);
	if (read_at(t, 0, &head, sizeof head) || head.magic != NM_TRACE_MAGIC)
		return nm_fail(err, NM_EFORMAT, "%s is no trace", path);
	if (head.version < NM_TRACE_VERSION)
		return nm_fail(err, NM_EVERSION,
			       "%s has trace format version %u, this program reads %u only: record it anew",
			       path, head.version, NM_TRACE_VERSION);
	if (head.version > NM_TRACE_VERSION)
		return nm_fail(err, NM_EVERSION,
			       "%s has trace format version %u, this program reads up to %u", path,
			       head.version, NM_TRACE_VERSION);
	return 0;
}

int nm_trace_open(struct nm_trace **ret_trace, const char *path, struct nm_error *err)
{
	struct nm_trace *t = calloc(1, sizeof *t);
	int status;

	if (!t)
		return nm_fail(err, NM_ENOMEM, "out of memory");
	t->fd = open(path, O_RDONLY | O_CLOEXEC);
	status = read_start(t, path, err);
	if (!status)
		status = nm_decoder_new(&t->decoder, err);
	t->zstd = ZSTD_createDCtx();
	if (!status && (!t->zstd || (read_index(t) && scan(t))))
		status = nm_fail(err, NM_ENOMEM, "out of memory");
	if (status) {
		nm_trace_free(t);
		return status;
	}
	*ret_trace = t;
	return 0;
}

/* ---- chunks ---- */

int nm_trace_payload(struct nm_trace *t, const struct nm_trace_chunk *chunk, const uint8_t **ret_bytes,
		     size_t *ret_count, struct nm_error *err)
{
	struct chunk_head head;
	int status = read_head(t, chunk->offset, &head);

	if (!status)
		status = unpack(t, chunk->offset + sizeof head, &head, 0);
	if (status)
		return damaged(chunk, status, err);
	*ret_bytes = t->parts[0].at;
	*ret_count = t->parts[0].count;
	return 0;
}

int trace_raw(struct nm_trace *t, const struct nm_trace_chunk *chunk, struct chunk_head *ret_head,
	      const uint8_t **ret_bytes, struct nm_error *err)
{
	int status = read_head(t, chunk->offset, ret_head);
	size_t bytes = status ? 0 : (size_t)chunk_payload(ret_head);

	t->packed.count = 0;
	if (!status && nm_vec_reserve(&t->packed, bytes + 1))
		status = NM_ENOMEM;
	if (!status)
		status = read_at(t, chunk->offset + sizeof *ret_head, t->packed.at, bytes);
	if (status)
		return damaged(chunk, status, err);
	*ret_bytes = t->packed.at;
	return 0;
}

const char *nm_trace_info(struct nm_trace *t, const char *key)
{
	size_t n = strlen(key) + 1, count = 0;
	const uint8_t *bytes = NULL;

	for (size_t i = t->chunks.count; i-- > 0;) {
		if (t->chunks.at[i].kind != NM_TRACE_INFO ||
		    nm_trace_payload(t, &t->chunks.at[i], &bytes, &count, NULL) || count <= n ||
		    bytes[count - 1] || memcmp(bytes, key, n))
			continue;
		t->info.count = 0;
		if (nm_vec_reserve(&t->info, count - n))
			return NULL;
		memcpy(t->info.at, bytes + n, count - n);
		return t->info.at;
	}
	return NULL;
}

int nm_trace_begin(struct nm_trace *t, const struct nm_trace_chunk *chunk, struct nm_error *err)
{
	struct chunk_head head;
	uint64_t at = chunk->offset + sizeof head;
	int status = read_head(t, chunk->offset, &head);

	for (unsigned i = 0; i < NM_PARTS && !status; i++) {
		status = unpack(t, at, &head, i);
		at += head.parts[i].packed;
	}
	if (status || head.kind != NM_TRACE_WORDS)
		return damaged(chunk, status, err);
	t->reading = chunk;
	status = nm_decoder_begin(t->decoder, t->parts, head.words, err);
	return status ? damaged(chunk, status, err) : 0;
}

int nm_trace_take(struct nm_trace *t, struct nm_words *words, struct nm_error *err)
{
	int status = nm_decoder_next(t->decoder, words, err);

	return status < 0 ? damaged(t->reading, status, err) : status;
}

int nm_trace_next(struct nm_trace *t, const uint64_t **ret_words, size_t *ret_count, struct nm_error *err)
{
	int status = nm_trace_take(t, &t->words, err);

	*ret_words = t->words.at;
	*ret_count = t->words.count;
	return status;
}
