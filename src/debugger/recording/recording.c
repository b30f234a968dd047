/* SPDX-License-Identifier: MIT
 *
 * recording.c - see recording.h: selects the references of a recording.
 *
 * If the run is too long, the window starts where the first level misses most. A part of the space is
 * reserved for short windows all over the run, so that near any position the caches can be shown; unless
 * the whole run fits, judging by the chunks so far.
 */
#include <stdlib.h>
#include <string.h>

#include "recording_priv.h"

enum {
	WINDOW_MOST = 1 << 22, /* references, by default: a page replays them in seconds */
	MOMENTS = 64,
	MOMENT_REFERENCES = 64,
	KEPT_SHARE = 4, /* one part of so many is for short windows */
	PLACES = 512,   /* parts of the run, among which the one with most misses is chosen */
};

struct recorder {
	struct nm_debugger *debugger;
	struct nm_recording_sink *sink;
	struct nm_moment moment;
	size_t kept; /* space reserved for what follows the main window; 0: that is written */
	struct nm_error *err;
};

static int put_part(const struct recorder *r, const char *kind, uint64_t from, uint64_t count,
		    const struct nm_bytes *bytes, int *ret_fits)
{
	const struct nm_recording_part part = {
	    .kind = kind, .from = from, .count = count, .bytes = bytes->at, .size = bytes->count};

	return r->sink->put(r->sink, &part, ret_fits, r->err);
}

/* Appends the columns of changes up to a position. */
static int append_changes(struct recorder *r, uint64_t to, struct nm_bytes *all)
{
	uint8_t *columns = NULL;
	size_t count = 0;
	int status = nm_moment_changes(&r->moment, to, &columns, &count, r->err);

	if (!status && nm_vec_reserve(all, count))
		status = nm_fail_memory(r->err);
	if (!status && count)
		memcpy(all->at + all->count, columns, count);
	all->count += status ? 0 : count;
	free(columns);
	return status;
}

/* The contents of the caches before the first reference of a window. */
static int put_begin(struct recorder *r, int *ret_fits)
{
	struct nm_bytes all = {0};
	int status = append_changes(r, r->moment.position, &all);

	if (!status)
		status = nm_recording_put_sums(r->debugger, &r->moment, &all, r->err);
	if (!status)
		status = put_part(r, "window", r->moment.position, 0, &all, ret_fits);
	nm_vec_free(&all);
	return status;
}

static int put_chunk(struct recorder *r, uint64_t to, int *ret_fits)
{
	const uint64_t from = r->moment.position;
	struct nm_bytes all = {0};
	int status = nm_recording_put_references(r->debugger, from, to, &all, r->err);

	if (!status)
		status = append_changes(r, to, &all);
	if (!status)
		status = put_part(r, "chunk", from, to - from, &all, ret_fits);
	nm_vec_free(&all);
	return status;
}

/* Whether there is space for another chunk: for the whole window, or besides the reserved space. */
static int has_room(const struct recorder *r, size_t room_before, uint64_t from, uint64_t to)
{
	const uint64_t done = r->moment.position - from, left = to - r->moment.position;
	const double used = (double)(room_before - r->sink->room);

	return r->sink->room > r->kept ||
	       (done && used / (double)done * (double)left < 0.98 * (double)r->sink->room);
}

/* Writes the references (from, to], or as many as fit: up to *ret_to. */
static int put_window(struct recorder *r, uint64_t from, uint64_t to, uint64_t *ret_to)
{
	struct nm_moment_report report;
	size_t room;
	int fits = 1, status = nm_timeline_fetch(r->debugger->timeline, from, &r->moment, r->err);

	*ret_to = from;
	if (status)
		return status;
	status = nm_moment_run(&r->moment, from, 0, NULL, 0, &report, r->err);
	if (!status)
		status = put_begin(r, &fits);
	room = r->sink->room;
	while (!status && fits && r->moment.position < to && has_room(r, room, from, to)) {
		const uint64_t end = r->moment.position + NM_CHUNK_REFERENCES;

		status = put_chunk(r, end < to ? end : to, &fits);
		*ret_to = fits ? r->moment.position : *ret_to;
	}
	if (!status && from && r->kept)
		status = nm_recording_put_earlier(r->debugger, &r->moment, from, r->sink, r->err);
	nm_moment_end(&r->moment);
	return status;
}

/* The start of the part of the run in which the first level misses most. */
static uint64_t find_most_misses(const struct nm_debugger *d)
{
	const struct nm_shared_record *r = &d->timeline->record;
	const uint64_t step = r->bins / PLACES ? r->bins / PLACES : 1;
	uint64_t most = 0, found = 0;

	for (uint64_t bin = 0; bin + step <= r->bins; bin += step) {
		const uint64_t misses = nm_record_misses(r, bin + step) - nm_record_misses(r, bin);

		if (misses > most) {
			most = misses;
			found = bin << r->bin_shift;
		}
	}
	return found;
}

/* Reverses the bits of i, for i < MOMENTS: so that the first values are far apart. */
static uint64_t spread(unsigned i)
{
	uint64_t reversed = 0;

	for (unsigned bit = 1; bit < MOMENTS; bit *= 2, i /= 2)
		reversed = reversed << 1 | (i & 1);
	return reversed;
}

/* Writes short windows at the end and all over the run, as many as fit. */
static int put_moments(struct recorder *r, uint64_t total)
{
	uint64_t end = total, done = total;
	int status = 0;

	r->kept = 0;
	for (unsigned i = 0; i < MOMENTS && !status && done == end; i++) {
		end = i ? (uint64_t)((double)total * (double)spread(i) / MOMENTS) : total;
		status = put_window(r, end > MOMENT_REFERENCES ? end - MOMENT_REFERENCES : 0, end, &done);
	}
	return status;
}

static int describe(const struct recorder *r, int *ret_fits)
{
	char *text;
	int status = nm_recording_describe(r->debugger, &text, r->err);
	const struct nm_bytes bytes = {.at = (uint8_t *)text, .count = status ? 0 : strlen(text)};

	if (!status)
		status = put_part(r, "run", 0, 0, &bytes, ret_fits);
	free(text);
	return status;
}

int nm_debugger_record(struct nm_debugger *d, const struct nm_recording_window *window,
		       struct nm_recording_sink *sink, struct nm_recording_window *ret_recorded,
		       struct nm_error *err)
{
	struct recorder r = {.debugger = d, .sink = sink, .err = err};
	const uint64_t total = nm_debugger_total(d);
	const uint64_t from = window->first         ? window->first - 1
			      : total > WINDOW_MOST ? find_most_misses(d)
						    : 0;
	const uint64_t count = window->count ? window->count : WINDOW_MOST;
	uint64_t to = from;
	int fits = 1, status;

	if (from >= total)
		return nm_fail(err, NM_EINVAL, "there is no reference %llu: there are %llu",
			       (unsigned long long)window->first, (unsigned long long)total);
	status = describe(&r, &fits);
	if (!status && !fits)
		status = nm_fail(err, NM_ENOSPC, "there is no room for what the keys of the run are called");
	r.kept = sink->room / KEPT_SHARE;
	if (!status)
		status = put_window(&r, from, count < total - from ? from + count : total, &to);
	if (!status && (from || to < total))
		status = put_moments(&r, total);
	*ret_recorded = (struct nm_recording_window){from + 1, to - from};
	return status;
}
