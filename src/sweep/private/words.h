/* SPDX-License-Identifier: MIT
 *
 * words.h - tasks and their outcomes as lines of text, with tabs between the words.
 *
 *     trace  melt.nmt  (nothing)  L1d=32K,8,64
 *     done  0.250  instructions  references  (what its run warned of)  counts of L1d  counts of L2 ...
 *     failed  0.001  reason
 */
#ifndef NM_SWEEP_WORDS_H
#define NM_SWEEP_WORDS_H

#include "sweep_file.h"
#include "transport.h"
#include "vector.h"

/* 0, or NM_EINVAL: a word has a tab, or all do not fit. */
int nm_sweep_write_task(const struct nm_sweep_task *task, char *text);

/* Cuts a text into the words of a task, which then point into it. 0, or NM_EINVAL: it is none. */
int nm_sweep_read_task(char *text, struct nm_sweep_task *ret_task);

/* Tabs and line ends of a remark become blanks, and the end of one that is too long is left out. */
void nm_sweep_write_outcome(const struct nm_sweep_outcome *outcome, char *text);

/* The same with outcomes; the levels of its machine are left as they are, but for their number. */
int nm_sweep_read_outcome(char *text, struct nm_sweep_outcome *ret_outcome);

/* Settings of a task, "N=64 M=3", as a list ended by NULL. */
struct nm_sweep_settings {
	char *text;
	struct nm_vec(const char *) list;
};

/* 0 or NM_ENOMEM; *ret_settings must be {0}; call nm_sweep_settings_done in any case. */
int nm_sweep_split_settings(const char *text, struct nm_sweep_settings *ret_settings);
void nm_sweep_settings_done(struct nm_sweep_settings *settings);

#endif
