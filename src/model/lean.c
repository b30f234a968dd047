/* SPDX-License-Identifier: MIT
 *
 * lean.c - see lean.h. The lines of a set lie in the order of their last touch.
 *
 * Counting rules: a reference that spans lines touches each of them and misses once; a level is referenced by
 * the fills of the one before it.
 */
#include "lean.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WAYS = 64, SIDES = 2 };

struct level {
	uint64_t *lines;     /* [sets][ways]: number of the line + 1, or 0; the latest first */
	uint64_t sets, mask; /* mask: sets - 1 if that is a power of two, else 0 */
	uint32_t ways;
	unsigned shift;
	uint64_t *misses; /* by key */
};

/* The levels on the way of a machine's data or fetches. */
struct chain {
	unsigned side, count;
	struct level *at[NM_MAX_DEPTH + 1];
};

struct nm_lean {
	struct level levels[NM_MAX_LEVELS];
	unsigned level_count;
	struct chain chains[NM_MAX_LEVELS];
	unsigned chain_count;
	size_t keys;
};

int nm_lean_check(const struct nm_machine *m, struct nm_error *err)
{
	if (m->cores > 1)
		return nm_fail(err, NM_EINVAL, "relocations are of one core");
	for (unsigned i = 0; i < m->count; i++) {
		const struct nm_level_spec *l = &m->levels[i];

		if (l->policy || l->index != NM_INDEX_MODULO || l->write_through || l->no_allocate ||
		    l->inclusion != NM_NON_INCLUSIVE || l->pages || l->sector || l->prefetch || l->plugin[0])
			return nm_fail(
			    err, NM_EINVAL,
			    "relocations are simulated with the default rules alone, which %s has not",
			    l->name);
		if (l->ways > MOST_WAYS)
			return nm_fail(err, NM_EINVAL,
				       "relocations are simulated with %d ways at most; %s has %u", MOST_WAYS,
				       l->name, l->ways);
	}
	return 0;
}

unsigned nm_lean_ways(const struct nm_machine *m)
{
	unsigned fewest = MOST_WAYS;

	for (unsigned i = 0; i < m->count; i++)
		if ((nm_machine_first(m, i, NM_SIDE_DATA) || nm_machine_first(m, i, NM_SIDE_INSTRUCTION)) &&
		    m->levels[i].ways < fewest)
			fewest = m->levels[i].ways;
	return fewest;
}

static void add_chain(struct nm_lean *lean, const struct nm_machine *m, unsigned first,
		      enum nm_level_side side)
{
	struct chain *chain = &lean->chains[lean->chain_count++];

	chain->side = side == NM_SIDE_INSTRUCTION;
	for (unsigned i = first; i < m->count; i++)
		if ((m->levels[i].side == side || m->levels[i].side == NM_SIDE_UNIFIED) &&
		    nm_machine_same(m->levels[first].name, m->levels[i].name))
			chain->at[chain->count++] = &lean->levels[i];
}

struct nm_lean *nm_lean_new(const struct nm_machine *m)
{
	struct nm_lean *lean = calloc(1, sizeof *lean);

	for (unsigned i = 0; lean && i < m->count; i++) {
		const struct nm_level_spec *spec = &m->levels[i];
		struct level *l = &lean->levels[lean->level_count++];

		*l = (struct level){.lines = calloc(spec->sets * spec->ways, sizeof *l->lines),
				    .sets = spec->sets,
				    .mask = spec->sets & (spec->sets - 1) ? 0 : spec->sets - 1,
				    .ways = spec->ways,
				    .shift = (unsigned)__builtin_ctz(spec->line)};
		if (!l->lines) {
			nm_lean_free(lean);
			return NULL;
		}
		for (enum nm_level_side side = NM_SIDE_DATA; side <= NM_SIDE_INSTRUCTION; side++)
			if (nm_machine_first(m, i, side))
				add_chain(lean, m, i, side);
	}
	return lean;
}

void nm_lean_free(struct nm_lean *lean)
{
	if (!lean)
		return;
	for (unsigned i = 0; i < lean->level_count; i++) {
		free(lean->levels[i].lines);
		free(lean->levels[i].misses);
	}
	free(lean);
}

int nm_lean_reserve(struct nm_lean *lean, size_t keys)
{
	for (unsigned i = 0; i < lean->level_count && keys > lean->keys; i++) {
		uint64_t *more = realloc(lean->levels[i].misses, keys * sizeof *more);

		if (!more)
			return NM_ENOMEM;
		memset(more + lean->keys, 0, (keys - lean->keys) * sizeof *more);
		lean->levels[i].misses = more;
	}
	lean->keys = keys > lean->keys ? keys : lean->keys;
	return 0;
}

const uint64_t *nm_lean_misses(const struct nm_lean *lean, unsigned level)
{
	return lean->levels[level].misses;
}

size_t nm_lean_keys(const struct nm_lean *lean) { return lean->keys; }

/* Whether the line is missing; it is there now, as the latest of its set. */
static inline int touch(struct level *l, uint64_t line)
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
	for (i -= (uint32_t)missing; i > 0; i--)
		lines[i] = lines[i - 1];
	lines[0] = tag;
	return missing;
}

/* A fill that the first level of a chain asks for. */
static void fill(const struct chain *chain, uint64_t address, uint32_t key)
{
	for (unsigned depth = 1; depth < chain->count; depth++) {
		struct level *l = chain->at[depth];

		if (!touch(l, address >> l->shift))
			return;
		l->misses[key]++;
	}
}

static inline void refer(const struct chain *chain, uint64_t address, unsigned size, uint32_t key)
{
	struct level *l = chain->at[0];
	int missed = 0;

	for (uint64_t line = address >> l->shift; line <= (address + size - 1) >> l->shift; line++) {
		if (!touch(l, line))
			continue;
		missed = 1;
		fill(chain, line << l->shift, key);
	}
	l->misses[key] += (uint64_t)missed;
}

void nm_lean_run(struct nm_lean *lean, const struct nm_lean_ref *refs, size_t count, const uint64_t *shifts)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned c = 0; c < lean->chain_count; c++)
			if (lean->chains[c].side == refs[i].is_fetch)
				refer(&lean->chains[c], refs[i].address + shifts[refs[i].area], refs[i].size,
				      refs[i].key);
}
