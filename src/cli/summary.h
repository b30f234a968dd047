/* SPDX-License-Identifier: MIT
 *
 * summary.h - the summary that every run ends with.
 */
#ifndef NM_SUMMARY_H
#define NM_SUMMARY_H

/* Prints the summary report of a profile on stderr: stdout belongs to the program. */
void nm_summary_print(const char *profile);

#endif
