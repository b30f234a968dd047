/* SPDX-License-Identifier: MIT
 *
 * cmd_annotate.c - nearmiss annotate [FILE|FUNCTION...]: source lines with their counts beside them.
 */
#include <stdlib.h>

#include "annotate.h"
#include "message.h"
#include "options.h"
#include "profile_operand.h"
#include "report_options.h"
#include "viewer.h"

struct annotate_options {
	const char *input, *level, *sort, *process, *object, *columns, *threshold;
	struct nm_shown_part part;
	struct nm_option_list maps, folders;
	int64_t context, thread, width;
	int assembly, syntax, whole, colour, format, frame;
};

enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

static const struct nm_option options[] = {
    NM_ROW_PROFILE(struct annotate_options, input),
    {"columns", 'c', "LIST", "columns to show (misses,share,class,waste,object)", NM_OPTION_TEXT,
     offsetof(struct annotate_options, columns), NULL},
    {"level", 'l', "LEVEL", "counts of this level (the first that takes data)", NM_OPTION_TEXT,
     offsetof(struct annotate_options, level), NULL},
    {"sort", 's', "COLUMN", "sort files and functions by a column (misses)", NM_OPTION_TEXT,
     offsetof(struct annotate_options, sort), NULL},
    {"object", 0, "NAME", "only counts of this object; * and ? match", NM_OPTION_TEXT,
     offsetof(struct annotate_options, object), NULL},
    NM_ROW_ONLY_PROCESS(struct annotate_options, process),
    NM_ROW_ONLY_THREAD(struct annotate_options, thread),
    NM_ROWS_PART(struct annotate_options, part),
    {"threshold", 0, "PERCENT", "leave out files, functions and lines below this share (0.5)", NM_OPTION_TEXT,
     offsetof(struct annotate_options, threshold), NULL},
    NM_ROW_FRAME(struct annotate_options, frame),
    {"asm", 0, NULL, "show instructions (record --asm)", NM_OPTION_FLAG,
     offsetof(struct annotate_options, assembly), NULL},
    {"syntax", 0, "NAME", "syntax of instructions (att)", NM_OPTION_CHOICE,
     offsetof(struct annotate_options, syntax), "att|intel"},
    {"context", 0, "N", "lines or instructions to show around those with counts (8)", NM_OPTION_NUMBER,
     offsetof(struct annotate_options, context), NULL},
    {"whole", 0, NULL, "show whole files or functions", NM_OPTION_FLAG,
     offsetof(struct annotate_options, whole), NULL},
    {"source-dir", 0, "DIR", "look for sources here too; may be repeated", NM_OPTION_LIST,
     offsetof(struct annotate_options, folders), NULL},
    {"map", 0, "OLD=NEW", "find sources of OLD under NEW; may be repeated", NM_OPTION_LIST,
     offsetof(struct annotate_options, maps), NULL},
    {"color", 0, "WHEN", "colour by heat (auto: on a terminal)", NM_OPTION_CHOICE,
     offsetof(struct annotate_options, colour), "auto|always|never"},
    NM_ROW_FORMAT(struct annotate_options, format),
    {"width", 'w', "N", "fit names into N columns; 0: no limit (the terminal's)", NM_OPTION_NUMBER,
     offsetof(struct annotate_options, width), NULL},
};

/* 0, or a status after a message. */
static int read_request(const struct nm_command *self, const struct annotate_options *o,
			const struct nm_operands *operands, struct nm_annotate_request *ret_request)
{
	char *end;
	struct nm_annotate_request r = {
	    .report = {.level = o->level,
		       .process = o->process,
		       .thread = o->thread,
		       .part = o->part,
		       .sort = o->sort,
		       .frame = (enum nm_shown_frame)o->frame},
	    .object = o->object,
	    .columns = o->columns,
	    .names = (const char *const *)operands->at,
	    .name_count = (size_t)operands->count,
	    .search = {o->maps.at, o->maps.count, o->folders.at, o->folders.count},
	    .assembly = o->assembly,
	    .syntax = (enum nm_syntax)o->syntax,
	    .context = o->whole ? -1 : o->context,
	};

	r.threshold = strtod(o->threshold, &end);
	if (end == o->threshold || *end || !(r.threshold >= 0 && r.threshold <= 100))
		return nm_usage(self, "--threshold takes a number from 0 to 100, not \"%s\"", o->threshold);
	for (size_t i = 0; i < o->maps.count; i++)
		if (!nm_source_map_is_valid(o->maps.at[i]))
			return nm_usage(self, "--map takes OLD=NEW, not \"%s\"", o->maps.at[i]);
	*ret_request = r;
	return 0;
}

static int run_annotate(const struct nm_command *self, int argc, char **argv)
{
	struct annotate_options o = {.threshold = "0.5", .context = 8, .width = NM_WIDTH_OF_TERMINAL};
	struct nm_annotate_request request;
	struct nm_viewer viewer;
	struct nm_operands operands;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	status = nm_take_profile(self, &operands, &o.input);
	if (status)
		return status;
	status = read_request(self, &o, &operands, &request);
	if (status)
		return status;
	status = nm_viewer_open(&viewer, o.input, (enum nm_format)o.format, o.width);
	if (status)
		return status;
	if (o.colour != COLOUR_AUTO)
		viewer.style.colour = o.colour == COLOUR_ALWAYS;
	status = nm_annotate_run(viewer.profile, &request, &viewer.style, viewer.output.file, &viewer.err);
	return nm_viewer_close(&viewer, status, NM_STATUS_USAGE);
}

const struct nm_command nm_cmd_annotate = {
    .name = "annotate",
    .summary = "Show source lines with their counts beside them",
    .operands = "[FILE|FUNCTION...] [PROFILE]",
    .details =
	"Without an operand, shows the files with the most misses.  FILE is any end of a path, as in solver.c\n"
	"or src/solver.c; FUNCTION is a name without its parameters.\n\n"
	"Columns: references, reads, writes, misses, read_misses, write_misses, share, mpki, miss_ratio,\n"
	"class, cold, capacity, conflict, coherence, loads, reuse, waste, used_bytes, loaded_bytes,\n"
	"wasted_bytes, evictions, writebacks, object.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_annotate,
};
