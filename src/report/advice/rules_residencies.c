/* SPDX-License-Identifier: MIT
 *
 * rules_residencies.c - rules of lines that are used well and do not stay.
 */
#include "rules.h"

static double saves_capacity(const struct nm_evidence *e) { return percent(e->capacity, e->loads) / 100; }

static double saves_most(const struct nm_evidence *e)
{
	(void)e;
	return 0.9;
}

/* What fills memory with one value: its name, as of the C library's many versions of it. */
static int fills(const char *function)
{
	return function &&
	       (strstr(function, "memset") || strstr(function, "bzero") || strstr(function, "wmemset"));
}

/* Whole lines are overwritten again and again with one value. */
static int cleared(const struct nm_evidence *e)
{
	return (fills(e->inner) || fills(e->function)) && percent(e->write_misses, e->misses) >= 90 &&
	       is_half(e, e->capacity) && load_passes(e) >= 2;
}

static void advise_cleared(const struct nm_evidence *e, FILE *out)
{
	fprintf(out, "%s sets all of its ", fills(e->inner) ? e->inner : e->function);
	nm_advise_bytes(in_use(e), out);
	fprintf(
	    out,
	    " about %.0f times, and that costs these misses each time: if little of it is used in between, clear "
	    "only that (keep a list of it), or nothing: mark entries with the number of the round, and take those "
	    "of another round for empty",
	    load_passes(e));
}

/* Of two passes, one finds what the other has loaded. */
static double saves_one_pass(const struct nm_evidence *e)
{
	(void)e;
	return 0.5;
}

static int write_stream(const struct nm_evidence *e)
{
	return e->loads > 0 && percent(e->write_misses, e->misses) >= 90 &&
	       percent(e->reads, e->writes) <= 10 && e->waste <= 10 && e->reuse * 4 <= (double)e->line_size &&
	       in_use(e) > e->last_size;
}

static void advise_write_stream(const struct nm_evidence *e, FILE *out)
{
	nm_advise_bytes(in_use(e), out);
	fprintf(out,
		" are written and not read before they leave %s, and no cache holds them (the last one has ",
		e->level);
	nm_advise_bytes(e->last_size, out);
	fputs(
	    "): hand it on part by part in a buffer that a cache holds, use each part while it is there, or write it "
	    "past the caches (non-temporal stores)",
	    out);
}

/* Loads, or else accesses, go on by one step, or nothing is known of them. */
static int in_order(const struct nm_evidence *e)
{
	return (!e->walked && !e->strided) || e->load_follow >= NM_HALF || e->follow >= NM_HALF;
}

/* Two lines of one function load the whole of it: two loops, or one that goes through two parts of it. */
static int passes_twice(const struct nm_evidence *e)
{
	return is_half(e, e->capacity) && e->other_line && is_word(e->other_function, e->function) &&
	       4 * e->other_loads >= 3 * e->loads && e->other_loads <= 4 * e->loads &&
	       percent(e->covered, e->loads) >= NM_HALF && e->blocks <= 1 && in_order(e);
}

static void advise_passes_twice(const struct nm_evidence *e, FILE *out)
{
	fprintf(out, "%.0f %% of the loads bring back lines that did not stay, and line %" PRId64 " of ",
		percent(e->capacity, e->loads), e->other_line);
	fprintf(out, "%s loads about as much of the same ", e->function);
	nm_advise_bytes(in_use(e), out);
	fprintf(
	    out,
	    ": where lines %" PRId64 " and %" PRId64
	    " are two loops over the same elements, join the two loops, so that the second uses what the first "
	    "has just loaded; else make its elements smaller, or do several passes together in blocks",
	    e->line < e->other_line ? e->line : e->other_line,
	    e->line < e->other_line ? e->other_line : e->line);
}

/* It is passed over in order, again and again. */
static int passed_often(const struct nm_evidence *e)
{
	return e->walked && is_half(e, e->covered) && load_passes(e) >= 2 && in_order(e);
}

static void advise_fewer_passes(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    ": it is passed over in order about %.0f times: make its elements smaller, or, where one pass "
	    "does not need the end of another, do them together in blocks (tiles) that fit the cache",
	    load_passes(e));
}

static int too_large(const struct nm_evidence *e)
{
	int itself = e->evictor
			 ? is_word(e->evictor, e->object) && percent(e->evictor_count, e->evictions) >= 25
			 : in_use(e) > e->level_size;

	return is_half(e, e->capacity) && itself;
}

static void advise_too_large(const struct nm_evidence *e, FILE *out)
{
	fprintf(out, "%.0f %% of the loads bring back lines that its own other lines evicted",
		percent(e->capacity, e->loads));
	if (in_use(e) > e->level_size && !e->blocks) {
		fputs(", ", out);
		nm_advise_bytes(in_use(e), out);
		fputs(in_use(e) < e->bytes ? " that are used in " : " in ", out);
		nm_advise_bytes(e->level_size, out);
	}
	if (is_collection(e)) {
		fprintf(out,
			", %" PRId64 " blocks of %" PRId64
			" bytes on average: make them fewer or smaller, or visit "
			"them in an order that comes back to the same ones sooner",
			e->blocks, mean_block(e));
		return;
	}
	if (e->other_line && 2 * e->other_loads >= e->loads)
		fprintf(out, ", and line %" PRId64 " of %s loads %.0f %% as much of it", e->other_line,
			e->other_function ? e->other_function : "another function",
			percent(e->other_loads, e->loads));
	if (passed_often(e)) {
		advise_fewer_passes(e, out);
	} else {
		fputs(
		    ": nearmiss evictions shows which lines of code do, nearmiss curve which cache would hold it",
		    out);
	}
}

static int evicted_by_rival(const struct nm_evidence *e) { return is_half(e, e->capacity) && has_rival(e); }

static void advise_evicted_by_rival(const struct nm_evidence *e, FILE *out)
{
	fprintf(out, "%.0f %% of the loads bring back lines that did not stay, %.0f %% of them evicted by %s",
		percent(e->capacity, e->loads), percent(e->evictor_count, e->evictions), e->evictor);
	if (passed_often(e))
		advise_fewer_passes(e, out);
	else
		fputs(
		    ": work on less of that between two uses, or let it pass the cache by if it is used once",
		    out);
}

/* Of what it is, nothing is known. */
static int capacity(const struct nm_evidence *e) { return is_half(e, e->capacity) && !e->object; }

static void advise_capacity(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"%.0f %% of the loads bring back lines that did not stay because too much else came between: "
		"nearmiss report pairs shows which objects they are, nearmiss evictions what evicts them",
		percent(e->capacity, e->loads));
}

static int first_touch(const struct nm_evidence *e) { return is_half(e, e->cold); }

static void advise_first_touch(const struct nm_evidence *e, FILE *out)
{
	fprintf(out, "%.0f %% of the loads are first touches", percent(e->cold, e->loads));
	if (is_word(e->kind, "mapped"))
		fputs(" of a mapped file: map and read only the part that is needed", out);
	else if (is_collection(e))
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

const struct nm_rule nm_rules_of_residencies[] = {
    {"cleared", cleared, advise_cleared, .saves = saves_most},
    {"write stream", write_stream, advise_write_stream, .saves = saves_most},
    {"passes twice", passes_twice, advise_passes_twice, .saves = saves_one_pass},
    {"too large", too_large, advise_too_large, .saves = saves_capacity, .at_most = 1, .general = 1},
    {"evicted by rival", evicted_by_rival, advise_evicted_by_rival, .saves = saves_capacity, .at_most = 1,
     .general = 1},
    {"does not stay", capacity, advise_capacity, .saves = saves_capacity, .at_most = 1, .general = 1},
    {"first touch", first_touch, advise_first_touch, .saves = NULL, .general = 1},
    {"mixed", always, advise_mixed, .saves = NULL, .general = 1},
    {.cause = NULL},
};
