/* SPDX-License-Identifier: MIT */
#include "order_trials.h"

#include <assert.h>

#define LEAST_GAIN 0.0005 /* of the cost */

void nm_order_trials_init(struct nm_order_trials *t)
{
	nm_order_as_it_is(t->search->log, 0, &t->best);
	t->best.cost = 1;
}

void nm_order_trials_done(struct nm_order_trials *t) { nm_vec_free(&t->tried); }

/* Adds a layout, if it is a new one. */
static int propose(struct nm_order_trials *t, const struct nm_found_layout *layout, struct nm_error *err)
{
	if (!layout->text)
		return nm_fail_memory(err);
	for (size_t i = 0; i < t->tried.count; i++)
		if (t->tried.at[i].text == layout->text)
			return 0;
	return nm_vec_push(&t->tried, *layout) ? nm_fail_memory(err) : 0;
}

static int propose_order(struct nm_order_trials *t, const struct nm_order *o, struct nm_error *err)
{
	struct nm_found_layout layout = {.order = *o};
	const struct nm_visit_log *log = t->search->log;

	nm_order_complete(log, &layout.order);
	if (nm_order_is_own(log, &layout.order))
		return 0;
	layout.text = nm_order_text(log, &t->search->names, &layout.order, NULL, 0);
	return propose(t, &layout, err);
}

static int propose_starts(struct nm_order_trials *t, struct nm_error *err)
{
	struct nm_order own, starts[2];
	int status = 0;

	for (unsigned i = 0; i < NM_FOUND_ORDERS && t->search->orders[i].text && !status; i++)
		status = propose_order(t, &t->search->orders[i].order, err);
	nm_order_as_it_is(t->search->log, 1, &own);
	nm_order_by_use(t->search->log, &own, &starts[0]);
	nm_order_by_affinity(t->search->log, &starts[0], &starts[1]);
	for (unsigned i = 0; i < 2 && !status; i++)
		status = propose_order(t, &starts[i], err);
	return status;
}

static unsigned draw_below(struct nm_order_trials *t, unsigned n)
{
	return (unsigned)((t->state = nm_mix64(t->state + 1)) % n);
}

/* One that is drawn, every second one so that the structure gets no larger; later the best one, changed. */
static int propose_drawn(struct nm_order_trials *t, struct nm_error *err)
{
	enum { TRIES = 64 };
	const struct nm_visit_log *log = t->search->log;
	const unsigned n = t->best.count, one = draw_below(t, n), other = draw_below(t, n);
	struct nm_order o = t->best;
	unsigned tries = t->tried.count % 2 ? TRIES : 1;

	if (t->tried.count >= t->most / 2) {
		o = draw_below(t, 2) ? nm_order_move(&o, one, other) : nm_order_swap(&o, one, other);
		return propose_order(t, &o, err);
	}
	do {
		nm_order_shuffle(&o, &t->state);
	} while (--tries && nm_order_bytes(log, &o) > log->type.bytes);
	return propose_order(t, &o, err);
}

static int propose_splits(struct nm_order_trials *t, unsigned room, struct nm_error *err)
{
	int status = nm_order_search_splits(t->search, &t->best, err);

	for (unsigned i = 0; i < NM_FOUND_SPLITS && i < room && t->search->splits[i].text && !status; i++)
		status = propose(t, &t->search->splits[i], err);
	t->has_split = 1;
	return status;
}

int nm_order_trials_next(struct nm_order_trials *t, unsigned room, struct nm_error *err)
{
	const size_t end = t->told + room < t->most ? t->told + room : t->most;
	int status = 0;

	assert(t->told == t->tried.count && room >= NM_FOUND_ORDERS + 2);
	if (t->has_split)
		return 0;
	if (!t->told)
		status = propose_starts(t, err);
	for (unsigned draws = 0; t->tried.count < end && t->best.count > 1 && draws < 16 * room && !status;
	     draws++)
		status = propose_drawn(t, err);
	if (!status && t->tried.count == t->told)
		status = propose_splits(t, room, err);
	return status;
}

void nm_order_trials_tell(struct nm_order_trials *t, const double *costs)
{
	for (; t->told < t->tried.count; t->told++) {
		struct nm_found_layout *layout = &t->tried.at[t->told];

		layout->order.cost = *costs++;
		if (!layout->hot && layout->order.cost <= t->best.cost)
			t->best = layout->order;
	}
}

unsigned nm_order_trials_found(const struct nm_order_trials *t, int is_split, unsigned most,
			       struct nm_found_layout *ret)
{
	unsigned count = 0;

	for (size_t i = 0; i < t->told; i++) {
		const struct nm_found_layout *layout = &t->tried.at[i];
		unsigned to = count;

		if (!layout->hot != !is_split || layout->order.cost > 1 - LEAST_GAIN)
			continue;
		while (to && ret[to - 1].order.cost > layout->order.cost)
			to--;
		if (to == most)
			continue;
		count += count < most;
		for (unsigned k = count - 1; k > to; k--)
			ret[k] = ret[k - 1];
		ret[to] = *layout;
	}
	return count;
}
