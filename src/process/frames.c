/* SPDX-License-Identifier: MIT */
#include "frames.h"

#include <assert.h>
#include <string.h>

enum { LINEAR = 6 /* frames searched one by one, before a binary search */ };

int nm_frames_init(struct nm_frames *frames, uint64_t stack_low, uint64_t stack_end)
{
	memset(frames, 0, sizeof *frames);
	return nm_frames_add(frames, stack_low, stack_end);
}

void nm_frames_done(struct nm_frames *frames)
{
	for (size_t i = 0; i < frames->stacks.count; i++)
		nm_vec_free(&frames->stacks.at[i].frames);
	nm_vec_free(&frames->stacks);
	nm_vec_free(&frames->parts);
}

/* The first part that ends behind an address. */
static size_t part_behind(const struct nm_frames *frames, uint64_t address)
{
	size_t low = 0, high = frames->parts.count;

	while (low < high) {
		const size_t mid = (low + high) / 2;

		if (frames->parts.at[mid].end > address)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* The stack that holds an address, or NULL. */
static const struct nm_stack *holding_stack(const struct nm_frames *frames, uint64_t address)
{
	const size_t i = part_behind(frames, address);

	return i < frames->parts.count && frames->parts.at[i].low <= address
		   ? &frames->stacks.at[frames->parts.at[i].stack]
		   : NULL;
}

static int insert_part(struct nm_frames *frames, size_t at, struct nm_stack_part part)
{
	assert(at <= frames->parts.count);
	if (nm_vec_reserve(&frames->parts, 1))
		return NM_ENOMEM;
	memmove(frames->parts.at + at + 1, frames->parts.at + at,
		(frames->parts.count - at) * sizeof *frames->parts.at);
	frames->parts.at[at] = part;
	frames->parts.count++;
	return 0;
}

int nm_frames_add(struct nm_frames *frames, uint64_t low, uint64_t end)
{
	const size_t stack = frames->stacks.count;

	if (nm_vec_push(&frames->stacks, (struct nm_stack){.low = low, .end = end}))
		return NM_ENOMEM;
	for (size_t i = part_behind(frames, low); low < end; i++) {
		const int is_last = i == frames->parts.count || frames->parts.at[i].low >= end;
		const uint64_t free_end = is_last ? end : frames->parts.at[i].low;

		if (low < free_end && insert_part(frames, i++, (struct nm_stack_part){low, free_end, stack}))
			return NM_ENOMEM;
		low = is_last ? end : frames->parts.at[i].end;
	}
	return 0;
}

int nm_frames_switch(struct nm_frames *frames, uint64_t slot, uint64_t low, uint64_t end)
{
	const struct nm_stack *held = holding_stack(frames, slot);

	assert(frames->stacks.count > 0);
	if (!held && nm_frames_add(frames, low, end))
		return NM_ENOMEM;
	frames->current = held ? (size_t)(held - frames->stacks.at) : frames->stacks.count - 1;
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
	const struct nm_stack *stack = holding_stack(frames, address);

	return stack ? nm_stack_owner(stack, address) : (struct nm_frame_place){0};
}
