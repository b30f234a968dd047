/* SPDX-License-Identifier: MIT
 *
 * The format: linux, tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

enum { RECORD_ATTR = 64, RECORD_FINISHED_ROUND = 68, RECORD_FEATURE = 80 };      /* perf's own */
enum { HOST = 3, RELEASE = 4, PROCESSOR = 8, COMMAND = 11, EVENTS = 12 };        /* features */
enum { RECORD_HEAD = 8, MOST_RECORD = UINT16_MAX / 8 * 8, MOST_WORD = 1 << 12 }; /* bytes */

/* A record under construction. */
struct record {
	uint8_t bytes[MOST_RECORD];
	size_t count;
};

/* What does not fit is left out: perf's records are short. */
static void put_bytes(struct record *r, const void *bytes, size_t count)
{
	if (count > sizeof r->bytes - r->count)
		return;
	memcpy(r->bytes + r->count, bytes, count);
	r->count += count;
}

static void put_u32(struct record *r, uint32_t value) { put_bytes(r, &value, sizeof value); }
static void put_u64(struct record *r, uint64_t value) { put_bytes(r, &value, sizeof value); }

static void begin_record(struct record *r, uint32_t type)
{
	r->count = 0;
	put_u32(r, type);
	put_u32(r, 0); /* its size goes here */
}

static int end_record(struct record *r, FILE *out)
{
	static const uint8_t zeros[8];
	uint16_t size;

	put_bytes(r, zeros, (8 - r->count % 8) % 8);
	size = (uint16_t)r->count;
	memcpy(r->bytes + 6, &size, sizeof size);
	return fwrite(r->bytes, 1, r->count, out) == r->count ? 0 : -1;
}

/* A text with its length before it, which counts the zeros behind it up to a multiple of 64. */
static void put_text(struct record *r, const char *text)
{
	static const uint8_t zeros[64];
	const size_t n = strnlen(text, MOST_WORD), padded = (n + 64) / 64 * 64;

	if (4 + padded > sizeof r->bytes - r->count)
		return;
	put_u32(r, (uint32_t)padded);
	put_bytes(r, text, n);
	put_bytes(r, zeros, padded - n);
}

static int put_feature(struct record *r, uint64_t feature, const char *text, FILE *out)
{
	begin_record(r, RECORD_FEATURE);
	put_u64(r, feature);
	put_text(r, text);
	return end_record(r, out);
}

static int put_command(struct record *r, char *const *command, FILE *out)
{
	uint32_t count = 0;

	begin_record(r, RECORD_FEATURE);
	put_u64(r, COMMAND);
	while (command[count] && (size_t)(count + 1) * (MOST_WORD + 4 + 64) < sizeof r->bytes)
		count++;
	put_u32(r, count);
	for (uint32_t i = 0; i < count; i++)
		put_text(r, command[i]);
	return end_record(r, out);
}

static int put_event(struct record *r, const struct nm_sampled_event *event, FILE *out)
{
	begin_record(r, RECORD_FEATURE);
	put_u64(r, EVENTS);
	put_u32(r, 1);
	put_u32(r, sizeof event->attr);
	put_bytes(r, &event->attr, sizeof event->attr);
	put_u32(r, 0); /* numbers: only one event needs none */
	put_text(r, event->name);
	return end_record(r, out);
}

/* "Intel(R) ...", or "". */
static void read_processor(char *line, size_t room)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	const char *value = NULL;

	while (in && !value && fgets(line, (int)room, in))
		if (!strncmp(line, "model name", 10))
			value = strchr(line, ':');
	if (in)
		fclose(in);
	if (!value) {
		*line = '\0';
		return;
	}
	memmove(line, value + 2, strlen(value + 2) + 1);
	line[strcspn(line, "\n")] = '\0';
}

static int put_machine(struct record *r, FILE *out)
{
	struct utsname machine;
	char processor[256];

	uname(&machine);
	read_processor(processor, sizeof processor);
	return put_feature(r, HOST, machine.nodename, out) || put_feature(r, RELEASE, machine.release, out) ||
		       (*processor && put_feature(r, PROCESSOR, processor, out))
		   ? -1
		   : 0;
}

int nm_stream_begin(FILE *out, const struct nm_sampled_event *event, char *const *command,
		    struct nm_error *err)
{
	struct record *r = malloc(sizeof *r);
	const uint64_t head_bytes = 16;
	int failed;

	if (!r)
		return nm_fail_memory(err);
	fwrite("PERFILE2", 1, 8, out);
	fwrite(&head_bytes, 1, 8, out);
	begin_record(r, RECORD_ATTR);
	put_bytes(r, &event->attr, sizeof event->attr);
	failed = end_record(r, out) || put_machine(r, out) || put_command(r, command, out) ||
		 put_event(r, event, out);
	free(r);
	return failed ? nm_fail_errno(err, "cannot write samples") : 0;
}

int nm_stream_round(FILE *out)
{
	const struct perf_event_header head = {.type = RECORD_FINISHED_ROUND, .size = RECORD_HEAD};

	return fwrite(&head, 1, sizeof head, out) == sizeof head ? 0 : -1;
}

/* What the kernel's records end with: process and thread, time, processor, number of the event. */
static int end_with(struct record *r, pid_t process, uint64_t time, FILE *out)
{
	static const uint8_t zeros[16];

	put_bytes(r, zeros, (8 - r->count % 8) % 8);
	put_u32(r, (uint32_t)process);
	put_u32(r, (uint32_t)process);
	put_u64(r, time);
	put_bytes(r, zeros, sizeof zeros);
	return end_record(r, out);
}

int nm_stream_name(FILE *out, pid_t process, const char *name, uint64_t time)
{
	struct record *r = malloc(sizeof *r);
	int failed;

	if (!r)
		return -1;
	begin_record(r, PERF_RECORD_COMM);
	put_u32(r, (uint32_t)process);
	put_u32(r, (uint32_t)process);
	put_bytes(r, name, strnlen(name, MOST_WORD) + 1);
	failed = end_with(r, process, time, out);
	free(r);
	return failed;
}

int nm_stream_map(FILE *out, pid_t process, const struct nm_stream_map *map, uint64_t time)
{
	struct record *r = malloc(sizeof *r);
	int failed;

	if (!r)
		return -1;
	begin_record(r, PERF_RECORD_MMAP2);
	put_u32(r, (uint32_t)process);
	put_u32(r, (uint32_t)process);
	put_u64(r, map->address);
	put_u64(r, map->bytes);
	put_u64(r, map->offset);
	for (int i = 0; i < 3; i++) /* its file's numbers */
		put_u64(r, 0);
	put_u32(r, map->is_executable ? PROT_READ | PROT_EXEC : PROT_READ);
	put_u32(r, MAP_PRIVATE);
	put_bytes(r, map->path, strnlen(map->path, MOST_WORD) + 1);
	failed = end_with(r, process, time, out);
	free(r);
	return failed;
}

/* It ends as the kernel's records do: thread, time, processor, number of the event. */
int nm_stream_lost(FILE *out, uint64_t lost)
{
	const struct {
		struct perf_event_header head;
		uint64_t id, lost, thread, time, processor, identifier;
	} record = {.head = {.type = PERF_RECORD_LOST, .size = sizeof record}, .lost = lost};

	return fwrite(&record, 1, sizeof record, out) == sizeof record ? 0 : -1;
}
