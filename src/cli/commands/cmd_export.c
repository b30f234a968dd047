/* SPDX-License-Identifier: MIT
 *
 * cmd_export.c - nearmiss export FORMAT: a profile as a file for another tool.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "pages.h"
#include "profile_operand.h"
#include "reader.h"
#include "report_options.h"

struct export_options {
	struct nm_pages_options pages; /* of html */
	const char *input, *level, *event, *process;
	int64_t thread;
	struct nm_shown_part part;
	int objects, separate, list, frame;
};

static const struct nm_option options[] = {
    NM_ROW_PROFILE(struct export_options, input),
    {"output", 'o', "FILE", "write this file (standard output)", NM_OPTION_TEXT,
     offsetof(struct export_options, pages.output), NULL},
    {"level", 'l', "LEVEL,...", "only these levels (csv, json, pprof: all; else the first)", NM_OPTION_TEXT,
     offsetof(struct export_options, level), NULL},
    {"event", 'e', "EVENT,...", "only these events: misses, loads, ... (nearmiss-export(1))", NM_OPTION_TEXT,
     offsetof(struct export_options, event), NULL},
    {"process", 'p', "NAME", "only this process of the profile; html: the N-th of a trace", NM_OPTION_TEXT,
     offsetof(struct export_options, process), NULL},
    NM_ROW_ONLY_THREAD(struct export_options, thread),
    NM_ROWS_PART(struct export_options, part),
    {"inline", 0, "FRAME", "the frame of inlined calls to name (user; csv and json write all)",
     NM_OPTION_CHOICE, offsetof(struct export_options, frame), "user|innermost|all"},
    {"objects", 0, NULL, "callgrind, pprof: show data objects as functions", NM_OPTION_FLAG,
     offsetof(struct export_options, objects), NULL},
    {"separate", 0, NULL, "write one file for each thread: FILE.1, FILE.2, ...", NM_OPTION_FLAG,
     offsetof(struct export_options, separate), NULL},
    {"list", 0, NULL, "list the formats", NM_OPTION_FLAG, offsetof(struct export_options, list), NULL},
    NM_ROWS_DEBUG(struct export_options, pages.source),
    NM_ROW_SOURCE_DIR(struct export_options, pages),
};

/* The browser's pages are not an exporter: they hold the answers to all questions. */
static const char html[] = "html",
		  html_summary[] =
		      "the pages of nearmiss view, in one file: of profiles, a loop nest or a trace";

static const char *format_words(unsigned i, const char **ret_summary)
{
	const struct nm_exporter *exporter = nm_exporter_at(i);

	if (!exporter && i && !nm_exporter_at(i - 1))
		return NULL;
	*ret_summary = exporter ? nm_exporter_summary(exporter) : html_summary;
	return exporter ? nm_exporter_name(exporter) : html;
}

/* Operands from the second on are the inputs. */
static int export_html(const struct nm_command *self, struct export_options *o,
		       const struct nm_operands *operands)
{
	char *input = (char *)o->input, *end = NULL;
	struct nm_pages pages;
	int status;

	if (o->level || o->event || o->thread || o->objects || o->separate || o->frame || o->part.region ||
	    o->part.phase)
		return nm_usage(self, "html holds the whole profile, not a selection");
	if (o->input && operands->count > 1)
		return nm_usage(self, "name the inputs of html behind it, or one with --input");
	if (o->process)
		o->pages.source.process = strtol(o->process, &end, 10);
	if (end && (*end || o->pages.source.process < 1))
		return nm_usage(self, "of html, --process is a number, that of a process of the trace");
	status = o->input ? nm_pages_open(&pages, self, &o->pages, &input, 1)
			  : nm_pages_open(&pages, self, &o->pages, operands->at + 1, operands->count - 1);
	if (status)
		return status;
	status = nm_pages_write(&pages, o->pages.output);
	nm_pages_close(&pages);
	return status;
}

static int list_formats(void)
{
	struct nm_command_output output = {.file = stdout};

	const char *word, *summary = NULL;

	for (unsigned i = 0; (word = format_words(i, &summary)); i++)
		printf("%-10s  %s\n", word, summary);
	return nm_output_close(&output);
}

static const struct nm_exporter *chosen_format(const struct nm_command *self,
					       const struct nm_operands *operands)
{
	const struct nm_exporter *exporter;
	const char *words[32], *near, *summary = NULL;
	unsigned i;

	if (operands->count != 1) {
		nm_usage(self, operands->count ? "name one format" : "name a format: --list shows them");
		return NULL;
	}
	exporter = nm_exporter_named(operands->at[0]);
	if (exporter)
		return exporter;
	for (i = 0; i < 31 && (words[i] = format_words(i, &summary)); i++)
		;
	words[i] = NULL;
	near = nm_nearest(operands->at[0], words);
	if (near)
		nm_usage(self, "unknown format \"%s\": did you mean %s?", operands->at[0], near);
	else
		nm_usage(self, "unknown format \"%s\"", operands->at[0]);
	return NULL;
}

struct part {
	struct nm_export *export;
	unsigned number; /* 0: all of it */
};

static int write_part(void *self, FILE *out, struct nm_error *err)
{
	const struct part *part = self;

	return nm_export_write(part->export, part->number, out, err);
}

/* path NULL: to standard output. */
static int write_output(struct nm_export *export, unsigned number, const char *path, const char *input)
{
	struct part part = {export, number};
	int status = nm_refuse_same_file(path, input, "input");

	return status ? status : nm_write_output(path, write_part, &part);
}

static int write_parts(struct nm_export *export, const struct export_options *o)
{
	int status = NM_STATUS_OK;

	for (unsigned part = 1; part <= nm_export_parts(export) && !status; part++) {
		char *path = NULL;

		if (asprintf(&path, "%s.%u", o->pages.output, part) < 0) {
			nm_message("out of memory");
			return NM_STATUS_FAILED;
		}
		status = write_output(export, part, path, o->input);
		free(path);
	}
	return status;
}

static int run_export(const struct nm_command *self, int argc, char **argv)
{
	struct export_options o = {.pages.source.simulation.threads = 1};
	struct nm_export_request request;
	const struct nm_exporter *exporter;
	struct nm_operands operands;
	struct nm_profile *profile;
	struct nm_export *export = NULL;
	struct nm_error err;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (o.list)
		return list_formats();
	if (operands.count && !strcmp(operands.at[0], html))
		return export_html(self, &o, &operands);
	status = nm_take_profile(self, &operands, &o.input);
	if (status)
		return status;
	exporter = chosen_format(self, &operands);
	if (!exporter)
		return NM_STATUS_USAGE;
	if (nm_pages_need_html(&o.pages))
		return nm_usage(self, "--machine, --cache, --from and the like are for html");
	if (o.separate && !o.pages.output)
		return nm_usage(self, "--separate writes several files: it needs -o FILE");
	if (!o.pages.output && nm_exporter_is_binary(exporter) && isatty(STDOUT_FILENO))
		return nm_usage(self, "%s is binary: write it to a file with -o FILE",
				nm_exporter_name(exporter));
	if (nm_profile_open(&profile, o.input, &err))
		return nm_profile_failed(o.input, &err);
	request = (struct nm_export_request){
	    o.level, o.event, o.process, o.thread, o.objects, (enum nm_shown_frame)o.frame, o.part};
	if (nm_export_open(&export, exporter, profile, &request, &err))
		status = nm_failed(&err, NM_STATUS_USAGE);
	else if (o.separate)
		status = write_parts(export, &o);
	else
		status = write_output(export, 0, o.pages.output, o.input);
	nm_export_close(export);
	nm_profile_close(profile);
	return status;
}

const struct nm_command nm_cmd_export = {
    .name = "export",
    .summary = "Write a profile for KCachegrind, flame graphs, pprof, ...",
    .operands = "FORMAT [PROFILE...] [NEST|TRACE]",
    .details = "Only html takes several inputs, and the options from --machine on.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .words = format_words,
    .words_title = "Formats",
    .run = run_export,
};
