/* SPDX-License-Identifier: MIT
 *
 * strip.h - leaves out of a stream what hits in all LRU caches that take a machine's references, wherever the areas
 * of memory lie.
 *
 * A line that was touched when fewer than `ways` others of its set have been since is there, so touching it again
 * is a hit. It changes the order of the set, though. So lines are followed in *windows*, so small that nothing
 * replaces a line of the window: of its references those that first touch a line are kept, in order; all others
 * hit. When no further line fits, touches restore the order of those that may share a set, so far as it differs
 * from the order of what was kept; and the latest lines are the start of the next window. Within a window the order
 * matters to nothing: a line that is replaced is none of the window's, as these are the latest.
 *
 * Data or fetches whose first level also takes what misses in one of the other's are all kept: its order is not that
 * of touches.
 *
 * What fits: lines of one area are in one set if their numbers agree modulo the sets, wherever the area lies; lines
 * of two areas may always be. So the sum, over areas, of the most lines that agree is at most the ways.
 *
 * Where areas are shifted by less than a line, *grains* are followed instead, the least shift. The grains of a
 * block as large as a line are then in one line or in two, of neighbouring sets.
 */
#ifndef NM_STRIP_H
#define NM_STRIP_H

#include "lru_misses.h"
#include "vector.h"

enum {
	NM_STRIP_WAYS = 16, /* at most, as NM_STRIP_SETS */
	NM_STRIP_SETS = 64,
	NM_STRIP_GRAINS = 512, /* of a window, at most */
	NM_STRIP_PLACE_BITS = 11
};

/* A grain of the window. */
struct nm_strip_grain {
	uint64_t number; /* twice its number, and 1 if it was fetched: caches of code are others */
	uint64_t kept;   /* when it was touched by a reference that was kept */
	uint32_t area;
	uint16_t earlier,
	    later;        /* in the order of touches; at[0] is behind the latest, and before the first */
	uint16_t place;   /* in `places` */
	uint8_t by_pages; /* of the area */
};

/* The blocks of an area that have grains in the window. */
struct nm_strip_area {
	uint32_t area;
	uint8_t halved; /* a block may be in two lines */
	uint16_t most;  /* lines in one set; */
	uint16_t blocks[NM_STRIP_SETS];
	/* while the order is restored: when the latest was kept, of all and of a set */
	uint64_t last, last_of[NM_STRIP_SETS];
};

struct nm_strip {
	uint8_t is_kept[2];           /* data, fetches: every reference */
	unsigned ways, sets;          /* of the caches; sets: a divisor of theirs */
	unsigned shift, blocks_shift; /* log2 of the bytes of a grain, of the grains of a block */
	unsigned count, needed;       /* grains of the window; the ways that it needs */
	uint64_t clock;               /* touches by references that were kept */
	struct nm_strip_grain at[NM_STRIP_GRAINS + 1];
	uint16_t places[1 << NM_STRIP_PLACE_BITS]; /* by hash: the index of a grain, or 0 */
	struct nm_strip_area areas[NM_STRIP_WAYS];
	unsigned area_count;
	struct nm_vec(struct nm_lru_misses_ref) out;
};

/* Areas are shifted by multiples of `grain` bytes, and grains followed in blocks of `line`: no more than the lines
 * of the machine. Both are powers of two. */
void nm_strip_init(struct nm_strip *strip, const struct nm_machine *machine, unsigned grain, unsigned line);
void nm_strip_done(struct nm_strip *strip);

/* Adds a reference; what is kept goes to strip->out, which the caller empties. 0 or NM_ENOMEM. */
int nm_strip_add(struct nm_strip *strip, const struct nm_lru_misses_ref *ref);

/* Ends the window, so that strip->out brings a cache to the same state. 0 or NM_ENOMEM. */
int nm_strip_flush(struct nm_strip *strip);

#endif
