/* SPDX-License-Identifier: MIT
 *
 * foresight.h - what levels with policy=opt know of the references to come.
 *
 * A stored stream is simulated more than once.  In an early run such a level notes which lines it is asked for, and in
 * all later ones it is told, at each request, when the line is asked for next.  What a level is asked for does not
 * depend on what it holds (machine.c refuses levels where it would), but on the levels before it: so those with
 * policy=opt must know the future before the next one can note its own.  Levels are made in the same order in each
 * run, and that is how they find what they noted.
 */
#ifndef NM_FORESIGHT_H
#define NM_FORESIGHT_H

#include <stdint.h>

#include "machine.h"

struct nm_foresight;

/* Of one level in all runs. */
struct nm_future;

int nm_foresight_new(struct nm_foresight **ret_foresight, const struct nm_machine *machine,
		     struct nm_error *err);
void nm_foresight_free(struct nm_foresight *foresight);

/* All levels know what is to come: what is simulated now counts. */
int nm_foresight_ready(const struct nm_foresight *foresight);

/* One run is over, all of whose hierarchies are gone, and the next begins. */
void nm_foresight_turn(struct nm_foresight *foresight);

/* Of the level `level` of a machine that is being made.  Hierarchies are made by one thread at a time.  NULL if
 * memory is exhausted. */
struct nm_future *nm_foresight_take(struct nm_foresight *foresight, unsigned level);

/* Does the level know?  Else its requests are to be noted. */
int nm_future_told(const struct nm_future *future);

/* A request for a line that is not the latest one of its set.  0 or NM_ENOMEM. */
int nm_future_note(struct nm_future *future, uint64_t line);

/* When the line of such a request, the next one of all, is asked for again: a later one has a larger number.  Those that
 * never are come behind all others, the earliest last. */
uint64_t nm_future_next(struct nm_future *future);

#endif
