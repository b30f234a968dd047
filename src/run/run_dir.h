/* SPDX-License-Identifier: MIT
 *
 * run_dir.h - the folder of one recording: shared-memory rings, and the collector's log.
 */
#ifndef NM_RUN_DIR_H
#define NM_RUN_DIR_H

#include <sys/types.h>

#include "errors.h"

enum { NM_RUN_DIR_ROOM = 256 };

/* Makes a folder in /dev/shm, or in TMPDIR where /dev/shm is full.  0, or a code and an empty path. */
int nm_run_dir_make(char path[NM_RUN_DIR_ROOM], struct nm_error *err);

/* Removes the folder and what is in it.  The empty path is none. */
void nm_run_dir_remove(const char *path);

/* The last line that Valgrind wrote in process `pid`, or NULL.  line: room for it. */
const char *nm_run_dir_last_line(const char *path, pid_t pid, char *line, size_t room);

/* Reads Valgrind's logs of all processes and warns, in one line for each kind, of limits that the program met: a
 * set-user-id program that was not run, a system call that Valgrind does not know. */
void nm_run_dir_report_limits(const char *path, void (*warn)(const char *format, ...));

#endif
