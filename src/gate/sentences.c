/* SPDX-License-Identifier: MIT
 *
 * sentences.c - the texts of a judgement, which all formats share.
 */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gate_priv.h"
#include "memstream.h"
#include "table.h"
#include "utf8.h"

const char *const nm_outcome_names[] = {"met", "not met", "ignored"};

const char *nm_gate_say(struct nm_strings *pool, const char *format, ...)
{
	const char *kept;
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return NULL;
	kept = nm_intern(pool, text);
	free(text);
	return kept;
}

const char *nm_gate_clean(struct nm_strings *pool, const char *text)
{
	char *clean = nm_utf8_clean(text);
	const char *kept = clean ? nm_intern(pool, clean) : NULL;

	free(clean);
	return kept;
}

/* "65,100", and " [64,900 to 65,300]" where the profiles differ. */
static void print_interval(const struct nm_count_range *i, FILE *out)
{
	nm_print_grouped(i->value, out);
	if (i->least == i->greatest)
		return;
	fputs(" [", out);
	nm_print_grouped(i->least, out);
	fputs(" to ", out);
	nm_print_grouped(i->greatest, out);
	fputc(']', out);
}

static void print_change(const struct nm_count_range *base, const struct nm_count_range *now, FILE *out)
{
	print_interval(base, out);
	fputs(" to ", out);
	print_interval(now, out);
	if (base->value && base->value != now->value)
		fprintf(out, " (%+.1f %%)", 100 * (double)(now->value - base->value) / (double)base->value);
}

static void print_counts(const struct nm_judgement *v, FILE *out)
{
	if (v->budget->rule == NM_BUDGET_RELATIVE)
		print_change(&v->base, &v->now, out);
	else
		print_interval(&v->now, out);
	if (v->budget->rule == NM_BUDGET_PER_ITEM && v->budget->items > 0)
		fprintf(out, ", %.4g per item", (double)v->now.value / v->budget->items);
}

static void print_title(const struct nm_judgement *v, FILE *out)
{
	const struct nm_budget *b = v->budget;

	fprintf(out, "%s of %s", nm_diff_metric_names[b->metric], v->level);
	if (b->object)
		fprintf(out, " on %s", b->object);
	if (b->field)
		fprintf(out, ", field %s", b->field);
	if (b->function)
		fprintf(out, " in %s", b->function);
}

static void print_allowed(const struct nm_judgement *v, FILE *out)
{
	const struct nm_budget *b = v->budget;

	if (b->rule == NM_BUDGET_RELATIVE)
		fprintf(out, "+%.4g %%", 100 * b->allowed);
	else if (b->rule == NM_BUDGET_PER_ITEM)
		fprintf(out, "%.4g per item", b->allowed);
	else
		nm_print_grouped((int64_t)b->allowed, out);
	if (b->slack > 0)
		fprintf(out, " or +%.0f", b->slack);
}

static void print_where(const struct nm_judgement *v, FILE *out)
{
	const struct nm_gate_place *p = &v->place;

	fputs(p->object ? p->object : "data without a name", out);
	if (p->file && p->line)
		fprintf(out, " at %s:%lld", p->file, (long long)p->line);
	if (p->function)
		fprintf(out, p->file && p->line ? " (%s)" : " in %s", p->function);
}

static void print_sentence(const struct nm_judgement *v, FILE *out)
{
	const int is_relative = v->budget->rule == NM_BUDGET_RELATIVE;

	fprintf(out, "%s%s ", v->title, is_relative ? ":" : " are");
	print_counts(v, out);
	fputs("; ", out);
	print_allowed(v, out);
	fputs(v->outcome == NM_GATE_MET ? " is allowed" : " is exceeded", out);
	if (v->has_place) {
		fputs(is_relative ? "; most of the rise is on " : "; most are on ", out);
		print_where(v, out);
		fputs(": ", out);
		if (is_relative)
			print_change(&v->place.base, &v->place.now, out);
		else
			print_interval(&v->place.now, out);
	}
	if (v->outcome == NM_GATE_IGNORED)
		fprintf(out, "; ignored: %s", v->budget->ignore);
}

static const char *say(void (*print)(const struct nm_judgement *, FILE *), const struct nm_judgement *v,
		       struct nm_strings *pool)
{
	char *text = NULL;
	FILE *out = nm_memstream_open(&text, NULL);
	const char *kept = NULL;

	if (!out)
		return NULL;
	print(v, out);
	if (!nm_memstream_close(out, &text))
		kept = nm_gate_say(pool, "%s", text);
	free(text);
	return kept;
}

/* "l1d-misses": what stays of the level is what identifiers may have. */
static void print_id(const struct nm_judgement *v, FILE *out)
{
	for (const char *c = v->level; *c; c++)
		fputc(isalnum((unsigned char)*c) ? tolower((unsigned char)*c) : '-', out);
	fprintf(out, "-%s", nm_diff_metric_names[v->budget->metric]);
}

int nm_judgement_say(struct nm_judgement *v, struct nm_strings *pool)
{
	v->id = say(print_id, v, pool);
	v->title = say(print_title, v, pool);
	v->allowed = say(print_allowed, v, pool);
	v->counts = say(print_counts, v, pool);
	v->where = v->has_place ? say(print_where, v, pool) : NULL;
	v->sentence = v->title ? say(print_sentence, v, pool) : NULL;
	return v->id && v->title && v->allowed && v->counts && v->sentence && (v->where || !v->has_place)
		   ? 0
		   : NM_ENOMEM;
}
