/* SPDX-License-Identifier: MIT
 *
 * below.h - does a path stay inside a folder?
 */
#ifndef NM_BELOW_H
#define NM_BELOW_H

/* Whether `path`, with all links followed, names something inside `folder`. 0 too if either does not
 * exist. */
int nm_is_below(const char *path, const char *folder);

/* Whether a path that is appended to a folder stays inside it: no ".." leads out. Links are not followed. */
int nm_stays_below(const char *tail);

#endif
