/* SPDX-License-Identifier: MIT
 *
 * cmd_monitor.c - nearmiss monitor: selects single events of the caches, and counts or shows them.
 *
 * A query has two parts. *Filters* select events: --event, --level, --set, --range, --object, --function; an
 * event must pass all of them. One *mode* says what to do with the selected events: count them (the default),
 * draw a histogram (--histogram), show the history of a line (--sequence), the n-th event (--nth) or all from
 * there on (--log). So triggers need no language of their own: "the 1000th eviction of this line" is
 * --event=replace --range=LINE --nth=1000.
 *
 * The table is the only output unless --profile is given. For a program it goes to stderr, like the summary
 * of `record`: stdout is the program's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "monitor/monitor_table.h"
#include "options.h"
#include "output.h"
#include "recorder.h"
#include "replayer.h"
#include "report_options.h"
#include "session.h"
#include "simulation_options.h"
#include "slice.h"

enum { MOST_ROWS = 100 };

struct monitor_options {
	struct nm_simulation_options simulation;
	const char *input, *output, *events, *level, *range, *object, *function, *histogram, *sequence, *nth,
	    *set, *sort;
	int64_t limit, width;
	int format, log;
};

static const struct nm_option options[] = {
    {"input", 'i', "FILE", "replay this trace instead of running a program", NM_OPTION_TEXT,
     offsetof(struct monitor_options, input), NULL},
    {"output", 'o', "FILE", "write the table there (stderr; with --input stdout)", NM_OPTION_TEXT,
     offsetof(struct monitor_options, output), NULL},
    {"profile", 0, "FILE", "write a profile too, with the counts in its view events", NM_OPTION_TEXT,
     offsetof(struct monitor_options, simulation.output), NULL},
    NM_ROW_MACHINE(struct monitor_options, simulation),
    NM_ROW_CACHE(struct monitor_options, simulation),
    NM_ROW_INSTR(struct monitor_options, simulation),
    NM_ROW_CORES(struct monitor_options, simulation),
    NM_ROW_MAP(struct monitor_options, simulation),
    NM_ROW_QUANTUM(struct monitor_options, simulation),
    NM_ROW_SCHEDULE(struct monitor_options, simulation),
    NM_ROW_THREADS(struct monitor_options, simulation),
    {"event", 'e', "LIST", "only these, of hit, miss, load, replace, invalidate, prefetch", NM_OPTION_TEXT,
     offsetof(struct monitor_options, events), NULL},
    {"level", 'l', "LEVEL", "only events at this level", NM_OPTION_TEXT,
     offsetof(struct monitor_options, level), NULL},
    {"set", 0, "N", "only events in this set of the level, or of the first that takes data", NM_OPTION_TEXT,
     offsetof(struct monitor_options, set), NULL},
    {"range", 'r', "RANGE", "only these addresses: FROM-TO (TO excluded) or FROM+BYTES", NM_OPTION_TEXT,
     offsetof(struct monitor_options, range), NULL},
    {"object", 0, "NAME", "only events of this object, or slice of an array: grid[3:7]", NM_OPTION_TEXT,
     offsetof(struct monitor_options, object), NULL},
    {"function", 0, "NAME", "only events that this function causes; a name or a pattern", NM_OPTION_TEXT,
     offsetof(struct monitor_options, function), NULL},
    {"histogram", 0, "UNIT", "count by line, by set, or by blocks of UNIT bytes", NM_OPTION_TEXT,
     offsetof(struct monitor_options, histogram), NULL},
    {"sequence", 0, "ADDRESS", "history of the line that holds this byte: loads, hits, replacements",
     NM_OPTION_TEXT, offsetof(struct monitor_options, sequence), NULL},
    {"nth", 0, "N", "show the N-th event, and the code that causes it", NM_OPTION_TEXT,
     offsetof(struct monitor_options, nth), NULL},
    {"log", 0, NULL, "list events in their order, from the first or, with --nth, the N-th on", NM_OPTION_FLAG,
     offsetof(struct monitor_options, log), NULL},
    {"sort", 's', "COLUMN", "sort a histogram by a column or by total, greatest first", NM_OPTION_TEXT,
     offsetof(struct monitor_options, sort), NULL},
    {"limit", 'n', "N", "show N rows (100); 0: all", NM_OPTION_NUMBER,
     offsetof(struct monitor_options, limit), NULL},
    NM_ROW_FORMAT(struct monitor_options, format),
    NM_ROW_WIDTH(struct monitor_options, width),
    {"quiet", 'q', NULL, "no progress", NM_OPTION_FLAG, offsetof(struct monitor_options, simulation.quiet),
     NULL},
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
static int read_range(const char *text, struct nm_event_query *q)
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

/* Bits of the events in "hit,load"; 0: a word is not an event. */
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

/* Only an inclusive level invalidates lines of the levels before it, or a protocol those of private ones. */
static int is_invalidated(const struct nm_machine *machine, unsigned level)
{
	if (nm_machine_protocol(machine, level))
		return 1;
	while (++level < machine->count)
		if (machine->levels[level].inclusion == NM_INCLUSIVE)
			return 1;
	return 0;
}

/* Events that can happen at a level. A prefetcher also fills the levels behind its own. */
static unsigned possible_events(const struct nm_machine *machine, unsigned level)
{
	unsigned kinds = (1u << NM_EVENTS) - 1;

	if (!is_invalidated(machine, level))
		kinds &= ~(1u << NM_EVENT_INVALIDATE);
	while (level && !machine->levels[level].prefetch)
		level--;
	return machine->levels[level].prefetch ? kinds : kinds & ~(1u << NM_EVENT_PREFETCH);
}

/* Events of other levels have other sets. */
static int read_set(const struct nm_command *self, const struct monitor_options *o, unsigned level,
		    struct nm_monitor_request *m)
{
	struct nm_event_query *q = &m->event_query;
	const char *end;

	if (read_number(o->set, &end, &q->set) || *end || q->set >= m->machine->levels[level].sets)
		return nm_usage(self, "--set takes a number below %" PRIu64 ", the sets of %s, not \"%s\"",
				m->machine->levels[level].sets, m->machine->levels[level].name, o->set);
	q->of_set = 1;
	for (unsigned i = 0; i < m->machine->count; i++)
		q->kinds[i] = i == level ? q->kinds[i] : 0;
	return 0;
}

static int read_filters(const struct nm_command *self, const struct monitor_options *o,
			struct nm_monitor_request *m)
{
	const struct nm_machine *machine = m->machine;
	struct nm_event_query *q = &m->event_query;
	unsigned level = 0, kinds = o->events ? read_events(o->events) : 0;

	if (o->events && !kinds)
		return nm_usage(
		    self,
		    "--event takes a list of hit, miss, load, replace, invalidate, prefetch, not \"%s\"",
		    o->events);
	while (o->level && level < machine->count && strcmp(machine->levels[level].name, o->level))
		level++;
	if (level == machine->count)
		return nm_usage(self, "the machine has no level \"%s\"", o->level);
	for (unsigned i = 0; i < machine->count; i++)
		q->kinds[i] =
		    o->level && i != level ? 0 : (uint8_t)(o->events ? kinds : possible_events(machine, i));
	q->end = UINT64_MAX;
	if (o->range && read_range(o->range, q))
		return nm_usage(self, "--range takes FROM-TO or FROM+BYTES, not \"%s\"", o->range);
	m->object = q->object = o->object;
	m->function = o->function;
	q->by_attr = o->object || o->function || o->simulation.output;
	return o->set ? read_set(self, o, o->level ? level : first_data_level(machine), m) : 0;
}

/* A slice in --object. Its owner frees it. */
static int read_slice(const struct nm_command *self, const struct monitor_options *o, struct nm_slice *slice,
		      struct nm_monitor_request *m)
{
	struct nm_error err;
	int status = o->object ? nm_slice_parse(slice, o->object, &err) : 0;

	if (status < 0)
		return nm_usage(self, "--object: %s", err.text);
	m->event_query.slice = status ? slice : NULL;
	return 0;
}

static int read_histogram(const struct nm_command *self, const struct monitor_options *o,
			  struct nm_monitor_request *m)
{
	const struct nm_machine *machine = m->machine;
	struct nm_event_query *q = &m->event_query;
	unsigned first = first_data_level(machine);
	uint64_t bytes = nm_level_unit(&machine->levels[first]);
	const char *end = "";

	if (!strcmp(o->histogram, "set")) {
		q->mode = NM_QUERY_SETS;
		for (unsigned i = 0; i < machine->count && !o->level; i++)
			q->kinds[i] = i == first ? q->kinds[i] : 0;
		return 0;
	}
	if (strcmp(o->histogram, "line") &&
	    (read_number(o->histogram, &end, &bytes) || *end || !bytes || bytes & (bytes - 1)))
		return nm_usage(self, "--histogram takes line, set or a power of two, not \"%s\"",
				o->histogram);
	q->mode = NM_QUERY_GRANULES;
	q->shift = (unsigned)__builtin_ctzll(bytes);
	q->serving = !o->events && !o->level && !o->set;
	for (unsigned i = 0; i < machine->count && q->serving; i++)
		q->kinds[i] = 1u << NM_EVENT_HIT | 1u << NM_EVENT_LOAD;
	return 0;
}

static int read_log(const struct nm_command *self, const struct monitor_options *o, struct nm_event_query *q)
{
	uint64_t first = 1;
	const char *end;

	if (o->nth && (read_number(o->nth, &end, &first) || *end || !first))
		return nm_usage(self, "--nth takes a number from 1 up, not \"%s\"", o->nth);
	q->mode = NM_QUERY_LOG;
	q->skip = first - 1;
	q->limit = !o->log ? 1 : o->limit ? (uint64_t)o->limit : UINT64_MAX;
	return 0;
}

static int read_mode(const struct nm_command *self, const struct monitor_options *o,
		     struct nm_monitor_request *m)
{
	struct nm_event_query *q = &m->event_query;
	const char *end;

	if (!!o->histogram + !!o->sequence + (o->nth || o->log) > 1)
		return nm_usage(self, "--histogram, --sequence and --nth or --log exclude each other");
	if (o->sort && !o->histogram)
		return nm_usage(self, "--sort needs --histogram");
	if (o->sequence && (o->object || o->function || o->events || o->range || o->set))
		return nm_usage(
		    self,
		    "--sequence shows the whole history of a line: the only filter that it takes is --level");
	if (o->simulation.output && (o->sequence || o->nth || o->log))
		return nm_usage(self, "--profile stores counts, but --sequence, --nth and --log make none");
	if (o->histogram)
		return read_histogram(self, o, m);
	if (o->sequence) {
		q->mode = NM_QUERY_RESIDENCIES;
		q->limit = o->limit ? (uint64_t)o->limit : UINT64_MAX;
		if (read_number(o->sequence, &end, &q->address) || *end)
			return nm_usage(self, "--sequence takes an address, not \"%s\"", o->sequence);
	}
	return o->nth || o->log ? read_log(self, o, q) : 0;
}

/* ---- the table ---- */

struct answer {
	const struct nm_monitor_request *request;
	const struct monitor_options *options;
	FILE *file; /* that --output names, or NULL */
	int status;
};

/* Prints the table of the results. */
static int show_results(void *self, struct nm_session *session, struct nm_error *err)
{
	struct answer *a = self;
	const struct monitor_options *o = a->options;
	struct nm_command_output output = {.file = a->file ? a->file : stderr};
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
	status = nm_monitor_show(a->request, results, count, &style, output.file, &fault);
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
	return NM_STATUS_NO_OUTPUT;
}

static int monitor_program(const struct nm_run_request *run, char *const *argv)
{
	struct nm_record_request request = {.run = *run, .argv = argv};
	struct nm_error err;
	int exit_status, status = nm_record(&request, &exit_status, &err);

	if (!status)
		return exit_status;
	nm_message_error(&err);
	return status;
}

static int monitor_trace(const struct nm_run_request *run, const char *path)
{
	struct nm_run_replay_request request = {.run = *run, .input = path};
	struct nm_error err;
	int has_result, status = nm_run_replay(&request, &has_result, &err);

	if (status)
		nm_message_error(&err);
	return status;
}

static int read_question(const struct nm_command *self, const struct monitor_options *o, int operands,
			 struct nm_chosen_simulation *simulation, struct nm_monitor_request *m)
{
	const struct nm_machine *machine = &simulation->machine;
	int status = nm_simulation_prepare(self, &o->simulation, simulation);

	if (status)
		return status;
	for (unsigned i = 1; i < machine->count; i++)
		if (!nm_machine_same(machine->levels[0].name, machine->levels[i].name))
			return nm_usage(self, "monitor simulates one machine at a time");
	if (o->input && operands)
		return nm_usage(self, "name a trace or a program, not both");
	if (!o->input && !operands)
		return nm_usage(self, "name a program to run, or a trace with --input");
	m->machine = machine;
	m->sort = o->sort;
	m->limit = o->limit;
	m->log = o->log;
	status = read_filters(self, o, m);
	return status ? status : read_mode(self, o, m);
}

static int run_monitor(const struct nm_command *self, int argc, char **argv)
{
	struct monitor_options o = {.limit = MOST_ROWS, .width = NM_WIDTH_OF_TERMINAL};
	struct nm_monitor_request request = {0};
	struct answer answer = {.request = &request, .options = &o};
	struct nm_result_receiver receiver = {show_results, &answer};
	struct nm_chosen_simulation simulation;
	struct nm_slice slice = {0};
	struct nm_operands operands;
	int status, closed;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	o.simulation.stored = o.input != NULL;
	status = read_question(self, &o, operands.count, &simulation, &request);
	if (!status)
		status = read_slice(self, &o, &slice, &request);
	if (status)
		return status;
	if (o.output && !(answer.file = fopen(o.output, "we"))) {
		nm_message("cannot write %s: %s", o.output, strerror(errno));
		return NM_STATUS_NO_OUTPUT;
	}
	simulation.run.engine.event_query = &request.event_query;
	simulation.run.receiver = &receiver;
	status =
	    o.input ? monitor_trace(&simulation.run, o.input) : monitor_program(&simulation.run, operands.at);
	closed = close_file(&answer);
	nm_slice_done(&slice);
	if (answer.status)
		status = answer.status;
	return closed ? closed : status;
}

const struct nm_command nm_cmd_monitor = {
    .name = "monitor",
    .summary = "Pick single cache events, and count or show them",
    .operands = "[--] PROGRAM [ARGUMENT...]",
    .details =
	"Runs a program, or replays a trace, and picks events: hits, misses, and loads, replacements,\n"
	"invalidations and prefetches of lines.  An event must pass all filters.  By default the events of\n"
	"each level are counted; --histogram, --sequence, --nth and --log show them in another way.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .stops_at_operand = 1,
    .run = run_monitor,
};
