/* SPDX-License-Identifier: MIT
 *
 * families_bench.c - estimates of families of streams beside the truth, point by point, as CSV: for bench/curves.py.
 *
 *     families_bench REFERENCES SEEDS [FAMILY|- [METHOD]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "families_check.h"

static const struct family_method methods[] = {
    {&nm_estimator_statcache, 1e-2, 0},  {&nm_estimator_statcache, 1e-3, 0},
    {&nm_estimator_statcache, 1e-5, 0},  {&nm_estimator_statcache, 1e-2, 1},
    {&nm_estimator_statcache, 1e-3, 1},  {&nm_estimator_statcache, 1e-4, 1},
    {&nm_estimator_statcache, 1e-5, 1},  {&nm_estimator_statstack, 1e-2, 0},
    {&nm_estimator_statstack, 1e-3, 0},  {&nm_estimator_statstack, 1e-5, 0},
    {&nm_estimator_statstack, 1e-2, 1},  {&nm_estimator_statstack, 1e-3, 1},
    {&nm_estimator_statstack, 1e-4, 1},  {&nm_estimator_statstack, 1e-5, 1},
    {&nm_estimator_shards, 1e-2, 0},     {&nm_estimator_shards, 1e-3, 0},
    {&nm_estimator_shards_size, 1e-2, 0}};

enum { LEAST_SAMPLES = 30 /* as analyses ask for, but for the whole */ };

static void print(const char *family, const struct family_stream *s, const struct family_truth *truth,
		  const struct family_method *m, uint64_t seed)
{
	static struct nm_estimate got[FAMILY_SIZES][FAMILY_GROUPS];

	family_estimate(s, truth, m, seed, got);
	for (unsigned size = 0; size < FAMILY_SIZES; size++)
		for (unsigned group = 0; group < FAMILY_GROUPS; group++) {
			const struct nm_estimate *e = &got[size][group];
			const char *scope = !group ? "whole" : group <= FAMILY_OBJECTS ? "object" : "line";
			const int lru = !strcmp(m->estimator->policy, "lru");

			if (!isnan(e->miss_ratio) && (!group || e->samples >= LEAST_SAMPLES))
				printf("%s,%zu,%lu,%s,%g,%s,%s,%u,%lu,%.6f,%.6f,%.6f,%.6f,%.6f,%lu,%s\n",
				       family, s->count, seed, m->estimator->name, m->rate,
				       m->recorded ? "recorded" : "analysed", scope, group,
				       truth->lines[size], (lru ? truth->lru : truth->random)[size][group],
				       e->miss_ratio, e->low, e->high, e->cold_ratio, e->samples,
				       size ? "" : s->about);
		}
}

int main(int argc, char **argv)
{
	const size_t count = argc > 1 ? (size_t)strtod(argv[1], NULL) : 1000000;
	const uint64_t seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

	printf(
	    "family,references,seed,method,rate,mode,scope,group,lines,truth,estimate,low,high,cold,samples,about\n");
	for (const struct family *f = families; f->name; f++)
		for (uint64_t seed = 1; seed <= seeds; seed++) {
			struct family_stream s;
			struct family_truth truth;

			if (argc > 3 && strcmp(argv[3], "-") && strcmp(argv[3], f->name))
				continue;
			s = family_draw(f, count, seed);
			for (char *c = s.about; *c; c++)
				*c = *c == ',' ? ';' : *c;
			family_find_truth(&s, seed, &truth);
			for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
				if (argc < 5 || !strcmp(argv[4], methods[i].estimator->name))
					print(f->name, &s, &truth, &methods[i], seed);
			family_free(&s);
		}
}
