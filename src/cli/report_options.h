/* SPDX-License-Identifier: MIT
 *
 * report_options.h - options shared by the commands that show counts.
 */
#ifndef NM_REPORT_OPTIONS_H
#define NM_REPORT_OPTIONS_H

#include <stddef.h>

#include "options.h"

/* Rows for a command's table of options. type: its struct; member: where the option is stored. */
#define NM_ROW_PROFILE(type, member)                                                                        \
	{                                                                                                   \
		"input", 'i', "FILE", "the profile (nearmiss.nmp)", NM_OPTION_ONCE, offsetof(type, member), \
		    NULL                                                                                    \
	}
#define NM_ROW_ONLY_PROCESS(type, member)                                                   \
	{                                                                                   \
		"process", 'p', "NAME", "only this process of the profile", NM_OPTION_TEXT, \
		    offsetof(type, member), NULL                                            \
	}
#define NM_ROW_ONLY_THREAD(type, member)                                                  \
	{                                                                                 \
		"thread", 't', "N", "only this thread, counted from 1", NM_OPTION_NUMBER, \
		    offsetof(type, member), NULL                                          \
	}
/* struct nm_shown_part */
#define NM_ROWS_PART(type, member)                                                               \
	{"region",                                                                               \
	 'r',                                                                                    \
	 "NAME",                                                                                 \
	 "only this region of the program, with those within it",                                \
	 NM_OPTION_TEXT,                                                                         \
	 offsetof(type, member.region),                                                          \
	 NULL},                                                                                  \
	{                                                                                        \
		"phase", 0, "NAME",                                                              \
		    "only this phase of the run, by its name or its letter (nearmiss timeline)", \
		    NM_OPTION_TEXT, offsetof(type, member.phase), NULL                           \
	}
/* enum nm_shown_frame */
#define NM_ROW_FRAME(type, member)                                                                       \
	{                                                                                                \
		"inline", 0, "FRAME", "the frame of inlined calls that lines and functions name (user)", \
		    NM_OPTION_CHOICE, offsetof(type, member), "user|innermost|all"                       \
	}
/* enum nm_format */
#define NM_ROW_FORMAT(type, member)                                                                        \
	{                                                                                                  \
		"format", 'f', "FORMAT", "output format (text)", NM_OPTION_CHOICE, offsetof(type, member), \
		    "text|csv|json"                                                                        \
	}
#define NM_ROW_WIDTH(type, member)                                                          \
	{                                                                                   \
		"width", 'w', "N", "fit text into N columns; 0: no limit (the terminal's)", \
		    NM_OPTION_NUMBER, offsetof(type, member), NULL                          \
	}

#endif
