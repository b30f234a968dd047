/* SPDX-License-Identifier: MIT */
#include "sample_option.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT = 1000000000, LEAST_LINE = 32, MOST_LINE = 4096, USUAL_LINE = 64 };

static int read_rate(const char *text, uint32_t *ret_rate, const char **ret_end)
{
	char *end;
	double rate = strtod(text, &end);

	*ret_end = end;
	if (end == text || (*end && *end != ',') || !(rate > 0 && rate <= 1))
		return 0;
	*ret_rate = (uint32_t)(rate * UNIT + 0.5);
	return *ret_rate > 0;
}

/* The text behind "name=" if it begins with that, else NULL. */
static const char *value_of(const char *text, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(text, name, n) && text[n] == '=' ? text + n + 1 : NULL;
}

static int read_number(const char *text, unsigned long least, unsigned long most, uint32_t *ret,
		       const char **ret_end)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	*ret_end = end;
	*ret = (uint32_t)n;
	return end != text && *text != '-' && !errno && n >= least && n <= most && (!*end || *end == ',');
}

static int read_key(const struct nm_command *self, const char *text, struct nm_sample_choice *choice,
		    const char **ret_end)
{
	const char *line = value_of(text, "line"), *seed = value_of(text, "seed");

	if (line && (!read_number(line, LEAST_LINE, MOST_LINE, &choice->line, ret_end) ||
		     choice->line & (choice->line - 1)))
		return nm_usage(self, "--sample takes lines of a power of 2, from %d to %d bytes", LEAST_LINE,
				MOST_LINE);
	if (seed && !read_number(seed, 0, INT_MAX, &choice->seed, ret_end))
		return nm_usage(self, "--sample takes seeds from 0 to %d", INT_MAX);
	return line || seed
		   ? 0
		   : nm_usage(self, "--sample takes line= and seed= behind the rate, not \"%s\"", text);
}

static uint32_t line_of(const struct nm_machine *machine)
{
	const struct nm_level_spec *level = nm_machine_data_cache(machine);
	const uint32_t line = level ? level->line : USUAL_LINE;

	return line < LEAST_LINE ? LEAST_LINE : line > MOST_LINE ? MOST_LINE : line;
}

int nm_read_sample(const struct nm_command *self, const char *text, const struct nm_machine *machine,
		   struct nm_sample_choice *ret_choice)
{
	struct nm_sample_choice choice = {.line = line_of(machine), .seed = 1};
	const char *at;

	if (!read_rate(text, &choice.rate, &at))
		return nm_usage(self, "--sample takes a rate from 1e-9 to 1, such as 1e-4, not \"%s\"", text);
	while (*at) {
		int status = read_key(self, at + 1, &choice, &at);

		if (status)
			return status;
	}
	*ret_choice = choice;
	return 0;
}
