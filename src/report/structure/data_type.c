/* SPDX-License-Identifier: MIT
 *
 * data_type.c - a structure in the shape of `perf annotate --data-type`: offset, size and field, before them the
 * percentage of the structure's loads, stores and misses of each level.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "structure.h"

enum { TYPE_WIDTH = 14, EVENTS = 2 + NM_REPORT_LEVELS };

struct card {
	const struct nm_structure *of;
	struct {
		const char *column, *title;
		int64_t sum;
	} events[EVENTS];
	unsigned event_count;
	FILE *out;
};

static void add_event(struct card *c, const char *column, const char *title)
{
	int64_t sum = 0;

	for (size_t row = c->of->first; row < c->of->end; row++) {
		const int64_t count = nm_structure_number(c->of, row, column);

		sum = nm_sum_bounded(sum, count > 0 ? count : 0);
	}
	c->events[c->event_count].column = column;
	c->events[c->event_count].title = title;
	c->events[c->event_count++].sum = sum;
}

static void print_head(const struct card *c)
{
	char sum[NM_GROUPED_ROOM];
	const int width = 8 * (int)c->event_count;

	fprintf(c->out, "Annotate type: '%s' in %s\n", c->of->name, c->of->all->recorded);
	for (unsigned i = 0; i < c->event_count; i++) {
		nm_format_grouped(c->events[i].sum, sum);
		fprintf(c->out, " event[%u] = %s (%s)\n", i, c->events[i].title, sum);
	}
	for (int i = 0; i < width + 44; i++)
		fputc('=', c->out);
	fprintf(c->out, "\n%*s %10s %10s  %s\n", width, "Percent", "offset", "size", "field");
	for (unsigned i = 0; i < c->event_count; i++)
		fprintf(c->out, "%8.2f", c->events[i].sum ? 100.0 : 0.0);
	fprintf(c->out, " %10d %10" PRId64 "  %s {\n", 0, c->of->bytes, c->of->name);
}

static int print_field(const struct card *c, size_t row)
{
	char *declaration = nm_structure_declaration(c->of, row, TYPE_WIDTH);

	if (!declaration)
		return NM_ENOMEM;
	for (unsigned i = 0; i < c->event_count; i++) {
		const int64_t count = nm_structure_number(c->of, row, c->events[i].column);

		if (count < 0)
			fprintf(c->out, "%8s", "?");
		else
			fprintf(c->out, "%8.2f",
				c->events[i].sum ? 100.0 * (double)count / (double)c->events[i].sum : 0.0);
	}
	fprintf(c->out, " %10" PRId64 " %10" PRId64 "      %s;\n", nm_structure_number(c->of, row, "offset"),
		nm_structure_number(c->of, row, "bytes"), declaration);
	free(declaration);
	return 0;
}

int nm_structure_data_type(const struct nm_structure *structure, FILE *out)
{
	const struct nm_structures *all = structure->all;
	struct card c = {.of = structure, .out = out};
	int status = 0;

	add_event(&c, "loads", "loads");
	add_event(&c, "stores", "stores");
	for (unsigned i = 0; i < all->level_count; i++)
		add_event(&c, all->levels[i].misses, all->levels[i].title);
	print_head(&c);
	for (size_t row = structure->first; row < structure->end && !status; row++)
		status = print_field(&c, row);
	fprintf(out, "%*s};\n", 8 * (int)c.event_count + 24, "");
	return status;
}
