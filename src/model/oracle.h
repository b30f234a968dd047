/* SPDX-License-Identifier: MIT
 *
 * oracle.h - the future references that levels with policy=opt know.
 *
 * A stored stream is simulated several times. In an early run such a level records the lines requested from
 * it; in later runs it looks up, at each request, when the line is requested next. The requests do not depend
 * on the level's own contents (machine.c refuses levels where they would), but on the levels before it: so if
 * several levels have policy=opt, inner ones record before outer ones. Levels are built in the same order in
 * each run, which is how they find their records.
 */
#ifndef NM_ORACLE_H
#define NM_ORACLE_H

#include <stdint.h>

#include "machine.h"

struct nm_oracle;

/* The requests of one level, over all runs. */
struct nm_next_uses;

int nm_oracle_new(struct nm_oracle **ret_oracle, const struct nm_machine *machine, struct nm_error *err);
void nm_oracle_free(struct nm_oracle *oracle);

/* Whether all levels know their next uses: the next run is the one that counts. */
int nm_oracle_ready(const struct nm_oracle *oracle);

/* Begins the next run; the hierarchies of the last one have been freed. */
void nm_oracle_next_run(struct nm_oracle *oracle);

/* The next uses of a level of a hierarchy that is being built. Only one thread may build hierarchies. NULL:
 * out of memory. */
struct nm_next_uses *nm_oracle_level(struct nm_oracle *oracle, unsigned level);

/* Whether the level knows its next uses; if not, its requests must be recorded. */
int nm_next_uses_known(const struct nm_next_uses *next_uses);

/* Records a request for a line that is not the latest one of its set. 0 or NM_ENOMEM. */
int nm_next_uses_record(struct nm_next_uses *next_uses, uint64_t line);

/* For the next such request: when its line is requested again; a larger number is later. Lines that never are
 * come last, the earliest request of them latest. */
uint64_t nm_next_uses_get(struct nm_next_uses *next_uses);

#endif
