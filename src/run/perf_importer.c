/* SPDX-License-Identifier: MIT
 *
 * Entries of `info`: collector is perf or sample; sampled_events lists the events with their periods; samples and
 * lost_samples; host, host_release and host_processor are of the machine that was sampled; exact is the path of the
 * profile that samples were joined with, joined_samples how many.
 */
#include "perf_importer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "exact_loader.h"
#include "heap_events.h"
#include "memstream.h"
#include "perf.h"
#include "samples.h"
#include "writer.h"

struct importer {
	const struct nm_perf_request *request;
	struct nm_symbols *symbols;
	struct nm_samples *samples;
	struct nm_perf *perf;
	struct nm_heap_events *heap; /* or NULL */
	struct nm_exact *exact;      /* or NULL */
	struct nm_profile_writer *writer;
	double started, shown; /* ms */
};

static void show_progress(struct importer *i)
{
	enum { EVERY_MS = 500 };
	const double now = nm_now_ms();
	const uint64_t count = nm_samples_count(i->samples);

	if (!i->request->feedback.progress || now - i->shown < EVERY_MS)
		return;
	i->shown = now;
	i->request->feedback.progress(count, (double)count * 1e3 / (now - i->started));
}

/* Allocations and releases up to a time. 0 or NM_ENOMEM. */
static int follow_heap(struct importer *i, uint64_t time, struct nm_error *err)
{
	const struct nm_heap_event *e;
	int status = 0;

	while (i->heap && !status && (e = nm_heap_events_peek(i->heap)) && e->time <= time) {
		status = e->is_release ? nm_samples_release(i->samples, e->pid, e->address)
				       : nm_samples_allocate(i->samples, e->pid, e->address, e->bytes,
							     e->chain, e->pcs, e->count);
		nm_heap_events_take(i->heap);
	}
	return status ? nm_fail_memory(err) : 0;
}

static int read_all(struct importer *i, struct nm_error *err)
{
	enum { LOOK_EVERY = 4096 };
	struct nm_perf_record record;
	uint64_t records = 0;
	int status;

	while ((status = nm_perf_next(i->perf, &record, err)) > 0) {
		status = follow_heap(i, record.time, err);
		if (!status)
			status = nm_samples_take(i->samples, &record, err);
		if (status)
			return status;
		if (++records % LOOK_EVERY == 0)
			show_progress(i);
	}
	return status;
}

/* "mem-loads:P every 10000, page-faults every 1"; malloc'ed. */
static char *describe_events(const struct nm_perf *perf)
{
	const struct nm_perf_event *event;
	char *text = NULL;
	FILE *out = nm_memstream_open(&text, NULL);

	if (!out)
		return NULL;
	for (unsigned k = 0; (event = nm_perf_event_at(perf, k)); k++)
		fprintf(out, event->is_frequency ? "%s%s %" PRIu64 " times a second" : "%s%s every %" PRIu64,
			k ? ", " : "", event->name, event->period);
	return nm_memstream_close(out, &text) ? NULL : text;
}

static int write_info(struct importer *i, struct nm_error *err)
{
	const struct nm_perf_origin origin = nm_perf_origin_of(i->perf);
	char *events = describe_events(i->perf), samples[24], lost[24], joined[24];
	const struct {
		const char *key, *value;
	} rows[] = {{"collector", i->request->is_sampled ? "sample" : "perf"},
		    {"version", NM_VERSION},
		    {"source", i->request->is_sampled ? NULL : i->request->input},
		    {"sampled_events", events},
		    {"samples", samples},
		    {"lost_samples", lost},
		    {"command", origin.command},
		    {"host", origin.host},
		    {"host_release", origin.release},
		    {"host_processor", origin.processor},
		    {"exact", i->exact ? nm_exact_path(i->exact) : NULL},
		    {"joined_samples", i->exact ? joined : NULL}};
	int status = events ? 0 : nm_fail_memory(err);

	snprintf(samples, sizeof samples, "%" PRIu64, nm_samples_count(i->samples));
	snprintf(lost, sizeof lost, "%" PRIu64, nm_samples_lost(i->samples));
	snprintf(joined, sizeof joined, "%" PRIu64, i->exact ? nm_exact_joined(i->exact) : 0);
	for (size_t k = 0; k < sizeof rows / sizeof *rows && !status; k++)
		if (rows[k].value)
			status = nm_profile_writer_info(i->writer, rows[k].key, rows[k].value, err);
	free(events);
	return status;
}

static int write_profile(struct importer *i, struct nm_error *err)
{
	struct nm_result *const *results;
	struct nm_profile_writer *writer = i->writer;
	size_t count = 0;
	int status = nm_samples_results(i->samples, i->perf, &results, &count, err);

	for (size_t k = 0; k < count && !status; k++)
		status = nm_profile_writer_add(writer, results[k], err);
	if (!status)
		status = nm_profile_writer_sources(writer, &i->request->sources, err);
	if (!status)
		status = write_info(i, err);
	i->writer = NULL;
	if (!status)
		return nm_profile_writer_commit(writer, err);
	nm_profile_writer_abort(writer);
	return status;
}

static int open_all(struct importer *i, struct nm_error *err)
{
	int status = nm_perf_open(&i->perf, i->request->input, err);

	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_BAD_INPUT);
	status = nm_profile_writer_new(&i->writer, i->request->output, err);
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_NO_OUTPUT);
	status = nm_symbols_new(&i->symbols, err);
	if (!status && i->request->heap > 0)
		status = nm_heap_events_open(&i->heap, i->request->heap, err);
	if (!status)
		status = nm_samples_new(&i->samples, i->symbols, i->request->user_folders, err);
	if (!status && i->request->exact) {
		status = nm_exact_load(&i->exact, i->request->exact, i->symbols, err);
		if (status)
			return nm_status_of((enum nm_code)status, NM_STATUS_BAD_INPUT);
		nm_samples_join(i->samples, i->exact);
	}
	return status ? nm_status_of((enum nm_code)status, NM_STATUS_FAILED) : 0;
}

static void tell_refusals(const struct importer *i)
{
	const char *refusal;

	for (size_t k = 0; i->exact && (refusal = nm_exact_refusal(i->exact, k)); k++)
		i->request->feedback.warn("%s", refusal);
}

/* Writes what was read, also of a file that is damaged further on. */
static int import_samples(struct importer *i, int *ret_has_result, struct nm_error *err)
{
	struct nm_error fault;
	int damaged = read_all(i, &fault), status;

	if (i->shown && i->request->feedback.progress_end)
		i->request->feedback.progress_end();
	if (damaged && damaged != NM_EFORMAT) {
		*err = fault;
		return nm_status_of((enum nm_code)damaged, NM_STATUS_FAILED);
	}
	if (!nm_samples_count(i->samples)) {
		if (damaged)
			*err = fault;
		else
			nm_fail(err, NM_EFORMAT, "%s has no samples",
				i->request->is_sampled ? "this run" : i->request->input);
		return NM_STATUS_BAD_INPUT;
	}
	if (i->heap && nm_heap_events_is_cut(i->heap))
		i->request->feedback.warn(
		    "there was no room to note all allocations: later blocks have no names");
	tell_refusals(i);
	status = write_profile(i, err);
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_NO_OUTPUT);
	*ret_has_result = 1;
	if (damaged)
		*err = fault;
	return damaged ? NM_STATUS_BAD_INPUT : 0;
}

int nm_import_samples(const struct nm_perf_request *request, int *ret_has_result, struct nm_error *err)
{
	struct importer i = {.request = request, .started = nm_now_ms()};
	int status = open_all(&i, err);

	*ret_has_result = 0;
	if (!status)
		status = import_samples(&i, ret_has_result, err);
	if (i.writer)
		nm_profile_writer_abort(i.writer);
	nm_samples_free(i.samples);
	nm_exact_free(i.exact);
	nm_heap_events_free(i.heap);
	nm_symbols_free(i.symbols);
	nm_perf_free(i.perf);
	return status;
}
