/* SPDX-License-Identifier: MIT
 *
 * cmd_record.c - nearmiss record: runs a program under the collector and writes its profile.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "reader.h"
#include "recorder.h"

enum { MAX_THREADS = 64 };

struct record_options {
	const char *output, *machine, *cache;
	int64_t threads;
	int collector, instructions, quiet;
};

static const struct nm_option options[] = {
    {"output", 'o', "FILE", "write the profile there (nearmiss.nmp)", NM_OPTION_TEXT,
     offsetof(struct record_options, output), NULL},
    {"machine", 'm', "NAME", "simulate a machine of `nearmiss machines` (host)", NM_OPTION_TEXT,
     offsetof(struct record_options, machine), NULL},
    {"cache", 'c', "SPEC", "simulate these levels, e.g. L1d=32K,8,64:L2=1M,16,64", NM_OPTION_TEXT,
     offsetof(struct record_options, cache), NULL},
    {"instr", 0, NULL, "simulate instruction fetches too", NM_OPTION_FLAG,
     offsetof(struct record_options, instructions), NULL},
    {"threads", 0, "N", "threads of the simulation (2, or 1 on a single processor)", NM_OPTION_NUMBER,
     offsetof(struct record_options, threads), NULL},
    {"collector", 0, "NAME", "how the program is observed (valgrind)", NM_OPTION_CHOICE,
     offsetof(struct record_options, collector), "valgrind"},
    {"quiet", 'q', NULL, "no progress and no summary", NM_OPTION_FLAG, offsetof(struct record_options, quiet),
     NULL},
};

/* Decoding and modelling beside each other, where there are processors; more threads would split models into
 * shards, which costs more than it brings in a live recording. */
static unsigned default_threads(void) { return sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1; }

/* A level that nothing reaches is left out: L1i without --instr. */
static void drop_instruction_levels(struct nm_machine *machine)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < machine->count; i++)
		if (machine->levels[i].side != NM_SIDE_INSTRUCTION)
			machine->levels[kept++] = machine->levels[i];
	machine->count = kept;
}

static int choose_machine(const struct nm_command *self, const struct record_options *o,
			  struct nm_machine *ret_machine)
{
	const struct nm_machine *named;
	struct nm_error err;

	if (o->machine && o->cache)
		return nm_usage(self, "--machine and --cache exclude each other");
	if (o->cache) {
		if (nm_machine_parse(o->cache, ret_machine, &err))
			return nm_failed(&err, NM_STATUS_BAD_MACHINE);
	} else if (!o->machine || !strcmp(o->machine, "host")) {
		if (nm_machine_host(ret_machine, &err))
			return nm_failed(&err, NM_STATUS_BAD_MACHINE);
	} else {
		named = nm_machine_named(o->machine);
		if (!named) {
			nm_message("unknown machine \"%s\" (see nearmiss machines)", o->machine);
			return NM_STATUS_BAD_MACHINE;
		}
		*ret_machine = *named;
	}
	if (!o->instructions)
		drop_instruction_levels(ret_machine);
	if (ret_machine->count)
		return 0;
	nm_message("the machine has no level that takes data: give --instr too");
	return NM_STATUS_BAD_MACHINE;
}

/* The summary goes to stderr: stdout is the program's. */
static void summarise(const char *path)
{
	struct nm_report_request request = {.limit = 10};
	struct nm_profile *profile;
	struct nm_style style = nm_style_of(stderr, NM_FORMAT_TEXT, NM_WIDTH_OF_TERMINAL);
	struct nm_error err;

	if (nm_profile_open(&profile, path, &err)) {
		nm_message_error(&err);
		return;
	}
	fputc('\n', stderr);
	if (nm_report_run(nm_report_at(0), profile, &request, &style, stderr, &err))
		nm_message_error(&err);
	nm_profile_close(profile);
}

static int run(const struct nm_command *self, int argc, char **argv)
{
	struct record_options o = {.output = "nearmiss.nmp", .threads = default_threads()};
	struct nm_recording recording = {0};
	struct nm_operands operands;
	struct nm_error err;
	int status, exit_status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (!operands.count)
		return nm_usage(self, "there is no program to run");
	if (o.threads < 1 || o.threads > MAX_THREADS)
		return nm_usage(self, "--threads takes a number from 1 to %d", MAX_THREADS);
	status = choose_machine(self, &o, &recording.machine);
	if (status)
		return status;
	recording.output = o.output;
	recording.threads = (unsigned)o.threads;
	recording.instructions = o.instructions;
	recording.progress = !o.quiet && isatty(STDERR_FILENO);
	recording.argv = operands.at;
	status = nm_record(&recording, &exit_status, &err);
	if (status) {
		nm_message_error(&err);
		return status;
	}
	if (!o.quiet)
		summarise(o.output);
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
