/* SPDX-License-Identifier: MIT
 *
 * regions.h - the regions of a run that the program names (NEARMISS_REGION_BEGIN), and lanes.
 *
 * A region is a node of a tree: a name below the region in which it begins; 0, the root, is outside of all. A
 * name that a region or one around it has leads back to that region, so recursion makes no new ones. What is
 * executed counts for the innermost open region of its thread. An end closes the innermost open region of that
 * name with all that is open within it; one without a beginning changes nothing. Threads start outside of all.
 *
 * Where the run is counted by phase (phase_plan.h), a region has a copy for each phase but the first, which is
 * what counts while the phase lasts. Open regions are those of the first.
 *
 * A *lane* is a thread in a region. Attribution keys are of (lane, site, object), and each lane has decoded
 * blocks of its own, as if it were a thread: the hot path does not know of regions. Once there are
 * NM_REGIONS_MAX, or no more lanes, further ones count for what is around them.
 */
#ifndef NM_REGIONS_H
#define NM_REGIONS_H

#include <stdint.h>

#include "attribution.h"
#include "map.h"
#include "vector.h"

enum { NM_REGIONS_MAX = 1 << 12 };

struct nm_region {
	uint32_t parent;
	const char *name, *path; /* interned: "forces", "step/forces" */
	uint64_t entries;
	uint64_t instructions; /* measured ones, of all threads */
	uint32_t phase;        /* of which this is the copy */
};

struct nm_lane_of {
	uint32_t thread, region;
};

struct nm_open_region {
	uint32_t region;
	const char *name;
};

/* Those that a thread has open, the innermost last. */
struct nm_open_regions nm_vec(struct nm_open_region);

struct nm_regions {
	struct nm_vec(struct nm_region) list;   /* [0] is the root */
	struct nm_vec(struct nm_lane_of) lanes; /* [0] is unused */
	struct nm_map children;                 /* (region, number of the name) -> region */
	struct nm_map names;                    /* its address -> its number */
	struct nm_map copies;                   /* (phase, region) -> its copy */
	uint32_t current;                       /* that of the running thread */
	uint64_t since;                         /* instructions that had counted when it became that */
};

int nm_regions_init(struct nm_regions *regions);
void nm_regions_done(struct nm_regions *regions);

/* Copies the regions of a process for its forked child, without counts. 0 or NM_ENOMEM. */
int nm_regions_copy(struct nm_regions *regions, const struct nm_regions *from);

/* Opens a region of an interned name. symbols: interns the path of a new one. 0 or NM_ENOMEM. */
int nm_regions_begin(struct nm_regions *regions, struct nm_open_regions *open, struct nm_symbols *symbols,
		     const char *name);

/* Closes a region. Returns whether one of that name was open. */
int nm_regions_end(struct nm_open_regions *open, const char *name);

/* The copy of a region in a phase, made if it is new. 0 or NM_ENOMEM. */
int nm_regions_in_phase(struct nm_regions *regions, uint32_t region, uint32_t phase, uint32_t *ret_copy);

static inline uint32_t nm_regions_innermost(const struct nm_open_regions *open)
{
	return open->count ? open->at[open->count - 1].region : 0;
}

/* From here on a thread in this region runs; the instructions up to now are those of the one before. */
static inline void nm_regions_run(struct nm_regions *regions, uint32_t region, uint64_t instructions)
{
	regions->list.at[regions->current].instructions += instructions - regions->since;
	regions->since = instructions;
	regions->current = region;
}

/* Numbers a lane; of a region that has no room, 0: use the thread's first one. Threads without room share the
 * last number. 0 or NM_ENOMEM. */
int nm_regions_lane(struct nm_regions *regions, uint32_t thread, uint32_t region, uint32_t *ret_lane);

#endif
