/* SPDX-License-Identifier: MIT
 *
 * placement.h - on which of two processors the decoder and the modeller run.
 *
 * Beside them runs the program under its collector, which nobody may bind: it would see that.  Left alone, Linux often
 * has both on one processor, in turns, while the program keeps the other busy.  Bound apart, each with its share of the
 * program's time, they overlap: 5 to 15 % of a recording where the decoder has more to do than the modeller (perl,
 * troff, mawk).  Where the modeller has more to do, the program that comes to its processor delays it, up to 15 % (xz,
 * gzip): then both are left alone.  So what the two have needed lately decides, again and again.
 */
#ifndef NM_PLACEMENT_H
#define NM_PLACEMENT_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

struct nm_placement {
	cpu_set_t allowed;          /* both processors */
	int possible;               /* there are two; */
	int apart;                  /* and each thread is bound to one of them */
	uint64_t decoder, modeller; /* CPU time of each until the latest review, ns */
};

/* Whether the two are to be apart, which they are or are not now, after they took so much time. */
static inline int nm_placement_wants(int apart, int alone, uint64_t decoder, uint64_t modeller)
{
	return alone && (apart ? decoder >= modeller - modeller / 8 : decoder > modeller + modeller / 8);
}

/* To be called by the decoder.  alone: there is no other modeller in the process. */
void nm_placement_begin(struct nm_placement *placement);
void nm_placement_review(struct nm_placement *placement, pthread_t modeller, int alone);
void nm_placement_end(struct nm_placement *placement);

#endif
