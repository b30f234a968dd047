/* SPDX-License-Identifier: MIT
 *
 * below.h - whether a path stays inside a folder.
 */
#ifndef NM_BELOW_H
#define NM_BELOW_H

/* Whether `path`, with all links followed, names something inside `folder`. 0 too if either does not
 * exist. */
int nm_is_below(const char *path, const char *folder);

/* Whether a path appended to a folder stays inside it: no ".." leads out of it. Links are not followed. */
int nm_stays_below(const char *tail);

#endif
