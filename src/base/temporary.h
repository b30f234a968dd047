/* SPDX-License-Identifier: MIT
 *
 * temporary.h - removes temporary files when a signal ends the process.
 *
 * A file is listed while it has a temporary name. Listed files are removed only if the command has called
 * nm_temporary_unlink_on_signals().
 */
#ifndef NM_TEMPORARY_H
#define NM_TEMPORARY_H

/* path must stay valid and unchanged until it is forgotten. At most eight files are listed; others are
 * ignored. */
void nm_temporary_add(const char *path);
void nm_temporary_forget(const char *path);

/* Makes INT, TERM and HUP, unless they are ignored, remove the listed files before they end the process. */
void nm_temporary_unlink_on_signals(void);

#endif
