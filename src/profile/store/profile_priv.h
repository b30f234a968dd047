/* SPDX-License-Identifier: MIT
 *
 * profile_priv.h - shared by the files of this room.
 */
#ifndef NM_PROFILE_PRIV_H
#define NM_PROFILE_PRIV_H

#include <sqlite3.h>

#include "arena.h"
#include "hash_index.h"
#include "map.h"
#include "result.h"
#include "vector.h"

enum {
	NM_PROFILE_APPLICATION = 0x6e6d7066, /* "nmpf", in the header of the file */
	NM_PROFILE_VERSION = 1               /* user_version: grows when the views change */
};

extern const char nm_profile_schema[]; /* tables.sql and views.sql */

/* ---- place_index.c: the attribution keys of a result, sorted and summed
 * ----------------------------------------- */

/* A place is a site with an object, in a region. Sites and objects get ranks in the order of their texts; attribution
 * keys that agree in function, file, line, object and region share a place. */
struct nm_stored_location {
	uint32_t site, object; /* ranks */
	uint32_t region;       /* of the result */
};

struct nm_place_index {
	uint32_t *site_rank, *object_rank;   /* [site_count], [object_count] of the result */
	uint32_t *site_first, *object_first; /* [rank]: index of one that has it */
	uint32_t sites, objects;             /* numbers of ranks */
	struct nm_stored_location *places;
	uint32_t place_count;
	uint32_t *place_of; /* [attribution key] */
	uint32_t *order;    /* attribution keys by (thread, place) */
};

int nm_place_index_make(struct nm_place_index *ret_index, const struct nm_result *result);
void nm_place_index_done(struct nm_place_index *index);

/* ---- names.c: ids of texts and sites ------------------------------------------------------------ */

struct nm_site_names {
	sqlite3_int64 function, file;  /* ids of texts, 0: NULL */
	sqlite3_int64 base, user;      /* ids of sites, as tables.sql has them; 0: itself */
	sqlite3_int64 inlined, module; /* ids of texts, 0: NULL */
	uint32_t line;
	int is_library;
};

struct nm_names {
	sqlite3_stmt *insert_text, *insert_site;
	struct nm_strings pool;
	struct nm_map ids;                           /* address of the pool's copy -> id */
	struct nm_vec(const char *) texts;           /* [id - 1] */
	struct nm_hash_index sites;                  /* entries; the id of a site is its number + 1 */
	struct nm_vec(struct nm_site_names) entries; /* [id - 1] */
};

/* The id of a text, stored when it is new; 0 for NULL. *ret_id >= 1 otherwise. SQLite's code, or
 * SQLITE_NOMEM. */
int nm_names_text(struct nm_names *names, const char *text, sqlite3_int64 *ret_id);
int nm_names_site(struct nm_names *names, const struct nm_result_site *site, sqlite3_int64 *ret_id);
/* The site of the nearest frame of the user's code; the site itself if there is none. */
sqlite3_int64 nm_names_user(const struct nm_names *names, sqlite3_int64 site);
void nm_names_done(struct nm_names *names);

/* ---- store.c: one result into the tables --------------------------------------------------------- */

/* The columns of counts.def: their number, and a parameter for each in an INSERT. */
enum { NM_COUNTS = 18 };
#define NM_COUNT_MARKS "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"
_Static_assert(sizeof(struct nm_counts) == NM_COUNTS * sizeof(uint64_t), "a column for each count");

enum nm_insert {
	NM_INSERT_PROCESS,
	NM_INSERT_MODULE,
	NM_INSERT_UNDEBUGGED,
	NM_INSERT_THREAD,
	NM_INSERT_LEVEL,
	NM_INSERT_OBJECT,
	NM_INSERT_PLACE,
	NM_INSERT_CELL,
	NM_INSERT_EXTRA,
	NM_INSERT_EVICTION,
	NM_INSERT_TOP,
	NM_INSERT_PATTERN,
	NM_INSERT_WALK,
	NM_INSERT_CONTEXT,
	NM_INSERT_CONTEXT_CELL,
	NM_INSERT_CONTEXT_SUM,
	NM_INSERT_BUCKET,
	NM_INSERT_FIGURE,
	NM_INSERT_REGION,
	NM_INSERTS
};

struct nm_stored_process {
	uint32_t *place_of; /* malloc'ed */
	uint32_t end;       /* of its places */
};

struct nm_store {
	sqlite3 *db;
	sqlite3_stmt *insert[NM_INSERTS];
	sqlite3_int64 processes, objects, places, fields, instructions; /* rows so far */
	struct nm_names names;
	struct nm_map files; /* text id of a source -> when the oldest file built from it was written */
	/* Of each process of one machine, in order: what it has of the file's places. */
	struct nm_vec(struct nm_stored_process) of_machine;
	/* the same -> its MD5 when it was compiled, in the pool of names; "": they differ */
	struct nm_map compiled;
};

/* Writes one result into the tables; holds the row ids of its parts. */
struct nm_result_writer {
	struct nm_store *store;
	const struct nm_result *result;
	struct nm_place_index index;
	sqlite3_int64 process;
	sqlite3_int64 objects, places; /* ids of the first object and place, by rank */
	int status;                    /* the first failure, after which nothing is written */
};

enum { NM_LEVEL_IDS = 64 }; /* of a process, as tables.sql has it */
_Static_assert((int)NM_MAX_LEVELS < (int)NM_LEVEL_IDS, "the memory, behind the last level, has a number too");

static inline sqlite3_int64 nm_level_id(const struct nm_result_writer *w, unsigned level)
{
	return w->process * NM_LEVEL_IDS + level;
}

/* These return SQLite's codes. */
int nm_store_open(struct nm_store *store, sqlite3 *db);
int nm_store_result(struct nm_store *store, const struct nm_result *result);
int nm_store_machine(struct nm_store *store, const struct nm_result *machine,
		     const struct nm_result_owner *owners);
void nm_store_done(struct nm_store *store);

/* ---- contexts.c: call chains, if the result has them; the first failure goes to w->status ------------- */

void nm_store_contexts(struct nm_result_writer *w);

/* ---- timeline.c: the course of the run; the first failure goes to w->status --------------------------- */

void nm_store_timeline(struct nm_result_writer *w);

/* ---- instructions.c: single instructions and their code, if the result has them ---------------------- */

int nm_store_instructions(const struct nm_result_writer *w);

/* ---- events.c: what was asked for of single events --------------------------------------------------- */

int nm_store_events(const struct nm_result_writer *w);

/* Evictions between places; `prefetches` of them by a prefetch that the evictor caused. */
struct nm_place_eviction {
	uint32_t victim, evictor;
	uint64_t count, prefetches;
};

/* Sums evictions between attribution keys by places: each pair once, in order; malloc'ed. 0 or
 * SQLITE_NOMEM. */
int nm_place_evictions(const struct nm_result_level *from, const struct nm_place_index *index,
		       struct nm_place_eviction **ret_list, size_t *ret_count);

/* ---- patterns.c: the strides of places ---------------------------------------------------------------- */

struct nm_place_pattern {
	uint32_t place;
	uint64_t sampled, halved;
	struct nm_result_stride stride;
};

/* One for each place with strides, in the order of places; malloc'ed. 0 or SQLITE_NOMEM. */
int nm_place_patterns(const struct nm_result *result, const struct nm_place_index *index,
		      struct nm_place_pattern **ret_list, size_t *ret_count);

/* The walk of each place: that of its attribution key with the most loads; [place_count], malloc'ed. 0 or
 * SQLITE_NOMEM. */
int nm_place_walks(const struct nm_result *result, const struct nm_place_index *index,
		   struct nm_walk **ret_walks);

/* ---- fields.c: fields of structures ------------------------------------------------------------------- */

int nm_store_fields(const struct nm_result_writer *w);

/* ---- distances.c: histograms of distances, if they were asked for ------------------------------------ */

int nm_store_distances(const struct nm_result_writer *w);

/* ---- estimates.c: curves that were estimated --------------------------------------------------------- */

int nm_store_estimates(const struct nm_result_writer *w);

/* ---- samples.c: samples of a processor's counters, if the result has them ---------------------------- */

int nm_store_samples(struct nm_result_writer *w);

/* ---- sharing.c: what cores contend for, where a protocol keeps them coherent ------------------------- */

int nm_store_sharing(const struct nm_result_writer *w);

/* ---- schedules.c: what other orders of the threads gave, if there were several ------------------------ */

int nm_store_schedules(const struct nm_result_writer *w);

/* "round-robin", "random:3". */
enum { NM_RULE_ROOM = 40 };
void nm_order_rule(char *ret_rule, const struct nm_result_order *order);

/* ---- relocations.c: misses if memory lay elsewhere, if that was simulated ------------------------------ */

int nm_store_relocations(const struct nm_result_writer *w);

/* ---- pmu.c: what a simulated PMU sampled, if there was one -------------------------------------------- */

int nm_store_pmu(struct nm_result_writer *w);

/* ---- sources.c: the sources of all results stored so far; the texts that are chosen ----------------- */

struct nm_source_choice;
int nm_store_sources(struct nm_store *store, const struct nm_source_choice *choice);

/* ---- writer.c: for merge.c, which fills the tables itself --------------------------------------------- */

struct nm_profile_writer;

/* Sums over processes, for view info. */
struct nm_profile_sums {
	uint64_t processes, instructions, references, lost_words, stalls;
};

sqlite3 *nm_profile_writer_db(struct nm_profile_writer *writer);
const char *nm_profile_writer_path(const struct nm_profile_writer *writer);
/* Completes the file under its temporary name, which is the writer's, for a reader in this process. Only
 * nm_profile_writer_abort may follow, which removes it. */
int nm_profile_writer_complete(struct nm_profile_writer *writer, const char **ret_path, struct nm_error *err);
struct nm_profile_sums *nm_profile_writer_sums(struct nm_profile_writer *writer);
/* Turns SQLite's status into an error, after which the writer can only be aborted. Returns the code. */
int nm_profile_writer_fail(struct nm_profile_writer *writer, int status, struct nm_error *err);

/* validate.c: whether the tables of a profile that is complete agree with each other and the sums. Slow. */
int nm_profile_writer_is_valid(struct nm_profile_writer *writer);

/* leftovers.c: removes temporary files of this profile whose writers were killed. */
void nm_remove_leftovers(const char *path);

#endif
