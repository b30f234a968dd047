/* SPDX-License-Identifier: MIT
 *
 * mixed.c - see mixed.h. A field is read-mostly with at most a write for 100 reads, and often written with at least one
 * for 10; one between these is in neither list.
 */
#include "repair.h"

#include <string.h>

#include "table.h"

enum { SHOWN = 6 };

enum group { READ_MOSTLY, OFTEN_WRITTEN, GROUPS };

struct mixture {
	const struct nm_repair_touch *touches;
	size_t count;
	const char *type;
};

struct uses {
	int64_t reads, writes, false_misses;
};

static int is_of(const struct nm_repair_touch *t, const char *type)
{
	return t->field && t->type && !strcmp(t->type, type);
}

/* What all threads do with the field of a touch. */
static struct uses uses_of(const struct mixture *m, const struct nm_repair_touch *of)
{
	struct uses u = {0};

	for (const struct nm_repair_touch *t = m->touches; t < m->touches + m->count; t++) {
		if (!is_of(t, m->type) || strcmp(t->field, of->field))
			continue;
		u.reads += t->reads;
		u.writes += t->writes;
		u.false_misses += t->false_misses;
	}
	return u;
}

static int is_in(enum group group, const struct uses *u)
{
	return group == READ_MOSTLY ? 100 * u->writes <= u->reads : 10 * u->writes >= u->reads;
}

static int is_first_of_field(const struct mixture *m, const struct nm_repair_touch *t)
{
	for (const struct nm_repair_touch *before = m->touches; before < t; before++)
		if (is_of(before, m->type) && !strcmp(before->field, t->field))
			return 0;
	return is_of(t, m->type);
}

/* The uses of all fields of a group; writes the first names to `out`, unless it is NULL. */
static struct uses list_group(const struct mixture *m, enum group group, FILE *out)
{
	struct uses sum = {0};
	unsigned fields = 0;

	for (const struct nm_repair_touch *t = m->touches; t < m->touches + m->count; t++) {
		const struct uses u = is_first_of_field(m, t) ? uses_of(m, t) : (struct uses){0};

		if (!(u.reads + u.writes) || !is_in(group, &u))
			continue;
		sum.reads += u.reads;
		sum.writes += u.writes;
		sum.false_misses += u.false_misses;
		if (out && fields < SHOWN)
			fprintf(out, "%s%s", fields ? ", " : "", t->field);
		else if (out && fields == SHOWN)
			fputs(", ...", out);
		fields++;
	}
	return sum;
}

static void print_group(const struct mixture *m, enum group group, FILE *out)
{
	const struct uses sum = list_group(m, group, out);

	fputs(": ", out);
	nm_print_grouped(sum.reads, out);
	fputs(" reads, ", out);
	nm_print_grouped(sum.writes, out);
	fputs(" writes)", out);
}

int nm_mixed_print(const struct nm_repair_touch *touches, size_t count, unsigned bytes, int64_t misses,
		   FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct mixture m = {touches, count, touches[i].type};
		struct uses read;

		if (!touches[i].field || !m.type)
			continue;
		read = list_group(&m, READ_MOSTLY, NULL);
		if (20 * read.false_misses < misses || !read.false_misses ||
		    !list_group(&m, OFTEN_WRITTEN, NULL).writes)
			continue;
		fprintf(out, "%s mixes fields that are read-mostly (", m.type);
		print_group(&m, READ_MOSTLY, out);
		fputs(" with often written ones (", out);
		print_group(&m, OFTEN_WRITTEN, out);
		fprintf(out, ": move the latter into lines of their own, e.g. by alignas(%u); ", bytes);
		nm_print_grouped(read.false_misses, out);
		fputs(" misses are of the former", out);
		return 1;
	}
	return 0;
}
