/* SPDX-License-Identifier: MIT
 *
 * machine.h - the memory hierarchies to simulate, as lists of levels.
 */
#ifndef NM_MACHINE_H
#define NM_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

enum {
	NM_MAX_DEPTH = 8,   /* levels of one machine */
	NM_MAX_LEVELS = 32, /* of all machines that are simulated side by side */
	NM_MAX_CORES = 256,
	NM_MAX_NODES = 64,
	NM_MAX_TLB = 1 << 20,     /* pages */
	NM_MAX_LATENCY = 1000000, /* cycles */
	NM_MAPPED_THREADS = 256,
};

enum nm_level_side { NM_SIDE_UNIFIED, NM_SIDE_DATA, NM_SIDE_INSTRUCTION };

/* Rows of the table in index.h. */
enum nm_index_kind { NM_INDEX_MODULO, NM_INDEX_XOR, NM_INDEX_PRIME, NM_INDEX_SLICES, NM_INDEX_COUNT };

/* Rows of the table in prefetch.h. */
enum nm_prefetch_kind {
	NM_PREFETCH_NONE,
	NM_PREFETCH_NEXT,
	NM_PREFETCH_STRIDE,
	NM_PREFETCH_STREAM,
	NM_PREFETCH_COUNT
};

struct nm_policy;
struct nm_protocol;

/* A processor's prefetchers (prefetch_coverage.h), as bits. */
enum nm_hw_prefetcher {
	NM_PREFETCHER_PAIR = 1,
	NM_PREFETCHER_STREAM = 2,
	NM_PREFETCHER_STRIDE = 4,
	NM_PREFETCHER_ALL = 7
};
enum { NM_PREFETCHER_KINDS = 3 };

/* Whether each core has a level of its own. */
enum nm_sharing { NM_SHARING_USUAL, NM_SHARED, NM_PRIVATE };

enum nm_inclusion { NM_NON_INCLUSIVE, NM_INCLUSIVE, NM_EXCLUSIVE };

/* Sizes of a TLB's pages. */
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
	/* 0 is the default: LRU, modulo, write-back, write-allocate, non-inclusive. */
	const struct nm_policy *policy; /* of policy.h; NULL: LRU */
	uint64_t seed;                  /* of the policy's random numbers */
	enum nm_index_kind index;
	uint32_t slices; /* of NM_INDEX_SLICES: 2, 4 or 8 */
	int write_through, no_allocate;
	enum nm_sharing sharing;
	enum nm_inclusion inclusion; /* towards the levels whose fills it takes */
	/* TLB: bits 1 << enum nm_page_size of the sizes that it takes; 0: a cache */
	unsigned pages;
	enum nm_page_size
	    huge;        /* TLB: the largest page that its machine uses; set in the machine's first level */
	uint32_t sector; /* bytes that a miss loads, a power of two below line; 0: the whole line */
	enum nm_prefetch_kind prefetch;
	uint32_t degree, distance, table;   /* of the prefetcher; 0: its default */
	int cross_pages;                    /* the prefetcher names lines of other pages too */
	const struct nm_protocol *protocol; /* of protocol.h, in a first level; NULL: none */
	char plugin[200]; /* shared object that places lines, instead of policy and index; "": none */
};

/* Levels are listed from the processor outwards. The first levels of side DATA and INSTRUCTION (or
 * UNIFIED) take the program's references; each later level takes the fills of those before it. Levels whose
 * names have another prefix are another machine, which knows nothing of the first. */
/* Bytes that a level loads at once: its line, or its sector. */
static inline uint32_t nm_level_unit(const struct nm_level_spec *level)
{
	return level->sector ? level->sector : level->line;
}

/* LRU, modulo, write-back, write-allocate, non-inclusive, and neither a TLB nor with sectors or a prefetcher. */
static inline int nm_level_has_default_rules(const struct nm_level_spec *l)
{
	return !l->policy && l->index == NM_INDEX_MODULO && !l->write_through && !l->no_allocate &&
	       l->inclusion == NM_NON_INCLUSIVE && !l->pages && !l->sector && !l->prefetch && !l->plugin[0];
}

struct nm_machine {
	char name[64];         /* "host", a named machine, the SPEC itself, or "SPEC" if that is long */
	char description[160]; /* one line: what it models and where the figures are from */
	struct nm_level_spec levels[NM_MAX_LEVELS];
	unsigned count;
	/* bits of enum nm_hw_prefetcher, of the first of several machines; 0: each miss costs its latency */
	unsigned prefetchers;
	/* pages of 4K that a core's last TLB holds: page walks of loads are counted; 0: they are not */
	unsigned tlb;
	uint32_t walk_latency;   /* cycles of a page walk; 0: unknown */
	uint32_t memory_latency; /* the same, if no level serves it */
	/* NUMA nodes, which the cores are distributed to in order; 0: memory is equally far from all */
	unsigned nodes;
	unsigned cores; /* 0: one */
	int hints;      /* the program's prefetches are simulated; not with policy=opt */
	/* by thread - 1: 1 + its core; 0: threads are dealt out in turn */
	uint16_t core_of[NM_MAPPED_THREADS];
};

/* Parses a SPEC: levels separated by ':', each NAME=SIZE,WAYS,LINE with SIZE in bytes or with a suffix K, M,
 * G, and WAYS a number or "full"; after them key=value, which nearmiss-machines(1) lists, as it does what may
 * follow the last level: prefetchers=, tlb=, walk=, nodes= and memory=. E.g. "L1d=32K,8,64:L2=1M,16,64". A fault
 * is reported with its column. */
int nm_machine_parse(const char *spec, struct nm_machine *ret_machine, struct nm_error *err);

/* The same from a text with one level per line; docs/machine-files.md has the format. `file` is its name in
 * messages. */
int nm_machine_read(const char *text, const char *file, struct nm_machine *ret_machine, struct nm_error *err);

/* Adds a machine to be simulated beside those of `to`. Its levels get its name as a prefix, or a number if
 * the name is taken or unsuitable; levels with prefixes of their own ("small/L1d") keep them. NM_EINVAL: too
 * many levels. */
int nm_machine_join(struct nm_machine *to, const struct nm_machine *machine, struct nm_error *err);

/* Whether two levels belong to one machine, by their names or by SPECs that start with these. */
int nm_machine_same(const char *level, const char *other);

/* Whether level i is the first of its machine. */
int nm_machine_begins(const struct nm_machine *machine, unsigned i);

/* Whether the program's references of a side enter its machine at level i. */
int nm_machine_first(const struct nm_machine *machine, unsigned i, enum nm_level_side side);

/* The first data level that is not a TLB, or NULL. */
const struct nm_level_spec *nm_machine_data_cache(const struct nm_machine *machine);

/* The number of levels between the program and level i, in its machine: 0 for a first one, and for TLBs. */
unsigned nm_machine_depth(const struct nm_machine *machine, unsigned i);

/* Whether level i is private to a core. By default levels of TLBs are, and caches unless they are behind a
 * shared level, or the last of several. */
int nm_machine_private(const struct nm_machine *machine, unsigned i);

/* Sets the number of cores. Machines without a protocol get MESI, unless a level has policy=opt, whose
 * requests must not depend on other levels' contents. */
void nm_machine_set_cores(struct nm_machine *machine, unsigned cores);

/* Takes the levels of fetches away, which nothing references where these are not simulated. */
void nm_machine_drop_fetches(struct nm_machine *machine);

/* The name of the protocol that keeps level i coherent, or NULL; whether level i is filled from memory. */
const char *nm_machine_protocol(const struct nm_machine *machine, unsigned i);
int nm_machine_is_last(const struct nm_machine *machine, unsigned i);

/* The core (0, 1, ...) of a thread (1, 2, ...). */
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

/* 0, or a code for a level that cannot be simulated here: its plug-in cannot be loaded (nm_plugin_open), or
 * it has policy=opt and the references are not `stored`. */
int nm_machine_check_present(const struct nm_machine *machine, int stored, struct nm_error *err);

/* The number of levels with policy=opt on the way to level i; the number of runs that must record before the
 * one that counts: 0 without such levels. */
unsigned nm_machine_opt_before(const struct nm_machine *machine, unsigned i);
unsigned nm_machine_runs_ahead(const struct nm_machine *machine);

/* Named machines: machines[i].name ... until count. (host.h finds the host.) */
const struct nm_machine *nm_machine_table(size_t *ret_count);
const struct nm_machine *nm_machine_named(const char *name); /* or NULL */

#endif
