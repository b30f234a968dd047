/* SPDX-License-Identifier: MIT
 *
 * cmd_merge.c - nearmiss merge: adds profiles up.
 */
#include <unistd.h>

#include "merge.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "profile_operand.h"

enum { MOST_THREADS = 1024 };

struct merge_options {
	const char *output;
	int64_t threads;
	int quiet;
};

static const struct nm_option options[] = {
    {"output", 'o', "FILE", "write this profile (merged.nmp)", NM_OPTION_TEXT,
     offsetof(struct merge_options, output), NULL},
    {"threads", 0, "N", "merge on N processors (0: all)", NM_OPTION_NUMBER,
     offsetof(struct merge_options, threads), NULL},
    {"quiet", 'q', NULL, "do not say what was merged", NM_OPTION_FLAG, offsetof(struct merge_options, quiet),
     NULL},
};

static int add_all(struct nm_merge *merge, const struct nm_operands *operands, int64_t threads)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct nm_error err;
	size_t faulty;

	if (!threads)
		threads = processors > 0 ? processors : 1;
	if (!nm_merge_add_all(merge, (const char *const *)operands->at, (size_t)operands->count,
			      (unsigned)threads, &faulty, &err))
		return 0;
	nm_profile_failed(operands->at[faulty], &err);
	return err.code == NM_EINVAL ? NM_STATUS_USAGE : nm_status_of(err.code, NM_STATUS_BAD_INPUT);
}

static int run_merge(const struct nm_command *self, int argc, char **argv)
{
	struct merge_options o = {.output = "merged.nmp"};
	struct nm_merge_ended ended;
	struct nm_operands operands;
	struct nm_merge *merge;
	struct nm_error err;
	int status = 0;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (!operands.count)
		return nm_usage(self, "name the profiles to merge");
	if (o.threads > MOST_THREADS)
		return nm_usage(self, "--threads takes a number from 0 to %d", MOST_THREADS);
	for (int i = 0; i < operands.count && !status; i++)
		status = nm_refuse_same_file(o.output, operands.at[i], "input");
	if (status)
		return status;
	if (nm_merge_new(&merge, o.output, &err))
		return nm_failed(&err, NM_STATUS_NO_OUTPUT);
	status = add_all(merge, &operands, o.threads);
	if (status) {
		nm_merge_abort(merge);
		return status;
	}
	if (nm_merge_commit(merge, &ended, &err))
		return nm_failed(&err, NM_STATUS_NO_OUTPUT);
	if (*ended.missing)
		nm_message("there is no profile of rank %s: it is not in the sums", ended.missing);
	if (!o.quiet)
		nm_message("%s has the sums of %lld profiles: nearmiss report ranks %s shows how they differ",
			   o.output, (long long)ended.inputs, o.output);
	return NM_STATUS_OK;
}

const struct nm_command nm_cmd_merge = {
    .name = "merge",
    .summary = "Add up the profiles of ranks, runs or programs",
    .operands = "PROFILE...",
    .details =
	"The merged profile has the sums, for all commands that show a profile, and what each input counted:\n"
	"  nearmiss report ranks         each rank or run, and which of them behave alike\n"
	"  nearmiss report spread        objects whose ranks differ most\n"
	"  nearmiss report linespread    lines whose ranks differ most\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_merge,
};
