/* SPDX-License-Identifier: MIT
 *
 * visit_log.h - how a program visits the elements of one structure: a short form of its references, against which many
 * layouts of the structure can be simulated.
 *
 * A *visit* is references to one element, with none to another between them: which of its units were used. A *unit* is
 * a member, or 64 bytes of a longer one. Of all other references those are kept that miss a small direct-mapped filter,
 * so that they take their room in the caches. When the log is full, every second chunk of it goes, and from then on
 * every second one is left out: what stays is spread over the run.
 */
#ifndef NM_VISIT_LOG_H
#define NM_VISIT_LOG_H

#include "element_map.h"

enum { NM_VISIT_UNITS = 64, NM_VISIT_FILTER = 512 /* lines */ };

struct nm_visit_unit {
	uint32_t member;        /* index in the map */
	uint64_t offset, bytes; /* in it */
	uint64_t visits;        /* in which it was used */
};

/* A visit, or (units 0) another reference. */
struct nm_visit {
	uint64_t low, units; /* where its array or block begins; the address. A bit for each unit */
	uint32_t element, key;
};

struct nm_visit_log {
	const char *structure;     /* its name, as a transformation has it; set by the caller, as the next */
	size_t limit;              /* visits that are kept, a multiple of NM_VISIT_CHUNK */
	struct nm_type type;       /* a copy; without a name: it was not accessed */
	struct nm_element_map map; /* of the structure as it is */
	struct nm_vec(struct nm_field) fields;
	struct nm_vec(struct nm_visit_unit) units;
	struct nm_vec(struct nm_visit) visits;
	int is_array;    /* some block holds several elements */
	uint64_t seen;   /* visits and other references, */
	unsigned period; /* log2: of so many chunks one is kept */
	struct nm_visit open;
	int has_left_out; /* there are more units */
	uint64_t filter[NM_VISIT_FILTER];
	struct nm_strings names;
};

enum { NM_VISIT_CHUNK = 1 << 12 };

void nm_visit_log_init(struct nm_visit_log *log, const char *structure, size_t limit);
void nm_visit_log_done(struct nm_visit_log *log);

/* The structure was met: copies it, the first time. */
int nm_visit_log_set_type(struct nm_visit_log *log, const struct nm_type *type);

/* Some bytes of an element of the block at `low` were referenced, at an offset in the element; or other memory was. Key
 * tells places in the program apart. 0 or NM_ENOMEM. */
int nm_visit_log_add(struct nm_visit_log *log, uint64_t low, uint32_t element, uint64_t offset,
		     uint32_t bytes, uint32_t key);
int nm_visit_log_add_other(struct nm_visit_log *log, uint64_t address, uint32_t key);
int nm_visit_log_end(struct nm_visit_log *log); /* there is nothing more */

/* Visits in which two members were used, of both or of one. */
uint64_t nm_visit_log_affinity(const struct nm_visit_log *log, uint32_t member, uint32_t other);

#endif
