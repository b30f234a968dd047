/* SPDX-License-Identifier: MIT
 *
 * memory.c - the contents of a cache by address: objects as bands of memory.
 *
 * A program has more objects than a page has room for. Then the objects are shown that most of the cached
 * lines were loaded for.
 */
#include <stdlib.h>

#include "answers.h"

/* Whether a cached line belongs to an object's band: it has bytes of the object; or, for a scattered object,
 * it was loaded for the object. */
static int is_of(const struct nm_debug_program *p, const struct nm_slot *slot,
		 const struct nm_debug_object *o, uint64_t low)
{
	return slot->line >= low && slot->line < o->end &&
	       (!o->is_scattered || p->sites.at[slot->attr].object == (uint32_t)(o - p->objects.at));
}

static json_t *band_json(const struct nm_debug_program *p, const struct nm_debug_object *o, uint64_t unit,
			 uint64_t bins, const struct nm_slot *slots, size_t count)
{
	const uint64_t low = o->low / unit * unit, lines = (o->end - low + unit - 1) / unit,
		       per_bin = (lines + bins - 1) / bins;
	const uint64_t used = per_bin ? (lines + per_bin - 1) / per_bin : 0;
	uint32_t *cached = calloc(used + 1, sizeof *cached);
	json_t *list = json_array();

	for (size_t i = 0; i < count && cached; i++)
		if (is_of(p, &slots[i], o, low))
			cached[(slots[i].line - low) / unit / per_bin]++;
	for (uint64_t i = 0; i < used && cached; i++)
		json_array_append_new(list, json_integer(cached[i]));
	free(cached);
	return json_pack("{s:o, s:b, s:I, s:I, s:I, s:I, s:o}", "object", nm_text_json(o->name), "scattered",
			 o->is_scattered, "low", (json_int_t)o->low, "end", (json_int_t)o->end, "lines",
			 (json_int_t)lines, "lines_per_bin", (json_int_t)per_bin, "cached", list);
}

/* An object that may be shown. */
struct candidate {
	const struct nm_debug_object *object;
	uint64_t lines; /* cached lines that were loaded for it */
};

/* Those with most lines first, then the largest. Scattered objects are behind the others: the distance between
 * their ends is not their size. */
static int by_lines_and_size(const void *left, const void *right)
{
	const struct candidate *c = left, *b = right;
	const struct nm_debug_object *o = c->object, *y = b->object;
	const uint64_t x_size = o->end - o->low, y_size = y->end - y->low;

	if (c->lines != b->lines)
		return c->lines < b->lines ? 1 : -1;
	if (o->is_scattered != y->is_scattered)
		return o->is_scattered - y->is_scattered;
	if (x_size != y_size)
		return x_size < y_size ? 1 : -1;
	return o->low != y->low ? (o->low > y->low ? 1 : -1) : (o > y) - (o < y);
}

static void count_lines(const struct nm_debug_program *p, const struct nm_window *w,
			struct candidate *candidates)
{
	for (uint64_t i = 0; i < (w->to - w->from) * w->ways; i++) {
		const struct nm_slot *s = &w->slots[i];

		if (s->line != NM_NO_LINE && p->sites.at[s->attr].object < p->objects.count)
			candidates[p->sites.at[s->attr].object].lines++;
	}
}

/* The objects that the run references, in the order in which they are shown: *ret_shown of them, at most
 * `bands`. Returns their number. */
static size_t choose_objects(const struct nm_debug_program *p, const struct nm_window *w, size_t bands,
			     struct candidate *candidates, size_t *ret_shown)
{
	size_t count = 0, shown = 0;

	for (size_t i = 0; i < p->objects.count; i++) {
		candidates[i].object = &p->objects.at[i];
		count += p->objects.at[i].end > 0;
	}
	if (count > bands)
		count_lines(p, w, candidates);
	for (size_t i = 0, kept = 0; i < p->objects.count; i++)
		if (candidates[i].object->end)
			candidates[kept++] = candidates[i];
	qsort(candidates, count, sizeof *candidates, by_lines_and_size);
	while (shown < count && shown < bands && (count <= bands || candidates[shown].lines))
		shown++;
	*ret_shown = shown;
	return count;
}

/* `bands`: the largest number of objects; `bins`: parts of each. */
int nm_answer_memory(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	const struct nm_debug_program *p = &q->debugger->checkpoints->program;
	struct candidate *candidates = calloc(p->objects.count + 1, sizeof *candidates);
	struct nm_window w = {.slots = NULL};
	size_t count, shown = 0;
	int64_t bands, bins;
	int status = candidates ? nm_question_number(q, "bands", 40, &bands, err) : nm_fail_memory(err);
	json_t *list;

	if (!status)
		status = nm_question_number(q, "bins", 512, &bins, err);
	if (!status && (bands < 1 || bands > 200 || bins < 1 || bins > 2048))
		status = nm_fail(err, NM_EINVAL, "\"bands\" goes from 1 to 200, \"bins\" to 2048");
	if (!status)
		status = nm_window_read(q, &w, err);
	if (!status) {
		list = json_array();
		count = choose_objects(p, &w, (size_t)bands, candidates, &shown);
		for (size_t i = 0; i < shown; i++)
			json_array_append_new(
			    list, band_json(p, candidates[i].object,
					    nm_level_unit(&q->debugger->checkpoints->machine.levels[w.level]),
					    (uint64_t)bins, w.slots, (w.to - w.from) * w.ways));
		*ret = json_pack("{s:o, s:I}", "bands", list, "rest", (json_int_t)(count - shown));
	}
	free(candidates);
	free(w.slots);
	return status;
}
