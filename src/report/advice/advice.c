/* SPDX-License-Identifier: MIT
 *
 * advice.c - the rules of docs/advice.md.
 *
 * They stand in the order in which they are tried: what kind of memory it is before how it is used, since
 * nobody can pad the allocator's lists; then conflicts, because as long as lines collide all other figures
 * show that; then what is not used of a line; then what does not stay.  A cause must account for half of the
 * loads (or of the bytes); what is less is told as mixed.  Sizes are of the order of a line because that is
 * what a cache moves.
 */
#include "advice.h"
#include "memstream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "levels.h"

enum {
	HALF = 50,         /* percent */
	SCATTERED = 20,    /* percent: below what 24 bytes in 32 of malloc waste */
	MANY_BLOCKS = 100, /* a bucket of fewer is no collection */
	PLAIN_ELEMENT = 16 /* bytes: an element that is larger is a structure */
};

/* ---- what the evidence says ---------------------------------------------------------------------- */

static int is(const char *text, const char *word) { return text && word && !strcmp(text, word); }

static double percent(int64_t part, int64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

static int half(const struct nm_evidence *e, int64_t class) { return percent(class, e->loads) >= HALF; }
static int is_heap(const struct nm_evidence *e) { return is(e->kind, "heap"); }
static int64_t mean_block(const struct nm_evidence *e) { return e->blocks ? e->bytes / e->blocks : 0; }

/* Bytes of the object that the run used, as far as known: a static array may be declared for far larger problems.  Of
 * heap blocks, which take each other's lines, `touched` tells too little. */
static int64_t in_use(const struct nm_evidence *e)
{
	return e->touched && !e->blocks && e->touched < e->bytes ? e->touched : e->bytes;
}

/* Bytes of an element of the array that the object is, or 0. */
static int64_t element(const struct nm_evidence *e)
{
	struct nm_array_type array = nm_array_type_parse(e->type);

	return array.elements && !e->blocks ? e->bytes / array.elements : 0;
}

static int is_power_of_two(int64_t n) { return n > 0 && !(n & (n - 1)); }

static void advise_bytes(int64_t n, FILE *out)
{
	if (n >= 1 << 20)
		fprintf(out, "%.*fM", n % (1 << 20) ? 1 : 0, (double)n / (1 << 20));
	else if (n >= 10240)
		fprintf(out, "%.*fK", n % 1024 ? 1 : 0, (double)n / 1024);
	else
		fprintf(out, "%" PRId64 " bytes", n);
}

/* ---- what kind of memory it is --------------------------------------------------------------------- */

static int taken(const struct nm_evidence *e) { return half(e, e->coherence); }

static void advise_taken(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"other threads had taken away %.0f %% of the lines: give each thread data of its own, each "
		"part aligned and padded to %" PRId64 " bytes, and join the results at the end",
		percent(e->coherence, e->loads), e->line_size);
}

static int allocator(const struct nm_evidence *e) { return is(e->object, "<heap bookkeeping>"); }

static void advise_allocator(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"%" PRId64
		" misses on the allocator's headers and free lists: make fewer, larger allocations "
		"(reserve room, allocate arrays, take small blocks from a pool), and free less often or all "
		"at once",
		e->misses);
}

static int symbols(const struct nm_evidence *e)
{
	static const char *const sections[] = {" .gnu.hash",    " .hash",     " .dynsym",  " .dynstr",
					       " .gnu.version", " .rela.dyn", " .rela.plt"};
	size_t n = e->object ? strlen(e->object) : 0, i;

	for (i = 0; i < sizeof sections / sizeof *sections; i++)
		if (n > strlen(sections[i]) && !strcmp(e->object + n - strlen(sections[i]), sections[i]))
			return 1;
	return 0;
}

static void advise_symbols(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%" PRId64 " misses of the dynamic linker, which looks up symbols when the program starts: no "
	    "matter in a long run; else link fewer libraries, hide symbols (-fvisibility=hidden), or link "
	    "statically",
	    e->misses);
}

static int library(const struct nm_evidence *e) { return is(e->kind, "library data"); }

static void advise_library(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "data that have no name: %.0f %% of the bytes loaded are used; install the debug symbols of "
	    "their module to see which variables they are, or call it less often with more work each time",
	    100.0 - e->waste);
}

static int stack(const struct nm_evidence *e)
{
	return is(e->kind, "stack") || is(e->object, "<thread stacks>");
}

static void advise_stack(const struct nm_evidence *e, FILE *out)
{
	if (half(e, e->cold))
		fprintf(
		    out,
		    "%.0f %% of the loads are first touches of a growing stack: make local arrays smaller, or "
		    "turn deep recursion into a loop",
		    percent(e->cold, e->loads));
	else
		fprintf(
		    out,
		    "%.0f %% of the loads bring the frame back after other data pushed it out: make local "
		    "arrays smaller, and keep what is used all the time apart from them",
		    100.0 - percent(e->cold, e->loads));
}

static int unnamed(const struct nm_evidence *e) { return is(e->object, "<unknown>"); }

static void advise_unnamed(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"%" PRId64 " misses on memory of which nothing is known: name it with the annotations of "
		"nearmiss/client.h",
		e->misses);
}

static int code(const struct nm_evidence *e) { return is(e->kind, "code"); }

static void advise_code(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"%" PRId64 " fetches of instructions missed: let the compiler place hot code together "
		"(-fprofile-use, -freorder-functions), or make less of it (-Os, fewer inlined copies)",
		e->misses);
}

/* ---- pages ------------------------------------------------------------------------------------------ */

enum { SMALLEST_PAGE = 4096 };

static int pages(const struct nm_evidence *e) { return e->line_size >= SMALLEST_PAGE; }

static void advise_pages(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"%" PRId64 " pages were not in %s, and %.0f %% of what a page has were touched: ", e->misses,
		e->level, 100.0 - e->waste);
	if (e->waste >= HALF)
		fputs("put what is used together side by side, or work in blocks of fewer pages; ", out);
	fputs("give it huge pages (blocks aligned to 2M and madvise(MADV_HUGEPAGE), or MAP_HUGETLB): "
	      "--huge-pages 2M tells what they save",
	      out);
}

/* ---- conflicts -------------------------------------------------------------------------------------- */

static int row_length(const struct nm_evidence *e)
{
	struct nm_array_type array = nm_array_type_parse(e->type);

	return half(e, e->conflict) && array.dimensions > 1 && is_power_of_two(array.fastest * element(e)) &&
	       array.fastest * element(e) >= e->line_size;
}

static void advise_row_length(const struct nm_evidence *e, FILE *out)
{
	struct nm_array_type array = nm_array_type_parse(e->type);
	const char *which = array.first_is_fastest ? "first" : "last";
	int64_t more = element(e) < e->line_size ? e->line_size / element(e) : 1;

	fprintf(out,
		"%.0f %% of the loads are conflicts, and its rows of %" PRId64 " elements have %" PRId64
		" bytes, a power of two, so that columns fall into few sets: ",
		percent(e->conflict, e->loads), array.fastest, array.fastest * element(e));
	if (e->waste >= HALF)
		fprintf(out, "interchange the loops, so that the %s subscript runs fastest, or ", which);
	fprintf(out, "pad the %s dimension to %" PRId64, which, array.fastest + more);
}

static int same_sets(const struct nm_evidence *e) { return half(e, e->conflict); }

static void advise_same_sets(const struct nm_evidence *e, FILE *out)
{
	double by = percent(e->evictor_count, e->evictions);

	fprintf(out, "%.0f %% of the loads are conflicts, lines that compete for the same few sets",
		percent(e->conflict, e->loads));
	if (e->evictor && !is(e->evictor, e->object) && by >= HALF)
		fprintf(out,
			", %.0f %% of them pushed out by %s: move one against the other, e.g. by padding of "
			"some lines in front of it, or interleave them in one array of structures",
			by, e->evictor);
	else if (is_heap(e) && is_power_of_two(e->largest) && e->largest >= 16 * e->line_size)
		fprintf(out,
			": its blocks of %" PRId64
			" bytes begin in the same sets: make them some lines longer, "
			"or start each at another line",
			e->largest);
	else
		fputs(": pad it, or change its row length or alignment from a power of two", out);
}

/* ---- bytes that are loaded and not used -------------------------------------------------------------- */

static int wasteful(const struct nm_evidence *e) { return e->loads > 0 && e->waste >= HALF; }

static int small_blocks(const struct nm_evidence *e)
{
	return is_heap(e) && e->blocks >= MANY_BLOCKS && mean_block(e) < e->line_size &&
	       e->waste >= SCATTERED;
}

static void advise_small_blocks(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"%" PRId64 " blocks of %" PRId64
		" bytes on average lie scattered, %.0f %% of the bytes loaded "
		"with them are never used: allocate them as one array or from a pool, side by side in the "
		"order of their use",
		e->blocks, mean_block(e), e->waste);
}

/* Of some hot fields that one line could hold, two that are used together cannot share one. */
static int fields_apart(const struct nm_evidence *e)
{
	return wasteful(e) && e->far_field && e->far_other && e->far_visits >= MANY_BLOCKS &&
	       e->far_both >= HALF && e->hot_bytes <= e->line_size && e->structure > e->line_size;
}

static void advise_fields_apart(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%s and %s lie %" PRId64 " bytes apart in a structure of %" PRId64
	    " and are both used in %.0f %% of its visits, so each visit loads two lines: put the hot fields (%s, "
	    "%" PRId64 " bytes) side by side, and each element at the beginning of a line",
	    e->far_field, e->far_other, e->far_bytes, e->structure, e->far_both, e->hot_fields, e->hot_bytes);
}

static int unused_fields(const struct nm_evidence *e)
{
	return wasteful(e) && e->hot_fields && e->cold_fields && e->cold_bytes >= e->hot_bytes &&
	       e->structure > PLAIN_ELEMENT;
}

static void advise_unused_fields(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%s (%" PRId64 " of %" PRId64 " bytes) have most of the accesses to its fields, and %s (%" PRId64
	    " bytes) are used in %.0f %% of the stays of their lines: split it, and keep the hot fields in an "
	    "array of their own",
	    e->hot_fields, e->hot_bytes, e->structure, e->cold_fields, e->cold_bytes, e->cold_used);
}

static int pointer_array(const struct nm_evidence *e)
{
	const char *star = e->type ? strrchr(e->type, '*') : NULL;

	return wasteful(e) && star && nm_array_type_parse(e->type).elements > 1;
}

static void advise_pointer_array(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"an array of pointers of which %.0f %% of the bytes loaded are never used, and each leads to "
		"one more line: keep the values themselves in one array",
		e->waste);
}

static int cold_fields(const struct nm_evidence *e)
{
	if (!wasteful(e))
		return 0;
	if (is_heap(e))
		return e->blocks >= MANY_BLOCKS;
	return element(e) > PLAIN_ELEMENT;
}

static void advise_cold_fields(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"of each line of %" PRId64 " bytes %.0f are used, and %s has %" PRId64
		": move the fields that are used here into an array of their own, apart from the others",
		e->line_size, e->used, is_heap(e) ? "a block" : "an element",
		is_heap(e) ? mean_block(e) : element(e));
}

/* Each access goes to another line, by always the same step. */
static int strides(const struct nm_evidence *e)
{
	return e->follow >= HALF && e->line_size && (e->stride >= e->line_size || e->stride <= -e->line_size);
}

static int across_rows(const struct nm_evidence *e)
{
	return wasteful(e) && (e->reuse < 2 || strides(e)) && nm_array_type_parse(e->type).dimensions > 1;
}

static void advise_across_rows(const struct nm_evidence *e, FILE *out)
{
	if (strides(e))
		fprintf(out, "%.0f %% of the accesses step %" PRId64 " bytes, ", e->follow, e->stride);
	fprintf(
	    out,
	    "a line serves %.1f accesses and %.0f %% of its bytes are never used: interchange the loops, so "
	    "that the %s subscript runs fastest, or work in tiles",
	    e->reuse, e->waste, nm_array_type_parse(e->type).first_is_fastest ? "first" : "last");
}

static int long_steps(const struct nm_evidence *e) { return wasteful(e) && strides(e); }

static void advise_long_steps(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the accesses step %" PRId64
	    " bytes, each to another line, of which %.0f %% are never used: change the order of the loops or of "
	    "the data, so that what is used one after the other lies side by side",
	    e->follow, e->stride, e->waste);
}

static void advise_sparse(const struct nm_evidence *e, FILE *out)
{
	fprintf(out, "%.0f %% of the bytes loaded are never used: ", e->waste);
	if (nm_array_type_parse(e->type).dimensions)
		fputs("walk it in the order in which it lies in memory (interchange loops, sort the indices)",
		      out);
	else if (is_heap(e))
		fputs(
		    "walk its blocks in the order in which they lie in memory (interchange loops, sort the "
		    "indices), or, if they hold structures, move the fields that are used here into an array of "
		    "their own",
		    out);
	else
		fputs("put side by side what is used together, and visit it in the order in which it lies",
		      out);
}

/* ---- lines that do not stay --------------------------------------------------------------------------- */

static int write_stream(const struct nm_evidence *e)
{
	return e->loads > 0 && percent(e->write_misses, e->misses) >= 90 &&
	       percent(e->reads, e->writes) <= 10 && e->waste <= 10 && e->reuse * 4 <= (double)e->line_size &&
	       in_use(e) > e->last_size;
}

static void advise_write_stream(const struct nm_evidence *e, FILE *out)
{
	advise_bytes(in_use(e), out);
	fprintf(out,
		" are written and not read before they leave %s, and no cache holds them (the last one has ",
		e->level);
	advise_bytes(e->last_size, out);
	fputs(
	    "): write them past the caches (non-temporal stores, or one large memset or memcpy), or use each part "
	    "while it is there",
	    out);
}

static int too_large(const struct nm_evidence *e)
{
	int itself = e->evictor ? is(e->evictor, e->object) && percent(e->evictor_count, e->evictions) >= 25
				: in_use(e) > e->level_size;

	return half(e, e->capacity) && itself;
}

static void advise_too_large(const struct nm_evidence *e, FILE *out)
{
	fprintf(out, "%.0f %% of the loads bring back lines that its own other lines pushed out",
		percent(e->capacity, e->loads));
	if (in_use(e) > e->level_size && !e->blocks) {
		fputs(", ", out);
		advise_bytes(in_use(e), out);
		fputs(in_use(e) < e->bytes ? " that are used in " : " in ", out);
		advise_bytes(e->level_size, out);
	}
	if (e->blocks >= MANY_BLOCKS)
		fprintf(out,
			", %" PRId64 " blocks of %" PRId64
			" bytes on average: make them fewer or smaller, or visit "
			"them in an order that comes back to the same ones sooner",
			e->blocks, mean_block(e));
	else
		fputs(": work in blocks (tiles) that fit the cache, or join the loops that pass over it",
		      out);
}

static int pushed_out(const struct nm_evidence *e)
{
	return half(e, e->capacity) && e->evictor && !is(e->evictor, e->object);
}

static void advise_pushed_out(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the loads bring back lines that did not stay, %.0f %% of them pushed out by %s: work "
	    "on less of that between two uses, or let it pass the cache by if it is used once",
	    percent(e->capacity, e->loads), percent(e->evictor_count, e->evictions), e->evictor);
}

static int capacity(const struct nm_evidence *e) { return half(e, e->capacity); }

static void advise_capacity(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"%.0f %% of the loads bring back lines that did not stay because too much else came between: "
		"work in blocks that fit the cache, or join the loops that pass over it",
		percent(e->capacity, e->loads));
}

static int first_touch(const struct nm_evidence *e) { return half(e, e->cold); }

static void advise_first_touch(const struct nm_evidence *e, FILE *out)
{
	fprintf(out, "%.0f %% of the loads are first touches", percent(e->cold, e->loads));
	if (is(e->kind, "mapped"))
		fputs(" of a mapped file: map and read only the part that is needed", out);
	else if (is_heap(e) && e->blocks >= MANY_BLOCKS)
		fprintf(out,
			", in %" PRId64
			" blocks: keep blocks and use them again instead of allocating new ones",
			e->blocks);
	else
		fputs(
		    ": only fewer bytes help (narrower types, buffers that are used again); if it is read in "
		    "order, processors fetch it ahead",
		    out);
}

static int always(const struct nm_evidence *e)
{
	(void)e;
	return 1;
}

static void advise_mixed(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "no single cause (cold %.0f %%, capacity %.0f %%, conflict %.0f %% of the loads): look at who "
	    "pushes it out with nearmiss evictions",
	    percent(e->cold, e->loads), percent(e->capacity, e->loads), percent(e->conflict, e->loads));
}

static const struct nm_rule rules[] = {
    {"other threads", taken, advise_taken, 0},
    {"allocator", allocator, advise_allocator, 1},
    {"symbol lookup", symbols, advise_symbols, 1},
    {"library data", library, advise_library, 0},
    {"stack frame", stack, advise_stack, 0},
    {"unnamed memory", unnamed, advise_unnamed, 0},
    {"code", code, advise_code, 0},
    {"pages", pages, advise_pages, 0},
    {"row length", row_length, advise_row_length, 0},
    {"same sets", same_sets, advise_same_sets, 0},
    {"fields apart", fields_apart, advise_fields_apart, 0},
    {"unused fields", unused_fields, advise_unused_fields, 0},
    {"small blocks", small_blocks, advise_small_blocks, 0},
    {"pointer array", pointer_array, advise_pointer_array, 0},
    {"cold fields", cold_fields, advise_cold_fields, 0},
    {"across rows", across_rows, advise_across_rows, 0},
    {"long steps", long_steps, advise_long_steps, 0},
    {"sparse use", wasteful, advise_sparse, 0},
    {"write stream", write_stream, advise_write_stream, 0},
    {"too large", too_large, advise_too_large, 0},
    {"pushed out", pushed_out, advise_pushed_out, 0},
    {"does not stay", capacity, advise_capacity, 0},
    {"first touch", first_touch, advise_first_touch, 0},
    {"mixed", always, advise_mixed, 0},
};

const struct nm_rule *nm_rule_at(unsigned i) { return i < sizeof rules / sizeof *rules ? &rules[i] : NULL; }

const struct nm_rule *nm_rule_named(const char *cause)
{
	unsigned i;

	for (i = 0; i < sizeof rules / sizeof *rules; i++)
		if (!strcmp(rules[i].cause, cause))
			return &rules[i];
	return NULL;
}

const struct nm_rule *nm_rule_for(const struct nm_evidence *e)
{
	const struct nm_rule *rule = rules;

	while (!rule->fits(e))
		rule++;
	return rule;
}

/* ---- evidence from a table -------------------------------------------------------------------------- */

static int64_t count(const struct nm_table *table, size_t row, const char *name)
{
	return nm_table_find(table, row, name)->integer;
}

static const char *word(const struct nm_table *table, size_t row, const char *name)
{
	return nm_table_find(table, row, name)->text;
}

static struct nm_evidence evidence(const struct nm_table *table, size_t row)
{
	const char *name = word(table, row, "level");
	const struct nm_level *level = nm_levels_named(table->levels, name ? name : table->levels->asked);
	struct nm_evidence e = {
	    .object = word(table, row, "object"),
	    .kind = word(table, row, "kind"),
	    .type = word(table, row, "type"),
	    .function = word(table, row, "function"),
	    .file = word(table, row, "file"),
	    .bytes = count(table, row, "bytes"),
	    .touched = count(table, row, "touched"),
	    .blocks = count(table, row, "blocks"),
	    .largest = count(table, row, "largest"),
	    .reads = count(table, row, "reads"),
	    .writes = count(table, row, "writes"),
	    .misses = count(table, row, "misses"),
	    .write_misses = count(table, row, "write_misses"),
	    .loads = count(table, row, "loads"),
	    .cold = count(table, row, "cold"),
	    .capacity = count(table, row, "capacity"),
	    .conflict = count(table, row, "conflict"),
	    .coherence = count(table, row, "coherence"),
	    .evictions = count(table, row, "evictions"),
	    .reuse = nm_table_find(table, row, "reuse")->real,
	    .waste = nm_table_find(table, row, "waste")->real,
	    .evictor = word(table, row, "evictor"),
	    .evictor_count = count(table, row, "evictor_count"),
	    .stride = count(table, row, "stride"),
	    .follow = nm_table_find(table, row, "follow")->real,
	    .structure = count(table, row, "structure"),
	    .hot_fields = word(table, row, "hot_fields"),
	    .cold_fields = word(table, row, "cold_fields"),
	    .hot_bytes = count(table, row, "hot_bytes"),
	    .cold_bytes = count(table, row, "cold_bytes"),
	    .cold_used = nm_table_find(table, row, "cold_used")->real,
	    .far_field = word(table, row, "far_field"),
	    .far_other = word(table, row, "far_other"),
	    .far_bytes = count(table, row, "far_bytes"),
	    .far_visits = count(table, row, "far_visits"),
	    .far_both = nm_table_find(table, row, "far_both")->real,
	    .level = "the cache",
	};
	int64_t lines;

	lines = nm_level_lines(level, count(table, row, "loaded_bytes"), e.loads);
	e.used = lines ? (double)count(table, row, "used_bytes") / (double)lines : 0;
	if (level) {
		e.last_size = nm_levels_last(table->levels, level)->size;
		e.level = level->name;
		e.level_size = level->size;
		e.line_size = level->line_size;
	}
	return e;
}

const char *nm_derive_cause(struct nm_table *table, size_t row)
{
	struct nm_evidence e = evidence(table, row);

	return e.loads ? nm_rule_for(&e)->cause : NULL;
}

const char *nm_derive_advice(struct nm_table *table, size_t row)
{
	struct nm_evidence e = evidence(table, row);
	char *text = NULL;
	size_t bytes;
	FILE *out;

	if (!e.loads)
		return NULL;
	out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	nm_rule_for(&e)->advise(&e, out);
	return nm_memstream_close(out, &text) ? NULL : nm_table_keep(table, text);
}
