/* SPDX-License-Identifier: MIT
 *
 * timeline_report.c - see timeline_report.h; intervals become columns of pictures.
 */
#include "timeline_report.h"

#include <assert.h>
#include <string.h>

#include "name_match.h"
#include "timeline_priv.h"

/* The part of an interval that lies in [from, to), of instructions. */
static double interval_overlap(const struct nm_timeline_interval *i, double from, double to)
{
	const double begin = (double)i->begin > from ? (double)i->begin : from;
	const double end =
	    (double)(i->begin + i->instructions) < to ? (double)(i->begin + i->instructions) : to;

	return end > begin ? end - begin : 0;
}

static double column_begin(const struct nm_process_timeline *t, unsigned column, unsigned columns)
{
	return (double)t->instructions * column / columns;
}

void nm_timeline_rates(const struct nm_process_timeline *t, const int64_t *values, double *ret_rates,
		       unsigned columns)
{
	for (unsigned c = 0; c < columns; c++) {
		const double from = column_begin(t, c, columns), to = column_begin(t, c + 1, columns);

		ret_rates[c] = 0;
		for (size_t i = 0; i < t->intervals.count; i++) {
			const struct nm_timeline_interval *interval = &t->intervals.at[i];
			const double part = interval_overlap(interval, from, to);

			if (part > 0)
				ret_rates[c] +=
				    (double)values[i] * part / (double)interval->instructions / (to - from);
		}
	}
}

void nm_timeline_working_set(const struct nm_process_timeline *t, double *ret_bytes, unsigned columns)
{
	for (unsigned c = 0; c < columns; c++) {
		const double from = column_begin(t, c, columns), to = column_begin(t, c + 1, columns);

		ret_bytes[c] = 0;
		for (size_t i = 0; i < t->intervals.count; i++) {
			const struct nm_timeline_interval *interval = &t->intervals.at[i];

			if (interval_overlap(interval, from, to) > 0 &&
			    (double)interval->working_set > ret_bytes[c])
				ret_bytes[c] = (double)interval->working_set;
		}
	}
}

double nm_timeline_most(const double *values, unsigned count)
{
	double most = 0;

	assert(values || !count);
	for (unsigned i = 0; i < count; i++)
		most = values[i] > most ? values[i] : most;
	return most;
}

int nm_timeline_phase(const struct nm_process_timeline *t, int64_t phase, struct nm_phase_sums *ret)
{
	const struct nm_timeline_row *level = NULL;

	for (size_t i = 0; i < t->levels.count; i++)
		level = t->levels.at[i].name == t->level ? &t->levels.at[i] : level;
	*ret = (struct nm_phase_sums){NULL, 0, 0};
	for (size_t i = 0; i < t->stretches.count; i++) {
		const struct nm_timeline_stretch *s = &t->stretches.at[i];

		if (s->phase != phase)
			continue;
		ret->name = s->name;
		ret->instructions += s->instructions;
		for (int64_t k = s->interval; level && k >= 0 && k < s->interval + s->intervals; k++)
			ret->misses += (size_t)k < t->intervals.count ? level->misses[k] : 0;
	}
	return ret->name != NULL;
}

int nm_timeline_run(struct nm_profile *profile, const struct nm_timeline_request *request,
		    enum nm_timeline_format format, const struct nm_style *style, FILE *out,
		    struct nm_error *err)
{
	static const char *const kinds[] = {"object", "line", NULL};
	struct nm_process_timeline t = {0};
	int status;

	if (strcmp(request->by, kinds[0]) != 0 && strcmp(request->by, kinds[1]) != 0)
		return nm_fail_unknown("kind of row", request->by, kinds, err);
	status = nm_timeline_load(&t, profile, request, err);
	if (!status && format == NM_TIMELINE_CSV) {
		status = nm_timeline_csv(&t, profile, out, err);
	} else if (!status) {
		switch (format) {
		case NM_TIMELINE_SVG: status = nm_timeline_svg(&t, request, out); break;
		case NM_TIMELINE_JSON: status = nm_timeline_json(&t, request, out); break;
		default: status = nm_timeline_text(&t, request, style, out); break;
		}
		if (status)
			status = nm_fail_memory(err);
	}
	nm_timeline_done(&t);
	return status;
}
