/* SPDX-License-Identifier: MIT */
#include "footprint.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "errors.h"
#include "sort.h"

enum { SAMPLES_A_WINDOW = 50 };

uint32_t footprint_window(const struct nm_footprint *f, double reference)
{
	const double at = reference / f->length;

	return at < f->windows ? (uint32_t)at : f->windows - 1;
}

/* References up to the next touch of a sample's line, or as many as had none. */
static uint64_t time_of(const struct nm_reuse_samples *samples, const struct nm_kept_sample *at)
{
	return at->distance == NM_NO_REUSE ? samples->references - at->start : at->distance + 1;
}

/* Sorts samples by time, touches before ends of the run, then into windows. */
static int sort_samples(struct nm_footprint *f)
{
	const struct nm_reuse_samples *samples = f->samples;
	struct nm_keyed *order = malloc((samples->count + 1) * sizeof *order);
	size_t next[NM_WINDOWS];

	for (size_t i = 0; order && i < samples->count; i++) {
		const struct nm_kept_sample *at = &samples->at[i];

		order[i] = (struct nm_keyed){2 * time_of(samples, at) + (at->distance == NM_NO_REUSE), i};
		f->first[footprint_window(f, (double)(at->start - 1)) + 1]++;
	}
	if (!order || nm_sort_by_key(order, samples->count)) {
		free(order);
		return NM_ENOMEM;
	}
	for (uint32_t w = 0; w < f->windows; w++)
		next[w] = f->first[w + 1] += f->first[w];
	for (uint32_t w = f->windows; w-- > 0;)
		next[w] = f->first[w];
	for (size_t i = 0; i < samples->count; i++) {
		const struct nm_kept_sample *at = &samples->at[order[i].value];
		const size_t to = next[footprint_window(f, (double)(at->start - 1))]++;

		f->order[to] = (uint32_t)order[i].value;
		f->time[to] = (double)(order[i].key / 2);
	}
	free(order);
	return 0;
}

int footprint_make(struct nm_footprint *ret, const struct nm_reuse_samples *samples)
{
	const double affordable = nm_reuse_samples_effective(samples) / SAMPLES_A_WINDOW;
	struct nm_footprint f = {.samples = samples};
	const size_t n = samples->count + 1;

	f.windows = affordable < 1 ? 1 : affordable < NM_WINDOWS ? (uint32_t)affordable : NM_WINDOWS;
	f.length = fmax((double)samples->references, 1) / f.windows;
	f.first = calloc(f.windows + 1, sizeof *f.first);
	f.order = malloc(n * sizeof *f.order);
	f.time = malloc(n * sizeof *f.time);
	f.survives = malloc(n * sizeof *f.survives);
	f.sum = malloc(n * sizeof *f.sum);
	f.at_once = malloc(f.windows * sizeof *f.at_once);
	*ret = f;
	return f.first && f.order && f.time && f.survives && f.sum && f.at_once && !sort_samples(ret)
		   ? 0
		   : NM_ENOMEM;
}

void footprint_done(struct nm_footprint *f)
{
	free(f->first);
	free(f->order);
	free(f->time);
	free(f->survives);
	free(f->sum);
	free(f->at_once);
}

static void weigh_window(struct nm_footprint *f, uint32_t window, unsigned replicate)
{
	double waiting = 0, references = 0, survive, sum = 0, before = 0;

	for (size_t i = f->first[window + 1]; i-- > f->first[window];) {
		const struct nm_kept_sample *at = &f->samples->at[f->order[i]];
		const double weight = nm_replicate_weight(at, replicate);

		f->survives[i] = waiting += weight;
		references += at->further ? 0 : weight;
	}
	survive = f->at_once[window] = references > 0 ? waiting / references : 1;
	for (size_t i = f->first[window]; i < f->first[window + 1]; i++) {
		const struct nm_kept_sample *at = &f->samples->at[f->order[i]];

		sum += (f->time[i] - before) * survive;
		before = f->time[i];
		if (at->distance != NM_NO_REUSE && f->survives[i] > 0)
			survive *= fmax(0, 1 - nm_replicate_weight(at, replicate) / f->survives[i]);
		f->survives[i] = survive;
		f->sum[i] = sum;
	}
}

void footprint_weigh(struct nm_footprint *f, unsigned replicate)
{
	assert(replicate <= NM_REPLICATES);
	for (uint32_t window = 0; window < f->windows; window++)
		weigh_window(f, window, replicate);
}

/* S of a window summed up to a time. */
static double sum_up_to(const struct nm_footprint *f, uint32_t window, double time)
{
	size_t low = f->first[window], high = f->first[window + 1];

	while (low < high) {
		const size_t mid = (low + high) / 2;

		if (f->time[mid] <= time)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == f->first[window])
		return time * f->at_once[window];
	return f->sum[low - 1] + (time - f->time[low - 1]) * f->survives[low - 1];
}

double footprint_lines(const struct nm_footprint *f, double from, double to)
{
	double lines = 0;

	assert(f->windows && f->length > 0);
	for (uint32_t i = footprint_window(f, from); from < to; i++) {
		const double end = i + 1 < f->windows ? fmin((i + 1) * f->length, to) : to;

		if (end > from)
			lines += sum_up_to(f, i, to - from) - sum_up_to(f, i, to - end);
		from = fmax(from, end);
	}
	return lines;
}

void footprint_distances(const struct nm_footprint *f, double *ret)
{
	for (uint32_t window = 0; window < f->windows; window++)
		for (size_t i = f->first[window]; i < f->first[window + 1]; i++) {
			const struct nm_kept_sample *at = &f->samples->at[f->order[i]];
			const double start = (double)at->start, end = start + f->time[i];
			const uint32_t last = footprint_window(f, end);

			ret[f->order[i]] = at->distance == NM_NO_REUSE ? INFINITY
					   : last == window
					       ? f->sum[i] - f->at_once[window]
					       : footprint_lines(f, start, end) - f->at_once[last];
		}
}
