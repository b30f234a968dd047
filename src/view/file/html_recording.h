/* SPDX-License-Identifier: MIT
 *
 * html_recording.h - a run of the debugger within a file for a browser.
 */
#ifndef NM_VIEW_HTML_RECORDING_H
#define NM_VIEW_HTML_RECORDING_H

#include <stdio.h>

#include "recording.h"

/* Writes the parts of the recording as elements, in at most so many bytes. As nm_debugger_record(). */
int nm_html_write_recording(struct nm_debugger *debugger, const struct nm_recording_window *window,
			    size_t room, FILE *out, struct nm_recording_window *ret_recorded,
			    struct nm_error *err);

#endif
