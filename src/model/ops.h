/* SPDX-License-Identifier: MIT
 *
 * ops.h - lists of operations, which pass from one level to the next: fills and settlements.
 */
#ifndef NM_OPS_H
#define NM_OPS_H

#include <string.h>

#include "cache.h"

static inline void free_ops(struct nm_ops *ops)
{
	nm_vec_free(&ops->list);
	nm_vec_free(&ops->masks);
}

/* Empties the list and makes room.  0 or NM_ENOMEM. */
static inline int clear_ops(struct nm_ops *ops, unsigned words, size_t room)
{
	ops->list.count = ops->masks.count = 0;
	ops->fills = 0;
	if (nm_vec_reserve(&ops->list, room))
		return NM_ENOMEM;
	return words > 1 ? nm_vec_reserve(&ops->masks, room * words) : 0;
}

/* Appends; room was reserved.  `mask` has the words of the level that takes ops; NULL: no bytes. */
static inline void add_op(struct nm_ops *ops, struct nm_op op, const uint64_t *mask, unsigned words)
{
	op.time = ops->fills;
	ops->fills += !(op.flags & NM_OP_SETTLE);
	if (words > 1) {
		uint64_t *to = ops->masks.at + ops->list.count * words;
		if (mask)
			memcpy(to, mask, words * sizeof *mask);
		else
			memset(to, 0, words * sizeof *mask);
	} else if (mask) {
		op.mask = mask[0];
	}
	ops->list.at[ops->list.count++] = op;
}

/* A mask of an upper level's line as part of the line of a lower one that holds it. */
static inline void place_mask(const struct nm_cache *upper, const struct nm_cache *lower, uint64_t line,
			      const uint64_t *mask, uint64_t *ret_mask)
{
	uint64_t byte = (line << upper->line_shift) & (lower->spec.line - 1);

	memset(ret_mask, 0, lower->words * sizeof *ret_mask);
	for (unsigned w = 0; w < upper->words; w++)
		ret_mask[byte / 64 + w] = mask[w] << byte % 64;
}

static inline uint64_t lower_line(const struct nm_cache *upper, const struct nm_cache *lower, uint64_t line)
{
	return line >> (lower->line_shift - upper->line_shift);
}

/* Puts n lists, each in the order of the references, into one.  0 or NM_ENOMEM. */
static inline int nm_ops_merge(struct nm_ops *into, const struct nm_ops *const *from, unsigned n,
			       unsigned words)
{
	size_t at[3] = {0}, total = 0;

	for (unsigned s = 0; s < n; s++)
		total += from[s]->list.count;
	if (clear_ops(into, words, total))
		return NM_ENOMEM;
	while (into->list.count < total) {
		unsigned best = n;
		for (unsigned s = 0; s < n; s++)
			if (at[s] < from[s]->list.count &&
			    (best == n ||
			     from[s]->list.at[at[s]].order < from[best]->list.at[at[best]].order))
				best = s;
		const uint64_t *mask = words > 1 ? from[best]->masks.at + at[best] * words : NULL;
		add_op(into, from[best]->list.at[at[best]++], mask, words);
	}
	return 0;
}

#endif
