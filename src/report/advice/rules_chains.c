/* SPDX-License-Identifier: MIT
 *
 * rules_chains.c - rules for loads that wait for each other. They gain most by another order, whatever their
 * lines hold, so they come before the rules of unused bytes.
 *
 * What is dependent is nodes (blocks or structures that hold pointers to others), an array of indices that lead on in
 * itself and in other arrays, or a table in which one look-up makes the key of the next.
 */
#include <ctype.h>
#include <math.h>

#include "rules.h"

enum {
	LONG_CHAIN = 80, /* percent of the loads that no prefetcher covers: lists; below, chains are short */
	CHUNK_HEADER = 16, /* bytes between the blocks of an allocator, at most */
	INDEX = 4          /* bytes of an index */
};

/* ---- where the hot fields lead --------------------------------------------------------------------------- */

/* Whether text has a name, and not only as the beginning of a longer one. */
static int has_name(const char *text, size_t bytes, const char *name, size_t name_bytes)
{
	for (size_t i = 0; name_bytes && i + name_bytes <= bytes; i++)
		if (!strncmp(text + i, name, name_bytes) &&
		    (i + name_bytes == bytes ||
		     !(isalnum((unsigned char)text[i + name_bytes]) || text[i + name_bytes] == '_')))
			return 1;
	return 0;
}

/* Characters of the type's name, without its bounds. */
static size_t own_name(const struct nm_evidence *e)
{
	size_t n = e->type ? strcspn(e->type, "[") : 0;

	return n && e->type[n - 1] == ' ' ? n - 1 : n;
}

/* Of a list, or from a child. */
static int leads_back(const char *field)
{
	return !strncmp(field, "prev", 4) || !strncmp(field, "back", 4) || !strncmp(field, "before", 6) ||
	       !strncmp(field, "parent", 6);
}

/* Along a list, or the chain of a hash table: an element may be in several. */
static int leads_along(const char *field)
{
	return !strncmp(field, "next", 4) || !strncmp(field, "after", 5) || !strncmp(field, "chain", 5) ||
	       !strncmp(field, "hash", 4) || !strncmp(field, "link", 4);
}

/* Hot fields that lead on to nodes of the same type, `arrays` of which are arrays; these are two. */
static int branches(const struct nm_evidence *e, int *ret_arrays)
{
	const char *field = e->hot_fields, *type = e->hot_types;
	int count = 0;

	*ret_arrays = 0;
	while (field && type) {
		const char *next_field = strstr(field, ", "), *next_type = strstr(type, " | ");
		const size_t bytes = next_type ? (size_t)(next_type - type) : strlen(type);
		const int is_array = memchr(type, '[', bytes) != NULL;

		if (has_name(type, bytes, e->type, own_name(e)) && !leads_back(field) &&
		    (is_array || !leads_along(field))) {
			count += 1 + is_array;
			*ret_arrays += is_array;
		}
		field = next_field ? next_field + strlen(", ") : NULL;
		type = next_type ? next_type + strlen(" | ") : NULL;
	}
	return count;
}

/* Whether a type may be that of an index, or of a pointer to anything. */
static int is_index(const char *type, size_t bytes)
{
	static const char *const words[] = {"int",     "long", "short", "unsigned", "size_t", "uint",
					    "integer", "u16",  "u32",   "u64",      "usize",  "i16",
					    "i32",     "i64",  "isize", "void",     "?"};

	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (bytes >= strlen(words[i]) && !strncmp(type, words[i], strlen(words[i])))
			return 1;
	return 0;
}

/* Whether an element may lead to the next: unless the types of the hot fields are known, and none does. */
static int leads_on(const struct nm_evidence *e)
{
	if (!e->structure || !e->hot_types || !own_name(e) ||
	    has_name(e->hot_types, strlen(e->hot_types), e->type, own_name(e)))
		return 1;
	for (const char *type = e->hot_types; type;) {
		const char *next = strstr(type, " | ");

		if (is_index(type, next ? (size_t)(next - type) : strlen(type)))
			return 1;
		type = next ? next + strlen(" | ") : NULL;
	}
	return 0;
}

/* ---- nodes ------------------------------------------------------------------------------------------------ */

static int short_chain(const struct nm_evidence *e)
{
	return dependent(e) && (is_collection(e) || e->structure > 0) && leads_on(e);
}

static int long_chain(const struct nm_evidence *e)
{
	return short_chain(e) && percent(e->dependent, e->loads - e->covered) >= LONG_CHAIN;
}

static void advise_long_chain(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the loads wait for the one before them, from node to node, and nothing is fetched ahead: let the "
	    "nodes lie in the order in which they are visited (take them from one array in that order, or copy or sort "
	    "them once), so that they are fetched ahead; smaller nodes alone gain little; if they are chains of a hash "
	    "table, give it more buckets",
	    percent(e->dependent, e->loads));
}

static void lay_out_nodes(const struct nm_evidence *e, size_t count, FILE *out)
{
	(void)count;
	if (!is_collection(e) || !e->function)
		return;
	fputs("order ", out);
	nm_lay_out_object(e, out);
	fprintf(out, " as visited by %s", e->function);
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
	    percent(e->dependent, e->loads));
}

static double saves_dependent(const struct nm_evidence *e) { return percent(e->dependent, e->loads) / 100; }

static int tree(const struct nm_evidence *e)
{
	int arrays;

	return short_chain(e) && branches(e, &arrays) >= 2;
}

static void advise_tree(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the loads wait for the one before them, down a tree (most accesses are to %s): each level of a "
	    "search loads a line: keep several keys in a node of a line (a B-tree), or, if the tree seldom changes, "
	    "sorted keys in one array with an index of every 16th; searches that do not depend on each other gain "
	    "from being run in turn, in batches, with prefetches",
	    percent(e->dependent, e->loads), e->hot_fields);
}

/* A node of a line takes the place of the levels of as many nodes as a line holds. */
static double saves_levels(const struct nm_evidence *e)
{
	return e->structure ? 1 - 1 / fmax(1, log2(1 + (double)e->line_size / (double)e->structure)) : 0;
}

/* Of an array of integers, and another object is loaded about as often: its indices may lead there, too. */
static int index_chain(const struct nm_evidence *e)
{
	const int is_integers = e->type && nm_is_plain_array(e->type) && !strstr(e->type, "float") &&
				!strstr(e->type, "double") && !strstr(e->type, "real") && *e->type != 'f';

	return dependent(e) && is_integers && e->unordered && 2 * e->unordered_loads >= e->loads;
}

static void advise_index_chain(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the loads wait for the load before them, which makes their address, and the same function "
	    "loads %s without order: if indices of lists lead through both, put their elements in the order in which "
	    "they are visited (sorted by list, as particles by their cells), so that a loop over a range of them "
	    "replaces the chain",
	    percent(e->dependent, e->loads), e->unordered);
}

/* A line then holds all of the next indices. */
static double saves_indices(const struct nm_evidence *e)
{
	return e->line_size > INDEX ? 1 - (double)INDEX / (double)e->line_size : 0;
}

static void advise_dependent(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the loads wait for the load before them, which makes their address, so that no prefetch can "
	    "run ahead: follow several such chains at a time (look-ups that do not depend on each other, in "
	    "batches), so that their loads overlap; if indices of a list lead there, number its elements in the "
	    "order in which it is walked",
	    percent(e->dependent, e->loads));
	nm_advise_huge_pages(e, out);
}

static double saves_nothing(const struct nm_evidence *e)
{
	(void)e;
	return 0;
}

/* Nodes of several lines with an array of links, of whose lines hardly anything else is used. */
static int wide_nodes(const struct nm_evidence *e)
{
	int arrays;

	return (is_collection(e) || e->structure > 0) && e->structure >= 2 * e->line_size && wasteful(e) &&
	       branches(e, &arrays) && arrays;
}

static void advise_wide_nodes(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "each node of %" PRId64
	    " bytes has an array of links (%s), and %.0f %% of the bytes loaded here are never used: if most links are "
	    "empty, keep only those that are there (a bitmap or a sorted list of their keys, and a packed array), as "
	    "4-byte indices into one array of nodes; if only whole keys are looked up, a hash table or a sorted array "
	    "of keys",
	    e->structure, e->hot_fields, e->waste);
}

const struct nm_rule nm_rules_of_chains[] = {
    {"wide nodes", wide_nodes, advise_wide_nodes, .saves = saves_waste, .at_most = 1},
    {"tree", tree, advise_tree, .saves = saves_levels},
    {"list", long_chain, advise_long_chain, .saves = saves_order, .lay_out = lay_out_nodes, .orders = 1},
    {"short chains", short_chain, advise_short_chain, .saves = saves_dependent},
    {"index chain", index_chain, advise_index_chain, .saves = saves_indices, .orders = 1, .at_most = 1},
    {"dependent loads", dependent, advise_dependent, .saves = saves_nothing, .overlaps = 1},
    {.cause = NULL},
};
