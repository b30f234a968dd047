/* SPDX-License-Identifier: MIT
 *
 * budgets.c - see budgets.h. libcyaml checks the keys and shapes; values are texts to it, so that "1%" and a
 * wrong number are judged here.
 */
#include "budgets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sources.h"
#include "yaml_load.h"

/* ---- the schema --------------------------------------------------------------------------------- */

struct entry {
	char *program, *object, *function, *field, *level, *metric, *relative, *absolute, *per_item, *items,
	    *slack, *ignore;
};

struct document {
	struct entry *budgets;
	unsigned count;
};

#define TEXT(key)                                                                                    \
	CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct entry, key, 1, \
			       CYAML_UNLIMITED)

static const cyaml_schema_field_t entry_fields[] = {
    TEXT(program),  TEXT(object),   TEXT(function), TEXT(field), TEXT(level),  TEXT(metric),   TEXT(relative),
    TEXT(absolute), TEXT(per_item), TEXT(items),    TEXT(slack), TEXT(ignore), CYAML_FIELD_END};
static const cyaml_schema_value_t entry_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct entry, entry_fields)};
static const cyaml_schema_field_t document_fields[] = {
    CYAML_FIELD_SEQUENCE_COUNT("budgets", CYAML_FLAG_POINTER, struct document, budgets, count, &entry_schema,
			       1, CYAML_UNLIMITED),
    CYAML_FIELD_END};
static const cyaml_schema_value_t document_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct document, document_fields)};

/* ---- values ------------------------------------------------------------------------------------- */

struct reading {
	struct nm_budgets *budgets;
	yaml_document_t *lines;
	size_t index; /* of the entry */
	struct nm_error *err;
};

static int fail_at_key(const struct reading *r, const char *key, const char *what)
{
	return nm_fail(r->err, NM_EINVAL, "%s:%d: %s", r->budgets->path,
		       nm_yaml_line_of_entry(r->lines, "budgets", r->index, key), what);
}

/* A number, at least 0, before `unit`; a missing one stays as it is. */
static int parse_number(const struct reading *r, const char *key, const char *text, const char *unit,
			const char *what, double *ret)
{
	char *end;
	double value;

	if (!text)
		return 0;
	value = strtod(text, &end);
	if (end == text || strcmp(end, unit) || !isfinite(value) || value < 0)
		return fail_at_key(r, key, what);
	*ret = value;
	return 0;
}

static int take_metric(const struct reading *r, const char *name, struct nm_budget *b)
{
	b->metric = NM_DIFF_MISSES;
	for (unsigned m = 0; name && m < NM_DIFF_METRICS; m++) {
		if (strcmp(nm_diff_metric_names[m], name))
			continue;
		b->metric = m;
		return 0;
	}
	return name ? fail_at_key(r, "metric", "a metric is misses, references, loads or cycles") : 0;
}

static int take_rule(const struct reading *r, const struct entry *e, struct nm_budget *b)
{
	int status;

	if (!!e->relative + !!e->absolute + !!e->per_item != 1)
		return fail_at_key(r, NULL, "a budget has one of relative, absolute and per_item");
	if (!e->per_item != !e->items)
		return fail_at_key(r, NULL,
				   "per_item and items belong together: \"per_item: 0.5, items: 1000\"");
	if (e->slack && !e->relative)
		return fail_at_key(r, "slack", "slack belongs to relative");
	b->rule = e->relative ? NM_BUDGET_RELATIVE : e->absolute ? NM_BUDGET_ABSOLUTE : NM_BUDGET_PER_ITEM;
	status = parse_number(r, "relative", e->relative, "%", "relative is a percentage: \"relative: 1%\"",
			      &b->allowed);
	b->allowed /= 100;
	if (!status)
		status = parse_number(r, "absolute", e->absolute, "", "absolute is a number", &b->allowed);
	if (!status)
		status = parse_number(r, "per_item", e->per_item, "", "per_item is a number", &b->allowed);
	if (!status)
		status = parse_number(r, "items", e->items, "", "items is a number", &b->items);
	if (!status)
		status = parse_number(r, "slack", e->slack, "", "slack is a number", &b->slack);
	return status;
}

static int take_entry(const struct reading *r, const struct entry *e)
{
	struct nm_budget b = {.line = nm_yaml_line_of_entry(r->lines, "budgets", r->index, NULL)};
	const struct {
		const char *from, **to;
	} texts[] = {{e->level, &b.level},       {e->program, &b.program}, {e->object, &b.object},
		     {e->function, &b.function}, {e->field, &b.field},     {e->ignore, &b.ignore}};
	int status = take_metric(r, e->metric, &b);

	if (!status)
		status = take_rule(r, e, &b);
	for (unsigned i = 0; i < sizeof texts / sizeof *texts && !status; i++)
		if (texts[i].from && !(*texts[i].to = nm_intern(&r->budgets->pool, texts[i].from)))
			status = nm_fail_memory(r->err);
	return status ? status : nm_vec_push(&r->budgets->at, b) ? nm_fail_memory(r->err) : 0;
}

static int read_text(struct nm_budgets *budgets, const char *text, size_t bytes, struct nm_error *err)
{
	static const char none[] =
	    "there are no budgets; the shortest file is \"budgets: [{level: L1d, relative: 1%}]\"";
	struct document *document = NULL;
	yaml_document_t lines;
	int status = nm_yaml_lines_load(&lines, text, bytes, budgets->path, err);
	struct reading r = {budgets, &lines, 0, err};

	if (status)
		return status;
	status =
	    nm_yaml_load(text, bytes, budgets->path, &lines, &document_schema, none, (void **)&document, err);
	for (; !status && r.index < document->count; r.index++)
		status = take_entry(&r, &document->budgets[r.index]);
	nm_yaml_free(&document_schema, document);
	nm_yaml_lines_done(&lines);
	return status;
}

int nm_budgets_read(struct nm_budgets *budgets, const char *path, struct nm_error *err)
{
	int64_t modified;
	char *text;
	size_t bytes;
	int status = nm_source_read(path, &text, &bytes, &modified);

	budgets->path = path;
	if (status)
		return status == NM_ENOMEM
			   ? nm_fail_memory(err)
			   : nm_fail(err, NM_ENOENT, "cannot read %s, which has the budgets", path);
	status = read_text(budgets, text, bytes, err);
	free(text);
	return status;
}

void nm_budgets_done(struct nm_budgets *budgets)
{
	nm_vec_free(&budgets->at);
	nm_strings_done(&budgets->pool);
}
