/* SPDX-License-Identifier: MIT */
#include "summary.h"

#include <stdio.h>

#include "message.h"
#include "output.h"
#include "reader.h"
#include "report.h"

void nm_summary_print(const char *path)
{
	struct nm_report_request request = {.limit = 10, .folds = 1};
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
