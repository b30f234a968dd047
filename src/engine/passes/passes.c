/* SPDX-License-Identifier: MIT
 *
 * passes.c - the table of passes, and calls to all of them; or to the caller's own pass alone.
 */
#include <assert.h>
#include <stdlib.h>

#include "pass.h"

static const struct nm_pass *const table[] = {
    &nm_pass_cache,     &nm_pass_fields,      &nm_pass_strides, &nm_pass_distances,
    &nm_pass_estimates, &nm_pass_relocations, &nm_pass_pmu,
};

enum { PASSES = sizeof table / sizeof *table };
_Static_assert(sizeof table / sizeof *table <= NM_MAX_PASSES, "there is room for all passes");

/* Of a process whose caches are those of one machine for all. */
static const struct nm_pass *const table_of_member[] = {&nm_pass_strides, &nm_pass_distances,
							&nm_pass_estimates};

static const struct nm_pass *const *table_of(const struct nm_engine_options *options, unsigned *ret_count)
{
	if (options->one_machine) {
		*ret_count = sizeof table_of_member / sizeof *table_of_member;
		return table_of_member;
	}
	*ret_count = options->pass ? 1 : PASSES;
	return options->pass ? &options->pass : table;
}

/* Calls one callback of each pass that is on and has it, until one fails. */
#define CALL_ALL(passes, callback, ...)                                                                   \
	({                                                                                                \
		int status_ = 0;                                                                          \
		for (unsigned i_ = 0; i_ < (passes)->count && !status_; i_++)                             \
			if ((passes)->self[i_] && (passes)->table[i_]->callback)                          \
				status_ = (passes)->table[i_]->callback((passes)->self[i_], __VA_ARGS__); \
		status_;                                                                                  \
	})

unsigned nm_passes_need(const struct nm_engine_options *options)
{
	unsigned count, needs = 0;
	const struct nm_pass *const *of = table_of(options, &count);

	for (unsigned i = 0; i < count; i++)
		needs |= of[i]->needs ? of[i]->needs(options) : 0;
	return needs;
}

int nm_passes_make(struct nm_passes *p, const struct nm_pass_setup *setup, struct nm_error *err)
{
	int status = 0;

	assert(!p->count);
	p->needs = nm_passes_need(setup->options);
	p->table = table_of(setup->options, &p->count);
	for (unsigned i = 0; i < p->count && !status; i++)
		status = p->table[i]->make(&p->self[i], setup, err);
	return status;
}

static enum nm_pass_part part_of(const struct nm_pass *pass)
{
	return pass->separate ? NM_PASSES_SEPARATE : NM_PASSES_TOGETHER;
}

int nm_passes_have_separate(const struct nm_passes *p)
{
	for (unsigned i = 0; i < p->count; i++)
		if (p->self[i] && p->table[i]->separate)
			return 1;
	return 0;
}

int nm_passes_batch(struct nm_passes *p, enum nm_pass_part part, const struct nm_pass_batch *batch)
{
	int status = 0;

	assert(batch->count <= NM_BATCH);
	for (unsigned i = 0; i < p->count && !status; i++)
		if (p->self[i] && p->table[i]->batch && part_of(p->table[i]) & part)
			status = p->table[i]->batch(p->self[i], batch);
	return status;
}

int nm_passes_memory(struct nm_passes *p, const struct nm_range *ranges, size_t count)
{
	assert(ranges || !count);
	return CALL_ALL(p, memory, ranges, count);
}

int nm_passes_keys(struct nm_passes *p, const struct nm_attribution *attributions, size_t count)
{
	assert(attributions || !count);
	return CALL_ALL(p, keys, attributions, count);
}

int nm_passes_sample(struct nm_passes *p, struct nm_engine *program, const struct nm_pass_sample *sample)
{
	return CALL_ALL(p, sample, program, sample);
}

void nm_passes_released(struct nm_passes *p, uint64_t address, uint64_t size, uint32_t object)
{
	for (unsigned i = 0; i < p->count; i++)
		if (p->self[i] && p->table[i]->released)
			p->table[i]->released(p->self[i], address, size, object);
}

int nm_passes_retired(struct nm_passes *p, struct nm_engine *program, uint64_t batch)
{
	return CALL_ALL(p, retired, program, batch);
}

int nm_passes_reuse(struct nm_passes *p, const struct nm_reuse_sample *sample)
{
	return CALL_ALL(p, reuse, sample);
}

int nm_passes_ending(struct nm_passes *p, struct nm_engine *program) { return CALL_ALL(p, ending, program); }

static void free_pass(struct nm_passes *p, unsigned i)
{
	if (p->self[i])
		p->table[i]->free(p->self[i]);
	p->self[i] = NULL;
}

int nm_passes_finish(struct nm_passes *p, const struct nm_pass_merge *merge, struct nm_result *result)
{
	int status = 0;

	for (unsigned i = 0; i < p->count && !status; i++) {
		if (p->self[i] && p->table[i]->finish)
			status = p->table[i]->finish(p->self[i], merge, result);
		free_pass(p, i);
	}
	return status;
}

void nm_passes_free(struct nm_passes *p)
{
	for (unsigned i = p->count; i-- > 0;)
		free_pass(p, i);
}

/* ---- pass: helpers of passes (pass.h): sums by key become sums of the result ---- */

uint64_t *nm_pass_sum(const uint32_t *to, size_t rows, const uint64_t *sums, size_t count, size_t width)
{
	uint64_t *merged = calloc((rows + 1) * width, sizeof *merged);

	assert(width > 0);
	assert(width > 0);
	for (size_t i = 1; merged && i < count; i++) {
		assert(to[i] <= rows);
		for (size_t k = 0; k < width; k++)
			merged[to[i] * width + k] += sums[i * width + k];
	}
	return merged;
}

int nm_pass_counts_key(const struct nm_pass_merge *merge, const struct nm_result *result, size_t key)
{
	assert(merge->keys[key] < result->attr_count);
	return result->objects[result->attrs[merge->keys[key]].object].kind != NM_OBJECT_UNMEASURED;
}

uint64_t *nm_pass_references(const struct nm_pass_merge *merge, const struct nm_result *result)
{
	uint64_t *references = calloc(result->attr_count + 1, sizeof *references);
	const size_t attrs = nm_program_attributions(merge->program);

	for (uint32_t i = 1; references && i < attrs; i++)
		if (result->objects[result->attrs[merge->attrs[i]].object].kind != NM_OBJECT_CODE)
			references[merge->attrs[i]] += nm_program_references(merge->program, i);
	return references;
}
