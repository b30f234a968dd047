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

/* Of one level in all runs. */
struct nm_next_uses;

int nm_oracle_new(struct nm_oracle **ret_oracle, const struct nm_machine *machine, struct nm_error *err);
void nm_oracle_free(struct nm_oracle *oracle);

/* All levels know what is to come: what is simulated now counts. */
int nm_oracle_ready(const struct nm_oracle *oracle);

/* One run is over, all of whose hierarchies are gone, and the next begins. */
void nm_oracle_next_run(struct nm_oracle *oracle);

/* Of the level `level` of a machine that is being made. Hierarchies are made by one thread at a time. NULL if
 * memory is exhausted. */
struct nm_next_uses *nm_oracle_level(struct nm_oracle *oracle, unsigned level);

/* Does the level know? Else its requests are to be noted. */
int nm_next_uses_known(const struct nm_next_uses *next_uses);

/* A request for a line that is not the latest one of its set. 0 or NM_ENOMEM. */
int nm_next_uses_record(struct nm_next_uses *next_uses, uint64_t line);

/* When the line of such a request, the next one of all, is asked for again: a later one has a larger number.
 * Those that never are come behind all others, the earliest last. */
uint64_t nm_next_uses_get(struct nm_next_uses *next_uses);

#endif
