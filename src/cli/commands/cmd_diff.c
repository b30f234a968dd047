/* SPDX-License-Identifier: MIT
 *
 * cmd_diff.c - nearmiss diff: what changed between profiles.
 */
#include <stdlib.h>

#include "diff.h"
#include "message.h"
#include "open_profile.h"
#include "options.h"
#include "output.h"
#include "profile_operand.h"
#include "report_options.h"

struct diff_options {
	const char *level, *process, *by, *sort, *fail_on;
	struct nm_shown_part part;
	int64_t limit, width;
	int layout, frame, markdown;
};

static const struct nm_option options[] = {
    {"by", 'b', "KEYS", "what rows are: keys by commas, e.g. object, function, field, class (object,line)",
     NM_OPTION_TEXT, offsetof(struct diff_options, by), NULL},
    {"level", 'l', "LEVEL", "misses of this level (the first that takes data)", NM_OPTION_TEXT,
     offsetof(struct diff_options, level), NULL},
    {"sort", 's', "METRIC", "what changed most comes first: in cycles, misses, references or loads (cycles)",
     NM_OPTION_TEXT, offsetof(struct diff_options, sort), NULL},
    {"limit", 'n', "N", "show N rows (20); 0: all", NM_OPTION_NUMBER, offsetof(struct diff_options, limit),
     NULL},
    {"fail-on", 0, "METRIC:N", "exit with 3 if the total of METRIC rises by more than N, or N%",
     NM_OPTION_TEXT, offsetof(struct diff_options, fail_on), NULL},
    NM_ROW_FRAME(struct diff_options, frame),
    {"process", 'p', "NAME", "only this process of the profiles", NM_OPTION_TEXT,
     offsetof(struct diff_options, process), NULL},
    NM_ROWS_PART(struct diff_options, part),
    {"format", 'f', "FORMAT", "output format (text)", NM_OPTION_CHOICE, offsetof(struct diff_options, layout),
     "text|csv|json|markdown"},
    {"markdown", 0, NULL, "the same as --format markdown", NM_OPTION_FLAG,
     offsetof(struct diff_options, markdown), NULL},
    NM_ROW_WIDTH(struct diff_options, width),
};

/* Opens the profiles; *ret_opened counts those that are open. 0, or a status after a message. */
static int open_all(const struct nm_operands *operands, struct nm_diff_input *inputs, unsigned *ret_opened)
{
	struct nm_error err;

	for (*ret_opened = 0; *ret_opened < (unsigned)operands->count; ++*ret_opened) {
		struct nm_diff_input *input = &inputs[*ret_opened];

		input->path = operands->at[*ret_opened];
		if (nm_open_profile(&input->profile, input->path, &err))
			return nm_profile_failed(input->path, &err);
	}
	return 0;
}

static int show_differences(const struct nm_diff_input *inputs, unsigned count,
			    const struct nm_diff_request *request, int64_t width)
{
	const enum nm_format format = request->layout == NM_DIFF_TEXT ? NM_FORMAT_TEXT : NM_FORMAT_CSV;
	const struct nm_style style = nm_style_of(stdout, format, width);
	struct nm_command_output output;
	struct nm_error err;
	char *over = NULL;
	int code, status;

	nm_output_open(&output, format);
	code = nm_diff_run(inputs, count, request, &style, output.file, &over, &err);
	status = nm_output_close(&output);
	if (code)
		status = nm_failed(&err, NM_STATUS_USAGE);
	else if (over && !status)
		status = NM_STATUS_NOT_MET;
	if (over)
		nm_message("%s", over);
	free(over);
	return status;
}

static int run_diff(const struct nm_command *self, int argc, char **argv)
{
	struct diff_options o = {.limit = 20, .width = NM_WIDTH_OF_TERMINAL};
	struct nm_diff_input inputs[NM_DIFF_SIDES] = {0};
	struct nm_diff_request request;
	struct nm_operands operands;
	struct nm_error err;
	unsigned opened;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (operands.count < 2 || operands.count > NM_DIFF_SIDES)
		return nm_usage(self, "name the profiles to compare: 2 to %d of them", NM_DIFF_SIDES);
	request =
	    (struct nm_diff_request){.level = o.level,
				     .process = o.process,
				     .part = o.part,
				     .by = o.by,
				     .sort = o.sort,
				     .limit = o.limit,
				     .layout = o.markdown ? NM_DIFF_MARKDOWN : (enum nm_diff_layout)o.layout,
				     .frame = (enum nm_shown_frame)o.frame};
	if (o.fail_on && nm_diff_budget_parse(o.fail_on, &request.budget, &err))
		return nm_failed(&err, NM_STATUS_USAGE);
	status = open_all(&operands, inputs, &opened);
	if (!status)
		status = show_differences(inputs, opened, &request, o.width);
	for (unsigned i = 0; i < opened; i++)
		nm_profile_close(inputs[i].profile);
	return status;
}

const struct nm_command nm_cmd_diff = {
    .name = "diff",
    .summary = "Show what changed between two or more profiles",
    .operands = "BEFORE AFTER...",
    .details =
	"Rows are what changed, by what the change costs; objects, functions and lines are matched through edits\n"
	"of the source.  More than two profiles stand side by side; changes are from the first to the last.\n"
	"Of a simulated and a sampled profile, rows are where the model and the machine disagree.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_diff,
};
