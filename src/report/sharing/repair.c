/* SPDX-License-Identifier: MIT
 *
 * repair.c - see repair.h.
 *
 * The first rule that applies:
 *   1. Half of the misses or more are true sharing. If several threads write the same bytes, give each thread
 *      a copy; if one thread writes them and others read them, write less often: no layout helps.
 *   2. The line has several objects and at least one is written: align those that are written.
 *   3. One object, of structures, and each thread uses its own elements: pad the structure, or align it if
 *      its length is already a multiple of the line.
 *   4. The same, but threads use different fields of one element: split the structure, by who uses them or, if some are
 *      hardly written and others often (mixed.h), by that. The latter is said of true sharing too.
 *   5. One object without a known structure: keep the data of different threads a line apart.
 */
#include "repair.h"

#include <stdlib.h>
#include <string.h>

#include "memstream.h"
#include "table.h"

struct line {
	const struct nm_repair_touch *touches;
	size_t count;
	unsigned bytes;
};

static int same_member(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static int64_t element_of(const struct nm_repair_touch *t)
{
	return t->structure > 0 && t->position >= 0 ? t->position / t->structure : -1;
}

static int members_overlap(const struct nm_repair_touch *t, const struct nm_repair_touch *r)
{
	return t->offset < r->offset + r->bytes && r->offset < t->offset + t->bytes;
}

/* A writing touch some of whose bytes another thread also touches (if `writes`: writes); or NULL. */
static const struct nm_repair_touch *shared_write(const struct line *l, int writes)
{
	for (size_t i = 0; i < l->count; i++)
		for (size_t k = 0; k < l->count && l->touches[i].writes; k++)
			if (l->touches[i].thread != l->touches[k].thread &&
			    members_overlap(&l->touches[i], &l->touches[k]) &&
			    (!writes || l->touches[k].writes))
				return &l->touches[i];
	return NULL;
}

/* The touch with the most writes. */
static const struct nm_repair_touch *most_written(const struct line *l)
{
	const struct nm_repair_touch *most = &l->touches[0];

	for (size_t i = 1; i < l->count; i++)
		if (l->touches[i].writes > most->writes)
			most = &l->touches[i];
	return most;
}

/* A touch of a different object by a different thread than `of`; or NULL. */
static const struct nm_repair_touch *other_object(const struct line *l, const struct nm_repair_touch *of)
{
	for (size_t i = 0; i < l->count; i++)
		if (!same_member(l->touches[i].object, of->object) && l->touches[i].thread != of->thread)
			return &l->touches[i];
	return NULL;
}

/* Whether no two threads touch the same element, unless both only read it. */
static int keep_to_elements(const struct line *l)
{
	for (size_t i = 0; i < l->count; i++) {
		if (element_of(&l->touches[i]) < 0)
			return 0;
		for (size_t k = 0; k < i; k++)
			if (l->touches[i].thread != l->touches[k].thread &&
			    l->touches[i].writes + l->touches[k].writes &&
			    element_of(&l->touches[i]) == element_of(&l->touches[k]))
				return 0;
	}
	return 1;
}

/* A touch of another field of the same type by another thread than that of `written`; or NULL. */
static const struct nm_repair_touch *other_field(const struct line *l, const struct nm_repair_touch *written)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->touches[i].field && l->touches[i].thread != written->thread &&
		    same_member(l->touches[i].type, written->type) &&
		    !same_member(l->touches[i].field, written->field))
			return &l->touches[i];
	return NULL;
}

/* Such as "count of struct args" or "counters". */
static void print_place(const struct nm_repair_touch *t, FILE *out)
{
	if (t->field)
		fprintf(out, "%s of %s", t->field, t->type);
	else
		fputs(t->object ? t->object : "<unknown>", out);
}

static void print_true(const struct line *l, FILE *out)
{
	const struct nm_repair_touch *t = shared_write(l, 1), *read = shared_write(l, 0);

	if (t) {
		fputs("Several threads write ", out);
		print_place(t, out);
		fputs(": give each thread a copy and combine them at the end, or write less often", out);
	} else if (read) {
		fprintf(out, "Thread %lld writes ", (long long)read->thread);
		print_place(read, out);
		fputs(", which others read: write less often, or hand over more at a time; no layout helps",
		      out);
	} else {
		fputs("What threads touch here belongs to them in turn: hand over more at a time", out);
	}
}

static void print_false(const struct line *l, int64_t misses, FILE *out)
{
	const struct nm_repair_touch *written = most_written(l), *other = other_object(l, written), *field;

	if (other) {
		fprintf(out, "Align %s to %u bytes, and let it end with a line: ", written->object, l->bytes);
		print_place(other, out);
		fprintf(out, " of thread %lld lies beside it", (long long)other->thread);
	} else if (keep_to_elements(l) && written->structure % l->bytes == 0) {
		fprintf(
		    out,
		    "Align %s to %u bytes, e.g. by alignas(%u) on %s, whose %lld bytes do not begin with a line: each "
		    "thread has elements of its own",
		    written->object, l->bytes, l->bytes, written->type, (long long)written->structure);
	} else if (keep_to_elements(l)) {
		fprintf(
		    out,
		    "Pad %s (%lld bytes) to %u, e.g. by alignas(%u): each thread has elements of %s of its own",
		    written->type, (long long)written->structure, l->bytes, l->bytes, written->object);
	} else if (nm_mixed_print(l->touches, l->count, l->bytes, misses, out)) {
		return;
	} else if (written->field && (field = other_field(l, written))) {
		fprintf(
		    out,
		    "Split %s: move %s, which thread %lld writes, a line away from %s, which thread %lld uses, e.g. "
		    "by alignas(%u)",
		    written->type, written->field, (long long)written->thread, field->field,
		    (long long)field->thread, l->bytes);
	} else {
		fprintf(
		    out,
		    "Keep what each thread uses of %s %u bytes apart, or give each thread a copy of its own",
		    written->object ? written->object : "<unknown>", l->bytes);
	}
}

/* After another sentence. */
static void print_mixed(const struct line *l, int64_t misses, FILE *out)
{
	char *text = NULL;
	FILE *sentence = nm_memstream_open(&text, NULL);

	if (!sentence)
		return;
	nm_mixed_print(l->touches, l->count, l->bytes, misses, sentence);
	if (!nm_memstream_close(sentence, &text) && *text)
		fprintf(out, ". %s", text);
	free(text);
}

/* Drops touches with less than 1% of all accesses, such as those of a thread that combines results at the
 * end. */
static size_t keep_frequent(struct nm_repair_touch *touches, size_t count)
{
	int64_t all = 0;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		all += touches[i].reads + touches[i].writes;
	for (size_t i = 0; i < count; i++)
		if (100 * (touches[i].reads + touches[i].writes) >= all)
			touches[kept++] = touches[i];
	return kept;
}

void nm_repair_print(struct nm_repair_touch *touches, size_t count, unsigned bytes, int64_t misses,
		     int64_t false_misses, FILE *out)
{
	const struct line l = {touches, keep_frequent(touches, count), bytes};

	if (!count || !misses)
		return;
	if (2 * false_misses <= misses) {
		print_true(&l, out);
		print_mixed(&l, misses, out);
		return;
	}
	print_false(&l, misses, out);
	fputs(". Coherence misses of this line then: ", out);
	nm_print_grouped(misses - false_misses, out);
	fputs(" instead of ", out);
	nm_print_grouped(misses, out);
}
