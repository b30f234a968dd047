/* SPDX-License-Identifier: MIT
 *
 * cmd_record.c - nearmiss record: runs a program under the collector and writes its profile.
 */
#include <stdio.h>
#include <unistd.h>

#include "choice.h"
#include "message.h"
#include "options.h"
#include "outcome.h"
#include "recorder.h"

struct record_options {
	struct nm_choice choice;
	const char *output, *trace;
	int collector, by_instruction, embed_sources, quiet;
};

static const struct nm_option options[] = {
    {"output", 'o', "FILE", "write the profile there (nearmiss.nmp)", NM_OPTION_TEXT,
     offsetof(struct record_options, output), NULL},
    {"machine", 'm', "NAME,...", "simulate machines of `nearmiss machines`, or a description (host)",
     NM_OPTION_LIST, offsetof(struct record_options, choice.machines), NULL},
    {"cache", 'c', "SPEC", "simulate these levels, e.g. L1d=32K,8,64:L2=1M,16,64", NM_OPTION_LIST,
     offsetof(struct record_options, choice.caches), NULL},
    {"huge-pages", 0, "SIZE", "simulate each TLB with transparent huge pages too, beside it",
     NM_OPTION_CHOICE, offsetof(struct record_options, choice.huge_pages), "no|2M|1G"},
    {"instr", 0, NULL, "simulate instruction fetches too", NM_OPTION_FLAG,
     offsetof(struct record_options, choice.instructions), NULL},
    {"cores", 0, "N", "simulate N cores with first levels of their own (1)", NM_OPTION_NUMBER,
     offsetof(struct record_options, choice.cores), NULL},
    {"map", 0, "THREAD=CORE,...", "which core a thread runs on (they take turns)", NM_OPTION_TEXT,
     offsetof(struct record_options, choice.map), NULL},
    {"threads", 0, "N", "threads of the simulation (2, or 1 on a single processor)", NM_OPTION_NUMBER,
     offsetof(struct record_options, choice.threads), NULL},
    {"collector", 0, "NAME", "how the program is observed (valgrind)", NM_OPTION_CHOICE,
     offsetof(struct record_options, collector), "valgrind"},
    {"asm", 0, NULL, "count single instructions and keep their code, for annotate --asm", NM_OPTION_FLAG,
     offsetof(struct record_options, by_instruction), NULL},
    {"sets", 0, NULL, "count loads and evictions by set too, for evictions --sets", NM_OPTION_FLAG,
     offsetof(struct record_options, choice.sets), NULL},
    {"callgraph", 'g', NULL, "count by call chain too, for callers and inclusive figures", NM_OPTION_FLAG,
     offsetof(struct record_options, choice.contexts), NULL},
    {"heap-chains", 0, NULL, "tell heap blocks apart by the whole chain of calls that allocates them",
     NM_OPTION_FLAG, offsetof(struct record_options, choice.heap_chains), NULL},
    {"embed-sources", 0, NULL, "keep the sources in the profile, for annotate elsewhere", NM_OPTION_FLAG,
     offsetof(struct record_options, embed_sources), NULL},
    {"trace", 't', "FILE", "keep the run for nearmiss replay too", NM_OPTION_TEXT,
     offsetof(struct record_options, trace), NULL},
    {"quiet", 'q', NULL, "no progress and no summary", NM_OPTION_FLAG, offsetof(struct record_options, quiet),
     NULL},
};

static int run(const struct nm_command *self, int argc, char **argv)
{
	struct record_options o = {.output = "nearmiss.nmp", .choice.threads = nm_default_threads(2)};
	struct nm_recording recording = {0};
	struct nm_sift_request sets;
	struct nm_operands operands;
	struct nm_error err;
	int status, exit_status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (!operands.count)
		return nm_usage(self, "there is no program to run");
	status = nm_choose(self, &o.choice, &recording.machine);
	if (status)
		return status;
	recording.output = o.output;
	recording.trace = o.trace;
	recording.threads = (unsigned)o.choice.threads;
	recording.instructions = o.choice.instructions;
	recording.by_instruction = o.by_instruction;
	recording.contexts = o.choice.contexts;
	recording.heap_chains = o.choice.heap_chains;
	if (o.choice.sets) {
		nm_sift_sets(&sets, &recording.machine);
		recording.sift = &sets;
	}
	recording.embed_sources = o.embed_sources;
	recording.progress = !o.quiet && isatty(STDERR_FILENO);
	recording.argv = operands.at;
	status = nm_record(&recording, &exit_status, &err);
	if (status) {
		nm_message_error(&err);
		return status;
	}
	if (!o.quiet)
		nm_summarise(o.output);
	return exit_status;
}

const struct nm_command nm_cmd_record = {
    .name = "record",
    .summary = "Run a program and record its cache misses",
    .operands = "[--] PROGRAM [ARGUMENT...]",
    .details =
	"Writes a profile and shows its summary on stderr; the program's input, output and exit status\n"
	"are its own.  Without --machine and --cache the host's caches are simulated.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .stops_at_operand = 1,
    .run = run,
};
