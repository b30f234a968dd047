/* SPDX-License-Identifier: MIT
 *
 * strip.h - leaves out of a stream what hits in every LRU cache of at least so many ways, whatever its sets.
 *
 * A line that was touched when fewer than `ways` others have been since is in its set, so touching it again is
 * a hit. It changes the order of the set, though. So lines are followed in *windows*, each of at most `ways`
 * lines: of a window's references those that first touch a line are kept, in order; all others hit. When the
 * window is full, touches restore the order of the last ones, so far as that differs from the order of what was
 * kept; and the latest lines are the start of the next window. Within a window the order matters to nothing: a
 * line that is replaced is none of the window's, as these are the latest.
 *
 * The shorter the lines that are followed, the fewer are left out; longer lines of a cache are no problem.
 */
#ifndef NM_STRIP_H
#define NM_STRIP_H

#include "lru_misses.h"
#include "vector.h"

enum { NM_STRIP_MOST = 16 };

struct nm_strip {
	unsigned ways, keep, shift; /* keep: lines that the next window starts with */
	unsigned count;
	uint64_t clock; /* touches by references that were kept */
	struct {
		uint64_t line; /* its number, twice, and 1 if it was fetched: caches of code are others */
		uint64_t kept; /* when it was touched by a reference that was kept */
		uint32_t area;
	} at[NM_STRIP_MOST]; /* the latest touch first */
	struct nm_vec(struct nm_lru_misses_ref) out;
};

/* line: bytes, a power of two. */
void nm_strip_init(struct nm_strip *strip, unsigned ways, unsigned line);
void nm_strip_done(struct nm_strip *strip);

/* Adds a reference; what is kept goes to strip->out, which the caller empties. 0 or NM_ENOMEM. */
int nm_strip_add(struct nm_strip *strip, const struct nm_lru_misses_ref *ref);

/* Ends the window, so that strip->out brings a cache to the same state. 0 or NM_ENOMEM. */
int nm_strip_flush(struct nm_strip *strip);

#endif
