/* SPDX-License-Identifier: MIT
 *
 * frames.c - see frames.h.
 */
#include "frames.h"

#include <string.h>

enum { LINEAR = 6 /* frames searched one by one, before a binary search */ };

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
 * whose slot is not above it, and its frame ends above the slot before. That is usually one of the last
 * few. */
struct nm_frame_place nm_stack_owner(const struct nm_stack *s, uint64_t address)
{
	const struct nm_frame *frames = s->frames.at;
	size_t low = 0, high = s->frames.count; /* the first frame with slot <= address */

	for (unsigned i = 0; i < LINEAR && low < high; i++) {
		if (frames[high - 1].slot > address)
			low = high;
		else
			high--;
	}
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (frames[mid].slot <= address)
			high = mid;
		else
			low = mid + 1;
	}
	if (!low || low == s->frames.count)
		return (struct nm_frame_place){0};
	return (struct nm_frame_place){frames[low].caller, frames[low].slot, frames[low - 1].slot + 8};
}

struct nm_frame_place nm_frames_owner(const struct nm_frames *frames, uint64_t address)
{
	for (size_t i = 0; i < frames->stacks.count; i++)
		if (nm_stack_holds(&frames->stacks.at[i], address))
			return nm_stack_owner(&frames->stacks.at[i], address);
	return (struct nm_frame_place){0};
}
