/* SPDX-License-Identifier: MIT
 *
 * rules_chains.c - rules for loads that wait for each other. They gain most by another order, whatever their lines hold,
 * so they come before the rules of unused bytes.
 *
 * What is chained is nodes (blocks or structures that hold pointers to others), an array of indices that lead on in
 * itself and in other arrays, or a table in which one look-up makes the key of the next.
 */
#include <ctype.h>
#include <math.h>

#include "rules.h"

enum {
	LONG_CHAIN = 80,   /* percent of the loads that nothing foresees: lists; below, chains are short */
	CHUNK_HEADER = 16, /* bytes between the blocks of an allocator, at most */
	INDEX = 4          /* bytes of an index */
};

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
	    "them once), so that they are fetched ahead; smaller nodes alone gain little; if they are chains of a hash "
	    "table, give it more buckets",
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

/* Of a list, or from a child. */
static int leads_back(const char *field)
{
	return !strncmp(field, "prev", 4) || !strncmp(field, "back", 4) || !strncmp(field, "parent", 6);
}

/* Hot fields that lead on to nodes of the same type; those of an array are two. */
static int branches(const struct nm_evidence *e)
{
	const char *field = e->hot_fields, *type = e->hot_types;
	const size_t own = e->type ? strcspn(e->type, "[") : 0,
		     bare = own && e->type[own - 1] == ' ' ? own - 1 : own;
	int count = 0;

	while (field && type) {
		const char *next_field = strstr(field, ", "), *next_type = strstr(type, " | ");
		const size_t bytes = next_type ? (size_t)(next_type - type) : strlen(type);

		if (has_name(type, bytes, e->type, bare) && !leads_back(field))
			count += memchr(type, '[', bytes) ? 2 : 1;
		field = next_field ? next_field + strlen(", ") : NULL;
		type = next_type ? next_type + strlen(" | ") : NULL;
	}
	return count;
}

static int tree(const struct nm_evidence *e) { return short_chain(e) && branches(e) >= 2; }

static void advise_tree(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the loads wait for the one before them, down a tree (most accesses are to %s): each level of a "
	    "search loads a line: keep several keys in a node of a line (a B-tree), or, if the tree seldom changes, "
	    "sorted keys in one array with an index of every 16th; searches that do not depend on each other gain "
	    "from being run in turn, in batches, with prefetches",
	    percent(e->chained, e->loads), e->hot_fields);
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

	return chained(e) && is_integers && e->unordered && 2 * e->unordered_loads >= e->loads;
}

static void advise_index_chain(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the loads wait for the load before them, which makes their address, and the same function "
	    "loads %s without order: if indices of lists lead through both, put their elements in the order in which "
	    "they are visited (sorted by list, as particles by their cells), so that a loop over a range of them "
	    "replaces the chain",
	    percent(e->chained, e->loads), e->unordered);
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
	    percent(e->chained, e->loads));
	nm_advise_huge_pages(e, out);
}

static double saves_nothing(const struct nm_evidence *e)
{
	(void)e;
	return 0;
}

const struct nm_rule nm_rules_of_chains[] = {
    {"tree", tree, advise_tree, .saves = saves_levels},
    {"list", long_chain, advise_long_chain, .saves = saves_order, .orders = 1},
    {"short chains", short_chain, advise_short_chain, .saves = saves_chained},
    {"index chain", index_chain, advise_index_chain, .saves = saves_indices, .orders = 1, .at_most = 1},
    {"dependent loads", chained, advise_dependent, .saves = saves_nothing, .overlaps = 1},
    {.cause = NULL},
};
