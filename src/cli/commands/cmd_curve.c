/* SPDX-License-Identifier: MIT
 *
 * cmd_curve.c - nearmiss curve: miss ratio against cache size.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve.h"
#include "machine.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "profile_operand.h"
#include "report_options.h"
#include "simulation_options.h"

enum {
	MAX_PROFILES = NM_OPTION_LIST_ROOM,
	MAX_MARKS = 64,
	USUAL_HEIGHT = 20,
	LEAST_HEIGHT = 4,
	MOST_HEIGHT = 200
};

struct curve_options {
	struct nm_option_list inputs;
	const char *by, *only, *method, *process, *machines, *from, *to;
	int64_t limit, width, height;
	int log_ratio, format;
};

static const struct nm_option options[] = {
    {"input", 'i', "FILE", "the profile (nearmiss.nmp); may be repeated, to compare", NM_OPTION_LIST,
     offsetof(struct curve_options, inputs), NULL},
    {"by", 'b', "SCOPE", "a curve for each object, function, line, thread or field (total)", NM_OPTION_TEXT,
     offsetof(struct curve_options, by), NULL},
    {"only", 0, "PATTERN", "only these objects, functions, ...; *, ? and [...] as in the shell",
     NM_OPTION_TEXT, offsetof(struct curve_options, only), NULL},
    {"method", 0, "NAME", "only curves found this way: exact, statcache, ...", NM_OPTION_TEXT,
     offsetof(struct curve_options, method), NULL},
    {"machine", 'm', "NAME,...", "mark the cache sizes of these machines; none: mark none (the profile's)",
     NM_OPTION_TEXT, offsetof(struct curve_options, machines), NULL},
    {"limit", 'n', "N", "show the N that miss most; 0: all (5)", NM_OPTION_NUMBER,
     offsetof(struct curve_options, limit), NULL},
    NM_ROW_ONLY_PROCESS(struct curve_options, process),
    {"from", 0, "SIZE", "smallest cache (1K)", NM_OPTION_TEXT, offsetof(struct curve_options, from), NULL},
    {"to", 0, "SIZE", "largest cache (where nothing more can be gained)", NM_OPTION_TEXT,
     offsetof(struct curve_options, to), NULL},
    {"log", 0, NULL, "logarithmic miss ratios", NM_OPTION_FLAG, offsetof(struct curve_options, log_ratio),
     NULL},
    {"format", 'f', "FORMAT", "output format (text)", NM_OPTION_CHOICE,
     offsetof(struct curve_options, format), "text|svg|csv|json"},
    {"width", 'w', "N", "columns of a text plot (the terminal's)", NM_OPTION_NUMBER,
     offsetof(struct curve_options, width), NULL},
    {"height", 0, "N", "rows of a text plot (20)", NM_OPTION_NUMBER, offsetof(struct curve_options, height),
     NULL},
};

/* "48K", "1.5M"; 0: it is no size. */
static double size_of(const char *text)
{
	static const char suffixes[] = "KMGT";
	const char *suffix;
	char *end;
	double size;

	errno = 0;
	size = strtod(text, &end);
	if (end == text || errno || !(size > 0) || !isfinite(size))
		return 0;
	suffix = *end ? strchr(suffixes, *end) : NULL;
	if (*end && (!suffix || end[1]))
		return 0;
	return suffix ? ldexp(size, 10 * (int)(suffix - suffixes + 1)) : size;
}

static int read_sizes(const struct nm_command *self, const struct curve_options *o,
		      struct nm_curve_request *request)
{
	request->from = o->from ? size_of(o->from) : 0;
	request->to = o->to ? size_of(o->to) : 0;
	if (o->from && !(request->from > 0))
		return nm_usage(self, "--from takes a size, such as 32K, not \"%s\"", o->from);
	if (o->to && !(request->to > 0))
		return nm_usage(self, "--to takes a size, such as 32M, not \"%s\"", o->to);
	if (o->from && o->to && request->from >= request->to)
		return nm_usage(self, "--from must be smaller than --to");
	return 0;
}

/* ---- marks ---- */

struct marks {
	struct nm_curve_mark at[MAX_MARKS];
	size_t count;
	int several; /* machines */
};

static void add_mark(struct marks *marks, const char *label, double bytes)
{
	struct nm_curve_mark *mark = &marks->at[marks->count];

	if (marks->count == MAX_MARKS)
		return;
	snprintf(mark->label, sizeof mark->label, "%s", label);
	mark->bytes = bytes;
	marks->count++;
}

static int add_machine(void *arg, struct nm_machine *machine)
{
	struct marks *marks = arg;

	for (unsigned i = 0; i < machine->count; i++) {
		const struct nm_level_spec *level = &machine->levels[i];
		char label[sizeof marks->at->label];

		if (level->pages || level->side == NM_SIDE_INSTRUCTION)
			continue;
		snprintf(label, sizeof label, "%.20s%s%.16s", marks->several ? machine->name : "",
			 marks->several ? " " : "", level->name);
		add_mark(marks, label, (double)level->size);
	}
	return 0;
}

/* The data caches of the machine that the profile was recorded for. */
static int add_recorded(struct marks *marks, struct nm_profile *profile, struct nm_error *err)
{
	static const char sql[] = "SELECT DISTINCT level, size FROM levels WHERE level NOT LIKE '%TLB%' "
				  "AND level NOT LIKE '%L1i' AND size > 0 ORDER BY size";
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, sql, &rows, err), more = 0;

	while (!status && (more = nm_rows_next(rows, err)) > 0)
		add_mark(marks, nm_rows_text(rows, 0), nm_rows_real(rows, 1));
	nm_rows_free(rows);
	return status ? status : more;
}

static int by_bytes(const void *a, const void *b)
{
	const struct nm_curve_mark *m = a, *y = b;

	return (m->bytes > y->bytes) - (m->bytes < y->bytes);
}

/* ---- profiles ---- */

struct profiles {
	struct nm_curve_source at[MAX_PROFILES];
	size_t count;
};

static int open_profiles(struct profiles *p, const struct nm_option_list *paths, struct nm_error *err)
{
	for (size_t i = 0; i < paths->count; i++) {
		if (nm_profile_open(&p->at[i].profile, paths->at[i], err))
			return nm_profile_failed(paths->at[i], err);
		p->at[i].label = paths->count > 1 ? paths->at[i] : NULL;
		p->count++;
	}
	return 0;
}

static void close_profiles(struct profiles *p)
{
	for (size_t i = 0; i < p->count; i++)
		nm_profile_close(p->at[i].profile);
}

/* ---- the command ---- */

static int show_curves(const struct profiles *profiles, const struct nm_curve_request *request,
		       const struct curve_options *o, struct nm_error *err)
{
	const enum nm_format kind = o->format == NM_CURVE_TEXT ? NM_FORMAT_TEXT : NM_FORMAT_JSON;
	struct nm_style style = nm_style_of(stdout, kind, o->width);
	struct nm_command_output output;
	int status, written;

	nm_output_open(&output, kind);
	status = nm_curve_run(profiles->at, profiles->count, request, (enum nm_curve_format)o->format, &style,
			      output.file, err);
	written = nm_output_close(&output);
	return status ? nm_failed(err, NM_STATUS_USAGE) : written;
}

static int run_curve(const struct nm_command *self, int argc, char **argv)
{
	struct curve_options o = {
	    .by = "total", .limit = 5, .width = NM_WIDTH_OF_TERMINAL, .height = USUAL_HEIGHT};
	struct nm_curve_request request = {0};
	struct profiles profiles = {.count = 0};
	struct marks marks = {.count = 0};
	struct nm_operands operands;
	struct nm_error err;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	status = nm_take_profiles(self, &operands, &o.inputs);
	if (status)
		return status;
	if (operands.count)
		return nm_usage(self, "\"%s\" is no profile", operands.at[0]);
	if (o.height < LEAST_HEIGHT || o.height > MOST_HEIGHT)
		return nm_usage(self, "--height takes a number from %d to %d", LEAST_HEIGHT, MOST_HEIGHT);
	status = read_sizes(self, &o, &request);
	if (status)
		return status;
	if (!o.inputs.count)
		o.inputs = (struct nm_option_list){{"nearmiss.nmp"}, 1};
	status = open_profiles(&profiles, &o.inputs, &err);
	if (!status && !o.machines)
		status = add_recorded(&marks, profiles.at[0].profile, &err)
			     ? nm_failed(&err, NM_STATUS_BAD_INPUT)
			     : 0;
	else if (!status && strcmp(o.machines, "none") != 0) {
		marks.several = strchr(o.machines, ',') != NULL;
		status = nm_each_machine(o.machines, add_machine, &marks);
	}
	if (!status) {
		qsort(marks.at, marks.count, sizeof *marks.at, by_bytes);
		request.by = o.by;
		request.only = o.only;
		request.method = o.method;
		request.process = o.process;
		request.limit = o.limit;
		request.log_ratio = o.log_ratio;
		request.height = (unsigned)o.height;
		request.marks = marks.at;
		request.mark_count = marks.count;
		status = show_curves(&profiles, &request, &o, &err);
	}
	close_profiles(&profiles);
	return status;
}

const struct nm_command nm_cmd_curve = {
    .name = "curve",
    .summary = "Plot the miss ratio of caches of every size, and name the knees",
    .operands = "[PROFILE...]",
    .details =
	"Takes profiles of `record --distances` (exact) or `record --sample` (estimated).\n"
	"\n"
	"Examples:\n"
	"  nearmiss curve                                  the whole program\n"
	"  nearmiss curve --by object --machine zen4,m1    the objects that miss most, beside two machines\n"
	"  nearmiss curve -i old.nmp -i new.nmp -f svg > curve.svg\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_curve,
};
