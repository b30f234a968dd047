/* SPDX-License-Identifier: MIT
 *
 * rules_chains.c - rules for loads that wait for each other. They gain most by another order, whatever their lines hold,
 * so they come before the rules of unused bytes.
 *
 * What is chained is nodes (blocks or structures that hold a pointer to the next), an array of indices that lead on in
 * itself and in other arrays, or a table in which one look-up makes the key of the next.
 */
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

/* Of elements that are no nodes, and another object is loaded about as often: the chain may lead there, too. */
static int index_chain(const struct nm_evidence *e)
{
	return chained(e) && e->unordered && 2 * e->unordered_loads >= e->loads;
}

static void advise_index_chain(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the loads wait for the one before them, whose value makes the next address, and the same "
	    "function loads %s without order: if these are indices that lead to its elements too, put both in the "
	    "order in which they are visited (sorted by list, as particles by their cells), so that a loop over a "
	    "range of them replaces the chain",
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
	    "%.0f %% of the loads wait for the one before them, whose value makes the next address, so that no "
	    "prefetch can run ahead: follow several such chains at a time (look-ups that do not depend on each "
	    "other, in batches), so that their loads overlap; if the values are indices of a list, number its "
	    "elements in the order in which it is walked",
	    percent(e->chained, e->loads));
	nm_advise_huge_pages(e, out);
}

static double saves_nothing(const struct nm_evidence *e)
{
	(void)e;
	return 0;
}

const struct nm_rule nm_rules_of_chains[] = {
    {"list", long_chain, advise_long_chain, .saves = saves_order, .orders = 1},
    {"short chains", short_chain, advise_short_chain, .saves = saves_chained},
    {"index chain", index_chain, advise_index_chain, .saves = saves_indices, .orders = 1},
    {"dependent loads", chained, advise_dependent, .saves = saves_nothing, .overlaps = 1},
    {.cause = NULL},
};
