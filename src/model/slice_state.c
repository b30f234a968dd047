/* SPDX-License-Identifier: MIT
 *
 * slice_state.c - what the levels of a depth hold between two slices, and its flat bytes: a head with the sizes of
 * all structures, then level by level its figures, lines, shadow cache and lines seen, then the coverage.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "lazy_array.h"
#include "memstream.h"
#include "slices_priv.h"

struct nm_run_slice_line *run_slice_level_find(const struct nm_run_slice_level *l, uint64_t line)
{
	struct nm_run_slice_line *at = run_slice_set(l, line);

	for (unsigned i = 0; i < l->held[line % l->sets]; i++, at++)
		if (at->line == line)
			return at;
	return NULL;
}

void run_slice_level_remove(struct nm_run_slice_level *l, struct nm_run_slice_line *at)
{
	uint8_t *held = &l->held[at->line % l->sets];
	const struct nm_run_slice_line *end = run_slice_set(l, at->line) + (*held)--;

	memmove(at, at + 1, (size_t)(end - at - 1) * sizeof *at);
}

void run_slice_level_add(struct nm_run_slice_level *l, uint64_t line, const struct nm_residency *residency)
{
	uint8_t *held = &l->held[line % l->sets];

	assert(*held < l->ways);
	run_slice_set(l, line)[*held] = (struct nm_run_slice_line){line, *residency};
	run_slice_set(l, line)[(*held)++].residency.below = 0;
}

static int level_init(struct nm_run_slice_level *l, const struct nm_cache *c)
{
	*l = (struct nm_run_slice_level){
	    .sets = c->spec.sets, .ways = c->spec.ways, .capacity = c->spec.sets * c->spec.ways};
	l->lines = nm_lazy_array(l->capacity, sizeof *l->lines);
	l->held = nm_lazy_array(l->sets, sizeof *l->held);
	return l->lines && l->held ? 0 : NM_ENOMEM;
}

static struct nm_coverage *coverage_like(const struct nm_coverage *of)
{
	struct nm_coverage *f = malloc(sizeof *f);

	if (f && nm_coverage_init(f, of->by, of->shift, of->tlb_sets * NM_TLB_WAYS, 1)) {
		nm_coverage_done(f);
		free(f);
		return NULL;
	}
	return f;
}

struct nm_run_slice_state *nm_run_slice_state_new(const struct nm_run_slice *s, unsigned depth)
{
	struct nm_run_slice_state *state = calloc(1, sizeof *state);
	int status = 0;

	assert(depth < s->depths);
	if (!state)
		return NULL;
	state->depth = depth;
	state->count = unit_count(s->hierarchy);
	for (unsigned u = 0; u < state->count && !status; u++)
		if (s->units[u].depth == depth)
			status = level_init(&state->levels[u], s->units[u].cache);
	if (!status && s->hierarchy->coverage && !depth) {
		state->coverage = coverage_like(s->hierarchy->coverage);
		status = state->coverage ? 0 : NM_ENOMEM;
	}
	if (!status)
		return state;
	nm_run_slice_state_free(state);
	return NULL;
}

void nm_run_slice_state_free(struct nm_run_slice_state *state)
{
	if (!state)
		return;
	for (unsigned u = 0; u < state->count; u++) {
		struct nm_run_slice_level *l = &state->levels[u];

		nm_lazy_array_free(l->lines, l->capacity, sizeof *l->lines);
		nm_lazy_array_free(l->held, l->sets, sizeof *l->held);
		nm_vec_free(&l->shadow);
		nm_map_done(&l->seen);
	}
	if (state->coverage)
		nm_coverage_done(state->coverage);
	free(state->coverage);
	free(state);
}

/* ---- flat bytes ---- */

enum { VERSION = 1 };

/* Of the structures that follow it; and of the caches. */
struct head {
	uint32_t version, line, slot, page, tlb_set, walk;
	uint32_t depth, count, has_coverage, tlb_sets;
};

struct level_head {
	uint64_t sets, ways, lines, shadow, seen;
};

static struct head head_of(const struct nm_run_slice_state *state)
{
	return (struct head){.version = VERSION,
			     .line = sizeof(struct nm_run_slice_line),
			     .slot = sizeof(struct nm_map_slot),
			     .page = sizeof(struct nm_page_stream),
			     .tlb_set = sizeof(struct nm_tlb_set),
			     .walk = sizeof(struct nm_walk_state),
			     .depth = state->depth,
			     .count = state->count,
			     .has_coverage = state->coverage != NULL,
			     .tlb_sets = state->coverage ? state->coverage->tlb_sets : 0};
}

static void encode_level(const struct nm_run_slice_level *l, FILE *to)
{
	struct level_head head = {
	    .sets = l->sets, .ways = l->ways, .shadow = l->shadow.count, .seen = l->seen.count};
	struct nm_map_slot seen;

	for (uint64_t set = 0; set < l->sets; set++)
		head.lines += l->held[set];
	bytes_write(to, &head, 1, sizeof head);
	for (uint64_t set = 0; set < l->sets; set++)
		bytes_write(to, l->lines + set * l->ways, l->held[set], sizeof *l->lines);
	bytes_write(to, l->shadow.at, l->shadow.count, sizeof *l->shadow.at);
	for (size_t i = 0; nm_map_next(&l->seen, &i, &seen.key, &seen.value);)
		bytes_write(to, &seen, 1, sizeof seen);
}

static void encode_coverage(const struct nm_coverage *f, FILE *to)
{
	const uint64_t walks = f->walks.count;

	bytes_write(to, &walks, 1, sizeof walks);
	bytes_write(to, f->pages, 1, sizeof f->pages);
	bytes_write(to, f->tlbs, f->tlb_sets, sizeof *f->tlbs);
	bytes_write(to, f->walks.at, walks, sizeof *f->walks.at);
}

int nm_run_slice_state_encode(const struct nm_run_slice_state *state, void **ret_bytes, size_t *ret_count)
{
	const struct head head = head_of(state);
	char *bytes = NULL;
	FILE *to = nm_memstream_open(&bytes, ret_count);

	if (!to)
		return NM_ENOMEM;
	bytes_write(to, &head, 1, sizeof head);
	for (unsigned u = 0; u < state->count; u++)
		encode_level(&state->levels[u], to);
	if (state->coverage)
		encode_coverage(state->coverage, to);
	if (nm_memstream_close(to, &bytes))
		return NM_ENOMEM;
	*ret_bytes = bytes;
	return 0;
}

static int decode_lines(struct nm_run_slice_level *l, uint64_t count, struct nm_bytes *from)
{
	memset(l->held, 0, l->sets * sizeof *l->held);
	for (uint64_t i = 0; i < count; i++) {
		struct nm_run_slice_line line;

		if (bytes_read(from, &line, 1, sizeof line) || l->held[line.line % l->sets] == l->ways)
			return NM_EINVAL;
		run_slice_level_add(l, line.line, &line.residency);
	}
	return 0;
}

static int decode_seen(struct nm_map *seen, uint64_t count, struct nm_bytes *from)
{
	nm_map_done(seen);
	for (uint64_t i = 0; i < count; i++) {
		struct nm_map_slot slot;

		if (bytes_read(from, &slot, 1, sizeof slot) || slot.value >> NM_RUN_SLICE_SEEN)
			return NM_EINVAL;
		if (nm_map_put(seen, slot.key, slot.value))
			return NM_ENOMEM;
	}
	return 0;
}

static int decode_level(struct nm_run_slice_level *l, struct nm_bytes *from)
{
	struct level_head head;
	int status;

	if (bytes_read(from, &head, 1, sizeof head) || head.sets != l->sets || head.ways != l->ways ||
	    head.lines > l->capacity || head.shadow > l->capacity)
		return NM_EINVAL;
	if (!l->sets)
		return head.seen ? NM_EINVAL : 0;
	status = decode_lines(l, head.lines, from);
	l->shadow.count = 0;
	if (!status)
		status = nm_vec_reach(&l->shadow, head.shadow);
	if (!status)
		status = bytes_read(from, l->shadow.at, head.shadow, sizeof *l->shadow.at);
	return status ? status : decode_seen(&l->seen, head.seen, from);
}

static int decode_coverage(struct nm_coverage *f, struct nm_bytes *from)
{
	uint64_t walks;

	if (bytes_read(from, &walks, 1, sizeof walks) || bytes_read(from, f->pages, 1, sizeof f->pages) ||
	    bytes_read(from, f->tlbs, f->tlb_sets, sizeof *f->tlbs) ||
	    walks > from->left / sizeof *f->walks.at)
		return NM_EINVAL;
	f->walks.count = 0;
	if (nm_coverage_reserve(f, walks))
		return NM_ENOMEM;
	return bytes_read(from, f->walks.at, walks, sizeof *f->walks.at);
}

int nm_run_slice_state_decode(struct nm_run_slice_state *state, const void *bytes, size_t count)
{
	const struct head mine = head_of(state);
	struct nm_bytes from = {bytes, count};
	struct head head;
	int status = bytes_read(&from, &head, 1, sizeof head);

	if (status || memcmp(&head, &mine, sizeof head))
		return NM_EINVAL;
	for (unsigned u = 0; u < state->count && !status; u++)
		status = decode_level(&state->levels[u], &from);
	if (!status && state->coverage)
		status = decode_coverage(state->coverage, &from);
	return status || !from.left ? status : NM_EINVAL;
}
