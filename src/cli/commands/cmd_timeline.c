/* SPDX-License-Identifier: MIT
 *
 * cmd_timeline.c - nearmiss timeline: when a process misses, and what.
 */
#include "message.h"
#include "options.h"
#include "report_options.h"
#include "timeline_report.h"
#include "viewer.h"

struct timeline_options {
	const char *input, *by, *level, *process, *phase;
	int64_t limit, width;
	int format;
};

static const struct nm_option options[] = {
    NM_ROW_PROFILE(struct timeline_options, input),
    {"by", 'b', "KIND", "a row for each object or line (object)", NM_OPTION_TEXT,
     offsetof(struct timeline_options, by), NULL},
    {"level", 'l', "LEVEL", "whose misses these rows show (the first data cache)", NM_OPTION_TEXT,
     offsetof(struct timeline_options, level), NULL},
    {"limit", 'n', "N", "show the N that miss most; 0: all that are stored (8)", NM_OPTION_NUMBER,
     offsetof(struct timeline_options, limit), NULL},
    {"process", 'p', "NAME", "this process (the one with the most instructions)", NM_OPTION_TEXT,
     offsetof(struct timeline_options, process), NULL},
    {"phase", 0, "NAME", "these rows are of this phase of the run, by its name or letter", NM_OPTION_TEXT,
     offsetof(struct timeline_options, phase), NULL},
    {"format", 'f', "FORMAT", "output format (text)", NM_OPTION_CHOICE,
     offsetof(struct timeline_options, format), "text|svg|csv|json"},
    {"width", 'w', "N", "columns of text (the terminal's)", NM_OPTION_NUMBER,
     offsetof(struct timeline_options, width), NULL},
};

static int run_timeline(const struct nm_command *self, int argc, char **argv)
{
	struct timeline_options o = {.by = "object", .limit = 8, .width = NM_WIDTH_OF_TERMINAL};
	struct nm_timeline_request request;
	struct nm_operands operands;
	struct nm_viewer viewer;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	status =
	    nm_viewer_open_operand(&viewer, self, &operands, &o.input,
				   o.format == NM_TIMELINE_TEXT ? NM_FORMAT_TEXT : NM_FORMAT_JSON, o.width);
	if (status)
		return status;
	request = (struct nm_timeline_request){
	    .process = o.process, .level = o.level, .by = o.by, .limit = o.limit, .phase = o.phase};
	status = nm_timeline_run(viewer.profile, &request, (enum nm_timeline_format)o.format, &viewer.style,
				 viewer.output.file, &viewer.err);
	return nm_viewer_close(&viewer, status, NM_STATUS_USAGE);
}

const struct nm_command nm_cmd_timeline = {
    .name = "timeline",
    .summary = "Show when a process misses: each level, its working set, its objects or lines",
    .operands = "[PROFILE]",
    .details =
	"Examples:\n"
	"  nearmiss timeline                           misses over the run, and the objects that miss most\n"
	"  nearmiss timeline --by line --level L2      the lines of code that miss most in L2\n"
	"  nearmiss timeline -f svg > timeline.svg\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_timeline,
};
