/* SPDX-License-Identifier: MIT
 *
 * outcome.c - see outcome.h.
 */
#include "outcome.h"

#include <stdio.h>
#include <time.h>

#include "message.h"
#include "output.h"
#include "reader.h"

static int write_info(const struct nm_outcome *o, struct nm_profile_writer *writer, struct nm_error *err)
{
	char text[64];
	int status;

	snprintf(text, sizeof text, "%.3f", o->wall_seconds);
	status = nm_profile_writer_info(writer, "wall_seconds", text, err);
	if (!status)
		status = nm_profile_writer_info(writer, "collector", o->collector, err);
	if (!status)
		status = nm_profile_writer_info(writer, "version", NM_VERSION, err);
	snprintf(text, sizeof text, "%lld", (long long)time(NULL));
	if (!status)
		status = nm_profile_writer_info(writer, "recorded_at", text, err);
	snprintf(text, sizeof text, "%d", o->exit_status);
	if (!status)
		status = nm_profile_writer_info(writer, "exit_status", text, err);
	if (!status && o->source)
		status = nm_profile_writer_info(writer, "source", o->source, err);
	return status;
}

int nm_outcome_write(const struct nm_outcome *o, struct nm_session *session, struct nm_profile_writer *writer,
		     struct nm_error *err)
{
	struct nm_result *const *results;
	size_t count = 0;
	int status = nm_session_results(session, &results, &count, err);

	for (size_t i = 0; i < count && !status; i++)
		status = nm_profile_writer_add(writer, results[i], err);
	if (!status && count)
		status = nm_profile_writer_info(writer, "command", results[0]->command, err);
	if (!status)
		status = nm_profile_writer_sources(writer, o->embed_sources, err);
	if (!status)
		status = write_info(o, writer, err);
	if (!status)
		return nm_profile_writer_commit(writer, err);
	nm_profile_writer_abort(writer);
	return status;
}

/* The summary goes to stderr: stdout is the program's. */
void nm_summarise(const char *path)
{
	struct nm_report_request request = {.limit = 10};
	struct nm_profile *profile;
	struct nm_style style = nm_style_of(stderr, NM_FORMAT_TEXT, NM_WIDTH_OF_TERMINAL);
	struct nm_error err;

	if (nm_profile_open(&profile, path, &err)) {
		nm_message_error(&err);
		return;
	}
	fputc('\n', stderr);
	if (nm_report_run(nm_report_at(0), profile, &request, &style, stderr, &err))
		nm_message_error(&err);
	nm_profile_close(profile);
}
