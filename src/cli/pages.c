/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "html.h"
#include "message.h"
#include "output.h"
#include "profile_operand.h"

/* ---- what to show ---- */

struct inputs {
	const char *profiles[NM_VIEW_PROFILES];
	size_t count;
	const char *debugged; /* a loop nest or a trace, or NULL */
};

static int sort_inputs(const struct nm_command *self, char *const *paths, int count, struct inputs *in)
{
	for (int i = 0; i < count; i++) {
		const char *path = paths[i];
		enum nm_file_kind kind = nm_file_kind(path); /* unreadable: opening the profile says why */

		if (kind == NM_FILE_PROGRAM)
			return nm_refuse_program(self, path);
		if (kind == NM_FILE_SAMPLES)
			return nm_usage(self, "%s holds a processor's samples: nearmiss report %s shows them",
					path, path);
		if (kind == NM_FILE_OTHER) {
			if (in->debugged)
				return nm_usage(self,
						"%s is no profile, nor is %s: one loop nest or trace can be "
						"debugged at a time",
						path, in->debugged);
			in->debugged = path;
		} else if (in->count == NM_VIEW_PROFILES) {
			return nm_usage(self, "at most %d profiles can be viewed at once", NM_VIEW_PROFILES);
		} else {
			in->profiles[in->count++] = path;
		}
	}
	if (!count)
		in->profiles[in->count++] = "nearmiss.nmp";
	return NM_STATUS_OK;
}

/* Whether the options fit the inputs. */
static int check_options(const struct nm_command *self, const struct nm_pages_options *o,
			 const struct inputs *in)
{
	int status = NM_STATUS_OK;

	if (!in->debugged && (o->source.simulation.machines.count || o->source.simulation.caches.count))
		return nm_usage(self,
				"--machine and --cache are for a loop nest or a trace: a profile has its own "
				"machine");
	for (size_t i = 0; o->output && !status && i < in->count; i++)
		status = nm_refuse_same_file(o->output, in->profiles[i], "input");
	if (o->output && !status && in->debugged)
		status = nm_refuse_same_file(o->output, in->debugged, "input");
	return status;
}

int nm_pages_need_html(const struct nm_pages_options *o)
{
	const struct nm_debug_options *d = &o->source;
	const struct nm_simulation_options *s = &d->simulation;

	return s->machines.count || s->caches.count || s->cores || s->map || s->quantum || s->schedule ||
	       d->settings.count || d->from || d->to || o->folders.count;
}

/* ---- life ---- */

/* The profile that is not there, or the first one. */
static const char *missing_profile(const struct inputs *in)
{
	for (size_t i = 0; i < in->count; i++)
		if (nm_file_kind(in->profiles[i]) == NM_FILE_UNREADABLE)
			return in->profiles[i];
	return in->count ? in->profiles[0] : "";
}

static int open_view(struct nm_pages *p, const struct nm_pages_options *o, const struct inputs *in)
{
	struct nm_error err;

	if (nm_view_open(&p->view, in->profiles, in->count, &err))
		return nm_profile_failed(missing_profile(in), &err);
	p->search = (struct nm_source_search){.folders = o->folders.at, .folder_count = o->folders.count};
	nm_view_set_search(p->view, &p->search);
	if (p->session.debugger)
		nm_view_set_debugger(p->view, p->session.debugger);
	return 0;
}

int nm_pages_open(struct nm_pages *p, const struct nm_command *self, const struct nm_pages_options *o,
		  char *const *paths, int count)
{
	struct inputs in = {.count = 0};
	int status = sort_inputs(self, paths, count, &in);

	memset(p, 0, sizeof *p);
	if (!status)
		status = check_options(self, o, &in);
	if (!status && in.debugged)
		status = nm_debug_prepare(self, &o->source, &p->session);
	if (!status && in.debugged)
		status = nm_debug_open(&o->source, in.debugged, &p->session);
	if (!status)
		status = open_view(p, o, &in);
	if (status)
		nm_pages_close(p);
	return status;
}

void nm_pages_close(struct nm_pages *p)
{
	nm_view_close(p->view);
	nm_debugger_close(p->session.debugger);
}

/* ---- a file ---- */

static int write_view(void *view, FILE *out, struct nm_error *err)
{
	return nm_view_write_html(view, out, err);
}

int nm_pages_write(struct nm_pages *p, const char *path)
{
	uint64_t held, total;
	int status;

	if (isatty(STDERR_FILENO))
		nm_view_set_progress(p->view, nm_message_pages);
	status = nm_write_output(path, write_view, p->view);
	nm_message_progress_end();
	if (status || !p->session.debugger)
		return status;
	held = nm_view_written(p->view);
	total = nm_debugger_total(p->session.debugger);
	if (held < total)
		nm_message("%s holds the first %" PRIu64 " of %" PRIu64
			   " references, as many as 10 MB have room for: --from and --to choose others",
			   path ? path : "the output", held, total);
	return status;
}
