/* SPDX-License-Identifier: MIT
 *
 * window.h - the part of a run that counts: from one position to another, of what each process has executed
 * itself. Outside of it references move lines but do not count, as while the program has switched measuring
 * off.
 *
 * A window begins and ends in front of the first block of code at or behind the position. So windows that meet
 * add up to the whole run.
 */
#ifndef NM_WINDOW_H
#define NM_WINDOW_H

#include <stdint.h>

enum nm_position_unit {
	NM_POSITION_NONE, /* the beginning, or the end, of the run */
	NM_POSITION_INSTRUCTIONS,
	NM_POSITION_REFERENCES
};

struct nm_run_position {
	enum nm_position_unit unit;
	uint64_t at;
};

struct nm_run_window {
	struct nm_run_position from, until;
};

/* Whether a position is reached when so much has been executed. */
static inline int nm_position_reached(const struct nm_run_position *p, uint64_t instructions,
				      uint64_t references)
{
	return (p->unit == NM_POSITION_INSTRUCTIONS && instructions >= p->at) ||
	       (p->unit == NM_POSITION_REFERENCES && references >= p->at);
}

#endif
