/* SPDX-License-Identifier: MIT
 *
 * hints.h - what a user may have meant by a command that nearmiss does not have.
 */
#ifndef NM_HINTS_H
#define NM_HINTS_H

/* Reports that a command is unknown, with the nearest one, or with what it is called here. Returns the status. */
int nm_unknown_command(int argc, char **argv);

#endif
