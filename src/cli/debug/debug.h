/* SPDX-License-Identifier: MIT
 *
 * debug.h - nearmiss debug: the cache debugger in a terminal.
 *
 * It asks the debugger what the pages of a browser ask (docs/format/view.md), and draws the answers.
 */
#ifndef NM_CLI_DEBUG_H
#define NM_CLI_DEBUG_H

#include <jansson.h>

#include "debugger.h"

/* The answer to a request with this body (JSON) or these parameters; NULL: refused, and *err says why. */
json_t *nm_debug_ask(struct nm_debugger *debugger, const char *method, const char *path, json_t *said,
		     struct nm_error *err);

/* Until the user quits.  0 or an enum nm_status. */
int nm_debug_screen(struct nm_debugger *debugger);

#endif
