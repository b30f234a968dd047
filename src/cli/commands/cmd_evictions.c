/* SPDX-License-Identifier: MIT
 *
 * cmd_evictions.c - nearmiss evictions: which objects evict which.
 */
#include "evictions.h"
#include "message.h"
#include "options.h"
#include "profile_operand.h"
#include "report_options.h"
#include "viewer.h"

struct evictions_options {
	const char *input, *level, *evictor, *victim, *function, *sort, *process;
	struct nm_shown_part part;
	int64_t limit, width;
	int sets, format, frame;
};

static const struct nm_option options[] = {
    NM_ROW_PROFILE(struct evictions_options, input),
    {"level", 'l', "LEVEL", "evictions from this level (the first that takes data)", NM_OPTION_TEXT,
     offsetof(struct evictions_options, level), NULL},
    {"evictor", 'e', "OBJECT", "the source lines where this object evicts others", NM_OPTION_TEXT,
     offsetof(struct evictions_options, evictor), NULL},
    {"victim", 'v', "OBJECT", "the source lines where this object is evicted", NM_OPTION_TEXT,
     offsetof(struct evictions_options, victim), NULL},
    {"function", 'F', "NAME", "the source lines of this function that evict others", NM_OPTION_TEXT,
     offsetof(struct evictions_options, function), NULL},
    {"sets", 0, NULL, "the cache sets with these evictions (record --sets)", NM_OPTION_FLAG,
     offsetof(struct evictions_options, sets), NULL},
    {"sort", 's', "ORDER", "sort objects by lost, took or self (lost); lines and sets by a CSV column",
     NM_OPTION_TEXT, offsetof(struct evictions_options, sort), NULL},
    {"limit", 'n', "N", "show N objects (8), or source lines or sets (20); 0: all", NM_OPTION_NUMBER,
     offsetof(struct evictions_options, limit), NULL},
    NM_ROW_FRAME(struct evictions_options, frame),
    NM_ROW_ONLY_PROCESS(struct evictions_options, process),
    NM_ROWS_PART(struct evictions_options, part),
    NM_ROW_FORMAT(struct evictions_options, format),
    NM_ROW_WIDTH(struct evictions_options, width),
};

static int run_evictions(const struct nm_command *self, int argc, char **argv)
{
	struct evictions_options o = {.limit = -1, .width = NM_WIDTH_OF_TERMINAL};
	struct nm_evictions_request request;
	struct nm_viewer viewer;
	struct nm_operands operands;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	status = nm_take_profile(self, &operands, &o.input);
	if (status)
		return status;
	if (o.function && o.sets)
		return nm_usage(self, "--function shows lines and --sets sets: choose one");
	if (operands.count)
		return nm_usage(self, "name objects with --evictor and --victim, not \"%s\"", operands.at[0]);
	status = nm_viewer_open(&viewer, o.input, (enum nm_format)o.format, o.width);
	if (status)
		return status;
	request = (struct nm_evictions_request){.level = o.level,
						.process = o.process,
						.part = o.part,
						.evictor = o.evictor,
						.victim = o.victim,
						.function = o.function,
						.sort = o.sort,
						.limit = o.limit,
						.by_set = o.sets,
						.frame = (enum nm_shown_frame)o.frame};
	status = nm_evictions_run(viewer.profile, &request, &viewer.style, viewer.output.file, &viewer.err);
	return nm_viewer_close(&viewer, status, NM_STATUS_USAGE);
}

const struct nm_command nm_cmd_evictions = {
    .name = "evictions",
    .summary = "Show which objects evict which from the cache, and at which lines",
    .operands = "[PROFILE]",
    .details =
	"Without --evictor and --victim, shows a matrix: rows evict, columns are evicted.  With one of them or\n"
	"both, shows the source lines.  With --sets, shows the cache sets, of all evictions or of those.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_evictions,
};
