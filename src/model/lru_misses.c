/* SPDX-License-Identifier: MIT
 *
 * lru_misses.c - see lru_misses.h. The lines of a set lie in the order of their last touch.
 *
 * Counting rules: a reference that spans lines touches each of them and misses once; a level is referenced by
 * the fills of the one before it.
 */
#include "lru_misses.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WAYS = 64 };

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
	unsigned side, count;
	struct level *at[NM_MAX_DEPTH + 1];
};

struct nm_lru_misses {
	struct level levels[NM_MAX_LEVELS];
	unsigned level_count;
	struct chain chains[NM_MAX_LEVELS];
	unsigned chain_count;
	size_t keys;
};

int nm_lru_misses_check(const struct nm_machine *m, const char *what, struct nm_error *err)
{
	if (m->cores > 1)
		return nm_fail(err, NM_EINVAL, "%s are of one core", what);
	for (unsigned i = 0; i < m->count; i++) {
		const struct nm_level_spec *l = &m->levels[i];

		if (l->policy || l->index != NM_INDEX_MODULO || l->write_through || l->no_allocate ||
		    l->inclusion != NM_NON_INCLUSIVE || l->pages || l->sector || l->prefetch || l->plugin[0])
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

	chain->side = side == NM_SIDE_INSTRUCTION;
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
		for (enum nm_level_side side = NM_SIDE_DATA; side <= NM_SIDE_INSTRUCTION; side++)
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

const uint64_t *nm_lru_misses_of(const struct nm_lru_misses *caches, unsigned level)
{
	return caches->levels[level].misses;
}

size_t nm_lru_misses_keys(const struct nm_lru_misses *caches) { return caches->keys; }

/* Way i of a set becomes the latest one; if its line is missing there, loads it. */
static void load_or_move(struct level *l, uint64_t set, uint32_t i, int missing, uint32_t key)
{
	uint32_t *loaders = &l->loaders[set * l->ways], loader = missing ? key : loaders[i];

	if (missing)
		l->load(l->self, loaders[i]);
	for (; i > 0; i--)
		loaders[i] = loaders[i - 1];
	loaders[0] = loader;
}

/* Whether the line is missing; it is there now, as the latest of its set. */
static inline int touch(struct level *l, uint64_t line, uint32_t key)
{
	const uint64_t set = l->mask || l->sets == 1 ? line & l->mask : line % l->sets, tag = line + 1;
	uint64_t *lines = &l->lines[set * l->ways];
	uint32_t i = 0;
	int missing;

	if (lines[0] == tag)
		return 0;
	while (i < l->ways && lines[i] != tag)
		i++;
	missing = i == l->ways;
	i -= (uint32_t)missing;
	if (l->loaders)
		load_or_move(l, set, i, missing, key);
	for (; i > 0; i--)
		lines[i] = lines[i - 1];
	lines[0] = tag;
	return missing;
}

/* A fill that the first level of a chain asks for. */
static void fill(const struct chain *chain, uint64_t address, uint32_t key)
{
	for (unsigned depth = 1; depth < chain->count; depth++) {
		struct level *l = chain->at[depth];

		if (!touch(l, address >> l->shift, key))
			return;
		l->misses[key]++;
	}
}

static inline void refer(const struct chain *chain, uint64_t address, unsigned size, uint32_t key)
{
	struct level *l = chain->at[0];
	int missed = 0;

	for (uint64_t line = address >> l->shift; line <= (address + size - 1) >> l->shift; line++) {
		if (!touch(l, line, key))
			continue;
		missed = 1;
		fill(chain, line << l->shift, key);
	}
	l->misses[key] += (uint64_t)missed;
}

void nm_lru_misses_run(struct nm_lru_misses *caches, const struct nm_lru_misses_ref *refs, size_t count,
		       const uint64_t *shifts)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned c = 0; c < caches->chain_count; c++)
			if (caches->chains[c].side == refs[i].is_fetch)
				refer(&caches->chains[c], refs[i].address + shifts[refs[i].area],
				      refs[i].size, refs[i].key);
}
