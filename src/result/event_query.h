/* SPDX-License-Identifier: MIT
 *
 * event_query.h - queries for single events of the simulated caches (monitor.h), and their answers: counts,
 * histograms, the residencies of one line, or single events in their order.
 *
 * The event filter of the analysis answers a query. Memory grows with the number of distinct rows, and of
 * residencies or events asked for, never with the length of the run.
 */
#ifndef NM_EVENT_QUERY_H
#define NM_EVENT_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include "machine.h"
#include "monitor.h"

struct nm_slice;

enum nm_event_query_mode {
	NM_QUERY_COUNT,       /* one row per level and kind; `at` is 0 */
	NM_QUERY_GRANULES,    /* `at` is the first of 1 << shift bytes */
	NM_QUERY_SETS,        /* `at` is a set */
	NM_QUERY_RESIDENCIES, /* what happened between loads and replacements of one line */
	NM_QUERY_LOG          /* single events; with by_attr also their counts, as COUNT */
};

struct nm_event_query {
	enum nm_event_query_mode mode;
	uint8_t kinds[NM_MAX_LEVELS]; /* by level: bits 1 << enum nm_event_kind; RESIDENCIES needs all */
	uint64_t low,
	    /* events that touch bytes of [low, end); for replacements and prefetches, with their line */
	    end;
	/* only the event that ends an access to a line: a hit, or the load at the last level, which then has
	 * level NM_MAX_LEVELS */
	int serving;
	int of_set; /* only events of this set of their cache: */
	uint64_t set;
	int by_attr;    /* one row per attribution key; else a row shows the keys of its first event */
	int of_objects; /* the profile sums rows up by object, not by site */
	const struct nm_slice *slice; /* or NULL: only events in this slice of an array; */
	const char *object;           /* as it was written */
	unsigned shift;
	uint64_t address; /* RESIDENCIES: any byte of the line */
	uint64_t limit;   /* RESIDENCIES: keep at most this many, the first ones; LOG: */
	/* keep this many behind the first `skip`. With by_attr, of each row the first skip + limit: whatever is
	 * picked by name among all, its first skip + limit are there. */
	uint64_t skip;
};

/* How many events of a log, or of each of its rows, come before the last one that is kept. */
static inline uint64_t nm_event_query_end(const struct nm_event_query *q)
{
	return q->limit > UINT64_MAX - q->skip ? UINT64_MAX : q->skip + q->limit;
}

struct nm_event_row {
	uint64_t place, count;
	uint32_t attr, victim; /* indices of result attributions; victim: of replacements, else 0 */
	uint8_t kind, level;   /* level NM_MAX_LEVELS: memory (`serving`) */
};

struct nm_event_residency {
	uint64_t loaded, left;    /* numbers of the references that loaded and evicted it (0: it stayed) */
	uint64_t hits;            /* between them */
	uint64_t address, push;   /* addresses of those two references */
	uint32_t loader, evictor; /* indices of result attributions */
	uint16_t core;            /* as in events; cause: why it ended */
	uint8_t level, cause;
};

/* An event of a log. */
struct nm_logged_event {
	struct nm_event at;    /* with indices of result attributions */
	uint64_t instructions; /* executed up to and including its reference */
	const char *field;     /* of the object, that the reference touches; NULL: unknown or none */
};

/* The answer to a query. */
struct nm_filtered_events {
	const struct nm_event_query *query; /* borrowed; NULL: nothing was asked for */
	struct nm_event_row *rows;          /* owned; in the order of their first events */
	size_t row_count;
	struct nm_event_residency *residencies; /* owned; in the order of their loads */
	size_t residency_count;
	struct nm_logged_event *logged; /* owned; in their order */
	size_t logged_count;
	uint64_t total;    /* residencies (RESIDENCIES) or matching events (LOG) in the whole run */
	uint8_t slice_fit; /* enum nm_slice_fit: how well the slice fits the objects of its name */
};

/* Makes the query of `report sets`: loads and replacements of every set of every level, by object. */
void nm_event_query_sets(struct nm_event_query *ret_query, const struct nm_machine *machine);

#endif
