/* SPDX-License-Identifier: MIT
 *
 * prefetch_stride.c - strides by instruction: a table has, for each instruction, its last address and the
 * step to it (Chen and Baer, "Effective Hardware-Based Data Prefetching for High-Performance Processors",
 * IEEE Transactions on Computers 44:5, 1995: the reference prediction table).
 *
 * Rules. An entry is found by the instruction modulo the entries; another instruction takes it over. A step
 * that equals the stride adds one to the entry's confidence, up to MOST; any other subtracts one, and at zero
 * becomes the stride. A repeated access to one address is no step. From confidence SURE on, a request names
 * the lines of `degree` addresses, from the `distance`-th step ahead on. A stride of less than a line counts
 * as one line then, since naming the same line would be useless.
 */
#include "prefetch.h"

enum { SURE = 2, MOST = 3 };

struct entry {
	uint64_t instruction, last, stride; /* stride: modulo 2^64 */
	unsigned confidence, taken;
};

static void learn_step(struct entry *e, uint64_t step)
{
	if (step == e->stride)
		e->confidence += e->confidence < MOST;
	else if (e->confidence)
		e->confidence--;
	if (!e->confidence)
		e->stride = step;
}

static void stride_train(struct nm_prefetch *p, const struct nm_demand *d)
{
	struct entry *e = (struct entry *)p->table + d->instruction % p->entries;
	const int64_t line = (int64_t)1 << p->line_shift;

	if (!e->taken || e->instruction != d->instruction) {
		*e = (struct entry){.instruction = d->instruction, .last = d->address, .taken = 1};
		return;
	}
	if (d->address == e->last)
		return;
	learn_step(e, d->address - e->last);
	e->last = d->address;
	if (e->confidence < SURE)
		return;

	int64_t step = (int64_t)e->stride;

	if (step < line && step > -line)
		step = step < 0 ? -line : line;
	for (uint64_t i = 0; i < p->degree; i++)
		nm_prefetch_name(p, d, (d->address + (uint64_t)step * (p->distance + i)) >> p->line_shift);
}

const struct nm_prefetcher nm_prefetcher_stride = {.name = "stride",
						   .summary = "where instructions step to next",
						   .degree = 2,
						   .distance = 1,
						   .entries = 256,
						   .entry_bytes = sizeof(struct entry),
						   .see = stride_train};
