/* SPDX-License-Identifier: MIT
 *
 * slice_counts.c - adds the counts of hierarchies of one machine, as slices of a run have, also from flat bytes: unit
 * by unit a head and the counters' arrays, then the walks of covered loads.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "hierarchy_priv.h"
#include "memstream.h"
#include "slices.h"

/* Only the last slice of a run has walks. */
static int add_walks(struct nm_coverage *to, const struct nm_walk_state *walks, size_t count)
{
	if (nm_coverage_reserve(to, count))
		return NM_ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (walks[i].loads)
			to->walks.at[i] = walks[i];
	return 0;
}

int nm_hierarchy_add_counts(struct nm_hierarchy *to, const struct nm_hierarchy *from)
{
	int status = 0;

	assert(unit_count(to) == unit_count(from) && !to->coverage == !from->coverage);
	for (unsigned u = 0; u < unit_count(to) && !status; u++)
		status = nm_counters_add(&to->units[u].counters, &from->units[u].counters);
	return status || !to->coverage
		   ? status
		   : add_walks(to->coverage, from->coverage->walks.at, from->coverage->walks.count);
}

enum { VERSION = 1 };

struct head {
	uint32_t version, loads, residency, pair, walk;
	uint32_t units, has_covered;
	uint32_t unused; /* 0 */
	uint64_t walks;
};

struct unit_head {
	uint64_t attrs, pairs, reads, writes, own[2];
};

static struct head head_of(const struct nm_hierarchy *h)
{
	return (struct head){.version = VERSION,
			     .loads = sizeof(struct nm_loads),
			     .residency = sizeof(struct nm_residency_sums),
			     .pair = sizeof(struct nm_pair),
			     .walk = sizeof(struct nm_walk_state),
			     .units = unit_count(h),
			     .has_covered = h->coverage != NULL};
}

static void encode_unit(const struct nm_counters *c, FILE *to)
{
	const struct unit_head head = {
	    c->attr_count, c->pair_count, c->reads, c->writes, {c->own_total[0], c->own_total[1]}};

	bytes_write(to, &head, 1, sizeof head);
	bytes_write(to, c->loads, c->attr_count, sizeof *c->loads);
	bytes_write(to, c->residencies, c->attr_count, sizeof *c->residencies);
	bytes_write(to, c->own, c->attr_count, sizeof *c->own);
	if (c->has_covered)
		bytes_write(to, c->covered, c->attr_count, sizeof *c->covered);
	for (size_t i = 0; i <= c->pair_mask; i++)
		if (c->pairs[i].count)
			bytes_write(to, &c->pairs[i], 1, sizeof c->pairs[i]);
}

int nm_hierarchy_encode_counts(const struct nm_hierarchy *h, void **ret_bytes, size_t *ret_count)
{
	struct head head = head_of(h);
	char *bytes = NULL;
	FILE *to = nm_memstream_open(&bytes, ret_count);

	if (!to)
		return NM_ENOMEM;
	head.walks = h->coverage ? h->coverage->walks.count : 0;
	bytes_write(to, &head, 1, sizeof head);
	for (unsigned u = 0; u < unit_count(h); u++)
		encode_unit(&h->units[u].counters, to);
	if (h->coverage)
		bytes_write(to, h->coverage->walks.at, head.walks, sizeof(struct nm_walk_state));
	if (nm_memstream_close(to, &bytes))
		return NM_ENOMEM;
	*ret_bytes = bytes;
	return 0;
}

/* Reads the counters of a unit, which are empty. */
static int decode_unit(struct nm_counters *c, const struct unit_head *head, struct nm_bytes *from)
{
	const uint64_t attrs = head->attrs;

	if (attrs > from->left / sizeof *c->loads)
		return NM_EINVAL;
	if (nm_counters_reserve(c, attrs))
		return NM_ENOMEM;
	c->reads = head->reads;
	c->writes = head->writes;
	memcpy(c->own_total, head->own, sizeof c->own_total);
	if (bytes_read(from, c->loads, attrs, sizeof *c->loads) ||
	    bytes_read(from, c->residencies, attrs, sizeof *c->residencies) ||
	    bytes_read(from, c->own, attrs, sizeof *c->own) ||
	    (c->has_covered && bytes_read(from, c->covered, attrs, sizeof *c->covered)))
		return NM_EINVAL;
	for (uint64_t i = 0; i < head->pairs; i++) {
		struct nm_pair pair;

		if (bytes_read(from, &pair, 1, sizeof pair) || !pair.count)
			return NM_EINVAL;
		if (nm_counters_add_pair(c, &pair))
			return NM_ENOMEM;
	}
	return 0;
}

static int add_unit(struct nm_counters *to, struct nm_bytes *from)
{
	struct unit_head head;
	struct nm_counters more = {0};
	int status = bytes_read(from, &head, 1, sizeof head);

	if (!status)
		status = nm_counters_init(&more, 0, to->has_covered);
	if (!status)
		status = decode_unit(&more, &head, from);
	if (!status)
		status = nm_counters_add(to, &more);
	nm_counters_done(&more);
	return status;
}

int nm_hierarchy_decode_counts(struct nm_hierarchy *to, const void *bytes, size_t count)
{
	struct nm_bytes from = {bytes, count};
	struct head head, mine = head_of(to);
	int status = bytes_read(&from, &head, 1, sizeof head);

	if (status)
		return status;
	mine.walks = head.walks;
	if (memcmp(&head, &mine, sizeof head))
		return NM_EINVAL;
	for (unsigned u = 0; u < unit_count(to) && !status; u++)
		status = add_unit(&to->units[u].counters, &from);
	if (!status &&
	    (head.walks > from.left / sizeof(struct nm_walk_state) ||
	     from.left != head.walks * sizeof(struct nm_walk_state) || (head.walks && !to->coverage)))
		status = NM_EINVAL;
	if (!status && head.walks) {
		struct nm_walk_state *walks = malloc(from.left);

		status = walks ? bytes_read(&from, walks, head.walks, sizeof *walks) : NM_ENOMEM;
		if (!status)
			status = add_walks(to->coverage, walks, head.walks);
		free(walks);
	}
	return status;
}
