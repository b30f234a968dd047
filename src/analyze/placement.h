/* SPDX-License-Identifier: MIT
 *
 * placement.h - on which of two processors the decoder and the modeller run.
 *
 * Beside them runs the program under its collector, which nobody may bind: it would see that.  Left alone, Linux often
 * has both on one processor, in turns, while the program keeps the other busy.  Bound apart, each with its share of the
 * program's time, they overlap: 5 to 15 % of a recording where the decoder has more to do than the modeller (perl,
 * troff, mawk).  Where the modeller has more to do, the program that comes to its processor delays it, up to 15 % (xz,
 * gzip): then both are left alone.  So what the two have needed lately decides, again and again.
 *
 * What is bound belongs to the thread that decodes, whatever it decodes for: a thread inherits what its maker is bound
 * to, so nothing is bound while a modeller is made, nor with more than one, when the decoder's time is not for one of them
 * alone.
 */
#ifndef NM_PLACEMENT_H
#define NM_PLACEMENT_H

#include <pthread.h>
#include <stdint.h>

/* CPU time of the two until the latest review, ns. */
struct nm_placement {
	uint64_t decoder, modeller;
};

/* Whether the two are to be apart, which they are or are not now, after they took so much time. */
static inline int nm_placement_wants(int apart, uint64_t decoder, uint64_t modeller)
{
	return apart ? decoder >= modeller - modeller / 8 : decoder > modeller + modeller / 8;
}

/* All by the decoder: before a modeller is made, now and then while it works, when it has ended. */
void nm_placement_enter(void);
void nm_placement_review(struct nm_placement *placement, pthread_t modeller);
void nm_placement_leave(void);

#endif
