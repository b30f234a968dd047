/* SPDX-License-Identifier: MIT */
#include "sampling.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exact_loader.h"
#include "perf_importer.h"
#include "stream.h"

enum { WAIT_MS = 100, BUFFER = 1 << 20 };

int nm_sampling_file(const struct nm_sampling *s)
{
	char *path = strdup(s->request->output), *folder = path ? dirname(path) : NULL, *template = NULL;
	int fd = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;

	if (fd < 0 && folder && asprintf(&template, "%s/nearmiss-XXXXXX", folder) > 0) {
		fd = mkostemp(template, O_CLOEXEC);
		if (fd >= 0)
			unlink(template);
		free(template);
	}
	free(path);
	return fd;
}

static int open_samples(struct nm_sampling *s, char *const *command, struct nm_error *err)
{
	const int fd = nm_sampling_file(s);

	s->samples = fd < 0 ? NULL : fdopen(fd, "r+");
	if (!s->samples)
		return nm_fail_errno(err, "cannot keep samples beside %s", s->request->output);
	setvbuf(s->samples, NULL, _IOFBF, BUFFER);
	return nm_stream_begin(s->samples, &s->event, command, err);
}

int nm_sampling_open(struct nm_sampling *s, const struct nm_sample_request *request, char *const *command,
		     struct nm_error *err)
{
	int status;

	s->request = request;
	s->heap = -1;
	if (request->exact && nm_exact_check(request->exact, err))
		return NM_STATUS_BAD_INPUT;
	if (nm_sampled_event_find(request->event, request->period, &s->event, err))
		return NM_STATUS_NO_COLLECTOR;
	if (s->event.kind == NM_SAMPLED_FAULTS && s->event.attr.exclude_kernel)
		request->feedback.warn("pages that the kernel touches first, as in read(), are not seen: "
				       "that needs perf_event_paranoid=1");
	status = open_samples(s, command, err);
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_NO_OUTPUT);
	status = nm_rings_new(&s->rings, &s->event, err);
	return status ? nm_status_of((enum nm_code)status, NM_STATUS_FAILED) : 0;
}

void nm_sampling_done(struct nm_sampling *s)
{
	nm_rings_free(s->rings);
	if (s->samples)
		fclose(s->samples);
	if (s->heap >= 0)
		close(s->heap);
}

int nm_sampling_turn(struct nm_sampling *s, int *ret_ended)
{
	*ret_ended = nm_rings_wait(s->rings, WAIT_MS);
	return nm_rings_drain(s->rings, s->samples) || nm_stream_round(s->samples) ? -1 : 0;
}

int nm_sampling_end(struct nm_sampling *s)
{
	return nm_stream_lost(s->samples, nm_rings_untold(s->rings)) || fflush(s->samples) ? -1 : 0;
}

int nm_sampling_import(struct nm_sampling *s, int *ret_has_result, struct nm_error *err)
{
	struct nm_perf_request import = {.output = s->request->output,
					 .is_sampled = 1,
					 .heap = s->heap,
					 .exact = s->request->exact,
					 .user_folders = s->request->user_folders,
					 .sources = s->request->sources,
					 .feedback = s->request->feedback};
	char input[64];
	int status;

	nm_rings_free(s->rings);
	s->rings = NULL;
	snprintf(input, sizeof input, "/proc/self/fd/%d", fileno(s->samples));
	import.input = input;
	status = nm_import_samples(&import, ret_has_result, err);
	if (status != NM_STATUS_BAD_INPUT || *ret_has_result)
		return status;
	s->request->feedback.warn("no profile is written: %s", err->text);
	return 0;
}
