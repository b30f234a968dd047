/* SPDX-License-Identifier: MIT
 *
 * same_file.h - whether two paths name the same file.
 */
#ifndef NM_SAME_FILE_H
#define NM_SAME_FILE_H

/* Also works for files that do not exist yet. "-" is never the same as anything. */
int nm_is_same_file(const char *a, const char *b);

#endif
