/* SPDX-License-Identifier: MIT
 *
 * rules.h - what the files of rules share: questions that several of them ask of the evidence.
 *
 * Each file has one list of rules, in the order in which they are tried; advice.c has the order of the lists.
 * A cause must account for half of the loads (or of the bytes); what is less is called mixed.
 */
#ifndef NM_REPORT_RULES_H
#define NM_REPORT_RULES_H

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "text.h"

/* Up to one without a name. */
extern const struct nm_rule nm_rules_of_memory[], nm_rules_of_searches[], nm_rules_of_conflicts[],
    nm_rules_of_libraries[], nm_rules_of_chains[], nm_rules_of_bytes[], nm_rules_of_residencies[];

enum {
	NM_HALF = 50,         /* percent */
	NM_STEADY = 90,       /* percent of the accesses of a place in the code */
	NM_SCATTERED = 20,    /* percent: below what 24 bytes in 32 of malloc waste */
	NM_MANY_BLOCKS = 100, /* a bucket of fewer is no collection */
	NM_PLAIN_ELEMENT = 16 /* bytes: an element that is larger is a structure */
};

static inline int is_word(const char *text, const char *word) { return text && word && !strcmp(text, word); }

static inline double percent(int64_t part, int64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

static inline int is_half(const struct nm_evidence *e, int64_t class)
{
	return percent(class, e->loads) >= NM_HALF;
}
static inline int is_heap(const struct nm_evidence *e) { return is_word(e->kind, "heap"); }
static inline int64_t mean_block(const struct nm_evidence *e) { return e->blocks ? e->bytes / e->blocks : 0; }

/* Blocks of one allocation, or that the program gave one name. */
static inline int is_collection(const struct nm_evidence *e) { return e->blocks >= NM_MANY_BLOCKS; }

/* Bytes of the object that are in use at a time, as far as known: a static array may be declared for far
 * larger problems, and blocks of a bucket may be freed and given out again. */
static inline int64_t in_use(const struct nm_evidence *e)
{
	const int64_t most = !e->touched && e->blocks > 1 && e->largest ? e->largest : e->bytes;

	return e->touched && e->touched < most ? e->touched : most;
}

/* How often all of it is loaded. */
static inline double load_passes(const struct nm_evidence *e)
{
	return in_use(e) > 0 ? (double)(e->loads * e->line_size) / (double)in_use(e) : 0;
}

/* Bytes of an element of the array that the object is, or 0. */
static inline int64_t element_bytes(const struct nm_evidence *e)
{
	struct nm_array_shape array = nm_array_shape_parse(e->type);

	return array.elements && !e->blocks ? e->bytes / array.elements : 0;
}

static inline int is_power_of_two(int64_t n) { return n > 0 && !(n & (n - 1)); }

static inline int wasteful(const struct nm_evidence *e) { return e->loads > 0 && e->waste >= NM_HALF; }

/* Whether a type is an array of numbers or characters, so that a step of a line or more is none of elements. */
int nm_is_plain_array(const char *type);

/* Several accesses of one line of code load an array of numbers in turn, as those of a stencil: no step leads from load
 * to load, but each access steps on by itself. */
static inline int loads_in_turn(const struct nm_evidence *e)
{
	return e->follow >= NM_STEADY && labs(e->stride) >= e->line_size && !is_half(e, e->covered) &&
	       e->type && nm_is_plain_array(e->type);
}

/* By how many bytes most loads step, else most accesses; 0: by no such. */
static inline int64_t step_of(const struct nm_evidence *e)
{
	if (e->load_follow >= NM_HALF)
		return e->load_step;
	return loads_in_turn(e) || (!e->walked && e->follow >= NM_HALF) ? e->stride : 0;
}

/* Each load, or each access, goes to another line by always the same step. */
static inline int strides(const struct nm_evidence *e)
{
	return e->line_size && labs(step_of(e)) >= e->line_size;
}

/* No step leads from most loads to the next: an index or a pointer does. */
static inline int follows_no_order(const struct nm_evidence *e) { return e->walked && !step_of(e); }

/* Most loads wait for the one before them, but for those that are covered, as the second line of a node is. */
static inline int dependent(const struct nm_evidence *e)
{
	return percent(e->dependent, e->loads - e->covered) >= NM_HALF && 4 * e->dependent >= e->loads;
}

/* The object, as a candidate layout names it: without the number that tells objects of one name apart. */
void nm_lay_out_object(const struct nm_evidence *e, FILE *out);

/* Whether a type is one of a language's library, whose layout the user cannot change. */
int nm_is_library_type(const char *type);

static inline int is_users(const struct nm_evidence *e) { return !e->type || !nm_is_library_type(e->type); }

/* Another object evicted most of the lines. */
static inline int has_rival(const struct nm_evidence *e)
{
	return e->evictor && !is_word(e->evictor, e->object);
}

/* Parts of the misses that are saved. */
static inline double saves_waste(const struct nm_evidence *e) { return e->waste / 100; }

/* "; its 128M are more pages of 4K than ...", where that is so. */
void nm_advise_huge_pages(const struct nm_evidence *e, FILE *out);

/* advice.c: "2M", "26K", "64 bytes". */
void nm_advise_bytes(int64_t bytes, FILE *out);

#endif
