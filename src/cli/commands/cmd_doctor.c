/* SPDX-License-Identifier: MIT
 *
 * cmd_doctor.c - nearmiss doctor: what this machine can do for nearmiss, and what it lacks.
 *
 * Each check prints one line: whether it is there, and if not, what that costs and what helps. Only what `record`
 * cannot do without decides on the exit status; it is tried, not guessed.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "recorder.h"
#include "sampled_events.h"
#include "simulation_options.h"
#include "table.h"

enum finding { THERE, LIMITED, MISSING };

static void print_finding(enum finding finding, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void print_finding(enum finding finding, const char *what, const char *format, ...)
{
	static const char *const marks[] = {"yes", "part", "no"};
	char lead[32], *text;
	va_list args;
	int n;

	snprintf(lead, sizeof lead, "%-5s %-14s ", marks[finding], what);
	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return;
	nm_print_wrapped(lead, text, nm_style_of(stdout, NM_FORMAT_TEXT, NM_WIDTH_OF_TERMINAL).width, stdout);
	free(text);
}

static int is_there(const char *path) { return !access(path, F_OK); }

/* The first line of what a program prints, or NULL. */
static const char *first_line(const char *command, char *line, size_t room)
{
	FILE *in = popen(command, "re");
	const char *found = in ? fgets(line, (int)room, in) : NULL;

	if (in && pclose(in))
		found = NULL;
	line[found ? strcspn(line, "\n") : 0] = '\0';
	return found;
}

static int check_valgrind(void)
{
	struct nm_launcher launcher = {0};
	struct nm_error err;
	char command[sizeof launcher.valgrind + 32], version[64];

	if (nm_launcher_find(&launcher, &err)) {
		print_finding(MISSING, "Valgrind", "%s", err.text);
		return NM_STATUS_NO_COLLECTOR;
	}
	snprintf(command, sizeof command, "'%s' --version 2>/dev/null", launcher.valgrind);
	if (!first_line(command, version, sizeof version)) {
		print_finding(MISSING, "Valgrind", "%s does not run", launcher.valgrind);
		return NM_STATUS_NO_COLLECTOR;
	}
	print_finding(THERE, "Valgrind", "%s, %s; our tool is in %s", version, launcher.valgrind,
		      launcher.library);
	return 0;
}

static int check_recording(const struct nm_command *self)
{
	static char program[] = "true";
	char *const program_argv[] = {program, NULL};
	const struct nm_simulation_options usual = {0};
	struct nm_chosen_simulation simulation;
	struct nm_record_request request = {.argv = program_argv};
	struct nm_error err;
	int ended, status = nm_simulation_prepare(self, &usual, &simulation);

	if (status)
		return status;
	request.run = simulation.run;
	status = nm_record(&request, &ended, &err);
	if (status)
		print_finding(MISSING, "recording", "%s", err.text);
	else if (ended)
		print_finding(MISSING, "recording", "`true` ended with status %d under Valgrind", ended);
	else
		print_finding(THERE, "recording", "`true` was recorded");
	return status ? status : ended ? NM_STATUS_NO_COLLECTOR : 0;
}

static void check_caches(void)
{
	struct nm_machine machine;
	struct nm_error err;
	char spec[4096];

	if (nm_machine_host(&machine, &err)) {
		print_finding(MISSING, "caches", "%s; choose a machine: nearmiss record --machine", err.text);
		return;
	}
	nm_latencies_know(&machine);
	nm_machine_format(&machine, spec, sizeof spec);
	print_finding(is_there("/sys/devices/system/cpu/cpu0/cache/index0/size") ? THERE : LIMITED, "caches",
		      "%s: %s", machine.description, spec);
}

static void check_memory(void)
{
	const double gigabyte = 1 << 30;
	const double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

	print_finding(THERE, "memory",
		      "%.1f GB; a recording of many processes takes at most a quarter (record --memory)",
		      all / gigabyte);
}

static void check_names(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");

	if (servers && *servers)
		print_finding(THERE, "names", "debug information of libraries comes from %s", servers);
	else if (is_there("/usr/lib/debug/.build-id"))
		print_finding(THERE, "names", "debug information of some libraries is in /usr/lib/debug");
	else
		print_finding(
		    LIMITED, "names",
		    "libraries have functions, but no lines: install -dbgsym packages or set DEBUGINFOD_URLS");
}

/* Counts cache misses of this process. 0, or errno. */
static int open_counter(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .size = sizeof attr,
				       .config = PERF_COUNT_HW_CACHE_MISSES,
				       .disabled = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static void check_counters(void)
{
	const int error = open_counter();

	if (!error)
		print_finding(THERE, "counters", "the processor counts cache misses");
	else if (error == EACCES || error == EPERM)
		print_finding(
		    MISSING, "counters",
		    "not permitted (perf_event_paranoid is %d): sysctl kernel.perf_event_paranoid=1; record needs none",
		    nm_perf_paranoia());
	else
		print_finding(MISSING, "counters",
			      "none (%s), as in most virtual machines; record needs none", strerror(error));
}

/* What `nearmiss sample` takes; Arm's SPE is perf's. */
static void check_samples(void)
{
	struct nm_sampled_event event;
	struct nm_error err;

	if (is_there("/sys/bus/event_source/devices/arm_spe_0"))
		print_finding(
		    THERE, "samples",
		    "Arm's SPE: perf record -d -e arm_spe/load_filter=1,store_filter=1/, then nearmiss import");
	else if (nm_sampled_event_find(NM_SAMPLED_AUTO, 0, &event, &err))
		print_finding(MISSING, "samples", "%s; record needs none", err.text);
	else if (event.kind == NM_SAMPLED_FAULTS)
		print_finding(LIMITED, "samples",
			      "page faults only, first touches of pages: nearmiss sample");
	else
		print_finding(THERE, "samples", "%s: nearmiss sample", event.name);
}

static int run_doctor(const struct nm_command *self, int argc, char **argv)
{
	struct nm_command_output output = {.file = stdout};
	struct nm_operands operands;
	int status, written;

	if (!nm_options_parse(self, argc, argv, NULL, &operands, &status))
		return status;
	if (operands.count)
		return nm_usage(self, "it takes no \"%s\"", operands.at[0]);
	status = check_valgrind();
	if (!status)
		status = check_recording(self);
	check_caches();
	check_memory();
	check_names();
	check_counters();
	check_samples();
	written = nm_output_close(&output);
	return status ? status : written;
}

const struct nm_command nm_cmd_doctor = {
    .name = "doctor",
    .summary = "Say what this machine can do, and what it lacks",
    .operands = "",
    .details =
	"One line for each thing that nearmiss uses, with what helps where it is missing. Records `true`.\n",
    .run = run_doctor,
};
