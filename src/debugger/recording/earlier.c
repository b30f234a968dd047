/* SPDX-License-Identifier: MIT
 *
 * earlier.c - who evicted the lines of a window before it begins: of each line that the window touches, the
 * last departure, as the debugger's answer `evicted` has it.
 *
 * The record says in which pieces of the run a line may have left. So the run before the window is simulated
 * again from checkpoint to checkpoint, backward, only where a line may have left that is not found yet.
 */
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "recording_priv.h"

enum { MOST_LINES = 1 << 16, PART_LINES = 1 << 12 };

/* A line, and its last departure as far as it is known. */
struct sought {
	struct nm_cached_line line;
	struct nm_line_departure departure;
};

struct search {
	struct nm_debugger *debugger;
	struct nm_vec(struct sought) lines;
	/* in one part of the run: lines that may have left, and their indices */
	struct nm_vec(struct nm_cached_line) wanted;
	struct nm_vec(size_t) index;
};

/* Whether a line may have left at a reference in (from, to]. */
static int may_have_left(const struct search *s, const struct nm_cached_line *line, uint64_t from,
			 uint64_t to)
{
	const struct nm_shared_record *r = &s->debugger->timeline->record;

	for (uint64_t piece = nm_record_piece(r, from + 1); piece <= nm_record_piece(r, to); piece++)
		if (nm_record_may_have_left(r, piece, line->level, line->line))
			return 1;
	return 0;
}

static int choose_wanted(struct search *s, uint64_t from, uint64_t to)
{
	s->wanted.count = s->index.count = 0;
	for (size_t i = 0; i < s->lines.count; i++) {
		const struct sought *one = &s->lines.at[i];

		if (one->departure.position || !may_have_left(s, &one->line, from, to))
			continue;
		if (nm_vec_push(&s->wanted, one->line) || nm_vec_push(&s->index, i))
			return NM_ENOMEM;
	}
	return 0;
}

/* Finds the last departures of lines in the references (the nearest checkpoint before `to`, to]. */
static int search_back(struct search *s, uint64_t to, uint64_t *ret_from, struct nm_error *err)
{
	struct nm_line_departure *found = NULL;
	struct nm_moment moment;
	int status = nm_timeline_fetch(s->debugger->timeline, to - 1, &moment, err);

	if (status)
		return status;
	*ret_from = moment.position;
	if (choose_wanted(s, moment.position, to))
		status = nm_fail_memory(err);
	else if (s->wanted.count)
		status = nm_moment_departures(&moment, to, s->wanted.at, s->wanted.count, &found, err);
	for (size_t i = 0; !status && i < s->wanted.count; i++)
		s->lines.at[s->index.at[i]].departure = found[i];
	free(found);
	nm_moment_end(&moment);
	return status;
}

static int by_line(const void *a, const void *b)
{
	const struct nm_cached_line *x = &((const struct sought *)a)->line,
				    *y = &((const struct sought *)b)->line;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->core > y->core) - (x->core < y->core);
}

/* [level, core, line] of a line that never left, and how it left otherwise. */
static json_t *sought_json(struct nm_debugger *d, const struct sought *s)
{
	json_t *row = json_pack("[I, I, I]", (json_int_t)s->line.level, (json_int_t)s->line.core,
				(json_int_t)s->line.line);

	if (s->departure.position)
		json_array_append_new(row, json_pack("{s:o, s:o, s:I}", "evicted",
						     nm_departed_json(d, &s->departure.left), "evictor",
						     nm_reference_json(d, s->departure.position),
						     "evicted_at", (json_int_t)s->departure.position));
	return row;
}

/* Writes some lines as a part. */
static int put_rows(const struct search *s, const struct sought *rows, size_t count, uint64_t from,
		    struct nm_recording_sink *sink, int *ret_fits, struct nm_error *err)
{
	json_t *list = json_array();
	char *text;
	int status;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, sought_json(s->debugger, &rows[i]));
	text = json_dumps(list, JSON_COMPACT);
	status = text ? sink->put(sink,
				  &(struct nm_recording_part){.kind = "earlier",
							      .from = from,
							      .count = count,
							      .bytes = text,
							      .size = strlen(text)},
				  ret_fits, err)
		      : nm_fail_memory(err);
	free(text);
	json_decref(list);
	return status;
}

/* The lines that the window touches: those of the first levels, if they are too many. */
static int start(struct search *s, const struct nm_moment *moment, struct nm_error *err)
{
	struct nm_cached_line *lines = NULL;
	size_t count = 0;
	int status = nm_moment_touched(moment, &lines, &count, err);

	for (size_t i = 0; !status && i < count; i++)
		if (nm_vec_push(&s->lines, (struct sought){.line = lines[i]}))
			status = nm_fail_memory(err);
	free(lines);
	if (s->lines.count)
		qsort(s->lines.at, s->lines.count, sizeof *s->lines.at, by_line);
	if (s->lines.count > MOST_LINES)
		s->lines.count = MOST_LINES;
	return status;
}

int nm_recording_put_earlier(struct nm_debugger *d, const struct nm_moment *moment, uint64_t from,
			     struct nm_recording_sink *sink, struct nm_error *err)
{
	const size_t least = sink->room / 2;
	struct search s = {.debugger = d};
	int fits = 1, status = start(&s, moment, err);

	for (uint64_t to = from; to && !status;)
		status = search_back(&s, to, &to, err);
	for (size_t i = 0; !status && fits && i < s.lines.count && sink->room > least; i += PART_LINES) {
		const size_t left = s.lines.count - i;

		status = put_rows(&s, &s.lines.at[i], left < PART_LINES ? left : PART_LINES, from, sink,
				  &fits, err);
	}
	nm_vec_free(&s.lines);
	nm_vec_free(&s.wanted);
	nm_vec_free(&s.index);
	return status;
}
