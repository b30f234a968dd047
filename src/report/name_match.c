/* SPDX-License-Identifier: MIT
 *
 * C++ names are long, so patterns are allowed; but a name that exists is taken literally, whatever characters
 * it has. Suggestions for an unknown name are names that contain it (ignoring case), the shortest first; then
 * names within a few edits.
 */
#include "name_match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 3, LONGEST = 64, FAR = 1 << 20 };

/* Edit distance: insertions, deletions and changes count 1 each. */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned row[LONGEST + 1], m = (unsigned)strlen(a), n = (unsigned)strlen(b), i, j;

	if (m > LONGEST || n > LONGEST)
		return FAR;
	for (j = 0; j <= n; j++)
		row[j] = j;
	for (i = 1; i <= m; i++) {
		unsigned corner = row[0]++;

		for (j = 1; j <= n; j++) {
			unsigned best = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

/* The smaller, the nearer; FAR: not near. */
static unsigned name_distance(const char *typed, const char *name)
{
	unsigned d;

	if (*typed && strcasestr(name, typed))
		return (unsigned)(strlen(name) - strlen(typed));
	d = edit_distance(typed, name);
	return d <= 1 + strlen(typed) / 4 ? FAR / 2 + d : FAR;
}

struct nearest {
	char *name[SHOWN];
	unsigned far[SHOWN], count;
};

static int consider_name(struct nearest *nearest, const char *typed, const char *name)
{
	unsigned far = name_distance(typed, name), i = nearest->count;
	char *copy;

	if (far >= FAR || (i == SHOWN && far >= nearest->far[i - 1]))
		return 0;
	copy = strdup(name);
	if (!copy)
		return NM_ENOMEM;
	if (i == SHOWN)
		free(nearest->name[--i]);
	else
		nearest->count++;
	for (; i && nearest->far[i - 1] > far; i--) {
		nearest->name[i] = nearest->name[i - 1];
		nearest->far[i] = nearest->far[i - 1];
	}
	nearest->name[i] = copy;
	nearest->far[i] = far;
	return 0;
}

/* Lists the nearest, and frees them. */
static void list_nearest(struct nearest *nearest, char *list, size_t room)
{
	size_t n = 0;

	*list = '\0';
	for (unsigned i = 0; i < nearest->count; i++) {
		if (n < room)
			n += (size_t)snprintf(list + n, room - n, "%s%s", i ? ", or " : "", nearest->name[i]);
		free(nearest->name[i]);
	}
}

/* As a user would type it. */
static int consider_plain(struct nearest *nearest, const char *typed, const char *name)
{
	const char *slash = strrchr(name, '/');
	size_t n;
	char *plain;
	int status;

	if (slash && !strpbrk(name, "(<"))
		name = slash + 1;
	n = strcspn(name, "(");
	plain = strndup(name, n ? n : strlen(name));
	status = plain ? consider_name(nearest, typed, plain) : NM_ENOMEM;
	free(plain);
	return status;
}

static int find_nearest(struct nm_profile *profile, const char *typed, const char *names,
			int (*consider_one)(struct nearest *, const char *, const char *), char *list,
			size_t room, struct nm_error *err)
{
	struct nearest nearest = {.count = 0};
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, names, &rows, err);

	while (!status && (status = nm_rows_next(rows, err)) > 0)
		status = nm_rows_text(rows, 0) && consider_one(&nearest, typed, nm_rows_text(rows, 0))
			     ? nm_fail_memory(err)
			     : 0;
	nm_rows_free(rows);
	list_nearest(&nearest, list, room);
	return status;
}

int nm_near_names(struct nm_profile *profile, const char *typed, const char *names, char *list, size_t room,
		  struct nm_error *err)
{
	return find_nearest(profile, typed, names, consider_plain, list, room, err);
}

static int nothing_fits(struct nm_profile *profile, const char *what, const char *typed, const char *names,
			struct nm_error *err)
{
	char list[360];
	int status = find_nearest(profile, typed, names, consider_name, list, sizeof list, err);

	if (status)
		return status;
	if (!*list)
		return nm_fail(err, NM_EINVAL, "the profile has no %s \"%s\"", what, typed);
	return nm_fail(err, NM_EINVAL, "the profile has no %s \"%s\"; did you mean %s?", what, typed, list);
}

/* 1 if a name fits, 0 if none. */
static int name_fits(struct nm_profile *profile, const char *names, const struct nm_name_pattern *choice,
		     struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	char *sql = NULL;
	int status;

	if (asprintf(&sql, "SELECT 1 FROM (%s) WHERE name %s ?1 LIMIT 1", names, choice->operator_) < 0)
		return nm_fail_memory(err);
	status = nm_profile_query(profile, sql, &rows, err);
	free(sql);
	if (!status) {
		nm_rows_bind_text(rows, 1, choice->pattern);
		status = nm_rows_next(rows, err);
	}
	nm_rows_free(rows);
	return status;
}

/* Whether it is a slice of what has a name, as "matrix[3]" of "matrix": then *err says so. 1, 0 or a code. */
static int is_slice(struct nm_profile *profile, const char *what, const char *typed, const char *names,
		    struct nm_error *err)
{
	int status = 0;

	for (size_t n = strcspn(typed, "[("); typed[n] && !status; n += 1 + strcspn(typed + n + 1, "[(")) {
		struct nm_name_pattern whole = {.operator_ = "=", .pattern = strndup(typed, n)};

		status = whole.pattern ? name_fits(profile, names, &whole, err) : nm_fail_memory(err);
		if (status > 0)
			(void)nm_fail(
			    err, NM_EINVAL,
			    "a profile counts by %s, not by its elements: choose \"%s\", or run the "
			    "program or a trace of it with nearmiss monitor --object '%s'",
			    what, whole.pattern, typed);
		nm_name_pattern_done(&whole);
	}
	return status;
}

int nm_match_name(struct nm_profile *profile, const char *what, const char *typed, const char *names,
		  int paths, struct nm_name_pattern *ret_pattern, struct nm_error *err)
{
	static const char *const operators[] = {"=", "GLOB", "GLOB"};
	unsigned i, count = paths ? 3 : 2;
	int status = 0;

	for (i = 0; typed && i < count && !status; i++) {
		struct nm_name_pattern choice = {.operator_ = operators[i]};

		if (asprintf(&choice.pattern, i < 2 ? "%s" : "*/%s", typed) < 0)
			return nm_fail_memory(err);
		status = name_fits(profile, names, &choice, err);
		if (status > 0)
			*ret_pattern = choice;
		else
			free(choice.pattern);
	}
	if (!typed || status)
		return status > 0 ? 0 : status;
	status = is_slice(profile, what, typed, names, err);
	if (status)
		return status > 0 ? NM_EINVAL : status;
	return nothing_fits(profile, what, typed, names, err);
}

void nm_name_pattern_done(struct nm_name_pattern *choice)
{
	free(choice->pattern);
	choice->pattern = NULL;
}

int nm_fail_unknown(const char *what, const char *typed, const char *const *words, struct nm_error *err)
{
	struct nearest nearest = {.count = 0};
	char list[340] = "";
	size_t n = 0;
	unsigned i;

	for (i = 0; words[i]; i++)
		if (consider_name(&nearest, typed, words[i]))
			return nm_fail_memory(err);
	for (i = 0; nearest.count ? i < nearest.count : words[i] != NULL; i++) {
		const char *word = nearest.count ? nearest.name[i] : words[i];

		if (n + strlen(word) + 8 < sizeof list)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%s",
					      !i              ? ""
					      : nearest.count ? " or "
							      : ", ",
					      word);
	}
	for (i = 0; i < nearest.count; i++)
		free(nearest.name[i]);
	if (nearest.count)
		return nm_fail(err, NM_EINVAL, "no %s \"%s\": did you mean %s?", what, typed, list);
	return nm_fail(err, NM_EINVAL, "no %s \"%s\"; there are %s", what, typed, list);
}
