/* SPDX-License-Identifier: MIT
 *
 * whatif_prefetch.c - see whatif_prefetch.h. The trace is replayed twice with trials: at all distances on the machine,
 * which says what the loads access, and then at the best one on machines with smaller and larger caches.
 */
#include "whatif_prefetch.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "output.h"
#include "prefetch_whatif.h"
#include "replayer.h"
#include "session.h"

static const unsigned usual[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

enum { MOST_TRIALS = 1 + NM_TRIAL_DISTANCE };

/* ---- the request ---- */

static int add_distance(struct nm_whatif_prefetch *p, const struct nm_command *self, unsigned long distance)
{
	if (!distance || distance > NM_TRIAL_DISTANCE)
		return nm_usage(self, "a distance is from 1 to %d executions", NM_TRIAL_DISTANCE);
	if (p->distance_count && distance <= p->distances[p->distance_count - 1])
		return nm_usage(self, "--distance takes ascending numbers and ranges, such as 1..8,16,32");
	p->distances[p->distance_count++] = (unsigned)distance;
	return 0;
}

static int read_distances(struct nm_whatif_prefetch *p, const struct nm_command *self)
{
	const char *at = p->distance;
	int status = 0;

	for (size_t i = 0; !at && i < sizeof usual / sizeof *usual; i++)
		p->distances[p->distance_count++] = usual[i];
	while (at && !status) {
		char *end;
		unsigned long from = strtoul(at, &end, 10), to = from;

		if (end != at && !strncmp(end, "..", 2)) {
			at = end + 2;
			to = strtoul(at, &end, 10);
		}
		if (end == at || (*end && *end != ',') || to < from)
			return nm_usage(self,
					"--distance takes ascending numbers and ranges, such as 1..8,16,32");
		for (; from <= to && !status; from++)
			status = add_distance(p, self, from);
		at = *end ? end + 1 : NULL;
	}
	return status;
}

static int read_place(struct nm_whatif_prefetch *p, const struct nm_command *self)
{
	const char *colon = strrchr(p->place, ':');
	char *end = NULL;
	struct nm_error err;

	p->line = colon ? strtoll(colon + 1, &end, 10) : 0;
	if (!colon || colon == p->place || p->line <= 0 || *end)
		return nm_usage(self, "--prefetch takes a line of code, FILE:LINE");
	p->file = strndup(p->place, (size_t)(colon - p->place));
	if (p->file)
		return 0;
	nm_fail_memory(&err);
	return nm_failed(&err, NM_STATUS_FAILED);
}

int nm_whatif_prefetch_read(struct nm_whatif_prefetch *p, const struct nm_command *self)
{
	int status;

	p->by_size = p->by && !strcmp(p->by, "size");
	if (p->by && !p->by_size && strcmp(p->by, "distance") != 0)
		return nm_usage(self, "with --prefetch, --by takes distance or size");
	if (!strcmp(p->trace, "-"))
		return nm_usage(self, "--prefetch reads the trace several times: name a file");
	status = read_place(p, self);
	return status ? status : read_distances(p, self);
}

void nm_whatif_prefetch_done(struct nm_whatif_prefetch *p) { free(p->file); }

/* ---- trials ---- */

/* The machines, their trials and what came of them. */
struct trials {
	struct nm_machine machines[NM_PREFETCH_SCALES], paced[NM_PREFETCH_SCALES];
	struct nm_prefetch_trial trials[MOST_TRIALS];
	struct nm_prefetch_sums sums[MOST_TRIALS];
	struct nm_prefetch_result results[MOST_TRIALS]; /* of those that prefetch */
	unsigned count, result_count, machine_count;
};

static void add_machine(struct trials *t, const struct nm_prefetch_line *line,
			const struct nm_machine *machine, const unsigned *distances, unsigned distance_count)
{
	const struct nm_prefetch_sums *before = &t->sums[t->count];
	struct nm_machine *paced = &t->paced[t->machine_count++];

	*paced = nm_prefetch_line_paced(line, machine);
	t->trials[t->count++] = (struct nm_prefetch_trial){paced, 0};
	for (unsigned i = 0; i < distance_count; i++) {
		t->results[t->result_count++] =
		    (struct nm_prefetch_result){machine, distances[i], &t->sums[t->count], before};
		t->trials[t->count++] = (struct nm_prefetch_trial){paced, distances[i]};
	}
}

static int receive_results(void *self, struct nm_session *session, struct nm_error *err)
{
	struct nm_result *const *results;
	size_t count;

	(void)self;
	return nm_session_results(session, &results, &count, err);
}

static int replay_trials(struct trials *t, const struct nm_prefetch_line *line, const char *trace,
			 const struct nm_run_request *run, struct nm_prefetch_whatif *whatif)
{
	const struct nm_result_receiver receiver = {receive_results, NULL};
	struct nm_run_replay_request request = {.run = *run, .input = trace};
	struct nm_prefetch_place *places = calloc(line->loads.count + 1, sizeof *places);
	struct nm_error err;
	int has_result = 0, status;

	if (!places) {
		nm_fail_memory(&err);
		return nm_failed(&err, NM_STATUS_FAILED);
	}
	*whatif = (struct nm_prefetch_whatif){
	    .places = places, .trials = t->trials, .trial_count = t->count, .sums = t->sums};
	for (size_t i = 0; i < line->loads.count; i++)
		if (line->loads.at[i].is_chosen)
			places[whatif->place_count++] =
			    (struct nm_prefetch_place){line->loads.at[i].module, line->loads.at[i].address};
	request.run.output = NULL;
	request.run.receiver = &receiver;
	request.run.engine.by_instruction = 0; /* the pass asks for instructions itself, not for their code */
	request.run.engine.pass = &nm_pass_prefetch_trials;
	request.run.engine.pass_arg = whatif;
	status = nm_run_replay(&request, &has_result, &err);
	if (status && !has_result)
		nm_message_error(&err);
	free(places);
	return has_result ? 0 : status;
}

/* ---- both tables ---- */

struct shown {
	struct nm_prefetch_line line;
	struct nm_chosen_simulation simulation;
	struct trials distances, sizes;
	int exponents[NM_PREFETCH_SCALES];
};

static int try_distances(struct shown *s, const struct nm_whatif_prefetch *p,
			 struct nm_prefetch_report *report)
{
	struct nm_machine *machine = &s->simulation.machine;
	struct nm_prefetch_whatif whatif;
	int status;

	nm_prefetch_line_latencies(&s->line, machine);
	add_machine(&s->distances, &s->line, machine, p->distances, p->distance_count);
	status = replay_trials(&s->distances, &s->line, p->trace, &s->simulation.run, &whatif);
	report->footprint = status ? 0 : whatif.lines * nm_machine_data_cache(machine)->line;
	report->distances = s->distances.results;
	report->distance_count = s->distances.result_count;
	return status;
}

static int try_sizes(struct shown *s, const struct nm_whatif_prefetch *p, struct nm_prefetch_report *report)
{
	const struct nm_machine *machine = &s->simulation.machine;
	const unsigned best = nm_prefetch_best(&s->line, report->distances, report->distance_count);
	struct nm_prefetch_whatif whatif;

	report->exponents = s->exponents;
	report->size_count = nm_prefetch_scales(machine, report->footprint, s->exponents);
	for (unsigned i = 0; i < report->size_count; i++) {
		s->sizes.machines[i] = nm_prefetch_scaled(machine, s->exponents[i]);
		add_machine(&s->sizes, &s->line, &s->sizes.machines[i], &report->distances[best].distance, 1);
	}
	report->sizes = s->sizes.results;
	return replay_trials(&s->sizes, &s->line, p->trace, &s->simulation.run, &whatif);
}

static int show(const struct nm_whatif_prefetch *p, const struct nm_prefetch_report *report)
{
	const enum nm_format format = p->layout == NM_DIFF_CSV    ? NM_FORMAT_CSV
				      : p->layout == NM_DIFF_JSON ? NM_FORMAT_JSON
								  : NM_FORMAT_TEXT;
	const struct nm_style style = nm_style_of(stdout, format, p->width);
	struct nm_command_output output;
	struct nm_error err;
	int code, status;

	nm_output_open(&output, format);
	code = nm_prefetch_show(report, p->layout, &style, output.file, &err);
	status = nm_output_close(&output);
	return code ? nm_failed(&err, NM_STATUS_FAILED) : status;
}

int nm_whatif_prefetch_run(const struct nm_whatif_prefetch *p, const struct nm_command *self,
			   const struct nm_simulation_options *options, struct nm_profile *profile)
{
	struct shown *s = calloc(1, sizeof *s);
	struct nm_prefetch_report report = {.by_size = p->by_size};
	struct nm_error err;
	int status;

	if (!s) {
		nm_fail_memory(&err);
		return nm_failed(&err, NM_STATUS_FAILED);
	}
	report.line = &s->line;
	status = nm_simulation_prepare(self, options, &s->simulation);
	nm_machine_drop_fetches(&s->simulation.machine);
	if (!status && nm_prefetch_trials_check(&s->simulation.machine, &err))
		status = nm_failed(&err, NM_STATUS_USAGE);
	if (!status && nm_prefetch_line_find(&s->line, profile, p->file, p->line, &err))
		status = nm_failed(&err, NM_STATUS_USAGE);
	if (!status)
		status = try_distances(s, p, &report);
	if (!status)
		status = try_sizes(s, p, &report);
	if (!status)
		status = show(p, &report);
	nm_prefetch_line_done(&s->line);
	free(s);
	return status;
}
