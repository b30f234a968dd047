/* SPDX-License-Identifier: MIT
 *
 * pprof.c - a profile.proto for pprof, compressed: a sample for each line (with its callers, if they are
 * known), with a value for each event and labels for object, process and thread. `pprof -tagroot=object`
 * makes objects frames, and so does the request for objects, innermost.
 *
 * Strings, functions and locations are numbered as they are met and written right then: a message may hold
 * its repeated fields in any mixture, and only the order within a field counts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "export_priv.h"
#include "protobuf.h"

/* ---- gzip: a stream into a file that is open already, which zlib's gzopen would want to own. The header holds no
 * time, so equal contents give equal files. ---- */

struct gzip {
	z_stream z;
	FILE *out;
	unsigned char buffer[65536];
};

enum { WINDOW = 15, GZIP = 16, MEMORY = 8 }; /* zlib's defaults, with a gzip header */

static struct gzip *gzip_new(FILE *out)
{
	struct gzip *gzip = calloc(1, sizeof *gzip);

	if (gzip && deflateInit2(&gzip->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW + GZIP, MEMORY,
				 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return NULL;
	}
	if (gzip)
		gzip->out = out;
	return gzip;
}

static void deflate_pending(struct gzip *gzip, int flush)
{
	do {
		gzip->z.next_out = gzip->buffer;
		gzip->z.avail_out = sizeof gzip->buffer;
		deflate(&gzip->z, flush);
		fwrite(gzip->buffer, 1, sizeof gzip->buffer - gzip->z.avail_out, gzip->out);
	} while (!gzip->z.avail_out);
}

static void gzip_write(struct gzip *gzip, const void *bytes, size_t n)
{
	gzip->z.next_in = (unsigned char *)bytes;
	gzip->z.avail_in = (unsigned)n; /* a message of ours is short */
	deflate_pending(gzip, Z_NO_FLUSH);
}

static void gzip_end(struct gzip *gzip)
{
	if (!gzip)
		return;
	gzip->z.avail_in = 0;
	deflate_pending(gzip, Z_FINISH);
	deflateEnd(&gzip->z);
	free(gzip);
}

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STRING = 2,
	LABEL_NUMBER = 3,
	LOCATION_ID = 1,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4
};

struct pprof {
	struct nm_export *x;
	struct gzip *gzip;
	struct nm_map strings, functions, locations;
	struct nm_chain_frames chain; /* of the sample that is written now */
	struct nm_vec(uint64_t) stack;
	int failed; /* memory was exhausted: checked once for all */
};

/* Messages are built in place: the first failure is kept in p->failed. */
#define TRY(p, call) ((p)->failed |= (p)->failed || (call))

/* Writes a field of the profile itself, and frees its content. */
static void put_field(struct pprof *p, unsigned field, struct nm_protobuf *inner)
{
	struct nm_protobuf outer = {0};

	TRY(p, nm_message_inner(&outer, field, inner));
	if (!p->failed)
		gzip_write(p->gzip, outer.at, outer.count);
	nm_vec_free(&outer);
	nm_vec_free(inner);
}

static void put_number(struct pprof *p, unsigned field, uint64_t value)
{
	struct nm_protobuf outer = {0};

	TRY(p, nm_message_number(&outer, field, value));
	if (!p->failed)
		gzip_write(p->gzip, outer.at, outer.count);
	nm_vec_free(&outer);
}

/* The index of a string; the table's first is "". */
static uint64_t string_index(struct pprof *p, const char *text)
{
	struct nm_protobuf content = {0};
	int is_new = 0;
	uint64_t id = 1;

	text = nm_intern(&p->x->pool, text);
	TRY(p, !text || nm_export_id(&p->strings, text, &id, &is_new));
	if (is_new) {
		TRY(p, nm_vec_reserve(&content, strlen(text) + 1));
		if (!p->failed)
			memcpy(content.at, text, content.count = strlen(text));
		put_field(p, PROFILE_STRING_TABLE, &content);
	}
	return id - 1;
}

static uint64_t function_id(struct pprof *p, const char *name, const char *file)
{
	struct nm_protobuf m = {0};
	char *key = NULL;
	const char *text;
	uint64_t id = 0, name_at, file_at;
	int is_new = 0;

	if (asprintf(&key, "%s\n%s", name, file ? file : "") < 0) {
		p->failed = 1;
		return 0;
	}
	text = nm_intern(&p->x->pool, key);
	free(key);
	TRY(p, !text || nm_export_id(&p->functions, text, &id, &is_new));
	if (!is_new)
		return id;
	name_at = string_index(p, name);
	file_at = string_index(p, file ? file : "");
	TRY(p, nm_message_number(&m, FUNCTION_ID, id) || nm_message_number(&m, FUNCTION_NAME, name_at) ||
		   nm_message_number(&m, FUNCTION_SYSTEM_NAME, name_at) ||
		   nm_message_number(&m, FUNCTION_FILE, file_at));
	put_field(p, PROFILE_FUNCTION, &m);
	return id;
}

static uint64_t location_id(struct pprof *p, const char *name, const char *file, int64_t line)
{
	struct nm_protobuf m = {0}, at = {0};
	uint64_t of = function_id(p, name, file), id = 0;
	char key[48];
	const char *text;
	int is_new = 0;

	snprintf(key, sizeof key, "%" PRIu64 "\n%" PRId64, of, line);
	text = nm_intern(&p->x->pool, key);
	TRY(p, !text || nm_export_id(&p->locations, text, &id, &is_new));
	if (!is_new)
		return id;
	TRY(p, nm_message_number(&at, LINE_FUNCTION, of) ||
		   nm_message_number(&at, LINE_LINE, (uint64_t)line) ||
		   nm_message_number(&m, LOCATION_ID, id) || nm_message_inner(&m, LOCATION_LINE, &at));
	nm_vec_free(&at);
	put_field(p, PROFILE_LOCATION, &m);
	return id;
}

static void put_label(struct pprof *p, struct nm_protobuf *sample, const char *key, const char *text,
		      int64_t number)
{
	struct nm_protobuf m = {0};

	TRY(p, nm_message_number(&m, LABEL_KEY, string_index(p, key)));
	if (text)
		TRY(p, nm_message_number(&m, LABEL_STRING, string_index(p, text)));
	TRY(p, nm_message_number(&m, LABEL_NUMBER, (uint64_t)number));
	TRY(p, nm_message_inner(sample, SAMPLE_LABEL, &m));
	nm_vec_free(&m);
}

static void put_sample(struct pprof *p, const struct nm_fact *fact)
{
	struct nm_protobuf m = {0};
	size_t n = 0;

	TRY(p, nm_chain_frames(p->x, fact, &p->chain) || nm_vec_reserve(&p->stack, p->chain.count + 1));
	if (p->failed)
		return;
	if (p->x->objects)
		p->stack.at[n++] = location_id(p, fact->object, NULL, 0);
	for (size_t i = p->chain.count; i-- > 0;) /* innermost first */
		p->stack.at[n++] =
		    location_id(p, p->chain.at[i].function, p->chain.at[i].file, p->chain.at[i].line);
	TRY(p, nm_message_numbers(&m, SAMPLE_LOCATION, p->stack.at, n));
	TRY(p, nm_message_numbers(&m, SAMPLE_VALUE, (const uint64_t *)fact->values, p->x->events.count));
	put_label(p, &m, "object", fact->object, 0);
	put_label(p, &m, "process", fact->process, 0);
	put_label(p, &m, "thread", NULL, fact->thread);
	put_field(p, PROFILE_SAMPLE, &m);
}

/* "L1d_misses" */
static uint64_t event_name(struct pprof *p, const struct nm_export_event *event)
{
	char *name = NULL;
	uint64_t at = 0;

	if (asprintf(&name, "%s_%s", event->level, event->name) < 0)
		p->failed = 1;
	else
		at = string_index(p, name);
	free(name);
	return at;
}

static void put_event(struct pprof *p, unsigned field, const struct nm_export_event *event)
{
	struct nm_protobuf m = {0};

	TRY(p, nm_message_number(&m, VALUE_TYPE, event_name(p, event)) ||
		   nm_message_number(&m, VALUE_UNIT, string_index(p, nm_metric_event_unit(event->name))));
	put_field(p, field, &m);
}

static void put_head(struct pprof *p)
{
	const struct nm_events *events = &p->x->events;

	string_index(p, "");
	for (size_t i = 0; i < events->count; i++)
		put_event(p, PROFILE_SAMPLE_TYPE, &events->at[i]);
	put_event(p, PROFILE_PERIOD_TYPE, &events->at[0]);
	put_number(p, PROFILE_PERIOD, 1);
	put_number(p, PROFILE_DEFAULT_SAMPLE_TYPE, event_name(p, &events->at[0]));
}

static int write_pprof(struct nm_export *e, FILE *out, struct nm_error *err)
{
	struct pprof p = {.x = e, .gzip = gzip_new(out)};
	struct nm_export_facts facts;
	int status;

	if (!p.gzip)
		return nm_fail_memory(err);
	status = nm_facts_open(&facts, e, NM_BY_PROCESS | NM_BY_THREAD | NM_BY_OBJECT | NM_BY_CHAIN,
			       e->events.at, e->events.count, err);
	if (!status)
		put_head(&p);
	while (!status && (status = nm_facts_next(&facts, err)) > 0) {
		put_sample(&p, &facts.fact);
		status = p.failed ? nm_fail_memory(err) : 0;
	}
	nm_facts_close(&facts);
	gzip_end(p.gzip);
	nm_vec_free(&p.chain);
	nm_vec_free(&p.stack);
	nm_map_done(&p.strings);
	nm_map_done(&p.functions);
	nm_map_done(&p.locations);
	return status;
}

const struct nm_exporter nm_exporter_pprof = {
    .name = "pprof",
    .summary = "a compressed profile.proto for pprof, with a sample type for each event",
    .flags = NM_EXPORTER_BINARY | NM_EXPORTER_ALL_LEVELS | NM_EXPORTER_OBJECTS,
    .events = "misses,references,loads,wasted_bytes,evictions",
    .write = write_pprof,
};
