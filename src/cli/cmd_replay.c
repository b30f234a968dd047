/* SPDX-License-Identifier: MIT
 *
 * cmd_replay.c - nearmiss replay FILE: simulates what a trace tells, ours or another tool's, as if the program ran
 * again.
 */
#include <unistd.h>

#include "choice.h"
#include "import.h"
#include "message.h"
#include "outcome.h"
#include "replayer.h"

struct replay_options {
	struct nm_choice choice;
	const char *output;
	int by_instruction, embed_sources, from, quiet;
};

static const struct nm_option options[] = {
    {"output", 'o', "FILE", "write the profile there (nearmiss.nmp)", NM_OPTION_TEXT,
     offsetof(struct replay_options, output), NULL},
    {"machine", 'm', "NAME,...", "simulate machines of `nearmiss machines`, or a description (host)",
     NM_OPTION_LIST, offsetof(struct replay_options, choice.machines), NULL},
    {"cache", 'c', "SPEC", "simulate these levels, e.g. L1d=32K,8,64:L2=1M,16,64", NM_OPTION_LIST,
     offsetof(struct replay_options, choice.caches), NULL},
    {"huge-pages", 0, "SIZE", "simulate each TLB with transparent huge pages too, beside it",
     NM_OPTION_CHOICE, offsetof(struct replay_options, choice.huge_pages), "no|2M|1G"},
    {"instr", 0, NULL, "simulate instruction fetches too", NM_OPTION_FLAG,
     offsetof(struct replay_options, choice.instructions), NULL},
    {"cores", 0, "N", "simulate N cores with first levels of their own (1)", NM_OPTION_NUMBER,
     offsetof(struct replay_options, choice.cores), NULL},
    {"map", 0, "THREAD=CORE,...", "which core a thread runs on (they take turns)", NM_OPTION_TEXT,
     offsetof(struct replay_options, choice.map), NULL},
    {"threads", 0, "N",
     "threads, 1 to 3: the model, the unpacking in one of its own (as there are processors)",
     NM_OPTION_NUMBER, offsetof(struct replay_options, choice.threads), NULL},
    {"sets", 0, NULL, "count loads and evictions by set too, for evictions --sets", NM_OPTION_FLAG,
     offsetof(struct replay_options, choice.sets), NULL},
    {"callgraph", 'g', NULL, "count by call chain too, for callers and inclusive figures", NM_OPTION_FLAG,
     offsetof(struct replay_options, choice.contexts), NULL},
    {"heap-chains", 0, NULL, "tell heap blocks apart by the whole chain of calls that allocates them",
     NM_OPTION_FLAG, offsetof(struct replay_options, choice.heap_chains), NULL},
    {"asm", 0, NULL, "count single instructions and keep their code, for annotate --asm", NM_OPTION_FLAG,
     offsetof(struct replay_options, by_instruction), NULL},
    {"embed-sources", 0, NULL, "keep the sources in the profile, for annotate elsewhere", NM_OPTION_FLAG,
     offsetof(struct replay_options, embed_sources), NULL},
    {"from", 0, "FORMAT", "the file is in this format (told from its beginning)", NM_OPTION_CHOICE,
     offsetof(struct replay_options, from), "any|lackey|din|drmemtrace|csv|champsim"},
    {"quiet", 'q', NULL, "no progress and no summary", NM_OPTION_FLAG, offsetof(struct replay_options, quiet),
     NULL},
};

static int run(const struct nm_command *self, int argc, char **argv)
{
	struct replay_options o = {.output = "nearmiss.nmp",
				   .choice = {.threads = nm_default_threads(3), .stored = 1}};
	struct nm_replaying replaying = {0};
	struct nm_sift_request sets;
	struct nm_operands operands;
	struct nm_error err;
	const char *summary;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (operands.count != 1)
		return nm_usage(self, operands.count ? "one file at a time" : "there is no file to replay");
	status = nm_choose(self, &o.choice, &replaying.machine);
	if (status)
		return status;
	replaying.input = operands.at[0];
	replaying.output = o.output;
	replaying.by_instruction = o.by_instruction;
	replaying.embed_sources = o.embed_sources;
	if (o.from)
		replaying.format = nm_import_format_at((size_t)o.from - 1, &summary);
	replaying.threads = (unsigned)o.choice.threads;
	replaying.instructions = o.choice.instructions;
	replaying.contexts = o.choice.contexts;
	replaying.heap_chains = o.choice.heap_chains;
	if (o.choice.sets) {
		nm_sift_sets(&sets, &replaying.machine);
		replaying.sift = &sets;
	}
	replaying.progress = !o.quiet && isatty(STDERR_FILENO);
	status = nm_replay(&replaying, &err);
	if (status)
		nm_message_error(&err);
	if (!o.quiet && (!status || status == NM_STATUS_DAMAGED))
		nm_summarise(o.output);
	return status;
}

const struct nm_command nm_cmd_replay = {
    .name = "replay",
    .summary = "Simulate a stored trace, or one of another tool",
    .operands = "FILE",
    .details =
	"Writes the same profile as a recording of the run would, with any caches, and shows its summary on\n"
	"stderr.  Traces are written by `nearmiss record --trace`, by Lackey, Dinero, DynamoRIO and ChampSim, or as CSV;\n"
	"gzip, zstd and xz are unpacked.  FILE - is standard input.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
