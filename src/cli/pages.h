/* SPDX-License-Identifier: MIT
 *
 * pages.h - what view and export html show in the pages for a browser: profiles, and at most one loop nest or
 * trace with its debugger.
 *
 *     nm_pages_open(&pages, command, &options, paths, count)
 *     nm_pages_write(&pages, "page.html")                        or a server of pages.view
 *     nm_pages_close(&pages)
 */
#ifndef NM_PAGES_H
#define NM_PAGES_H

#include "debug/debug_options.h"
#include "source.h"
#include "view.h"

struct nm_pages_options {
	struct nm_debug_options source; /* of the debugger */
	struct nm_option_list folders;  /* of sources */
	const char *output;             /* an output that must not be one of the inputs; NULL: none */
};

/* A row for a command's table of options. type: its struct; member: its nm_pages_options. */
#define NM_ROW_SOURCE_DIR(type, member)                                                               \
	{                                                                                             \
		"source-dir", 0, "DIR", "look for sources here too; may be repeated", NM_OPTION_LIST, \
		    offsetof(type, member.folders), NULL                                              \
	}

/* Do not copy it: its parts point to each other. */
struct nm_pages {
	struct nm_view *view;
	struct nm_debug_session session; /* without a debugger if there are profiles only */
	struct nm_source_search search;
};

/* Opens profiles, and a nest or a trace, whose paths are in any order; none: nearmiss.nmp. Paths and options
 * are borrowed. 0, or a status after a message. */
int nm_pages_open(struct nm_pages *ret_pages, const struct nm_command *self,
		  const struct nm_pages_options *options, char *const *paths, int count);
void nm_pages_close(struct nm_pages *pages);

/* Whether an option is set that only the pages have. */
int nm_pages_need_html(const struct nm_pages_options *options);

/* Writes one file, or to standard output if the path is NULL. Says how many references of a trace it holds,
 * if these are not all. Returns the status of the command, after a message. */
int nm_pages_write(struct nm_pages *pages, const char *path);

#endif
