/* SPDX-License-Identifier: MIT
 *
 * sums.c - the catalogue of columns that annotations may show.  Names and meanings are those of the reports.
 */
#include "sums.h"

#include <string.h>

#include "columns.h"

enum { COUNTS = sizeof(struct nm_sums) / sizeof(int64_t) };

static struct nm_value whole_number(int64_t n)
{
	return (struct nm_value){.type = NM_VALUE_INTEGER, .integer = n};
}

/* factor × part / whole; NULL where the whole is 0. */
static struct nm_value ratio(double factor, int64_t part, int64_t whole)
{
	if (!whole)
		return (struct nm_value){.type = NM_VALUE_NULL};
	return (struct nm_value){.type = NM_VALUE_REAL, .real = factor * (double)part / (double)whole};
}

static int64_t count_misses(const struct nm_sums *f) { return f->read_misses + f->write_misses; }

static struct nm_value references(const struct nm_sums *f, const struct nm_sum_total *whole)
{
	(void)whole;
	return whole_number(f->reads + f->writes);
}

static struct nm_value misses(const struct nm_sums *f, const struct nm_sum_total *whole)
{
	(void)whole;
	return whole_number(count_misses(f));
}

static struct nm_value share(const struct nm_sums *f, const struct nm_sum_total *whole)
{
	return ratio(100, count_misses(f), count_misses(&whole->sum));
}

static struct nm_value mpki(const struct nm_sums *f, const struct nm_sum_total *whole)
{
	return ratio(1000, count_misses(f), whole->instructions);
}

static struct nm_value miss_ratio(const struct nm_sums *f, const struct nm_sum_total *whole)
{
	(void)whole;
	return ratio(100, count_misses(f), f->reads + f->writes);
}

static struct nm_value reuse(const struct nm_sums *f, const struct nm_sum_total *whole)
{
	return ratio(1, f->reuse, whole->unit ? f->loaded_bytes / whole->unit : f->loads);
}

static struct nm_value waste(const struct nm_sums *f, const struct nm_sum_total *whole)
{
	(void)whole;
	return ratio(100, f->loaded_bytes - f->used_bytes, f->loaded_bytes);
}

static struct nm_value wasted(const struct nm_sums *f, const struct nm_sum_total *whole)
{
	(void)whole;
	return whole_number(f->loaded_bytes - f->used_bytes);
}

#define COUNT(name_)                                                         \
	{                                                                    \
		{.name = #name_, .title = #name_, .kind = NM_COLUMN_NUMBER}, \
		    offsetof(struct nm_sums, name_), NULL, 1                 \
	}
#define SUM(name_, of_)                                                              \
	{                                                                            \
		{.name = name_, .title = name_, .kind = NM_COLUMN_NUMBER}, 0, of_, 1 \
	}
#define REAL(name_, title_, decimals_, of_)                                                                \
	{                                                                                                  \
		{.name = name_, .title = title_, .kind = NM_COLUMN_REAL, .decimals = decimals_}, 0, of_, 0 \
	}

static const struct nm_sum_column figures[] = {
    SUM("references", references),
    COUNT(reads),
    COUNT(writes),
    SUM("misses", misses),
    COUNT(read_misses),
    COUNT(write_misses),
    REAL("share", "share %", 1, share),
    REAL("mpki", "MPKI", 2, mpki),
    REAL("miss_ratio", "ratio %", 2, miss_ratio),
    {{.name = "class", .title = "class", .kind = NM_COLUMN_TEXT, .compose = nm_compose_class}, 0, NULL, 0},
    COUNT(cold),
    COUNT(capacity),
    COUNT(conflict),
    COUNT(coherence),
    COUNT(loads),
    REAL("reuse", "reuse", 1, reuse),
    REAL("waste", "waste %", 1, waste),
    COUNT(used_bytes),
    COUNT(loaded_bytes),
    SUM("wasted_bytes", wasted),
    COUNT(evictions),
    COUNT(writebacks),
};

unsigned nm_sum_column_count(void) { return sizeof figures / sizeof *figures; }

const struct nm_sum_column *nm_sum_column_at(unsigned i)
{
	return i < nm_sum_column_count() ? &figures[i] : NULL;
}

static int fail_unknown_column(const char *name, size_t length, struct nm_error *err)
{
	char list[400] = "";
	size_t n = 0;

	for (unsigned i = 0; i < nm_sum_column_count() && n < sizeof list; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "",
				      figures[i].column.name);
	return nm_fail(err, NM_EINVAL, "no column \"%.*s\"; there are %s", (int)length, name, list);
}

static int find(const char *name, size_t length, unsigned *ret_index)
{
	for (unsigned i = 0; i < nm_sum_column_count(); i++)
		if (strlen(figures[i].column.name) == length &&
		    !strncmp(figures[i].column.name, name, length)) {
			*ret_index = i;
			return 1;
		}
	return 0;
}

int nm_sum_column_named(const char *name, unsigned *ret_index, struct nm_error *err)
{
	return find(name, strlen(name), ret_index) ? 0 : fail_unknown_column(name, strlen(name), err);
}

int nm_sum_columns_chosen(const char *list, unsigned *ret_chosen, unsigned room, unsigned *ret_count,
			  struct nm_error *err)
{
	unsigned n = 0;

	for (;; list++) {
		size_t length = strcspn(list, ",");

		if (n == room)
			return nm_fail(err, NM_EINVAL, "more than %u columns", room);
		if (!find(list, length, &ret_chosen[n++]))
			return fail_unknown_column(list, length, err);
		list += length;
		if (!*list)
			break;
	}
	*ret_count = n;
	return 0;
}

static int64_t count_at(const struct nm_sums *f, size_t offset)
{
	return *(const int64_t *)((const char *)f + offset);
}

struct nm_value nm_sum_column_value(const struct nm_sum_column *figure, const struct nm_sums *f,
				    const struct nm_sum_total *whole)
{
	if (figure->column.compose)
		return (struct nm_value){.type = NM_VALUE_NULL};
	return figure->of ? figure->of(f, whole) : whole_number(count_at(f, figure->offset));
}

int64_t nm_sum_column_weight(const struct nm_sum_column *figure, const struct nm_sums *f)
{
	if (!figure->adds_up)
		return count_misses(f);
	return figure->of ? figure->of(f, NULL).integer : count_at(f, figure->offset);
}

void nm_sums_read(struct nm_sums *ret_sums, const struct nm_rows *rows, unsigned first_column)
{
	int64_t values[COUNTS];

	for (unsigned i = 0; i < COUNTS; i++)
		values[i] = nm_rows_integer(rows, first_column + i);
	memcpy(ret_sums, values, sizeof values);
}

void nm_sums_add(struct nm_sums *to, const struct nm_sums *more)
{
	int64_t a[COUNTS], b[COUNTS];

	memcpy(a, to, sizeof a);
	memcpy(b, more, sizeof b);
	for (unsigned i = 0; i < COUNTS; i++)
		a[i] += b[i];
	memcpy(to, a, sizeof a);
}
