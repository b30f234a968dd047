/* SPDX-License-Identifier: MIT
 *
 * foresight.c - see foresight.h.
 *
 * Requests are numbered.  A table of lines tells the latest request of each; the one before it then learns how many
 * requests later its line comes again: four bytes a request, in chunks, so that nothing is copied.  Requests for
 * the line that its set was asked for last are left out (policy_opt.c): the line is there, whatever leaves, and
 * when it is asked for next matters after the last of them only.
 *
 * A line that comes again 2^32 requests later is taken for one that never does.
 */
#include "foresight.h"

#include <stdlib.h>

#include "map.h"
#include "vector.h"

enum { CHUNK = 1 << 16 };

struct nm_future {
	unsigned depth; /* levels with policy=opt on the way to it */
	int told, noting;
	uint64_t count;                 /* requests noted */
	uint64_t at;                    /* the next to be told */
	struct nm_vec(uint32_t *) away; /* requests to the next for the line, in chunks; 0: there is none */
	struct nm_map latest;           /* line to its request */
};

struct nm_foresight {
	struct nm_machine machine;
	unsigned run, runs; /* before all is known */
	size_t taken;       /* in this run */
	struct nm_vec(struct nm_future *) futures;
};

int nm_foresight_new(struct nm_foresight **ret_foresight, const struct nm_machine *machine,
		     struct nm_error *err)
{
	struct nm_foresight *f = calloc(1, sizeof *f);

	if (!f)
		return nm_fail_memory(err);
	f->machine = *machine;
	f->runs = nm_machine_runs_ahead(machine);
	*ret_foresight = f;
	return 0;
}

static void forget(struct nm_future *future)
{
	for (size_t i = 0; i < future->away.count; i++)
		free(future->away.at[i]);
	nm_vec_free(&future->away);
	nm_map_done(&future->latest);
	free(future);
}

void nm_foresight_free(struct nm_foresight *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->futures.count; i++)
		forget(f->futures.at[i]);
	nm_vec_free(&f->futures);
	free(f);
}

int nm_foresight_ready(const struct nm_foresight *f) { return f->run == f->runs; }

/* In each run the levels that are one deeper are noted. */
static void prepare(struct nm_future *future, unsigned run)
{
	future->told = future->depth < run;
	future->noting = future->depth == run;
	future->at = 0;
}

void nm_foresight_turn(struct nm_foresight *f)
{
	f->run++;
	f->taken = 0;
	for (size_t i = 0; i < f->futures.count; i++) {
		nm_map_done(&f->futures.at[i]->latest);
		f->futures.at[i]->latest = (struct nm_map){0};
		prepare(f->futures.at[i], f->run);
	}
}

struct nm_future *nm_foresight_take(struct nm_foresight *f, unsigned level)
{
	struct nm_future *future;

	if (f->taken < f->futures.count)
		return f->futures.at[f->taken++];
	future = calloc(1, sizeof *future);
	if (!future || nm_vec_push(&f->futures, future)) {
		free(future);
		return NULL;
	}
	future->depth = nm_machine_opt_before(&f->machine, level);
	prepare(future, f->run);
	f->taken++;
	return future;
}

int nm_future_told(const struct nm_future *future) { return future->told; }

int nm_future_note(struct nm_future *f, uint64_t line)
{
	uint64_t now = f->count, before;

	if (!f->noting)
		return 0;
	if (now / CHUNK == f->away.count) {
		uint32_t *chunk = calloc(CHUNK, sizeof *chunk);

		if (!chunk || nm_vec_push(&f->away, chunk)) {
			free(chunk);
			return NM_ENOMEM;
		}
	}
	before = nm_map_get(&f->latest, line, now);
	if (now - before <= UINT32_MAX)
		f->away.at[before / CHUNK][before % CHUNK] = (uint32_t)(now - before);
	f->count++;
	return nm_map_put(&f->latest, line, now);
}

uint64_t nm_future_next(struct nm_future *f)
{
	uint64_t now = f->at++;
	uint32_t away = now < f->count ? f->away.at[now / CHUNK][now % CHUNK] : 0;

	return away ? now + away : UINT64_MAX - now;
}
