/* SPDX-License-Identifier: MIT
 *
 * rules_bytes.c - rules for bytes that are loaded and not used.
 *
 * Fields come first, then scattered small blocks, then the order in which an array is walked.
 */
#include <ctype.h>
#include <math.h>

#include "rules.h"
#include "text.h"

enum {
	CHUNK_HEADER = 16,  /* bytes between the blocks of an allocator, at most */
	LONGEST_RUN = 16384 /* bytes: what goes on for longer is a scan */
};

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

/* "double price; long place_count;", where the latter is a member of `place`. */
static void declare_fields(const struct nm_evidence *e, enum nm_declaration_style style, FILE *out)
{
	const char *fields = e->hot_fields, *types = e->hot_types;

	while (*fields) {
		char *field = next_of(&fields, ", "), *type = next_of(&types, " | ");

		for (char *dot = field; dot && (dot = strchr(dot, '.'));)
			*dot = '_';
		if (!field || !type || !*type || is_word(type, "?"))
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

/* "key, place, cells": the members that fields are in or of, each once. */
static void write_members(const char *fields, FILE *out)
{
	const char *first = fields;

	while (*fields) {
		const size_t n = strcspn(fields, ",.[|");
		const char *before = first;

		while (before < fields && (strncmp(before, fields, n) || !strchr(",.[|", before[n]))) {
			before += strcspn(before, ",");
			before += strspn(before, ", ");
		}
		if (before == fields)
			fprintf(out, "%s%.*s", fields == first ? "" : ", ", (int)n, fields);
		fields += strcspn(fields, ",");
		fields += strspn(fields, ", ");
	}
}

/* "split struct node hot(key, next) parallel" */
static void split(const struct nm_evidence *e, const char *hot, FILE *out)
{
	if (!e->structure_type)
		return;
	fprintf(out, "split %s hot(", e->structure_type);
	write_members(hot, out);
	fputs(") parallel", out);
}

static void split_hot(const struct nm_evidence *e, size_t count, FILE *out)
{
	(void)count;
	split(e, e->hot_fields, out);
}

static void split_line_field(const struct nm_evidence *e, size_t count, FILE *out)
{
	(void)count;
	split(e, e->line_field, out);
}

static void reorder(const struct nm_evidence *e, size_t count, FILE *out)
{
	(void)count;
	if (!e->structure_type)
		return;
	fprintf(out, "reorder %s: ", e->structure_type);
	write_members(e->hot_fields, out);
}

static void reorder_by_size(const struct nm_evidence *e, size_t count, FILE *out)
{
	(void)count;
	if (e->structure_type)
		fprintf(out, "reorder %s by alignment", e->structure_type);
}

/* Of some hot fields that one line could hold, two that are used together cannot share one. */
static int fields_apart(const struct nm_evidence *e)
{
	return is_users(e) && wasteful(e) && e->far_field && e->far_other &&
	       e->far_visits >= NM_MANY_BLOCKS && e->hot_bytes <= e->line_size &&
	       e->structure > e->line_size &&
	       (double)e->far_visits * e->far_both >= NM_HALF * (double)e->most_visits;
}

static void advise_fields_apart(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%s and %s lie %" PRId64 " bytes apart in a structure of %" PRId64
	    " and are both used in %.0f %% of the visits to either, so each of these loads two lines: put the hot fields side by side "
	    "at the beginning of a line, or in an array of their own",
	    e->far_field, e->far_other, e->far_bytes, e->structure, e->far_both);
	advise_hot_structure(e, out);
}

static double saves_second_line(const struct nm_evidence *e)
{
	(void)e;
	return 0.5;
}

/* The members would take a quarter less in another order. */
static int padding(const struct nm_evidence *e)
{
	return is_users(e) && e->packed && 4 * e->packed <= 3 * e->structure && e->waste >= NM_SCATTERED &&
	       !e->cold_fields;
}

static void advise_padding(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%" PRId64 " of the %" PRId64
	    " bytes of its structure are padding between members: declare them from the largest to the smallest, "
	    "and the structure has %" PRId64 " bytes",
	    e->structure - e->member_bytes, e->structure, e->packed);
	if (e->hot_fields)
		fprintf(out, " (most accesses are to %s)", e->hot_fields);
}

static double saves_padding(const struct nm_evidence *e)
{
	return 1 - (double)e->packed / (double)e->structure;
}

static int unused_fields(const struct nm_evidence *e)
{
	return is_users(e) && wasteful(e) && e->hot_fields && e->structure > NM_PLAIN_ELEMENT &&
	       2 * e->hot_bytes <= e->structure;
}

static void advise_unused_fields(const struct nm_evidence *e, FILE *out)
{
	fprintf(out, "%s (%" PRId64 " of %" PRId64 " bytes) have most of the accesses to its fields",
		e->hot_fields, e->hot_bytes, e->structure);
	if (e->cold_fields)
		fprintf(out,
			", and %s (%" PRId64 " bytes) are used in %.0f %% of the residencies of their lines",
			e->cold_fields, e->cold_bytes, e->cold_used);
	fputs(": keep the hot fields in an array of their own, apart from the rest", out);
	advise_hot_structure(e, out);
}

/* ---- the field that a line of code loads ---------------------------------------------------------------- */

/* Other lines use more of it, but lines are loaded here for one field, and leave without much more. */
static int one_field(const struct nm_evidence *e)
{
	return is_users(e) && wasteful(e) && e->line_field && e->structure > NM_PLAIN_ELEMENT &&
	       is_half(e, e->line_field_loads) && 4 * e->line_field_bytes <= e->structure;
}

static void advise_one_field(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the loads here are for %s, %" PRId64 " of the %" PRId64
	    " bytes of its structure, and %.0f %% of the bytes loaded are never used: keep %s, with what is used beside it here, "
	    "in an array of its own",
	    percent(e->line_field_loads, e->loads), e->line_field, e->line_field_bytes, e->structure,
	    e->waste, e->line_field);
}

/* Bytes of an array of this field alone. */
static double dense(const struct nm_evidence *e)
{
	return (double)in_use(e) * (double)e->line_field_bytes / (double)e->structure;
}

/* Without order, what the level holds of the array is found there. */
static double saves_one_field(const struct nm_evidence *e)
{
	const double found = dense(e) > 0 ? (double)e->level_size / dense(e) : 1;

	return follows_no_order(e) ? fmin(found, e->waste / 100) : saves_waste(e);
}

/* ---- components of a derived type ---------------------------------------------------------------------- */

/* What is allocated for a pointer or allocatable component of each element, or the elements, which hold descriptors. */
static int components(const struct nm_evidence *e)
{
	const char *part = e->object ? strstr(e->object, ")%") : NULL;
	const int is_part = part && isalpha((unsigned char)part[2]) && is_collection(e);

	return (is_part || e->component) && !is_half(e, e->cold);
}

static void advise_components(const struct nm_evidence *e, FILE *out)
{
	if (e->component)
		fprintf(
		    out,
		    "each of its elements holds descriptors of 64 bytes and more of components that are allocated one by "
		    "one, as %s",
		    e->component);
	else
		fprintf(
		    out,
		    "%" PRId64 " blocks of %" PRId64
		    " bytes on average, one for each element, are reached through descriptors of 64 bytes and more",
		    e->blocks, mean_block(e));
	fputs(
	    ": declare components of a known size in the type itself, without pointer or allocatable, or allocate one "
	    "array for the components of all elements",
	    out);
}

static double saves_components(const struct nm_evidence *e)
{
	const double block = (double)mean_block(e) / (double)e->line_size;

	if (e->component)
		return 0.6;
	return block < 1 ? 1 - block : 0;
}

/* ---- blocks and pointers ----------------------------------------------------------------------------- */

static int small_blocks(const struct nm_evidence *e)
{
	return is_collection(e) && mean_block(e) < e->line_size && e->waste >= NM_SCATTERED;
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
	if (e->hot_fields && strstr(e->hot_fields, "_vptr"))
		fputs(
		    "; objects of several classes that are called in turn: one array for each class, which needs no "
		    "virtual calls either",
		    out);
}

static void pool_blocks(const struct nm_evidence *e, size_t count, FILE *out)
{
	(void)count;
	if (!is_heap(e))
		return;
	fputs("pool ", out);
	nm_lay_out_object(e, out);
	fputs(" by first use", out);
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

/* Bytes of what the object is made of: its structure, or elements that are too large for anything else. */
static int64_t structure_of(const struct nm_evidence *e)
{
	return e->structure ? e->structure : element_bytes(e);
}

/* ---- elements that are moved ---------------------------------------------------------------------------- */

/* What sorts or keeps a heap, by its name. */
static int sorts(const char *function)
{
	static const char *const marks[] = {"sort", "heap", "partition", "Heap", "Sort"};

	for (unsigned i = 0; function && i < sizeof marks / sizeof *marks; i++)
		if (strstr(function, marks[i]))
			return 1;
	return 0;
}

/* As many writes as reads, by no steps. */
static int swaps(const struct nm_evidence *e)
{
	return e->strided && e->follow < NM_HALF && follows_no_order(e) && 10 * e->writes >= 8 * e->reads;
}

/* Of structures of a line or more, most bytes are read and written, where elements are put in order. */
static int large_elements(const struct nm_evidence *e)
{
	return is_users(e) && !is_collection(e) && e->structure >= e->line_size && !wasteful(e) &&
	       4 * e->hot_bytes >= 3 * e->structure && 3 * e->writes >= e->reads &&
	       (sorts(e->inner) || sorts(e->function) || swaps(e)) && !is_half(e, e->cold);
}

static void advise_large_elements(const struct nm_evidence *e, FILE *out)
{
	if (sorts(e->inner) || sorts(e->function))
		fprintf(out, "by its name, this function puts elements of %" PRId64 " bytes in order",
			e->structure);
	else
		fprintf(
		    out,
		    "elements of %" PRId64
		    " bytes are written about as often as they are read, in no order, as by a sort or a heap",
		    e->structure);
	fprintf(
	    out,
	    " (%.0f %% of the accesses are writes): if they are moved here, put keys with indices of elements, of 8 "
	    "or 16 bytes, in order instead, and let the elements stay where they are",
	    percent(e->writes, e->reads + e->writes));
}

enum { KEY_AND_INDEX = 16 };

static double saves_moves(const struct nm_evidence *e)
{
	return 1 - (double)KEY_AND_INDEX / (double)e->structure;
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

/* What the loops do to the array as it is, interchanged ones do to the transposed one. */
static void transpose(const struct nm_evidence *e, size_t count, FILE *out)
{
	const struct nm_array_shape array = nm_array_shape_parse(e->type);

	(void)count;
	if (array.dimensions != 2 || !element_bytes(e))
		return;
	fputs("transpose ", out);
	nm_lay_out_object(e, out);
	fprintf(out, " %" PRId64 "x%" PRId64 "x%" PRId64, array.elements / array.fastest, array.fastest,
		element_bytes(e));
}

/* From the step alone it is not known whether it is that of an element or that of a row. */
enum { ROW = 8 /* lines: a longer step than a known element is no matter of its other fields */ };

static int is_element(const struct nm_evidence *e)
{
	const int64_t each = structure_of(e), step = labs(step_of(e));

	return each && step >= each && step <= each + (e->blocks > 1 ? CHUNK_HEADER + 7 : 0);
}

static int long_steps(const struct nm_evidence *e)
{
	const int64_t step = labs(step_of(e));

	if (!strides(e) || (step == e->line_size && !is_element(e)))
		return 0;
	return wasteful(e) || (e->walked && step >= ROW * e->line_size && !is_element(e));
}

static void advise_long_steps(const struct nm_evidence *e, FILE *out)
{
	const int is_plain = e->type && nm_is_plain_array(e->type);
	const int may_be_element = !is_plain && (!structure_of(e) || is_element(e)),
		  may_be_row = !is_element(e);

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

/* Where another column uses the rest of a line, the walk along rows loads it once for all. */
static double saves_steps(const struct nm_evidence *e) { return fmax(saves_waste(e), 0.45); }

/* ---- elements in their order ------------------------------------------------------------------------- */

/* Accesses that go from one element to the next in a row, on average; 0: not known. */
static double run_length(const struct nm_evidence *e)
{
	return e->strided && e->stride && labs(e->stride) < e->line_size && e->follow >= NM_HALF &&
		       e->follow < 100
		   ? 100 / (100 - e->follow)
		   : 0;
}

/* Each probe goes on to the next element, and a search begins elsewhere. */
static int short_runs(const struct nm_evidence *e)
{
	const double bytes = run_length(e) * (double)labs(e->stride);

	return wasteful(e) && e->walked && run_length(e) >= 4 && bytes >= 2 * (double)e->line_size &&
	       bytes <= LONGEST_RUN;
}

static void advise_short_runs(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "accesses go from one element to the next, %" PRId64
	    " bytes on, about %.0f times in a row, and then begin elsewhere: if this is a hash table with open "
	    "addressing, it is too full, or full of deleted entries: rehash it without them into one that is at most "
	    "half full; else end the searches sooner, or keep what they compare in an array of its own",
	    e->stride, run_length(e));
}

/* Down to a line or two a search. */
static double saves_runs(const struct nm_evidence *e)
{
	const double lines = run_length(e) * (double)labs(e->stride) / (double)e->line_size;

	return lines > 1.5 ? 1 - 1.5 / (lines + 1) : 0;
}

/* Prefetchers run ahead, but through bytes that nobody uses: other members, or numbers that other passes use. */
static int gaps(const struct nm_evidence *e)
{
	return wasteful(e) && e->walked && is_half(e, e->covered) && !is_half(e, e->cold);
}

static void advise_gaps(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"its lines are loaded in order (prefetchers cover %.0f %%), but only %.0f of %" PRId64
		" bytes of each are used: what lies between is not used meanwhile: ",
		percent(e->covered, e->loads), e->used, e->line_size);
	if (e->type && nm_is_plain_array(e->type) && load_passes(e) >= 2)
		fputs(
		    "if other passes use it, do them together, block by block of what fits the cache; else ",
		    out);
	fputs("keep it elsewhere, in an array or a pool of its own, and what is used here side by side", out);
}

/* No step leads from load to load, and no prefetcher covers them. */
static int scattered(const struct nm_evidence *e)
{
	return wasteful(e) && follows_no_order(e) && percent(e->covered, e->loads) < NM_HALF;
}

static void advise_scattered(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "its loads follow no order, and %.0f %% of the bytes loaded are never used: sort what leads there (indices, "
	    "keys, requests) before it is used, or number the elements so that those used together lie side by side",
	    e->waste);
	nm_advise_huge_pages(e, out);
}

/* What is left is fetched ahead. */
static double saves_some(const struct nm_evidence *e)
{
	(void)e;
	return 0.25;
}

/* Of the order nothing is known, or nothing that the rules above know. What is touched first, in order, costs
 * little. */
static int sparse(const struct nm_evidence *e)
{
	return wasteful(e) && !(is_half(e, e->cold) && is_half(e, e->covered));
}

static void advise_sparse(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the bytes loaded are never used, and no pattern was seen that says why: nearmiss report "
	    "patterns has the steps of its accesses, nearmiss report fields what is used of structures",
	    e->waste);
}

const struct nm_rule nm_rules_of_bytes[] = {
    {"fields apart", fields_apart, advise_fields_apart, .saves = saves_second_line, .lay_out = reorder},
    {"padding", padding, advise_padding, .saves = saves_padding, .lay_out = reorder_by_size},
    {"unused fields", unused_fields, advise_unused_fields, .saves = saves_waste, .lay_out = split_hot},
    {"one field", one_field, advise_one_field, .saves = saves_one_field, .lay_out = split_line_field},
    {"components", components, advise_components, .saves = saves_components},
    {"large elements", large_elements, advise_large_elements, .saves = saves_moves},
    {"small blocks", small_blocks, advise_small_blocks, .saves = saves_pool, .lay_out = pool_blocks},
    {"pointer array", pointer_array, advise_pointer_array, .saves = saves_waste},
    {"across rows", across_rows, advise_across_rows, .saves = saves_waste, .lay_out = transpose, .orders = 1},
    {"long steps", long_steps, advise_long_steps, .saves = saves_steps, .orders = 1},
    {"short runs", short_runs, advise_short_runs, .saves = saves_runs},
    {"gaps", gaps, advise_gaps, .saves = saves_waste},
    {"scattered", scattered, advise_scattered, .saves = saves_some, .orders = 1, .general = 1},
    {"sparse use", sparse, advise_sparse, .saves = NULL, .general = 1},
    {.cause = NULL},
};
