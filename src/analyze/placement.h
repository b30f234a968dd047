/* SPDX-License-Identifier: MIT
 *
 * placement.h - on which of two processors the decoder and the modeller run.
 *
 * Beside them runs the program under its collector, which nobody may bind: it would see that.  Left alone, Linux often
 * has both on one processor, in turns, while the program keeps the other busy.  Bound apart, each with its share of the
 * program's time, they overlap.  (Where what they hand over lay in lines that both wrote and read, that paid only where
 * the decoder had more to do than the modeller; since it is copied past the caches, with gzip, bzip2, zstd and xz too.)
 *
 * What is bound belongs to the thread that decodes, whatever it decodes for: a thread inherits what its maker is bound
 * to, so nothing is bound while a modeller is made, nor with more than one, when the decoder's time is not for one of them
 * alone.
 */
#ifndef NM_PLACEMENT_H
#define NM_PLACEMENT_H

#include <pthread.h>

/* All by the decoder: before a modeller is made; when it is there, and now and then while it works, since others come and
 * go; when it has ended. */
void nm_placement_enter(void);
void nm_placement_review(pthread_t modeller);
void nm_placement_leave(void);

#endif
