/* SPDX-License-Identifier: MIT
 *
 * cmd_query.c - nearmiss query SQL: runs a query on a profile.
 */
#include "message.h"
#include "options.h"
#include "profile_operand.h"
#include "report_options.h"
#include "viewer.h"

struct query_options {
	const char *input;
	int64_t width;
	int format;
};

static const struct nm_option options[] = {
    NM_ROW_PROFILE(struct query_options, input),
    NM_ROW_FORMAT(struct query_options, format),
    NM_ROW_WIDTH(struct query_options, width),
};

static int run_query(const struct nm_command *self, int argc, char **argv)
{
	struct query_options o = {.width = NM_WIDTH_OF_TERMINAL};
	struct nm_viewer viewer;
	struct nm_operands operands;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	status = nm_take_profile(self, &operands, &o.input);
	if (status)
		return status;
	if (operands.count != 1)
		return nm_usage(self, operands.count ? "give one statement, in quotes"
						     : "give an SQL statement, in quotes");
	status = nm_viewer_open(&viewer, o.input, (enum nm_format)o.format, o.width);
	if (status)
		return status;
	status =
	    nm_report_query(viewer.profile, operands.at[0], &viewer.style, viewer.output.file, &viewer.err);
	return nm_viewer_close(&viewer, status, NM_STATUS_USAGE);
}

const struct nm_command nm_cmd_query = {
    .name = "query",
    .summary = "Query a profile with SQL",
    .operands = "SQL [PROFILE]",
    .details =
	"Views: info, processes, levels, objects, counts, evictions, top_evictors, events, sets,\n"
	"instructions, instruction_fields, code, code_lines, sources, sectors, prefetches, non_temporal,\n"
	"coherence, sharing, contenders, latent, schedules, schedule_levels, schedule_coherence, schedule_sharing,\n"
	"schedule_contenders, schedule_latent, messages, numa, sites, walks, fields, field_counts,\n"
	"affinity, hot_lines, contexts, context_counts, buckets, threads, regions, timeline,\n"
	"timeline_objects, timeline_lines, phases, curve, distances, reuses, scope_distances,\n"
	"predictions, undebugged, pass_figures, cells, places, samples, relocations, pmu_samplers,\n"
	"pmu_samples, modules, inputs, input_levels, input_counts, spread_objects, spread_lines;\n"
	"of a sweep: tasks, sweep_runs.\n"
	"docs/format/profile.md describes their columns.  Example:\n\n"
	"  nearmiss query \"SELECT object, sum(read_misses + write_misses) AS misses FROM counts\n"
	"                  WHERE level = 'L1d' GROUP BY object ORDER BY misses DESC LIMIT 10\"\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_query,
};
