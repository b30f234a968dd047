/* SPDX-License-Identifier: MIT
 *
 * coherence_twin.h - the slow, obvious twin of coherence: every core has arrays of LRU lines, every block an
 * array of states and of data by core, and every reference of the run stays in a list.
 *
 * Each protocol is a function of its own here, which says with arrays what src/model/coherence says with
 * lists. Bytes have values: a write gives them one that was never there before, so that a reader can tell
 * whether it sees the latest. True and false sharing are found at the end, by looking at all writes for each
 * byte of each access (quadratic).
 */
#ifndef NM_COHERENCE_TWIN_H
#define NM_COHERENCE_TWIN_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

/* As they stand in nm_protocols. */
enum twin_protocol {
	TWIN_NONE,
	TWIN_MSI,
	TWIN_MESI,
	TWIN_MOESI,
	TWIN_MESIF,
	TWIN_FULL,
	TWIN_SCOPE,
	TWIN_OPT,
	TWIN_COUNT
};

enum { TWIN_CORES = 64, TWIN_BYTES = 1 << 13, TWIN_LEVELS = 2, TWIN_NODE_PAGE = 4096 };

struct twin_line {
	uint64_t line, touched; /* touched 0: free */
};

/* A reference to one line of the first level. */
struct twin_access {
	uint64_t time, address, published; /* published: when others could load what was written; 0: never */
	unsigned core, bytes, attr;
	int write;
};

/* A stay of a block at a core. */
struct twin_stay {
	uint64_t from, until, block; /* until 0: it is there */
	unsigned core;
	int after_loss; /* the one before ended by an invalidation, and is `before` */
	int was_lost;   /* this one did */
	long before;
};

/* A coherence miss of a level. */
struct twin_miss {
	uint64_t time;
	long stay;
	unsigned level, attr, core, bytes;
	uint64_t address;
	int true_sharing, true_first, true_words, unneeded;
};

struct twin {
	enum twin_protocol protocol;
	unsigned cores, levels, line[TWIN_LEVELS], sets[TWIN_LEVELS], ways[TWIN_LEVELS], block, nodes;
	struct twin_line *lines[TWIN_CORES][TWIN_LEVELS];
	char state[TWIN_CORES][TWIN_BYTES / 8]; /* by block: 0 or a letter */
	char stale[TWIN_CORES][TWIN_BYTES / 8];
	long stay[TWIN_CORES][TWIN_BYTES / 8];              /* 1 + index of the latest, or 0 */
	char lost[TWIN_CORES][TWIN_LEVELS][TWIN_BYTES / 8]; /* by line */
	int home[TWIN_BYTES / TWIN_NODE_PAGE + 1];          /* 1 + node */
	uint64_t data[TWIN_CORES][TWIN_BYTES], memory[TWIN_BYTES], latest[TWIN_BYTES];
	char mine[TWIN_CORES][TWIN_BYTES]; /* written, and not yet in memory */
	uint64_t now, value, wrong_reads;
	uint64_t reads, writes, upgrades, invalidations, interventions, from_memory, write_backs;
	struct twin_access *accesses;
	struct twin_stay *stays;
	struct twin_miss *misses;
	size_t access_count, stay_count, miss_count, access_room, stay_room, miss_room;
};

#define TWIN_ADD(list, count, room, ...)                                   \
	do {                                                               \
		if ((count) == (room)) {                                   \
			(room) = (room) ? (room)*2 : 1024;                 \
			(list) = realloc((list), (room) * sizeof *(list)); \
		}                                                          \
		(list)[(count)++] = (__VA_ARGS__);                         \
	} while (0)

static unsigned twin_node(const struct twin *t, unsigned core)
{
	return t->nodes ? core * t->nodes / t->cores : core;
}

/* What a core wrote to a block is in memory from now on, and seen by who loads it. */
static void twin_publish(struct twin *t, unsigned core, uint64_t block)
{
	for (uint64_t b = block * t->block; b < (block + 1) * t->block; b++) {
		if (t->mine[core][b])
			t->memory[b] = t->data[core][b];
		t->mine[core][b] = 0;
	}
	for (size_t i = 0; i < t->access_count; i++) {
		struct twin_access *a = &t->accesses[i];

		if (a->write && a->core == core && !a->published && a->address / t->block == block)
			a->published = t->now;
	}
}

static void twin_end(struct twin *t, unsigned core, uint64_t block, int lost)
{
	twin_publish(t, core, block);
	t->state[core][block] = 0;
	t->stays[t->stay[core][block] - 1].until = t->now;
	t->stays[t->stay[core][block] - 1].was_lost = lost;
	if (!lost)
		t->stay[core][block] = 0;
}

static struct twin_line *twin_set(const struct twin *t, unsigned core, unsigned level, uint64_t line)
{
	return t->lines[core][level] + line % t->sets[level] * t->ways[level];
}

static void twin_invalidate(struct twin *t, unsigned core, uint64_t block)
{
	t->invalidations++;
	for (unsigned l = 0; l < t->levels; l++)
		for (uint64_t line = block * t->block / t->line[l];
		     line < (block + 1) * t->block / t->line[l]; line++)
			for (unsigned w = 0; w < t->ways[l]; w++) {
				struct twin_line *at = &twin_set(t, core, l, line)[w];

				if (at->touched && at->line == line) {
					at->touched = 0;
					t->lost[core][l][line] = 1;
				}
			}
	twin_end(t, core, block, 1);
}

/* The block is loaded from memory, which is up to date by now. */
static void twin_begin(struct twin *t, unsigned core, uint64_t block, char state)
{
	const long before = t->stay[core][block];

	for (uint64_t b = block * t->block; b < (block + 1) * t->block; b++)
		t->data[core][b] = t->memory[b];
	TWIN_ADD(t->stays, t->stay_count, t->stay_room,
		 (struct twin_stay){.from = t->now,
				    .block = block,
				    .core = core,
				    .after_loss = before != 0,
				    .before = before - 1});
	t->stay[core][block] = (long)t->stay_count;
	t->state[core][block] = state;
	t->stale[core][block] = 0;
}

/* The core that has the block in one of the states, or -1. */
static int twin_in(const struct twin *t, unsigned but, uint64_t block, const char *states)
{
	for (unsigned c = 0; c < t->cores; c++)
		if (c != but && t->state[c][block] && strchr(states, t->state[c][block]))
			return (int)c;
	return -1;
}

/* ---- one function for each protocol ------------------------------------------------------------------ */

static void twin_supplied(struct twin *t, int owner)
{
	*(owner >= 0 ? &t->interventions : &t->from_memory) += 1;
}

static void twin_take_all(struct twin *t, unsigned core, uint64_t block, const char *suppliers)
{
	const char mine = t->state[core][block];

	if (!mine) {
		t->writes++;
		twin_supplied(t, twin_in(t, core, block, suppliers));
	} else if (mine != 'E') {
		t->upgrades++;
	}
	for (unsigned c = 0; c < t->cores; c++)
		if (c != core && t->state[c][block])
			twin_invalidate(t, c, block);
	if (!mine)
		twin_begin(t, core, block, 'M');
	t->state[core][block] = 'M';
}

static void twin_msi(struct twin *t, unsigned core, uint64_t block, int write)
{
	int owner = twin_in(t, core, block, "M");

	if (write && t->state[core][block] != 'M')
		twin_take_all(t, core, block, "M");
	if (write || t->state[core][block])
		return;
	t->reads++;
	twin_supplied(t, owner);
	if (owner >= 0) {
		t->write_backs++;
		twin_publish(t, (unsigned)owner, block);
		t->state[owner][block] = 'S';
	}
	twin_begin(t, core, block, 'S');
}

static void twin_mesi(struct twin *t, unsigned core, uint64_t block, int write)
{
	int owner = twin_in(t, core, block, "ME"), alone = twin_in(t, core, block, "MES") < 0;

	if (write && t->state[core][block] != 'M')
		twin_take_all(t, core, block, "ME");
	if (write || t->state[core][block])
		return;
	t->reads++;
	twin_supplied(t, owner);
	if (owner >= 0) {
		t->write_backs += t->state[owner][block] == 'M';
		twin_publish(t, (unsigned)owner, block);
		t->state[owner][block] = 'S';
	}
	twin_begin(t, core, block, alone ? 'E' : 'S');
}

static void twin_moesi(struct twin *t, unsigned core, uint64_t block, int write)
{
	int owner = twin_in(t, core, block, "MOE"), alone = twin_in(t, core, block, "MOES") < 0;

	if (write && t->state[core][block] != 'M')
		twin_take_all(t, core, block, "MOE");
	if (write || t->state[core][block])
		return;
	t->reads++;
	twin_supplied(t, owner);
	if (owner >= 0) {
		twin_publish(t, (unsigned)owner, block);
		t->state[owner][block] = t->state[owner][block] == 'E' ? 'S' : 'O';
	}
	twin_begin(t, core, block, alone ? 'E' : 'S');
}

static void twin_mesif(struct twin *t, unsigned core, uint64_t block, int write)
{
	int owner = twin_in(t, core, block, "MEF"), alone = twin_in(t, core, block, "MESF") < 0;

	if (write && t->state[core][block] != 'M')
		twin_take_all(t, core, block, "MEF");
	if (write || t->state[core][block])
		return;
	t->reads++;
	twin_supplied(t, owner);
	if (owner >= 0) {
		t->write_backs += t->state[owner][block] == 'M';
		twin_publish(t, (unsigned)owner, block);
		t->state[owner][block] = 'S';
	}
	twin_begin(t, core, block, alone ? 'E' : 'F');
}

/* FULL and SCOPE differ where they synchronise. */
static void twin_relaxed(struct twin *t, unsigned core, uint64_t block, int write)
{
	if (!t->state[core][block]) {
		*(write ? &t->writes : &t->reads) += 1;
		t->from_memory++;
		twin_begin(t, core, block, 'S');
	}
	if (write)
		t->state[core][block] = 'M';
}

static void twin_opt(struct twin *t, unsigned core, uint64_t block, int write)
{
	int owner = twin_in(t, core, block, "M"), has = t->state[core][block] != 0;

	if (write ? t->state[core][block] == 'M' : has && !t->stale[core][block])
		return;
	if (!write && has) {
		t->write_backs += t->state[core][block] == 'M';
		twin_invalidate(t, core, block);
		has = 0;
	}
	if (owner >= 0) {
		t->write_backs++;
		twin_publish(t, (unsigned)owner, block);
		t->state[owner][block] = 'S';
	}
	for (unsigned c = 0; c < t->cores && write; c++)
		t->stale[c][block] |= c != core && t->state[c][block];
	if (!has) {
		*(write ? &t->writes : &t->reads) += 1;
		t->from_memory++;
		twin_begin(t, core, block, 'S');
	}
	if (write)
		t->state[core][block] = 'M';
}

static void twin_synchronise(struct twin *t, unsigned core)
{
	t->now++;
	for (uint64_t block = 0; block < TWIN_BYTES / t->block; block++) {
		const int local = t->protocol == TWIN_SCOPE &&
				  t->home[block * t->block / TWIN_NODE_PAGE] == (int)twin_node(t, core) + 1;

		if ((t->protocol != TWIN_FULL && t->protocol != TWIN_SCOPE) || !t->state[core][block])
			continue;
		t->write_backs += t->state[core][block] == 'M';
		if (!local) {
			twin_invalidate(t, core, block);
		} else {
			twin_publish(t, core, block);
			t->state[core][block] = 'S';
		}
	}
}

/* ---- caches ------------------------------------------------------------------------------------------ */

static int twin_has(const struct twin *t, unsigned core, uint64_t block)
{
	for (unsigned l = 0; l < t->levels; l++)
		for (unsigned i = 0; i < t->sets[l] * t->ways[l]; i++) {
			const struct twin_line *at = &t->lines[core][l][i];

			if (at->touched && at->line * t->line[l] / t->block == block)
				return 1;
		}
	return 0;
}

static void twin_look_up(struct twin *t, unsigned core, unsigned level, const struct twin_access *a)
{
	struct twin_line *set, *victim;

	if (level == t->levels)
		return;

	const uint64_t line = a->address / t->line[level];

	victim = set = twin_set(t, core, level, line);
	for (unsigned w = 0; w < t->ways[level]; w++) {
		if (set[w].touched && set[w].line == line) {
			set[w].touched = t->now;
			return;
		}
		if (set[w].touched < victim->touched)
			victim = &set[w];
	}
	if (t->lost[core][level][line])
		TWIN_ADD(t->misses, t->miss_count, t->miss_room,
			 (struct twin_miss){.time = t->now,
					    .stay = t->stay[core][a->address / t->block] - 1,
					    .level = level,
					    .attr = a->attr,
					    .core = core,
					    .bytes = a->bytes,
					    .address = a->address});
	t->lost[core][level][line] = 0;

	const struct twin_line left = *victim;
	*victim = (struct twin_line){line, t->now};
	if (left.touched) {
		const uint64_t block = left.line * t->line[level] / t->block;

		if (t->state[core][block] && block != a->address / t->block && !twin_has(t, core, block)) {
			twin_end(t, core, block, 0);
			for (unsigned l = 0; l < t->levels; l++)
				memset(&t->lost[core][l][block * t->block / t->line[l]], 0,
				       t->block / t->line[l]);
		}
	}
	twin_look_up(t, core, level + 1, a);
}

/* Bytes of one line of the first level. */
static void twin_take(struct twin *t, unsigned core, uint64_t address, unsigned bytes, int write,
		      unsigned attr)
{
	static void (*const protocols[TWIN_COUNT])(struct twin *, unsigned, uint64_t, int) = {
	    NULL, twin_msi, twin_mesi, twin_moesi, twin_mesif, twin_relaxed, twin_relaxed, twin_opt};
	struct twin_access a = {
	    .address = address, .core = core, .bytes = bytes, .attr = attr, .write = write};
	int *home = &t->home[address / TWIN_NODE_PAGE];

	a.time = ++t->now;
	if (!*home)
		*home = (int)twin_node(t, core) + 1;
	protocols[t->protocol](t, core, address / t->block, write);
	t->now++;
	twin_look_up(t, core, 0, &a);
	for (uint64_t b = address; b < address + bytes; b++) {
		if (write) {
			t->data[core][b] = t->latest[b] = ++t->value;
			t->mine[core][b] = 1;
		}
		t->wrong_reads += t->data[core][b] != t->latest[b];
	}
	a.time = ++t->now;
	TWIN_ADD(t->accesses, t->access_count, t->access_room, a);
}

/* ---- classes ----------------------------------------------------------------------------------------- */

/* Whether another core wrote to one of the bytes, such that it could be loaded after `from`, until `to`. */
static int twin_written(const struct twin *t, unsigned core, uint64_t low, uint64_t end, uint64_t from,
			uint64_t to)
{
	for (size_t i = 0; i < t->access_count; i++) {
		const struct twin_access *a = &t->accesses[i];

		if (a->write && a->core != core && a->published > from && a->published <= to &&
		    a->address < end && a->address + a->bytes > low)
			return 1;
	}
	return 0;
}

/* Whether the core touches, in a stay, a byte that others wrote since its last load that was not false
 * sharing. */
static int twin_is_true(const struct twin *t, const struct twin_stay *s, uint64_t since)
{
	for (size_t i = 0; i < t->access_count; i++) {
		const struct twin_access *a = &t->accesses[i];

		if (a->core == s->core && a->address / t->block == s->block && a->time > s->from &&
		    (!s->until || a->time < s->until) &&
		    twin_written(t, s->core, a->address, a->address + a->bytes, since, s->from))
			return 1;
	}
	return 0;
}

static void twin_classify(struct twin *t)
{
	uint64_t *since = calloc(t->stay_count + 1, sizeof *since);
	char *is_true = calloc(t->stay_count + 1, 1);

	for (size_t i = 0; i < t->stay_count; i++) { /* in order of time */
		const struct twin_stay *s = &t->stays[i];

		since[i] = s->from;
		if (!s->after_loss)
			continue;
		is_true[i] = (char)twin_is_true(t, s, since[s->before]);
		if (!is_true[i])
			since[i] = since[s->before];
	}
	for (size_t i = 0; i < t->miss_count; i++) {
		struct twin_miss *m = &t->misses[i];
		const struct twin_stay *s = &t->stays[m->stay];
		const uint64_t before = s->after_loss ? t->stays[s->before].from : s->from;
		const uint64_t end = m->address + m->bytes;

		m->unneeded =
		    s->after_loss && !twin_written(t, m->core, s->block * t->block, (s->block + 1) * t->block,
						   since[s->before], s->from);
		/* a miss of another part of the block after the one that cleared the stay up stands as it
		 * does */
		m->true_sharing = is_true[m->stay];
		m->true_first = twin_written(t, m->core, m->address, end, before, s->from);
		m->true_words =
		    twin_written(t, m->core, m->address & ~3ull, (end + 3) & ~3ull, before, s->from);
	}
	free(since);
	free(is_true);
}

static void twin_free(struct twin *t)
{
	for (unsigned c = 0; c < t->cores; c++)
		for (unsigned l = 0; l < t->levels; l++)
			free(t->lines[c][l]);
	free(t->accesses);
	free(t->stays);
	free(t->misses);
	free(t);
}

#endif
