/* SPDX-License-Identifier: MIT
 *
 * cmd_record.c - nearmiss record: runs a program and writes its profile.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "options.h"
#include "outlive.h"
#include "output.h"
#include "rank.h"
#include "recorder.h"
#include "sample_option.h"
#include "simulation_options.h"
#include "summary.h"
#include "text.h"

struct record_options {
	struct nm_simulation_options simulation;
	const char *trace;
	const char *sample; /* RATE,..., or NULL */
	const char *memory;
	const char *after, *length; /* seconds; `after` may be "start" */
	const char *pid;
	const char *ranks;               /* "0,7-9", or NULL: all */
	struct nm_option_list variables; /* of a hermetic recording: "NAME=VALUE", or "NAME" */
	int hermetic;
	int collector;
};

static const struct nm_option options[] = {
    NM_ROW_OUTPUT(struct record_options, simulation),
    NM_ROW_QUIET(struct record_options, simulation),
    NM_ROW_THREADS(struct record_options, simulation),
    {"memory", 0, "SIZE", "more memory than this has new processes wait; 0: any (a quarter of the machine's)",
     NM_OPTION_TEXT, offsetof(struct record_options, memory), NULL},
    {"ranks", 0, "LIST", "under mpirun and the like: record only these ranks, such as 0,7-9", NM_OPTION_TEXT,
     offsetof(struct record_options, ranks), NULL},
    {"collector", 0, "NAME", "how to observe the program (valgrind)", NM_OPTION_CHOICE,
     offsetof(struct record_options, collector), "valgrind"},
    {"hermetic", 0, NULL,
     "pin what differs between runs: clocks, random numbers, processors, environment, stack", NM_OPTION_FLAG,
     offsetof(struct record_options, hermetic), NULL},
    {"env", 0, "NAME[=VALUE]",
     "with --hermetic: keep, or set, this variable of the environment; may be repeated", NM_OPTION_LIST,
     offsetof(struct record_options, variables), NULL},
    NM_ROW_MACHINE(struct record_options, simulation),
    NM_ROW_CACHE(struct record_options, simulation),
    NM_ROW_HUGE_PAGES(struct record_options, simulation),
    NM_ROW_INSTR(struct record_options, simulation),
    NM_ROW_CORES(struct record_options, simulation),
    NM_ROW_ONE_MACHINE(struct record_options, simulation),
    NM_ROW_MAP(struct record_options, simulation),
    NM_ROW_QUANTUM(struct record_options, simulation),
    NM_ROW_SCHEDULE(struct record_options, simulation),
    NM_ROW_SCHEDULES(struct record_options, simulation),
    NM_ROW_RELOCATE(struct record_options, simulation),
    NM_ROW_DISTANCES(struct record_options, simulation),
    NM_ROW_DISTANCE_LIMIT(struct record_options, simulation),
    NM_ROW_ESTIMATE(struct record_options, simulation),
    {"sample", 0, "RATE", "record only a sample of references, for curves: cheap, and without cache counts",
     NM_OPTION_TEXT, offsetof(struct record_options, sample), NULL},
    NM_ROW_HEAP_CHAINS(struct record_options, simulation),
    NM_ROW_ALLOC_FN(struct record_options, simulation),
    NM_ROW_POOL_FN(struct record_options, simulation),
    NM_ROW_USER_PATH(struct record_options, simulation),
    NM_ROW_FROM(struct record_options, simulation),
    NM_ROW_UNTIL(struct record_options, simulation),
    NM_ROW_IN(struct record_options, simulation),
    {"after", 0, "SECONDS", "count from then on; start: when nearmiss ctl says so, or SIGUSR1",
     NM_OPTION_TEXT, offsetof(struct record_options, after), NULL},
    {"for", 0, "SECONDS", "count for so long, from each start on", NM_OPTION_TEXT,
     offsetof(struct record_options, length), NULL},
    {"pid", 'p', "PID", "not under Valgrind: see nearmiss sample --pid", NM_OPTION_TEXT,
     offsetof(struct record_options, pid), NULL},
    NM_ROW_CALLGRAPH(struct record_options, simulation),
    NM_ROW_ASM(struct record_options, simulation),
    NM_ROW_SETS(struct record_options, simulation),
    NM_ROW_PMU(struct record_options, simulation),
    NM_ROW_EMBED_SOURCES(struct record_options, simulation),
    NM_ROW_SOURCE_ROOT(struct record_options, simulation),
    {"trace", 't', "FILE", "write a trace too, for nearmiss replay", NM_OPTION_TEXT,
     offsetof(struct record_options, trace), NULL},
};

static const struct nm_option_group groups[] = {
    {"output", "Basics"},
    {"hermetic", "The same counts in each run"},
    {"machine", "Machine"},
    {"cores", "Threads of the program"},
    {"distances", "Curves"},
    {"heap-chains", "Names"},
    {"from", "A part of the run"},
    {"callgraph", "What else to keep"},
    {NULL, NULL},
};

/* The option that needs every reference, or NULL. */
static const char *beyond_samples(const struct record_options *r)
{
	const struct nm_simulation_options *o = &r->simulation;

	return r->after            ? "--after"
	       : r->length         ? "--for"
	       : o->instructions   ? "--instr"
	       : o->by_instruction ? "--asm"
	       : o->sets           ? "--sets"
	       : o->contexts       ? "--callgraph"
	       : o->heap_chains    ? "--heap-chains"
	       : o->distances      ? "--distances"
	       : o->huge_pages     ? "--huge-pages"
	       : o->from           ? "--from"
	       : o->in             ? "--in"
	       : o->until          ? "--until"
	       : o->relocations    ? "--relocate"
	       : o->pmu            ? "--pmu"
				   : NULL;
}

/* The option that needs a machine for each process, or NULL. */
static const char *beyond_one_machine(const struct record_options *o)
{
	const struct nm_simulation_options *s = &o->simulation;

	return o->sample           ? "--sample"
	       : s->by_instruction ? "--asm"
	       : s->sets           ? "--sets"
	       : s->huge_pages     ? "--huge-pages"
	       : s->relocations    ? "--relocate"
	       : s->pmu            ? "--pmu"
				   : NULL;
}

/* What the machine of all processes cannot have. 0, or a status after a message. */
static int check_one_machine(const struct nm_command *self, const struct record_options *o,
			     const struct nm_machine *machine)
{
	const char *beyond = beyond_one_machine(o);

	if (!o->simulation.one_machine)
		return 0;
	if (beyond)
		return nm_usage(self, "--one-machine cannot do %s", beyond);
	for (unsigned i = 0; i < machine->count; i++)
		if (machine->levels[i].pages || machine->levels[i].prefetch == NM_PREFETCH_STRIDE)
			return nm_usage(self, "--one-machine simulates no %s",
					machine->levels[i].pages ? "TLBs with pages=" : "prefetch=stride");
	return 0;
}

static int choose_sample(const struct nm_command *self, const struct record_options *o,
			 struct nm_record_request *request)
{
	const char *beyond = beyond_samples(o);

	if (!o->sample)
		return 0;
	if (beyond)
		return nm_usage(self, "--sample records no cache misses and cannot do %s", beyond);
	return nm_read_sample(self, o->sample, request->run.engine.machine, &request->sample);
}

/* A quarter of the machine's memory, unless the user says how much. */
static int choose_memory(const struct nm_command *self, const char *text, uint64_t *ret)
{
	*ret = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4;
	if (!text)
		return 0;
	*ret = 0;
	return !strcmp(text, "0") || nm_read_size(text, ret)
		   ? 0
		   : nm_usage(self, "--memory takes a size such as 4G, not \"%s\"", text);
}

/* 1, or 0: not a number of seconds above 0. */
static int read_seconds(const char *text, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return end != text && !*end && isfinite(*ret) && *ret > 0;
}

static int choose_times(const struct nm_command *self, const struct record_options *o,
			struct nm_record_times *ret)
{
	*ret = (struct nm_record_times){0};
	if (o->after && !strcmp(o->after, "start"))
		ret->after = INFINITY;
	else if (o->after && !read_seconds(o->after, &ret->after))
		return nm_usage(self, "--after takes seconds or \"start\", not \"%s\"", o->after);
	if (o->length && !read_seconds(o->length, &ret->length))
		return nm_usage(self, "--for takes seconds, not \"%s\"", o->length);
	return 0;
}

/* The program as it is, in place of nearmiss: a rank that is not recorded. Returns a status if that fails. */
static int run_unrecorded(char *const *argv)
{
	execvp(argv[0], argv);
	nm_message("cannot run %s: %s", argv[0], strerror(errno));
	return errno == ENOENT ? NM_STATUS_NO_PROGRAM : NM_STATUS_NOT_EXECUTABLE;
}

/* Names the files that are written after this process. 0, or a status after a message. */
static int name_files(struct record_options *o, char *names[2])
{
	const char **const patterns[2] = {&o->simulation.output, &o->trace};
	struct nm_error err;

	for (int i = 0; i < 2; i++) {
		if (*patterns[i] && nm_rank_file_name(*patterns[i], &names[i], &err))
			return nm_failed(&err, NM_STATUS_USAGE);
		*patterns[i] = names[i];
	}
	return nm_refuse_same_file(o->trace, o->simulation.output, "profile");
}

static void tell_lost(const char *signal_name)
{
	nm_message("the recorder was killed (SIG%s): this rank has no profile", signal_name);
}

static int record_program(const struct nm_command *self, struct record_options *o, char *const *argv)
{
	const char *rank = nm_rank();
	char host[256] = "";
	struct nm_chosen_simulation simulation;
	const struct nm_environment environment = {o->variables.at, o->variables.count};
	struct nm_record_request request = {
	    .trace = o->trace, .argv = argv, .hermetic = o->hermetic ? &environment : NULL};
	struct nm_error err;
	int exit_status, status = nm_simulation_prepare(self, &o->simulation, &simulation);

	if (status)
		return status;
	request.run = simulation.run;
	if (rank && !gethostname(host, sizeof host - 1))
		request.run.job = (struct nm_run_job){rank, nm_ranks(), host, nm_outlive(tell_lost)};
	status = check_one_machine(self, o, &simulation.machine);
	if (!status)
		status = choose_sample(self, o, &request);
	if (!status)
		status = choose_times(self, o, &request.times);
	if (!status)
		status = choose_memory(self, o->memory, &request.memory);
	if (status)
		return status;
	status = nm_record(&request, &exit_status, &err);
	if (status) {
		nm_message_error(&err);
		return status;
	}
	if (!o->simulation.quiet && (!rank || !strcmp(rank, "0")))
		nm_summary_print(o->simulation.output);
	return exit_status;
}

static int run_record(const struct nm_command *self, int argc, char **argv)
{
	struct record_options o = {.simulation = {.output = nm_rank() ? "nearmiss-%r.nmp" : "nearmiss.nmp"}};
	struct nm_operands operands;
	struct nm_error err;
	char *names[2] = {NULL, NULL};
	int status, is_chosen = 1;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (o.pid)
		return nm_usage(self,
				"Valgrind cannot take over a process that runs: nearmiss sample --pid %s can",
				o.pid);
	if (!operands.count)
		return nm_usage(self, "name a program to run");
	if (o.variables.count && !o.hermetic)
		return nm_usage(self, "--env needs --hermetic");
	if (o.ranks && nm_rank_is_in(o.ranks, &is_chosen, &err))
		return nm_usage(self, "--ranks: %s", err.text);
	if (!is_chosen)
		return run_unrecorded(operands.at);
	status = name_files(&o, names);
	if (!status)
		status = record_program(self, &o, operands.at);
	free(names[0]);
	free(names[1]);
	return status;
}

const struct nm_command nm_cmd_record = {
    .name = "record",
    .summary = "Run a program and record its cache misses",
    .operands = "[--] PROGRAM [ARGUMENT...]",
    .details =
	"Writes a profile and prints its summary on stderr.  The program keeps its input, output and exit\n"
	"status.  Without --machine and --cache, nearmiss simulates the caches of this machine.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .groups = groups,
    .stops_at_operand = 1,
    .run = run_record,
};
