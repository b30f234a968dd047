/* SPDX-License-Identifier: MIT
 *
 * cmd_trace.c - nearmiss trace info|print|slice|merge: shows, cuts and merges traces.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "edit.h"
#include "map.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "text.h"

struct trace_options {
	const char *output, *stream, *to;
	int64_t from, limit;
};

static const struct nm_option options[] = {
    {"output", 'o', "FILE", "slice, merge: write this file", NM_OPTION_TEXT,
     offsetof(struct trace_options, output), NULL},
    {"stream", 's', "N", "print, slice: only this stream", NM_OPTION_TEXT,
     offsetof(struct trace_options, stream), NULL},
    {"from", 0, "N", "print, slice: start at address N of the stream (0)", NM_OPTION_NUMBER,
     offsetof(struct trace_options, from), NULL},
    {"to", 0, "N", "print, slice: stop before address N (the end)", NM_OPTION_TEXT,
     offsetof(struct trace_options, to), NULL},
    {"limit", 'n', "N", "print: at most N records; 0: all (0)", NM_OPTION_NUMBER,
     offsetof(struct trace_options, limit), NULL},
};

/* ---- info ---- */

struct totals {
	uint64_t chunks, words, references, bytes, streams, names;
};

static int add_up(struct nm_trace *trace, struct totals *t, struct nm_error *err)
{
	struct nm_trace_chunk chunk;
	int status;

	for (size_t i = 0; (status = nm_trace_chunk(trace, i, &chunk, err)) > 0; i++) {
		t->bytes += chunk.bytes;
		if (chunk.kind == NM_TRACE_NAMES)
			t->names += chunk.bytes;
		if (chunk.kind != NM_TRACE_WORDS)
			continue;
		t->chunks++;
		t->words += chunk.words;
		t->references += chunk.references;
		if (chunk.stream >= t->streams)
			t->streams = chunk.stream + 1ull;
	}
	return status;
}

static void print_info(struct nm_trace *trace, const char *title, const char *key, FILE *out)
{
	const char *text = nm_trace_info(trace, key);
	char *clean = text ? nm_utf8_clean(text) : NULL;

	fprintf(out, "%s %s\n", title, clean ? clean : "unknown");
	free(clean);
}

static int print_trace_info(struct nm_trace *trace, const struct trace_options *o, FILE *out,
			    struct nm_error *err)
{
	struct totals t = {0};
	const char *fault;
	int status = add_up(trace, &t, err);

	(void)o;
	if (status)
		return status;
	fault = nm_trace_fault(trace);
	print_info(trace, "collector  ", "collector", out);
	print_info(trace, "exit status", "exit_status", out);
	fprintf(out, "streams     %" PRIu64 "\n", t.streams);
	fprintf(out, "chunks      %" PRIu64 "\n", t.chunks);
	fprintf(out, "words       %" PRIu64 "\n", t.words);
	fprintf(out, "addresses   %" PRIu64 "\n", t.references);
	fprintf(out, "bytes       %" PRIu64 " (names %" PRIu64 ")\n", t.bytes, t.names);
	if (t.references)
		fprintf(out, "bytes each  %.3f\n", (double)t.bytes / (double)t.references);
	fprintf(out, "complete    %s\n", fault ? fault : "yes");
	return 0;
}

/* ---- print ---- */

/* The count of numbers before the texts of a record's payload. -1: only numbers. */
static int numbers_of(enum nm_wire_kind kind)
{
	switch (kind) {
	case NM_WIRE_PROCESS: return 5;
	case NM_WIRE_EXEC:
	case NM_WIRE_REGION: return 0;
	case NM_WIRE_MAP: return 3;
	case NM_WIRE_NAME:
	case NM_WIRE_PLACE: return 2;
	default: return -1; /* all are numbers */
	}
}

static void print_text(const char *text, size_t length, FILE *out)
{
	char *part = strndup(text, length), *clean = part ? nm_utf8_clean(part) : NULL;

	fprintf(out, " \"%s\"", clean ? clean : "");
	free(clean);
	free(part);
}

static void print_record(const struct nm_wire_record *r, uint32_t stream, FILE *out)
{
	int numbers = numbers_of(r->kind);
	size_t n = numbers < 0 || (size_t)numbers > r->words ? r->words : (size_t)numbers, length;
	const char *end = (const char *)(r->payload + r->words);

	if (r->kind == NM_WIRE_MODULE)
		n = 1 + (r->arg + 7) / 8 < r->words ? 1 + (r->arg + 7) / 8 : r->words;
	fprintf(out, "%" PRIu32 " %s %" PRIu32, stream, nm_wire_kind_name(r->kind), r->arg);
	for (size_t i = 0; i < n; i++)
		fprintf(out, " %#" PRIx64, r->payload[i]);
	for (const char *s = (const char *)(r->payload + n); s < end; s += (length / 8 + 1) * 8) {
		length = strnlen(s, (size_t)(end - s));
		print_text(s, length, out);
	}
	fputc('\n', out);
}

struct printing {
	uint32_t stream;
	uint64_t from, to, at, left;
	FILE *out;
};

static int print_words(struct printing *p, const uint64_t *words, size_t count, struct nm_error *err)
{
	struct nm_wire_scan scan = nm_wire_scan_over(words, count);
	struct nm_wire_record r;
	int status = 0;

	while (p->left && (status = nm_wire_scan_next(&scan, &r, err)) > 0) {
		if (p->at >= p->from && p->at < p->to) {
			print_record(&r, p->stream, p->out);
			p->left--;
		}
		if (r.kind == NM_WIRE_BLOCK)
			p->at += r.words;
	}
	return status < 0 ? status : 0;
}

static int print_chunk(struct nm_trace *trace, const struct nm_trace_chunk *chunk, struct printing *p,
		       struct nm_error *err)
{
	const uint64_t *words;
	size_t count;
	int status;

	if (p->at + chunk->references <= p->from && p->from) { /* seeking */
		p->at += chunk->references;
		return 0;
	}
	status = nm_trace_begin(trace, chunk, err);
	while (!status && p->left && p->at < p->to &&
	       (status = nm_trace_next(trace, &words, &count, err)) > 0)
		status = print_words(p, words, count, err);
	return status < 0 ? status : 0;
}

/* Prints the streams in the order of their chunks; each counts its own addresses. */
static int print_streams(struct nm_trace *trace, const struct trace_options *o, FILE *out,
			 struct nm_error *err)
{
	struct nm_trace_chunk chunk;
	uint64_t left = o->limit ? (uint64_t)o->limit : UINT64_MAX,
		 to = o->to ? strtoull(o->to, NULL, 10) : UINT64_MAX;
	int status = 0;
	struct nm_map positions = {0}; /* stream -> addresses so far */

	for (size_t i = 0; !status && left && (status = nm_trace_chunk(trace, i, &chunk, err)) > 0; i++) {
		struct printing p = {chunk.stream, (uint64_t)o->from, to, 0, left, out};

		status = 0;
		if (chunk.kind != NM_TRACE_WORDS ||
		    (o->stream && strtoull(o->stream, NULL, 10) != chunk.stream))
			continue;
		p.at = nm_map_get(&positions, p.stream, 0);
		status = print_chunk(trace, &chunk, &p, err);
		left = p.left;
		if (nm_map_put(&positions, p.stream, p.at))
			status = nm_fail_memory(err);
	}
	nm_map_done(&positions);
	return status;
}

/* ---- slice, merge ---- */

static int slice_trace(struct nm_trace *trace, const struct trace_options *o, FILE *out, struct nm_error *err)
{
	struct nm_trace_part s = {NM_ALL_STREAMS, (uint64_t)o->from, UINT64_MAX};

	(void)out;
	if (o->stream)
		s.stream = (uint32_t)strtoul(o->stream, NULL, 10);
	if (o->to)
		s.to = strtoull(o->to, NULL, 10);
	return nm_trace_slice(trace, &s, o->output, err);
}

static int merge_traces(char *const *paths, int count, const struct trace_options *o, struct nm_error *err)
{
	struct nm_trace **traces = calloc((size_t)count, sizeof(struct nm_trace *));
	int status = traces ? 0 : nm_fail_memory(err), opened = 0;

	while (!status && opened < count && !(status = nm_trace_open(&traces[opened], paths[opened], err)))
		opened++;
	if (!status)
		status = nm_trace_merge(traces, (size_t)count, o->output, err);
	while (opened > 0)
		nm_trace_free(traces[--opened]);
	free(traces);
	return status;
}

/* ---- the command ---- */

static const struct action {
	const char *name, *summary;
	int (*run)(struct nm_trace *trace, const struct trace_options *o, FILE *out, struct nm_error *err);
	int writes; /* needs --output */
} actions[] = {
    {"info", "show what a trace holds", print_trace_info, 0},
    {"print", "show its records, one a line", print_streams, 0},
    {"slice", "cut out a part: what comes before it is kept but not counted", slice_trace, 1},
    {"merge", "merge several traces into one", NULL, 1},
};

static const char *action_words(unsigned i, const char **ret_summary)
{
	if (i >= sizeof actions / sizeof *actions)
		return NULL;
	*ret_summary = actions[i].summary;
	return actions[i].name;
}

static const struct action *action_named(const char *name)
{
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		if (!strcmp(actions[i].name, name))
			return &actions[i];
	return NULL;
}

static int is_number(const char *text) { return !text || (*text && !text[strspn(text, "0123456789")]); }

static int run_action(const struct action *action, const struct trace_options *o,
		      const struct nm_operands *operands)
{
	struct nm_command_output output = {.file = stdout};
	struct nm_trace *trace;
	struct nm_error err;
	int status, written = 0;

	if (!action->run) {
		status = merge_traces(operands->at + 1, operands->count - 1, o, &err);
		return status ? nm_failed(&err, NM_STATUS_NO_OUTPUT) : 0;
	}
	if (nm_trace_open(&trace, operands->at[1], &err))
		return nm_failed(&err, NM_STATUS_BAD_INPUT);
	if (!action->writes)
		nm_output_open(&output, NM_FORMAT_TEXT);
	status = action->run(trace, o, output.file, &err);
	if (!action->writes)
		written = nm_output_close(&output);
	if (!status && nm_trace_fault(trace) && action->run != print_trace_info)
		nm_message("%s: %s; the part before it was used", operands->at[1], nm_trace_fault(trace));
	nm_trace_free(trace);
	return status ? nm_failed(&err, NM_STATUS_NO_OUTPUT) : written;
}

/* Writing would destroy the trace before it is read. */
static int refuse_inputs(const struct trace_options *o, const struct nm_operands *operands)
{
	int status = 0;

	for (int i = 1; i < operands->count && !status; i++)
		status = nm_refuse_same_file(o->output, operands->at[i], "input");
	return status;
}

static int run_trace(const struct nm_command *self, int argc, char **argv)
{
	struct trace_options o = {0};
	struct nm_operands operands;
	const struct action *action;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	action = operands.count ? action_named(operands.at[0]) : NULL;
	if (!action)
		return nm_usage(self, "name an action: info, print, slice or merge");
	if (operands.count < 2 || (action->run && operands.count > 2))
		return nm_usage(self, "%s takes %s", action->name,
				action->run ? "one trace" : "one or more traces");
	if (action->writes && !o.output)
		return nm_usage(self, "%s needs --output", action->name);
	if (!is_number(o.stream) || !is_number(o.to))
		return nm_usage(self, "--stream and --to take numbers");
	status = action->writes ? refuse_inputs(&o, &operands) : 0;
	return status ? status : run_action(action, &o, &operands);
}

const struct nm_command nm_cmd_trace = {
    .name = "trace",
    .summary = "Show, cut and merge traces",
    .operands = "info|print|slice|merge FILE...",
    .details = "FILE - is standard input, and --output - standard output.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .words = action_words,
    .words_title = "Actions",
    .run = run_trace,
};
