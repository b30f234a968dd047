/* SPDX-License-Identifier: MIT
 *
 * html_output.c - see html_output.h.
 */
#include "html_output.h"

#include <errno.h>

#include "html.h"
#include "message.h"
#include "output.h"

static int write_stdout(struct nm_view *view)
{
	struct nm_output output = {.file = stdout};
	struct nm_error err;
	int status = nm_view_write_html(view, stdout, &err), written = nm_output_close(&output);

	return status ? nm_failed(&err, NM_STATUS_FAILED) : written;
}

int nm_write_html(struct nm_view *view, const char *path)
{
	struct nm_error err;
	FILE *out = path ? fopen(path, "we") : NULL;
	int status, failed;

	if (!path)
		return write_stdout(view);
	if (!out)
		return nm_cannot_write(path, errno);
	errno = 0;
	status = nm_view_write_html(view, out, &err);
	failed = ferror(out) | (fclose(out) != 0);
	if (!status && !failed)
		return NM_STATUS_OK;
	status = status ? nm_failed(&err, NM_STATUS_FAILED) : nm_cannot_write(path, errno);
	nm_remove_output(path);
	return status;
}
