/* SPDX-License-Identifier: MIT
 *
 * cmd_nest.c - nearmiss nest: simulates a loop nest and writes its profile.
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "choice.h"
#include "message.h"
#include "nesting.h"
#include "options.h"
#include "outcome.h"
#include "output.h"

struct nest_options {
	struct nm_choice choice;
	const char *output, *list;
	struct nm_sweep sweep;
	struct nm_option_list settings;
	int64_t width;
	int by, print, quiet, format;
};

static const struct nm_option options[] = {
    {"output", 'o', "FILE", "write the profile there (nearmiss.nmp)", NM_OPTION_TEXT,
     offsetof(struct nest_options, output), NULL},
    {"machine", 'm', "NAME", "simulate a machine of `nearmiss machines` (host)", NM_OPTION_TEXT,
     offsetof(struct nest_options, choice.machine), NULL},
    {"cache", 'c', "SPEC", "simulate these levels, e.g. L1d=8K,1,32", NM_OPTION_TEXT,
     offsetof(struct nest_options, choice.cache), NULL},
    {"set", 's', "NAME=VALUE", "give a parameter its value, or an array its address", NM_OPTION_LIST,
     offsetof(struct nest_options, settings), NULL},
    {"sweep", 0, "NAME=FROM:TO[:STEP]", "tabulate misses over a parameter or an address", NM_OPTION_TEXT,
     offsetof(struct nest_options, sweep.range), NULL},
    {"by", 0, "WHAT", "what a sweep counts (arrays)", NM_OPTION_CHOICE, offsetof(struct nest_options, by),
     "arrays|references"},
    {"level", 'l', "LEVEL", "a sweep counts misses of this level (the first)", NM_OPTION_TEXT,
     offsetof(struct nest_options, sweep.level), NULL},
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

enum { MAX_SETTINGS = 256, PROGRESS_MS = 500 };

/* ---- a profile ---- */

struct recording {
	struct nm_session *session;
	int progress;
	double started, shown;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int take(void *self, const uint64_t *words, size_t count, struct nm_error *err)
{
	struct recording *r = self;
	double now = r->progress ? now_ms() : 0;

	if (r->progress && now - r->shown > PROGRESS_MS) {
		double references = (double)nm_session_references(r->session) / 1e6;

		fprintf(stderr, "\r\033[Knearmiss: %.1f M references, %.1f M/s", references,
			references / (now - r->started) * 1e3);
		r->shown = now;
	}
	return nm_session_feed(r->session, 0, words, count, err);
}

/* What was run, as the stream tells it: the file and the settings. */
static int run_nest(const struct nm_nesting *n, struct nm_nest *nest, struct recording *r,
		    struct nm_error *err)
{
	const char *argv[MAX_SETTINGS + 2] = {n->path};
	struct nm_nest_sink sink = {take, r};
	int code;

	memcpy(argv + 1, n->settings, n->setting_count * sizeof *argv);
	r->started = r->shown = now_ms();
	code = nm_nest_run(nest, argv, &sink, err);
	if (r->progress)
		fputs("\r\033[K", stderr);
	return code;
}

static int record(const struct nm_nesting *n, struct nm_nest *nest, const char *output, struct nm_error *err)
{
	struct nm_engine_options how = {&n->machine, NULL, n->threads, 0, 0};
	struct nm_outcome outcome = {.collector = "nest"};
	struct recording r = {.progress = n->progress};
	struct nm_profile_writer *writer;
	int code = nm_profile_writer_new(&writer, output, err), status;

	if (code)
		return nm_status_of((enum nm_code)code, NM_STATUS_NO_OUTPUT);
	status = nm_status_of((enum nm_code)nm_symbols_new(&how.symbols, err), NM_STATUS_FAILED);
	if (!status)
		status = nm_status_of((enum nm_code)nm_session_new(&r.session, &how, err), NM_STATUS_FAILED);
	if (!status)
		status = nm_status_of((enum nm_code)run_nest(n, nest, &r, err), NM_STATUS_BAD_NEST);
	if (status) {
		nm_profile_writer_abort(writer);
	} else {
		outcome.wall_seconds = (now_ms() - r.started) / 1e3;
		code = nm_outcome_write(&outcome, r.session, writer, err);
		status = nm_status_of((enum nm_code)code, NM_STATUS_NO_OUTPUT);
	}
	nm_session_free(r.session);
	nm_symbols_free(how.symbols);
	return status;
}

static int make_profile(const struct nm_nesting *n, const struct nest_options *o)
{
	struct nm_nest *nest;
	struct nm_error err;
	int status;

	if (nm_nest_load(&nest, n->path, n->settings, &err))
		return nm_failed(&err, NM_STATUS_BAD_NEST);
	status = record(n, nest, o->output, &err);
	nm_nest_free(nest);
	if (status)
		nm_message_error(&err);
	else if (!o->quiet)
		nm_summarise(o->output);
	return status;
}

/* ---- the command ---- */

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
	    .output = "nearmiss.nmp", .choice.threads = nm_default_threads(), .width = NM_WIDTH_OF_TERMINAL};
	const char *settings[MAX_SETTINGS + 1];
	struct nm_nesting nesting = {.settings = settings};
	struct nm_operands operands;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (!operands.count)
		return nm_usage(self, "there is no nest to read");
	if (o.print + !!o.list + !!o.sweep.range > 1)
		return nm_usage(self, "--print, --list and --sweep exclude each other");
	status = gather_settings(self, &o, &operands, settings, &nesting.setting_count);
	if (!status && !o.print && !o.list)
		status = nm_choose(self, &o.choice, &nesting.machine);
	if (status)
		return status;
	o.sweep.by_reference = o.by;
	nesting.path = operands.at[0];
	nesting.threads = (unsigned)o.choice.threads;
	nesting.progress = !o.quiet && isatty(STDERR_FILENO);
	return o.print || o.list || o.sweep.range ? tabulate(&nesting, &o) : make_profile(&nesting, &o);
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
