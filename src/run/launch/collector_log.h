/* SPDX-License-Identifier: MIT
 *
 * collector_log.h - keeps the collector's messages out of the program's output.
 */
#ifndef NM_COLLECTOR_LOG_H
#define NM_COLLECTOR_LOG_H

#include <stddef.h>
#include <stdio.h>

#include "errors.h"

/* Opens a log in memory that all processes of the recording write to. It is closed on exec. */
int nm_collector_log_open(int *ret_fd, struct nm_error *err);

/* The last line in the log, or NULL. line: room for it. */
const char *nm_collector_log_last_line(int fd, char *line, size_t room);

/* Warns, in one line for each kind, of Valgrind's limits that processes met: a set-user-id program that was
 * not run, a system call that Valgrind does not know. */
void nm_collector_log_report_limits(int fd, void (*warn)(const char *format, ...));

/* Writes what follows `prefix` in the lines that have it, each once, separated by "; ". */
void nm_collector_log_list(int fd, const char *prefix, FILE *out);

#endif
