/* SPDX-License-Identifier: MIT
 *
 * cmd_sharing.c - nearmiss sharing: what cores contend for.
 */
#include "message.h"
#include "options.h"
#include "report_options.h"
#include "sharing.h"
#include "viewer.h"

struct sharing_options {
	const char *input, *level, *sort, *process;
	int64_t limit, width;
	int by, format, c2c;
};

static const struct nm_option options[] = {
    NM_ROW_PROFILE(struct sharing_options, input),
    {"by", 'b', "WHAT",
     "lines of memory, or tables by object, field, function, thread, core, process; latent", NM_OPTION_CHOICE,
     offsetof(struct sharing_options, by), "line|object|field|function|thread|core|process|latent"},
    {"c2c", 0, NULL, "lines as perf c2c report prints them, and the functions that take them", NM_OPTION_FLAG,
     offsetof(struct sharing_options, c2c), NULL},
    {"level", 'l', "LEVEL", "the first level of a machine (of the first one)", NM_OPTION_TEXT,
     offsetof(struct sharing_options, level), NULL},
    {"sort", 's', "COLUMN", "sort a table by a CSV column", NM_OPTION_TEXT,
     offsetof(struct sharing_options, sort), NULL},
    {"limit", 'n', "N", "show N lines of memory (5), or rows (20); 0: all", NM_OPTION_NUMBER,
     offsetof(struct sharing_options, limit), NULL},
    NM_ROW_ONLY_PROCESS(struct sharing_options, process),
    NM_ROW_FORMAT(struct sharing_options, format),
    NM_ROW_WIDTH(struct sharing_options, width),
};

static int run_sharing(const struct nm_command *self, int argc, char **argv)
{
	struct sharing_options o = {.limit = -1, .width = NM_WIDTH_OF_TERMINAL};
	struct nm_viewer viewer;
	struct nm_operands operands;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (o.c2c && (o.by != NM_SHARING_BY_LINE || o.format != NM_FORMAT_TEXT || o.sort))
		return nm_usage(self, "--c2c is text, by line: it does not go with --by, --format or --sort");
	status =
	    nm_viewer_open_operand(&viewer, self, &operands, &o.input, (enum nm_format)o.format, o.width);
	if (status)
		return status;
	status = nm_sharing_run(viewer.profile,
				&(struct nm_sharing_request){.level = o.level,
							     .process = o.process,
							     .sort = o.sort,
							     .limit = o.limit,
							     .by = (enum nm_sharing_by)o.by,
							     .as_c2c = o.c2c},
				&viewer.style, viewer.output.file, &viewer.err);
	return nm_viewer_close(&viewer, status, NM_STATUS_USAGE);
}

const struct nm_command nm_cmd_sharing = {
    .name = "sharing",
    .summary = "Show which cache lines cores contend for, and whether they need to",
    .operands = "[PROFILE]",
    .details =
	"The profile must have several cores (record --cores).  Without --by, shows lines of memory, the most\n"
	"false sharing first: who touches which bytes, who takes the line from whom, and what to change.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_sharing,
};
