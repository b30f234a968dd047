/* SPDX-License-Identifier: MIT
 *
 * cmd_report.c - nearmiss report [REPORT]: a profile as a sorted table.
 */
#include <string.h>

#include "message.h"
#include "options.h"
#include "profile_operand.h"
#include "report_options.h"
#include "viewer.h"

enum { USUAL_ROWS = 20 };

struct report_options {
	const char *input, *level, *sort, *process, *by, *object, *function, *file, *columns, *latency;
	struct nm_shown_part part;
	int64_t limit, thread, width;
	int format, frame, pahole, data_type, machines;
};

static const struct nm_option options[] = {
    NM_ROW_PROFILE(struct report_options, input),
    {"level", 'l', "LEVEL", "count misses of this level (the first that takes data)", NM_OPTION_TEXT,
     offsetof(struct report_options, level), NULL},
    {"sort", 's', "COLUMN", "sort by a column, named as in the CSV output (misses)", NM_OPTION_TEXT,
     offsetof(struct report_options, sort), NULL},
    {"by", 'b', "KEYS",
     "group by some of process,thread,core,region,phase,level,function,file,line,object,type; or rank",
     NM_OPTION_TEXT, offsetof(struct report_options, by), NULL},
    {"object", 'o', "NAME", "only this object, or those of a pattern such as 'heap *'", NM_OPTION_TEXT,
     offsetof(struct report_options, object), NULL},
    {"function", 'F', "NAME", "only this function, or those of a pattern", NM_OPTION_TEXT,
     offsetof(struct report_options, function), NULL},
    {"file", 0, "NAME", "only this source file, or those of a pattern", NM_OPTION_TEXT,
     offsetof(struct report_options, file), NULL},
    {"columns", 'c', "COLUMNS", "show these columns, named as in the CSV output", NM_OPTION_TEXT,
     offsetof(struct report_options, columns), NULL},
    NM_ROW_FRAME(struct report_options, frame),
    {"machines", 0, NULL, "misses of each level of several machines, side by side", NM_OPTION_FLAG,
     offsetof(struct report_options, machines), NULL},
    {"pahole", 0, NULL, "of struct: as pahole prints structures, with loads, stores, misses and threads",
     NM_OPTION_FLAG, offsetof(struct report_options, pahole), NULL},
    {"data-type", 0, NULL, "of struct: percentages, as perf annotate --data-type prints them", NM_OPTION_FLAG,
     offsetof(struct report_options, data_type), NULL},
    {"latency", 0, "LIST", "cycles of a miss, by the level that serves it, e.g. L2=14,memory=200",
     NM_OPTION_TEXT, offsetof(struct report_options, latency), NULL},
    {"limit", 'n', "N", "show N rows, also small ones; 0: all (20)", NM_OPTION_NUMBER,
     offsetof(struct report_options, limit), NULL},
    NM_ROW_ONLY_PROCESS(struct report_options, process),
    NM_ROW_ONLY_THREAD(struct report_options, thread),
    NM_ROWS_PART(struct report_options, part),
    NM_ROW_FORMAT(struct report_options, format),
    NM_ROW_WIDTH(struct report_options, width),
};

static const char *report_words(unsigned i, const char **ret_summary)
{
	const struct nm_report *report = nm_report_at(i);

	if (!report)
		return NULL;
	*ret_summary = nm_report_summary(report);
	return nm_report_name(report);
}

/* Its second operand is the structure. */
static int is_struct(const struct nm_report *report) { return report == nm_report_named("struct"); }

static const struct nm_report *chosen_report(const struct nm_command *self,
					     const struct nm_operands *operands, const char *by)
{
	const struct nm_report *report = by ? &nm_report_by : nm_report_at(0);
	const char *words[40], *near;
	unsigned i, n = 0;

	if (by && !strcmp(by, "rank"))
		report = nm_report_named("ranks");
	if (!operands->count)
		return report;
	if (by) {
		nm_usage(self, "--by is a report of its own and does not go with \"%s\"", operands->at[0]);
		return NULL;
	}
	report = nm_report_named(operands->at[0]);
	if (operands->count > 1 + is_struct(report)) {
		nm_usage(self, "name one report, not also \"%s\"", operands->at[operands->count - 1]);
		return NULL;
	}
	if (report)
		return report;
	for (i = 0; nm_report_at(i) && n < 39; i++)
		words[n++] = nm_report_name(nm_report_at(i));
	words[n] = NULL;
	near = nm_nearest(operands->at[0], words);
	if (near)
		nm_usage(self, "unknown report \"%s\": did you mean %s?", operands->at[0], near);
	else
		nm_usage(self, "unknown report \"%s\"", operands->at[0]);
	return NULL;
}

/* The rows, or structures: without a name the one with the most misses. */
static int64_t chosen_limit(const struct report_options *o, const struct nm_report *report, int has_name)
{
	return o->limit >= 0 ? o->limit : is_struct(report) ? !has_name : USUAL_ROWS;
}

/* Whether the flags fit the report; if not, says so. */
static int card_fits(const struct nm_command *self, const struct report_options *o,
		     const struct nm_report *report)
{
	const char *flag = o->pahole ? "pahole" : o->data_type ? "data-type" : NULL;

	if (o->pahole && o->data_type)
		nm_usage(self, "choose one of --pahole and --data-type");
	else if (flag && !is_struct(report))
		nm_usage(self, "--%s is of the report struct: nearmiss report struct NAME --%s", flag, flag);
	else
		return 1;
	return 0;
}

static int run_report(const struct nm_command *self, int argc, char **argv)
{
	struct report_options o = {.limit = -1, .width = NM_WIDTH_OF_TERMINAL};
	struct nm_report_request request;
	const struct nm_report *report;
	struct nm_viewer viewer;
	struct nm_operands operands;
	const char *structure;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	status = nm_take_profile(self, &operands, &o.input);
	if (status)
		return status;
	report = chosen_report(self, &operands, o.by);
	if (!report || !card_fits(self, &o, report))
		return NM_STATUS_USAGE;
	structure = is_struct(report) && operands.count > 1 ? operands.at[1] : NULL;
	status = nm_viewer_open(&viewer, o.input, (enum nm_format)o.format, o.width);
	if (status)
		return status;
	request = (struct nm_report_request){.level = o.level,
					     .process = o.process,
					     .thread = o.thread,
					     .sort = o.sort,
					     .limit = chosen_limit(&o, report, structure != NULL),
					     .by = o.by,
					     .columns = o.columns,
					     .latency = o.latency,
					     .frame = (enum nm_shown_frame)o.frame,
					     .folds = o.limit < 0,
					     .object = o.object,
					     .function = o.function,
					     .file = o.file,
					     .machines = o.machines,
					     .structure = structure,
					     .card = o.pahole      ? NM_CARD_PAHOLE
						     : o.data_type ? NM_CARD_DATA_TYPE
								   : NM_CARD_NONE,
					     .part = o.part};
	status =
	    nm_report_run(report, viewer.profile, &request, &viewer.style, viewer.output.file, &viewer.err);
	return nm_viewer_close(&viewer, status, NM_STATUS_USAGE);
}

const struct nm_command nm_cmd_report = {
    .name = "report",
    .summary = "Show which objects and lines of a profile miss the cache",
    .operands = "[REPORT | struct [NAME]] [PROFILE]",
    .details =
	"Of a processor's samples (nearmiss import): summary, objects, functions, lines, pairs, latencies.\n"
	"\n"
	"Examples:\n"
	"  nearmiss report functions --object matrix     functions that miss on it\n"
	"  nearmiss report --by type,level               any other grouping\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .words = report_words,
    .words_title = "Reports",
    .run = run_report,
};
