/* SPDX-License-Identifier: MIT
 *
 * nearmiss.h - the library: simulate caches on references of your own, and read profiles.
 *
 *     struct nearmiss_error err;
 *     struct nearmiss_machine *machine;
 *     struct nearmiss_hierarchy *caches;
 *
 *     nearmiss_machine_parse("L1d=32K,8,64:L2=1M,16,64", &machine, &err);
 *     nearmiss_hierarchy_new(machine, &caches, &err);
 *     nearmiss_feed(caches, (uintptr_t)&a[i], sizeof a[i], NEARMISS_READ, 0);    for each reference
 *     nearmiss_finish(caches);
 *     printf("%" PRIu64 "\n", nearmiss_total(caches, 0, NEARMISS_READ_MISSES));
 *
 * docs/howto/library.md is the guide, examples/simulate.c, examples/wrapper_probe.c and
 * examples/misses_by_object.py are whole programs.
 *
 * Errors.  A function that can fail returns 0 or more on success and a negative enum nearmiss_code on
 * failure, and tells the story in *err, which may be NULL.  Its ret_ parameters are left alone then.  The
 * library never prints, exits or aborts because of what it is given.
 *
 * Ownership.  What a function of the name _new, _parse, _named, _open or _query hands out belongs to the
 * caller, who gives it back to the _free or _close of its type; these take NULL.  Texts belong to the object
 * that they were asked of.
 *
 * Threads.  The library has no state of its own.  Different objects may be used by different threads at the
 * same time, one object by one thread at a time.
 *
 * Stability.  Types are opaque; values of enumerations and struct nearmiss_error stay as they are, and new
 * values are added at the end; so are new members of struct nearmiss_event, which the library alone makes. 
 * What is here stays until the number behind libnearmiss.so rises.
 */
#ifndef NEARMISS_NEARMISS_H
#define NEARMISS_NEARMISS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NEARMISS_PUBLIC __attribute__((visibility("default")))
#else
#define NEARMISS_PUBLIC
#endif

/* Errors */

enum nearmiss_code {
	NEARMISS_OK = 0,
	NEARMISS_ENOMEM = -1,   /* memory is exhausted */
	NEARMISS_EIO = -2,      /* the operating system refused; the text says what it said */
	NEARMISS_ENOSPC = -3,   /* the disk is full */
	NEARMISS_EFORMAT = -4,  /* a file is damaged or is not what it should be */
	NEARMISS_EVERSION = -5, /* a file was written by a newer version */
	NEARMISS_EINVAL = -6,   /* a request that makes no sense: SPEC, SQL, size, order of calls */
	NEARMISS_ENOENT = -7,   /* a file or name that is not there */
	NEARMISS_EACCES = -8,   /* permission denied */
	NEARMISS_EPLUGIN = -9   /* a plug-in (nearmiss/plugin.h) broke its promises */
};

struct nearmiss_error {
	int code;       /* enum nearmiss_code */
	int column;     /* where in the SPEC or SQL that was given the fault starts, from 0; -1: nowhere */
	char text[480]; /* one sentence, UTF-8, without a final full stop */
};

/* The version of the library, e.g. "0.1.0". */
NEARMISS_PUBLIC const char *nearmiss_version(void);

/* Machines: what is simulated */

struct nearmiss_machine;

/* From a SPEC as in nearmiss-machines(1): levels from the processor outwards. */
NEARMISS_PUBLIC int nearmiss_machine_parse(const char *spec, struct nearmiss_machine **ret_machine,
					   struct nearmiss_error *err);
/* One that `nearmiss machines` lists; "host" is the machine that this runs on.  NEARMISS_ENOENT: there is
 * none. */
NEARMISS_PUBLIC int nearmiss_machine_named(const char *name, struct nearmiss_machine **ret_machine,
					   struct nearmiss_error *err);
NEARMISS_PUBLIC void nearmiss_machine_free(struct nearmiss_machine *machine);

/* The SPEC that parses to this machine. */
NEARMISS_PUBLIC const char *nearmiss_machine_spec(const struct nearmiss_machine *machine);

/* Its levels, numbered from 0 in the order of the SPEC. */
NEARMISS_PUBLIC unsigned nearmiss_machine_levels(const struct nearmiss_machine *machine);
NEARMISS_PUBLIC const char *nearmiss_level_name(const struct nearmiss_machine *machine, unsigned level);

enum nearmiss_property {
	NEARMISS_SIZE,  /* bytes */
	NEARMISS_WAYS,  /* lines a set */
	NEARMISS_LINE,  /* bytes a line, a power of two */
	NEARMISS_SETS,  /* 1: fully associative */
	NEARMISS_SECTOR /* bytes loaded at once: the line, where a level has no sectors */
};

/* 0 for a level or a property that is not there. */
NEARMISS_PUBLIC uint64_t nearmiss_level_property(const struct nearmiss_machine *machine, unsigned level,
						 enum nearmiss_property property);

/* Simulation */

struct nearmiss_hierarchy;

enum nearmiss_kind { NEARMISS_READ = 0, NEARMISS_WRITE = 1, NEARMISS_FETCH = 2 };

enum { NEARMISS_SIZE_MAX = 65535, NEARMISS_TAG_MAX = (1 << 24) - 1 };

/* Cold caches.  The machine is not needed any more afterwards.  A level takes about 100 bytes a line. */
NEARMISS_PUBLIC int nearmiss_hierarchy_new(const struct nearmiss_machine *machine,
					   struct nearmiss_hierarchy **ret_hierarchy,
					   struct nearmiss_error *err);
NEARMISS_PUBLIC void nearmiss_hierarchy_free(struct nearmiss_hierarchy *hierarchy);

/* One reference: `size` bytes from `address` on are read, written or, as one instruction, fetched.  It is
 * one reference also if it spans lines; a level loads each of these.  Reads and writes enter at the first
 * level for data or for both, fetches at the first for instructions or for both; a machine without one
 * ignores them.
 *
 * `tag` is yours: all counts can be had for each tag, e.g. an array or a line of code.  Tags are indices of
 * tables, which take about 150 bytes a level for each from 0 to the largest: number them densely.
 *
 * NEARMISS_EINVAL: size 0 or above NEARMISS_SIZE_MAX, tag above NEARMISS_TAG_MAX, a reference beyond the end
 * of the address space, or one after nearmiss_finish; nothing is counted then.  NEARMISS_ENOMEM: the
 * simulation is over; NEARMISS_EPLUGIN is that, too: a plug-in named a place that is not there.  References
 * are handed on in batches: what is wrong with one may be told at a later call. */
NEARMISS_PUBLIC int nearmiss_feed(struct nearmiss_hierarchy *hierarchy, uint64_t address, uint32_t size,
				  enum nearmiss_kind kind, uint32_t tag);

/* The end of the references: lines that are still there are settled.  May be called again.  Fails as
 * nearmiss_feed. */
NEARMISS_PUBLIC int nearmiss_finish(struct nearmiss_hierarchy *hierarchy);

/* Counts of a level, named as the columns of the view `counts` of a profile (docs/format/profile.md). */
enum nearmiss_figure {
	NEARMISS_READS, /* references to this level: of the program, or fills of the level above; fetches too */
	NEARMISS_WRITES, /* the same for writes */
	NEARMISS_READ_MISSES,
	NEARMISS_WRITE_MISSES,
	NEARMISS_COLD,         /* loads of lines never loaded before */
	NEARMISS_CAPACITY,     /* loads that a fully associative LRU cache of the size would need too */
	NEARMISS_CONFLICT,     /* the other loads */
	NEARMISS_LOADS,        /* lines filled; more than misses where references span lines */
	NEARMISS_REUSE,        /* accesses served by lines that the tag loaded, the loading ones included */
	NEARMISS_USED_BYTES,   /* bytes touched of lines that the tag loaded */
	NEARMISS_LOADED_BYTES, /* bytes of these lines */
	NEARMISS_EVICTIONS,    /* lines that the tag loaded and others replaced */
	NEARMISS_WRITEBACKS,   /* of these, those that had been written to */
	NEARMISS_SECTOR_MISSES, /* loads of a sector whose line was there; with sectors, loads and evictions are theirs */
	/* Of prefetches that references of the tag caused (docs/models.md): */
	NEARMISS_PREFETCHES,   /* lines loaded, beside NEARMISS_LOADS */
	NEARMISS_USEFUL,       /* of these, used before they left */
	NEARMISS_LATE_EVICTED, /* of the others, asked for soon after they had left */
	NEARMISS_POLLUTION,    /* conflict misses on lines that they had pushed out */
	NEARMISS_FIGURES       /* how many there are in this header */
};

/* "reads", "read_misses", ...; NULL for a figure that is not known. */
NEARMISS_PUBLIC const char *nearmiss_figure_name(enum nearmiss_figure figure);

/* A count for all tags, and for one; 0 for a level, tag or figure that is not there.  Before
 * nearmiss_finish, reuse and used bytes are those of lines that have left. */
NEARMISS_PUBLIC uint64_t nearmiss_total(struct nearmiss_hierarchy *hierarchy, unsigned level,
					enum nearmiss_figure figure);
NEARMISS_PUBLIC uint64_t nearmiss_count(struct nearmiss_hierarchy *hierarchy, unsigned level, uint32_t tag,
					enum nearmiss_figure figure);

/* 1 + the largest tag that was fed; 0 if none was. */
NEARMISS_PUBLIC uint32_t nearmiss_tags(const struct nearmiss_hierarchy *hierarchy);

/* `count` times a load for tag `evictor`, or a prefetch that it caused, replaced a line that tag `victim`
 * had loaded. */
struct nearmiss_eviction {
	uint32_t evictor, victim;
	uint64_t count;
};

/* Who replaced whom at a level: an array of *ret_count elements, most frequent first, equal ones by tags. 
 * It belongs to the hierarchy and lasts until the next call or its end.  After nearmiss_finish only: else
 * NEARMISS_EINVAL. */
NEARMISS_PUBLIC int nearmiss_evictions(struct nearmiss_hierarchy *hierarchy, unsigned level,
				       const struct nearmiss_eviction **ret_list, size_t *ret_count);

/* Watching: single events */

enum nearmiss_event_kind {
	NEARMISS_HIT,        /* a line that is asked for is there */
	NEARMISS_MISS,       /* it is not: once for each reference or fill, however many lines it spans */
	NEARMISS_LOAD,       /* a line is put into the level */
	NEARMISS_REPLACE,    /* a line leaves the level, before the load that it makes room for */
	NEARMISS_INVALIDATE, /* a line leaves the level because an inclusive level behind it has lost it */
	NEARMISS_PREFETCH /* a line is put into the level that was not asked for, after the reference that caused it */
};

struct nearmiss_event {
	enum nearmiss_event_kind kind;
	unsigned level;
	uint64_t
	    reference;    /* the call of nearmiss_feed that it belongs to: 1 is the first that was accepted */
	uint64_t address; /* first byte that this references in the line of its first level */
	uint32_t size;    /* bytes that it references there */
	uint32_t tag;     /* its tag */
	uint64_t line,
	    set; /* first byte and set of the line that is hit, missed, loaded, prefetched or leaves */
	uint32_t victim; /* of a line that leaves: tag of the reference that had loaded it; else 0 */
};

typedef void nearmiss_event_function(void *self, const struct nearmiss_event *event);

/* Has `function` told of every event, in order; at each level of a miss first that level's events, then
 * those of the next.  NEARMISS_EINVAL after the first reference: who has not asked by then pays nothing for
 * it.  References are handed on in batches, so events are told during later calls too, at the latest by
 * nearmiss_finish; the function must not use the hierarchy.  Lines that are there at the end are not
 * replaced. */
NEARMISS_PUBLIC int nearmiss_watch(struct nearmiss_hierarchy *hierarchy, nearmiss_event_function *function,
				   void *self);

/* Profiles: what `nearmiss record` wrote */

struct nearmiss_profile;
struct nearmiss_rows; /* a query and the row that it stands on */

/* Read-only, never waits for a lock. */
NEARMISS_PUBLIC int nearmiss_profile_open(const char *path, struct nearmiss_profile **ret_profile,
					  struct nearmiss_error *err);
/* After all its queries are freed. */
NEARMISS_PUBLIC void nearmiss_profile_close(struct nearmiss_profile *profile);

/* Whether it has a view of that name: 1 or 0.  Profiles of older versions have fewer. */
NEARMISS_PUBLIC int nearmiss_profile_has(struct nearmiss_profile *profile, const char *view,
					 struct nearmiss_error *err);

/* One statement of SQL over the views of docs/format/profile.md, which are a promise.  Statements that would
 * write are refused.  Parameters ?1, ?2, ... are NULL until bound, which is done before the first row; a
 * text must live as long as the query. */
NEARMISS_PUBLIC int nearmiss_query(struct nearmiss_profile *profile, const char *sql,
				   struct nearmiss_rows **ret_rows, struct nearmiss_error *err);
NEARMISS_PUBLIC void nearmiss_bind_text(struct nearmiss_rows *rows, int parameter, const char *text);
NEARMISS_PUBLIC void nearmiss_bind_integer(struct nearmiss_rows *rows, int parameter, int64_t value);
NEARMISS_PUBLIC void nearmiss_rows_free(struct nearmiss_rows *rows);

/* Steps to the next row: 1, or 0 after the last. */
NEARMISS_PUBLIC int nearmiss_next(struct nearmiss_rows *rows, struct nearmiss_error *err);

/* Columns, from 0. */
NEARMISS_PUBLIC unsigned nearmiss_columns(const struct nearmiss_rows *rows);
NEARMISS_PUBLIC const char *nearmiss_column_name(const struct nearmiss_rows *rows, unsigned column);

enum nearmiss_type { NEARMISS_NULL, NEARMISS_INTEGER, NEARMISS_REAL, NEARMISS_TEXT };

/* The values of the row.  Each can be asked for as any type; NULL is NULL, 0 and 0.0.  Texts last until the
 * next row. */
NEARMISS_PUBLIC enum nearmiss_type nearmiss_value_type(const struct nearmiss_rows *rows, unsigned column);
NEARMISS_PUBLIC const char *nearmiss_text(const struct nearmiss_rows *rows, unsigned column);
NEARMISS_PUBLIC int64_t nearmiss_integer(const struct nearmiss_rows *rows, unsigned column);
NEARMISS_PUBLIC double nearmiss_real(const struct nearmiss_rows *rows, unsigned column);

#ifdef __cplusplus
}
#endif

#endif
