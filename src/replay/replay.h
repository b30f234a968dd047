/* SPDX-License-Identifier: MIT
 *
 * replay.h - executes the blocks of the stream: addresses in, batches of references with attribution keys
 * out.
 *
 * The replay owns what changes with every block (the running thread, its stack, the clocks) and its three
 * parts: the decoder knows the program's code, the resolver finds attribution keys, and the batch builder
 * collects references. What the process is made of belongs to the engine; the replay borrows it.
 *
 *   execute.c, batches.c            whole blocks, fast
 *   single_step.c, wrapper_probe.c  blocks one access at a time
 *   decode_block.c                  blocks that are executed for the first time
 *   user_calls.c                    blocks of library code, by the user's call that leads there
 *   outline.c                       without references
 *   batches.c                       references into batches
 *   replay.c                      which thread, stack and frame run, in which lane
 *   window.c                        what counts
 */
#ifndef NM_REPLAY_H
#define NM_REPLAY_H

#include "attribution.h"
#include "batch_builder.h"
#include "calls.h"
#include "contexts.h"
#include "decoder.h"
#include "frames.h"
#include "inline_cache.h"
#include "outline.h"
#include "phase_plan.h"
#include "regions.h"
#include "resolver.h"
#include "running.h"
#include "space.h"
#include "window.h"

enum { NM_WORDS_AT_ONCE = 64 /* that the hot path takes without looking at limits */ };

struct nm_replay;

/* Runs the NM_WIRE_BLOCK records from words[0] on, as many as follow each other in the count words. Returns
 * the number of words that they took, or a negative code. execute.c, once per instruction set. */
typedef long nm_execute_function(struct nm_replay *replay, const uint64_t *words, size_t count,
				 struct nm_error *err);
nm_execute_function nm_execute_plain, nm_execute_avx2;

/* The i-th copy of execute.c that this processor can run, the fastest first; NULL behind the last. */
nm_execute_function *nm_execute_supported(unsigned i);

struct nm_replay {
	nm_execute_function *execute; /* the caller chooses */

	/* Written by each call, switch of threads or signal. */
	struct nm_decoded_block **decoded_blocks; /* of the running thread */
	size_t decoded_room;
	struct nm_running running;
	/* execute blocks by single steps: for fetches, in pauses, while a probe follows an allocation, for
	 * contexts, in some signal handlers */
	int single_step;
	int measuring, fetching; /* measuring: the program asks for it, within the window */
	int asked;               /* the program asks for it */
	int paused;              /* whoever records it does not */
	struct nm_run_window window;
	int inside;                 /* the window */
	int over;                   /* it has ended: nothing more will count, so no references are made */
	int silent;                 /* no references are made now (outline.h), */
	struct nm_outline *outline; /* and this notes what is executed; or NULL; borrowed */
	struct {
		uint64_t from, until;
	} passed;            /* how often the function or region of either end has occurred */
	unsigned window_met; /* enum nm_watched: what the window names that occurred as often as it says */
	const struct nm_phase_plan *phases; /* to count by, or NULL; borrowed */
	size_t phase_limit;                 /* the next of its limits */
	uint32_t phase;
	uint64_t skipped;      /* instructions that do not count because the phase is not asked for */
	uint64_t careful_from; /* from this clock on a window of words may hold a limit: single steps */
	uint64_t uncounted;    /* references to data made while not measuring */
	int has_paused;        /* some references do not count */
	uint32_t fetch_line;   /* bytes of a line of the first level that takes fetches */
	uint64_t clock;        /* instructions of all threads */
	uint64_t unmeasured;   /* instructions */
	struct {
		uint64_t instructions, bytes; /* measured repetitions, and what they wrote */
	} strings;                            /* of string instructions */

	/* References that wait for their attribution key (nm_resolver_find_all). */
	size_t pending_count;
	uint64_t pending[NM_BATCH + NM_ENTRIES];

	struct nm_batch_builder builder;
	struct nm_decoder decoder;
	struct nm_resolver resolver;

	/* The process; borrowed. */
	struct nm_attributions *attrs;
	struct nm_calls *calls; /* NULL unless contexts are asked for */
	struct nm_regions *regions;
	struct nm_space *space;
	struct nm_contexts *contexts;
};

/* The process that an replay works on, in which nothing runs yet; calls may be NULL. 0 or NM_ENOMEM. */
struct nm_replay_process {
	struct nm_attributions *attrs;
	struct nm_calls *calls;
	struct nm_regions *regions;
	struct nm_space *space;
	struct nm_contexts *contexts;
	const struct nm_threads *threads;
};
int nm_replay_init(struct nm_replay *replay, const struct nm_replay_process *process);
void nm_replay_done(struct nm_replay *replay);

/* When the stream has ended: frees the code; attribution keys and what is counted remain. */
void nm_replay_free_code(struct nm_replay *replay);

/* Makes a thread the running one. */
void nm_replay_switch_thread(struct nm_replay *replay, struct nm_thread *thread);

/* Makes the first lane of a thread; has the thread run in the lane of its innermost open region; frees
 * its lanes. 0 or NM_ENOMEM. */
int nm_replay_start_lanes(struct nm_replay *replay, struct nm_thread *thread);
int nm_replay_choose_lane(struct nm_replay *replay, struct nm_thread *thread);
void nm_thread_free_lanes(struct nm_thread *thread);

/* The instructions that count, so far. */
static inline uint64_t nm_replay_measured(const struct nm_replay *x) { return x->clock - x->unmeasured; }

/* Instructions that do not count. */
static inline void nm_replay_pass_over(struct nm_replay *r, uint64_t instructions)
{
	r->unmeasured += instructions;
	r->skipped += r->asked && r->inside ? instructions : 0;
}

/* Call when the running thread's stack has changed; when the need for single steps may have. */
void nm_replay_run_thread(struct nm_replay *replay);
void nm_replay_choose_path(struct nm_replay *replay);

/* window.c: sets the window, before anything is executed; sets whether the program asks for measuring. */
void nm_replay_set_window(struct nm_replay *replay, const struct nm_run_window *window);
void nm_replay_ask(struct nm_replay *replay, int asked);
void nm_replay_pause(struct nm_replay *replay, int paused); /* the same, by whoever records it */

/* window.c, between blocks: enters or leaves the window, or a phase, if a position is reached. 0 or NM_ENOMEM. */
int nm_replay_turn(struct nm_replay *replay);

/* Whether each phase counts for itself. */
static inline int nm_replay_is_by_phase(const struct nm_replay *r)
{
	return r->phases && r->phases->only == NM_ALL_PHASES;
}

/* window.c: sets careful_from. */
void nm_replay_watch_limits(struct nm_replay *replay);

/* window.c: which ends of the window, as bits, name a function; such a function runs, perhaps in a new call (0 or
 * NM_ENOMEM); a call or a return ends all frames up to a slot; a region begins or ends. */
unsigned nm_replay_watches(const struct nm_replay *replay, const char *function);
int nm_replay_watch_call(struct nm_replay *replay, unsigned watched);
void nm_replay_watch_frame(struct nm_replay *replay, uint64_t slot);
void nm_replay_watch_region(struct nm_replay *replay, int enter, const char *name);

/* Makes the stack around slot, or that of an index, the running one. 0 or NM_ENOMEM. */
int nm_replay_switch_stack(struct nm_replay *replay, uint64_t slot);
int nm_replay_run_stack(struct nm_replay *replay, size_t index);

/* single_step.c: executes the block at header, with n addresses. */
int nm_replay_single_step(struct nm_replay *replay, const uint64_t *header, size_t n, struct nm_error *err);

/* wrapper_probe.c: starts to watch a block that the running thread has just allocated; looks at an execution
 * of a block by a thread that watches one. */
void nm_replay_probe_wrapper(struct nm_replay *replay, uint32_t context, unsigned levels, uint64_t address,
			     uint64_t size);
void nm_replay_probe_block(struct nm_replay *replay, uint32_t id, const struct nm_decoded_block *decoded,
			   const uint64_t *words, struct nm_side_exit left);

/* decode_block.c: makes the running thread's decoded block of a block. NULL: *err says why. */
struct nm_decoded_block *nm_replay_decode_block(struct nm_replay *replay, uint32_t id, struct nm_error *err);

/* batches.c: resolves, or puts on the list, what `entries` (bits) of the NM_ENTRIES from access `at` on do
 * not serve; their references are the batch's next. 0 or NM_ENOMEM. */
int nm_replay_defer(struct nm_replay *replay, const struct nm_decoded_block *decoded, size_t at,
		    unsigned entries);

/* batches.c: finds the attribution keys of all pending references, and offers those of a burst to be sampled.
 * 0 or NM_ENOMEM. */
int nm_replay_resolve_list(struct nm_replay *replay);
static inline int nm_replay_resolve_pending(struct nm_replay *r)
{
	return r->pending_count || r->builder.bursts.taken < r->builder.count ? nm_replay_resolve_list(r) : 0;
}

/* batches.c: appends a reference with its attribution key; access_site: that made it, or NM_NO_ACCESS. 0 or
 * NM_ENOMEM. */
int nm_replay_append(struct nm_replay *replay, struct nm_ref ref, uint32_t access_site);

/* batches.c: appends a prefetch of what the reference would be to, or notes that the reference that comes next is a
 * non-temporal store; flags: NM_HINT_FLAGS. 0 or NM_ENOMEM. */
int nm_replay_hint(struct nm_replay *replay, const struct nm_ref *ref, unsigned flags);

/* batches.c: loads and stores so far; counts them by attribution key, which is due at the end. */
uint64_t nm_replay_references(const struct nm_replay *replay);
void nm_replay_count_runs(struct nm_replay *replay);

/* batches.c: of the measured instructions, the executions of repeated string instructions beyond one for each
 * NM_STRING_BYTES, which is how processors execute them. Call after nm_replay_count_runs. */
enum { NM_STRING_BYTES = 64 };
uint64_t nm_replay_repeated(const struct nm_replay *replay);
void nm_replay_note_string(struct nm_replay *replay, uint32_t bytes, uint64_t repetitions);

/* batches.c: resolves all pending references and submits the batch, unless it is empty. 0 or an error code. */
int nm_replay_flush(struct nm_replay *replay);

/* batches.c: notes what orders threads before the batch's next reference (sync.index is not read). 0 or a code. */
int nm_replay_synchronise(struct nm_replay *replay, struct nm_sync sync);

/* Performs the call or return that ends a block; slot is on the running stack, which has room for a frame. */
static inline void nm_replay_put_frame(struct nm_replay *r, const struct nm_decoded_block *decoded,
				       uint64_t slot)
{
	struct nm_running *running = &r->running;

	if (decoded->end == NM_WIRE_RETURN) {
		nm_frames_pop(&running->thread->frames, running->stack, slot);
		nm_stack_window_own(&running->window, nm_stack_top(running->stack));
	} else {
		nm_stack_put(running->stack, slot, decoded->call_pc, decoded->stack_object);
		if (!nm_is_of_library(decoded))
			running->stack->user_call = decoded->user_call;
		nm_stack_window_own(&running->window, slot + 8);
	}
}

/* The same anywhere, and of frames whose ranges are kept; the first is the slow path. */
int nm_replay_change_any_frame(struct nm_replay *replay, const struct nm_decoded_block *decoded,
			       uint64_t slot);
static inline int nm_replay_change_frame(struct nm_replay *r, const struct nm_decoded_block *decoded,
					 uint64_t slot)
{
	const struct nm_running *running = &r->running;

	if (__builtin_expect(slot - running->window.low >= running->window.length ||
				 slot >= running->kept_frames ||
				 running->stack->frames.count == running->stack->frames.room,
			     0))
		return nm_replay_change_any_frame(r, decoded, slot);
	nm_replay_put_frame(r, decoded, slot);
	return 0;
}

/* validate.c: whether cached results are what a fresh look-up finds, between two records. For tests and
 * checks. */
int nm_replay_is_valid(struct nm_replay *replay);

#endif
