/* SPDX-License-Identifier: MIT
 *
 * read_all.h - reads a profile in every way that nearmiss can: for tests with profiles that are damaged or
 * hostile.
 */
#ifndef NM_READ_ALL_H
#define NM_READ_ALL_H

/* Opens the file and, if that succeeds, runs every report, annotation, eviction table and export in every
 * format. Returns how many of them failed, or -1 if the file was refused. Aborts where a failure has no
 * message of one line. */
int nm_read_all(const char *path);

#endif
