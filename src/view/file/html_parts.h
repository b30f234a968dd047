/* SPDX-License-Identifier: MIT
 *
 * html_parts.h - the debugger within a file for a browser: its engine, and what it debugs; bytes as text (RFC 4648).
 */
#ifndef NM_VIEW_HTML_PARTS_H
#define NM_VIEW_HTML_PARTS_H

#include <stdio.h>

#include "assets.h"
#include "debugger.h"

static inline size_t nm_base64_length(size_t bytes) { return (bytes + 2) / 3 * 4; }
void nm_base64_write(const void *bytes, size_t count, FILE *out);

/* Writes them as elements, in at most so many bytes. As nm_parts_write(); NM_ENOSPC: no room for the engine. */
int nm_html_write_parts(const struct nm_debugger *debugger, const struct nm_asset *engine, size_t room,
			FILE *out, uint64_t *ret_total, struct nm_error *err);

#endif
