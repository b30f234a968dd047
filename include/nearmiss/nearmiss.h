/* SPDX-License-Identifier: MIT
 *
 * nearmiss.h - the library: simulates caches on your own references, and reads profiles.
 *
 *     nearmiss_machine_parse("L1d=32K,8,64:L2=1M,16,64", &machine, &err);
 *     nearmiss_hierarchy_new(machine, &caches, &err);
 *     nearmiss_feed(caches, (uintptr_t)&a[i], sizeof a[i], NEARMISS_READ, 0);    for each reference
 *     nearmiss_finish(caches);    then nearmiss_total(caches, 0, NEARMISS_READ_MISSES) and its like
 *
 * docs/howto/library.md is a guide; examples/simulate.c and examples/watch.c are complete programs.
 *
 * Errors. A function that can fail returns 0 or more on success. On failure it returns a negative enum
 * nearmiss_code, describes the error in *err (which may be NULL), and leaves its ret_ parameters alone. The
 * library never prints, exits or aborts on bad input.
 *
 * Ownership. The caller owns what a function named _new, _parse, _named, _open or _query returns, and frees
 * it with its _free or _close, which accept NULL. An object owns the texts that its functions return.
 *
 * Threads. There is no global state. Threads may use different objects at the same time, but one object only
 * in turn.
 *
 * Stability. Types are opaque. Existing values of enumerations and struct nearmiss_error do not change; new
 * values, and new members of struct nearmiss_event, are added at the end. All this stays until the soversion
 * of libnearmiss.so rises.
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
	NEARMISS_ENOMEM = -1,   /* out of memory */
	NEARMISS_EIO = -2,      /* the operating system refused; the text has its reason */
	NEARMISS_ENOSPC = -3,   /* the disk is full */
	NEARMISS_EFORMAT = -4,  /* a file is damaged or of another kind */
	NEARMISS_EVERSION = -5, /* a file is of another version of its format */
	NEARMISS_EINVAL = -6,   /* a wrong SPEC, SQL, size or order of calls */
	NEARMISS_ENOENT = -7,   /* no such file or name */
	NEARMISS_EACCES = -8,   /* permission denied */
	NEARMISS_EPLUGIN = -9   /* a plug-in (nearmiss/plugin.h) broke its contract */
};

struct nearmiss_error {
	int code;       /* enum nearmiss_code */
	int column;     /* where the fault starts in the SPEC or SQL, from 0; -1: unknown */
	char text[480]; /* one sentence, UTF-8, without a final full stop */
};

/* The version of the library, e.g. "0.1.0". */
NEARMISS_PUBLIC const char *nearmiss_version(void);

/* Machines: what to simulate */

struct nearmiss_machine;

/* Parses a SPEC (nearmiss-machines(1)): levels from the processor outwards. */
NEARMISS_PUBLIC int nearmiss_machine_parse(const char *spec, struct nearmiss_machine **ret_machine,
					   struct nearmiss_error *err);
/* A machine that `nearmiss machines` lists; "host" is the one that this runs on. NEARMISS_ENOENT: there is
 * no such machine. */
NEARMISS_PUBLIC int nearmiss_machine_named(const char *name, struct nearmiss_machine **ret_machine,
					   struct nearmiss_error *err);
NEARMISS_PUBLIC void nearmiss_machine_free(struct nearmiss_machine *machine);

/* A SPEC that parses to this machine. */
NEARMISS_PUBLIC const char *nearmiss_machine_spec(const struct nearmiss_machine *machine);

/* Its levels, numbered from 0 in the order of the SPEC. */
NEARMISS_PUBLIC unsigned nearmiss_machine_levels(const struct nearmiss_machine *machine);
NEARMISS_PUBLIC const char *nearmiss_level_name(const struct nearmiss_machine *machine, unsigned level);

enum nearmiss_property {
	NEARMISS_SIZE,  /* bytes */
	NEARMISS_WAYS,  /* lines a set */
	NEARMISS_LINE,  /* bytes a line, a power of two */
	NEARMISS_SETS,  /* 1: fully associative */
	NEARMISS_SECTOR /* bytes loaded at once: LINE if the level has no sectors */
};

/* 0 for an unknown level or property. */
NEARMISS_PUBLIC uint64_t nearmiss_level_property(const struct nearmiss_machine *machine, unsigned level,
						 enum nearmiss_property property);

/* Simulation */

struct nearmiss_hierarchy;

enum nearmiss_kind { NEARMISS_READ = 0, NEARMISS_WRITE = 1, NEARMISS_FETCH = 2 };

enum { NEARMISS_SIZE_MAX = 65535, NEARMISS_TAG_MAX = (1 << 24) - 1 };

/* Creates cold caches. The machine may be freed afterwards. A level takes about 100 bytes for each line. */
NEARMISS_PUBLIC int nearmiss_hierarchy_new(const struct nearmiss_machine *machine,
					   struct nearmiss_hierarchy **ret_hierarchy,
					   struct nearmiss_error *err);
NEARMISS_PUBLIC void nearmiss_hierarchy_free(struct nearmiss_hierarchy *hierarchy);

/* Simulates one reference: a read, write or instruction fetch of `size` bytes at `address`. A reference that
 * spans lines is one reference; each level loads all of its lines. Reads and writes enter at the first level
 * that holds data, fetches at the first that holds instructions; without such a level they are ignored.
 *
 * `tag` is of your choice, e.g. an array or a source line: the library counts for each tag. Tags index
 * tables of about 150 bytes a level for each tag from 0 to the largest, so number them densely.
 *
 * NEARMISS_EINVAL: size is 0 or above NEARMISS_SIZE_MAX, tag is above NEARMISS_TAG_MAX, the reference ends
 * beyond the address space, or nearmiss_finish was called before; nothing is counted. NEARMISS_ENOMEM and
 * NEARMISS_EPLUGIN (a plug-in returned a slot that does not exist) end the simulation. References are
 * simulated in batches, so an error may be reported by a later call. */
NEARMISS_PUBLIC int nearmiss_feed(struct nearmiss_hierarchy *hierarchy, uint64_t address, uint32_t size,
				  enum nearmiss_kind kind, uint32_t tag);

/* Ends the references, and counts the lines that are still resident. May be called again. Fails as
 * nearmiss_feed does. */
NEARMISS_PUBLIC int nearmiss_finish(struct nearmiss_hierarchy *hierarchy);

/* Counts of a level, named as the columns of the view `counts` of a profile (docs/format/profile.md). */
enum nearmiss_figure {
	/* references to this level: the program's, or fills of the level before; fetches too */
	NEARMISS_READS,
	NEARMISS_WRITES, /* the same for writes */
	NEARMISS_READ_MISSES,
	NEARMISS_WRITE_MISSES,
	NEARMISS_COLD,         /* loads of lines never loaded before */
	NEARMISS_CAPACITY,     /* loads that a fully associative LRU cache of that size would need too */
	NEARMISS_CONFLICT,     /* the other loads */
	NEARMISS_LOADS,        /* lines loaded; more than misses if references span lines */
	NEARMISS_REUSE,        /* accesses served by lines that the tag loaded, including the loading ones */
	NEARMISS_USED_BYTES,   /* bytes used of lines that the tag loaded */
	NEARMISS_LOADED_BYTES, /* bytes of these lines */
	NEARMISS_EVICTIONS,    /* lines that the tag loaded and others replaced */
	NEARMISS_WRITEBACKS,   /* dirty lines among them */
	/* loads of a sector of a resident line; with sectors, loads and evictions count sectors */
	NEARMISS_SECTOR_MISSES,
	/* Prefetches that references of the tag caused (docs/models.md): */
	NEARMISS_PREFETCHES,   /* lines prefetched, not in NEARMISS_LOADS */
	NEARMISS_USEFUL,       /* those used before they left */
	NEARMISS_LATE_EVICTED, /* those used only soon after they had left */
	NEARMISS_POLLUTION,    /* conflict misses on lines that they evicted */
	NEARMISS_FIGURES       /* their number in this header */
};

/* "reads", "read_misses", ...; NULL for an unknown figure. */
NEARMISS_PUBLIC const char *nearmiss_figure_name(enum nearmiss_figure figure);

/* The count of all tags, and of one tag; 0 for an unknown level, tag or figure. Before nearmiss_finish, reuse
 * and used bytes count only lines that have left. */
NEARMISS_PUBLIC uint64_t nearmiss_total(struct nearmiss_hierarchy *hierarchy, unsigned level,
					enum nearmiss_figure figure);
NEARMISS_PUBLIC uint64_t nearmiss_count(struct nearmiss_hierarchy *hierarchy, unsigned level, uint32_t tag,
					enum nearmiss_figure figure);

/* 1 + the largest tag so far; 0 if there was none. */
NEARMISS_PUBLIC uint32_t nearmiss_tags(const struct nearmiss_hierarchy *hierarchy);

/* `count` times a load for tag `evictor`, or a prefetch that it caused, replaced a line that tag `victim`
 * had loaded. */
struct nearmiss_eviction {
	uint32_t evictor, victim;
	uint64_t count;
};

/* All evictions of a level by tags: an array of *ret_count elements, most frequent first, equal ones by tags.
 * The hierarchy owns it; it lasts until the next call. NEARMISS_EINVAL before nearmiss_finish. */
NEARMISS_PUBLIC int nearmiss_evictions(struct nearmiss_hierarchy *hierarchy, unsigned level,
				       const struct nearmiss_eviction **ret_list, size_t *ret_count);

/* Single events */

enum nearmiss_event_kind {
	NEARMISS_HIT,        /* a line that is accessed is resident */
	NEARMISS_MISS,       /* it is not: once for each reference or fill, however many lines it spans */
	NEARMISS_LOAD,       /* a line enters the level */
	NEARMISS_REPLACE,    /* a line leaves the level to make room for the load that follows */
	NEARMISS_INVALIDATE, /* a line leaves the level because an inclusive level behind it has lost it */
	NEARMISS_PREFETCH    /* a prefetched line enters the level, after the reference that caused it */
};

struct nearmiss_event {
	enum nearmiss_event_kind kind;
	unsigned level;
	uint64_t reference; /* number of the nearmiss_feed call, from 1, not counting refused ones */
	uint64_t address;   /* first byte referenced within this line */
	uint32_t size;      /* bytes referenced there */
	uint32_t tag;       /* its tag */
	uint64_t line, set; /* first byte, and set, of the line of the event */
	uint32_t victim;    /* if a line leaves: tag of the reference that had loaded it; else 0 */
};

typedef void nearmiss_event_function(void *self, const struct nearmiss_event *event);

/* Calls `function` for every event, in order; for a miss, first the events of that level, then those of the
 * next. NEARMISS_EINVAL after the first reference. References are simulated in batches, so events may come
 * during later calls, at the latest in nearmiss_finish. The function must not use the hierarchy. Lines that
 * are resident at the end are not replaced. */
NEARMISS_PUBLIC int nearmiss_watch(struct nearmiss_hierarchy *hierarchy, nearmiss_event_function *function,
				   void *self);

/* Profiles */

struct nearmiss_profile;
struct nearmiss_rows; /* a query and its current row */

/* Opens a profile read-only; never waits for a lock. */
NEARMISS_PUBLIC int nearmiss_profile_open(const char *path, struct nearmiss_profile **ret_profile,
					  struct nearmiss_error *err);
/* Free its queries first. */
NEARMISS_PUBLIC void nearmiss_profile_close(struct nearmiss_profile *profile);

/* Does it have a view of that name? 1 or 0. */
NEARMISS_PUBLIC int nearmiss_profile_has(struct nearmiss_profile *profile, const char *view,
					 struct nearmiss_error *err);

/* Prepares one SQL statement over the views of docs/format/profile.md, which are stable. Statements that
 * would write are refused. Bind parameters ?1, ?2, ... before the first row; unbound ones are NULL. A bound
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

/* The values of the current row. Each converts to any type; NULL becomes NULL, 0 or 0.0. Texts last until
 * the next row. */
NEARMISS_PUBLIC enum nearmiss_type nearmiss_value_type(const struct nearmiss_rows *rows, unsigned column);
NEARMISS_PUBLIC const char *nearmiss_text(const struct nearmiss_rows *rows, unsigned column);
NEARMISS_PUBLIC int64_t nearmiss_integer(const struct nearmiss_rows *rows, unsigned column);
NEARMISS_PUBLIC double nearmiss_real(const struct nearmiss_rows *rows, unsigned column);

#ifdef __cplusplus
}
#endif

#endif
