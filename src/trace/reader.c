/* SPDX-License-Identifier: MIT
 *
 * reader.c - reads a trace (trace.h).
 *
 * The index is used only if its entries follow one another without a gap, and each chunk's own header is
 * checked when it is read. Without an index the headers are walked from the start up to the first that is not
 * whole. Damage within a chunk is found by zstd's checksum, or at the latest by the decoder.
 *
 * Of a pipe one chunk at a time is kept, with its header, and addressed by its offset as in a file. Its index
 * is skipped: it comes too late.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "files.h"
#include "format.h"

/* A chunk of CHUNK_WORDS takes some 32 MB unpacked. More than this in one part is damage. */
#define PART_MAX (1u << 30)

/* bytes by which the buffer grows at a time: a pipe's headers are not trusted */
enum { HOLD_STEP = 1 << 20 };

struct nm_trace {
	int fd;
	int piped;
	uint64_t size;              /* of a pipe: so far */
	struct nm_chunk_bytes held; /* of a pipe: its last bytes */
	int ended;                  /* of a pipe: there is no further chunk */
	struct nm_vec(struct nm_trace_chunk) chunks;
	struct nm_vec(char) facts; /* keys and values */
	char fault[160];
	int cut;
	ZSTD_DCtx *zstd;
	struct nm_chunk_bytes packed, parts[NM_PARTS];
	struct nm_chunk_decoder *decoder;
	struct nm_words words; /* of the last piece */
	struct nm_trace_chunk reading;
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
	nm_vec_free(&t->held);
	nm_vec_free(&t->chunks);
	nm_vec_free(&t->facts);
	nm_vec_free(&t->words);
	decoder_free(t->decoder);
	ZSTD_freeDCtx(t->zstd);
	free(t);
}

const char *nm_trace_fault(const struct nm_trace *t) { return t->fault[0] ? t->fault : NULL; }

int nm_trace_is_cut(const struct nm_trace *t) { return t->cut; }

int nm_trace_is_piped(const struct nm_trace *t) { return t->piped; }

/* ---- bytes ---- */

/* All of them or NM_EFORMAT. */
static int read_at(struct nm_trace *t, uint64_t offset, void *to, size_t count)
{
	char *at = to;

	if (offset > t->size || count > t->size - offset)
		return NM_EFORMAT;
	if (t->piped) {
		if (t->size - offset > t->held.count)
			return NM_EFORMAT;
		memcpy(at, t->held.at + t->held.count - (t->size - offset), count);
		return 0;
	}
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

static int is_sound(const struct chunk_header *head)
{
	for (unsigned i = 0; i < NM_PARTS; i++)
		if (head->parts[i].raw > PART_MAX || head->parts[i].packed > ZSTD_COMPRESSBOUND(PART_MAX))
			return 0;
	return head->check == chunk_check(head) && head->kind >= NM_TRACE_WORDS &&
	       head->kind <= NM_TRACE_INDEX;
}

static int read_header(struct nm_trace *t, uint64_t offset, struct chunk_header *head)
{
	return read_at(t, offset, head, sizeof *head) || !is_sound(head) ||
		       chunk_payload(head) > t->size - offset - sizeof *head
		   ? NM_EFORMAT
		   : 0;
}

/* One part of a chunk, unpacked. */
static int unpack_part(struct nm_trace *t, uint64_t offset, const struct chunk_header *head, unsigned part)
{
	struct nm_chunk_bytes *to = &t->parts[part];
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

static int fail_damaged(const struct nm_trace_chunk *chunk, int status, struct nm_error *err)
{
	return status == NM_ENOMEM
		   ? nm_fail_memory(err)
		   : nm_fail(err, NM_EFORMAT, "the trace is damaged in the chunk at byte %llu",
			     (unsigned long long)chunk->offset);
}

/* ---- opening ---- */

/* A key and its value, each ended by NUL. */
static int is_fact(const uint8_t *bytes, size_t count)
{
	const uint8_t *value = memchr(bytes, '\0', count);
	size_t left = value ? count - (size_t)(++value - bytes) : 0;

	return left && memchr(value, '\0', left) == value + left - 1;
}

static int add_chunk(struct nm_trace *t, const struct nm_trace_chunk *chunk)
{
	const uint8_t *bytes;
	size_t count;

	if (nm_vec_push(&t->chunks, *chunk))
		return NM_ENOMEM;
	if (chunk->kind != NM_TRACE_INFO || nm_trace_payload(t, chunk, &bytes, &count, NULL) ||
	    !is_fact(bytes, count))
		return 0;
	if (nm_vec_reserve(&t->facts, count))
		return NM_ENOMEM;
	memcpy(t->facts.at + t->facts.count, bytes, count);
	t->facts.count += count;
	return 0;
}

static struct nm_trace_chunk chunk_of(uint64_t offset, const struct chunk_header *head)
{
	return (struct nm_trace_chunk){(enum nm_trace_kind)head->kind,     head->stream, offset,
				       sizeof *head + chunk_payload(head), head->words,  head->references};
}

/* From the index; 0 if all of it fits. */
static int read_index(struct nm_trace *t)
{
	struct file_trailer tail;
	struct chunk_header head;
	struct nm_chunk_bytes entries;
	struct index_entry e;
	uint64_t at = sizeof(struct file_header);
	int status = 0;

	if (t->size < sizeof tail || read_at(t, t->size - sizeof tail, &tail, sizeof tail) ||
	    tail.magic != NM_TRACE_LAST || read_header(t, tail.index, &head) || head.kind != NM_TRACE_INDEX ||
	    unpack_part(t, tail.index + sizeof head, &head, 0) || t->parts[0].count % sizeof e)
		return NM_EFORMAT;
	entries = t->parts[0];
	t->parts[0] = (struct nm_chunk_bytes){0};
	for (size_t i = 0; i < entries.count / sizeof e && !status; i++) {
		memcpy(&e, entries.at + i * sizeof e, sizeof e);
		if (e.offset != at || e.bytes > tail.index - at)
			status = NM_EFORMAT;
		else
			status =
			    add_chunk(t, &(struct nm_trace_chunk){(enum nm_trace_kind)e.kind, e.stream,
								  e.offset, e.bytes, e.words, e.references});
		at += e.bytes;
	}
	nm_vec_free(&entries);
	return status ? status : at == tail.index ? 0 : NM_EFORMAT;
}

static void tell_cut(struct nm_trace *t, uint64_t at)
{
	t->cut = 1;
	if (t->piped)
		snprintf(t->fault, sizeof t->fault, "it is damaged or cut off behind byte %llu",
			 (unsigned long long)at);
	else
		snprintf(t->fault, sizeof t->fault, "it is damaged or cut off at byte %llu of %llu",
			 (unsigned long long)at, (unsigned long long)t->size);
}

static void tell_endless(struct nm_trace *t)
{
	snprintf(t->fault, sizeof t->fault, "it has no end: it is still being written, or was cut off");
}

static int scan_chunks(struct nm_trace *t)
{
	uint64_t at = sizeof(struct file_header);
	struct chunk_header head;
	struct nm_trace_chunk chunk;

	t->chunks.count = t->facts.count = 0;
	while (at < t->size && !read_header(t, at, &head) && head.kind != NM_TRACE_INDEX) {
		chunk = chunk_of(at, &head);
		if (add_chunk(t, &chunk))
			return NM_ENOMEM;
		at += chunk.bytes;
	}
	if (at < t->size)
		tell_cut(t, at);
	else
		tell_endless(t);
	return 0;
}

/* A pipe, or a file that somebody has read from already, is read on from where it is. */
static int read_start(struct nm_trace *t, const struct nm_peeked_input *peeked, const char *path,
		      struct nm_error *err)
{
	struct file_header head;
	struct stat st;

	if (fstat(t->fd, &st))
		return nm_fail_errno(err, "cannot read %s", path);
	t->piped = !S_ISREG(st.st_mode) || lseek(t->fd, 0, SEEK_CUR) != (off_t)peeked->count;
	t->size = t->piped ? peeked->count : (uint64_t)st.st_size;
	_Static_assert(sizeof head == NM_PEEK_BYTES, "a trace is known by its head");
	memcpy(&head, peeked->bytes, sizeof head);
	if (peeked->count < sizeof head || head.magic != NM_TRACE_MAGIC)
		return nm_fail(err, NM_EFORMAT, "%s is no trace", path);
	if (head.version != NM_TRACE_VERSION)
		return nm_fail(err, NM_EVERSION, "%s has trace format version %u, this program reads %u",
			       path, head.version, NM_TRACE_VERSION);
	return 0;
}

int nm_trace_take(struct nm_trace **ret_trace, const struct nm_peeked_input *peeked, const char *path,
		  struct nm_error *err)
{
	struct nm_trace *t = calloc(1, sizeof *t);
	int status;

	if (!t) {
		close(peeked->fd);
		return nm_fail_memory(err);
	}
	t->fd = peeked->fd;
	status = read_start(t, peeked, path, err);
	if (!status)
		status = decoder_new(&t->decoder, err);
	t->zstd = ZSTD_createDCtx();
	if (!status && (!t->zstd || (!t->piped && read_index(t) && scan_chunks(t))))
		status = nm_fail_memory(err);
	if (status) {
		nm_trace_free(t);
		return status;
	}
	*ret_trace = t;
	return 0;
}

int nm_trace_open(struct nm_trace **ret_trace, const char *path, struct nm_error *err)
{
	struct nm_peeked_input peeked;
	int status = nm_peek_input(&peeked, path, err);

	return status ? status : nm_trace_take(ret_trace, &peeked, path, err);
}

/* ---- a pipe ---- */

/* Holds `count` bytes more. 1 if they came, 0 if the pipe ended before, or a code. */
static int hold_bytes(struct nm_trace *t, uint64_t count, struct nm_error *err)
{
	while (count) {
		size_t step = count < HOLD_STEP ? (size_t)count : HOLD_STEP, n;
		int status;

		if (nm_vec_reserve(&t->held, step))
			return nm_fail_memory(err);
		status = nm_read_full(t->fd, t->held.at + t->held.count, step, &n, err);
		t->held.count += n;
		t->size += n;
		if (status || n < step)
			return status;
		count -= n;
	}
	return 1;
}

/* Holds the next chunk; 1 if there is one. The index has to be the last. */
static int hold_chunk(struct nm_trace *t, struct chunk_header *head, struct nm_error *err)
{
	const uint64_t at = t->size;
	struct file_trailer tail;
	int status;

	assert(t->piped);
	t->held.count = 0;
	status = hold_bytes(t, sizeof *head, err);
	if (status <= 0 && t->size == at) {
		if (!status)
			tell_endless(t);
		return status;
	}
	if (status > 0) {
		memcpy(head, t->held.at, sizeof *head);
		status = is_sound(head) ? hold_bytes(t, chunk_payload(head), err) : 0;
	}
	if (status > 0 && head->kind != NM_TRACE_INDEX)
		return 1;
	if (status > 0 && (status = hold_bytes(t, sizeof tail, err)) > 0) {
		memcpy(&tail, t->held.at + t->held.count - sizeof tail, sizeof tail);
		if (tail.index == at && tail.magic == NM_TRACE_LAST)
			return 0;
	}
	if (status >= 0)
		tell_cut(t, at);
	return status < 0 ? status : 0;
}

/* 1 and one more chunk, 0 at the end, or a code. */
static int take_chunk(struct nm_trace *t, struct nm_error *err)
{
	const uint64_t at = t->size;
	struct nm_trace_chunk chunk;
	struct chunk_header head;
	int status = t->ended ? 0 : hold_chunk(t, &head, err);

	t->ended = status <= 0;
	if (status <= 0)
		return status;
	chunk = chunk_of(at, &head);
	return add_chunk(t, &chunk) ? nm_fail_memory(err) : 1;
}

/* ---- chunks ---- */

int nm_trace_chunk(struct nm_trace *t, size_t i, struct nm_trace_chunk *ret_chunk, struct nm_error *err)
{
	int status = 1;

	while (t->piped && i >= t->chunks.count && (status = take_chunk(t, err)) > 0)
		;
	if (i >= t->chunks.count)
		return status < 0 ? status : 0;
	*ret_chunk = t->chunks.at[i];
	return 1;
}

int nm_trace_payload(struct nm_trace *t, const struct nm_trace_chunk *chunk, const uint8_t **ret_bytes,
		     size_t *ret_count, struct nm_error *err)
{
	struct chunk_header head;
	int status = read_header(t, chunk->offset, &head);

	if (!status)
		status = unpack_part(t, chunk->offset + sizeof head, &head, 0);
	if (status)
		return fail_damaged(chunk, status, err);
	*ret_bytes = t->parts[0].at;
	*ret_count = t->parts[0].count;
	return 0;
}

int trace_raw(struct nm_trace *t, const struct nm_trace_chunk *chunk, struct chunk_header *ret_head,
	      const uint8_t **ret_bytes, struct nm_error *err)
{
	int status = read_header(t, chunk->offset, ret_head);
	size_t bytes = status ? 0 : (size_t)chunk_payload(ret_head);

	t->packed.count = 0;
	if (!status && nm_vec_reserve(&t->packed, bytes + 1))
		status = NM_ENOMEM;
	if (!status)
		status = read_at(t, chunk->offset + sizeof *ret_head, t->packed.at, bytes);
	if (status)
		return fail_damaged(chunk, status, err);
	*ret_bytes = t->packed.at;
	return 0;
}

const char *nm_trace_info(const struct nm_trace *t, const char *key)
{
	const char *found = NULL;

	for (size_t i = 0; i < t->facts.count;) {
		const char *noted = t->facts.at + i, *value = noted + strlen(noted) + 1;

		if (!strcmp(noted, key))
			found = value;
		i = (size_t)(value - t->facts.at) + strlen(value) + 1;
	}
	return found;
}

int nm_trace_begin(struct nm_trace *t, const struct nm_trace_chunk *chunk, struct nm_error *err)
{
	struct chunk_header head;
	uint64_t at = chunk->offset + sizeof head;
	int status = read_header(t, chunk->offset, &head);

	for (unsigned i = 0; i < NM_PARTS && !status; i++) {
		status = unpack_part(t, at, &head, i);
		at += head.parts[i].packed;
	}
	if (status || head.kind != NM_TRACE_WORDS)
		return fail_damaged(chunk, status, err);
	t->reading = *chunk;
	status = decoder_begin(t->decoder, t->parts, head.words, err);
	return status ? fail_damaged(chunk, status, err) : 0;
}

int nm_trace_words(struct nm_trace *t, struct nm_words *words, struct nm_error *err)
{
	int status = decoder_next(t->decoder, words, err);

	return status < 0 ? fail_damaged(&t->reading, status, err) : status;
}

int nm_trace_next(struct nm_trace *t, const uint64_t **ret_words, size_t *ret_count, struct nm_error *err)
{
	int status = nm_trace_words(t, &t->words, err);

	*ret_words = t->words.at;
	*ret_count = t->words.count;
	return status;
}
