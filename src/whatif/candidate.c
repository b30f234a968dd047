/* SPDX-License-Identifier: MIT
 *
 * candidate.c - see candidate.h. A line is a word, a name and what is to be done; names may hold blanks, as in
 * "heap parse (tree.c:88)", so a line is taken apart from both ends.
 */
#include "candidate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A line that is being read: [at, end) is left of it. */
struct line {
	struct nm_candidate *candidate;
	const char *text, *at, *end;
	struct nm_error *err;
};

static int wrong(const struct line *l, const char *shape)
{
	return nm_fail_at(l->err, l->text, (int)(l->at - l->text), "write \"%s\"", shape);
}

static void trim(struct line *l)
{
	while (l->at < l->end && isspace((unsigned char)*l->at))
		l->at++;
	while (l->end > l->at && isspace((unsigned char)l->end[-1]))
		l->end--;
}

/* Takes a word off the beginning; 1 if it stood there. */
static int take_word(struct line *l, const char *word)
{
	const size_t n = strlen(word);

	trim(l);
	if ((size_t)(l->end - l->at) < n || strncmp(l->at, word, n) ||
	    (l->at + n < l->end && isalnum((unsigned char)l->at[n])))
		return 0;
	l->at += n;
	trim(l);
	return 1;
}

/* Takes a word off the end. */
static int take_last(struct line *l, const char *word)
{
	const size_t n = strlen(word);

	trim(l);
	if ((size_t)(l->end - l->at) <= n || strncmp(l->end - n, word, n))
		return 0;
	l->end -= n;
	trim(l);
	return 1;
}

/* Takes a number above 0 off the end. */
static int take_number(struct line *l, uint64_t *ret)
{
	const char *from = l->end;
	char digits[16] = "";

	while (from > l->at && isdigit((unsigned char)from[-1]))
		from--;
	if (from == l->end || l->end - from > 12)
		return 0;
	memcpy(digits, from, (size_t)(l->end - from));
	*ret = strtoull(digits, NULL, 10);
	l->end = from;
	trim(l);
	return *ret > 0;
}

/* What is left is a name: "struct" before it is left out where types are meant. 0, or NM_ENOMEM or NM_EINVAL. */
static int take_name(struct line *l, const char *shape, const char **ret)
{
	trim(l);
	if (l->at == l->end)
		return wrong(l, shape);
	*ret = nm_intern_n(&l->candidate->names, l->at, (size_t)(l->end - l->at));
	return *ret ? 0 : nm_fail_memory(l->err);
}

/* "a, b" up to the end of the line. */
static int take_fields(struct line *l, struct nm_transform *t, const char *shape)
{
	const char *end = l->end;
	int status = 0;

	for (const char *comma; !status && l->at < end; l->at = comma < end ? comma + 1 : end) {
		const char *name;

		comma = memchr(l->at, ',', (size_t)(end - l->at));
		comma = comma ? comma : end;
		l->end = comma;
		status = take_name(l, shape, &name);
		if (!status && nm_vec_push(&t->fields, name))
			status = nm_fail_memory(l->err);
	}
	return status || t->fields.count ? status : wrong(l, shape);
}

/* Splits the line at the last place of a text: what is behind it stays in *ret_behind. 1 if it is there. */
static int split_at(struct line *l, const char *text, struct line *ret_behind)
{
	const size_t n = strlen(text);

	*ret_behind = *l;
	for (const char *p = l->end - n; p >= l->at; p--)
		if (!strncmp(p, text, n)) {
			ret_behind->at = p + n;
			l->end = p;
			trim(l);
			trim(ret_behind);
			return 1;
		}
	return 0;
}

static int read_reorder(struct line *l, struct nm_transform *t, const char *shape)
{
	struct line fields = *l;
	int status;

	t->says_struct = take_word(l, "struct");
	t->by_alignment = take_last(l, " by alignment");
	if (t->by_alignment)
		return take_name(l, shape, &t->target);
	for (const char *colon = l->at; colon < l->end; colon++) /* not the colons of "app::node" */
		if (*colon == ':' && colon[1] == ':') {
			colon++;
		} else if (*colon == ':') {
			fields.at = colon + 1;
			l->end = colon;
			status = take_name(l, shape, &t->target);
			return status ? status : take_fields(&fields, t, shape);
		}
	return wrong(l, shape);
}

static int read_pad(struct line *l, struct nm_transform *t, const char *shape)
{
	struct line of;

	if (split_at(l, " rows of ", &of)) {
		struct line by;

		t->kind = NM_PAD_ROWS;
		if (!split_at(&of, " by ", &by) || !take_number(&by, &t->bytes) || by.at != by.end ||
		    !take_number(&of, &t->number) || of.at != of.end)
			return wrong(&of, "pad NAME rows of BYTES by BYTES");
		return take_name(l, shape, &t->target);
	}
	t->says_struct = take_word(l, "struct");
	if (!take_number(l, &t->number) || !take_last(l, " to"))
		return wrong(l, shape);
	return take_name(l, shape, &t->target);
}

static int read_split(struct line *l, struct nm_transform *t, const char *shape)
{
	struct line hot;
	int status;

	t->says_struct = take_word(l, "struct");
	t->by_pointer = take_last(l, "by pointer");
	if (!t->by_pointer && !take_last(l, "parallel"))
		return wrong(l, shape);
	if (!split_at(l, " hot(", &hot) || !take_last(&hot, ")"))
		return wrong(l, shape);
	status = take_fields(&hot, t, shape);
	return status ? status : take_name(l, shape, &t->target);
}

static int read_soa(struct line *l, struct nm_transform *t, const char *shape)
{
	t->says_struct = take_word(l, "struct");
	return take_name(l, shape, &t->target);
}

static int read_shrink(struct line *l, struct nm_transform *t, const char *shape)
{
	struct line field;
	int status;

	t->says_struct = take_word(l, "struct");
	if (!take_number(l, &t->number) || !take_last(l, " to") || !split_at(l, ".", &field))
		return wrong(l, shape);
	status = take_fields(&field, t, shape);
	return status ? status : take_name(l, shape, &t->target);
}

static int read_align(struct line *l, struct nm_transform *t, const char *shape)
{
	if (!take_number(l, &t->number) || t->number & (t->number - 1) || t->number > 1 << 21)
		return nm_fail_at(l->err, l->text, (int)(l->end - l->text),
				  "an alignment is a power of two up to 2097152: write \"%s\"", shape);
	(void)take_last(l, " to");
	return take_name(l, shape, &t->target);
}

static int read_merge(struct line *l, struct nm_transform *t, const char *shape)
{
	struct line other;
	int status;

	if (!split_at(l, ", ", &other) || !take_number(&other, &t->other_bytes) ||
	    !take_last(&other, " of") || !take_number(l, &t->bytes) || !take_last(l, " of"))
		return wrong(l, shape);
	status = take_name(&other, shape, &t->other);
	return status ? status : take_name(l, shape, &t->target);
}

static int read_pool(struct line *l, struct nm_transform *t, const char *shape)
{
	t->by_first_use = take_last(l, " by first use");
	return take_name(l, shape, &t->target);
}

static int read_order(struct line *l, struct nm_transform *t, const char *shape)
{
	struct line visitor;

	if (split_at(l, " as visited by ", &visitor)) {
		const int status = take_name(&visitor, shape, &t->visitor);

		if (status)
			return status;
	} else if (!take_last(l, " as visited")) {
		return wrong(l, shape);
	}
	return take_name(l, shape, &t->target);
}

static int read_transpose(struct line *l, struct nm_transform *t, const char *shape)
{
	if (!take_number(l, &t->bytes) || !take_last(l, "x") || !take_number(l, &t->columns) ||
	    !take_last(l, "x") || !take_number(l, &t->rows))
		return wrong(l, shape);
	return take_name(l, shape, &t->target);
}

static int read_offset(struct line *l, struct nm_transform *t, const char *shape)
{
	struct line other;
	int status;

	if (!take_number(l, &t->number) || !take_last(l, " by") || !split_at(l, " against ", &other))
		return wrong(l, shape);
	status = take_name(&other, shape, &t->other);
	return status ? status : take_name(l, shape, &t->target);
}

static int read_huge_pages(struct line *l, struct nm_transform *t, const char *shape)
{
	return take_name(l, shape, &t->target);
}

static const struct {
	const char *word;
	enum nm_transform_kind kind;
	int (*read)(struct line *line, struct nm_transform *ret, const char *shape);
	const char *shape;
} kinds[] = {
    {"reorder", NM_REORDER, read_reorder,
     "reorder struct NAME: FIELD, FIELD (or: reorder struct NAME by alignment)"},
    {"pad", NM_PAD_STRUCT, read_pad, "pad struct NAME to BYTES"},
    {"split", NM_SPLIT, read_split, "split struct NAME hot(FIELD, FIELD) parallel (or: by pointer)"},
    {"soa", NM_SOA, read_soa, "soa struct NAME"},
    {"shrink", NM_SHRINK, read_shrink, "shrink NAME.FIELD to BYTES"},
    {"align", NM_ALIGN, read_align, "align OBJECT to BYTES"},
    {"merge", NM_MERGE, read_merge, "merge OBJECT of BYTES, OBJECT of BYTES"},
    {"pool", NM_POOL, read_pool, "pool OBJECT (or: pool OBJECT by first use)"},
    {"order", NM_ORDER, read_order, "order OBJECT as visited (or: as visited by FUNCTION)"},
    {"transpose", NM_TRANSPOSE, read_transpose, "transpose OBJECT ROWSxCOLUMNSxBYTES"},
    {"offset", NM_OFFSET, read_offset, "offset OBJECT against OBJECT by BYTES"},
    {"hugepages", NM_HUGE_PAGES, read_huge_pages, "hugepages OBJECT"},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static int read_line(struct line *l)
{
	struct nm_transform t = {.refused = NULL};
	int status;

	t.text = nm_intern_n(&l->candidate->names, l->at, (size_t)(l->end - l->at));
	if (!t.text)
		return nm_fail_memory(l->err);
	l->text = l->at = t.text;
	l->end = l->at + strlen(l->at);
	if (take_word(l, "tile"))
		return nm_fail_at(
		    l->err, l->text, 0,
		    "tile is out of reach: it changes the order of references, and a trace does "
		    "not show whether the program allows that");
	for (unsigned i = 0; i < KINDS; i++) {
		if (!take_word(l, kinds[i].word))
			continue;
		t.kind = kinds[i].kind;
		status = kinds[i].read(l, &t, kinds[i].shape);
		if (!status && nm_vec_push(&l->candidate->transforms, t))
			status = nm_fail_memory(l->err);
		if (status)
			nm_vec_free(&t.fields);
		return status;
	}
	return nm_fail_at(l->err, l->text, 0,
			  "a line begins with reorder, pad, split, soa, shrink, align, merge, pool, order, "
			  "transpose, offset or hugepages");
}

/* All lines in one. 0 or NM_ENOMEM. */
static int join(struct nm_candidate *c)
{
	const char *text = "";

	for (size_t i = 0; i < c->transforms.count && text; i++)
		text = nm_intern_format(&c->names, "%s%s%s", text, i ? "; " : "", c->transforms.at[i].text);
	c->text = text;
	return text ? 0 : NM_ENOMEM;
}

int nm_is_type_named(const char *type, const char *typed)
{
	static const char *const words[] = {"struct ", "union ", "class ", "type("};
	const size_t n = strlen(typed);

	if (!strcmp(type, typed))
		return 1;
	for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
		const size_t word = strlen(words[i]);

		if (!strncmp(type, words[i], word) && !strncmp(type + word, typed, n) &&
		    !strcmp(type + word + n, words[i][word - 1] == '(' ? ")" : ""))
			return 1;
	}
	return 0;
}

int nm_candidate_parse(struct nm_candidate *ret, const char *text, struct nm_error *err)
{
	int status = 0;

	*ret = (struct nm_candidate){.names = {.room = 0}};
	while (*text && !status) {
		const size_t n = strcspn(text, "\n;");
		struct line line = {.candidate = ret, .at = text, .end = text + n, .err = err};

		trim(&line);
		if (line.at < line.end && *line.at != '#')
			status = read_line(&line);
		text += n + (text[n] != '\0');
	}
	if (!status && !ret->transforms.count)
		status = nm_fail(err, NM_EINVAL, "a candidate without a transformation");
	return status || !join(ret) ? status : nm_fail_memory(err);
}

void nm_candidate_done(struct nm_candidate *c)
{
	for (size_t i = 0; i < c->transforms.count; i++)
		nm_vec_free(&c->transforms.at[i].fields);
	nm_vec_free(&c->transforms);
	nm_strings_done(&c->names);
}
