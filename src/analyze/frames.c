/* SPDX-License-Identifier: MIT
 *
 * frames.c - see frames.h.
 */
#include "frames.h"

#include <string.h>

int nm_frames_init(struct nm_frames *frames, uint64_t stack_low, uint64_t stack_end)
{
	memset(frames, 0, sizeof *frames);
	return nm_vec_push(&frames->stacks, (struct nm_stack){.low = stack_low, .end = stack_end});
}

void nm_frames_done(struct nm_frames *frames)
{
	for (size_t i = 0; i < frames->stacks.count; i++)
		nm_vec_free(&frames->stacks.at[i].frames);
	nm_vec_free(&frames->stacks);
}

int nm_frames_switch(struct nm_frames *frames, uint64_t low, uint64_t end)
{
	for (size_t i = 0; i < frames->stacks.count; i++)
		if (frames->stacks.at[i].low == low && frames->stacks.at[i].end == end) {
			frames->current = i;
			return 0;
		}
	if (nm_vec_push(&frames->stacks, (struct nm_stack){.low = low, .end = end}))
		return NM_ENOMEM;
	frames->current = frames->stacks.count - 1;
	return 0;
}

/* Slots fall from the oldest frame to the newest: the owner of an address is the caller in the newest frame
 * whose slot is not above it. */
static uint32_t owner_in(const struct nm_stack *s, uint64_t address)
{
	size_t low = 0, high = s->frames.count; /* the first frame with slot <= address */

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->frames.at[mid].slot <= address)
			high = mid;
		else
			low = mid + 1;
	}
	return low > 0 && low < s->frames.count ? s->frames.at[low].caller : 0;
}

uint32_t nm_frames_owner(const struct nm_frames *frames, uint64_t address)
{
	for (size_t i = 0; i < frames->stacks.count; i++)
		if (nm_stack_holds(&frames->stacks.at[i], address))
			return owner_in(&frames->stacks.at[i], address);
	return 0;
}

size_t nm_frames_chain(struct nm_frames *frames, uint64_t *ret_pcs, size_t max)
{
	const struct nm_stack *s = nm_frames_stack(frames);
	size_t n = 0;

	for (size_t k = s->frames.count; k-- > 0 && n < max;)
		ret_pcs[n++] = s->frames.at[k].call_pc;
	return n;
}
