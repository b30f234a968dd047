/* SPDX-License-Identifier: MIT
 *
 * fields.c - stores fields, their affinity, the hot lines of objects, and the counts of attribution keys
 * shared out to fields.
 *
 * An attribution key's accesses and misses were sampled by field, its counts are exact. So each count is
 * shared out by what was sampled of its kind: references by accesses, all that comes of misses by misses;
 * where there are no samples of a kind, by the next best. Parts are whole numbers that add up to the count:
 * each is the difference of two rounded sums.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "row.h"

enum { FIELD_COLUMNS = 11 };

static const char field_sql[] = "INSERT INTO field VALUES(?,?,?,?,?,?,?,?,?,?,?)";
static const char pair_sql[] = "INSERT INTO field_pair VALUES(?,?,?,?,?,?)";
static const char lines_sql[] = "INSERT INTO object_lines VALUES(?,?,?,?,?,?,?)";
static const char cell_sql[] = "INSERT INTO field_cell VALUES(?,?,?,?," NM_COUNT_MARKS ")";

struct field_writer {
	const struct nm_result_writer *w;
	const struct nm_result *result;
	const struct nm_place_index *index;
	/* of a field of the result, from 1 on, in the order of objects, types and offsets */
	uint32_t *number;
	int status;
};

static sqlite3_stmt *prepare_insert(struct field_writer *f, const char *sql)
{
	sqlite3_stmt *insert = NULL;

	if (!f->status)
		f->status = sqlite3_prepare_v2(f->w->store->db, sql, -1, &insert, NULL);
	return insert;
}

/* The id of a field among those of all processes. */
static uint64_t field_id(const struct field_writer *f, uint32_t field)
{
	return field ? (uint64_t)f->w->store->fields + field : 0;
}

static void run_insert(struct field_writer *w, sqlite3_stmt *insert)
{
	int status = sqlite3_step(insert);

	sqlite3_reset(insert);
	if (status != SQLITE_DONE && !w->status)
		w->status = status;
}

/* ---- fields ---- */

static int compare_fields(const void *a, const void *b, void *arg)
{
	const struct field_writer *w = arg;
	const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct nm_result_field *f = &w->result->fields[i], *y = &w->result->fields[j];
	uint32_t left = w->index->object_rank[f->object], right = w->index->object_rank[y->object];
	int order = left != right ? (left < right ? -1 : 1) : strcmp(f->type, y->type);

	if (!order)
		order = (f->offset > y->offset) - (f->offset < y->offset);
	return order ? order : (i > j) - (i < j);
}

static uint64_t *sum_samples(const struct nm_result *r)
{
	uint64_t *sums = calloc(r->field_count + 1, sizeof *sums);

	for (size_t i = 0; sums && i < r->field_use_count; i++)
		sums[r->field_uses[i].field] += r->field_uses[i].accesses[0] + r->field_uses[i].accesses[1];
	return sums;
}

static void store_field(struct field_writer *s, sqlite3_stmt *insert, uint32_t i, uint64_t sampled)
{
	const struct nm_result_field *f = &s->result->fields[i];
	sqlite3_int64 type = 0, name = 0, field_type = 0;

	s->status = nm_names_text(&s->w->store->names, f->type, &type);
	if (!s->status)
		s->status = nm_names_text(&s->w->store->names, f->name, &name);
	if (!s->status)
		s->status = nm_names_text(&s->w->store->names, f->field_type, &field_type);
	if (s->status)
		return;
	const uint64_t values[FIELD_COLUMNS] = {field_id(s, s->number[i]),
						(uint64_t)s->w->objects + s->index->object_rank[f->object],
						(uint64_t)type,
						f->structure,
						(uint64_t)name,
						f->offset,
						f->bytes,
						sampled,
						f->residencies,
						f->used,
						(uint64_t)field_type};
	for (int k = 0; k < FIELD_COLUMNS; k++)
		nm_row_number(insert, k + 1, values[k]);
	run_insert(s, insert);
}

static void store_fields(struct field_writer *w)
{
	const size_t n = w->result->field_count;
	uint32_t *order = calloc(n + 1, sizeof *order);
	uint64_t *sampled = sum_samples(w->result);
	sqlite3_stmt *insert = prepare_insert(w, field_sql);

	if (!order || !sampled)
		w->status = SQLITE_NOMEM;
	for (uint32_t i = 0; !w->status && i < n; i++)
		order[i] = i;
	if (!w->status && n)
		qsort_r(order, n, sizeof *order, compare_fields, w);
	for (uint32_t i = 0; !w->status && i < n; i++)
		w->number[order[i]] = i + 1;
	for (uint32_t i = 0; !w->status && i < n; i++)
		store_field(w, insert, order[i], sampled[order[i]]);
	sqlite3_finalize(insert);
	free(sampled);
	free(order);
}

/* ---- pairs ---- */

struct pair {
	uint32_t field, other, at;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *p = a, *y = b;

	if (p->field != y->field)
		return p->field > y->field ? 1 : -1;
	return (p->other > y->other) - (p->other < y->other);
}

static void store_pairs(struct field_writer *w)
{
	const size_t n = w->result->affinity_count;
	struct pair *pairs = calloc(n + 1, sizeof *pairs);
	sqlite3_stmt *insert = prepare_insert(w, pair_sql);

	if (!pairs)
		w->status = SQLITE_NOMEM;
	for (uint32_t i = 0; !w->status && i < n; i++)
		pairs[i] = (struct pair){w->number[w->result->affinities[i].field],
					 w->number[w->result->affinities[i].other], i};
	if (!w->status)
		qsort(pairs, n, sizeof *pairs, compare_pairs);
	for (size_t i = 0; !w->status && i < n; i++) {
		const struct nm_result_affinity *a = &w->result->affinities[pairs[i].at];

		nm_row_number(insert, 1, field_id(w, pairs[i].field));
		nm_row_number(insert, 2, field_id(w, pairs[i].other));
		nm_row_number(insert, 3, a->together);
		nm_row_number(insert, 4, a->apart);
		nm_row_number(insert, 5, a->visits);
		nm_row_number(insert, 6, a->both);
		run_insert(w, insert);
	}
	sqlite3_finalize(insert);
	free(pairs);
}

/* ---- lines ---- */

static void store_lines(struct field_writer *f)
{
	const struct nm_result *r = f->result;
	const struct nm_result_lines **by_rank = calloc(f->index->objects + 1, sizeof *by_rank);
	sqlite3_stmt *insert = prepare_insert(f, lines_sql);

	if (!by_rank)
		f->status = SQLITE_NOMEM;
	for (size_t i = 0; !f->status && i < r->line_count; i++)
		by_rank[f->index->object_rank[r->lines[i].object]] = &r->lines[i];
	for (uint32_t i = 0; !f->status && i < f->index->objects; i++) {
		const struct nm_result_lines *l = by_rank[i];

		if (!l)
			continue;
		nm_row_number(insert, 1, (uint64_t)f->w->objects + i);
		nm_row_number(insert, 2, l->lines);
		nm_row_number(insert, 3, l->residencies);
		nm_row_number(insert, 4, l->accesses);
		nm_row_number(insert, 5, l->hot);
		nm_row_number(insert, 6, l->hot_residencies);
		nm_row_number(insert, 7, l->idle);
		run_insert(f, insert);
	}
	sqlite3_finalize(insert);
	free(by_rank);
}

/* ---- counts ---- */

/* The samples by which a count is distributed, the best kinds first; bits: 1 reads, 2 writes, 4 read misses,
 * 8 write misses. */
static const uint8_t by_accesses[2][4] = {{1, 3, 4, 12}, {2, 3, 8, 12}};
static const uint8_t by_misses[3][4] = {{4, 12, 1, 3}, {8, 12, 2, 3}, {12, 12, 3, 3}};

static const uint8_t *kinds_of(unsigned column, int is_first)
{
	switch (column) {
	case 0:
	case 1: return is_first ? by_accesses[column] : by_misses[column];
	case 2:
	case 3: return by_misses[column - 2];
	default: return by_misses[2];
	}
}

/* How a field's part is measured: a kind of samples, misses at a depth. */
struct measure {
	uint8_t kinds;
	unsigned depth;
	uint64_t all; /* of all fields */
};

static uint64_t weight_of(const struct nm_result_field_use *u, const struct measure *m)
{
	return (m->kinds & 1 ? u->accesses[0] : 0) + (m->kinds & 2 ? u->accesses[1] : 0) +
	       (m->kinds & 4 ? u->misses[m->depth][0] : 0) + (m->kinds & 8 ? u->misses[m->depth][1] : 0);
}

/* The best measure that has samples. */
static struct measure choose_measure(const uint8_t *kinds, unsigned depth,
				     const struct nm_result_field_use *uses, size_t n)
{
	struct measure m = {0};

	for (unsigned k = 0; k < 4 && !m.all; k++)
		for (unsigned d = kinds[k] & 3 ? 0 : depth; d <= depth && !m.all; d--) {
			m = (struct measure){kinds[k], d, 0};
			for (size_t i = 0; i < n; i++)
				m.all += weight_of(&uses[i], &m);
		}
	return m;
}

static void share_out(uint64_t count, const struct measure *by, const struct nm_result_field_use *uses,
		      size_t n, uint64_t *parts, size_t step)
{
	uint64_t all = by->all, so_far = 0, given = 0;

	assert(all > 0);
	for (size_t i = 0; i < n; i++) {
		uint64_t upto;

		so_far += weight_of(&uses[i], by);
		upto = (uint64_t)((unsigned __int128)count * so_far / all);
		parts[i * step] = upto - given;
		given = upto;
	}
	assert(given == count); /* fields add up to their attribution */
}

struct field_row {
	uint32_t thread, place, field;
	struct nm_counts counts;
};

static int compare_rows(const void *a, const void *b)
{
	const struct field_row *r = a, *y = b;

	if (r->thread != y->thread)
		return r->thread > y->thread ? 1 : -1;
	if (r->place != y->place)
		return r->place > y->place ? 1 : -1;
	return (r->field > y->field) - (r->field < y->field);
}

/* The rows of an attribution key at a level: one per field, or a single one without. Returns their number. */
static size_t split_attr(const struct field_writer *w, unsigned level, uint32_t attr,
			 const struct nm_result_field_use *uses, size_t n, struct field_row *rows)
{
	const struct nm_result *r = w->result;
	const int is_first = nm_machine_first(&r->machine, level, NM_SIDE_DATA);
	unsigned depth = nm_machine_depth(&r->machine, level);
	uint64_t counts[NM_COUNTS];

	memcpy(counts, &r->levels[level].counts[attr], sizeof counts);
	for (size_t i = 0; i < n + !n; i++)
		rows[i] = (struct field_row){.thread = r->attrs[attr].thread,
					     .place = w->index->place_of[attr],
					     .field = n ? w->number[uses[i].field] : 0};
	if (!n) {
		memcpy(&rows->counts, counts, sizeof counts);
		return 1;
	}
	depth = depth < NM_FIELD_DEPTHS ? depth : NM_FIELD_DEPTHS - 1;
	for (unsigned c = 0; c < NM_COUNTS; c++) {
		/* References to a level are misses of the one before it. */
		struct measure by = choose_measure(kinds_of(c, is_first), depth - (c < 2 && depth), uses, n);

		share_out(counts[c], &by, uses, n, (uint64_t *)&rows->counts + c,
			  sizeof *rows / sizeof *counts);
	}
	return n;
}
_Static_assert(sizeof(struct field_row) % sizeof(uint64_t) == 0, "rows are walked by counts");

static void store_row(struct field_writer *f, sqlite3_stmt *insert, unsigned level,
		      const struct field_row *row)
{
	static const struct nm_counts none;
	uint64_t counts[NM_COUNTS];

	if (!memcmp(&row->counts, &none, sizeof none))
		return;
	memcpy(counts, &row->counts, sizeof counts);
	nm_row_number(insert, 1, (uint64_t)nm_level_id(f->w, level));
	nm_row_number(insert, 2, row->thread);
	nm_row_number(insert, 3, (uint64_t)f->w->places + row->place);
	nm_row_number(insert, 4, field_id(f, row->field));
	for (int i = 0; i < NM_COUNTS; i++)
		nm_row_number(insert, 5 + i, counts[i]);
	run_insert(f, insert);
}

static void add_row(struct field_row *to, const struct field_row *from)
{
	uint64_t *a = (uint64_t *)&to->counts;
	const uint64_t *b = (const uint64_t *)&from->counts;

	for (unsigned i = 0; i < NM_COUNTS; i++)
		a[i] += b[i];
}

/* All attribution keys of places with an attribution key that has uses. */
static size_t split_attrs(const struct field_writer *w, unsigned level, const uint8_t *has_uses,
			  struct field_row *rows)
{
	const struct nm_result *r = w->result;
	size_t count = 0, u = 0;

	for (uint32_t attr = 0; attr < r->attr_count; attr++) {
		size_t n = 0;

		while (u + n < r->field_use_count && r->field_uses[u + n].attr == attr)
			n++;
		if (has_uses[w->index->place_of[attr]])
			count += split_attr(w, level, attr, &r->field_uses[u], n, rows + count);
		u += n;
	}
	return count;
}

static void store_attrs(struct field_writer *w, unsigned level, const uint8_t *has_uses,
			struct field_row *rows)
{
	sqlite3_stmt *insert = prepare_insert(w, cell_sql);
	size_t n = w->status ? 0 : split_attrs(w, level, has_uses, rows);

	qsort(rows, n, sizeof *rows, compare_rows);
	for (size_t i = 0, next; i < n && !w->status; i = next) {
		for (next = i + 1; next < n && !compare_rows(&rows[i], &rows[next]); next++)
			add_row(&rows[i], &rows[next]);
		store_row(w, insert, level, &rows[i]);
	}
	sqlite3_finalize(insert);
}

static void store_counts(struct field_writer *w)
{
	const struct nm_result *r = w->result;
	uint8_t *has_uses = calloc(w->index->place_count + 1, 1);
	struct field_row *rows = calloc(r->attr_count + r->field_use_count + 1, sizeof *rows);

	if (!has_uses || !rows)
		w->status = SQLITE_NOMEM;
	for (size_t i = 0; !w->status && i < r->field_use_count; i++)
		has_uses[w->index->place_of[r->field_uses[i].attr]] = 1;
	for (unsigned level = 0; level < r->machine.count && !w->status; level++)
		store_attrs(w, level, has_uses, rows);
	free(rows);
	free(has_uses);
}

int nm_store_fields(const struct nm_result_writer *w)
{
	const struct nm_result *result = w->result;
	struct field_writer s = {.w = w, .result = result, .index = &w->index};

	s.number = calloc(result->field_count + 1, sizeof *s.number);
	if (!s.number)
		return SQLITE_NOMEM;
	store_fields(&s);
	if (!s.status)
		store_pairs(&s);
	if (!s.status)
		store_lines(&s);
	if (!s.status && result->field_use_count)
		store_counts(&s);
	w->store->fields += (sqlite3_int64)result->field_count;
	free(s.number);
	return s.status;
}
