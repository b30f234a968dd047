/* SPDX-License-Identifier: MIT
 *
 * status.h - the exit statuses of nearmiss, the same for all commands.
 *
 * `record` ends with the program's own status, and with env(1)'s numbers where it could not run it: 126, 127, and
 * 125 for failures without a number of their own. 2 is the usual one for wrong usage; 124 would look like
 * timeout(1). Scripts can tell three more apart, and verdicts: 3. nearmiss(1) has this table too.
 */
#ifndef NM_STATUS_H
#define NM_STATUS_H

#include "errors.h"

enum nm_status {
	NM_STATUS_OK = 0,
	NM_STATUS_NOT_JUDGED = 1,       /* a gate could not be judged */
	NM_STATUS_USAGE = 2,            /* wrong command, option or argument; wrong SPEC, machine or SQL */
	NM_STATUS_NOT_MET = 3,          /* a budget is not kept (gate, diff --fail-on) */
	NM_STATUS_NO_COLLECTOR = 120,   /* Valgrind or our tool is missing, or cannot start the program */
	NM_STATUS_BAD_INPUT = 121,      /* a profile, trace or nest: not there, damaged, of another version */
	NM_STATUS_NO_OUTPUT = 122,      /* the output cannot be written, or the disk is full */
	NM_STATUS_FAILED = 125,         /* any other failure: memory, the system */
	NM_STATUS_NOT_EXECUTABLE = 126, /* the program is there but cannot be executed */
	NM_STATUS_NO_PROGRAM = 127      /* the program is not there */
};

/* The status for an error: that of its code if it has one of its own (full disk, damaged or newer input,
 * memory), else `otherwise`. */
int nm_status_of(enum nm_code code, int otherwise);

#endif
