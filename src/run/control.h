/* SPDX-License-Identifier: MIT
 *
 * control.h - commands to a recording while it runs: by signals, and through a socket in the abstract name space, for
 * processes of the same user and root.
 *
 * The socket's name has the recorder's process id. A request is a line: "start", "stop", or "snapshot" and a path or
 * nothing; the answer is a line too: "ok", or "no", then a space and a sentence, which may be empty.
 */
#ifndef NM_CONTROL_H
#define NM_CONTROL_H

#include <sys/types.h>

#include "errors.h"

enum { NM_CONTROL_LINE = 4352 /* bytes: of a path, and more */ };

enum nm_control_kind { NM_CONTROL_NONE, NM_CONTROL_START, NM_CONTROL_STOP, NM_CONTROL_SNAPSHOT };

/* ---- in the recorder ---- */

struct nm_control {
	int listener, client; /* negative: none */
	char line[NM_CONTROL_LINE];
};

/* From now on SIGUSR1 (start) and SIGUSR2 (stop) are commands, unless they were ignored. Where the socket cannot be
 * made, there are only these. */
void nm_control_open(struct nm_control *control);
void nm_control_close(struct nm_control *control);

/* The next command, without waiting; *ret_path, of a snapshot, may be empty, and stays until the next call. A command
 * must be answered before the next is asked for. */
enum nm_control_kind nm_control_next(struct nm_control *control, const char **ret_path);
void nm_control_answer(struct nm_control *control, int is_done, const char *sentence);

/* ---- elsewhere ---- */

/* Sends a request to the recorder of a process: the process itself, or one from which it descends. Waits for the
 * answer. 0, or a code: there is no such recorder, or it could not do so. */
int nm_control_ask(pid_t pid, const char *request, char answer[NM_CONTROL_LINE], struct nm_error *err);

#endif
