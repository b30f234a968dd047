/* SPDX-License-Identifier: MIT
 *
 * cmd_nest.c - nearmiss nest: simulates a loop nest and writes its profile.
 */
#include <string.h>

#include "files.h"
#include "message.h"
#include "nest/nest_commands.h"
#include "nest_runner.h"
#include "options.h"
#include "output.h"
#include "report_options.h"
#include "simulation_options.h"
#include "summary.h"

struct nest_options {
	struct nm_simulation_options simulation;
	const char *trace, *list;
	struct nm_sweep sweep;
	struct nm_option_list settings;
	int64_t width;
	int by, print, format;
};

static const struct nm_option options[] = {
    NM_ROW_OUTPUT(struct nest_options, simulation),
    NM_ROW_MACHINE(struct nest_options, simulation),
    NM_ROW_CACHE(struct nest_options, simulation),
    {"set", 's', "NAME=VALUE", "set a parameter, or the address of an array", NM_OPTION_LIST,
     offsetof(struct nest_options, settings), NULL},
    {"sweep", 0, "NAME=FROM:TO[:STEP]", "tabulate misses over a parameter or an address", NM_OPTION_TEXT,
     offsetof(struct nest_options, sweep.range), NULL},
    {"by", 0, "WHAT", "what a sweep counts (arrays)", NM_OPTION_CHOICE, offsetof(struct nest_options, by),
     "arrays|references"},
    {"level", 'l', "LEVEL", "a sweep counts misses of this level (the first)", NM_OPTION_TEXT,
     offsetof(struct nest_options, sweep.level), NULL},
    NM_ROW_SETS(struct nest_options, simulation),
    NM_ROW_DISTANCES(struct nest_options, simulation),
    NM_ROW_DISTANCE_LIMIT(struct nest_options, simulation),
    NM_ROW_ESTIMATE(struct nest_options, simulation),
    NM_ROW_PMU(struct nest_options, simulation),
    {"trace", 't', "FILE", "write a trace too, for nearmiss replay", NM_OPTION_TEXT,
     offsetof(struct nest_options, trace), NULL},
    {"print", 0, NULL, "list the references as written, simulate nothing", NM_OPTION_FLAG,
     offsetof(struct nest_options, print), NULL},
    {"list", 0, "FROM:TO", "list these references as executed, with loop indices", NM_OPTION_TEXT,
     offsetof(struct nest_options, list), NULL},
    {"format", 'f', "FORMAT", "format of a sweep or a list (text)", NM_OPTION_CHOICE,
     offsetof(struct nest_options, format), "text|csv|json"},
    NM_ROW_WIDTH(struct nest_options, width),
    NM_ROW_THREADS(struct nest_options, simulation),
    NM_ROW_QUIET(struct nest_options, simulation),
};

enum { MAX_SETTINGS = 256 };

/* Tables go to stdout. */
static int print_tables(const struct nm_nest_request *request, const struct nest_options *o)
{
	struct nm_style style = nm_style_of(stdout, (enum nm_format)o->format, o->width);
	struct nm_command_output output;
	int status, closed;

	nm_output_open(&output, style.format);
	if (o->print)
		status = nm_nest_print(request, &style, output.file);
	else if (o->list)
		status = nm_nest_list(request, o->list, &style, output.file);
	else
		status = nm_nest_sweep(request, &o->sweep, &style, output.file);
	closed = nm_output_close(&output);
	return status ? status : closed;
}

static int simulate_nest(const struct nest_options *o, const struct nm_nest_request *nest,
			 const struct nm_chosen_simulation *simulation)
{
	struct nm_nest_run_request request = {.run = simulation->run,
					      .path = nest->path,
					      .settings = nest->settings,
					      .setting_count = nest->setting_count,
					      .trace = o->trace};
	const char *output = o->simulation.output;
	struct nm_error err;
	int status = nm_refuse_same_file(output, nest->path, "input");

	if (!status)
		status = nm_refuse_same_file(o->trace, nest->path, "input");
	if (!status)
		status = nm_refuse_same_file(o->trace, output, "profile");
	if (status)
		return status;
	nm_temporary_unlink_on_signals();
	status = nm_nest_simulate(&request, &err);
	if (status)
		nm_message_error(&err);
	else if (!o->simulation.quiet)
		nm_summary_print(o->simulation.output);
	return status;
}

/* Joins the settings of --set with those behind the file. */
static int gather_settings(const struct nm_command *self, const struct nest_options *o,
			   const struct nm_operands *operands, const char **settings, size_t *ret_count)
{
	size_t n = 0;

	for (size_t i = 0; i < o->settings.count; i++)
		settings[n++] = o->settings.at[i];
	for (int i = 1; i < operands->count; i++) {
		if (!strchr(operands->at[i], '='))
			return nm_usage(self, "one nest at a time: \"%s\" is not NAME=VALUE",
					operands->at[i]);
		if (n == MAX_SETTINGS)
			return nm_usage(self, "give at most %d settings", MAX_SETTINGS);
		settings[n++] = operands->at[i];
	}
	settings[n] = NULL;
	*ret_count = n;
	return 0;
}

static int check_options(const struct nm_command *self, const struct nest_options *o, int operands)
{
	int tables = o->print + !!o->list + !!o->sweep.range;

	if (!operands)
		return nm_usage(self, "name a loop nest to read");
	if (tables > 1)
		return nm_usage(self, "--print, --list and --sweep exclude each other");
	if (o->simulation.sets && tables)
		return nm_usage(self,
				"--sets counts for a profile, but --print, --list and --sweep write none");
	return 0;
}

static int run_nest(const struct nm_command *self, int argc, char **argv)
{
	struct nest_options o = {
	    .simulation = {.output = "nearmiss.nmp", .stored = 1}, /* a nest can run twice */
	    .width = NM_WIDTH_OF_TERMINAL};
	const char *settings[MAX_SETTINGS + 1];
	struct nm_chosen_simulation simulation = {.machine = {.count = 0}};
	struct nm_nest_request request = {.settings = settings, .run = &simulation.run};
	struct nm_operands operands;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	status = check_options(self, &o, operands.count);
	if (!status)
		status = gather_settings(self, &o, &operands, settings, &request.setting_count);
	if (!status && !o.print && !o.list)
		status = nm_simulation_prepare(self, &o.simulation, &simulation);
	if (status)
		return status;
	o.sweep.by_reference = o.by;
	request.path = operands.at[0];
	return o.print || o.list || o.sweep.range ? print_tables(&request, &o)
						  : simulate_nest(&o, &request, &simulation);
}

const struct nm_command nm_cmd_nest = {
    .name = "nest",
    .summary = "Simulate a loop nest from its description",
    .operands = "FILE [NAME=VALUE...]",
    .details =
	"Writes a profile of the nest's references and prints its summary on stderr.  nearmiss-nest(1)\n"
	"describes the language.  Without --machine and --cache, nearmiss simulates the caches of this machine.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_nest,
};
