/* SPDX-License-Identifier: MIT
 *
 * rules_memory.c - rules of what kind of memory it is: they come first, since nobody can pad the
 * allocator's lists.
 */
#include "rules.h"

/* ---- what kind of memory it is --------------------------------------------------------------------- */

static int taken(const struct nm_evidence *e) { return is_half(e, e->coherence); }

static void advise_taken(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"other threads had taken away %.0f %% of the lines: give each thread data of its own, each "
		"part aligned and padded to %" PRId64 " bytes, and join the results at the end",
		percent(e->coherence, e->loads), e->line_size);
}

static double saves_coherence(const struct nm_evidence *e) { return percent(e->coherence, e->loads) / 100; }

static int allocator(const struct nm_evidence *e) { return is_word(e->object, "<heap bookkeeping>"); }

static void advise_allocator(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"%" PRId64
		" misses on the allocator's headers and free lists: make fewer, larger allocations "
		"(reserve room, allocate arrays, take small blocks from a pool), and free less often or all "
		"at once",
		e->misses);
}

static int dynamic_linking(const struct nm_evidence *e)
{
	static const char *const sections[] = {" .gnu.hash",    " .hash",     " .dynsym",  " .dynstr",
					       " .gnu.version", " .rela.dyn", " .rela.plt"};
	size_t n = e->object ? strlen(e->object) : 0, i;

	if (n && (!strncmp(e->object, "ld-linux", 8) || !strncmp(e->object, "ld-musl", 7)))
		return 1;
	for (i = 0; i < sizeof sections / sizeof *sections; i++)
		if (n > strlen(sections[i]) && !strcmp(e->object + n - strlen(sections[i]), sections[i]))
			return 1;
	return 0;
}

static void advise_dynamic_linking(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%" PRId64 " misses of the dynamic linker, which works when the program starts: no "
	    "matter in a long run; else link fewer libraries, hide symbols (-fvisibility=hidden), or link "
	    "statically",
	    e->misses);
}

static int library(const struct nm_evidence *e) { return is_word(e->kind, "library data"); }

static void advise_library(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "data without a name, of which %.0f %% of the bytes loaded are used: install the debug symbols of "
	    "their module to see which variables they are, or call it less often with more work each time",
	    100.0 - e->waste);
}

static int stack(const struct nm_evidence *e)
{
	return is_word(e->kind, "stack") || is_word(e->object, "<thread stacks>");
}

static void advise_stack(const struct nm_evidence *e, FILE *out)
{
	if (is_half(e, e->cold))
		fprintf(
		    out,
		    "%.0f %% of the loads are first touches of a growing stack: make local arrays smaller, or "
		    "turn deep recursion into a loop",
		    percent(e->cold, e->loads));
	else
		fprintf(out,
			"%.0f %% of the loads bring the frame back after other data evicted it: make local "
			"arrays smaller, and keep what is used all the time apart from them",
			100.0 - percent(e->cold, e->loads));
}

static int is_go_heap(const struct nm_evidence *e) { return is_word(e->object, "<Go heap>"); }

static int unnamed(const struct nm_evidence *e) { return is_word(e->object, "<unknown>") || is_go_heap(e); }

static void advise_unnamed(const struct nm_evidence *e, FILE *out)
{
	if (is_go_heap(e)) {
		fprintf(
		    out,
		    "%" PRId64
		    " misses on slices, maps and structures that Go's own allocator shares out: they are not "
		    "told apart; lines and functions are right",
		    e->misses);
		return;
	}
	fprintf(out,
		"%" PRId64 " misses on memory of unknown origin: name it with the annotations of "
		"nearmiss/client.h",
		e->misses);
}

static int code(const struct nm_evidence *e) { return is_word(e->kind, "code"); }

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
	if (e->waste >= NM_HALF)
		fputs("put what is used together side by side, or work in blocks of fewer pages; ", out);
	fputs("give it huge pages (blocks aligned to 2M and madvise(MADV_HUGEPAGE), or MAP_HUGETLB): "
	      "--huge-pages 2M shows what they save",
	      out);
}

/* ---- the list -------------------------------------------------------------------------------------- */

const struct nm_rule nm_rules_of_memory[] = {
    {"other threads", taken, advise_taken, .saves = saves_coherence},
    {"allocator", allocator, advise_allocator, .saves = NULL, .once = 1},
    {"dynamic linking", dynamic_linking, advise_dynamic_linking, .saves = NULL, .once = 1},
    {"library data", library, advise_library, .saves = NULL},
    {"stack frame", stack, advise_stack, .saves = NULL},
    {"unnamed memory", unnamed, advise_unnamed, .saves = NULL},
    {"code", code, advise_code, .saves = NULL},
    {"pages", pages, advise_pages, .saves = NULL},
    {.cause = NULL},
};
