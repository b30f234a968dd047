/* SPDX-License-Identifier: MIT
 *
 * rules_bytes.c - rules for chains of pointers, and for bytes that are loaded and not used.
 *
 * Chains come first: loads that wait for each other gain most by another order, whatever their lines hold.
 * Then come unused fields, then scattered small blocks, then the order in which an array is walked.
 */
#include <math.h>

#include "declaration.h"
#include "rules.h"

enum {
	SCATTERED = 20,   /* percent: below what 24 bytes in 32 of malloc waste */
	LONG_CHAIN = 80,  /* percent of the loads that nothing foresees: lists; below, chains are short */
	CHUNK_HEADER = 16 /* bytes between the blocks of an allocator, at most */
};

/* ---- chains -------------------------------------------------------------------------------------------- */

static int names_a_tree(const char *text)
{
	return text && (strstr(text, "_Rb_tree") || strstr(text, "std::map<") || strstr(text, "std::set<") ||
			strstr(text, "std::multimap<") || strstr(text, "std::multiset<"));
}

static int tree(const struct nm_evidence *e)
{
	return is_collection(e) && mean_block(e) < 2 * e->line_size &&
	       (names_a_tree(e->function) || names_a_tree(e->inner) || names_a_tree(e->type));
}

static void advise_tree(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%" PRId64 " nodes of a std::map or std::set, of %" PRId64
	    " bytes each: a step from one to the next waits for the load before it, and %.0f %% of the bytes loaded are "
	    "never used: keep the elements in a sorted std::vector (and search it with std::lower_bound), which lies in "
	    "the order in which it is walked",
	    e->blocks, mean_block(e), e->waste);
}

static int short_chain(const struct nm_evidence *e)
{
	return chained(e) && (is_collection(e) || e->structure > 0);
}

static int long_chain(const struct nm_evidence *e)
{
	return short_chain(e) && percent(e->chained, e->loads - e->foreseen) >= LONG_CHAIN;
}

static void advise_long_chain(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the loads wait for the one before them, from node to node, and nothing is fetched ahead: let the "
	    "nodes lie in the order in which they are visited (take them from one array in that order, or copy or sort "
	    "them once), so that they are fetched ahead; smaller nodes alone gain little",
	    percent(e->chained, e->loads));
}

/* Neighbours in memory follow each other, as many as a line has room for. */
static double saves_order(const struct nm_evidence *e)
{
	const double node = (double)(e->blocks ? mean_block(e) + CHUNK_HEADER : e->structure);

	return e->line_size && node < (double)e->line_size ? 1 - node / (double)e->line_size : 0;
}

static void advise_short_chain(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the loads wait for the one before them, along chains of few nodes, as of a hash table: keep the "
	    "keys in the table itself and go on to the next place of it (open addressing), or more keys in a node, so "
	    "that a look-up loads one line",
	    percent(e->chained, e->loads));
}

static double saves_chained(const struct nm_evidence *e) { return percent(e->chained, e->loads) / 100; }

/* ---- fields -------------------------------------------------------------------------------------------- */

/* The first of a list, and *at moves behind it. */
static char *next_of(const char **at, const char *separator)
{
	const char *end = strstr(*at, separator);
	const size_t bytes = end ? (size_t)(end - *at) : strlen(*at);
	char *one = strndup(*at, bytes);

	*at += end ? bytes + strlen(separator) : bytes;
	return one;
}

/* "double price; long count;" */
static void declare_fields(const struct nm_evidence *e, enum nm_declaration_style style, FILE *out)
{
	const char *fields = e->hot_fields, *types = e->hot_types;

	while (*fields) {
		char *field = next_of(&fields, ", "), *type = next_of(&types, " | ");

		if (!field || !type || !*type || is(type, "?"))
			fputs(field ? field : "", out);
		else
			nm_declare(style, type, field, out);
		fputs(style == NM_DECLARE_RUST ? (*fields ? ", " : "") : (*fields ? "; " : ";"), out);
		free(field);
		free(type);
	}
}

/* ": struct { double price; long count; } of 16 bytes instead of 64", what the hot fields would be. */
static void advise_hot_structure(const struct nm_evidence *e, FILE *out)
{
	const enum nm_declaration_style style = nm_declaration_style(e->file, e->type);
	const int is_fortran = style == NM_DECLARE_FORTRAN;

	fputs(is_fortran ? ": type hot; " : ": struct { ", out);
	if (e->hot_types && !strstr(e->hot_fields, "[]."))
		declare_fields(e, style, out);
	else
		fputs(e->hot_fields, out);
	fprintf(out, "%s of %" PRId64 " bytes instead of %" PRId64, is_fortran ? " end type" : " }",
		e->hot_structure ? e->hot_structure : e->hot_bytes, e->structure);
}

/* Of some hot fields that one line could hold, two that are used together cannot share one. */
static int fields_apart(const struct nm_evidence *e)
{
	return wasteful(e) && e->far_field && e->far_other && e->far_visits >= NM_MANY_BLOCKS &&
	       e->far_both >= NM_HALF && e->hot_bytes <= e->line_size && e->structure > e->line_size;
}

static void advise_fields_apart(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%s and %s lie %" PRId64 " bytes apart in a structure of %" PRId64
	    " and are both used in %.0f %% of its visits, so each visit loads two lines: put the hot fields side by side "
	    "at the beginning of a line, or in an array of their own",
	    e->far_field, e->far_other, e->far_bytes, e->structure, e->far_both);
	advise_hot_structure(e, out);
}

static double saves_second_line(const struct nm_evidence *e)
{
	(void)e;
	return 0.5;
}

static int unused_fields(const struct nm_evidence *e)
{
	return wasteful(e) && e->hot_fields && e->structure > NM_PLAIN_ELEMENT &&
	       2 * e->hot_bytes <= e->structure;
}

static void advise_unused_fields(const struct nm_evidence *e, FILE *out)
{
	fprintf(out, "%s (%" PRId64 " of %" PRId64 " bytes) have most of the accesses to its fields",
		e->hot_fields, e->hot_bytes, e->structure);
	if (e->cold_fields)
		fprintf(out, ", and %s (%" PRId64 " bytes) are used in %.0f %% of the stays of their lines",
			e->cold_fields, e->cold_bytes, e->cold_used);
	fputs(": keep the hot fields in an array of their own, apart from the rest", out);
	advise_hot_structure(e, out);
}

/* ---- blocks and pointers ----------------------------------------------------------------------------- */

static int small_blocks(const struct nm_evidence *e)
{
	return is_collection(e) && mean_block(e) < e->line_size && e->waste >= SCATTERED;
}

/* Side by side, a line holds more blocks, with what is unused of each. */
static double saves_pool(const struct nm_evidence *e)
{
	const double block = (double)mean_block(e);
	const double used = e->hot_bytes && e->hot_bytes < mean_block(e) ? (double)e->hot_bytes : block;
	const double left = fmax(1, e->used / used) * block / (double)e->line_size;

	return left < 1 ? 1 - left : 0;
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

static int pointer_array(const struct nm_evidence *e)
{
	const char *star = e->type ? strrchr(e->type, '*') : NULL;

	return wasteful(e) && star && nm_array_shape_parse(e->type).elements > 1;
}

static void advise_pointer_array(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"an array of pointers of which %.0f %% of the bytes loaded are never used, and each leads to "
		"one more line: keep the values themselves in one array",
		e->waste);
}

/* Bytes of what the object is made of: where fields were not counted, elements that are too large for
 * anything else. */
static int64_t structure_of(const struct nm_evidence *e) { return e->structure ? e->structure : element(e); }

/* Structures of which it is not known which fields were used. */
static int cold_fields(const struct nm_evidence *e)
{
	return wasteful(e) && !e->has_fields && structure_of(e) > NM_PLAIN_ELEMENT;
}

static void advise_cold_fields(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"of each line of %" PRId64 " bytes %.0f are used, and its structure has %" PRId64
		": move the fields that are used here into an array of their own, apart from the others",
		e->line_size, e->used, structure_of(e));
}

/* ---- the order of a walk ----------------------------------------------------------------------------- */

static int across_rows(const struct nm_evidence *e)
{
	const int guess = !e->walked && !e->strided && e->reuse < 2;

	return wasteful(e) && (guess || strides(e)) && nm_array_shape_parse(e->type).dimensions > 1;
}

static void advise_step(const struct nm_evidence *e, FILE *out)
{
	if (e->load_follow >= NM_HALF)
		fprintf(out, "%.0f %% of the loads step %" PRId64 " bytes, ", e->load_follow, e->load_step);
	else
		fprintf(out, "%.0f %% of the accesses step %" PRId64 " bytes, ", e->follow, e->stride);
}

static void advise_across_rows(const struct nm_evidence *e, FILE *out)
{
	if (strides(e))
		advise_step(e, out);
	fprintf(
	    out,
	    "a line serves %.1f accesses and %.0f %% of its bytes are never used: interchange the loops, so "
	    "that the %s subscript runs fastest, or work in tiles",
	    e->reuse, e->waste, nm_array_shape_parse(e->type).first_is_fastest ? "first" : "last");
}

static int long_steps(const struct nm_evidence *e) { return wasteful(e) && strides(e); }

/* A step may be an element of an array or a row of a matrix. Where the bytes of an element are not known, both
 * are said. */
static void advise_long_steps(const struct nm_evidence *e, FILE *out)
{
	const int64_t each = structure_of(e);
	const int may_be_element = !each || labs(step_of(e)) == each, may_be_row = !each || !may_be_element;

	advise_step(e, out);
	fprintf(out, "each to another line, of which %.0f %% are never used: ", e->waste);
	if (may_be_element)
		fprintf(
		    out,
		    "%skeep what is read here of each element in an array of its own, or the large rest of it "
		    "elsewhere%s",
		    may_be_row ? "if that is the size of an element, " : "",
		    may_be_row ? "; if it is that of a row, " : "");
	if (may_be_row)
		fputs(
		    "change the order of the loops or of the data, so that what is used one after the other lies "
		    "side by side",
		    out);
}

/* No step leads from load to load, and nothing foresees them. */
static int scattered(const struct nm_evidence *e)
{
	return wasteful(e) && follows_no_order(e) && percent(e->foreseen, e->loads) < NM_HALF;
}

static void advise_scattered(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "its loads follow no order, and %.0f %% of the bytes loaded are never used: sort what leads there (indices, "
	    "keys, requests) before it is used, or number the elements so that those used together lie side by side",
	    e->waste);
}

/* What is left is fetched ahead. */
static double saves_some(const struct nm_evidence *e)
{
	(void)e;
	return 0.3;
}

static void advise_sparse(const struct nm_evidence *e, FILE *out)
{
	fprintf(out, "%.0f %% of the bytes loaded are never used: ", e->waste);
	if (nm_array_shape_parse(e->type).dimensions)
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

const struct nm_rule nm_rules_of_bytes[] = {
    {"tree", tree, advise_tree, .saves = saves_waste, .orders = 1},
    {"list", long_chain, advise_long_chain, .saves = saves_order, .orders = 1},
    {"short chains", short_chain, advise_short_chain, .saves = saves_chained},
    {"fields apart", fields_apart, advise_fields_apart, .saves = saves_second_line},
    {"unused fields", unused_fields, advise_unused_fields, .saves = saves_waste},
    {"small blocks", small_blocks, advise_small_blocks, .saves = saves_pool},
    {"pointer array", pointer_array, advise_pointer_array, .saves = saves_waste},
    {"cold fields", cold_fields, advise_cold_fields, .saves = saves_waste},
    {"across rows", across_rows, advise_across_rows, .saves = saves_waste, .orders = 1},
    {"long steps", long_steps, advise_long_steps, .saves = saves_waste, .orders = 1},
    {"scattered", scattered, advise_scattered, .saves = saves_some, .orders = 1},
    {"sparse use", wasteful, advise_sparse, .saves = NULL},
    {.cause = NULL},
};
