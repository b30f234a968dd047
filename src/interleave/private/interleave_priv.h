/* SPDX-License-Identifier: MIT
 *
 * interleave_priv.h - shared by the files of this folder.
 *
 * A stream is a sequence of references and *marks*. A *position* is the number of items before it; it has
 * been passed once that many items have been output.
 */
#ifndef NM_INTERLEAVE_PRIV_H
#define NM_INTERLEAVE_PRIV_H

#include "coalesced.h"
#include "interleave.h"
#include "map.h"
#include "vector.h"

/* ---- stream.c: references of a thread that are not output yet------------------------------------- */

enum { CHUNK = 512 /* references */ };

struct chunk {
	struct chunk *next;
	struct nm_ref refs[CHUNK];
	uint32_t weights[CHUNK]; /* of the chunk's references up to each */
	uint64_t clock[];        /* [CHUNK] if references have clocks */
};

/* References of a chunk that follow each other in the stream. */
struct run {
	const struct nm_ref *refs;
	const uint64_t *clock;
	const uint32_t *weights; /* as in the chunk; */
	uint32_t before;         /* and of the references before */
	size_t count;
};

enum mark_kind {
	MARK_AFTER,    /* waits until thread `object` has passed the position `value` */
	MARK_LOCK,     /* waits for the lock `object`, for its section `value` */
	MARK_SHARE,    /* the same, and shares it */
	MARK_UNLOCK,   /* that section is over */
	MARK_TURN,     /* the thread's next turn in the recorded order begins */
	MARK_TOGETHER, /* the references before and after it belong to one instruction */
	MARK_HINT,     /* the next of the stream's hints */
	MARK_SYNC,     /* synchronises with others without waiting */
	MARK_END       /* the thread has ended */
};

struct mark {
	uint64_t position; /* its own */
	uint64_t object, value;
	uint64_t age; /* later marks, of any stream, have higher ages */
	enum mark_kind kind;
};

struct held {
	uint64_t lock, section;
};

struct stream {
	uint32_t number; /* of the thread */
	unsigned core;
	int ended;
	unsigned inside;                  /* nesting depth of functions that lock or unlock */
	uint64_t added, passed;           /* positions: the end, and the next item to output */
	uint64_t refs_added, refs_passed; /* the same without marks: give the places in `last` and `first` */
	uint64_t seen;                    /* `added` when the latest round began */
	uint64_t owed;                    /* position up to which to output now */
	uint64_t last_call;               /* position of its last system call */
	uint64_t round;                   /* the latest one in which it ran */
	struct chunk *first, *last;       /* `first` has the next reference, if any */
	struct nm_vec(struct mark) marks; /* [marks_passed, count) are not passed yet */
	size_t marks_passed;
	struct nm_vec(struct nm_cache_hint) hints; /* [hints_passed, count) are not passed yet */
	size_t hints_passed;
	int is_next_store; /* the next reference is a non-temporal store */
	uint64_t wanted;   /* lock that the function it is in acquires */
	enum { WANTS_NOTHING, WANTS_IT, WANTS_TO_SHARE } wants;
	struct nm_vec(struct held) open; /* sections open in the recorded order */
	struct nm_vec(struct held) held; /* sections open in the merged order */
	uint64_t turn;                   /* age of its current recorded turn */
	uint64_t tried;                  /* the latest turn of the merged order in which it was tried */
	int synchronised;                /* a sync mark has been passed since its last output */
	uint32_t part;                   /* members of the next reference, a coalesced one, that are output */
	uint64_t half; /* address of the first half of an atomic instruction, and the position after it */
	uint64_t half_position;
};

/* 0 or NM_ENOMEM. */
int nm_stream_add(struct nm_interleave *m, struct stream *s, const struct nm_ref *refs, const uint64_t *clock,
		  size_t count);
int nm_stream_mark(struct nm_interleave *m, struct stream *s, enum mark_kind kind, uint64_t object,
		   uint64_t value);

/* The next item if it is a mark, else NULL. */
static inline const struct mark *nm_stream_front(const struct stream *s)
{
	const struct mark *next = &s->marks.at[s->marks_passed];

	return s->marks_passed < s->marks.count && next->position == s->passed ? next : NULL;
}

/* The references up to the next mark or the end of the chunk. */
struct run nm_stream_next(const struct stream *s);
void nm_stream_pass(struct nm_interleave *m, struct stream *s, size_t count);
void nm_stream_pass_mark(struct nm_interleave *m, struct stream *s);
void nm_stream_free(struct nm_interleave *m, struct stream *s);
/* Whether what is queued is what was added and has not passed, in the chunks as in the marks. */
int nm_stream_is_valid(const struct stream *s);

/* The number of the program's references that this one stands for. */
static inline unsigned nm_ref_weight(const struct nm_ref *r)
{
	return r->kind == NM_REF_FETCH ? 0 : r->weight;
}

static inline int nm_stream_is_empty(const struct stream *s) { return s->added == s->passed; }

/* ---- words.c: words by which threads synchronise -------------------------------------------------- */

enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_UPDATE };

struct word_access {
	uint64_t position; /* after the access */
	uint32_t thread;
	enum access kind;
};

struct word {
	struct nm_vec(struct word_access) list;
};

struct nm_range_access {
	uint64_t address;
	uint32_t bytes;
	enum access kind;
};

/* Records that the words of a range synchronise threads. 0 or NM_ENOMEM. */
int nm_words_learn(struct nm_interleave *m, uint64_t address, uint32_t bytes);
/* Whether the range has such words. */
int nm_words_touched(const struct nm_interleave *m, uint64_t address, uint32_t bytes);
/* The next item added to the stream will access these words. _wait adds marks for what the access waits for,
 * _note lets later accesses wait for it. 0 or NM_ENOMEM. */
int nm_words_wait(struct nm_interleave *m, struct stream *s, const struct nm_range_access *r);
int nm_words_note(struct nm_interleave *m, struct stream *s, const struct nm_range_access *r);
/* Both. */
int nm_words_order(struct nm_interleave *m, struct stream *s, const struct nm_range_access *r);

/* ---- locks.c: locks in the merged order --------------------------------------------------------- */

struct section {
	uint8_t shared;
	uint8_t closed; /* its end has been recorded */
	uint8_t over;   /* its end has been output */
	uint8_t waits;  /* something in it may have to wait */
};

struct lock {
	uint32_t owner; /* thread, or 0 */
	unsigned depth; /* how often the owner holds it */
	unsigned sharers;
	uint64_t first; /* number of the first of `sections` */
	size_t done;    /* the first `done` of `sections` are over */
	struct nm_vec(struct section) sections;
};

/* Add a mark: a section begins or ends, or the thread waits until another one has passed a position. 0 or
 * NM_ENOMEM. */
int nm_locks_open(struct nm_interleave *m, struct stream *s, uint64_t object, int shared);
int nm_locks_close(struct nm_interleave *m, struct stream *s, uint64_t object);
int nm_locks_wait_for_thread(struct nm_interleave *m, struct stream *s, uint64_t thread, uint64_t position);

/* The next item is a mark for a lock. _take: 1 if the thread holds the lock now, 0 if it must wait, or
 * NM_ENOMEM. */
int nm_locks_take(struct nm_interleave *m, struct stream *s, const struct mark *mark);
void nm_locks_leave(struct nm_interleave *m, struct stream *s, const struct mark *mark);
/* Releases all locks of a thread that has ended. */
void nm_locks_leave_all(struct nm_interleave *m, struct stream *s);

/* ---- schedule.c: the merged order --------------------------------------------------------------- */

struct core {
	struct nm_vec(struct stream *) streams;
};

/* Cores take turns: _owed until each stream has passed its `owed`, _possible until no item is queued, _until
 * until at most `held_back` items are queued. Where all threads wait, perhaps for input that is yet to come,
 * the first two stop; _until continues with a stall. 0 or an error. */
int nm_schedule_owed(struct nm_interleave *m);
int nm_schedule_possible(struct nm_interleave *m);
int nm_schedule_until(struct nm_interleave *m, uint64_t held_back);

/* ---- output.c: the merged batch ------------------------------------------------------------------- */

/* _put adds references of a core to the merged batch, _send outputs the batch, unless it is empty. 0 or an error. */
int nm_output_put(struct nm_interleave *m, struct stream *s, const struct nm_ref *refs, const uint64_t *clock,
		  size_t count);
int nm_output_send(struct nm_interleave *m);
/* A prefetch, which comes at once, or that the stream's next reference is a non-temporal store. 0 or an error. */
int nm_output_hint(struct nm_interleave *m, struct stream *s, const struct nm_cache_hint *hint);

/* ---- the whole ---------------------------------------------------------------------------------- */

/* The creation of a thread: its creator, and the creator's position. */
struct making {
	uint32_t maker;
	uint64_t position;
};

struct nm_interleave {
	struct nm_interleave_setup setup;
	const struct nm_coalesced_table *coalesced;
	uint32_t quantum;
	struct nm_vec(struct stream *) streams; /* by number; NULL: unknown or removed */
	struct nm_vec(struct stream *) live;    /* those that are not removed */
	size_t running_threads;                 /* of these, threads that have not ended */
	struct nm_vec(struct core) cores;
	struct chunk *spare;
	struct stream *running; /* in the recorded order */
	uint64_t ages, round;
	uint64_t merged_time_slices;
	uint64_t since;     /* references of the program added since the round began */
	uint64_t held_back; /* items in streams */
	uint64_t owed;      /* of these, to be output now */
	uint64_t stalls;
	uint64_t random; /* state */
	size_t last_core;
	uint16_t drawing[NM_MAX_CORES]; /* a permutation of all cores, the latest draws first */
	struct nm_map makings; /* collector's number of a thread not yet started -> index in `made` */
	struct nm_vec(struct making) made;
	struct nm_map word_of; /* number of a word -> index in `words` */
	struct nm_vec(struct word) words;
	uint64_t *word_lines;  /* a bit for lines that may have such words; NULL: none have */
	struct nm_map lock_of; /* object -> index in `locks` */
	struct nm_vec(struct lock) locks;
	/* The merged batch that is being filled. */
	_Alignas(64) struct nm_ref refs[NM_BATCH];
	uint64_t clock[NM_BATCH];
	struct nm_time_slice time_slices[NM_BATCH];
	struct nm_cache_hint *hints; /* [NM_BATCH]; NULL: there was none yet */
	size_t count, time_slice_count, hint_count;
};

/* A filter by line saves the look-up of nearly all references. */
enum { NM_WORD_LINES = 1 << 16 };
static inline uint64_t nm_word_line_bit(uint64_t address) { return address / 64 % NM_WORD_LINES; }

static inline int nm_words_in_line(const struct nm_interleave *i, uint64_t address)
{
	const uint64_t bit = nm_word_line_bit(address);

	return i->word_lines[bit / 64] >> (bit % 64) & 1;
}

/* Whether the lines of a reference may have words by which threads synchronise. */
static inline int nm_words_near(const struct nm_interleave *i, const struct nm_ref *r)
{
	return nm_words_in_line(i, r->address) ||
	       (r->address % 64 + r->size > 64 && nm_words_in_line(i, r->address + r->size - 1));
}

/* The stream of a thread; NULL: unknown or removed. */
static inline struct stream *nm_stream_of(const struct nm_interleave *i, uint64_t number)
{
	return number < i->streams.count ? i->streams.at[number] : NULL;
}

static inline int nm_has_passed(const struct nm_interleave *i, uint64_t thread, uint64_t position)
{
	const struct stream *s = nm_stream_of(i, thread);

	return !s || s->passed >= position;
}

#endif
