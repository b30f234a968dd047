/* SPDX-License-Identifier: MIT */
#include "sums.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "columns.h"

static const char *const shown[] = {
    "references",   "reads",        "writes",     "misses",     "read_misses", "write_misses",
    "share",        "mpki",         "miss_ratio", "class",      "cold",        "capacity",
    "conflict",     "coherence",    "loads",      "reuse",      "waste",       "used_bytes",
    "loaded_bytes", "wasted_bytes", "evictions",  "writebacks",
};

unsigned nm_sum_column_count(void) { return sizeof shown / sizeof *shown; }

const struct nm_metric *nm_sum_column_at(unsigned i)
{
	return i < nm_sum_column_count() ? nm_metric_named(shown[i]) : NULL;
}

struct nm_column nm_sum_column_layout(unsigned i)
{
	const struct nm_metric *m = nm_sum_column_at(i);
	struct nm_column column = nm_metric_column(m);

	assert(i < nm_sum_column_count());
	column.hidden = 0;
	column.drop_order = 0;
	if (m->unit == NM_METRIC_TEXT)
		column.kind = NM_COLUMN_TEXT;
	return column;
}

static int fail_unknown_column(const char *name, size_t length, struct nm_error *err)
{
	char list[400] = "";
	size_t n = 0;

	for (unsigned i = 0; i < nm_sum_column_count() && n < sizeof list; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", shown[i]);
	return nm_fail(err, NM_EINVAL, "no column \"%.*s\"; there are %s", (int)length, name, list);
}

static int find_column(const char *name, size_t length, unsigned *ret_index)
{
	for (unsigned i = 0; i < nm_sum_column_count(); i++)
		if (strlen(shown[i]) == length && !strncmp(shown[i], name, length)) {
			*ret_index = i;
			return 1;
		}
	return 0;
}

int nm_sum_column_named(const char *name, unsigned *ret_index, struct nm_error *err)
{
	return find_column(name, strlen(name), ret_index) ? 0 : fail_unknown_column(name, strlen(name), err);
}

int nm_sum_columns_chosen(const char *list, unsigned *ret_chosen, unsigned room, unsigned *ret_count,
			  struct nm_error *err)
{
	unsigned n = 0;

	assert(room > 0);
	for (;; list++) {
		size_t length = strcspn(list, ",");

		if (n == room)
			return nm_fail(err, NM_EINVAL, "more than %u columns", room);
		if (!find_column(list, length, &ret_chosen[n++]))
			return fail_unknown_column(list, length, err);
		list += length;
		if (!*list)
			break;
	}
	*ret_count = n;
	return 0;
}

struct nm_value nm_sum_column_value(const struct nm_metric *m, const struct nm_metric_sums *sums,
				    const struct nm_metric_total *total)
{
	const struct nm_metric_row row = nm_metric_row_of(sums, total->unit);
	const double real = m->real ? m->real(&row, total) : NAN;

	if (m->unit == NM_METRIC_TEXT || (m->real && isnan(real)))
		return (struct nm_value){.type = NM_VALUE_NULL};
	if (m->real)
		return (struct nm_value){.type = NM_VALUE_REAL, .real = real};
	return (struct nm_value){.type = NM_VALUE_INTEGER, .integer = nm_metric_integer(m, sums)};
}

int64_t nm_sum_column_weight(const struct nm_metric *m, const struct nm_metric_sums *sums)
{
	if (m->real || m->unit == NM_METRIC_TEXT)
		return sums->read_misses + sums->write_misses;
	return nm_metric_integer(m, sums);
}
