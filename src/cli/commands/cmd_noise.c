/* SPDX-License-Identifier: MIT
 *
 * cmd_noise.c - nearmiss noise: which counts depend on where memory is placed.
 */
#include "message.h"
#include "noise.h"
#include "options.h"
#include "report_options.h"
#include "viewer.h"

struct noise_options {
	const char *input, *level, *process;
	int64_t limit, width;
	int format, by;
};

static const struct nm_option options[] = {
    NM_ROW_PROFILE(struct noise_options, input),
    {"by", 'b', "ROWS", "objects, lines, or both; csv and json have one of them (both; objects)",
     NM_OPTION_CHOICE, offsetof(struct noise_options, by), "both|object|line"},
    {"level", 'l', "LEVEL", "misses of this level (the first that takes data)", NM_OPTION_TEXT,
     offsetof(struct noise_options, level), NULL},
    {"limit", 'n', "N", "show N rows (10); 0: all", NM_OPTION_NUMBER, offsetof(struct noise_options, limit),
     NULL},
    NM_ROW_ONLY_PROCESS(struct noise_options, process),
    NM_ROW_FORMAT(struct noise_options, format),
    NM_ROW_WIDTH(struct noise_options, width),
};

static int run_noise(const struct nm_command *self, int argc, char **argv)
{
	struct noise_options o = {.limit = 10, .width = NM_WIDTH_OF_TERMINAL};
	struct nm_noise_request request;
	struct nm_viewer viewer;
	struct nm_operands operands;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	status =
	    nm_viewer_open_operand(&viewer, self, &operands, &o.input, (enum nm_format)o.format, o.width);
	if (status)
		return status;
	request = (struct nm_noise_request){
	    .level = o.level, .process = o.process, .rows = (enum nm_noise_rows)o.by, .limit = o.limit};
	status = nm_noise_run(viewer.profile, &request, &viewer.style, viewer.output.file, &viewer.err);
	return nm_viewer_close(&viewer, status, NM_STATUS_USAGE);
}

const struct nm_command nm_cmd_noise = {
    .name = "noise",
    .summary = "Show which misses depend on where memory is placed",
    .operands = "[PROFILE]",
    .details =
	"Of a profile that was recorded or replayed with --relocate K: the misses of each object and line as\n"
	"recorded, and the least and greatest of all placements.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_noise,
};
