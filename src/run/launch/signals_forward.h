/* SPDX-License-Identifier: MIT
 *
 * signals_forward.h - handles signals during a recording.
 *
 * The recorder outlives the program. SIGINT and SIGQUIT from the terminal reach the whole process group by
 * themselves, so the recorder ignores them; a signal sent to the recorder alone is passed on to the
 * program.
 */
#ifndef NM_SIGNALS_FORWARD_H
#define NM_SIGNALS_FORWARD_H

#include <signal.h>
#include <sys/types.h>

/* The signals that the recorder handles; the program gets them with the dispositions that it would have
 * had. */
extern const int nm_forwarded_signals[6];

/* Ignores SIGPIPE (a trace's reader that goes away does not end the recording) and SIGXFSZ (a file that
 * grows beyond the limit is an error). Adds to *ignored those that were ignored before. */
void nm_signals_ignore_failed_writes(sigset_t *ignored);

/* Handles the others, and adds to *ignored those that were ignored (by nohup, by a shell's background).
 * They stay pending until the program can take them: nm_signals_restore in the child, nm_signals_forward_to
 * in the recorder. */
void nm_signals_catch(sigset_t *ignored);

/* Gives the signals their dispositions of before; for the child, before it executes the collector. */
void nm_signals_restore(const sigset_t *ignored);

/* Names the process to pass signals on to; 0: none. */
void nm_signals_forward_to(pid_t pid);

#endif
