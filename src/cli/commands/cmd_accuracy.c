/* SPDX-License-Identifier: MIT
 *
 * cmd_accuracy.c - nearmiss accuracy: how far samples of misses can be trusted, for a program, a trace or a
 * profile. A program is recorded and a trace replayed first.
 */
#include <stdlib.h>
#include <unistd.h>

#include "accuracy.h"
#include "files.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "profile_operand.h"
#include "recorder.h"
#include "replayer.h"
#include "report_options.h"
#include "simulation_options.h"
#include "viewer.h"

struct accuracy_options {
	struct nm_simulation_options simulation;
	const char *input, *sampler, *process, *within;
	int64_t limit, width;
	int format, by;
};

static const struct nm_option options[] = {
    NM_ROW_PROFILE(struct accuracy_options, input),
    {"by", 'b', "PARTS", "shares of objects, lines, evicting pairs, or pairs at a line (object)",
     NM_OPTION_CHOICE, offsetof(struct accuracy_options, by), "object|line|pair|pair-line"},
    {"sampler", 0, "NAME", "show what this sampler, such as miss@1000, says of each part", NM_OPTION_TEXT,
     offsetof(struct accuracy_options, sampler), NULL},
    {"within", 0, "POINTS", "a sampler suffices if no share is off by more (1)", NM_OPTION_TEXT,
     offsetof(struct accuracy_options, within), NULL},
    {"limit", 'n', "N", "show N parts (20); 0: all", NM_OPTION_NUMBER,
     offsetof(struct accuracy_options, limit), NULL},
    NM_ROW_ONLY_PROCESS(struct accuracy_options, process),
    NM_ROW_FORMAT(struct accuracy_options, format),
    NM_ROW_WIDTH(struct accuracy_options, width),
    NM_ROW_PMU(struct accuracy_options, simulation),
    NM_ROW_OUTPUT(struct accuracy_options, simulation),
    NM_ROW_MACHINE(struct accuracy_options, simulation),
    NM_ROW_CACHE(struct accuracy_options, simulation),
    NM_ROW_QUIET(struct accuracy_options, simulation),
};

static const struct nm_option_group groups[] = {
    {"input", "What is shown"},
    {"pmu", "Of a program or a trace"},
    {NULL, NULL},
};

static const char usual_samplers[] = "miss@100,miss@1000,miss@10000,precise@1000,pebs@1000,ibs@1000";

static int read_within(const struct nm_command *self, const char *text, double *ret)
{
	char *end = NULL;

	*ret = text ? strtod(text, &end) : 1;
	return !text || (end != text && !*end && *ret > 0 && *ret <= 100)
		   ? 0
		   : nm_usage(self, "--within takes points of share, above 0 and up to 100, not \"%s\"",
			      text);
}

/* ---- what is simulated first --------------------------------------------------------------------- */

enum subject { PROFILE, TRACE, PROGRAM };

static enum subject subject_of(const struct nm_operands *operands)
{
	const char *path = operands->at[0];
	enum nm_file_kind kind;

	if (!operands->count || nm_names_profile(path))
		return PROFILE;
	kind = nm_file_kind(path);
	return kind == NM_FILE_PROFILE || kind == NM_FILE_SAMPLES ? PROFILE
	       : kind == NM_FILE_OTHER && access(path, X_OK)      ? TRACE
								  : PROGRAM;
}

/* Writes the profile; *ret_exit becomes the program's status. 0, or a status after a message. */
static int simulate_subject(const struct nm_command *self, struct accuracy_options *o, enum subject subject,
			    const struct nm_operands *operands, int *ret_exit)
{
	struct nm_chosen_simulation simulation;
	struct nm_record_request recording = {.argv = operands->at};
	struct nm_run_replay_request replaying = {.input = operands->at[0]};
	struct nm_error err;
	int status, has_result;

	if (subject == TRACE && operands->count > 1)
		return nm_usage(self, "name one trace; before the arguments of a program write --");
	o->simulation.stored = subject == TRACE;
	status = nm_refuse_same_file(o->simulation.output, operands->at[0], "input");
	if (!status)
		status = nm_simulation_prepare(self, &o->simulation, &simulation);
	if (status)
		return status;
	nm_temporary_unlink_on_signals();
	recording.run = replaying.run = simulation.run;
	status = subject == TRACE ? nm_run_replay(&replaying, &has_result, &err)
				  : nm_record(&recording, ret_exit, &err);
	if (status)
		nm_message_error(&err);
	return status;
}

/* ---- the command --------------------------------------------------------------------------------- */

static int run_accuracy(const struct nm_command *self, int argc, char **argv)
{
	struct accuracy_options o = {.simulation = {.output = "nearmiss.nmp", .pmu = usual_samplers},
				     .limit = 20,
				     .width = NM_WIDTH_OF_TERMINAL};
	struct nm_accuracy_request request;
	struct nm_viewer viewer;
	struct nm_operands operands;
	enum subject subject;
	int status, exit_status = 0;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	request = (struct nm_accuracy_request){
	    .by = (enum nm_accuracy_by)o.by, .sampler = o.sampler, .process = o.process, .limit = o.limit};
	status = read_within(self, o.within, &request.within);
	if (status)
		return status;
	subject = subject_of(&operands);
	if (subject == PROFILE)
		status = nm_viewer_open_operand(&viewer, self, &operands, &o.input, (enum nm_format)o.format,
						o.width);
	else
		status = simulate_subject(self, &o, subject, &operands, &exit_status);
	if (!status && subject != PROFILE)
		status = nm_viewer_open(&viewer, o.simulation.output, (enum nm_format)o.format, o.width);
	if (status)
		return status;
	status = nm_accuracy_run(viewer.profile, &request, &viewer.style, viewer.output.file, &viewer.err);
	status = nm_viewer_close(&viewer, status, NM_STATUS_USAGE);
	return status ? status : exit_status;
}

const struct nm_command nm_cmd_accuracy = {
    .name = "accuracy",
    .summary = "Show how far a processor's samples of misses can be trusted for a program",
    .operands = "[PROFILE | TRACE | [--] PROGRAM [ARGUMENT...]]",
    .details =
	"Samplers as processors have them see the simulated misses of a level; their shares stand beside those\n"
	"that were counted.  A profile must have been recorded with --pmu; a program is recorded and a trace\n"
	"replayed first.  SAMPLER is RULE@PERIOD; the rules are\n"
	"  miss      each PERIOD-th load of a line, with the line that it evicts\n"
	"  precise   each PERIOD-th load instruction that misses\n"
	"  pebs      the next such load after the counter overflows, behind a shadow of instructions\n"
	"  ibs       each PERIOD-th instruction, if it misses\n"
	"Then may follow random=SEED, shadow=INSTRUCTIONS (8), handler=LINES (32) and level=NAME.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .groups = groups,
    .run = run_accuracy,
};
