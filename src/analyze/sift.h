/* SPDX-License-Identifier: MIT
 *
 * sift.h - picks events of a hierarchy (monitor.h) and keeps what was asked for of them: counts, histograms,
 * the residencies of one line, or one event by its number.
 *
 * Who made an event, and what data it befell, is known as attribution keys while the program runs; their
 * names are known at the end.  So events are picked by kind, level and address as they come, and what is
 * kept is kept by attribution key where names will pick from it later.  Memory follows the number of places
 * and attribution keys, and of residencies that were asked for, never the length of the run.
 */
#ifndef NM_SIFT_H
#define NM_SIFT_H

#include <stddef.h>
#include <stdint.h>

#include "hierarchy.h"
#include "monitor.h"

enum nm_sift_mode {
	NM_SIFT_COUNT,       /* rows of one place, 0 */
	NM_SIFT_GRANULES,    /* a place is the first byte of 1 << shift of them */
	NM_SIFT_SETS,        /* a place is a set */
	NM_SIFT_RESIDENCIES, /* what came between loads and replacements of a line */
	NM_SIFT_NTH          /* one event */
};

struct nm_sift_request {
	enum nm_sift_mode mode;
	uint8_t kinds[NM_MAX_LEVELS]; /* of a level, bits 1 << enum nm_event_kind; RESIDENCIES needs all */
	uint64_t low,
	    end;     /* events that touch bytes of [low, end); replacements and prefetches: of the line */
	int serving; /* only what ends an access to a line: hits, and loads at a last level, of NM_MAX_LEVELS */
	int by_attr; /* keep the rows of all attribution keys apart; else a row has the attribution keys of its first event */
	int of_objects; /* a profile adds rows up over code: who, not where */
	unsigned shift;
	uint64_t address; /* RESIDENCIES: of a byte of the line */
	uint64_t limit;   /* RESIDENCIES: keep so many at most, the first ones */
	uint64_t nth;     /* NTH: 1 is the first */
};

struct nm_sift_row {
	uint64_t place, count;
	uint32_t attr, victim; /* victim: of replacements, else 0 */
	uint8_t kind, level;   /* NM_MAX_LEVELS: memory, if only what serves was asked for */
};

struct nm_sift_residency {
	uint64_t loaded, left;  /* number of the reference that loaded it, that pushed it out (0: none did) */
	uint64_t hits;          /* between them */
	uint64_t address, push; /* that those references touched */
	uint32_t loader, evictor;
	uint8_t level, core; /* as in events */
};

struct nm_sifted {
	const struct nm_sift_request *request; /* NULL: nothing was asked for */
	struct nm_sift_row *rows;              /* in the order of their first events */
	size_t row_count;
	struct nm_sift_residency *residencies; /* in the order of their loads */
	size_t residency_count;
	uint64_t total;        /* residencies, or events of NTH, that there were */
	struct nm_event at;    /* the n-th, if total reached it */
	uint64_t instructions; /* executed by then, that of its reference included */
};

struct nm_sift;

/* Asks for what every set of every level loads and replaces, and for which objects. */
void nm_sift_sets(struct nm_sift_request *ret_request, const struct nm_machine *machine);

/* The request stays the caller's, and must outlive the sift and what is taken of it.  0 or NM_ENOMEM. */
int nm_sift_new(struct nm_sift **ret_sift, const struct nm_sift_request *request,
		const struct nm_machine *machine);
void nm_sift_free(struct nm_sift *sift);

/* Has the hierarchy, before its first batch, tell the sift. */
void nm_sift_watch(struct nm_sift *sift, struct nm_hierarchy *hierarchy);

/* NTH: the number of the reference that made the event, 0 until it has come; tells how many instructions had
 * been executed by then. */
uint64_t nm_sift_reference(const struct nm_sift *sift);
void nm_sift_date(struct nm_sift *sift, uint64_t instructions);

/* Hands over what was kept; the caller frees rows and stays.  0 or NM_ENOMEM: it is not all. */
int nm_sift_take(struct nm_sift *sift, struct nm_sifted *ret_sifted);

#endif
