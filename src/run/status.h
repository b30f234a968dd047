/* SPDX-License-Identifier: MIT
 *
 * status.h - the exit statuses of nearmiss, the same for all commands.
 *
 * `record` ends with the program's own status. Its own failures, and those of all other commands, are 114 to
 * 127, which programs hardly ever use: 126 and 127 as in env(1), 125 for failures without a number of their
 * own. Small numbers are for verdicts (3: a gate is not met). nearmiss(1) has this table too.
 */
#ifndef NM_STATUS_H
#define NM_STATUS_H

#include "errors.h"

enum nm_status {
	NM_STATUS_OK = 0,
	NM_STATUS_NOT_MET = 3,            /* a budget is not kept (diff --fail-on) */
	NM_STATUS_BAD_NEST = 114,         /* a loop nest that cannot be read or has a fault */
	NM_STATUS_COLLECTOR_FAILED = 115, /* the collector could not start the program */
	NM_STATUS_BAD_QUERY = 116,        /* SQL that is wrong or would write */
	NM_STATUS_NEWER_PROFILE = 117,    /* written by a newer version */
	NM_STATUS_DAMAGED = 118,          /* not a profile, cut off or damaged */
	NM_STATUS_NO_PROFILE = 119,       /* not there or not readable */
	NM_STATUS_NO_COLLECTOR = 120,     /* Valgrind or our tool for it is not installed */
	NM_STATUS_FULL = 121,             /* the disk is full */
	NM_STATUS_NO_OUTPUT = 122,        /* the output cannot be written */
	NM_STATUS_BAD_MACHINE = 123,      /* wrong SPEC or unknown machine */
	NM_STATUS_USAGE = 124,            /* wrong command, option or argument */
	NM_STATUS_FAILED = 125,           /* any other failure: memory, the system */
	NM_STATUS_NOT_EXECUTABLE = 126,   /* the program is there but cannot be executed */
	NM_STATUS_NO_PROGRAM = 127        /* the program is not there */
};

/* The status for an error: that of its code if it has one of its own (full disk, damaged or newer profile,
 * memory), else `otherwise`. */
int nm_status_of(enum nm_code code, int otherwise);

#endif
