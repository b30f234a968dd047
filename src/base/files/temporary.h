/* SPDX-License-Identifier: MIT
 *
 * temporary.h - temporary files that do not outlive a process which a signal ends.
 *
 * A file is listed while it has a temporary name. Nothing happens to it unless the command asks for that by
 * nm_temporary_unlink_on_signals().
 */
#ifndef NM_TEMPORARY_H
#define NM_TEMPORARY_H

/* path must stay valid and unchanged until it is forgotten. Of more than eight files the rest is not
 * listed. */
void nm_temporary_add(const char *path);
void nm_temporary_forget(const char *path);

/* INT, TERM and HUP, unless they are ignored, remove the listed files and then end the process as ever. */
void nm_temporary_unlink_on_signals(void);

#endif
