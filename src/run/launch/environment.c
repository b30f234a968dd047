/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "pinned.h"

static const char *const pinned[] = {
    "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C", "TERM=dumb", "TZ=UTC0",
};
enum { PINNED = sizeof pinned / sizeof *pinned };

/* The i-th variable: its name's length and its value, or NULL if it is not set. */
static const char *variable_at(const struct nm_environment *e, size_t i, const char **ret_value,
			       int *ret_length)
{
	const char *variable = i < PINNED ? pinned[i] : e->variables[i - PINNED];
	const size_t length = strcspn(variable, "=");

	*ret_value = variable[length] ? variable + length + 1 : getenv(variable);
	*ret_length = (int)length;
	return variable;
}

/* A later one of the same name counts. */
static int is_last(const struct nm_environment *e, size_t i)
{
	const char *value;
	int length, other;
	const char *variable = variable_at(e, i, &value, &length);

	for (size_t k = i + 1; k < PINNED + e->count; k++)
		if (!strncmp(variable_at(e, k, &value, &other), variable, (size_t)length) && other == length)
			return 0;
	return 1;
}

static void set_limit(int resource, rlim_t most)
{
	struct rlimit limits;

	if (getrlimit(resource, &limits))
		return;
	limits.rlim_cur = limits.rlim_max < most ? limits.rlim_max : most;
	if (resource == RLIMIT_NOFILE)
		limits.rlim_max = limits.rlim_cur;
	setrlimit(resource, &limits);
}

/* The variables are read before any is removed, since some keep the user's values. */
void nm_environment_enter(const struct nm_environment *e)
{
	char *texts[PINNED + NM_ENVIRONMENT_ROOM];
	size_t count = 0;

	assert(e->count <= NM_ENVIRONMENT_ROOM);
	for (size_t i = 0; i < PINNED + e->count; i++) {
		const char *value, *variable;
		int length;

		variable = variable_at(e, i, &value, &length);
		if (value && is_last(e, i) && asprintf(&texts[count], "%.*s=%s", length, variable, value) > 0)
			count++;
	}
	clearenv();
	for (size_t i = 0; i < count; i++)
		putenv(texts[i]);
	set_limit(RLIMIT_STACK, NM_PINNED_STACK);
	set_limit(RLIMIT_NOFILE, NM_PINNED_FILES);
}

void nm_environment_write(const struct nm_environment *e, FILE *out)
{
	const char *blank = "";

	for (size_t i = 0; i < PINNED + e->count; i++) {
		const char *value, *variable;
		int length;

		variable = variable_at(e, i, &value, &length);
		if (!value || !is_last(e, i))
			continue;
		fprintf(out, "%s%.*s=%s", blank, length, variable, value);
		blank = " ";
	}
}
