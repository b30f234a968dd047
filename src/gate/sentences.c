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
#include "text.h"

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
static void print_interval(const struct nm_count_range *r, FILE *out)
{
	nm_print_grouped(r->value, out);
	if (r->least == r->greatest)
		return;
	fputs(" [", out);
	nm_print_grouped(r->least, out);
	fputs(" to ", out);
	nm_print_grouped(r->greatest, out);
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

static void print_counts(const struct nm_judgement *j, FILE *out)
{
	if (j->budget->rule == NM_BUDGET_RELATIVE)
		print_change(&j->base, &j->now, out);
	else
		print_interval(&j->now, out);
	if (j->budget->rule == NM_BUDGET_PER_ITEM && j->budget->items > 0)
		fprintf(out, ", %.4g per item", (double)j->now.value / j->budget->items);
}

static void print_title(const struct nm_judgement *j, FILE *out)
{
	const struct nm_budget *b = j->budget;

	fprintf(out, "%s of %s", nm_diff_metric_names[b->metric], j->level);
	if (b->object)
		fprintf(out, " on %s", b->object);
	if (b->field)
		fprintf(out, ", field %s", b->field);
	if (b->function)
		fprintf(out, " in %s", b->function);
}

static void print_allowed(const struct nm_judgement *j, FILE *out)
{
	const struct nm_budget *b = j->budget;

	if (b->rule == NM_BUDGET_RELATIVE)
		fprintf(out, "+%.4g %%", 100 * b->allowed);
	else if (b->rule == NM_BUDGET_PER_ITEM)
		fprintf(out, "%.4g per item", b->allowed);
	else
		nm_print_grouped((int64_t)b->allowed, out);
	if (b->slack > 0)
		fprintf(out, " or +%.0f", b->slack);
}

static void print_where(const struct nm_judgement *j, FILE *out)
{
	const struct nm_gate_place *p = &j->place;

	fputs(p->object ? p->object : "data without a name", out);
	if (p->file && p->line)
		fprintf(out, " at %s:%lld", p->file, (long long)p->line);
	if (p->function)
		fprintf(out, p->file && p->line ? " (%s)" : " in %s", p->function);
}

static void print_sentence(const struct nm_judgement *j, FILE *out)
{
	const int is_relative = j->budget->rule == NM_BUDGET_RELATIVE;

	fprintf(out, "%s%s ", j->title, is_relative ? ":" : " are");
	print_counts(j, out);
	fputs("; ", out);
	print_allowed(j, out);
	fputs(j->outcome == NM_GATE_MET ? " is allowed" : " is exceeded", out);
	if (j->has_place) {
		fputs(is_relative ? "; most of the rise is on " : "; most are on ", out);
		print_where(j, out);
		fputs(": ", out);
		if (is_relative)
			print_change(&j->place.base, &j->place.now, out);
		else
			print_interval(&j->place.now, out);
	}
	if (j->outcome == NM_GATE_IGNORED)
		fprintf(out, "; ignored: %s", j->budget->ignore);
}

static const char *print_whole_sentence(void (*print)(const struct nm_judgement *, FILE *),
					const struct nm_judgement *j, struct nm_strings *pool)
{
	char *text = NULL;
	FILE *out = nm_memstream_open(&text, NULL);
	const char *kept = NULL;

	if (!out)
		return NULL;
	print(j, out);
	if (!nm_memstream_close(out, &text))
		kept = nm_gate_say(pool, "%s", text);
	free(text);
	return kept;
}

/* "l1d-misses": what stays of the level is what identifiers may have. */
static void print_id(const struct nm_judgement *j, FILE *out)
{
	for (const char *c = j->level; *c; c++)
		fputc(isalnum((unsigned char)*c) ? tolower((unsigned char)*c) : '-', out);
	fprintf(out, "-%s", nm_diff_metric_names[j->budget->metric]);
}

int nm_judgement_say(struct nm_judgement *j, struct nm_strings *pool)
{
	j->id = print_whole_sentence(print_id, j, pool);
	j->title = print_whole_sentence(print_title, j, pool);
	j->allowed = print_whole_sentence(print_allowed, j, pool);
	j->counts = print_whole_sentence(print_counts, j, pool);
	j->where = j->has_place ? print_whole_sentence(print_where, j, pool) : NULL;
	j->sentence = j->title ? print_whole_sentence(print_sentence, j, pool) : NULL;
	return j->id && j->title && j->allowed && j->counts && j->sentence && (j->where || !j->has_place)
		   ? 0
		   : NM_ENOMEM;
}
