/* SPDX-License-Identifier: MIT */
#include "whatif_search.h"

#include <inttypes.h>
#include <string.h>

#include "declaration.h"
#include "levels.h"
#include "message.h"
#include "name_match.h"
#include "report_selection.h"
#include "text.h"
#include "verdict.h"

void nm_whatif_search_init(struct nm_whatif_search *s, const char *structure)
{
	*s = (struct nm_whatif_search){.count = 0};
	nm_visit_log_init(&s->log, structure, NM_SEARCH_VISITS);
}

void nm_whatif_search_done(struct nm_whatif_search *s)
{
	nm_order_trials_done(&s->trials);
	nm_order_search_done(&s->orders);
	nm_visit_log_done(&s->log);
}

/* ---- the search ---- */

/* What a load of a level adds to the estimated cycles of the report, but that it is not known whether it is
 * dependent. */
static int find_costs(struct nm_whatif_search *s, const struct nm_machine *machine,
		      struct nm_profile *profile, struct nm_error *err)
{
	struct nm_levels levels = {.count = 0};
	const int status = nm_levels_load(&levels, profile, NULL, err);

	for (unsigned i = 0; i < machine->count && !status; i++) {
		const struct nm_level *level = nm_levels_named(&levels, machine->levels[i].name);
		struct nm_waits next, own = {.dependent = 0};

		if (!level || level->side == NM_LEVEL_CODE || machine->levels[i].pages)
			continue;
		next = nm_waits_of(NM_LIKELY, (double)nm_levels_next_latency(&levels, level));
		if (!nm_machine_first(machine, i, NM_SIDE_DATA))
			own = nm_waits_of(NM_LIKELY, (double)level->latency);
		s->orders.costs[i] = (struct nm_load_cost){.covered = next.covered - own.covered,
							   .other = next.together - own.together};
	}
	nm_levels_done(&levels);
	return status;
}

static int say_unmet(const struct nm_whatif_search *s, struct nm_profile *profile)
{
	struct nm_error err;
	char near[300] = "";

	if (nm_near_names(profile, s->log.structure,
			  "SELECT DISTINCT replace(type, 'struct ', '') FROM fields", near, sizeof near,
			  &err))
		return nm_failed(&err, NM_STATUS_FAILED);
	nm_message("no structure %s was accessed%s%s%s", s->log.structure, *near ? "; did you mean " : "",
		   near, *near ? "?" : " (nearmiss report fields)");
	return NM_STATUS_USAGE;
}

int nm_whatif_search_run(struct nm_whatif_search *s, const struct nm_machine *machine,
			 struct nm_profile *profile)
{
	struct nm_error err;

	if (!s->log.type.name)
		return say_unmet(s, profile);
	s->orders.log = &s->log;
	s->orders.machine = machine;
	s->orders.most = NM_SEARCH_LAYOUTS;
	if (find_costs(s, machine, profile, &err) || nm_order_search_run(&s->orders, &err))
		return nm_failed(&err, NM_STATUS_FAILED);
	s->trials.search = &s->orders;
	s->trials.most = NM_SEARCH_TRIALS;
	nm_order_trials_init(&s->trials);
	return 0;
}

/* ---- what it gains ---- */

/* The first levels of data of the machines. */
static const char first_levels[] =
    "SELECT level, min(position) FROM levels WHERE coalesce(side, '') <> 'instruction' "
    "GROUP BY substr(level, 1, instr(level, '/')) ORDER BY min(position)";

/* Estimated cycles of the run on the machine of a level; where they are not known, the misses of the level. */
static int find_cost(struct nm_profile *profile, const char *level, double *ret, int *ret_is_cycles,
		     struct nm_error *err)
{
	const struct nm_report_request request = {.level = level};
	struct nm_selection selection = {.of_samples = 0};
	struct nm_rows *rows = NULL;
	struct nm_verdict verdict;
	int status = nm_selection_make(profile, &request, &selection, err);

	if (!status)
		status = nm_verdict_make(profile, &selection, &verdict, err);
	nm_selection_done(&selection);
	*ret = status ? 0 : verdict.cycles;
	*ret_is_cycles = *ret > 0;
	if (status || *ret_is_cycles)
		return status;
	status = nm_profile_query(
	    profile, "SELECT sum(read_misses + write_misses) FROM levels WHERE level = ?1", &rows, err);
	if (!status) {
		nm_rows_bind_text(rows, 1, level);
		status = nm_rows_next(rows, err);
	}
	*ret = status > 0 ? (double)nm_rows_bounded(rows, 0) : 0;
	nm_rows_free(rows);
	return status > 0 ? 0 : status;
}

/* What a candidate costs as a part of the program as it is, the mean of the machines; writes each in percent. */
static int compare(const struct nm_diff_input *before, const struct nm_diff_input *after, double *ret_mean,
		   FILE *out, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(before->profile, first_levels, &rows, err);
	unsigned machines = 0;

	*ret_mean = 0;
	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		const char *level = nm_rows_text(rows, 0);
		double was, is;
		int is_cycles;

		status = find_cost(before->profile, level, &was, &is_cycles, err);
		if (!status)
			status = find_cost(after->profile, level, &is, &is_cycles, err);
		if (status || was <= 0)
			continue;
		*ret_mean += is / was;
		if (out)
			fprintf(out, "%s%s%s %+.1f %%", machines ? ", " : "",
				is_cycles ? "estimated cycles of the run" : "misses of ",
				is_cycles ? "" : level, 100 * (is - was) / was);
		machines++;
	}
	nm_rows_free(rows);
	if (!status && machines)
		*ret_mean /= machines;
	return status;
}

static int find_trial(const struct nm_diff_input *before, const char *path, double *ret, struct nm_error *err)
{
	struct nm_diff_input after = {.path = path};
	int status = nm_profile_open(&after.profile, path, err);

	if (status)
		return status;
	status = compare(before, &after, ret, NULL, err);
	nm_profile_close(after.profile);
	return status;
}

int nm_whatif_search_tell(struct nm_whatif_search *s, char *const *paths)
{
	const size_t count = s->trials.tried.count - s->trials.told;
	struct nm_diff_input before = {.path = paths[0]};
	double costs[NM_DIFF_SIDES];
	struct nm_error err;
	int status = nm_profile_open(&before.profile, paths[0], &err);

	if (status)
		return nm_failed(&err, NM_STATUS_FAILED);
	for (size_t i = 0; i < count && !status; i++)
		status = find_trial(&before, paths[1 + i], &costs[i], &err);
	nm_profile_close(before.profile);
	if (status)
		return nm_failed(&err, NM_STATUS_FAILED);
	nm_order_trials_tell(&s->trials, costs);
	return 0;
}

/* The best order and the best split, then the next ones. */
void nm_whatif_search_find(struct nm_whatif_search *s, unsigned room)
{
	struct nm_found_layout found[2][NM_SEARCH_FOUND];
	unsigned counts[2];

	for (int is_split = 0; is_split < 2; is_split++)
		counts[is_split] =
		    nm_order_trials_found(&s->trials, is_split, NM_SEARCH_FOUND, found[is_split]);
	for (unsigned i = 0; i < NM_SEARCH_FOUND; i++)
		for (int is_split = 0; is_split < 2 && s->count < room && s->count < NM_SEARCH_FOUND;
		     is_split++)
			if (i < counts[is_split])
				s->found[s->count++] = found[is_split][i];
}

/* ---- texts ---- */

/* The language of the code that accesses the structure. */
static int find_style(const struct nm_whatif_search *s, struct nm_profile *profile,
		      enum nm_declaration_style *ret_style, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile,
	    "SELECT file FROM field_counts WHERE type = ?1 AND file IS NOT NULL GROUP BY file "
	    "ORDER BY sum(reads + writes) DESC LIMIT 1",
	    &rows, err);

	if (!status)
		nm_rows_bind_text(rows, 1, s->log.type.name);
	if (!status)
		status = nm_rows_next(rows, err);
	*ret_style = nm_declaration_style(status > 0 ? nm_rows_text(rows, 0) : NULL, s->log.type.name);
	nm_rows_free(rows);
	return status > 0 ? 0 : status;
}

static int declare(const struct nm_whatif_search *s, const char *text, enum nm_declaration_style style,
		   FILE *out, struct nm_error *err)
{
	struct nm_element_map map = {.bytes = 0};
	struct nm_candidate c;
	int status = nm_candidate_parse(&c, text, err);

	if (!status && nm_element_map_init(&map, &s->log.type))
		status = nm_fail_memory(err);
	for (size_t i = 0; i < c.transforms.count && !status; i++)
		status = nm_element_map_apply(&map, &s->log.type, &c.transforms.at[i], err);
	if (!status)
		nm_element_map_declare(&map, &s->log.type, style, out);
	nm_element_map_done(&map);
	nm_candidate_done(&c);
	return status;
}

/* The best of the orders, or of the splits, if it gains anything. */
static int write_best(const struct nm_whatif_search *s, const struct nm_diff_input *inputs, int is_split,
		      enum nm_declaration_style style, FILE *out, struct nm_error *err)
{
	const char *what = is_split ? "split" : "order";
	double least = 1;
	unsigned best = s->count;
	int status = 0;

	for (unsigned i = 0; i < s->count && !status; i++) {
		double mean;

		if (!s->found[i].hot != !is_split)
			continue;
		status = compare(&inputs[0], &inputs[1 + s->first + i], &mean, NULL, err);
		if (!status && mean < least) {
			best = i;
			least = mean;
		}
	}
	if (!status && best == s->count)
		fprintf(out, "no %s that was simulated costs less than the layout as it is\n", what);
	if (status || best == s->count)
		return status;
	fprintf(out, "best %s: %c, ", what, 'B' + (int)(s->first + best));
	status = compare(&inputs[0], &inputs[1 + s->first + best], &least, out, err);
	fputs("\n", out);
	return status ? status : declare(s, s->found[best].text, style, out, err);
}

static void write_fixed(const struct nm_whatif_search *s, FILE *out)
{
	const struct nm_element_map *map = &s->log.map;
	const char *separator = "held fixed: ";

	for (size_t i = 0; i < map->members.count; i++) {
		const char *name = map->members.at[i].name;
		const size_t n = strcspn(name, ".[");

		if (!name[n] && !strchr(name, '|') && strncmp(name, "_vptr", 5))
			continue;
		fprintf(out, "%s%.*s", separator, (int)(n ? n : strlen(name)), name);
		fputs(!strncmp(name, "_vptr", 5) ? " stays first"
		      : !strcmp(name + n, "[]")  ? " stays last"
		      : strchr(name, '|')        ? " stays together"
						 : " stays one",
		      out);
		separator = ", ";
	}
	if (*separator == ',')
		fputc('\n', out);
}

int nm_whatif_search_write(const struct nm_whatif_search *s, const struct nm_diff_input *inputs, FILE *out,
			   struct nm_error *err)
{
	enum nm_declaration_style style;
	int status = find_style(s, inputs[0].profile, &style, err);

	if (status)
		return status;
	fprintf(out, "%s: %u layouts estimated on ", s->log.type.name, s->orders.tried);
	nm_print_grouped((int64_t)s->log.visits.count, out);
	fprintf(out, " visits and misses%s, %zu simulated in full%s\n",
		s->log.period ? ", a sample of all" : "", s->trials.told, s->count ? "" : ": no effect");
	write_fixed(s, out);
	status = write_best(s, inputs, 0, style, out, err);
	if (!status)
		status = write_best(s, inputs, 1, style, out, err);
	if (!status && s->count)
		fputc('\n', out);
	return status;
}
