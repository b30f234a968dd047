/* SPDX-License-Identifier: MIT
 *
 * files.h - files and paths.
 */
#ifndef NM_FILES_H
#define NM_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

/* ---- below: whether a path stays inside a folder ---- */

/* Whether `path`, with all links followed, names something inside `folder`. 0 too if either does not
 * exist. */
int nm_is_below(const char *path, const char *folder);

/* Whether a path appended to a folder stays inside it: no ".." leads out of it. Links are not followed. */
int nm_stays_below(const char *tail);

/* ---- same file: whether two paths name the same file ---- */

/* Also works for files that do not exist yet. "-" is never the same as anything. */
int nm_is_same_file(const char *a, const char *b);

/* ---- peek ---- */

/* An input whose first bytes were read to identify it.
 *
 * A pipe delivers its bytes once, so a reader that takes over the input starts with these bytes and then
 * reads on.
 */

enum { NM_PEEK_BYTES = 16 };

struct nm_peeked_input {
	int fd;
	size_t count; /* less than NM_PEEK_BYTES only if the input is shorter */
	uint8_t bytes[NM_PEEK_BYTES];
};

/* Opens path ("-": standard input) and reads its first bytes. The caller closes fd. */
int nm_peek_input(struct nm_peeked_input *ret_peeked, const char *path, struct nm_error *err);

/* Reads `count` bytes, or fewer if the input ends before; *ret_count is how many. */
int nm_read_full(int fd, void *to, size_t count, size_t *ret_count, struct nm_error *err);

/* ---- memory file: anonymous files in memory ---- */

/* Opens a new empty file that has no name: in memory, or on disk in TMPDIR (or /tmp) if the kernel refuses.
 * The caller owns the descriptor, which is closed on exec. The file lives until no process has it open or
 * mapped. */
int nm_memory_file(int *ret_fd, const char *name, struct nm_error *err);

/* ---- temporary ---- */

/* Removes temporary files when a signal ends the process.
 *
 * A file is listed while it has a temporary name. Listed files are removed only if the command has called
 * nm_temporary_unlink_on_signals().
 */

/* path must stay valid and unchanged until it is forgotten. At most eight files are listed; others are
 * ignored. */
void nm_temporary_add(const char *path);
void nm_temporary_forget(const char *path);

/* Makes INT, TERM and HUP, unless they are ignored, remove the listed files before they end the process. */
void nm_temporary_unlink_on_signals(void);

#endif
