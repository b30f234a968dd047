/* SPDX-License-Identifier: MIT
 *
 * pass.c - helpers of passes (pass.h): sums by key become sums of the result.
 */
#include "pass.h"

#include <stdlib.h>

uint64_t *nm_pass_sum(const uint32_t *to, size_t rows, const uint64_t *sums, size_t count, size_t width)
{
	uint64_t *merged = calloc((rows + 1) * width, sizeof *merged);

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
