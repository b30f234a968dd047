/* SPDX-License-Identifier: MIT */
#include "match.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "map.h"
#include "memstream.h"

/* ---- objects ------------------------------------------------------------------------------------ */

/* "heap grow (tree.c:88)" as "heap grow (tree.c:#)", "f+0x1a" as "f+#". */
static const char *without_numbers(const char *name, struct nm_strings *pool)
{
	char *text = NULL;
	const char *kept = NULL;
	FILE *out = nm_memstream_open(&text, NULL);

	if (!out)
		return NULL;
	while (*name) {
		const size_t hex = !strncmp(name, "+0x", 3) ? 3 + strspn(name + 3, "0123456789abcdef") : 0;
		const size_t number = *name == ':' ? 1 + strspn(name + 1, "0123456789") : 0;

		if (hex > 3 || number > 1)
			fprintf(out, "%c#", *name);
		else
			fputc(*name, out);
		name += hex > 3 ? hex : number > 1 ? number : 1;
	}
	if (!nm_memstream_close(out, &text))
		kept = nm_intern(pool, text);
	free(text);
	return kept;
}

struct object {
	const char *name, *like; /* interned: as it is, without numbers */
	const char *common;
};
struct objects nm_vec(struct object);

/* Numbers count as such, so that line 9 comes before line 10. */
static int by_likeness(const void *a, const void *b)
{
	const struct object *o = a, *y = b;

	return o->like != y->like ? strcmp(o->like, y->like) : strverscmp(o->name, y->name);
}

static int list_objects(const struct nm_diff_side *side, struct nm_strings *pool, struct objects *ret)
{
	struct nm_map seen = {0};
	int status = 0;

	for (size_t i = 0; i < side->facts.count && !status; i++) {
		const struct nm_diff_fact *fact = &side->facts.at[i];
		const char *name = fact->own.text[NM_DIFF_OBJECT];
		struct object o = {.name = name, .common = fact->common.text[NM_DIFF_OBJECT]};

		if (!name || nm_map_get(&seen, (uintptr_t)name, 0))
			continue;
		o.like = without_numbers(name, pool);
		status = !o.like || nm_map_put(&seen, (uintptr_t)name, 1) ? NM_ENOMEM : nm_vec_push(ret, o);
	}
	nm_map_done(&seen);
	if (!status && ret->count)
		qsort(ret->at, ret->count, sizeof *ret->at, by_likeness);
	return status;
}

static size_t group_end(const struct objects *objects, size_t i)
{
	size_t end = i;

	assert(i < objects->count);
	while (end < objects->count && objects->at[end].like == objects->at[i].like)
		end++;
	return end;
}

/* Pairs one group of alike names with another: in order if there are as many. Others of the same name have
 * the same common name already, if `from` calls it by its own. */
static void match_group(const struct object *from, size_t from_count, struct object *to, size_t to_count)
{
	for (size_t i = 0; i < to_count; i++) {
		if (from_count == to_count) {
			to[i].common = from[i].common;
			continue;
		}
		for (size_t j = 0; j < from_count; j++)
			if (from[j].name == to[i].name)
				to[i].common = from[j].common;
	}
}

static int match_objects(const struct nm_diff_side *from, struct nm_diff_side *to, struct nm_strings *pool)
{
	struct objects a = {0}, b = {0};
	struct nm_map common_of = {0};
	int status = list_objects(from, pool, &a);

	if (!status)
		status = list_objects(to, pool, &b);
	for (size_t i = 0, j = 0; !status && j < b.count;) {
		const int order = i == a.count ? 1 : strcmp(a.at[i].like, b.at[j].like);

		if (!order)
			match_group(&a.at[i], group_end(&a, i) - i, &b.at[j], group_end(&b, j) - j);
		i = order <= 0 ? group_end(&a, i) : i;
		j = order >= 0 ? group_end(&b, j) : j;
	}
	for (size_t j = 0; j < b.count && !status; j++)
		status = nm_map_put(&common_of, (uintptr_t)b.at[j].name, (uintptr_t)b.at[j].common);
	for (size_t i = 0; i < to->facts.count && !status; i++) {
		const char **name = &to->facts.at[i].common.text[NM_DIFF_OBJECT];

		if (*name)
			*name = (const char *)(uintptr_t)nm_map_get(&common_of, (uintptr_t)*name, 0);
	}
	nm_map_done(&common_of);
	nm_vec_free(&a);
	nm_vec_free(&b);
	return status;
}

/* ---- functions and their lines ------------------------------------------------------------------ */

struct function {
	const char *name, *file; /* own; NULL: unknown */
	size_t first, lines;     /* in lines and facts_of: */
	size_t partner; /* index of a function of `from`, or SIZE_MAX; of `from`: whether it has one */
};

/* The functions of a side, with the facts of each line. */
struct index {
	const struct nm_diff_matched *of;
	struct nm_diff_fact **facts; /* sorted by function, file, line and object */
	struct nm_vec(struct function) functions;
	struct nm_vec(struct nm_diff_line) lines;
	struct nm_vec(size_t) facts_of; /* by line: its first fact; then that behind the last */
};

static int compare_likeness(const char *a, const char *b)
{
	return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b);
}

static int by_place(const void *a, const void *b)
{
	const struct nm_diff_fact *f = *(struct nm_diff_fact *const *)a,
				  *y = *(struct nm_diff_fact *const *)b;
	int order = compare_likeness(f->own.text[NM_DIFF_FUNCTION], y->own.text[NM_DIFF_FUNCTION]);

	if (!order)
		order = compare_likeness(f->own.text[NM_DIFF_FILE], y->own.text[NM_DIFF_FILE]);
	if (!order)
		order = (f->own.line > y->own.line) - (f->own.line < y->own.line);
	return order ? order : compare_likeness(f->own.text[NM_DIFF_OBJECT], y->own.text[NM_DIFF_OBJECT]);
}

static int is_function(const struct function *function, const struct nm_diff_fact *fact)
{
	return function->name == fact->own.text[NM_DIFF_FUNCTION] &&
	       function->file == fact->own.text[NM_DIFF_FILE];
}

static int add_fact(struct index *index, size_t at, const struct nm_diff_source *source)
{
	const struct nm_diff_fact *fact = index->facts[at], *before = at ? index->facts[at - 1] : NULL;
	struct function *function = &index->functions.at[index->functions.count - 1];
	struct nm_diff_line *line;

	if (!function->lines || before->own.line != fact->own.line) {
		const struct nm_diff_line new = {.number = fact->own.line,
						 .text = nm_diff_text_at(source, fact->own.line)};

		if (nm_vec_push(&index->lines, new) || nm_vec_push(&index->facts_of, at))
			return NM_ENOMEM;
		function->lines++;
		before = NULL;
	}
	line = &index->lines.at[index->lines.count - 1];
	line->references += fact->executed;
	if (!before || before->common.text[NM_DIFF_OBJECT] != fact->common.text[NM_DIFF_OBJECT])
		line->objects ^= nm_mix64((uintptr_t)fact->common.text[NM_DIFF_OBJECT]);
	return 0;
}

static int make_index(struct index *index, const struct nm_diff_matched *of, struct nm_strings *pool,
		      struct nm_error *err)
{
	const struct nm_diff_source *source = NULL;
	const size_t count = of->side->facts.count;
	int status = 0;

	index->of = of;
	index->facts = calloc(count + 1, sizeof(struct nm_diff_fact *));
	if (!index->facts)
		return nm_fail_memory(err);
	for (size_t i = 0; i < count; i++)
		index->facts[i] = &of->side->facts.at[i];
	qsort(index->facts, count, sizeof *index->facts, by_place);
	for (size_t i = 0; i < count && !status; i++) {
		const char *const *own = index->facts[i]->own.text;
		const struct function new = {own[NM_DIFF_FUNCTION], own[NM_DIFF_FILE], index->lines.count, 0,
					     SIZE_MAX};

		if (!i || !is_function(&index->functions.at[index->functions.count - 1], index->facts[i])) {
			if (nm_vec_push(&index->functions, new))
				return nm_fail_memory(err);
			status =
			    nm_diff_source_of(of->texts, of->side->profile, new.file, pool, &source, err);
		}
		if (!status && add_fact(index, i, source))
			status = nm_fail_memory(err);
	}
	return status || nm_vec_push(&index->facts_of, count) ? status ? status : nm_fail_memory(err) : 0;
}

static void index_done(struct index *index)
{
	free(index->facts);
	nm_vec_free(&index->functions);
	nm_vec_free(&index->lines);
	nm_vec_free(&index->facts_of);
}

static const char *last_component(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* What two functions must have in common to be one, from the surest. */
enum likeness { SAME_PATH, SAME_FILE_NAME, SAME_NAME, LIKENESSES };

static const char *key_of(const struct function *f, enum likeness likeness, struct nm_strings *pool)
{
	const char *file = likeness == SAME_PATH        ? f->file
			   : likeness == SAME_FILE_NAME ? last_component(f->file)
							: NULL;
	const char *kept;
	char *text;

	if (asprintf(&text, "%s\n%s", f->name ? f->name : "", file ? file : "") < 0)
		return NULL;
	kept = nm_intern(pool, text);
	free(text);
	return kept;
}

static const uint64_t SEVERAL = UINT32_MAX, NONE = UINT32_MAX - 1; /* in the place of an index */

/* Maps keys of functions without a partner to their index, or to SEVERAL. */
static int map_functions(struct index *index, enum likeness likeness, struct nm_strings *pool,
			 struct nm_map *ret_map)
{
	for (size_t i = 0; i < index->functions.count; i++) {
		const char *key;

		if (index->functions.at[i].partner != SIZE_MAX)
			continue;
		key = key_of(&index->functions.at[i], likeness, pool);
		if (!key || nm_map_put(ret_map, (uintptr_t)key,
				       nm_map_get(ret_map, (uintptr_t)key, NONE) == NONE ? i : SEVERAL))
			return NM_ENOMEM;
	}
	return 0;
}

static int match_named(struct index *from, struct index *to, enum likeness likeness, struct nm_strings *pool)
{
	struct nm_map at[2] = {{0}, {0}};
	uint64_t key, i, j;
	size_t step = 0;
	int status = map_functions(from, likeness, pool, &at[0]);

	if (!status)
		status = map_functions(to, likeness, pool, &at[1]);
	while (!status && nm_map_next(&at[1], &step, &key, &j)) {
		i = nm_map_get(&at[0], key, SEVERAL);
		if (i == SEVERAL || j == SEVERAL)
			continue;
		from->functions.at[i].partner = j;
		to->functions.at[j].partner = i;
	}
	nm_map_done(&at[0]);
	nm_map_done(&at[1]);
	return status;
}

/* Matches lines of two functions; *ret_pair is malloc'ed. */
static int match_lines(const struct index *from, const struct function *f, const struct index *to,
		       const struct function *g, struct nm_strings *pool, size_t **ret_pair,
		       struct nm_error *err)
{
	const struct nm_diff_source *s, *b;
	size_t *pair = calloc(f->lines, sizeof *pair);
	int status = pair
			 ? nm_diff_source_of(from->of->texts, from->of->side->profile, f->file, pool, &s, err)
			 : nm_fail_memory(err);

	if (!status)
		status = nm_diff_source_of(to->of->texts, to->of->side->profile, g->file, pool, &b, err);
	if (!status && nm_diff_match_lines(&from->lines.at[f->first], f->lines, &to->lines.at[g->first],
					   g->lines, s->digest && s->digest == b->digest, pair))
		status = nm_fail_memory(err);
	*ret_pair = pair;
	return status;
}

/* Whether so few lines tell what they are: one line alone must have executed much, and as much. */
static int can_tell(const struct index *from, const struct function *f, const struct index *to,
		    const struct function *g)
{
	enum { MUCH = 1000 };
	const struct nm_diff_line *l = &from->lines.at[f->first], *b = &to->lines.at[g->first];

	return (f->lines > 1 && g->lines > 1) ||
	       (f->lines == g->lines && l->references == b->references && l->references >= MUCH);
}

/* A renamed function: the one without a partner in a file of the same name that is most like it. */
static int match_renamed(struct index *from, struct index *to, struct nm_strings *pool, struct nm_error *err)
{
	static const double enough = 0.6;

	for (size_t j = 0; j < to->functions.count; j++) {
		struct function *g = &to->functions.at[j];
		size_t best = SIZE_MAX;
		double most = enough;

		for (size_t i = 0; i < from->functions.count && g->partner == SIZE_MAX; i++) {
			struct function *f = &from->functions.at[i];
			double likeness;
			size_t *pair;
			int status;

			if (f->partner != SIZE_MAX || !f->file || !g->file || !can_tell(from, f, to, g) ||
			    strcmp(last_component(f->file), last_component(g->file)))
				continue;
			status = match_lines(from, f, to, g, pool, &pair, err);
			likeness = status ? 0
					  : nm_diff_likeness(&from->lines.at[f->first], f->lines,
							     &to->lines.at[g->first], g->lines, pair);
			free(pair);
			if (status)
				return status;
			if (likeness >= most) {
				most = likeness;
				best = i;
			}
		}
		if (best != SIZE_MAX) {
			g->partner = best;
			from->functions.at[best].partner = j;
		}
	}
	return 0;
}

/* Gives the facts of line j of `to` the function, file and number of a fact of `from`, or a number that no
 * other line has. */
static void name_line(struct index *to, const struct function *f, size_t j,
		      const struct nm_diff_names *function, int64_t line)
{
	const size_t at = f->first + j;

	for (size_t i = to->facts_of.at[at]; i < to->facts_of.at[at + 1]; i++) {
		struct nm_diff_names *common = &to->facts[i]->common;

		common->text[NM_DIFF_FUNCTION] = function->text[NM_DIFF_FUNCTION];
		common->text[NM_DIFF_FILE] = function->text[NM_DIFF_FILE];
		common->line = line;
	}
}

static int name_lines(const struct index *from, struct index *to, struct function *g, struct nm_strings *pool,
		      int64_t *unique, struct nm_error *err)
{
	const struct function *f = &from->functions.at[g->partner];
	const struct nm_diff_names *names = &from->facts[from->facts_of.at[f->first]]->common;
	size_t *pair, i, j;
	int status = match_lines(from, f, to, g, pool, &pair, err);

	for (j = 0; j < g->lines && !status; j++)
		name_line(to, g, j, names, --*unique);
	for (i = 0; i < f->lines && !status; i++)
		if (pair[i] != SIZE_MAX)
			name_line(to, g, pair[i], names,
				  from->facts[from->facts_of.at[f->first + i]]->common.line);
	free(pair);
	return status;
}

int nm_diff_match(const struct nm_diff_matched *from, const struct nm_diff_matched *to,
		  struct nm_strings *pool, int64_t *unique, struct nm_error *err)
{
	struct index a = {.of = NULL}, b = {.of = NULL};
	int status = match_objects(from->side, to->side, pool) ? nm_fail_memory(err) : 0;

	if (!status)
		status = make_index(&a, from, pool, err);
	if (!status)
		status = make_index(&b, to, pool, err);
	for (unsigned likeness = 0; likeness < LIKENESSES && !status; likeness++)
		status = match_named(&a, &b, likeness, pool) ? nm_fail_memory(err) : 0;
	if (!status)
		status = match_renamed(&a, &b, pool, err);
	for (size_t j = 0; j < b.functions.count && !status; j++)
		if (b.functions.at[j].partner != SIZE_MAX)
			status = name_lines(&a, &b, &b.functions.at[j], pool, unique, err);
	index_done(&a);
	index_done(&b);
	return status;
}
