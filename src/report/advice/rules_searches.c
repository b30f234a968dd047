/* SPDX-License-Identifier: MIT
 *
 * rules_searches.c - the rule for binary searches. It comes before the rules of conflicts: probes of an array of
 * about a power of two of bytes lie such powers apart, and collide because they are probes.
 */
#include <math.h>

#include "rules.h"

enum { LEAST_KEY = 4 }; /* bytes */

static int binary_search(const struct nm_evidence *e)
{
	return e->strided && e->halved >= NM_HALF && wasteful(e) && !is_half(e, e->cold);
}

static void advise_binary_search(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of its steps are half of the one before, as in a binary search, and each probe loads a line of "
	    "which %.0f %% are never used: keep the keys%s in an order in which those that are compared one after "
	    "the other share a line (a B-tree with nodes of a line, Eytzinger order), or search an index of every "
	    "16th key first, which stays in the cache; searches that do not depend on each other gain from being "
	    "run in turn, in batches, with prefetches",
	    e->halved, e->waste,
	    e->structure > NM_PLAIN_ELEMENT ? " alone, without the rest of their elements," : "");
	nm_advise_huge_pages(e, out);
}

/* A node of a line with n keys takes the place of log2(n + 1) probes. */
static double saves_probes(const struct nm_evidence *e)
{
	const double key = fmax(LEAST_KEY, fmin(e->used, 16));

	return e->line_size ? 1 - 1 / fmax(1, log2(1 + (double)e->line_size / key)) : 0;
}

const struct nm_rule nm_rules_of_searches[] = {
    {"binary search", binary_search, advise_binary_search, .saves = saves_probes},
    {.cause = NULL},
};
