/* SPDX-License-Identifier: MIT
 *
 * cmd_sample.c - nearmiss sample PROGRAM: runs a program and samples its accesses on the processor.
 */
#include "message.h"
#include "open_profile.h"
#include "options.h"
#include "output.h"
#include "program_sampler.h"
#include "simulation_options.h"
#include "summary.h"

struct sample_options {
	struct nm_simulation_options simulation;
	int event; /* enum nm_sampled_kind */
	int64_t period;
	int is_without_heap;
	int64_t heap_from;
	int64_t pid, seconds;
};

static const struct nm_option options[] = {
    NM_ROW_OUTPUT(struct sample_options, simulation),
    {"event", 'e', "NAME", "what to sample: auto, loads, ibs, cycles, faults, clock (auto)", NM_OPTION_CHOICE,
     offsetof(struct sample_options, event), "auto|loads|ibs|cycles|faults|clock"},
    {"period", 'c', "N", "take every Nth event (faults: 1; loads: 10007; ibs: 100000; others: 1000003)",
     NM_OPTION_NUMBER, offsetof(struct sample_options, period), NULL},
    {"no-heap", 0, NULL, "do not note allocations: the heap is one object", NM_OPTION_FLAG,
     offsetof(struct sample_options, is_without_heap), NULL},
    {"heap-from", 0, "BYTES", "note allocations of at least so many bytes only (0)", NM_OPTION_NUMBER,
     offsetof(struct sample_options, heap_from), NULL},
    {"pid", 'p', "PID", "sample a process that runs, until it ends or Ctrl-C", NM_OPTION_NUMBER,
     offsetof(struct sample_options, pid), NULL},
    {"for", 0, "SECONDS", "and for so long at most", NM_OPTION_NUMBER,
     offsetof(struct sample_options, seconds), NULL},
    NM_ROW_EXACT(struct sample_options, simulation),
    NM_ROW_USER_PATH(struct sample_options, simulation),
    NM_ROW_EMBED_SOURCES(struct sample_options, simulation),
    NM_ROW_SOURCE_ROOT(struct sample_options, simulation),
    NM_ROW_QUIET(struct sample_options, simulation),
};

static int run_sample(const struct nm_command *self, int argc, char **argv)
{
	struct sample_options o = {.simulation = {.output = "nearmiss.nmp"}};
	struct nm_sample_request request = {.output = NULL};
	struct nm_operands operands;
	struct nm_error err;
	int status, has_result, exit_status = 0;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (!operands.count == !o.pid)
		return nm_usage(self, "name a program to run, or a process with --pid");
	if (o.seconds && !o.pid)
		return nm_usage(self, "--for is for a process that runs: it needs --pid");
	status = nm_refuse_same_file(o.simulation.output, o.simulation.exact, "exact profile");
	if (status)
		return status;
	request = (struct nm_sample_request){
	    .event = (enum nm_sampled_kind)o.event,
	    .period = (uint64_t)o.period,
	    .is_without_heap = o.is_without_heap,
	    .heap_from = (uint64_t)o.heap_from,
	    .output = o.simulation.output,
	    .exact = o.simulation.exact,
	    .user_folders = o.simulation.user_folders,
	    .sources = {o.simulation.embed_sources, o.simulation.source_roots.at,
			o.simulation.source_roots.count},
	    .feedback = nm_samples_feedback(o.simulation.quiet),
	    .argv = operands.at,
	    .pid = (pid_t)o.pid,
	    .seconds = o.seconds,
	};
	status = o.pid ? nm_sample_process(&request, &has_result, &err)
		       : nm_sample(&request, &exit_status, &has_result, &err);
	if (status)
		nm_message_error(&err);
	if (!o.simulation.quiet && has_result)
		nm_summary_print(o.simulation.output);
	return status ? status : exit_status;
}

const struct nm_command nm_cmd_sample = {
    .name = "sample",
    .summary = "Run a program and sample its accesses on the processor",
    .operands = "[--] PROGRAM [ARGUMENT...] | --pid PID",
    .details =
	"Samples Intel's loads, AMD's IBS or cycles where the processor has them; else page faults, the first\n"
	"touches of pages, which Linux samples on every machine.  Writes a profile and prints its summary on\n"
	"stderr.  The program keeps its input, output and exit status.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .stops_at_operand = 1,
    .run = run_sample,
};
