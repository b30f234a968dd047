/* SPDX-License-Identifier: MIT
 *
 * cmd_replay.c - nearmiss replay FILE: simulates the references of a trace, ours or another tool's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd_replay.h"
#include "files.h"
#include "import.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "replayer.h"
#include "simulation_options.h"
#include "summary.h"

struct replay_options {
	struct nm_simulation_options simulation;
	int format, kernel;
	struct nm_option_list binaries;
	const char *phase;
	int by_phase;
};

/* "any", then those of the importers. */
static const char *format_words(unsigned i, const char **ret_summary)
{
	return i ? nm_import_format_at(i - 1, ret_summary) : "any";
}

static const struct nm_option options[] = {
    NM_ROW_OUTPUT(struct replay_options, simulation),
    NM_ROW_MACHINE(struct replay_options, simulation),
    NM_ROW_CACHE(struct replay_options, simulation),
    NM_ROW_HUGE_PAGES(struct replay_options, simulation),
    NM_ROW_INSTR(struct replay_options, simulation),
    NM_ROW_CORES(struct replay_options, simulation),
    NM_ROW_MAP(struct replay_options, simulation),
    NM_ROW_QUANTUM(struct replay_options, simulation),
    NM_ROW_SCHEDULE(struct replay_options, simulation),
    NM_ROW_SCHEDULES(struct replay_options, simulation),
    NM_ROW_RELOCATE(struct replay_options, simulation),
    NM_ROW_PMU(struct replay_options, simulation),
    {"threads", 0, "N",
     "threads: for processes, or to decode, simulate, unpack, count distances (0: as many as are of use)",
     NM_OPTION_NUMBER, offsetof(struct replay_options, simulation.threads), NULL},
    NM_ROW_ASM(struct replay_options, simulation),
    NM_ROW_SETS(struct replay_options, simulation),
    NM_ROW_CALLGRAPH(struct replay_options, simulation),
    NM_ROW_HEAP_CHAINS(struct replay_options, simulation),
    NM_ROW_DISTANCES(struct replay_options, simulation),
    NM_ROW_DISTANCE_LIMIT(struct replay_options, simulation),
    NM_ROW_ESTIMATE(struct replay_options, simulation),
    NM_ROW_ALLOC_FN(struct replay_options, simulation),
    NM_ROW_POOL_FN(struct replay_options, simulation),
    NM_ROW_USER_PATH(struct replay_options, simulation),
    NM_ROW_EMBED_SOURCES(struct replay_options, simulation),
    NM_ROW_SOURCE_ROOT(struct replay_options, simulation),
    NM_ROW_FROM(struct replay_options, simulation),
    NM_ROW_UNTIL(struct replay_options, simulation),
    NM_ROW_IN(struct replay_options, simulation),
    {"by-phase", 0, NULL, "count by the phases of the run, for --phase and --by phase; reads FILE twice",
     NM_OPTION_FLAG, offsetof(struct replay_options, by_phase), NULL},
    {"phase", 0, "NAME", "count only this phase of the run, by its name or letter; reads FILE twice",
     NM_OPTION_TEXT, offsetof(struct replay_options, phase), NULL},
    {"format", 'f', "FORMAT", "format of the file (detected)", NM_OPTION_CHOICE,
     offsetof(struct replay_options, format), NULL},
    {"kernel", 0, NULL, "count the kernel's part of another tool's trace, too", NM_OPTION_FLAG,
     offsetof(struct replay_options, kernel), NULL},
    {"binary", 0, "FILE[@ADDRESS]", "another tool's trace ran this file; may be repeated", NM_OPTION_LIST,
     offsetof(struct replay_options, binaries), NULL},
    NM_ROW_QUIET(struct replay_options, simulation),
};

static const char *const here[] = {"."};

struct nm_chain_request *nm_replay_ranks;

/* What is asked for. 0; or 1, and *ret_status. */
static int prepare(const struct nm_command *self, int argc, char **argv, struct replay_options *o,
		   struct nm_operands *operands, struct nm_chosen_simulation *simulation, int *ret_status)
{
	if (!nm_options_parse(self, argc, argv, o, operands, ret_status))
		return 1;
	if (operands->count != 1)
		*ret_status =
		    nm_usage(self, operands->count ? "name one file, not several" : "name a file to replay");
	else if (o->by_phase && o->phase)
		*ret_status = nm_usage(self, "--by-phase counts all phases and --phase one: choose one");
	else
		*ret_status = nm_refuse_same_file(o->simulation.output, operands->at[0], "input");
	if (!*ret_status)
		*ret_status = nm_simulation_prepare(self, &o->simulation, simulation);
	return *ret_status != 0;
}

/* Of several ranks, the first looks alone at what is asked for: it says what is wrong, and the others end. */
static int prepare_ranks(const struct nm_command *self, int argc, char **argv, struct replay_options *o,
			 struct nm_operands *operands, struct nm_chosen_simulation *simulation,
			 int *ret_status)
{
	struct nm_error err = {0};
	int done;

	if (!nm_replay_ranks)
		return prepare(self, argc, argv, o, operands, simulation, ret_status);
	*ret_status = 0;
	if (nm_replay_ranks->transport->rank && nm_chain_agree(nm_replay_ranks, 0, &err))
		return 1;
	done = prepare(self, argc, argv, o, operands, simulation, ret_status);
	if (!nm_replay_ranks->transport->rank)
		nm_chain_agree(nm_replay_ranks, done ? NM_EINVAL : 0, &err);
	return done;
}

/* A line for each rank. */
static void print_work(void)
{
	fprintf(stderr, "%5s %10s %14s %12s %12s %12s %9s %9s %9s\n", "rank", "read", "references",
		"decided late", "followed", "outline", "follow", "simulate", "settle");
	for (unsigned k = 0; k < nm_replay_ranks->transport->ranks; k++) {
		const struct nm_chain_work *w = &nm_replay_ranks->work[k];

		fprintf(stderr,
			"%5u %10" PRIu64 " %14" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64
			" %7.2f s %7.2f s %7.2f s\n",
			k, w->read_bytes, w->references, w->open, w->followed_bytes, w->outline_bytes,
			w->follow_seconds, w->simulate_seconds, w->settle_seconds);
	}
}

static void report(const struct replay_options *o, int status, int has_result, const struct nm_error *err)
{
	const struct nm_chain_request *ranks = nm_replay_ranks;

	if (status && !(ranks && ranks->is_refused && ranks->transport->rank))
		nm_message_error(err);
	if (o->simulation.quiet || !has_result)
		return;
	if (ranks)
		print_work();
	nm_summary_print(o->simulation.output);
}

static int run_replay(const struct nm_command *self, int argc, char **argv)
{
	struct replay_options o = {.simulation = {.output = "nearmiss.nmp", .stored = 1}};
	struct nm_chosen_simulation simulation;
	struct nm_run_replay_request request = {.chain = nm_replay_ranks};
	struct nm_operands operands;
	struct nm_error err;
	const char *summary;
	int status, has_result;

	if (prepare_ranks(self, argc, argv, &o, &operands, &simulation, &status))
		return status;
	if (!o.simulation.source_roots
		 .count) { /* a trace from elsewhere must not choose which files are kept */
		simulation.run.sources.roots = here;
		simulation.run.sources.root_count = 1;
	}
	request.run = simulation.run;
	request.import.kernel = o.kernel;
	request.input = operands.at[0];
	request.binaries = o.binaries.at;
	request.binary_count = o.binaries.count;
	request.processors =
	    (unsigned)(o.simulation.threads ? o.simulation.threads : sysconf(_SC_NPROCESSORS_ONLN));
	request.by_phase = o.by_phase;
	request.phase = o.phase;
	if (o.format)
		request.import.format = nm_import_format_at((size_t)o.format - 1, &summary);
	nm_temporary_unlink_on_signals();
	status = nm_run_replay(&request, &has_result, &err);
	report(&o, status, has_result, &err);
	return status;
}

const struct nm_command nm_cmd_replay = {
    .name = "replay",
    .summary = "Simulate a trace file",
    .operands = "FILE",
    .details =
	"Writes the same profile as a recording of the run would, with any caches, and prints its summary on\n"
	"stderr.  Reads traces of `nearmiss record --trace`, Lackey, Dinero, DynamoRIO and ChampSim, and CSV,\n"
	"also packed with gzip, bzip2, zstd or xz, and in a tar archive.  FILE - is standard input.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .formats = format_words,
    .run = run_replay,
};
