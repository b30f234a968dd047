/* SPDX-License-Identifier: MIT
 *
 * cmd_whatif.c - nearmiss whatif: the misses of a traced program if its data were laid out otherwise.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "candidate.h"
#include "diff.h"
#include "files.h"
#include "layout_levels.h"
#include "lru_misses.h"
#include "message.h"
#include "name_match.h"
#include "notes.h"
#include "options.h"
#include "output.h"
#include "replayer.h"
#include "report_options.h"
#include "simulation_options.h"
#include "whatif_prefetch.h"
#include "whatif_search.h"

enum { MOST = NM_DIFF_SIDES - 1 /* candidates */, MOST_TEXT = 1 << 20, RELOCATIONS = 3, BY_MACHINE = -1 };

struct whatif_options {
	struct nm_simulation_options simulation;
	struct nm_option_list apply;
	const char *prefetch, *distance, *search, *level, *by, *keep;
	int64_t limit, width, relocations;
	int layout, progress;
};

static const struct nm_option options[] = {
    {"apply", 'a', "TEXT",
     "a candidate: transformations by lines or ';', @FILE, or advice: what the report suggests",
     NM_OPTION_LIST, offsetof(struct whatif_options, apply), NULL},
    {"search", 's', "STRUCT",
     "search an order (64 simulated in full) and a split of this structure that cost less", NM_OPTION_TEXT,
     offsetof(struct whatif_options, search), NULL},
    {"prefetch", 'p', "FILE:LINE", "instead: prefetch what this line loads", NM_OPTION_ONCE,
     offsetof(struct whatif_options, prefetch), NULL},
    {"distance", 'd', "A..B,N", "so many executions ahead, all of these tried (1 to 64 in 12 steps)",
     NM_OPTION_ONCE, offsetof(struct whatif_options, distance), NULL},
    {"by", 'b', "KEYS", "rows of changes: keys by commas, as of diff (object,line); with --prefetch: size",
     NM_OPTION_TEXT, offsetof(struct whatif_options, by), NULL},
    {"level", 'l', "LEVEL", "changes of misses of this level (the first that takes data)", NM_OPTION_TEXT,
     offsetof(struct whatif_options, level), NULL},
    {"limit", 'n', "N", "show N rows of changes (10); 0: all", NM_OPTION_NUMBER,
     offsetof(struct whatif_options, limit), NULL},
    {"keep", 'k', "PREFIX", "keep the profiles, PREFIX-a.nmp of the program as it is, -b.nmp, ...",
     NM_OPTION_TEXT, offsetof(struct whatif_options, keep), NULL},
    {"format", 'f', "FORMAT", "output format (text); csv and json have levels, or with --by its rows",
     NM_OPTION_CHOICE, offsetof(struct whatif_options, layout), "text|csv|json|markdown"},
    NM_ROW_WIDTH(struct whatif_options, width),
    NM_ROW_MACHINE(struct whatif_options, simulation),
    NM_ROW_CACHE(struct whatif_options, simulation),
    {"relocate", 0, "K", "simulate K other placements of memory too, for intervals (3); 0: none",
     NM_OPTION_NUMBER, offsetof(struct whatif_options, relocations), NULL},
    NM_ROW_THREADS(struct whatif_options, simulation),
    NM_ROW_ALLOC_FN(struct whatif_options, simulation),
    NM_ROW_POOL_FN(struct whatif_options, simulation),
    NM_ROW_USER_PATH(struct whatif_options, simulation),
    NM_ROW_FROM(struct whatif_options, simulation),
    NM_ROW_UNTIL(struct whatif_options, simulation),
    NM_ROW_IN(struct whatif_options, simulation),
    {"progress", 0, NULL, "show progress where standard error is no terminal, too", NM_OPTION_FLAG,
     offsetof(struct whatif_options, progress), NULL},
    NM_ROW_QUIET(struct whatif_options, simulation),
};

/* The candidates, and the profiles of the program as it is ([0]) and of each of them. */
struct whatif {
	struct nm_candidate candidates[MOST];
	size_t count;
	int is_advised;                  /* and what the report suggests */
	struct nm_whatif_search *search; /* and what a search finds, or NULL */
	struct nm_machine machine;
	char *folder; /* of the profiles, if they are not kept */
	char *paths[MOST + 1];
	struct nm_diff_input inputs[MOST + 1];
};

/* ---- candidates ---- */

/* The text of an --apply; malloc'ed. NULL: a message was printed. */
static char *text_of(const char *apply)
{
	FILE *file = *apply == '@' ? fopen(apply + 1, "r") : NULL;
	char *text;
	size_t n;

	if (*apply != '@')
		return strdup(apply);
	if (!file) {
		nm_message("cannot read %s: %s", apply + 1, strerror(errno));
		return NULL;
	}
	text = malloc(MOST_TEXT + 1);
	n = text ? fread(text, 1, MOST_TEXT, file) : 0;
	if (text)
		text[n] = '\0';
	fclose(file);
	return text;
}

static int is_advice(const char *apply) { return !strcmp(apply, "advice"); }

static int add_candidate(struct whatif *w, const char *text)
{
	struct nm_error err;

	if (nm_candidate_parse(&w->candidates[w->count++], text, &err))
		return nm_failed(&err, NM_STATUS_USAGE);
	return 0;
}

static int read_candidates(struct whatif *w, const struct nm_command *self,
			   const struct nm_option_list *apply)
{
	int status = 0;

	if ((!apply->count && !w->search) || apply->count > MOST)
		return nm_usage(self, "name 1 to %d candidates, each with --apply TEXT, or --search STRUCT",
				MOST);
	for (size_t i = 0; i < apply->count && !status; i++) {
		char *text = is_advice(apply->at[i]) ? NULL : text_of(apply->at[i]);

		if (is_advice(apply->at[i]))
			w->is_advised = 1;
		else
			status = text ? add_candidate(w, text) : NM_STATUS_USAGE;
		free(text);
	}
	return status;
}

/* Adds what the report on the program as it is suggests, as many as there is room for. */
static int add_advised(struct whatif *w, struct nm_profile *profile)
{
	struct nm_advised_layouts layouts;
	struct nm_error err;
	int status = 0;

	if (nm_advised_layouts_make(profile, &layouts, &err))
		status = nm_failed(&err, NM_STATUS_FAILED);
	for (size_t i = 0; i < layouts.texts.count && w->count < MOST && !status; i++)
		status = add_candidate(w, layouts.texts.at[i]);
	nm_advised_layouts_done(&layouts);
	if (!status && !w->count && !w->search) {
		nm_message("the report suggests no layout that can be tried here (nearmiss report)");
		status = NM_STATUS_USAGE;
	}
	return status;
}

/* Candidates that follow from the first profile. */
static int look_at_first(struct whatif *w)
{
	struct nm_profile *profile = NULL;
	struct nm_error err;
	int status = 0;

	if (nm_profile_open(&profile, w->paths[0], &err))
		return nm_failed(&err, NM_STATUS_FAILED);
	if (w->is_advised)
		status = add_advised(w, profile);
	if (!status && w->search)
		status = nm_whatif_search_run(w->search, &w->machine, profile);
	nm_profile_close(profile);
	unlink(w->paths[0]); /* it is written again */
	return status;
}

/* As they are written in a transformation: without "struct", without the place of an allocation. */
#define TYPES "SELECT DISTINCT replace(type, 'struct ', '') FROM fields"
#define OBJECTS "SELECT DISTINCT substr(object, 1, instr(object || ' (', ' (') - 1) FROM objects"

/* A transformation that met nothing: why, or what is called nearly so in the profile of the program as it is. */
static int say_unmet(const struct whatif *w, const struct nm_transform *t)
{
	const int is_type = nm_transform_is_of_type(t);
	const char *name = t->met ? t->other : t->target;
	struct nm_error err;
	char near[300] = "";

	if (!t->refused &&
	    nm_near_names(w->inputs[0].profile, name, is_type ? TYPES : OBJECTS, near, sizeof near, &err))
		return nm_failed(&err, NM_STATUS_FAILED);
	if (t->refused)
		nm_message("%s: %s", t->text, t->refused);
	else if (*near)
		nm_message("%s: no such %s was accessed; did you mean %s?", t->text,
			   is_type ? "structure" : "object", near);
	else
		nm_message("%s: no such %s was accessed (nearmiss report %s)", t->text,
			   is_type ? "structure" : "object", is_type ? "fields" : "objects");
	return NM_STATUS_USAGE;
}

/* Says what candidates did not do; a status. */
static int check_candidates(const struct whatif *w)
{
	for (size_t i = 0; i < w->count; i++)
		for (size_t k = 0; k < w->candidates[i].transforms.count; k++) {
			const struct nm_transform *t = &w->candidates[i].transforms.at[k];

			if (!t->met || (t->other && !t->other_met))
				return say_unmet(w, t);
			if (t->visitor && !t->visited) {
				nm_message("%s: %s reads none of these blocks", t->text, t->visitor);
				return NM_STATUS_USAGE;
			}
			if (t->refused)
				nm_message("%s: a part of it stays as it is: %s", t->text, t->refused);
		}
	return 0;
}

/* ---- profiles ---- */

static int name_profiles(struct whatif *w, const char *keep)
{
	const char *folder = getenv("TMPDIR");

	if (!keep && asprintf(&w->folder, "%s/nearmiss-XXXXXX", folder && *folder ? folder : "/tmp") < 0)
		w->folder = NULL;
	if (!keep && (!w->folder || !mkdtemp(w->folder))) {
		nm_message("cannot make a folder in %s", folder && *folder ? folder : "/tmp");
		free(w->folder);
		w->folder = NULL;
		return NM_STATUS_FAILED;
	}
	for (size_t i = 0; i <= MOST; i++) {
		if (asprintf(&w->paths[i], "%s%s%c.nmp", keep ? keep : w->folder, keep ? "-" : "/",
			     'a' + (int)i) < 0)
			return NM_STATUS_FAILED;
		if (!keep)
			nm_temporary_add(w->paths[i]);
	}
	return 0;
}

static int open_profiles(struct whatif *w)
{
	struct nm_error err;

	for (size_t i = 0; i <= w->count; i++) {
		w->inputs[i].path = i ? w->candidates[i - 1].text : "as it is"; /* what it is called */
		if (nm_profile_open(&w->inputs[i].profile, w->paths[i], &err))
			return nm_failed(&err, NM_STATUS_FAILED);
	}
	return 0;
}

static void done(struct whatif *w)
{
	for (size_t i = 0; i < w->count; i++)
		nm_candidate_done(&w->candidates[i]);
	for (size_t i = 0; i <= MOST; i++) {
		if (w->inputs[i].profile)
			nm_profile_close(w->inputs[i].profile);
		if (w->folder && w->paths[i]) {
			unlink(w->paths[i]);
			nm_temporary_forget(w->paths[i]);
		}
		free(w->paths[i]);
	}
	if (w->search)
		nm_whatif_search_done(w->search);
	if (w->folder)
		rmdir(w->folder);
	free(w->folder);
}

/* ---- the command ---- */

static int check_machine(const struct whatif *w, const struct nm_machine *machine)
{
	int has_tlb = 0;

	for (unsigned i = 0; i < machine->count; i++)
		has_tlb |= machine->levels[i].pages != 0;
	if (machine->cores > 1) {
		nm_message("layouts and prefetches are tried on one core; this machine has %u",
			   machine->cores);
		return NM_STATUS_USAGE;
	}
	for (size_t i = 0; i < w->count && !has_tlb; i++)
		for (size_t k = 0; k < w->candidates[i].transforms.count; k++)
			if (w->candidates[i].transforms.at[k].kind == NM_HUGE_PAGES) {
				nm_message(
				    "%s: only misses of a TLB change; choose a machine that has one, as "
				    "--machine zen3-tlb",
				    w->candidates[i].transforms.at[k].text);
				return NM_STATUS_USAGE;
			}
	return 0;
}

/* The trace, as it is and as the first `count` candidates would make it. */
static int replay(struct whatif *w, const struct nm_command *self, struct whatif_options *o,
		  const char *trace, size_t count)
{
	struct nm_chosen_simulation simulation;
	struct nm_run_replay_request request = {.input = trace};
	struct nm_error err;
	int has_result, status;

	o->simulation.output = w->paths[0];
	o->simulation.relocations = o->relocations == BY_MACHINE ? 0 : o->relocations;
	status = nm_simulation_prepare(self, &o->simulation, &simulation);
	if (!status)
		status = check_machine(w, &simulation.machine);
	if (status)
		return status;
	if (count && o->relocations == BY_MACHINE &&
	    !nm_lru_misses_check(&simulation.machine, "relocations", NULL))
		simulation.run.engine.relocations = RELOCATIONS;
	w->machine = simulation.machine;
	simulation.run.engine.visits = count || !w->search ? NULL : &w->search->log;
	if (o->progress) {
		simulation.run.feedback.progress = nm_message_progress;
		simulation.run.feedback.progress_end = nm_message_progress_end;
	}
	simulation.run.engine.candidates = w->candidates;
	simulation.run.engine.candidate_count = count;
	simulation.run.candidate_outputs = (const char *const *)w->paths + 1;
	request.run = simulation.run;
	nm_temporary_unlink_on_signals();
	status = nm_run_replay(&request, &has_result, &err);
	if (status)
		nm_message_error(&err);
	return has_result ? 0 : status;
}

/* Simulates what the search proposes next, without relocations. */
static int try_round(struct whatif *w, const struct nm_command *self, struct whatif_options *o,
		     const char *trace)
{
	const struct nm_order_trials *trials = &w->search->trials;
	const int64_t relocations = o->relocations;
	int status = 0;

	for (size_t i = trials->told; i < trials->tried.count && !status; i++)
		status = add_candidate(w, trials->tried.at[i].text);
	o->relocations = 0;
	if (!status)
		status = replay(w, self, o, trace, w->count);
	o->relocations = relocations;
	if (!status)
		status = nm_whatif_search_tell(w->search, w->paths);
	for (size_t i = 0; i < w->count; i++) {
		nm_candidate_done(&w->candidates[i]);
		unlink(w->paths[1 + i]);
	}
	unlink(w->paths[0]);
	w->count = 0;
	return status;
}

/* Adds what the search finds, as many as there is room for. */
static int add_found(struct whatif *w, const struct nm_command *self, struct whatif_options *o,
		     const char *trace)
{
	struct whatif trying = *w;
	struct nm_error err;
	int status = 0;

	trying.count = 0;
	do {
		if (nm_order_trials_next(&w->search->trials, MOST, &err))
			return nm_failed(&err, NM_STATUS_FAILED);
		if (w->search->trials.told < w->search->trials.tried.count)
			status = try_round(&trying, self, o, trace);
	} while (!status && !w->search->trials.has_split);
	if (status)
		return status;
	w->search->first = (unsigned)w->count;
	nm_whatif_search_find(w->search, MOST - (unsigned)w->count);
	for (unsigned i = 0; i < w->search->count && !status; i++)
		status = add_candidate(w, w->search->found[i].text);
	return status;
}

static int write_all(const struct whatif *w, const struct whatif_options *o, const struct nm_style *style,
		     FILE *out, struct nm_error *err)
{
	const unsigned count = (unsigned)w->count + 1;
	const int in_words = o->layout == NM_DIFF_TEXT || o->layout == NM_DIFF_MARKDOWN;
	const struct nm_diff_request request = {.level = o->level,
						.by = o->by,
						.limit = o->limit,
						.layout = (enum nm_diff_layout)o->layout,
						.of_candidates = 1};
	char *over = NULL;
	int status = 0;

	if (in_words && w->search)
		status = nm_whatif_search_write(w->search, w->inputs, out, err);
	if (!w->count)
		return status;
	if (!status && (in_words || !o->by))
		status = nm_layout_levels(w->inputs, count, request.layout, style, out, err);
	if (!status && in_words)
		fputc('\n', out);
	if (!status && (in_words || o->by))
		status = nm_diff_run(w->inputs, count, &request, style, out, &over, err);
	free(over);
	return status;
}

static int show_levels(const struct whatif *w, const struct whatif_options *o)
{
	const enum nm_format format = o->layout == NM_DIFF_CSV    ? NM_FORMAT_CSV
				      : o->layout == NM_DIFF_JSON ? NM_FORMAT_JSON
								  : NM_FORMAT_TEXT;
	const struct nm_style style = nm_style_of(stdout, format, o->width);
	struct nm_command_output output;
	struct nm_error err;
	int code, status;

	nm_output_open(&output, format);
	code = write_all(w, o, &style, output.file, &err);
	status = nm_output_close(&output);
	return code ? nm_failed(&err, NM_STATUS_USAGE) : status;
}

/* Prefetches instead of candidates: the profile is of instructions, of the program as it is. */
static int run_prefetch(struct whatif *w, const struct nm_command *self, struct whatif_options *o,
			const char *trace)
{
	struct nm_whatif_prefetch prefetch = {.place = o->prefetch,
					      .distance = o->distance,
					      .by = o->by,
					      .trace = trace,
					      .layout = (enum nm_diff_layout)o->layout,
					      .width = o->width};
	int status;

	if (o->apply.count || o->keep || o->level || o->relocations != BY_MACHINE)
		return nm_usage(self, "--prefetch goes without --apply, --keep, --level and --relocate");
	o->simulation.by_instruction = 1;
	status = nm_whatif_prefetch_read(&prefetch, self);
	if (!status)
		status = name_profiles(w, NULL);
	if (!status)
		status = replay(w, self, o, trace, 0);
	if (!status)
		status = open_profiles(w);
	if (!status)
		status = nm_whatif_prefetch_run(&prefetch, self, &o->simulation, w->inputs[0].profile);
	nm_whatif_prefetch_done(&prefetch);
	return status;
}

/* Layouts. */
static int run_candidates(struct whatif *w, const struct nm_command *self, struct whatif_options *o,
			  const char *trace)
{
	int status = read_candidates(w, self, &o->apply);

	if (!status && o->distance)
		return nm_usage(self, "--distance is of --prefetch");
	if (!status)
		status = name_profiles(w, o->keep);
	if (!status && (w->is_advised || w->search)) /* of the program as it is */
		status = replay(w, self, o, trace, 0);
	if (!status && (w->is_advised || w->search))
		status = look_at_first(w);
	if (!status && w->search)
		status = add_found(w, self, o, trace);
	if (!status && w->count)
		status = replay(w, self, o, trace, w->count);
	if (!status)
		status = open_profiles(w);
	if (!status)
		status = check_candidates(w);
	return status ? status : show_levels(w, o);
}

static int run_whatif(const struct nm_command *self, int argc, char **argv)
{
	struct whatif_options o = {.simulation = {.stored = 1, .layouts = 1},
				   .relocations = BY_MACHINE,
				   .limit = 10,
				   .width = NM_WIDTH_OF_TERMINAL};
	struct nm_whatif_search search;
	struct whatif w = {.count = 0};
	struct nm_operands operands;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (operands.count != 1)
		return nm_usage(self, operands.count ? "name one trace, not several" : "name a trace");
	if (o.search && !o.prefetch) {
		nm_whatif_search_init(&search, o.search);
		w.search = &search;
	}
	status = o.prefetch ? run_prefetch(&w, self, &o, operands.at[0])
			    : run_candidates(&w, self, &o, operands.at[0]);
	done(&w);
	return status;
}

const struct nm_command nm_cmd_whatif = {
    .name = "whatif",
    .summary = "Show what another layout of its data, or a prefetch, would change, without a rebuild",
    .operands = "TRACE",
    .details =
	"A is the program as it ran, B and on are the candidates.  A candidate's lines are:\n"
	"  reorder struct NAME: FIELD, FIELD      pad struct NAME to BYTES     shrink NAME.FIELD to BYTES\n"
	"  split struct NAME hot(FIELD, FIELD) parallel (or: by pointer)       soa struct NAME\n"
	"  align OBJECT to BYTES                  pool OBJECT (or: pool OBJECT by first use)\n"
	"  order OBJECT as visited (or: as visited by FUNCTION)                hugepages OBJECT\n"
	"  merge OBJECT of BYTES, OBJECT of BYTES\n"
	"  transpose OBJECT ROWSxCOLUMNSxBYTES    pad OBJECT rows of BYTES by BYTES\n"
	"  offset OBJECT against OBJECT by BYTES\n\n"
	"With --prefetch the tables have prefetches at each distance, and the best one for smaller and larger data.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_whatif,
};
