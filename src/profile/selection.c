/* SPDX-License-Identifier: MIT */
#include "selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader_priv.h"

/* The values of a one-column query, as "a, b, c"; malloc'ed. */
static int list_values(struct nm_profile *profile, const char *sql, char **ret_list, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	char *list = strdup(""), *longer;
	int status = nm_profile_query(profile, sql, &rows, err), step = 0;

	while (!status && list && (step = nm_rows_next(rows, err)) > 0) {
		longer = NULL;
		const char *name = nm_rows_text(rows, 0);

		if (asprintf(&longer, "%s%s%s", list, *list ? ", " : "", name ? name : "?") < 0)
			longer = NULL;
		free(list);
		list = longer;
	}
	nm_rows_free(rows);
	if (!status && !list)
		status = nm_fail_memory(err);
	if (!status)
		status = step;
	if (status)
		free(list);
	else
		*ret_list = list;
	return status;
}

/* Checks that a row of `sql` has this value; if not, NM_EINVAL lists the values. */
static int must_be(struct nm_profile *profile, const char *what, const char *value, const char *sql,
		   struct nm_error *err)
{
	char *check = NULL, *list = NULL;
	struct nm_rows *rows = NULL;
	int status;

	if (asprintf(&check, "SELECT 1 FROM (%s) WHERE name = ?1", sql) < 0)
		return nm_fail_memory(err);
	status = nm_profile_query(profile, check, &rows, err);
	free(check);
	if (status)
		return status;
	nm_rows_bind_text(rows, 1, value);
	status = nm_rows_next(rows, err);
	nm_rows_free(rows);
	if (status)
		return status > 0 ? 0 : status;
	status = list_values(profile, sql, &list, err);
	if (status)
		return status;
	status = nm_fail(err, NM_EINVAL, "the profile has no %s \"%s\"; it has %s", what, value, list);
	free(list);
	return status;
}

int nm_select_level(struct nm_profile *profile, const char *level, struct nm_error *err)
{
	return must_be(profile, "level", level, "SELECT DISTINCT level AS name FROM levels ORDER BY position",
		       err);
}

int nm_select_process(struct nm_profile *profile, const char *process, struct nm_error *err)
{
	return must_be(profile, "process", process, "SELECT process AS name FROM processes", err);
}

int nm_select_input(struct nm_profile *profile, const char *input, struct nm_error *err)
{
	const int has = nm_profile_has_rows(profile, "inputs", err);

	if (has <= 0)
		return has ? has
			   : nm_fail(err, NM_EINVAL,
				     "the profile has no inputs: nearmiss merge makes such a profile");
	return must_be(profile, "input", input, "SELECT input AS name FROM inputs ORDER BY position", err);
}

int nm_select_thread(struct nm_profile *profile, int64_t thread, struct nm_error *err)
{
	const int has_samples = nm_profile_has_samples(profile, err);
	char name[24];

	snprintf(name, sizeof name, "%lld", (long long)thread);
	if (has_samples < 0)
		return has_samples;
	return must_be(profile, "thread", name,
		       has_samples
			   ? "SELECT DISTINCT CAST(thread AS TEXT) AS name FROM samples ORDER BY thread"
			   : "SELECT DISTINCT CAST(thread AS TEXT) AS name FROM counts ORDER BY thread",
		       err);
}

const char nm_no_regions[] =
    "the profile has no regions: name them in the program with NEARMISS_REGION_BEGIN "
    "(nearmiss/client.h), and record again";

const char nm_not_by_phase[] =
    "the profile is not counted by phase: record a trace of the run (nearmiss record --trace), and "
    "replay it with --by-phase";

int nm_profile_has_regions(struct nm_profile *profile, struct nm_error *err)
{
	return nm_profile_has_row(profile, "SELECT 1 FROM regions WHERE region IS NOT NULL", err);
}

int nm_profile_is_by_phase(struct nm_profile *profile, struct nm_error *err)
{
	return nm_profile_has_row(profile, "SELECT 1 FROM regions WHERE phase IS NOT NULL", err);
}

/* The name of the phase that a timeline draws with this letter; of several processes, of that with the most
 * instructions. NULL: there is none. */
static int find_letter(struct nm_profile *profile, char letter, const char *process, char **ret_name,
		       struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile,
				      "SELECT h.name FROM phases h JOIN processes p ON p.process = h.process "
				      "WHERE char(65 + h.phase) = ?1 AND (?2 IS NULL OR h.process = ?2) "
				      "ORDER BY p.instructions DESC, h.process LIMIT 1",
				      &rows, err);

	*ret_name = NULL;
	if (status)
		return status;
	nm_rows_bind_text(rows, 1, (const char[]){letter, 0});
	nm_rows_bind_text(rows, 2, process);
	status = nm_rows_next(rows, err);
	if (status > 0 && !(*ret_name = strdup(nm_rows_text(rows, 0))))
		status = nm_fail_memory(err);
	nm_rows_free(rows);
	return status < 0 ? status : 0;
}

int nm_find_phase(struct nm_profile *profile, const char *phase, const char *process, char **ret_name,
		  struct nm_error *err)
{
	int status = nm_profile_has_rows(profile, "phases", err);

	*ret_name = NULL;
	if (status <= 0)
		return status
			   ? status
			   : nm_fail(err, NM_EINVAL, "the profile has no phases: no caches were simulated");
	status = *phase && !phase[1] ? find_letter(profile, *phase, process, ret_name, err) : 0;
	if (status || *ret_name)
		return status;
	status = must_be(profile, "phase", phase, "SELECT DISTINCT name FROM phases ORDER BY name", err);
	if (!status && !(*ret_name = strdup(phase)))
		status = nm_fail_memory(err);
	return status;
}

int nm_select_phase(struct nm_profile *profile, const char *phase, const char *process, char **ret_name,
		    struct nm_error *err)
{
	const int has = nm_profile_is_by_phase(profile, err);

	*ret_name = NULL;
	if (has <= 0)
		return has ? has : nm_fail(err, NM_EINVAL, "%s", nm_not_by_phase);
	return nm_find_phase(profile, phase, process, ret_name, err);
}

int nm_select_region(struct nm_profile *profile, const char *region, struct nm_error *err)
{
	const int has = nm_profile_has_regions(profile, err);

	if (has <= 0)
		return has ? has : nm_fail(err, NM_EINVAL, "%s", nm_no_regions);
	return must_be(profile, "region", region,
		       "SELECT DISTINCT region AS name FROM regions WHERE region IS NOT NULL ORDER BY region",
		       err);
}

int nm_profile_has_contexts(struct nm_profile *profile, struct nm_error *err)
{
	const int status = nm_profile_has_rows(profile, "contexts", err);

	if (status > 0 && nm_profile_check_contexts(profile, err))
		return NM_EFORMAT;
	return status;
}

int nm_profile_has_rows(struct nm_profile *profile, const char *view, struct nm_error *err)
{
	char sql[120];

	snprintf(sql, sizeof sql, "SELECT 1 FROM %s LIMIT 1", view);
	return nm_profile_has_row(profile, sql, err);
}

int nm_select_first_level(struct nm_profile *profile, char **ret_level, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile, "SELECT level FROM levels WHERE side <> 'instruction' ORDER BY position LIMIT 1", &rows,
	    err);

	if (status)
		return status;
	status = nm_rows_next(rows, err);
	if (!status)
		status = nm_fail(err, NM_EFORMAT, "the profile has no process: nothing was recorded");
	else if (status > 0 && !nm_rows_text(rows, 0))
		status = nm_fail(err, NM_EFORMAT, "the profile is damaged: a level has no name");
	else if (status > 0)
		status = (*ret_level = strdup(nm_rows_text(rows, 0))) ? 0 : nm_fail_memory(err);
	nm_rows_free(rows);
	return status;
}

int nm_profile_is_sampled(struct nm_profile *profile, struct nm_error *err)
{
	return nm_profile_has_row(profile, "SELECT 1 FROM info WHERE key = 'sampling_rate'", err);
}

int nm_profile_has_samples(struct nm_profile *profile, struct nm_error *err)
{
	return nm_profile_has_row(profile, "SELECT 1 FROM info WHERE key = 'sampled_events'", err);
}

int nm_select_counts(struct nm_profile *profile, struct nm_error *err)
{
	int is_sweep = nm_profile_has(profile, "tasks", err), sampled;

	if (is_sweep)
		return is_sweep < 0
			   ? is_sweep
			   : nm_fail(
				 err, NM_EINVAL,
				 "this is the file of a sweep, which has no more than the counts of levels: "
				 "nearmiss report tasks, or report levels of one --process, shows them");
	sampled = nm_profile_has_samples(profile, err);
	if (sampled > 0)
		return nm_fail(
		    err, NM_EINVAL,
		    "the profile has a processor's samples and no counts of simulated caches; nearmiss report "
		    "shows what it has");
	if (!sampled)
		sampled = nm_profile_is_sampled(profile, err);
	if (sampled <= 0)
		return sampled;
	return nm_fail(
	    err, NM_EINVAL,
	    "the profile is of a sampled recording (--sample), which counts no cache misses; nearmiss curve "
	    "shows what it has");
}
