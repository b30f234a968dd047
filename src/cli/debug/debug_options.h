/* SPDX-License-Identifier: MIT
 *
 * debug_options.h - what debug and view say of a loop nest or a trace that is debugged, and its debugger.
 */
#ifndef NM_DEBUG_OPTIONS_H
#define NM_DEBUG_OPTIONS_H

#include "debugger.h"
#include "simulation_options.h"

struct nm_debug_options {
	struct nm_simulation_options simulation;
	struct nm_option_list settings;
	int64_t from, to, process;
};

/* Rows for a command's table of options. type: its struct; member: its nm_debug_options. */
#define NM_ROWS_DEBUG(type, member)                                                            \
	NM_ROW_MACHINE(type, member.simulation), NM_ROW_CACHE(type, member.simulation),        \
	    NM_ROW_CORES(type, member.simulation), NM_ROW_MAP(type, member.simulation),        \
	    NM_ROW_QUANTUM(type, member.simulation), NM_ROW_SCHEDULE(type, member.simulation), \
	    {"set",                                                                            \
	     's',                                                                              \
	     "NAME=VALUE",                                                                     \
	     "set a parameter of the nest, or the address of an array",                        \
	     NM_OPTION_LIST,                                                                   \
	     offsetof(type, member.settings),                                                  \
	     NULL},                                                                            \
	    {"from",                                                                           \
	     0,                                                                                \
	     "N",                                                                              \
	     "begin with the N-th reference, with empty caches (1)",                           \
	     NM_OPTION_NUMBER,                                                                 \
	     offsetof(type, member.from),                                                      \
	     NULL},                                                                            \
	{                                                                                      \
		"to", 0, "N", "end with the N-th reference (the last)", NM_OPTION_NUMBER,      \
		    offsetof(type, member.to), NULL                                            \
	}

/* Apart, since export has an option of this name, too. */
#define NM_ROW_PROCESS(type, member)                                                          \
	{                                                                                     \
		"process", 0, "N", "the N-th process of a trace (that with most references)", \
		    NM_OPTION_NUMBER, offsetof(type, member.process), NULL                    \
	}

/* A debugger of a file, and what it borrows. Do not copy it. */
struct nm_debug_session {
	struct nm_chosen_simulation simulation;
	const char *settings[NM_OPTION_LIST_ROOM + 1];
	struct nm_debugger *debugger;
};

/* 0, or a status after a message. */
int nm_debug_prepare(const struct nm_command *self, const struct nm_debug_options *options,
		     struct nm_debug_session *session);
int nm_debug_open(const struct nm_debug_options *options, const char *path, struct nm_debug_session *session);

#endif
