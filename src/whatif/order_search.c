/* SPDX-License-Identifier: MIT */
#include "order_search.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy.h"
#include "memstream.h"

enum { ORDER_MOST = NM_VISIT_UNITS, LINE = 64, GRANULE = 16, HEADER = 8, LEAST = 32 };

#define LEAST_GAIN 0.0005 /* of the cost */

/* Members that are used, in their order. */
struct order {
	uint32_t at[ORDER_MOST];
	unsigned count;
	double cost;
};

/* ---- the cost of a layout ---- */

/* Where the units of a layout lie, and what it is fed to. */
struct simulation {
	const struct nm_visit_log *log;
	const struct nm_element_map *map;
	struct {
		uint32_t part;
		uint64_t from, last; /* offsets of its first and last bytes */
	} units[NM_VISIT_UNITS];
	struct nm_hierarchy *caches;
	struct nm_ref refs[NM_BATCH];
	unsigned count;
};

static int flush(struct simulation *s)
{
	const int status = nm_hierarchy_run(s->caches, s->refs, s->count);

	s->count = 0;
	return status;
}

static int feed(struct simulation *s, uint64_t address, uint32_t key)
{
	s->refs[s->count++] = (struct nm_ref){.address = address, .attr = key, .size = 1, .weight = 1};
	return s->count == NM_BATCH ? flush(s) : 0;
}

/* Bytes from block to block: of an array those of its elements count. */
static uint64_t pitch(const struct nm_visit_log *log, uint64_t bytes)
{
	const uint64_t room = (bytes + HEADER + GRANULE - 1) / GRANULE * GRANULE;

	return log->is_array ? bytes : room > LEAST ? room : LEAST;
}

/* Blocks stay as close to each other as they are, in proportion to their sizes; arrays at their place in a line. */
static uint64_t base_of(const struct simulation *s, uint32_t part, uint64_t low)
{
	const uint64_t was = pitch(s->log, s->map->bytes), is = pitch(s->log, s->map->strides.at[part]);
	const uint64_t region = UINT64_C(1) << 44;

	if (!part && was == is)
		return low;
	low %= region / 16;
	if (s->log->is_array)
		return (part + 1) * region + (low / was * is) / LINE * LINE + low % LINE;
	return (part + 1) * region + (low / was * is + low % was * is / was) / GRANULE * GRANULE;
}

/* Each line of an element that a visit needs, once. */
static int feed_visit(struct simulation *s, const struct nm_visit *v)
{
	uint64_t lines[2 * NM_VISIT_UNITS + 1];
	unsigned count = 0;
	int follows = 0, status = 0;

	for (uint64_t left = v->units; left; left &= left - 1) {
		const unsigned unit = (unsigned)__builtin_ctzll(left);
		const uint32_t part = s->units[unit].part;
		const uint64_t start = base_of(s, part, v->low) + v->element * s->map->strides.at[part];

		follows |= part && s->map->pointer != NM_NO_POINTER;
		lines[count++] = (start + s->units[unit].from) / LINE;
		lines[count++] = (start + s->units[unit].last) / LINE;
	}
	if (follows)
		lines[count++] =
		    (base_of(s, 0, v->low) + v->element * s->map->strides.at[0] + (uint64_t)s->map->pointer) /
		    LINE;
	for (unsigned i = 0; i < count && !status; i++) {
		unsigned before = 0;

		while (lines[before] != lines[i])
			before++;
		if (before == i)
			status = feed(s, lines[i] * LINE, v->key);
	}
	return status;
}

static double cost_of(const struct nm_order_search *search, const struct nm_hierarchy *caches)
{
	double cost = 0;

	for (unsigned level = 0; level < search->machine->count; level++) {
		struct nm_counts total;

		nm_hierarchy_total(caches, level, &total);
		cost += (double)total.covered * search->costs[level].covered +
			(double)(total.loads - total.covered) * search->costs[level].other;
	}
	return cost;
}

static int simulate(const struct nm_order_search *search, const struct nm_element_map *map, double *ret_cost,
		    struct nm_error *err)
{
	struct simulation *s = calloc(1, sizeof *s);
	const struct nm_visit_log *log = search->log;
	int status = s ? nm_hierarchy_new(&s->caches, search->machine, err) : nm_fail_memory(err);

	if (status) {
		free(s);
		return status;
	}
	s->log = log;
	s->map = map;
	for (size_t i = 0; i < log->units.count; i++) {
		const struct nm_member *m = &map->members.at[log->units.at[i].member];

		s->units[i].part = m->part;
		s->units[i].from = m->to + log->units.at[i].offset;
		s->units[i].last = s->units[i].from + log->units.at[i].bytes - 1;
	}
	for (size_t i = 0; i < log->visits.count && !status; i++)
		status = log->visits.at[i].units ? feed_visit(s, &log->visits.at[i])
						 : feed(s, log->visits.at[i].low, log->visits.at[i].key);
	if (!status)
		status = flush(s);
	if (!status)
		status = nm_hierarchy_finish(s->caches);
	if (!status)
		*ret_cost = cost_of(search, s->caches);
	nm_hierarchy_free(s->caches);
	free(s);
	return status ? nm_fail_memory(err) : 0;
}

int nm_order_cost(const struct nm_order_search *search, const char *text, double *ret_cost,
		  struct nm_error *err)
{
	struct nm_element_map map;
	struct nm_candidate c;
	int status = nm_candidate_parse(&c, text, err);

	if (!status && nm_element_map_init(&map, &search->log->type))
		status = nm_fail_memory(err);
	for (size_t i = 0; i < c.transforms.count && !status; i++)
		status = nm_element_map_apply(&map, &search->log->type, &c.transforms.at[i], err);
	if (!status && !search->log->is_array &&
	    pitch(search->log, map.strides.at[0]) > pitch(search->log, map.bytes))
		*ret_cost = INFINITY; /* all other blocks of the heap would move too */
	else if (!status)
		status = simulate(search, &map, ret_cost, err);
	nm_element_map_done(&map);
	nm_candidate_done(&c);
	return status;
}

/* ---- texts ---- */

/* Its name in a transformation: the first of the alternatives of a union. */
static void write_name(const struct nm_visit_log *log, uint32_t member, FILE *out)
{
	const char *name = log->map.members.at[member].name;

	fprintf(out, "%.*s", (int)strcspn(name, ".[|"), name);
}

static int is_last(const struct nm_visit_log *log, uint32_t member)
{
	const struct nm_member *m = &log->map.members.at[member];
	const size_t n = strlen(m->name);

	return member + 1 == log->map.members.count && n > 2 && !strcmp(m->name + n - 2, "[]");
}

static int is_first(const struct nm_visit_log *log, uint32_t member)
{
	return !member && !strncmp(log->map.members.at[0].name, "_vptr", 5);
}

static int is_named(const struct nm_visit_log *log, uint32_t member)
{
	return strcspn(log->map.members.at[member].name, ".[|") > 0;
}

/* Whether the search may move it. */
static int is_free(const struct nm_visit_log *log, uint32_t member)
{
	return is_named(log, member) && !is_first(log, member) && !is_last(log, member);
}

static int has(const struct order *o, uint32_t member)
{
	for (unsigned i = 0; i < o->count; i++)
		if (o->at[i] == member)
			return 1;
	return 0;
}

/* The members of the order, and behind them the others, those of the largest alignment first. */
static void write_order(const struct nm_visit_log *log, const struct order *o, FILE *out)
{
	const char *comma = "";

	fprintf(out, "reorder %s: ", log->type.name);
	if (is_first(log, 0)) {
		write_name(log, 0, out);
		comma = ", ";
	}
	for (unsigned i = 0; i < o->count; i++, comma = ", ") {
		fputs(comma, out);
		write_name(log, o->at[i], out);
	}
	for (uint64_t align = 1 << 12; align; align /= 2)
		for (uint32_t i = 0; i < log->map.members.count; i++)
			if (log->map.members.at[i].align == align && is_free(log, i) && !has(o, i)) {
				fputs(comma, out);
				write_name(log, i, out);
				comma = ", ";
			}
}

/* The order, and the first `hot` of `used` stay. NULL: out of memory. */
static const char *text_of(struct nm_order_search *search, const struct order *o, const struct order *used,
			   unsigned hot)
{
	const struct nm_visit_log *log = search->log;
	const char *kept = NULL;
	char *text = NULL;
	FILE *out = nm_memstream_open(&text, NULL);

	if (!out)
		return NULL;
	write_order(log, o, out);
	if (hot) {
		fprintf(out, "; split %s hot(", log->type.name);
		if (is_first(log, 0)) {
			write_name(log, 0, out);
			fputs(", ", out);
		}
		for (unsigned i = 0; i < hot; i++) {
			fputs(i ? ", " : "", out);
			write_name(log, used->at[i], out);
		}
		fputs(log->is_array ? ") parallel" : ") by pointer", out);
	}
	if (!nm_memstream_close(out, &text))
		kept = nm_intern(&search->names, text);
	free(text);
	return kept;
}

/* ---- orders to begin with ---- */

static uint64_t visits_of(const struct nm_visit_log *log, uint32_t member)
{
	uint64_t most = 0;

	for (size_t i = 0; i < log->units.count; i++)
		if (log->units.at[i].member == member && log->units.at[i].visits > most)
			most = log->units.at[i].visits;
	return most;
}

/* The members that are used, as they lie. */
static void as_it_is(const struct nm_visit_log *log, struct order *ret)
{
	ret->count = 0;
	for (uint32_t i = 0; i < log->map.members.count && ret->count < ORDER_MOST; i++)
		if (is_free(log, i) && visits_of(log, i))
			ret->at[ret->count++] = i;
}

/* Those used most in front. */
static void by_use(const struct nm_visit_log *log, const struct order *own, struct order *ret)
{
	ret->count = 0;
	for (unsigned i = 0; i < own->count; i++) {
		unsigned to = ret->count++;

		for (; to && visits_of(log, ret->at[to - 1]) < visits_of(log, own->at[i]); to--)
			ret->at[to] = ret->at[to - 1];
		ret->at[to] = own->at[i];
	}
}

/* Along the affinity graph: each line begins with the member used most of those that are left, and takes those that are
 * used most together with what it has. */
static void by_affinity(const struct nm_visit_log *log, const struct order *most_used, struct order *ret)
{
	uint64_t weights[ORDER_MOST] = {0}, filled = LINE;

	ret->count = 0;
	while (ret->count < most_used->count) {
		uint32_t next = UINT32_MAX;
		uint64_t best = 0;

		for (unsigned i = 0; i < most_used->count; i++) {
			const uint64_t weight = filled < LINE ? weights[i] : visits_of(log, most_used->at[i]);

			if (!has(ret, most_used->at[i]) && (next == UINT32_MAX || weight > best)) {
				next = most_used->at[i];
				best = weight;
			}
		}
		if (filled >= LINE) {
			filled = 0;
			memset(weights, 0, sizeof weights);
		}
		ret->at[ret->count++] = next;
		filled += log->map.members.at[next].bytes;
		for (unsigned i = 0; i < most_used->count; i++)
			weights[i] += nm_visit_log_affinity(log, most_used->at[i], next);
	}
}

/* ---- the search ---- */

/* Keeps the cheapest orders and splits that cost less than the structure as it is. */
static void rank(struct nm_order_search *search, const char *text, double cost)
{
	const int is_split = strstr(text, " hot(") != NULL;
	struct nm_found_layout *list = is_split ? search->splits : search->orders;
	unsigned at = is_split ? NM_FOUND_SPLITS : NM_FOUND_ORDERS;

	if (cost >= search->own * (1 - LEAST_GAIN) || (list[at - 1].text && list[at - 1].cost <= cost))
		return;
	for (at--; at && (!list[at - 1].text || list[at - 1].cost > cost); at--)
		list[at] = list[at - 1];
	list[at] = (struct nm_found_layout){text, cost, is_split};
}

/* The cost of a text, which is simulated once. */
static int try_text(struct nm_order_search *search, const char *text, double *ret_cost, struct nm_error *err)
{
	uint64_t known;
	int status;

	if (!text)
		return nm_fail_memory(err);
	known = nm_map_get(&search->known, (uintptr_t)text, search->costs_known.count);
	if (known < search->costs_known.count) {
		*ret_cost = search->costs_known.at[known];
		return 0;
	}
	search->tried++;
	status = nm_order_cost(search, text, ret_cost, err);
	if (!status)
		rank(search, text, *ret_cost);
	if (!status && (nm_vec_push(&search->costs_known, *ret_cost) ||
			nm_map_put(&search->known, (uintptr_t)text, known)))
		status = nm_fail_memory(err);
	return status;
}

static int try_order(struct nm_order_search *search, struct order *o, struct nm_error *err)
{
	return try_text(search, text_of(search, o, NULL, 0), &o->cost, err);
}

/* Puts the member at one place to another. */
static struct order move(const struct order *o, unsigned from, unsigned to)
{
	struct order moved = {.count = 0};

	for (unsigned i = 0; i < o->count; i++)
		if (i != from)
			moved.at[moved.count++] = o->at[i];
	memmove(moved.at + to + 1, moved.at + to, (moved.count - to) * sizeof *moved.at);
	moved.at[to] = o->at[from];
	moved.count++;
	return moved;
}

/* Moves one member at a time, until no move makes it cheaper. */
static int improve(struct nm_order_search *search, struct order *best, struct nm_error *err)
{
	int status = 0, better = 1;

	while (better && !status) {
		better = 0;
		for (unsigned from = 0; from < best->count && !status; from++)
			for (unsigned to = 0; to < best->count && !status && search->tried < search->most;
			     to++) {
				struct order moved = move(best, from, to);

				if (to == from || (to + 1 == from)) /* the latter is another's move by one */
					continue;
				status = try_order(search, &moved, err);
				if (!status && moved.cost < best->cost) {
					*best = moved;
					better = 1;
				}
			}
	}
	return status;
}

/* Tries orders that are drawn; the best stays in *best. */
static int draw(struct nm_order_search *search, struct order *best, struct nm_error *err)
{
	struct order o = *best;
	uint64_t state = 1;
	int status = 0;

	for (unsigned round = 0; round < search->most / 4 && !status; round++) {
		for (unsigned i = o.count; i > 1; i--) {
			const unsigned other = (unsigned)((state = nm_mix64(state + 1)) % i);
			const uint32_t member = o.at[i - 1];

			o.at[i - 1] = o.at[other];
			o.at[other] = member;
		}
		status = try_order(search, &o, err);
		if (!status && o.cost < best->cost)
			*best = o;
	}
	return status;
}

/* Tries the splits that keep the members used most. */
static int try_splits(struct nm_order_search *search, const struct order *best, const struct order *used,
		      struct nm_error *err)
{
	int status = 0;

	for (unsigned hot = 1; hot < search->log->map.members.count && hot <= used->count && !status; hot++) {
		double cost;

		status = try_text(search, text_of(search, best, used, hot), &cost, err);
	}
	return status;
}

int nm_order_search_run(struct nm_order_search *search, struct nm_error *err)
{
	enum { STARTS = 3 };
	const struct nm_visit_log *log = search->log;
	struct order starts[STARTS], best = {.cost = 0};
	int status;

	assert(log->type.name);
	status = simulate(search, &log->map, &search->own, err);
	as_it_is(log, &starts[0]);
	by_use(log, &starts[0], &starts[1]);
	by_affinity(log, &starts[1], &starts[2]);
	for (unsigned i = 0; i < STARTS && !status; i++) {
		status = try_order(search, &starts[i], err);
		if (!status && (!i || starts[i].cost < best.cost))
			best = starts[i];
	}
	if (!status)
		status = draw(search, &best, err);
	if (!status)
		status = improve(search, &best, err);
	if (!status)
		status = try_splits(search, &best, &starts[1], err);
	return status;
}

void nm_order_search_done(struct nm_order_search *search)
{
	nm_map_done(&search->known);
	nm_vec_free(&search->costs_known);
	nm_strings_done(&search->names);
}
