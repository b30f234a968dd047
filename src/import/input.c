/* SPDX-License-Identifier: MIT
 *
 * input.c - see input.h. Two buffers: bytes of the file, and unpacked bytes. Bytes of a file that is not
 * packed are copied from one to the other.
 */
#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "tar.h"
#include "unpack.h"

enum { ROOM = 1 << 18 };

struct nm_input {
	int fd;
	uint8_t raw[ROOM], plain[ROOM + 1];
	size_t raw_at, raw_end;     /* in raw: bytes to be unpacked */
	size_t plain_at, plain_end; /* in plain: unpacked bytes */
	uint64_t offset, line;      /* of plain[0]; lines returned */
	uint64_t given;             /* offset of the bytes returned last */
	/* the compression is known; the file has ended; everything is unpacked */
	int identified, raw_done, done;
	int joint;          /* between two compressed pieces */
	char line_end;      /* of text; 0: not known yet */
	int looked, is_tar; /* whether it is a tar archive is known; it is one */
	struct nm_tar tar;
	const char *tar_fault;
	const struct nm_unpacker *unpacker;
	void *state;
};

int input_take(struct nm_input **ret_input, const struct nm_peeked_input *peeked, struct nm_error *err)
{
	struct nm_input *in = calloc(1, sizeof *in);

	if (!in) {
		close(peeked->fd);
		return nm_fail_memory(err);
	}
	in->fd = peeked->fd;
	memcpy(in->raw, peeked->bytes, peeked->count);
	in->raw_end = peeked->count;
	*ret_input = in;
	return 0;
}

int input_open(struct nm_input **ret_input, const char *path, struct nm_error *err)
{
	struct nm_peeked_input peeked;
	int status = nm_peek_input(&peeked, path, err);

	return status ? status : input_take(ret_input, &peeked, err);
}

void input_close(struct nm_input *in)
{
	if (!in)
		return;
	if (in->state)
		in->unpacker->end(in->state);
	close(in->fd);
	free(in);
}

uint64_t input_line_number(const struct nm_input *in) { return in->line; }
uint64_t input_offset(const struct nm_input *in) { return in->given; }

/* ---- filling ---- */

static int fill_raw(struct nm_input *in, struct nm_error *err)
{
	ssize_t n;

	if (in->raw_at) {
		memmove(in->raw, in->raw + in->raw_at, in->raw_end - in->raw_at);
		in->raw_end -= in->raw_at;
		in->raw_at = 0;
	}
	if (in->raw_done || in->raw_end == ROOM)
		return 0;
	do
		n = read(in->fd, in->raw + in->raw_end, ROOM - in->raw_end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return nm_fail_errno(err, "cannot read");
	in->raw_done = n == 0;
	in->raw_end += (size_t)n;
	return 0;
}

/* Detects compression from the first bytes of the file. */
static int detect_compression(struct nm_input *in, struct nm_error *err)
{
	int status = 0;

	while (!status && !in->raw_done && in->raw_end < 8)
		status = fill_raw(in, err);
	if (status)
		return status;
	in->unpacker = unpacker_for(in->raw, in->raw_end);
	if (in->unpacker && !(in->state = in->unpacker->begin()))
		return nm_fail_memory(err);
	return 0;
}

static int unpack_input(struct nm_input *in, struct nm_error *err)
{
	struct nm_unpack_step s = {in->raw + in->raw_at, in->raw + in->raw_end, in->plain + in->plain_end,
				   in->plain + ROOM, in->raw_done};
	int status = in->unpacker->step(in->state, &s);

	in->raw_at = (size_t)(s.in - in->raw);
	in->plain_end = (size_t)(s.out - in->plain);
	in->joint = status == 1;
	if (status < 0)
		return nm_fail(err, NM_EFORMAT,
			       "what %s has packed is damaged or cut off, at byte %llu unpacked",
			       in->unpacker->name, (unsigned long long)(in->offset + in->plain_end));
	return 0;
}

static void copy_input(struct nm_input *in)
{
	size_t n = in->raw_end - in->raw_at, room = ROOM - in->plain_end;

	n = n < room ? n : room;
	memcpy(in->plain + in->plain_end, in->raw + in->raw_at, n);
	in->plain_end += n;
	in->raw_at += n;
}

/* Keeps of the bytes from `from` on what is in the archive's file. */
static int filter_tar(struct nm_input *in, size_t from, struct nm_error *err)
{
	in->plain_end = from + tar_filter(&in->tar, in->plain + from, in->plain_end - from, &in->tar_fault);
	return in->tar_fault ? nm_fail(err, NM_EFORMAT, "%s", in->tar_fault) : 0;
}

/* Unpacks more into plain. */
static int fill_buffer(struct nm_input *in, struct nm_error *err)
{
	size_t filled;
	int status = 0;

	if (in->plain_at) {
		memmove(in->plain, in->plain + in->plain_at, in->plain_end - in->plain_at);
		in->offset += in->plain_at;
		in->plain_end -= in->plain_at;
		in->plain_at = 0;
	}
	if (in->tar_fault)
		return nm_fail(err, NM_EFORMAT, "%s", in->tar_fault);
	filled = in->plain_end;
	if (!in->identified && (status = detect_compression(in, err)))
		return status;
	in->identified = 1;
	if (in->raw_at == in->raw_end && (status = fill_raw(in, err)))
		return status;
	if (in->raw_done && in->raw_at == in->raw_end && (!in->unpacker || in->joint)) {
		in->done = 1;
		if (in->is_tar && in->tar.data)
			in->tar_fault = "the tar archive is cut off";
		return 0;
	}
	if (!in->unpacker)
		copy_input(in);
	else if ((status = unpack_input(in, err)))
		return status;
	if (in->is_tar)
		status = filter_tar(in, filled, err);
	return status;
}

/* Looks at the first block of what is unpacked. */
static int find_tar(struct nm_input *in, struct nm_error *err)
{
	in->looked = 1;
	while (!in->done && in->plain_end < NM_TAR_BLOCK) {
		int status = fill_buffer(in, err);

		if (status)
			return status;
	}
	in->is_tar = import_is_tar(in->plain, in->plain_end);
	return in->is_tar ? filter_tar(in, 0, err) : 0;
}

/* Fills plain up to `count` bytes, or to the end. */
static int want_bytes(struct nm_input *in, size_t count, struct nm_error *err)
{
	int status = in->looked ? 0 : find_tar(in, err);

	while (!status && !in->done && in->plain_end - in->plain_at < count)
		status = fill_buffer(in, err);
	return status;
}

/* ---- giving ---- */

int input_peek(struct nm_input *in, size_t count, const uint8_t **ret_bytes, size_t *ret_count,
	       struct nm_error *err)
{
	int status = want_bytes(in, count, err);
	size_t there = in->plain_end - in->plain_at;

	if (status && !there)
		return status;
	*ret_bytes = in->plain + in->plain_at;
	*ret_count = there < count ? there : count;
	return 0;
}

char input_line_end(const uint8_t *bytes, size_t count)
{
	return !memchr(bytes, '\n', count) && memchr(bytes, '\r', count) ? '\r' : '\n';
}

/* Looks ahead for the end of the first line. */
static int find_line_end(struct nm_input *in, struct nm_error *err)
{
	const uint8_t *bytes;
	size_t count;
	int status = input_peek(in, NM_INPUT_AHEAD, &bytes, &count, err);

	if (!status)
		in->line_end = input_line_end(bytes, count);
	return status;
}

int input_line(struct nm_input *in, char **ret_line, struct nm_error *err)
{
	char *line, *end;
	size_t looked = 0, there;
	int status = in->line_end ? 0 : find_line_end(in, err);

	if (status)
		return status;
	for (;;) {
		line = (char *)in->plain + in->plain_at;
		there = in->plain_end - in->plain_at;
		end = memchr(line + looked, in->line_end, there - looked);
		if (end || in->done)
			break;
		if (there > NM_INPUT_AHEAD)
			return nm_fail(err, NM_EFORMAT, "line %llu is too long",
				       (unsigned long long)in->line + 1);
		looked = there;
		status = fill_buffer(in, err);
		if (status)
			return status;
	}
	if (!there)
		return in->tar_fault ? nm_fail(err, NM_EFORMAT, "%s", in->tar_fault) : 0;
	end = end ? end : line + there;
	in->given = in->offset + in->plain_at;
	in->plain_at += (size_t)(end - line) + (end < line + there);
	in->line++;
	if (end > line && end[-1] == '\r')
		end--;
	*end = '\0';
	*ret_line = line;
	return 1;
}

int input_bytes(struct nm_input *in, size_t count, const uint8_t **ret_bytes, struct nm_error *err)
{
	int status = want_bytes(in, count, err);
	size_t there = in->plain_end - in->plain_at;

	if (status)
		return status;
	in->given = in->offset + in->plain_at;
	if (!there)
		return in->tar_fault ? nm_fail(err, NM_EFORMAT, "%s", in->tar_fault) : 0;
	if (there < count)
		return nm_fail(err, NM_EFORMAT, "cut off within the record at byte %llu",
			       (unsigned long long)in->given);
	*ret_bytes = in->plain + in->plain_at;
	in->plain_at += count;
	return 1;
}
