/* SPDX-License-Identifier: MIT */
#include "orders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memstream.h"

enum { LINE = 64 };

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

static int has(const struct nm_order *o, uint32_t member)
{
	for (unsigned i = 0; i < o->count; i++)
		if (o->at[i] == member)
			return 1;
	return 0;
}

void nm_order_complete(const struct nm_visit_log *log, struct nm_order *o)
{
	for (uint64_t align = 1 << 12; align; align /= 2)
		for (uint32_t i = 0; i < log->map.members.count && o->count < NM_ORDER_MOST; i++)
			if (log->map.members.at[i].align == align && is_free(log, i) && !has(o, i))
				o->at[o->count++] = i;
}

int nm_order_is_own(const struct nm_visit_log *log, const struct nm_order *o)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < log->map.members.count; i++)
		if (is_free(log, i) && (count == o->count || o->at[count++] != i))
			return 0;
	return 1;
}

/* The member behind so many bytes: how many there are then. */
static uint64_t add_member(const struct nm_visit_log *log, uint64_t bytes, uint32_t member)
{
	const struct nm_member *m = &log->map.members.at[member];

	return (bytes + m->align - 1) / m->align * m->align + m->bytes;
}

uint64_t nm_order_bytes(const struct nm_visit_log *log, const struct nm_order *o)
{
	const uint32_t count = (uint32_t)log->map.members.count;
	uint64_t bytes = count && is_first(log, 0) ? add_member(log, 0, 0) : 0, align = 1;

	for (unsigned i = 0; i < o->count; i++)
		bytes = add_member(log, bytes, o->at[i]);
	for (uint32_t i = 0; i < count; i++) {
		align = log->map.members.at[i].align > align ? log->map.members.at[i].align : align;
		if (!is_free(log, i) && !is_first(log, i))
			bytes = add_member(log, bytes, i);
	}
	return (bytes + align - 1) / align * align;
}

static void write_order(const struct nm_visit_log *log, const struct nm_order *o, FILE *out)
{
	struct nm_order all = *o;
	const char *comma = "";

	nm_order_complete(log, &all);
	fprintf(out, "reorder %s: ", log->type.name);
	if (is_first(log, 0)) {
		write_name(log, 0, out);
		comma = ", ";
	}
	for (unsigned i = 0; i < all.count; i++, comma = ", ") {
		fputs(comma, out);
		write_name(log, all.at[i], out);
	}
}

const char *nm_order_text(const struct nm_visit_log *log, struct nm_strings *names, const struct nm_order *o,
			  const struct nm_order *used, unsigned hot)
{
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
		kept = nm_intern(names, text);
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

void nm_order_as_it_is(const struct nm_visit_log *log, int used_only, struct nm_order *ret)
{
	ret->count = 0;
	for (uint32_t i = 0; i < log->map.members.count && ret->count < NM_ORDER_MOST; i++)
		if (is_free(log, i) && (!used_only || visits_of(log, i)))
			ret->at[ret->count++] = i;
}

void nm_order_by_use(const struct nm_visit_log *log, const struct nm_order *own, struct nm_order *ret)
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
void nm_order_by_affinity(const struct nm_visit_log *log, const struct nm_order *most_used,
			  struct nm_order *ret)
{
	uint64_t weights[NM_ORDER_MOST] = {0}, filled = LINE;

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

/* ---- changes of an order ---- */

struct nm_order nm_order_move(const struct nm_order *o, unsigned from, unsigned to)
{
	struct nm_order moved = {.count = 0};

	for (unsigned i = 0; i < o->count; i++)
		if (i != from)
			moved.at[moved.count++] = o->at[i];
	memmove(moved.at + to + 1, moved.at + to, (moved.count - to) * sizeof *moved.at);
	moved.at[to] = o->at[from];
	moved.count++;
	return moved;
}

struct nm_order nm_order_swap(const struct nm_order *o, unsigned one, unsigned other)
{
	struct nm_order swapped = *o;

	swapped.at[one] = o->at[other];
	swapped.at[other] = o->at[one];
	return swapped;
}

void nm_order_shuffle(struct nm_order *o, uint64_t *state)
{
	for (unsigned i = o->count; i > 1; i--)
		*o = nm_order_swap(o, i - 1, (unsigned)((*state = nm_mix64(*state + 1)) % i));
}
