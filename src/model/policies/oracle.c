/* SPDX-License-Identifier: MIT
 *
 * Requests are numbered. A table has the latest request for each line; when the line is requested again, that
 * request learns the distance to the new one: four bytes per request, in chunks, so that nothing is copied.
 * Repeated requests for the line that its set served last are left out (policy_opt.c): the line is resident
 * whatever leaves, and only the next use after the last of them matters.
 *
 * A distance of 2^32 requests or more counts as never.
 */
#include "oracle.h"

#include <assert.h>
#include <stdlib.h>

#include "map.h"
#include "vector.h"

enum { CHUNK = 1 << 16 };

struct nm_next_uses {
	unsigned depth; /* levels with policy=opt on the way to it */
	int known, recording;
	uint64_t count; /* requests noted */
	uint64_t at;    /* the next to be looked up */
	/* distance to the next request for the line, in chunks; 0: there is none */
	struct nm_vec(uint32_t *) away;
	struct nm_map latest; /* line -> its latest request */
};

struct nm_oracle {
	struct nm_machine machine;
	unsigned run, runs; /* the current one, and how many record */
	size_t taken;       /* in this run */
	struct nm_vec(struct nm_next_uses *) next_uses;
};

int nm_oracle_new(struct nm_oracle **ret_oracle, const struct nm_machine *machine, struct nm_error *err)
{
	struct nm_oracle *f = calloc(1, sizeof *f);

	if (!f)
		return nm_fail_memory(err);
	f->machine = *machine;
	f->runs = nm_machine_runs_ahead(machine);
	*ret_oracle = f;
	return 0;
}

static void forget_uses(struct nm_next_uses *next_uses)
{
	for (size_t i = 0; i < next_uses->away.count; i++)
		free(next_uses->away.at[i]);
	nm_vec_free(&next_uses->away);
	nm_map_done(&next_uses->latest);
	free(next_uses);
}

void nm_oracle_free(struct nm_oracle *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->next_uses.count; i++)
		forget_uses(o->next_uses.at[i]);
	nm_vec_free(&o->next_uses);
	free(o);
}

int nm_oracle_ready(const struct nm_oracle *f) { return f->run == f->runs; }

/* Each run records the levels that are one deeper. */
static void prepare_run(struct nm_next_uses *next_uses, unsigned run)
{
	next_uses->known = next_uses->depth < run;
	next_uses->recording = next_uses->depth == run;
	next_uses->at = 0;
}

void nm_oracle_next_run(struct nm_oracle *o)
{
	o->run++;
	o->taken = 0;
	for (size_t i = 0; i < o->next_uses.count; i++) {
		nm_map_done(&o->next_uses.at[i]->latest);
		o->next_uses.at[i]->latest = (struct nm_map){0};
		prepare_run(o->next_uses.at[i], o->run);
	}
}

struct nm_next_uses *nm_oracle_level(struct nm_oracle *o, unsigned level)
{
	struct nm_next_uses *next_uses;

	if (o->taken < o->next_uses.count)
		return o->next_uses.at[o->taken++];
	next_uses = calloc(1, sizeof *next_uses);
	if (!next_uses || nm_vec_push(&o->next_uses, next_uses)) {
		free(next_uses);
		return NULL;
	}
	next_uses->depth = nm_machine_opt_before(&o->machine, level);
	prepare_run(next_uses, o->run);
	o->taken++;
	return next_uses;
}

int nm_next_uses_known(const struct nm_next_uses *next_uses) { return next_uses->known; }

int nm_next_uses_record(struct nm_next_uses *u, uint64_t line)
{
	uint64_t now = u->count, before;

	if (!u->recording)
		return 0;
	if (now / CHUNK == u->away.count) {
		uint32_t *chunk = calloc(CHUNK, sizeof *chunk);

		if (!chunk || nm_vec_push(&u->away, chunk)) {
			free(chunk);
			return NM_ENOMEM;
		}
	}
	before = nm_map_get(&u->latest, line, now);
	if (now - before <= UINT32_MAX)
		u->away.at[before / CHUNK][before % CHUNK] = (uint32_t)(now - before);
	u->count++;
	return nm_map_put(&u->latest, line, now);
}

uint64_t nm_next_uses_get(struct nm_next_uses *u)
{
	uint64_t now = u->at++;
	uint32_t away = now < u->count ? u->away.at[now / CHUNK][now % CHUNK] : 0;

	assert(u->known);
	return away ? now + away : UINT64_MAX - now;
}
