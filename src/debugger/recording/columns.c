/* SPDX-License-Identifier: MIT
 *
 * columns.c - the references of a recording, and sums up to a position.
 *
 * Each chunk can be read on its own: the predictors of a column are reset at its start.
 */
#include <stdlib.h>
#include <string.h>

#include "recording_priv.h"
#include "varint.h"

int nm_bytes_put(struct nm_bytes *to, uint64_t number)
{
	if (nm_vec_reserve(to, NM_VARINT_BYTES))
		return NM_ENOMEM;
	to->count += nm_varint_put(to->at + to->count, number);
	return 0;
}

int nm_bytes_put_column(struct nm_bytes *to, const struct nm_bytes *column)
{
	if (nm_bytes_put(to, column->count) || nm_vec_reserve(to, column->count))
		return NM_ENOMEM;
	if (column->count)
		memcpy(to->at + to->count, column->at, column->count);
	to->count += column->count;
	return 0;
}

/* ---- references ---- */

/* The last reference of a key, and the key that followed it. */
struct guess {
	uint64_t address;
	uint32_t next;
	uint32_t shape; /* size, whether it is uncounted, and whether it writes */
};

struct references {
	struct nm_bytes keys, addresses;
	struct guess *guess; /* by key */
	uint32_t last;
};

/* Keys: 0 if the same key as last time follows, else 1 + the key. Addresses: 2 * the distance from the key's
 * last address, + 1 if size or kind have changed, which then follow. */
static int put_reference(struct references *s, const struct nm_reference *r)
{
	struct guess *g = &s->guess[r->attr];
	const uint32_t shape = (uint32_t)r->size << 2 | (uint32_t)r->uncounted << 1 | r->is_write;
	const uint64_t move = nm_fold((int64_t)(r->address - g->address));
	int status;

	status = nm_bytes_put(&s->keys, s->guess[s->last].next == r->attr ? 0 : 1 + (uint64_t)r->attr);
	status |= nm_bytes_put(&s->addresses, move << 1 | (shape != g->shape));
	if (shape != g->shape)
		status |= nm_bytes_put(&s->addresses, shape);
	s->guess[s->last].next = r->attr;
	s->last = r->attr;
	g->address = r->address;
	g->shape = shape;
	return status;
}

/* Whether JSON can represent the address exactly, and so also its line. */
static int is_exact(uint64_t address)
{
	return (int64_t)address < (int64_t)1 << 50 && (int64_t)address >= -((int64_t)1 << 50);
}

/* ---- loops ---- */

enum { NAMES = 64 };

/* Loop indices by name; only those that have changed are written. */
struct loops {
	struct nm_bytes column;
	const char *name[NAMES];
	int64_t value[NAMES];
	unsigned names;
};

/* Writes the number of a name; a new name follows its number. */
static int put_loop(struct loops *s, const char *name, unsigned *ret_loop)
{
	const struct nm_bytes text = {.at = (uint8_t *)name, .count = strlen(name)};
	unsigned i = 0;
	int status;

	while (i < s->names && strcmp(s->name[i], name) != 0)
		i++;
	*ret_loop = i;
	if (i == NAMES)
		return NM_EINVAL;
	status = nm_bytes_put(&s->column, i);
	if (status || i < s->names)
		return status;
	s->name[s->names++] = name;
	return nm_bytes_put_column(&s->column, &text);
}

static int see(void *self, const struct nm_nest_step *step, struct nm_error *err)
{
	struct loops *s = self;
	int status = nm_bytes_put(&s->column, step->loops);

	for (unsigned i = 0; i < step->loops && !status; i++) {
		unsigned loop;

		status = put_loop(s, step->index[i], &loop);
		if (status == NM_EINVAL)
			return nm_fail(err, NM_EINVAL, "a file holds loops of at most %d names", NAMES);
		status |= nm_bytes_put(&s->column, nm_fold(step->value[i] - s->value[loop]));
		s->value[loop] = step->value[i];
	}
	return status ? nm_fail_memory(err) : 0;
}

/* ---- a chunk ---- */

static int put_loops(struct nm_debugger *d, uint64_t from, uint64_t to, struct loops *loops,
		     struct nm_error *err)
{
	const struct nm_nest_visitor visitor = {see, loops};

	if (!d->timeline->program.nest)
		return 0;
	return nm_nest_walk(d->timeline->program.nest, d->timeline->program.first + from,
			    d->timeline->program.first + to - 1, &visitor, err);
}

static int put_all(struct nm_debugger *d, uint64_t from, uint64_t to, struct references *s,
		   struct nm_error *err)
{
	for (uint64_t at = from; at < to; at++) {
		const struct nm_reference *r = nm_reference_at(d->timeline->reader, at);

		if (!is_exact(r->address))
			return nm_fail(err, NM_EINVAL,
				       "reference %llu is at 0x%llx: a file holds addresses below 2^50 only",
				       (unsigned long long)at + 1, (unsigned long long)r->address);
		if (put_reference(s, r))
			return nm_fail_memory(err);
	}
	return 0;
}

int nm_recording_put_references(struct nm_debugger *d, uint64_t from, uint64_t to, struct nm_bytes *ret,
				struct nm_error *err)
{
	struct references s = {.guess = calloc(d->timeline->program.sites.count + 1, sizeof *s.guess)};
	struct loops loops = {.names = 0};
	int status = s.guess ? put_all(d, from, to, &s, err) : nm_fail_memory(err);

	if (!status)
		status = put_loops(d, from, to, &loops, err);
	if (!status && (nm_bytes_put_column(ret, &s.keys) || nm_bytes_put_column(ret, &s.addresses) ||
			nm_bytes_put_column(ret, &loops.column)))
		status = nm_fail_memory(err);
	nm_vec_free(&s.keys);
	nm_vec_free(&s.addresses);
	nm_vec_free(&loops.column);
	free(s.guess);
	return status;
}

/* ---- sums ---- */

static int is_zero(const struct nm_sums *t)
{
	static const struct nm_sums zero;

	return !memcmp(t, &zero, sizeof zero);
}

/* Sums that are not all zero: the distance of the index from the previous one, and the figures. */
static int put_sums(const struct nm_sums *at, size_t count, struct nm_bytes *to)
{
	struct nm_bytes column = {0};
	size_t before = 0;
	int status = 0;

	for (size_t i = 0; i < count && !status; i++) {
		if (is_zero(&at[i]))
			continue;
		status = nm_bytes_put(&column, i - before);
		status |= nm_bytes_put(&column, at[i].references) | nm_bytes_put(&column, at[i].misses);
		for (unsigned k = 1; k < NM_CLASSES; k++)
			status |= nm_bytes_put(&column, at[i].of_class[k]);
		status |= nm_bytes_put(&column, at[i].evictions);
		before = i;
	}
	status |= nm_bytes_put_column(to, &column);
	nm_vec_free(&column);
	return status;
}

int nm_recording_put_sums(struct nm_debugger *d, const struct nm_moment *moment, struct nm_bytes *ret,
			  struct nm_error *err)
{
	for (unsigned level = 0; level < d->timeline->machine.count; level++)
		for (int by_set = 0; by_set < 2; by_set++) {
			struct nm_sums *sums;
			size_t count;
			int status = nm_moment_sums(moment, level, by_set, &sums, &count, err);

			if (status)
				return status;
			status = put_sums(sums, count, ret);
			free(sums);
			if (status)
				return nm_fail_memory(err);
		}
	return 0;
}
