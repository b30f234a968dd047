/* SPDX-License-Identifier: MIT
 *
 * cmd_monitor.c - nearmiss monitor: single events of the caches, picked, counted and told.
 *
 * The grammar is one question in two parts.  *Filters* pick events: --event, --level, --range, --object, --function; an
 * event must pass all that are given.  One *mode* says what becomes of those that pass: they are counted, or drawn as a
 * histogram (--histogram), or told as the history of a line (--sequence), or the n-th is told (--nth).  So a trigger is
 * no language of its own: "the 1000th eviction of this line" is --event=replace --range=LINE --nth=1000.
 *
 * The table is all that remains, unless a profile is asked for: what is counted here differs from run to run.  That
 * of a program goes to stderr as the summary of `record` does: stdout is the program's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "choice.h"
#include "message.h"
#include "monitoring.h"
#include "options.h"
#include "outcome.h"
#include "output.h"
#include "recorder.h"
#include "replayer.h"

enum { MOST_ROWS = 100 };

struct monitor_options {
	struct nm_choice choice;
	const char *input, *output, *profile, *events, *level, *range, *object, *function, *histogram,
	    *sequence, *nth, *sort;
	int64_t limit, width;
	int format, quiet;
};

static const struct nm_option options[] = {
    {"input", 'i', "FILE", "a trace to be replayed, instead of a program", NM_OPTION_TEXT,
     offsetof(struct monitor_options, input), NULL},
    {"output", 'o', "FILE", "write the table there (stderr; for a trace stdout)", NM_OPTION_TEXT,
     offsetof(struct monitor_options, output), NULL},
    {"profile", 0, "FILE", "write a profile too, with what is counted in its view events", NM_OPTION_TEXT,
     offsetof(struct monitor_options, profile), NULL},
    {"machine", 'm', "NAME", "simulate a machine of `nearmiss machines`, or a description (host)",
     NM_OPTION_LIST, offsetof(struct monitor_options, choice.machines), NULL},
    {"cache", 'c', "SPEC", "simulate these levels, e.g. L1d=32K,8,64:L2=1M,16,64", NM_OPTION_LIST,
     offsetof(struct monitor_options, choice.caches), NULL},
    {"instr", 0, NULL, "simulate instruction fetches too", NM_OPTION_FLAG,
     offsetof(struct monitor_options, choice.instructions), NULL},
    {"cores", 0, "N", "simulate N cores with first levels of their own (1)", NM_OPTION_NUMBER,
     offsetof(struct monitor_options, choice.cores), NULL},
    {"map", 0, "THREAD=CORE,...", "which core a thread runs on (they take turns)", NM_OPTION_TEXT,
     offsetof(struct monitor_options, choice.map), NULL},
    {"threads", 0, "N", "threads of the simulation (2, or 1 on a single processor)", NM_OPTION_NUMBER,
     offsetof(struct monitor_options, choice.threads), NULL},
    {"event", 'e', "LIST", "only these of hit, miss, load, replace, invalidate, prefetch, by commas",
     NM_OPTION_TEXT, offsetof(struct monitor_options, events), NULL},
    {"level", 'l', "LEVEL", "only what happens at this level", NM_OPTION_TEXT,
     offsetof(struct monitor_options, level), NULL},
    {"range", 'r', "RANGE", "only what touches these addresses: FROM-TO, TO excluded, or FROM+BYTES",
     NM_OPTION_TEXT, offsetof(struct monitor_options, range), NULL},
    {"object", 0, "NAME", "only what befalls this object; a name or a pattern", NM_OPTION_TEXT,
     offsetof(struct monitor_options, object), NULL},
    {"function", 0, "NAME", "only what this function does; a name or a pattern", NM_OPTION_TEXT,
     offsetof(struct monitor_options, function), NULL},
    {"histogram", 0, "UNIT", "count by line, by set, or by granules of so many bytes", NM_OPTION_TEXT,
     offsetof(struct monitor_options, histogram), NULL},
    {"sequence", 0, "ADDRESS", "loads and replacements of the line with this byte, and the hits between",
     NM_OPTION_TEXT, offsetof(struct monitor_options, sequence), NULL},
    {"nth", 0, "N", "tell when the N-th event happens, and who makes it", NM_OPTION_TEXT,
     offsetof(struct monitor_options, nth), NULL},
    {"sort", 's', "COLUMN", "histograms: the greatest first, of a column or the total", NM_OPTION_TEXT,
     offsetof(struct monitor_options, sort), NULL},
    {"limit", 'n', "N", "show N rows (100); 0: all", NM_OPTION_NUMBER,
     offsetof(struct monitor_options, limit), NULL},
    {"format", 'f', "FORMAT", "how to write it (text)", NM_OPTION_CHOICE,
     offsetof(struct monitor_options, format), "text|csv|json"},
    {"width", 'w', "N", "fit text into N columns; 0: no limit (the terminal's)", NM_OPTION_NUMBER,
     offsetof(struct monitor_options, width), NULL},
    {"quiet", 'q', NULL, "no progress", NM_OPTION_FLAG, offsetof(struct monitor_options, quiet), NULL},
};

/* ---- the question ---- */

static int read_number(const char *text, const char **ret_end, uint64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoull(text, &end, 0);
	*ret_end = end;
	return end == text || *text == '-' || *text == '+' || errno ? NM_EINVAL : 0;
}

/* "FROM-TO" or "FROM+BYTES". */
static int read_range(const char *text, struct nm_sift_request *q)
{
	uint64_t to;
	const char *end;
	int sum;

	if (read_number(text, &end, &q->low) || (*end != '-' && *end != '+'))
		return NM_EINVAL;
	sum = *end == '+';
	if (read_number(end + 1, &end, &to) || *end || (sum && to > UINT64_MAX - q->low))
		return NM_EINVAL;
	q->end = sum ? q->low + to : to;
	return q->end > q->low ? 0 : NM_EINVAL;
}

/* The bits of "hit,load", or 0. */
static unsigned read_events(const char *list)
{
	unsigned bits = 0, k;

	for (;;) {
		size_t n = strcspn(list, ",");

		for (k = 0; k < NM_EVENTS; k++)
			if (strlen(nm_event_names[k]) == n && !strncmp(nm_event_names[k], list, n))
				break;
		if (k == NM_EVENTS)
			return 0;
		bits |= 1u << k;
		if (!list[n])
			return bits;
		list += n + 1;
	}
}

static unsigned first_data_level(const struct nm_machine *machine)
{
	unsigned i = 0;

	while (i + 1 < machine->count && machine->levels[i].side == NM_SIDE_INSTRUCTION)
		i++;
	return i;
}

/* Lines can be invalidated where an inclusive level stands behind. */
static int is_invalidated(const struct nm_machine *machine, unsigned level)
{
	while (++level < machine->count)
		if (machine->levels[level].inclusion == NM_INCLUSIVE)
			return 1;
	return 0;
}

/* What can happen at a level: lines are prefetched where it, or one before it, does that. */
static unsigned possible_events(const struct nm_machine *machine, unsigned level)
{
	unsigned kinds = (1u << NM_EVENTS) - 1;

	if (!is_invalidated(machine, level))
		kinds &= ~(1u << NM_EVENT_INVALIDATE);
	while (level && !machine->levels[level].prefetch)
		level--;
	return machine->levels[level].prefetch ? kinds : kinds & ~(1u << NM_EVENT_PREFETCH);
}

static int read_filters(const struct nm_command *self, const struct monitor_options *o,
			struct nm_monitoring *m)
{
	struct nm_sift_request *q = &m->sift;
	unsigned level = 0, kinds = o->events ? read_events(o->events) : 0;

	if (o->events && !kinds)
		return nm_usage(
		    self,
		    "--event wants some of hit, miss, load, replace, invalidate, prefetch, by commas, not \"%s\"",
		    o->events);
	while (o->level && level < m->machine.count && strcmp(m->machine.levels[level].name, o->level))
		level++;
	if (level == m->machine.count)
		return nm_usage(self, "the machine has no level \"%s\"", o->level);
	for (unsigned i = 0; i < m->machine.count; i++)
		q->kinds[i] = o->level && i != level
				  ? 0
				  : (uint8_t)(o->events ? kinds : possible_events(&m->machine, i));
	q->end = UINT64_MAX;
	if (o->range && read_range(o->range, q))
		return nm_usage(self, "--range wants FROM-TO or FROM+BYTES, not \"%s\"", o->range);
	m->object = o->object;
	m->function = o->function;
	q->by_cell = o->object || o->function || o->profile;
	return 0;
}

static int read_histogram(const struct nm_command *self, const struct monitor_options *o,
			  struct nm_monitoring *m)
{
	struct nm_sift_request *q = &m->sift;
	unsigned first = first_data_level(&m->machine);
	uint64_t bytes = nm_level_unit(&m->machine.levels[first]);
	const char *end = "";

	if (!strcmp(o->histogram, "set")) {
		q->mode = NM_SIFT_SETS;
		for (unsigned i = 0; i < m->machine.count && !o->level; i++)
			q->kinds[i] = i == first ? q->kinds[i] : 0;
		return 0;
	}
	if (strcmp(o->histogram, "line") &&
	    (read_number(o->histogram, &end, &bytes) || *end || !bytes || bytes & (bytes - 1)))
		return nm_usage(self, "--histogram wants line, set or a power of two, not \"%s\"",
				o->histogram);
	q->mode = NM_SIFT_GRANULES;
	q->shift = (unsigned)__builtin_ctzll(bytes);
	q->serving = !o->events && !o->level;
	for (unsigned i = 0; i < m->machine.count && q->serving; i++)
		q->kinds[i] = 1u << NM_EVENT_HIT | 1u << NM_EVENT_LOAD;
	return 0;
}

static int read_mode(const struct nm_command *self, const struct monitor_options *o, struct nm_monitoring *m)
{
	struct nm_sift_request *q = &m->sift;
	const char *end;

	if (!!o->histogram + !!o->sequence + !!o->nth > 1)
		return nm_usage(self, "--histogram, --sequence and --nth exclude each other");
	if (o->sort && !o->histogram)
		return nm_usage(self, "--sort goes with --histogram");
	if (o->nth && (o->object || o->function))
		return nm_usage(
		    self, "--nth cannot pick by --object and --function: names are known at the end only");
	if (o->sequence && (o->object || o->function || o->events || o->range))
		return nm_usage(self, "--sequence takes no filter but --level: it tells all about a line");
	if (o->profile && (o->sequence || o->nth))
		return nm_usage(self, "--profile keeps counts; --sequence and --nth make none");
	if (o->histogram)
		return read_histogram(self, o, m);
	if (o->sequence) {
		q->mode = NM_SIFT_RESIDENCIES;
		q->limit = o->limit ? (uint64_t)o->limit : UINT64_MAX;
		if (read_number(o->sequence, &end, &q->address) || *end)
			return nm_usage(self, "--sequence wants an address, not \"%s\"", o->sequence);
	}
	if (o->nth) {
		q->mode = NM_SIFT_NTH;
		if (read_number(o->nth, &end, &q->nth) || *end || !q->nth)
			return nm_usage(self, "--nth wants a number from 1 on, not \"%s\"", o->nth);
	}
	return 0;
}

/* ---- the answer ---- */

struct answer {
	const struct nm_monitoring *monitoring;
	const struct monitor_options *options;
	FILE *file; /* that --output names, or NULL */
	int status;
};

/* Makes the table from the results, which are the session's. */
static int take(void *self, struct nm_session *session, struct nm_error *err)
{
	struct answer *a = self;
	const struct monitor_options *o = a->options;
	struct nm_output output = {.file = a->file ? a->file : stderr};
	struct nm_style style;
	struct nm_result *const *results;
	struct nm_error fault;
	size_t count;
	int piped = !a->file && o->input, status = nm_session_results(session, &results, &count, err);

	if (status)
		return status;
	style = nm_style_of(piped ? stdout : output.file, (enum nm_format)o->format, o->width);
	if (piped)
		nm_output_open(&output, style.format);
	status = nm_monitor_show(a->monitoring, results, count, &style, output.file, &fault);
	if (piped)
		a->status = nm_output_close(&output);
	if (status)
		a->status = nm_failed(&fault, status == NM_ENOENT ? NM_STATUS_OK : NM_STATUS_USAGE);
	return 0;
}

static int close_file(struct answer *a)
{
	int failed;

	if (!a->file)
		return NM_STATUS_OK;
	failed = ferror(a->file);
	errno = 0;
	if (!fclose(a->file) && !failed)
		return NM_STATUS_OK;
	nm_message("cannot write %s: %s", a->options->output, strerror(errno ? errno : EIO));
	return errno == ENOSPC ? NM_STATUS_FULL : NM_STATUS_NO_OUTPUT;
}

static int watch_program(const struct answer *a, const struct nm_taker *taker, char *const *argv)
{
	const struct monitor_options *o = a->options;
	struct nm_recording recording = {.output = o->profile,
					 .taker = taker,
					 .sift = &a->monitoring->sift,
					 .machine = a->monitoring->machine,
					 .threads = (unsigned)o->choice.threads,
					 .instructions = o->choice.instructions,
					 .progress = !o->quiet && isatty(STDERR_FILENO),
					 .argv = argv};
	struct nm_error err;
	int exit_status, status = nm_record(&recording, &exit_status, &err);

	if (!status)
		return exit_status;
	nm_message_error(&err);
	return status;
}

static int watch_trace(const struct answer *a, const struct nm_taker *taker)
{
	const struct monitor_options *o = a->options;
	struct nm_replaying replaying = {.input = o->input,
					 .output = o->profile,
					 .taker = taker,
					 .sift = &a->monitoring->sift,
					 .machine = a->monitoring->machine,
					 .threads = (unsigned)o->choice.threads,
					 .instructions = o->choice.instructions,
					 .progress = !o->quiet && isatty(STDERR_FILENO)};
	struct nm_error err;
	int status = nm_replay(&replaying, &err);

	if (status)
		nm_message_error(&err);
	return status;
}

static int read_question(const struct nm_command *self, const struct monitor_options *o, int operands,
			 struct nm_monitoring *m)
{
	int status = nm_choose(self, &o->choice, &m->machine);

	if (status)
		return status;
	for (unsigned i = 1; i < m->machine.count; i++)
		if (!nm_machine_same(m->machine.levels[0].name, m->machine.levels[i].name))
			return nm_usage(self, "one machine is watched at a time");
	if (o->input && operands)
		return nm_usage(self, "a trace is watched, or a program, not both");
	if (!o->input && !operands)
		return nm_usage(self, "there is no program to run, and no trace");
	m->sort = o->sort;
	m->limit = o->limit;
	status = read_filters(self, o, m);
	return status ? status : read_mode(self, o, m);
}

static int run(const struct nm_command *self, int argc, char **argv)
{
	struct monitor_options o = {
	    .choice.threads = nm_default_threads(2), .limit = MOST_ROWS, .width = NM_WIDTH_OF_TERMINAL};
	struct nm_monitoring monitoring = {0};
	struct answer answer = {.monitoring = &monitoring, .options = &o};
	struct nm_taker taker = {take, &answer};
	struct nm_operands operands;
	int status, closed;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	o.choice.stored = o.input != NULL;
	status = read_question(self, &o, operands.count, &monitoring);
	if (status)
		return status;
	if (o.output && !(answer.file = fopen(o.output, "we"))) {
		nm_message("cannot write %s: %s", o.output, strerror(errno));
		return NM_STATUS_NO_OUTPUT;
	}
	status = o.input ? watch_trace(&answer, &taker) : watch_program(&answer, &taker, operands.at);
	closed = close_file(&answer);
	if (answer.status)
		status = answer.status;
	return closed ? closed : status;
}

const struct nm_command nm_cmd_monitor = {
    .name = "monitor",
    .summary = "Pick single events of the caches, count them or tell of them",
    .operands = "[--] PROGRAM [ARGUMENT...]",
    .details =
	"Runs a program, or with --input replays a trace, and picks events by all filters that are given: hits and\n"
	"misses, loads, replacements and invalidations of lines.  Tells how many there were at each level; or, asked for a\n"
	"histogram, how many on each line, set or granule; or the history of a line; or the N-th event.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .stops_at_operand = 1,
    .run = run,
};
