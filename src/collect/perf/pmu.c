/* SPDX-License-Identifier: MIT */
#include "pmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first line of a file of the folder. */
static int read_line(const char *folder, const char *kind, const char *name, char *line, int room)
{
	char path[512];
	FILE *in;
	const char *found;

	snprintf(path, sizeof path, "%s/%s%s", folder, kind, name);
	in = fopen(path, "re");
	if (!in)
		return 0;
	found = fgets(line, room, in);
	fclose(in);
	if (found)
		line[strcspn(line, "\n")] = '\0';
	return found != NULL;
}

int nm_pmu_type(const char *folder, struct perf_event_attr *attr)
{
	char line[32];

	if (!read_line(folder, "", "type", line, sizeof line))
		return 0;
	attr->type = (uint32_t)strtoul(line, NULL, 10);
	return 1;
}

/* The word of the attributes that a format names, and what follows; NULL: an unknown one. */
static __u64 *word_of(const char **at, struct perf_event_attr *attr)
{
	const size_t n = strcspn(*at, ":");
	const char *name = *at;

	*at += n + (name[n] == ':');
	if (n == 6 && !strncmp(name, "config", n))
		return &attr->config;
	if (n == 7 && !strncmp(name, "config1", n))
		return &attr->config1;
	return n == 7 && !strncmp(name, "config2", n) ? &attr->config2 : NULL;
}

int nm_pmu_term(const char *folder, const char *term, uint64_t value, struct perf_event_attr *attr)
{
	char line[128], *end;
	const char *at = line;
	__u64 *word;

	if (!read_line(folder, "format/", term, line, sizeof line))
		return 0;
	word = word_of(&at, attr);
	while (word && *at) { /* "0-7,32": the value's low bits go to the first range */
		const unsigned long low = strtoul(at, &end, 10),
				    high = *end == '-' ? strtoul(end + 1, &end, 10) : low;

		if (end == at || high > 63 || low > high)
			return 0;
		for (unsigned long bit = low; bit <= high; bit++, value >>= 1)
			*word = (*word & ~(1ull << bit)) | (value & 1) << bit;
		at = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			return 0;
	}
	return word != NULL;
}

int nm_pmu_event(const char *folder, const char *name, struct perf_event_attr *attr)
{
	char line[256], *rest = line, *term;

	if (!nm_pmu_type(folder, attr) || !read_line(folder, "events/", name, line, sizeof line))
		return 0;
	while ((term = strsep(&rest, ","))) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = '\0';
		if (!nm_pmu_term(folder, term, value ? strtoull(value, NULL, 0) : 1, attr))
			return 0;
	}
	return 1;
}
