/* SPDX-License-Identifier: MIT
 *
 * fields_merge.c - converts the samples of pass_fields.c to the result: fields of named objects, with their
 * uses, and the hot lines of objects; fields_affinity.c adds which fields are used together.
 *
 * Objects of the engine with the same name share the fields of each type that they have.
 */
#include <stdlib.h>
#include <string.h>

#include "fields.h"

enum { HOT = 90 /* percent of the accesses, or of the residencies */, IDLE_PART = 8 };

struct merge {
	struct nm_engine *program;
	const struct nm_fields *fields;
	const uint32_t *objects, *attrs;
	struct nm_result *result;
	uint32_t *first; /* engine's object -> its first field in the result, or NM_NO_FIELD */
};

/* ---- fields ---- */

static size_t count_fields(const struct nm_fields *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->elements.owners.count; i++)
		n += f->elements.owners.at[i].type ? f->elements.owners.at[i].type->field_count : 0;
	return n;
}

static void add_fields(struct nm_result *r, uint32_t object, const struct nm_type *type)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct nm_field *f = &type->fields[i];

		r->fields[r->field_count++] = (struct nm_result_field){.object = object,
								       .type = type->name,
								       .structure = type->bytes,
								       .name = f->name,
								       .field_type = f->type,
								       .offset = f->offset,
								       .bytes = f->bytes * f->count};
	}
}

static int merge_fields(struct merge *m)
{
	struct nm_map seen = {0};
	struct nm_result *r = m->result;
	int status = 0;

	r->fields = calloc(count_fields(m->fields) + 1, sizeof *r->fields);
	m->first = calloc(m->fields->elements.owners.count + 1, sizeof *m->first);
	if (!r->fields || !m->first)
		return NM_ENOMEM;
	for (size_t i = 0; i < m->fields->elements.owners.count && !status; i++) {
		const struct nm_type *type = m->fields->elements.owners.at[i].type;
		uint64_t key = nm_mix64((uintptr_t)type) ^ m->objects[i], known;

		m->first[i] = NM_NO_FIELD;
		if (!type)
			continue;
		known = nm_map_get(&seen, key, UINT64_MAX);
		m->first[i] = known == UINT64_MAX ? (uint32_t)r->field_count : (uint32_t)known;
		if (known != UINT64_MAX)
			continue;
		status = nm_map_put(&seen, key, r->field_count);
		add_fields(r, m->objects[i], type);
	}
	nm_map_done(&seen);
	return status;
}

/* ---- uses ---- */

static int by_attr(const void *left, const void *right)
{
	const struct nm_result_field_use *u = left, *b = right;

	if (u->attr != b->attr)
		return u->attr < b->attr ? -1 : 1;
	return u->field < b->field ? -1 : u->field > b->field;
}

static void add_use(struct nm_result_field_use *to, const struct nm_result_field_use *from)
{
	for (unsigned k = 0; k < 2; k++) {
		to->accesses[k] += from->accesses[k];
		for (unsigned depth = 0; depth < NM_FIELD_DEPTHS; depth++)
			to->misses[depth][k] += from->misses[depth][k];
	}
}

static int merge_uses(struct merge *m)
{
	struct nm_result *r = m->result;
	size_t kept = 0;

	r->field_uses = calloc(m->fields->uses.count + 1, sizeof *r->field_uses);
	if (!r->field_uses)
		return NM_ENOMEM;
	for (size_t i = 0; i < m->fields->uses.count; i++) {
		const struct nm_fields_use *u = &m->fields->uses.at[i];
		uint32_t object = nm_program_attribution(m->program, u->attr)->object;

		r->field_uses[i] = (struct nm_result_field_use){
		    m->attrs[u->attr], m->first[object] + u->field, {u->accesses[0], u->accesses[1]}, {{0}}};
		memcpy(r->field_uses[i].misses, u->misses, sizeof u->misses);
	}
	qsort(r->field_uses, m->fields->uses.count, sizeof *r->field_uses, by_attr);
	for (size_t i = 0; i < m->fields->uses.count; i++) {
		const struct nm_result_field_use *u = &r->field_uses[i];

		if (kept && !by_attr(&r->field_uses[kept - 1], u)) {
			add_use(&r->field_uses[kept - 1], u);
		} else {
			r->field_uses[kept++] = *u;
		}
	}
	r->field_use_count = kept;
	return 0;
}

/* ---- lines ---- */

static int by_object(const void *left, const void *right)
{
	const struct nm_fields_line *l = left, *b = right;

	if (l->object != b->object)
		return l->object < b->object ? -1 : 1;
	return l->line < b->line ? -1 : l->line > b->line;
}

static int compare_downwards(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a > *b ? -1 : *a < *b;
}

/* How many of the largest numbers make HOT percent of the sum. */
static uint64_t hot_sum(uint64_t *numbers, size_t count)
{
	uint64_t sum = 0, so_far = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		sum += numbers[i];
	qsort(numbers, count, sizeof *numbers, compare_downwards);
	while (n < count && so_far * 100 < sum * HOT)
		so_far += numbers[n++];
	return n;
}

static struct nm_result_lines sum_lines(const struct nm_fields_line *lines, size_t count, uint32_t line_bytes,
					uint64_t *numbers)
{
	struct nm_result_lines sum = {.object = lines->object, .lines = count};

	for (size_t i = 0; i < count; i++) {
		sum.residencies += lines[i].residencies;
		sum.accesses += lines[i].accesses;
		sum.idle += lines[i].bytes * IDLE_PART <= lines[i].residencies * line_bytes;
		numbers[i] = lines[i].accesses;
	}
	sum.hot = hot_sum(numbers, count);
	for (size_t i = 0; i < count; i++)
		numbers[i] = lines[i].residencies;
	sum.hot_residencies = hot_sum(numbers, count);
	return sum;
}

static size_t merge_lines(struct nm_fields_line *lines, size_t count)
{
	size_t kept = 0;

	qsort(lines, count, sizeof *lines, by_object);
	for (size_t i = 0; i < count; i++) {
		if (kept && !by_object(&lines[kept - 1], &lines[i])) {
			lines[kept - 1].residencies += lines[i].residencies;
			lines[kept - 1].accesses += lines[i].accesses;
			lines[kept - 1].bytes += lines[i].bytes;
		} else {
			lines[kept++] = lines[i];
		}
	}
	return kept;
}

static int merge_all_lines(struct merge *m)
{
	size_t n = m->fields->lines.count;
	struct nm_fields_line *lines = calloc(n + 1, sizeof *lines);
	uint64_t *numbers = calloc(n + 1, sizeof *numbers);
	struct nm_result *r = m->result;

	r->lines = calloc(r->object_count + 1, sizeof *r->lines);
	for (size_t i = 0; lines && i < n; i++) {
		lines[i] = m->fields->lines.at[i];
		lines[i].object = m->objects[lines[i].object];
	}
	if (lines && numbers && r->lines && n) {
		n = merge_lines(lines, n);
		for (size_t i = 0, end; i < n; i = end) {
			for (end = i; end < n && lines[end].object == lines[i].object;)
				end++;
			r->lines[r->line_count++] =
			    sum_lines(&lines[i], end - i, m->fields->line_bytes, numbers);
		}
	}
	n = lines && numbers && r->lines;
	free(lines);
	free(numbers);
	return n ? 0 : NM_ENOMEM;
}

int nm_fields_merge(void *fields, const struct nm_pass_merge *merge, struct nm_result *result)
{
	struct merge f = {.program = merge->program,
			  .fields = fields,
			  .objects = merge->objects,
			  .attrs = merge->attrs,
			  .result = result};
	int status = merge_fields(&f);

	if (!status)
		status = merge_uses(&f);
	if (!status)
		status = nm_fields_merge_affinity(fields, merge, f.first, result);
	if (!status)
		status = merge_all_lines(&f);
	free(f.first);
	return status;
}
