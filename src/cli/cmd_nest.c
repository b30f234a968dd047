/* SPDX-License-Identifier: MIT
 *
 * cmd_nest.c - nearmiss nest: simulates a loop nest and writes its profile.
 */
#include <string.h>
#include <unistd.h>

#include "choice.h"
#include "message.h"
#include "nesting.h"
#include "options.h"
#include "output.h"
#include "sift.h"

struct nest_options {
	struct nm_choice choice;
	const char *output, *trace, *list;
	struct nm_sweep sweep;
	struct nm_option_list settings;
	int64_t width;
	int by, print, quiet, format;
};

static const struct nm_option options[] = {
    {"output", 'o', "FILE", "write the profile there (nearmiss.nmp)", NM_OPTION_TEXT,
     offsetof(struct nest_options, output), NULL},
    {"machine", 'm', "NAME,...", "simulate machines of `nearmiss machines`, or a description (host)",
     NM_OPTION_LIST, offsetof(struct nest_options, choice.machines), NULL},
    {"cache", 'c', "SPEC", "simulate these levels, e.g. L1d=8K,1,32", NM_OPTION_LIST,
     offsetof(struct nest_options, choice.caches), NULL},
    {"set", 's', "NAME=VALUE", "give a parameter its value, or an array its address", NM_OPTION_LIST,
     offsetof(struct nest_options, settings), NULL},
    {"sweep", 0, "NAME=FROM:TO[:STEP]", "tabulate misses over a parameter or an address", NM_OPTION_TEXT,
     offsetof(struct nest_options, sweep.range), NULL},
    {"by", 0, "WHAT", "what a sweep counts (arrays)", NM_OPTION_CHOICE, offsetof(struct nest_options, by),
     "arrays|references"},
    {"level", 'l', "LEVEL", "a sweep counts misses of this level (the first)", NM_OPTION_TEXT,
     offsetof(struct nest_options, sweep.level), NULL},
    {"sets", 0, NULL, "count loads and evictions by set too, for evictions --sets", NM_OPTION_FLAG,
     offsetof(struct nest_options, choice.sets), NULL},
    {"trace", 't', "FILE", "keep the references for nearmiss replay too", NM_OPTION_TEXT,
     offsetof(struct nest_options, trace), NULL},
    {"print", 0, NULL, "list the references, simulate nothing", NM_OPTION_FLAG,
     offsetof(struct nest_options, print), NULL},
    {"list", 0, "FROM:TO", "list these references as they are made, with loop indices", NM_OPTION_TEXT,
     offsetof(struct nest_options, list), NULL},
    {"format", 'f', "FORMAT", "how to write a sweep or a list (text)", NM_OPTION_CHOICE,
     offsetof(struct nest_options, format), "text|csv|json"},
    {"width", 'w', "N", "fit text into N columns; 0: no limit (the terminal's)", NM_OPTION_NUMBER,
     offsetof(struct nest_options, width), NULL},
    {"threads", 0, "N", "threads of the simulation (2, or 1 on a single processor)", NM_OPTION_NUMBER,
     offsetof(struct nest_options, choice.threads), NULL},
    {"quiet", 'q', NULL, "no progress and no summary", NM_OPTION_FLAG, offsetof(struct nest_options, quiet),
     NULL},
};

enum { MAX_SETTINGS = 256 };

/* Tables of a sweep or of references go to stdout. */
static int tabulate(const struct nm_nesting *n, const struct nest_options *o)
{
	struct nm_style style = nm_style_of(stdout, (enum nm_format)o->format, o->width);
	struct nm_output output;
	int status, written;

	nm_output_open(&output, style.format);
	if (o->print)
		status = nm_nest_print(n, &style, output.file);
	else if (o->list)
		status = nm_nest_list(n, o->list, &style, output.file);
	else
		status = nm_nest_sweep(n, &o->sweep, &style, output.file);
	written = nm_output_close(&output);
	return status ? status : written;
}

/* Settings of --set, and those that follow the file. */
static int gather_settings(const struct nm_command *self, const struct nest_options *o,
			   const struct nm_operands *operands, const char **settings, size_t *ret_count)
{
	size_t n = 0;

	for (size_t i = 0; i < o->settings.count; i++)
		settings[n++] = o->settings.at[i];
	for (int i = 1; i < operands->count; i++) {
		if (!strchr(operands->at[i], '='))
			return nm_usage(self, "one nest at a time, not also \"%s\"", operands->at[i]);
		if (n == MAX_SETTINGS)
			return nm_usage(self, "more than %d settings", MAX_SETTINGS);
		settings[n++] = operands->at[i];
	}
	settings[n] = NULL;
	*ret_count = n;
	return 0;
}

static int run(const struct nm_command *self, int argc, char **argv)
{
	struct nest_options o = {
	    .output = "nearmiss.nmp",
	    .choice = {.threads = nm_default_threads(2), .stored = 1}, /* a nest can be run twice */
	    .width = NM_WIDTH_OF_TERMINAL};
	const char *settings[MAX_SETTINGS + 1];
	struct nm_nesting nesting = {.settings = settings};
	struct nm_sift_request sets;
	struct nm_operands operands;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (!operands.count)
		return nm_usage(self, "there is no nest to read");
	if (o.print + !!o.list + !!o.sweep.range > 1)
		return nm_usage(self, "--print, --list and --sweep exclude each other");
	if (o.choice.sets && (o.print || o.list || o.sweep.range))
		return nm_usage(self, "--sets counts for a profile; --print, --list and --sweep write none");
	status = gather_settings(self, &o, &operands, settings, &nesting.setting_count);
	if (!status && !o.print && !o.list)
		status = nm_choose(self, &o.choice, &nesting.machine);
	if (status)
		return status;
	if (o.choice.sets) {
		nm_sift_sets(&sets, &nesting.machine);
		nesting.sift = &sets;
	}
	o.sweep.by_reference = o.by;
	nesting.path = operands.at[0];
	nesting.threads = (unsigned)o.choice.threads;
	nesting.progress = !o.quiet && isatty(STDERR_FILENO);
	return o.print || o.list || o.sweep.range ? tabulate(&nesting, &o)
						  : nm_nest_record(&nesting, o.output, o.trace, o.quiet);
}

const struct nm_command nm_cmd_nest = {
    .name = "nest",
    .summary = "Simulate a loop nest that is written down, not run",
    .operands = "FILE [NAME=VALUE...]",
    .details =
	"Writes a profile of the nest's references and shows its summary on stderr.  What the file may say\n"
	"is told in nearmiss-nest(1).  Without --machine and --cache the host's caches are simulated.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
