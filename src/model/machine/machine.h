/* SPDX-License-Identifier: MIT
 *
 * machine.h - what is simulated: the levels of a memory hierarchy.
 */
#ifndef NM_MACHINE_H
#define NM_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

enum {
	NM_MAX_DEPTH = 8,   /* levels of one machine */
	NM_MAX_LEVELS = 32, /* of all that are simulated side by side */
	NM_MAX_CORES = 256,
	NM_MAX_NODES = 64,
	NM_MAPPED_THREADS = 256,
};

enum nm_level_side { NM_SIDE_UNIFIED, NM_SIDE_DATA, NM_SIDE_INSTRUCTION };

/* Rows of index.h. */
enum nm_index_kind { NM_INDEX_MODULO, NM_INDEX_XOR, NM_INDEX_PRIME, NM_INDEX_SLICES, NM_INDEX_COUNT };

/* Rows of prefetch.h. */
enum nm_prefetch_kind {
	NM_PREFETCH_NONE,
	NM_PREFETCH_NEXT,
	NM_PREFETCH_STRIDE,
	NM_PREFETCH_STREAM,
	NM_PREFETCH_COUNT
};

struct nm_policy;
struct nm_protocol;

/* What the prefetchers of a processor see coming (foresight.h): bits. */
enum nm_foresee { NM_FORESEE_PAIR = 1, NM_FORESEE_STREAM = 2, NM_FORESEE_STRIDE = 4, NM_FORESEE_ALL = 7 };
enum { NM_FORESEE_KINDS = 3 };

/* Whether each core has a level of its own, where a machine has several. */
enum nm_sharing { NM_SHARING_USUAL, NM_SHARED, NM_PRIVATE };

enum nm_inclusion { NM_NON_INCLUSIVE, NM_INCLUSIVE, NM_EXCLUSIVE };

/* Of a TLB. */
enum nm_page_size { NM_PAGE_4K, NM_PAGE_2M, NM_PAGE_1G, NM_PAGE_SIZES };
extern const unsigned nm_page_shifts[NM_PAGE_SIZES]; /* log2 of their bytes */

struct nm_level_spec {
	char name[36]; /* "L1d", "L1i", "L2", "L3"; of a further machine, behind its name: "zen3/L2" */
	uint64_t size; /* bytes: sets * ways * line */
	uint32_t ways; /* sets == 1: fully associative */
	uint32_t line; /* bytes, a power of two from 8 to 64... up to 4096; of a TLB its smallest page */
	uint64_t sets; /* any number >= 1 */
	enum nm_level_side side;
	uint32_t latency; /* cycles that a reference waits if this level serves it; 0: unknown */
	/* What is not said is 0: LRU, modulo, write-back, write-allocate, non-inclusive. */
	const struct nm_policy *policy; /* of policy.h; NULL: LRU */
	uint64_t seed;                  /* of what the policy draws */
	enum nm_index_kind index;
	uint32_t slices; /* of NM_INDEX_SLICES: 2, 4 or 8 */
	int write_through, no_allocate;
	enum nm_sharing sharing;
	enum nm_inclusion inclusion; /* towards the levels whose fills it takes */
	unsigned pages;              /* TLB: bits 1 << enum nm_page_size of those that it takes; 0: a cache */
	enum nm_page_size
	    huge;        /* TLB: the largest page that its machine uses, said by the machine's first level */
	uint32_t sector; /* bytes that a miss loads, a power of two below line; 0: the whole line */
	enum nm_prefetch_kind prefetch;
	uint32_t degree, distance, table;   /* of that; 0: as usual with it */
	int cross_pages;                    /* it names lines of other pages too */
	const struct nm_protocol *protocol; /* of protocol.h, of a first level; NULL: not said, none */
	char plugin[200]; /* file that says where lines go, instead of policy and index; "": none */
};

/* Levels are listed from the processor outwards. The first levels of side DATA and INSTRUCTION (or
 * UNIFIED) take the program's references; each later level takes the fills of those before it. Levels whose
 * names have another prefix are another machine, which knows nothing of the first. */
/* Bytes that a level loads at once: what it counts as a line. */
static inline uint32_t nm_level_unit(const struct nm_level_spec *level)
{
	return level->sector ? level->sector : level->line;
}

struct nm_machine {
	char name[64];         /* "host", a named machine, the SPEC itself, or "SPEC" if that is long */
	char description[160]; /* one line: what it models and where the figures are from */
	struct nm_level_spec levels[NM_MAX_LEVELS];
	unsigned count;
	/* enum nm_foresee, of the first of several; 0: nothing, and each miss costs its latency */
	unsigned foresee;
	uint32_t memory_latency; /* the same, if no level does */
	unsigned nodes; /* that the cores are dealt out to, in order; 0: memory is equally far from all */
	unsigned cores; /* 0: one */
	uint16_t core_of[NM_MAPPED_THREADS]; /* by thread - 1: its core + 1; 0: threads take turns */
};

/* Parses a SPEC: levels separated by ':', each NAME=SIZE,WAYS,LINE with SIZE in bytes or with a suffix K, M,
 * G, and WAYS a number or "full"; after them key=value, which nearmiss-machines(1) lists; behind the last
 * level, foresee=pair+stream+stride and memory=CYCLES may stand. E.g. "L1d=32K,8,64:L2=1M,16,64". A fault is
 * reported with its column. */
int nm_machine_parse(const char *spec, struct nm_machine *ret_machine, struct nm_error *err);

/* The same from a text with a level a line; docs/machine-files.md has the format. `file` is what faults call
 * it. */
int nm_machine_read(const char *text, const char *file, struct nm_machine *ret_machine, struct nm_error *err);

/* Adds a machine to simulate beside those of `to`. Its levels get its name as a prefix, or a number if the
 * name is taken or is no name; levels that have prefixes of their own ("small/L1d") keep them. NM_EINVAL: too
 * many levels. */
int nm_machine_join(struct nm_machine *to, const struct nm_machine *machine, struct nm_error *err);

/* Whether two levels are of one machine, by their names, or the SPECs that start with them. */
int nm_machine_same(const char *level, const char *other);

/* Whether the program's references of a side go to level i first, in its machine. */
int nm_machine_first(const struct nm_machine *machine, unsigned i, enum nm_level_side side);

/* The first level of data that is not a TLB; NULL: there is none. */
const struct nm_level_spec *nm_machine_data_cache(const struct nm_machine *machine);

/* How many levels stand between the program and level i, in its machine: 0 for a first one, and for TLBs. */
unsigned nm_machine_depth(const struct nm_machine *machine, unsigned i);

/* Whether each core has level i for itself. Where the level does not say: those of TLBs are, and of caches
 * all but what stands behind a shared level, and the last, if it is not the first too. */
int nm_machine_private(const struct nm_machine *machine, unsigned i);

/* Simulates so many cores. Machines that say no protocol get MESI, unless a level has policy=opt: what it is
 * asked for must not depend on what others do. */
void nm_machine_set_cores(struct nm_machine *machine, unsigned cores);

/* The name of the protocol that keeps level i coherent, or NULL; whether level i asks memory for its
 * fills. */
const char *nm_machine_protocol(const struct nm_machine *machine, unsigned i);
int nm_machine_is_last(const struct nm_machine *machine, unsigned i);

/* The core of a thread; both begin with 1 and 0. */
unsigned nm_machine_core(const struct nm_machine *machine, uint32_t thread);

/* The SPEC that parses to this machine, e.g. for messages and the profile. Returns its length as
 * snprintf does. */
size_t nm_machine_format(const struct nm_machine *machine, char *text, size_t room);

/* "4K+2M"; "" for a cache. */
void nm_pages_format(char *text, size_t room, unsigned pages);

/* "2M", "1G", or NULL: what the machine of level i uses. */
const char *nm_huge_pages_name(const struct nm_machine *machine, unsigned i);

/* 0, or what makes the machine impossible (sizes, zero ways, line sizes that shrink outwards, ...). */
int nm_machine_check(const struct nm_machine *machine, struct nm_error *err);

/* 0, or the level that cannot be simulated: its plug-in cannot be used (nm_plugin_open's codes), or the
 * references are not `stored` but come once, and Belady's policy looks ahead. */
int nm_machine_check_present(const struct nm_machine *machine, int stored, struct nm_error *err);

/* Levels with policy=opt on the way to level i; runs that are needed before one that knows what is to come: 0
 * without such levels. */
unsigned nm_machine_opt_before(const struct nm_machine *machine, unsigned i);
unsigned nm_machine_runs_ahead(const struct nm_machine *machine);

/* Named machines: machines[i].name ... until count. (The host is found by analyze/host.h.) */
const struct nm_machine *nm_machine_table(size_t *ret_count);
const struct nm_machine *nm_machine_named(const char *name); /* or NULL */

#endif
