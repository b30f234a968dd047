/* SPDX-License-Identifier: MIT
 *
 * cmd_import.c - nearmiss import FILE: a profile of the samples that perf has recorded.
 */
#include "files.h"
#include "message.h"
#include "open_profile.h"
#include "options.h"
#include "output.h"
#include "perf_importer.h"
#include "simulation_options.h"
#include "summary.h"

struct import_options {
	struct nm_simulation_options simulation;
};

static const struct nm_option options[] = {
    NM_ROW_OUTPUT(struct import_options, simulation),
    NM_ROW_EXACT(struct import_options, simulation),
    NM_ROW_USER_PATH(struct import_options, simulation),
    NM_ROW_EMBED_SOURCES(struct import_options, simulation),
    NM_ROW_SOURCE_ROOT(struct import_options, simulation),
    NM_ROW_QUIET(struct import_options, simulation),
};

static int run_import(const struct nm_command *self, int argc, char **argv)
{
	struct import_options o = {.simulation = {.output = "nearmiss.nmp"}};
	struct nm_perf_request request = {.input = "perf.data"};
	struct nm_operands operands;
	struct nm_error err;
	int status, has_result;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (operands.count > 1)
		return nm_usage(self, "name one file, not several");
	if (operands.count)
		request.input = operands.at[0];
	status = nm_refuse_same_file(o.simulation.output, request.input, "input");
	if (!status)
		status = nm_refuse_same_file(o.simulation.output, o.simulation.exact, "exact profile");
	if (status)
		return status;
	request.output = o.simulation.output;
	request.exact = o.simulation.exact;
	request.user_folders = o.simulation.user_folders;
	request.sources = (struct nm_source_choice){o.simulation.embed_sources, o.simulation.source_roots.at,
						    o.simulation.source_roots.count};
	request.feedback = nm_samples_feedback(o.simulation.quiet);
	nm_temporary_unlink_on_signals();
	status = nm_import_samples(&request, &has_result, &err);
	if (status)
		nm_message_error(&err);
	if (!o.simulation.quiet && has_result)
		nm_summary_print(o.simulation.output);
	return status;
}

const struct nm_command nm_cmd_import = {
    .name = "import",
    .summary = "Make a profile of what perf has sampled",
    .operands = "[FILE]",
    .details =
	"Reads perf.data, or FILE, which may be - for what perf record -o - writes, and names the code and the\n"
	"data of each sample.  perf record -d keeps the addresses of data.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_import,
};
