/* SPDX-License-Identifier: MIT
 *
 * References wait in the window until all that can be prefetched before them is known. Then each trial runs them, first
 * those without prefetches, whose hits and misses the others compare with theirs; on several threads.
 *
 * Not all references need be run: one whose line was touched last of its set, in the caches with the fewest sets, and
 * since the last execution, which may have prefetched, hits in each trial and leaves all as it is.
 *
 * Dropped: leaving out what strip.h does. Each execution would end its window, and loops execute their loads often.
 */
#include "prefetch_trials.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "vector.h"

enum { FILTER = 1 << 12, MOST_THREADS = 8, DEPTHS = NM_MAX_DEPTH + 1 };

struct window_ref {
	struct nm_lru_misses_ref ref;
	uint32_t sequence;
	uint64_t time, execution; /* numbers: of the reference, of the execution in its sequence */
};

struct target {
	uint64_t address, time;
};

/* The executions that may still be prefetched; `first` is the number of the first one. */
struct sequence {
	struct nm_vec(struct target) targets;
	uint64_t first;
};

struct trial {
	struct nm_prefetch_trials *of;
	struct nm_lru_misses *caches;
	unsigned distance, base;            /* base: the trial of its machine without prefetches */
	uint32_t latency[NM_MAX_DEPTH + 2]; /* by the number of levels that lack the line */
	struct nm_prefetch_counts counts;
	/* lines that were prefetched and not referenced since -> when they come, and how many levels lacked them */
	struct nm_map waiting;
	uint16_t filter[FILTER]; /* how many of them, by the last bits of their numbers */
	uint64_t *misses;        /* [keys][NM_MAX_DEPTH] */
	uint8_t *missed;         /* without prefetches: by reference of the window, whether it missed */
	int failed;
};

/* The line touched last of a set, + 1, and the executions until then. */
struct last_touch {
	uint64_t line, executions;
};

struct nm_prefetch_trials {
	struct nm_vec(struct window_ref) window;
	size_t ready;  /* references of the window that are run now */
	uint64_t time; /* references so far */
	uint64_t executions;
	struct nm_vec(struct sequence) sequences;
	struct nm_map lines;     /* that executions accessed */
	struct last_touch *last; /* [sets] */
	uint64_t sets;           /* a divisor of those of all first levels */
	unsigned shift;
	size_t keys, missed_room;
	unsigned threads, count;
	struct trial at[];
};

int nm_prefetch_trials_check(const struct nm_machine *m, struct nm_error *err)
{
	unsigned firsts = 0;

	for (unsigned i = 0; i < m->count; i++)
		firsts += (unsigned)nm_machine_first(m, i, NM_SIDE_DATA);
	if (firsts != 1)
		return nm_fail(err, NM_EINVAL, "prefetches are tried on one machine");
	return nm_lru_misses_check(m, "prefetches that the program does not make", err);
}

/* ---- trials ---- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static int start_trial(struct nm_prefetch_trials *t, const struct nm_prefetch_trial *spec)
{
	const struct nm_machine *m = spec->machine;
	struct trial *trial = &t->at[t->count];
	const struct nm_level_spec *first = nm_machine_data_cache(m);
	unsigned depth = 0;

	assert(!t->count || t->shift == (unsigned)__builtin_ctz(first->line));
	assert(spec->distance <= NM_TRIAL_DISTANCE && (spec->distance ? t->count : 1));
	*trial = (struct trial){.of = t, .caches = nm_lru_misses_new(m), .distance = spec->distance};
	trial->base = spec->distance ? t->at[t->count - 1].base : t->count;
	t->shift = (unsigned)__builtin_ctz(first->line);
	t->sets = common_divisor(t->sets, first->sets);
	t->count++;
	for (unsigned i = 0; i < m->count; i++)
		if (m->levels[i].side != NM_SIDE_INSTRUCTION)
			trial->latency[depth++] = m->levels[i].latency;
	trial->latency[depth] = m->memory_latency;
	return trial->caches ? 0 : NM_ENOMEM;
}

struct nm_prefetch_trials *nm_prefetch_trials_new(const struct nm_prefetch_trial *trials, unsigned count,
						  unsigned threads)
{
	struct nm_prefetch_trials *t = calloc(1, sizeof *t + count * sizeof *t->at);
	int status = t ? 0 : NM_ENOMEM;

	for (unsigned i = 0; i < count && !status; i++)
		status = start_trial(t, &trials[i]);
	if (!status) {
		t->threads = threads < 1 ? 1 : threads < MOST_THREADS ? threads : MOST_THREADS;
		t->last = calloc(t->sets, sizeof *t->last);
		status = t->last ? 0 : NM_ENOMEM;
	}
	if (status) {
		nm_prefetch_trials_free(t);
		t = NULL;
	}
	return t;
}

void nm_prefetch_trials_free(struct nm_prefetch_trials *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < t->count; i++) {
		nm_lru_misses_free(t->at[i].caches);
		nm_map_done(&t->at[i].waiting);
		free(t->at[i].misses);
		free(t->at[i].missed);
	}
	for (size_t i = 0; i < t->sequences.count; i++)
		nm_vec_free(&t->sequences.at[i].targets);
	nm_vec_free(&t->sequences);
	nm_vec_free(&t->window);
	nm_map_done(&t->lines);
	free(t->last);
	free(t);
}

int nm_prefetch_trials_reserve(struct nm_prefetch_trials *t, size_t keys)
{
	for (unsigned i = 0; i < t->count && keys > t->keys; i++) {
		uint64_t *more = realloc(t->at[i].misses, keys * NM_MAX_DEPTH * sizeof *more);

		if (!more)
			return NM_ENOMEM;
		memset(more + t->keys * NM_MAX_DEPTH, 0, (keys - t->keys) * NM_MAX_DEPTH * sizeof *more);
		t->at[i].misses = more;
	}
	t->keys = keys > t->keys ? keys : t->keys;
	return 0;
}

/* ---- the window runs ---- */

static void prefetch_ahead(struct trial *trial, const struct window_ref *r)
{
	const struct nm_prefetch_trials *t = trial->of;
	const struct sequence *s = &t->sequences.at[r->sequence - 1];
	const uint64_t i = r->execution + trial->distance - s->first;
	uint64_t line;
	unsigned depth;

	if (i >= s->targets.count || s->targets.at[i].time - r->time > NM_TRIAL_AHEAD)
		return;
	line = s->targets.at[i].address >> t->shift;
	depth = nm_lru_misses_touch(trial->caches, s->targets.at[i].address);
	trial->counts.prefetches++;
	trial->counts.redundant += !depth;
	if (!depth)
		return;
	trial->filter[line % FILTER] += nm_map_get(&trial->waiting, line, UINT64_MAX) == UINT64_MAX;
	trial->failed |=
	    nm_map_put(&trial->waiting, line, (r->time + trial->latency[depth]) * DEPTHS + depth);
}

/* A line is referenced; if it waits, this ends that. */
static void meet_waiting(struct trial *trial, uint64_t line, int is_there, uint64_t now)
{
	const uint64_t value = nm_map_get(&trial->waiting, line, UINT64_MAX), due = value / DEPTHS;

	if (value == UINT64_MAX)
		return;
	(void)nm_map_remove(&trial->waiting, line);
	trial->filter[line % FILTER]--;
	if (!is_there)
		return;
	trial->counts.useful++;
	trial->counts.late[value % DEPTHS] += now < due;
	trial->counts.rest[value % DEPTHS] += now < due ? due - now : 0;
}

/* Whether the reference misses. */
static inline int refer(struct trial *trial, const struct window_ref *r)
{
	const unsigned shift = trial->of->shift;
	const uint64_t last = (r->ref.address + r->ref.size - 1) >> shift;
	uint64_t *misses = &trial->misses[r->ref.key * NM_MAX_DEPTH];
	int missed = 0;

	for (uint64_t line = r->ref.address >> shift; line <= last; line++) {
		const unsigned depth = nm_lru_misses_touch(trial->caches, line << shift);

		if (trial->filter[line % FILTER])
			meet_waiting(trial, line, !depth, r->time);
		missed |= depth > 0;
		for (unsigned k = 1; k < depth; k++)
			misses[k]++;
	}
	misses[0] += (uint64_t)missed;
	return missed;
}

static void run_base(struct trial *trial)
{
	const struct nm_prefetch_trials *t = trial->of;

	for (size_t i = 0; i < t->ready; i++)
		trial->missed[i] = (uint8_t)refer(trial, &t->window.at[i]);
}

static void run_trial(struct trial *trial)
{
	const struct nm_prefetch_trials *t = trial->of;
	const uint8_t *missed_before = t->at[trial->base].missed;

	for (size_t i = 0; i < t->ready; i++) {
		const struct window_ref *r = &t->window.at[i];
		int missed;

		if (r->sequence)
			prefetch_ahead(trial, r);
		missed = refer(trial, r);
		trial->counts.covered += r->ref.key && missed_before[i] && !missed;
		trial->counts.polluted += r->ref.key && !missed_before[i] && missed;
	}
}

/* Every threads-th trial that prefetches, from this one on. */
static void *run_some(void *first)
{
	struct trial *trial = first;
	struct nm_prefetch_trials *t = trial->of;

	for (; trial < t->at + t->count; trial += t->threads)
		if (trial->distance)
			run_trial(trial);
	return NULL;
}

static void run_all(struct nm_prefetch_trials *t)
{
	pthread_t threads[MOST_THREADS];
	const unsigned wanted = t->threads < t->count ? t->threads : t->count;
	unsigned started = 1;

	for (unsigned i = 0; i < t->count; i++)
		if (!t->at[i].distance)
			run_base(&t->at[i]);
	while (started < wanted && !pthread_create(&threads[started], NULL, run_some, &t->at[started]))
		started++;
	run_some(&t->at[0]);
	for (unsigned i = started; i < wanted; i++) /* those that the system gave no thread */
		run_some(&t->at[i]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
}

/* Forgets targets that no reference of the window looks ahead to. */
static void forget_targets(struct nm_prefetch_trials *t, uint64_t time)
{
	for (size_t i = 0; i < t->sequences.count; i++) {
		struct sequence *s = &t->sequences.at[i];
		size_t past = 0;

		while (past < s->targets.count && s->targets.at[past].time < time)
			past++;
		s->targets.count -= past;
		s->first += past;
		memmove(s->targets.at, s->targets.at + past, s->targets.count * sizeof *s->targets.at);
	}
}

/* Runs the references of which all is known that comes NM_TRIAL_AHEAD references later, or all. */
static int run_window(struct nm_prefetch_trials *t, int all)
{
	int status = 0;

	for (t->ready = 0; t->ready < t->window.count; t->ready++)
		if (!all && t->window.at[t->ready].time + NM_TRIAL_AHEAD >= t->time)
			break;
	for (unsigned i = 0; i < t->count && t->ready > t->missed_room; i++)
		if (!t->at[i].distance) {
			free(t->at[i].missed);
			t->at[i].missed = malloc(t->ready);
			status |= t->at[i].missed ? 0 : NM_ENOMEM;
		}
	if (status)
		return NM_ENOMEM;
	t->missed_room = t->ready > t->missed_room ? t->ready : t->missed_room;
	run_all(t);
	for (unsigned i = 0; i < t->count; i++)
		status |= t->at[i].failed;
	t->window.count -= t->ready;
	memmove(t->window.at, t->window.at + t->ready, t->window.count * sizeof *t->window.at);
	forget_targets(t, t->window.count ? t->window.at[0].time : t->time);
	return status ? NM_ENOMEM : 0;
}

/* ---- references ---- */

/* Whether the reference would change nothing in any trial; notes it otherwise. */
static int changes_nothing(struct nm_prefetch_trials *t, const struct nm_lru_misses_ref *ref)
{
	const uint64_t first = ref->address >> t->shift, last = (ref->address + ref->size - 1) >> t->shift;
	const struct last_touch *before = &t->last[first % t->sets];

	if (first == last && before->line == first + 1 && before->executions == t->executions)
		return 1;
	for (uint64_t line = first; line <= last; line++)
		t->last[line % t->sets] = (struct last_touch){line + 1, t->executions};
	return 0;
}

static int add_execution(struct nm_prefetch_trials *t, struct window_ref *r)
{
	struct sequence *s;

	if (nm_vec_reach(&t->sequences, r->sequence))
		return NM_ENOMEM;
	s = &t->sequences.at[r->sequence - 1];
	r->execution = s->first + s->targets.count;
	t->executions++;
	return nm_vec_push(&s->targets, (struct target){r->ref.address, t->time}) ||
		       nm_map_put(&t->lines, r->ref.address >> t->shift, 1)
		   ? NM_ENOMEM
		   : 0;
}

int nm_prefetch_trials_add(struct nm_prefetch_trials *t, const struct nm_lru_misses_ref *ref,
			   uint32_t sequence)
{
	struct window_ref r = {.ref = *ref, .sequence = sequence, .time = t->time};

	assert(ref->size > 0 && ref->key < t->keys);
	if (sequence && add_execution(t, &r))
		return NM_ENOMEM;
	t->time++;
	if (changes_nothing(t, ref) && !sequence)
		return 0;
	if (nm_vec_push(&t->window, r))
		return NM_ENOMEM;
	return t->time - t->window.at[0].time < 2 * NM_TRIAL_AHEAD ? 0 : run_window(t, 0);
}

int nm_prefetch_trials_end(struct nm_prefetch_trials *t) { return run_window(t, 1); }

/* ---- the counts ---- */

const struct nm_prefetch_counts *nm_prefetch_trials_counts(const struct nm_prefetch_trials *t, unsigned trial)
{
	assert(trial < t->count);
	return &t->at[trial].counts;
}

uint64_t nm_prefetch_trials_misses(const struct nm_prefetch_trials *t, unsigned trial, size_t key,
				   unsigned depth)
{
	assert(trial < t->count);
	return t->at[trial].misses[key * NM_MAX_DEPTH + depth];
}

uint64_t nm_prefetch_trials_lines(const struct nm_prefetch_trials *t) { return t->lines.count; }
