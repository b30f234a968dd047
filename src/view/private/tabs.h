/* SPDX-License-Identifier: MIT
 *
 * tabs.h - a debugger for each tab of a browser, all of one run.
 *
 * A tab names itself by a token. A request without one is for the first debugger. At most NM_TABS_AWAKE
 * debuggers hold a simulation; the least recently used ones free theirs (nm_debugger_rest) and simulate it
 * again on their next request. Beyond NM_TABS tabs, the least recently used tab is dropped.
 */
#ifndef NM_VIEW_TABS_H
#define NM_VIEW_TABS_H

#include <stdint.h>

#include "errors.h"

enum { NM_TABS = 64, NM_TABS_AWAKE = 8, NM_TAB_TOKEN = 40 };

struct nm_debugger;

struct nm_tab {
	char token[NM_TAB_TOKEN + 1];
	struct nm_debugger *debugger;
	uint64_t asked; /* number of its last request */
};

struct nm_tabs {
	struct nm_debugger *first; /* borrowed; NULL: there is no debugger */
	struct nm_tab at[NM_TABS];
	unsigned count;
	uint64_t requests;
};

/* The debugger of a tab; token may be NULL. NM_EINVAL: the token is too long. */
int nm_tabs_find(struct nm_tabs *tabs, const char *token, struct nm_debugger **ret_debugger,
		 struct nm_error *err);
void nm_tabs_done(struct nm_tabs *tabs);

#endif
