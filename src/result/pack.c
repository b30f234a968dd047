/* SPDX-License-Identifier: MIT
 *
 * pack.c - see pack.h. All arrays of a result, one behind the other, as one frame of zstd: counts are mostly
 * zeros and small numbers, and take a tenth.
 *
 * Results that hold arrays within arrays (coherence, further orders of threads, candidate layouts, machine
 * code, single events) stay as they are: they come from runs that ask for them, of few processes.
 */
#include "pack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { FAST = 1, MOST_ARRAYS = 27 + 4 * NM_MAX_LEVELS };

struct array {
	void **at;
	size_t bytes;
};

/* The arrays of a result, also those that are not there. */
static size_t list_arrays(struct nm_result *r, struct array *arrays)
{
#define ARRAY(field, count)                                    \
	{                                                      \
		(void **)&r->field, (count) * sizeof *r->field \
	}
	const struct array fixed[] = {
	    ARRAY(objects, r->object_count),
	    ARRAY(sites, r->site_count),
	    ARRAY(threads, r->thread_count),
	    ARRAY(attrs, r->attr_count),
	    ARRAY(regions, r->region_count),
	    ARRAY(contexts, r->context_count),
	    ARRAY(context_attrs, r->context_attr_count),
	    ARRAY(strides, r->stride_count),
	    ARRAY(chasing, r->attr_count),
	    ARRAY(walks, r->attr_count),
	    ARRAY(fields, r->field_count),
	    ARRAY(field_uses, r->field_use_count),
	    ARRAY(affinities, r->affinity_count),
	    ARRAY(lines, r->line_count),
	    ARRAY(undebugged, r->undebugged_count),
	    ARRAY(modules, r->module_count),
	    ARRAY(figures, r->figure_count),
	    ARRAY(distances, r->distance_count),
	    ARRAY(estimates, r->estimate_count),
	    ARRAY(samples, r->sample_count),
	    ARRAY(relocated, r->relocations * r->machine.count * r->attr_count),
	    ARRAY(pmu_samples, r->pmu_sample_count),
	    ARRAY(intervals, r->interval_count),
	    ARRAY(interval_levels, r->interval_count * r->machine.count),
	    ARRAY(interval_parts, r->interval_part_count),
	    ARRAY(stretches, r->stretch_count),
	    ARRAY(phases, r->phase_count),
	};
	size_t n = sizeof fixed / sizeof *fixed;

	memcpy(arrays, fixed, sizeof fixed);
	for (unsigned i = 0; i < r->machine.count; i++) {
		struct nm_result_level *level = &r->levels[i];
		const struct array of_level[] = {
		    {(void **)&level->counts, r->attr_count * sizeof *level->counts},
		    {(void **)&level->context_counts, r->context_attr_count * sizeof *level->context_counts},
		    {(void **)&level->extras, r->attr_count * sizeof *level->extras},
		    {(void **)&level->evictions, level->eviction_count * sizeof *level->evictions},
		};

		memcpy(arrays + n, of_level, sizeof of_level);
		n += sizeof of_level / sizeof *of_level;
	}
	assert(n <= MOST_ARRAYS);
	return n;
#undef ARRAY
}

static int is_nested(const struct nm_result *r)
{
	return r->coherence || r->schedules || r->layouts || r->code || r->events.rows ||
	       r->events.residencies;
}

int nm_result_pack(struct nm_result *r, struct nm_packed_result *ret)
{
	struct array arrays[MOST_ARRAYS];
	const size_t n = list_arrays(r, arrays);
	struct nm_packed_result packed = {.whole = n};
	uint8_t *whole, *to, *fitting;

	assert(n <= MOST_ARRAYS);
	if (is_nested(r))
		return 0;
	for (size_t i = 0; i < n; i++)
		packed.whole += *arrays[i].at ? arrays[i].bytes : 0;
	whole = to = malloc(packed.whole);
	packed.bytes = malloc(ZSTD_compressBound(packed.whole));
	if (!whole || !packed.bytes) {
		free(whole);
		free(packed.bytes);
		return NM_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) /* a byte for each: whether it is there */
		*to++ = *arrays[i].at != NULL;
	for (size_t i = 0; i < n; i++) {
		if (!*arrays[i].at)
			continue;
		memcpy(to, *arrays[i].at, arrays[i].bytes);
		to += arrays[i].bytes;
	}
	packed.count =
	    ZSTD_compress(packed.bytes, ZSTD_compressBound(packed.whole), whole, packed.whole, FAST);
	free(whole);
	if (ZSTD_isError(packed.count)) {
		free(packed.bytes);
		return NM_ENOMEM;
	}
	fitting = realloc(packed.bytes, packed.count);
	packed.bytes = fitting ? fitting : packed.bytes;
	nm_result_drop_arrays(r);
	*ret = packed;
	return 0;
}

int nm_result_unpack(struct nm_result *r, const struct nm_packed_result *packed)
{
	struct array arrays[MOST_ARRAYS];
	const size_t n = list_arrays(r, arrays);
	uint8_t *whole = packed->bytes ? malloc(packed->whole) : NULL, *from = whole + n;
	int status = 0;

	assert(n <= MOST_ARRAYS);
	if (!packed->bytes)
		return 0;
	if (!whole || ZSTD_decompress(whole, packed->whole, packed->bytes, packed->count) != packed->whole) {
		free(whole);
		return NM_ENOMEM;
	}
	for (size_t i = 0; i < n && !status; i++) {
		if (!whole[i])
			continue;
		assert(!*arrays[i].at);
		*arrays[i].at = malloc(arrays[i].bytes + 1);
		if (!*arrays[i].at) {
			status = NM_ENOMEM;
			break;
		}
		memcpy(*arrays[i].at, from, arrays[i].bytes);
		from += arrays[i].bytes;
	}
	free(whole);
	if (status)
		nm_result_drop_arrays(r);
	return status;
}

void nm_result_drop_arrays(struct nm_result *r)
{
	struct array arrays[MOST_ARRAYS];
	const size_t n = list_arrays(r, arrays);

	for (size_t i = 0; i < n; i++) {
		free(*arrays[i].at);
		*arrays[i].at = NULL;
	}
	r->figure_room = r->figure_count; /* what figures would need to grow from */
}

void nm_packed_result_done(struct nm_packed_result *packed)
{
	free(packed->bytes);
	*packed = (struct nm_packed_result){0};
}
