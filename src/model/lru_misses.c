/* SPDX-License-Identifier: MIT
 *
 * lru_misses.c - see lru_misses.h. The lines of a set lie in the order of their last touch.
 *
 * No level affects the one before it. So of a run of references to data the misses of a level are a list, which the
 * next level takes as a whole: it knows early where it will look them up, so the host can prefetch its sets.
 *
 * Counting rules: a reference that spans lines touches each of them and misses once; a level is referenced by
 * the fills of the one before it.
 */
#include "lru_misses.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_WAYS = 64,
	LIST = 512, /* misses */
	AHEAD = 8,  /* misses whose sets are prefetched */
};

struct level {
	uint64_t *lines;     /* [sets][ways]: number of the line + 1, or 0; the latest first */
	uint64_t sets, mask; /* mask: sets - 1 if that is a power of two, else 0 */
	uint32_t ways;
	unsigned shift;
	uint64_t *misses; /* by key */
	/* of a level that is watched, else NULL: by line the key that loaded it */
	uint32_t *loaders;
	void (*load)(void *self, uint32_t victim);
	void *self;
};

/* The levels on the way of a machine's data or fetches. */
struct chain {
	unsigned count;
	struct level *at[NM_MAX_DEPTH + 1];
};

struct nm_lru_misses {
	struct level levels[NM_MAX_LEVELS];
	unsigned level_count;
	struct chain chains[NM_MAX_LEVELS]; /* of data, then of fetches from */
	unsigned fetches, chain_count;
	size_t keys;
};

int nm_lru_misses_check(const struct nm_machine *m, const char *what, struct nm_error *err)
{
	if (m->cores > 1)
		return nm_fail(err, NM_EINVAL, "%s are of one core", what);
	for (unsigned i = 0; i < m->count; i++) {
		const struct nm_level_spec *l = &m->levels[i];

		if (!nm_level_has_default_rules(l))
			return nm_fail(err, NM_EINVAL,
				       "%s are simulated with the default rules alone, and %s has others",
				       what, l->name);
		if (l->ways > MOST_WAYS)
			return nm_fail(err, NM_EINVAL, "%s are simulated with %d ways at most; %s has %u",
				       what, MOST_WAYS, l->name, l->ways);
	}
	return 0;
}

static void add_chain(struct nm_lru_misses *caches, const struct nm_machine *m, unsigned first,
		      enum nm_level_side side)
{
	struct chain *chain = &caches->chains[caches->chain_count++];

	for (unsigned i = first; i < m->count; i++)
		if ((m->levels[i].side == side || m->levels[i].side == NM_SIDE_UNIFIED) &&
		    nm_machine_same(m->levels[first].name, m->levels[i].name))
			chain->at[chain->count++] = &caches->levels[i];
}

struct nm_lru_misses *nm_lru_misses_new(const struct nm_machine *m)
{
	struct nm_lru_misses *caches = calloc(1, sizeof *caches);

	for (unsigned i = 0; caches && i < m->count; i++) {
		const struct nm_level_spec *spec = &m->levels[i];
		struct level *l = &caches->levels[caches->level_count++];

		*l = (struct level){.lines = calloc(spec->sets * spec->ways, sizeof *l->lines),
				    .sets = spec->sets,
				    .mask = spec->sets & (spec->sets - 1) ? 0 : spec->sets - 1,
				    .ways = spec->ways,
				    .shift = (unsigned)__builtin_ctz(spec->line)};
		if (!l->lines) {
			nm_lru_misses_free(caches);
			return NULL;
		}
	}
	for (enum nm_level_side side = NM_SIDE_DATA; caches && side <= NM_SIDE_INSTRUCTION; side++) {
		caches->fetches = caches->chain_count;
		for (unsigned i = 0; i < m->count; i++)
			if (nm_machine_first(m, i, side))
				add_chain(caches, m, i, side);
	}
	return caches;
}

void nm_lru_misses_free(struct nm_lru_misses *caches)
{
	if (!caches)
		return;
	for (unsigned i = 0; i < caches->level_count; i++) {
		free(caches->levels[i].lines);
		free(caches->levels[i].misses);
		free(caches->levels[i].loaders);
	}
	free(caches);
}

int nm_lru_misses_watch(struct nm_lru_misses *caches, unsigned level,
			void (*load)(void *self, uint32_t victim), void *self)
{
	struct level *l = &caches->levels[level];

	assert(level < caches->level_count && !caches->levels[level].loaders);
	l->load = load;
	l->self = self;
	l->loaders = calloc(l->sets * l->ways, sizeof *l->loaders);
	return l->loaders ? 0 : NM_ENOMEM;
}

int nm_lru_misses_reserve(struct nm_lru_misses *caches, size_t keys)
{
	for (unsigned i = 0; i < caches->level_count && keys > caches->keys; i++) {
		uint64_t *more = realloc(caches->levels[i].misses, keys * sizeof *more);

		if (!more)
			return NM_ENOMEM;
		memset(more + caches->keys, 0, (keys - caches->keys) * sizeof *more);
		caches->levels[i].misses = more;
	}
	caches->keys = keys > caches->keys ? keys : caches->keys;
	return 0;
}

const uint64_t *nm_lru_misses_by_key(const struct nm_lru_misses *caches, unsigned level)
{
	assert(level < caches->level_count);
	return caches->levels[level].misses;
}

size_t nm_lru_misses_keys(const struct nm_lru_misses *caches) { return caches->keys; }

/* Where the set of a line begins. */
static inline uint64_t *set_of(const struct level *l, uint64_t line)
{
	return &l->lines[(l->mask || l->sets == 1 ? line & l->mask : line % l->sets) * l->ways];
}

/* Way i of a set becomes the latest one; if its line is missing there, loads it. */
static void load_or_move(struct level *l, uint32_t *loaders, uint32_t i, int missing, uint32_t key)
{
	const uint32_t loader = missing ? key : loaders[i];

	if (missing)
		l->load(l->self, loaders[i]);
	for (; i > 0; i--)
		loaders[i] = loaders[i - 1];
	loaders[0] = loader;
}

/* Whether the line is missing; it is there now, as the latest of its set. */
static inline int touch_line(struct level *l, uint64_t line, uint32_t key)
{
	const uint64_t tag = line + 1;
	uint64_t *lines = set_of(l, line), moved = lines[0];
	uint32_t i = 0;

	if (moved == tag)
		return 0;
	for (lines[0] = tag; ++i < l->ways;) {
		const uint64_t next = lines[i];

		lines[i] = moved;
		moved = next;
		if (moved == tag)
			break;
	}
	if (l->loaders)
		load_or_move(l, l->loaders + (lines - l->lines), i < l->ways ? i : l->ways - 1, i == l->ways,
			     key);
	return i == l->ways;
}

/* A fill that the first level of a chain asks for. */
static void request_fill(const struct chain *chain, uint64_t address, uint32_t key)
{
	for (unsigned depth = 1; depth < chain->count; depth++) {
		struct level *l = chain->at[depth];

		if (!touch_line(l, address >> l->shift, key))
			return;
		l->misses[key]++;
	}
}

/* Whether the reference missed in the first level. */
static inline int refer_address(const struct chain *chain, uint64_t address, unsigned size, uint32_t key)
{
	struct level *l = chain->at[0];
	int missed = 0;

	for (uint64_t line = address >> l->shift; line <= (address + size - 1) >> l->shift; line++) {
		if (!touch_line(l, line, key))
			continue;
		missed = 1;
		request_fill(chain, line << l->shift, key);
	}
	l->misses[key] += (uint64_t)missed;
	return missed;
}

/* ---- runs of references ---- */

/* What a level has missed, in order. */
struct missed {
	uint64_t address;
	uint32_t key;
};

/* Keeps those misses of the level before that this one misses too; their number. */
static unsigned take_list(struct level *l, struct missed *list, unsigned count)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct missed m = list[i], *next = &list[i + AHEAD < count ? i + AHEAD : i];
		const uint64_t *set = set_of(l, next->address >> l->shift);

		for (uint32_t way = 0; way < l->ways; way += 8)
			__builtin_prefetch(set + way, 1);
		if (!touch_line(l, m.address >> l->shift, m.key))
			continue;
		l->misses[m.key]++;
		list[kept++] = m;
	}
	return kept;
}

static void take_further(const struct chain *chain, struct missed *list, unsigned count)
{
	for (unsigned depth = 1; depth < chain->count && count; depth++)
		count = take_list(chain->at[depth], list, count);
}

/* References to data. */
static void run_data(const struct chain *chain, const struct nm_lru_misses_ref *refs, size_t count,
		     const uint64_t *shifts)
{
	struct level *l = chain->at[0];
	struct missed list[LIST];
	unsigned n = 0;

	for (const struct nm_lru_misses_ref *r = refs; r != refs + count; r++) {
		const uint64_t address = r->address + shifts[r->area];
		int missed = 0;

		for (uint64_t line = address >> l->shift; line <= (address + r->size - 1) >> l->shift;
		     line++) {
			if (!touch_line(l, line, r->key))
				continue;
			missed = 1;
			if (n == LIST) {
				take_further(chain, list, n);
				n = 0;
			}
			list[n++] = (struct missed){line << l->shift, r->key};
		}
		l->misses[r->key] += (uint64_t)missed;
	}
	take_further(chain, list, n);
}

static void run_fetch(const struct nm_lru_misses *caches, const struct nm_lru_misses_ref *r,
		      const uint64_t *shifts)
{
	for (unsigned i = caches->fetches; i < caches->chain_count; i++)
		(void)refer_address(&caches->chains[i], r->address + shifts[r->area], r->size, r->key);
}

void nm_lru_misses_run(struct nm_lru_misses *caches, const struct nm_lru_misses_ref *refs, size_t count,
		       const uint64_t *shifts)
{
	for (size_t i = 0, n; i < count; i += n) {
		for (n = 0; i + n < count && !refs[i + n].is_fetch; n++)
			;
		for (unsigned chain = 0; n && chain < caches->fetches; chain++)
			run_data(&caches->chains[chain], refs + i, n, shifts);
		if (!n) {
			run_fetch(caches, &refs[i], shifts);
			n = 1;
		}
	}
}

unsigned nm_lru_misses_touch(struct nm_lru_misses *caches, uint64_t address)
{
	const struct chain *chain = &caches->chains[0];
	unsigned depth = 0;

	assert(caches->fetches == 1);
	while (depth < chain->count && touch_line(chain->at[depth], address >> chain->at[depth]->shift, 0))
		depth++;
	return depth;
}

/* ---- loops ---- */

/* Rounds until the reference leaves its line; 1 if it spans several. */
static inline uint64_t rounds_in_line(const struct nm_lru_misses_ref *r, int64_t step, uint32_t line)
{
	const uint32_t at = (uint32_t)r->address & (line - 1);

	if (at + r->size > line || step >= line || step <= -(int64_t)line)
		return 1;
	if (!step)
		return UINT64_MAX;
	return 1 + (step > 0 ? (line - r->size - at) / (uint32_t)step : at / (uint32_t)-step);
}

/* Rounds, `most` at most, in which no reference leaves its line; left: those of each one, 0: not known. */
static inline uint64_t rounds_alike(const struct nm_lru_misses_ref *refs, const int64_t *steps,
				    uint32_t count, uint32_t line, uint64_t *left, uint64_t most)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!left[i])
			left[i] = rounds_in_line(&refs[i], steps[i], line);
		most = left[i] < most ? left[i] : most;
	}
	return most;
}

/* Whether a reference missed. */
static inline int run_round(const struct chain *chain, struct nm_lru_misses_ref *refs, const int64_t *steps,
			    uint32_t count)
{
	int missed = 0;

	for (uint32_t i = 0; i < count; i++) {
		missed |= refer_address(chain, refs[i].address, refs[i].size, refs[i].key);
		refs[i].address += (uint64_t)steps[i];
	}
	return missed;
}

/* While no reference leaves its line, a round without a miss leaves the lines in an order that all further ones
 * repeat: they have no miss either, and need not be simulated. */
void nm_lru_misses_loop(struct nm_lru_misses *caches, struct nm_lru_misses_ref *refs, const int64_t *steps,
			uint32_t count, uint64_t rounds)
{
	const struct chain *chain = &caches->chains[0];
	const uint32_t line = 1u << chain->at[0]->shift;
	uint64_t left[NM_LRU_MISSES_LOOP] = {0};
	int leaps = 0; /* a reference leaves its line in each round */

	assert(caches->fetches && count <= NM_LRU_MISSES_LOOP);
	for (uint32_t i = 0; i < count; i++)
		leaps |= steps[i] >= line || steps[i] <= -(int64_t)line;
	for (; leaps && rounds; rounds--)
		(void)run_round(chain, refs, steps, count);
	while (rounds) {
		const uint64_t alike = rounds_alike(refs, steps, count, line, left, rounds);
		uint64_t done = 0;
		int missed = 1;

		for (; done < alike && missed; done++)
			missed = run_round(chain, refs, steps, count);
		for (uint32_t i = 0; i < count; i++) {
			refs[i].address += (alike - done) * (uint64_t)steps[i];
			left[i] -= alike;
		}
		rounds -= alike;
	}
}

/* ---- states ---- */

size_t nm_lru_misses_lines(const struct nm_lru_misses *caches)
{
	size_t lines = 0;

	for (unsigned i = 0; i < caches->level_count; i++)
		lines += caches->levels[i].sets * caches->levels[i].ways;
	return lines;
}

void nm_lru_misses_save(const struct nm_lru_misses *caches, uint64_t *lines)
{
	for (unsigned i = 0; i < caches->level_count; i++) {
		const struct level *l = &caches->levels[i];
		const size_t count = l->sets * l->ways;

		memcpy(lines, l->lines, count * sizeof *lines);
		lines += count;
	}
}

static int level_is_moved(const struct level *l, const uint64_t *lines, const int64_t *moves)
{
	const uint64_t turn = (uint64_t)(moves[0] >> l->shift);

	for (uint64_t set = 0; set < l->sets; set++) {
		const uint64_t *now = &l->lines[((set + turn) & l->mask) * l->ways];

		for (uint32_t i = 0; i < l->ways; i++, lines++) {
			const uint64_t area = *lines ? (*lines - 1) << l->shift >> NM_LRU_MISSES_AREA : 0;

			if (now[i] != (*lines ? *lines + (uint64_t)(moves[area] >> l->shift) : 0))
				return 0;
		}
	}
	return 1;
}

int nm_lru_misses_is_moved(const struct nm_lru_misses *caches, const uint64_t *lines, const int64_t *moves)
{
	for (unsigned i = 0; i < caches->level_count; i++) {
		const struct level *l = &caches->levels[i];

		if (!level_is_moved(l, lines, moves))
			return 0;
		lines += l->sets * l->ways;
	}
	return 1;
}
