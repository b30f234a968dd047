/* SPDX-License-Identifier: MIT
 *
 * advice.c - the rules of docs/advice.md, and the evidence that they test.
 *
 * Rules are tried in order. The kind of memory comes before its use, since nobody can pad the allocator's
 * lists. Then come conflicts, because colliding lines distort all other figures; then unused bytes of lines;
 * then lines that do not stay in the cache. Sizes are of the order of a line, the unit that a cache moves.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "advice.h"
#include "memstream.h"
#include "rules.h"

#include "levels.h"
#include "machine.h"

/* ---- rules ------------------------------------------------------------------------------------------ */

static const struct nm_rule *const lists[] = {
    nm_rules_of_memory, nm_rules_of_searches, nm_rules_of_conflicts,  nm_rules_of_libraries,
    nm_rules_of_chains, nm_rules_of_bytes,    nm_rules_of_residencies};

const struct nm_rule *nm_rule_at(unsigned i)
{
	for (unsigned l = 0; l < sizeof lists / sizeof *lists; l++)
		for (const struct nm_rule *rule = lists[l]; rule->cause; rule++)
			if (!i--)
				return rule;
	return NULL;
}

const struct nm_rule *nm_rule_named(const char *cause)
{
	const struct nm_rule *rule;

	for (unsigned i = 0; (rule = nm_rule_at(i)); i++)
		if (cause && !strcmp(rule->cause, cause))
			return rule;
	return NULL;
}

const struct nm_rule *nm_rule_for(const struct nm_evidence *e)
{
	const struct nm_rule *rule;

	for (unsigned i = 0; (rule = nm_rule_at(i)); i++)
		if (rule->fits(e))
			return rule;
	return NULL; /* the last one fits all */
}

/* What the loads cost if all are served with one latency. */
static double cost_with(const struct nm_evidence *e, double latency)
{
	const struct nm_waits each = nm_waits_of(NM_LIKELY, latency);

	return (double)e->dependent * each.dependent + (double)e->covered * each.covered +
	       (double)(e->loads - e->dependent - e->covered) * each.together;
}

/* The latency with which they cost what they do. */
static double latency_of(const struct nm_evidence *e)
{
	double low = 0, high = NM_MAX_LATENCY;

	while (high - low > 0.01) {
		const double middle = (low + high) / 2;

		*(cost_with(e, middle) < (double)e->cycles ? &low : &high) = middle;
	}
	return low;
}

/* What the loads would cost if all of them were covered, or none dependent, as a part of what they cost. */
static double cost_of_left(const struct nm_rule *rule, const struct nm_evidence *e)
{
	const double latency = latency_of(e), now = cost_with(e, latency);
	const struct nm_waits each = nm_waits_of(NM_LIKELY, latency);

	if (!e->walked || now <= 0)
		return 1;
	if (rule->orders)
		return (double)e->loads * each.covered / now;
	return rule->overlaps ? (now - (double)e->dependent * (each.dependent - each.together)) / now : 1;
}

struct nm_saving nm_rule_saving(const struct nm_rule *rule, const struct nm_evidence *e)
{
	const double part = rule->saves ? rule->saves(e) : 0;
	const double left = (1 - part) * cost_of_left(rule, e);

	return (struct nm_saving){.misses = (double)e->misses * part,
				  .cycles = (double)e->cycles * (1 - left)};
}

/* ---- evidence from a table -------------------------------------------------------------------------- */

static int64_t row_count(const struct nm_table *table, size_t row, const char *name)
{
	return nm_table_find(table, row, name)->integer;
}

static const char *row_word(const struct nm_table *table, size_t row, const char *name)
{
	return nm_table_find(table, row, name)->text;
}

/* What the row's columns say, but for those of fields. */
static struct nm_evidence read_columns(const struct nm_table *table, size_t row)
{
	return (struct nm_evidence){
	    .object = row_word(table, row, "object"),
	    .kind = row_word(table, row, "kind"),
	    .type = row_word(table, row, "type"),
	    .function = row_word(table, row, "function"),
	    .file = row_word(table, row, "file"),
	    .bytes = row_count(table, row, "bytes"),
	    .touched = row_count(table, row, "touched"),
	    .blocks = row_count(table, row, "blocks"),
	    .largest = row_count(table, row, "largest"),
	    .reads = row_count(table, row, "reads"),
	    .writes = row_count(table, row, "writes"),
	    .misses = row_count(table, row, "misses"),
	    .write_misses = row_count(table, row, "write_misses"),
	    .loads = row_count(table, row, "loads"),
	    .cold = row_count(table, row, "cold"),
	    .capacity = row_count(table, row, "capacity"),
	    .conflict = row_count(table, row, "conflict"),
	    .coherence = row_count(table, row, "coherence"),
	    .evictions = row_count(table, row, "evictions"),
	    .reuse = nm_table_find(table, row, "reuse")->real,
	    .waste = nm_table_find(table, row, "waste")->real,
	    .evictor = row_word(table, row, "evictor"),
	    .evictor_count = row_count(table, row, "evictor_count"),
	    .strided = nm_table_find(table, row, "follow")->type != NM_VALUE_NULL,
	    .stride = row_count(table, row, "stride"),
	    .follow = nm_table_find(table, row, "follow")->real,
	    .halved = nm_table_find(table, row, "halved")->real,
	    .cycles = row_count(table, row, "cycles"),
	    .covered = row_count(table, row, "covered"),
	    .dependent = row_count(table, row, "dependent"),
	    .walked =
		table->levels->has_covered && nm_table_find(table, row, "load_follow")->type != NM_VALUE_NULL,
	    .load_step = row_count(table, row, "load_step"),
	    .load_follow = nm_table_find(table, row, "load_follow")->real,
	    .inner = row_word(table, row, "inner_function"),
	    .line = row_count(table, row, "line"),
	    .other_function = row_word(table, row, "other_function"),
	    .other_line = row_count(table, row, "other_line"),
	    .other_loads = row_count(table, row, "other_loads"),
	    .unordered = row_word(table, row, "unordered_object"),
	    .unordered_loads = row_count(table, row, "unordered_loads"),
	    .component = row_word(table, row, "component"),
	    .level = "the cache",
	};
}

/* What fields of its structure are touched. */
static void add_fields(struct nm_evidence *e, const struct nm_table *table, size_t row)
{
	e->structure = row_count(table, row, "structure");
	e->structure_type = row_word(table, row, "structure_type");
	e->hot_fields = row_word(table, row, "hot_fields");
	e->hot_types = row_word(table, row, "hot_types");
	e->hot_structure = row_count(table, row, "hot_structure");
	e->cold_fields = row_word(table, row, "cold_fields");
	e->hot_bytes = row_count(table, row, "hot_bytes");
	e->member_bytes = row_count(table, row, "member_bytes");
	e->packed = row_count(table, row, "packed");
	e->cold_bytes = row_count(table, row, "cold_bytes");
	e->cold_used = nm_table_find(table, row, "cold_used")->real;
	e->far_field = row_word(table, row, "far_field");
	e->far_other = row_word(table, row, "far_other");
	e->far_bytes = row_count(table, row, "far_bytes");
	e->far_visits = row_count(table, row, "far_visits");
	e->most_visits = row_count(table, row, "most_visits");
	e->far_both = nm_table_find(table, row, "far_both")->real;
	e->line_field = row_word(table, row, "line_field");
	e->line_field_loads = row_count(table, row, "line_field_loads");
	e->line_field_bytes = row_count(table, row, "line_field_bytes");
}

static struct nm_evidence read_evidence(const struct nm_table *table, size_t row)
{
	const char *name = row_word(table, row, "level");
	const struct nm_level *level = nm_levels_named(table->levels, name ? name : table->levels->asked);
	struct nm_evidence e = read_columns(table, row);
	int64_t lines;

	add_fields(&e, table, row);
	lines = nm_level_lines(level, row_count(table, row, "loaded_bytes"), e.loads);
	e.used = lines ? (double)row_count(table, row, "used_bytes") / (double)lines : 0;
	if (level) {
		e.last_size = nm_levels_last(table->levels, level)->size;
		e.level = level->name;
		e.level_size = level->size;
		e.line_size = level->line_size;
	}
	return e;
}

/* Whether candidate layouts can put the object elsewhere. */
static int can_move(const struct nm_evidence *e)
{
	static const char *const kinds[] = {"heap", "global", "static", "named", "anonymous"};

	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (is_word(e->kind, kinds[i]))
			return 1;
	return 0;
}

const char *nm_derive_cause(struct nm_table *table, size_t row)
{
	struct nm_evidence e = read_evidence(table, row);

	assert(row < table->row_count);
	return e.loads ? nm_rule_for(&e)->cause : NULL;
}

const char *nm_derive_advice(struct nm_table *table, size_t row)
{
	struct nm_evidence e = read_evidence(table, row);
	char *text = NULL;
	FILE *out;

	assert(row < table->row_count);
	if (!e.loads)
		return NULL;
	out = nm_memstream_open(&text, NULL);
	if (!out)
		return nm_table_keep(table, NULL);
	nm_rule_for(&e)->advise(&e, out);
	nm_memstream_close(out, &text);
	return nm_table_keep(table, text);
}

const char *nm_advised_layout(struct nm_table *table, const size_t *rows, size_t count)
{
	struct nm_evidence *e = calloc(count, sizeof *e);
	const struct nm_rule *rule;
	char *text = NULL;
	FILE *out = e ? nm_memstream_open(&text, NULL) : NULL;

	assert(rows || !count);
	for (size_t i = 0; out && i < count; i++)
		e[i] = read_evidence(table, rows[i]);
	rule = out ? nm_rule_for(e) : NULL;
	if (rule && rule->lay_out && can_move(e))
		rule->lay_out(e, count, out);
	free(e);
	if (out)
		nm_memstream_close(out, &text);
	if (text && *text)
		return nm_table_keep(table, text);
	free(text);
	return NULL;
}

static struct nm_saving saving_of(const struct nm_evidence *e)
{
	return e->loads ? nm_rule_saving(nm_rule_for(e), e) : (struct nm_saving){0, 0};
}

struct nm_saving nm_advice_saving(const struct nm_table *table, size_t row)
{
	struct nm_evidence e = read_evidence(table, row);

	assert(row < table->row_count);
	return saving_of(&e);
}

double nm_advice_worth(const struct nm_table *table, size_t row)
{
	struct nm_evidence e = read_evidence(table, row);
	const struct nm_rule *rule = e.loads ? nm_rule_for(&e) : NULL;

	assert(row < table->row_count);
	if (!rule || (!rule->saves && 2 * e.covered >= e.loads))
		return -1;
	return saving_of(&e).cycles;
}

/* To two digits: down, so that a promise is kept, or up to what a limit allows. */
static int64_t round_two_digits(double n, int up)
{
	int64_t unit = 1;

	while (n / (double)unit >= 100)
		unit *= 10;
	n /= (double)unit;
	return (int64_t)(up ? ceil(n) : n) * unit;
}

void nm_saving_write(struct nm_saving saving, int at_most, double run, FILE *out)
{
	const double percent = run > 0 ? 100 * saving.cycles / run : 0;

	fprintf(out, "saves %s ", at_most ? "at most" : "about");
	if (saving.misses >= 1) {
		nm_print_grouped(round_two_digits(saving.misses, at_most), out);
		fputs(" misses, ", out);
	}
	if (run > 0) {
		fprintf(out, "%.*f %% of the run's estimated cycles", percent < 1, percent);
		return;
	}
	nm_print_grouped(round_two_digits(saving.cycles, at_most), out);
	fputs(" cycles", out);
}

const char *nm_derive_saving(struct nm_table *table, size_t row)
{
	struct nm_evidence e = read_evidence(table, row);
	const struct nm_rule *rule = e.loads ? nm_rule_for(&e) : NULL;
	const struct nm_saving saving = saving_of(&e);
	char *text = NULL;
	FILE *out;

	assert(row < table->row_count);
	if (saving.cycles < 1 && saving.misses < 1)
		return NULL;
	out = nm_memstream_open(&text, NULL);
	if (!out)
		return nm_table_keep(table, NULL);
	nm_saving_write(saving, rule->at_most, 0, out);
	nm_memstream_close(out, &text);
	return nm_table_keep(table, text);
}

/* ---- objects and sizes: as advice writes them ---- */

void nm_lay_out_object(const struct nm_evidence *e, FILE *out)
{
	const char *number = strstr(e->object, ") #");

	fprintf(out, "%.*s", number ? (int)(number + 1 - e->object) : (int)strlen(e->object), e->object);
}

void nm_advise_bytes(int64_t n, FILE *out)
{
	if (n >= 1 << 20)
		fprintf(out, "%.*fM", n % (1 << 20) ? 1 : 0, (double)n / (1 << 20));
	else if (n >= 10240)
		fprintf(out, "%.*fK", n % 1024 ? 1 : 0, (double)n / 1024);
	else
		fprintf(out, "%" PRId64 " bytes", n);
}

void nm_advise_huge_pages(const struct nm_evidence *e, FILE *out)
{
	enum { REACH = 16 << 20 }; /* more than 4096 pages: no processor's TLB has as many entries */

	if (in_use(e) <= REACH || is_half(e, e->covered))
		return;
	fputs("; its ", out);
	nm_advise_bytes(in_use(e), out);
	fputs(" are more pages of 4K than a TLB holds: huge pages (madvise(MADV_HUGEPAGE)) save the walks",
	      out);
}
