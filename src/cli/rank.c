/* SPDX-License-Identifier: MIT */
#include "rank.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memstream.h"

static int is_number(const char *text) { return text && *text && !text[strspn(text, "0123456789")]; }

/* The first of these variables that is a number, or NULL. */
static const char *first_number(const char *const *variables)
{
	for (; *variables; variables++)
		if (is_number(getenv(*variables)))
			return getenv(*variables);
	return NULL;
}

const char *nm_rank(void)
{
	static const char *const ranks[] = {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "FLUX_TASK_RANK",
					    NULL};
	static const char *const of_slurm[] = {"SLURM_PROCID", NULL};
	const char *rank = first_number(ranks);

	/* A batch script of Slurm has a SLURM_PROCID too, but is no task of a step. */
	return rank || !getenv("SLURM_STEP_NUM_TASKS") ? rank : first_number(of_slurm);
}

const char *nm_ranks(void)
{
	static const char *const numbers[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "FLUX_JOB_SIZE",
					      "SLURM_STEP_NUM_TASKS", NULL};

	return nm_rank() ? first_number(numbers) : NULL;
}

/* Takes "N" or "N-M"; returns what follows, or NULL: it is neither. */
static const char *take_range(const char *at, unsigned long mine, int *chosen)
{
	unsigned long first, last;
	char *end;

	if (!isdigit((unsigned char)*at))
		return NULL;
	first = last = strtoul(at, &end, 10);
	if (*end == '-') {
		if (!isdigit((unsigned char)end[1]))
			return NULL;
		last = strtoul(end + 1, &end, 10);
	}
	*chosen |= first <= mine && mine <= last;
	return end;
}

int nm_rank_is_in(const char *list, int *ret_chosen, struct nm_error *err)
{
	const char *at = list, *rank = nm_rank();

	if (!rank)
		return nm_fail(err, NM_EINVAL, "no launcher of parallel jobs has given this process a rank");
	*ret_chosen = 0;
	while ((at = take_range(at, strtoul(rank, NULL, 10), ret_chosen)) && *at == ',')
		at++;
	return at && !*at ? 0 : nm_fail(err, NM_EINVAL, "\"%s\" is no list of ranks such as 0,7-9", list);
}

/* Writes what stands for the part of a pattern behind its '%'; returns the rest, or NULL after a message. */
static const char *replace_placeholder(const char *at, const char *pattern, FILE *out, struct nm_error *err)
{
	char host[256] = "";
	const char *rank = nm_rank();

	switch (*at) {
	case '%': fputc('%', out); return at + 1;
	case 'p': fprintf(out, "%ld", (long)getpid()); return at + 1;
	case 'h':
		gethostname(host, sizeof host - 1);
		fputs(host, out);
		return at + 1;
	case 'r': fputs(rank ? rank : "0", out); return at + 1;
	}
	if (*at == 'q' && at[1] == '{' && strchr(at, '}')) {
		char *name = strndup(at + 2, strcspn(at + 2, "}"));
		const char *value = name ? getenv(name) : NULL;

		if (value)
			fputs(value, out);
		else
			nm_fail(err, NM_EINVAL, "cannot name the file %s: the environment has no variable %s",
				pattern, name ? name : "");
		free(name);
		return value ? strchr(at, '}') + 1 : NULL;
	}
	nm_fail(err, NM_EINVAL,
		"cannot name the file %s: behind %% comes p (process), h (host), r (rank), q{VARIABLE} or %%",
		pattern);
	return NULL;
}

int nm_rank_file_name(const char *pattern, char **ret_name, struct nm_error *err)
{
	const char *at = pattern;
	FILE *out = nm_memstream_open(ret_name, NULL);

	if (!out)
		return nm_fail_memory(err);
	while (at && *at) {
		const size_t plain = strcspn(at, "%");

		fwrite(at, 1, plain, out);
		at += plain;
		if (*at)
			at = replace_placeholder(at + 1, pattern, out, err);
	}
	if (nm_memstream_close(out, ret_name))
		return nm_fail_memory(err);
	if (at)
		return 0;
	free(*ret_name);
	*ret_name = NULL;
	return NM_EINVAL;
}
