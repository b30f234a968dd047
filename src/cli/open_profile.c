/* SPDX-License-Identifier: MIT
 *
 * open_profile.c - see open_profile.h.
 *
 * The profile has a name only until it is open, so nothing is left behind.
 */
#include "open_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "files.h"
#include "message.h"
#include "perf_importer.h"
#include "profile_operand.h"

struct nm_run_feedback nm_samples_feedback(int quiet)
{
	struct nm_run_feedback feedback = {.warn = nm_message};

	if (!quiet && isatty(STDERR_FILENO)) {
		feedback.progress = nm_message_samples;
		feedback.progress_end = nm_message_progress_end;
	}
	return feedback;
}

static int open_samples(struct nm_profile **ret_profile, const char *path, const char *profile,
			struct nm_error *err)
{
	const struct nm_perf_request request = {
	    .input = path, .output = profile, .feedback = nm_samples_feedback(0)};
	int has_result, status = nm_import_samples(&request, &has_result, err);

	if (!has_result)
		return (int)err->code;
	if (status)
		nm_message_error(err);
	nm_temporary_add(profile);
	status = nm_profile_open(ret_profile, profile, err);
	unlink(profile);
	nm_temporary_forget(profile);
	return status;
}

int nm_open_profile(struct nm_profile **ret_profile, const char *path, struct nm_error *err)
{
	const char *folder = getenv("TMPDIR");
	char *place, *profile = NULL;
	int status;

	if (nm_file_kind(path) != NM_FILE_SAMPLES)
		return nm_profile_open(ret_profile, path, err);
	if (asprintf(&place, "%s/nearmiss-XXXXXX", folder && *folder ? folder : "/tmp") < 0)
		return nm_fail_memory(err);
	if (!mkdtemp(place)) {
		status = nm_fail_errno(err, "cannot make the folder %s", place);
		free(place);
		return status;
	}
	nm_temporary_unlink_on_signals();
	status = asprintf(&profile, "%s/samples.nmp", place) < 0
		     ? nm_fail_memory(err)
		     : open_samples(ret_profile, path, profile, err);
	rmdir(place);
	free(profile);
	free(place);
	return status;
}
