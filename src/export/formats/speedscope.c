/* SPDX-License-Identifier: MIT
 *
 * speedscope.c - a file for speedscope (https://www.speedscope.app/file-format-schema.json): for each process
 * and event a profile of sampled stacks callers (if known), function, line, object, weighted with the
 * figures.
 *
 * Samples are written as they come; their weights follow in an array of their own, and the frames that all
 * profiles share come last.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "export_priv.h"

struct frame {
	const char *name, *file;
	int64_t line; /* 0: none */
};

struct scope {
	struct nm_export *x;
	FILE *out;
	struct nm_map ids; /* text of a frame -> its number, from 1 */
	struct nm_vec(struct frame) frames;
	struct nm_vec(int64_t) weights;
	struct nm_chain_frames chain; /* of the sample that is written now */
	unsigned profiles;            /* written or begun */
};

/* The number of a frame, from 0. */
static int frame_number(struct scope *s, struct frame f, uint64_t *ret_id)
{
	const char *key = f.name;
	char *text = NULL;
	int is_new, status;

	if (f.file) {
		if (asprintf(&text, "%s\n%s\n%" PRId64, f.name, f.file, f.line) < 0)
			return NM_ENOMEM;
		key = text;
	}
	key = nm_intern(&s->x->pool, key);
	free(text);
	status = key ? nm_export_id(&s->ids, key, ret_id, &is_new) : NM_ENOMEM;
	if (!status && is_new)
		status = nm_vec_push(&s->frames, f);
	--*ret_id;
	return status;
}

static int begin_profile(struct scope *s, const char *process, const struct nm_export_event *event)
{
	char *name = NULL;
	int status;

	if (asprintf(&name, "%s: %s %s", process, event->level, event->name) < 0)
		return NM_ENOMEM;
	fprintf(s->out, "%s\n{\"type\":\"sampled\",\"name\":", s->profiles++ ? "," : "");
	status = nm_export_json(name, s->out);
	fprintf(s->out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[",
		*nm_metric_event_unit(event->name) == 'b' ? "bytes" : "none");
	free(name);
	return status;
}

static void end_profile(struct scope *s)
{
	int64_t total = 0;

	fputs("],\"weights\":[", s->out);
	for (size_t i = 0; i < s->weights.count; i++) {
		fprintf(s->out, "%s%" PRId64, i ? "," : "", s->weights.at[i]);
		total += s->weights.at[i];
	}
	fprintf(s->out, "],\"endValue\":%" PRId64 "}", total);
	s->weights.count = 0;
}

/* Writes the number of a frame of the stack. */
static int push_frame(struct scope *s, struct frame f, const char *before)
{
	uint64_t id;

	if (frame_number(s, f, &id))
		return NM_ENOMEM;
	fprintf(s->out, "%s%" PRIu64, before, id);
	return 0;
}

static int write_sample(struct scope *s, const struct nm_fact *fact)
{
	const char *line;

	if (nm_fact_line(s->x, fact, &line) || nm_chain_frames(s->x, fact, &s->chain))
		return NM_ENOMEM;
	fputs(s->weights.count ? ",[" : "[", s->out);
	for (size_t i = 0; i < s->chain.count; i++)
		if (push_frame(s, (struct frame){s->chain.at[i].function, s->chain.at[i].file, 0},
			       i ? "," : ""))
			return NM_ENOMEM;
	if (push_frame(s, (struct frame){line, fact->file, fact->line}, ",") ||
	    push_frame(s, (struct frame){fact->object, NULL, 0}, ","))
		return NM_ENOMEM;
	fputc(']', s->out);
	return nm_vec_push(&s->weights, *fact->values);
}

/* The profiles of one event. */
static int write_event(struct scope *s, const struct nm_export_event *event, struct nm_error *err)
{
	const char *process = NULL;
	struct nm_export_facts facts;
	int status = nm_facts_open(&facts, s->x, NM_BY_PROCESS | NM_BY_OBJECT | NM_BY_CHAIN, event, 1, err);

	while (!status && (status = nm_facts_next(&facts, err)) > 0) {
		status = 0;
		if (facts.fact.process != process) {
			if (process)
				end_profile(s);
			process = facts.fact.process;
			status = begin_profile(s, process, event);
		}
		if (status || write_sample(s, &facts.fact))
			status = nm_fail_memory(err);
	}
	nm_facts_close(&facts);
	if (process)
		end_profile(s);
	return status;
}

static int write_frames(struct scope *s)
{
	int status = 0;

	fputs("\n],\"shared\":{\"frames\":[", s->out);
	for (size_t i = 0; !status && i < s->frames.count; i++) {
		const struct frame *f = &s->frames.at[i];

		fprintf(s->out, "%s\n{\"name\":", i ? "," : "");
		status = nm_export_json(f->name, s->out);
		if (!status && f->file) {
			fputs(",\"file\":", s->out);
			status = nm_export_json(f->file, s->out);
		}
		if (f->line)
			fprintf(s->out, ",\"line\":%" PRId64, f->line);
		fputs("}", s->out);
	}
	fputs("\n]}}\n", s->out);
	return status;
}

static int write_speedscope(struct nm_export *e, FILE *out, struct nm_error *err)
{
	struct scope s = {.x = e, .out = out};
	int status = 0;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
	      "\"exporter\":\"nearmiss@" NM_VERSION "\",\"activeProfileIndex\":0,\"profiles\":[",
	      out);
	for (size_t i = 0; !status && i < e->events.count; i++)
		status = write_event(&s, &e->events.at[i], err);
	if (!status && write_frames(&s))
		status = nm_fail_memory(err);
	nm_map_done(&s.ids);
	nm_vec_free(&s.frames);
	nm_vec_free(&s.weights);
	nm_vec_free(&s.chain);
	return status;
}

const struct nm_exporter nm_exporter_speedscope = {
    .name = "speedscope",
    .summary = "a file for https://www.speedscope.app",
    .events = "misses",
    .write = write_speedscope,
};
