/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * call_stack.c - keeps each thread's stack of calls for sampled recordings, which do not send calls and
 * returns.
 *
 * Translated code pushes an entry at each call and drops the top one at each return, without a check. Jumps
 * over frames (longjmp, exceptions) leave stale entries: their slots are no higher than those of later
 * entries, or lie below the stack pointer. They are removed when the stack is read or full. A margin of
 * NM_CALL_MARGIN entries on both sides holds whatever is pushed or dropped wrongly between two checks.
 *
 * At samples, allocations and new mappings, NM_WIRE_FRAMES tells the reader which frames have ended and which
 * are new.
 */
#include "sampling.h"

#define FIRST_ROOM 4096u /* entries besides both margins */

struct entry {
	Addr slot, pc;
};
_Static_assert(sizeof(struct entry) == NM_CALL_BYTES, "as translated code writes it");

struct stack {
	struct entry *memory;
	UInt room;          /* entries besides both margins */
	struct entry *sent; /* what the reader knows */
	UInt sent_count, sent_room;
};

static struct stack *stacks; /* by Valgrind's thread number */

static struct entry *bottom_of(const struct stack *s) { return s->memory + NM_CALL_MARGIN; }

static void allocate_entries(struct stack *s, UInt room)
{
	s->memory = VG_(malloc)("nm.calls", (2 * (SizeT)NM_CALL_MARGIN + room) * sizeof(struct entry));
	s->room = room;
}

Addr nm_call_stack_new(ThreadId thread)
{
	if (stacks == NULL)
		stacks = VG_(calloc)("nm.calls", VG_N_THREADS, sizeof *stacks);
	if (stacks[thread].memory == NULL)
		allocate_entries(&stacks[thread], FIRST_ROOM);
	stacks[thread].sent_count = 0;
	return (Addr)bottom_of(&stacks[thread]);
}

/* Copies the entries that are not stale so that they end at `end`, which may be `top`. Returns the first. */
static struct entry *filter_stale(const struct stack *s, const struct entry *top, Addr lowest,
				  struct entry *end)
{
	Addr last = lowest - 1;

	while (top > bottom_of(s)) {
		top--;
		if (top->slot > last) {
			last = top->slot;
			*--end = *top;
		}
	}
	return end;
}

static Bool all_are_calls(const struct stack *s, const struct entry *top, Addr lowest)
{
	Addr last = lowest - 1;

	for (; top > bottom_of(s); last = top->slot)
		if ((--top)->slot <= last)
			return False;
	return True;
}

Addr nm_call_stack_make_room(ThreadId thread, Addr top_address)
{
	struct stack *s = &stacks[thread];
	struct entry *top = (struct entry *)top_address, *old = s->memory, *first;
	SizeT used;

	if (top < bottom_of(s))
		return (Addr)bottom_of(s);
	if (top <= bottom_of(s) + s->room)
		return top_address;
	first = filter_stale(s, top, 1, top);
	used = (SizeT)(top - first);
	if (used > s->room / 2)
		allocate_entries(s, 2 * (UInt)used);
	VG_(memmove)(bottom_of(s), first, used * sizeof(struct entry));
	if (s->memory != old)
		VG_(free)(old);
	return (Addr)(bottom_of(s) + used);
}

static void remember_entries(struct stack *s, UInt from, const struct entry *entries, UInt n)
{
	if (from + n > s->sent_room) {
		s->sent_room = 2 * (from + n);
		s->sent = VG_(realloc)("nm.sent", s->sent, s->sent_room * sizeof(struct entry));
	}
	VG_(memcpy)(s->sent + from, entries, n * sizeof(struct entry));
	s->sent_count = from + n;
}

/* Sends as many frames as fit one record. */
static UInt send_frames(Addr ended, const struct entry *entries, UInt n)
{
	UInt most = (NM_MARGIN_WORDS - 2) / 2, i;

	if (n > most)
		n = most;
	nm_record_begin(NM_WIRE_FRAMES, 0);
	nm_record_word(ended);
	for (i = 0; i < n; i++) {
		nm_record_word(entries[i].slot);
		nm_record_word(entries[i].pc);
	}
	nm_record_end();
	return n;
}

/* Replaces the frames that the reader knows. */
static void replace_frames(struct stack *s, const struct entry *frames, UInt n)
{
	UInt same, at;

	for (same = 0; same < n && same < s->sent_count; same++)
		if (frames[same].slot != s->sent[same].slot || frames[same].pc != s->sent[same].pc)
			break;
	if (same < s->sent_count || same < n) {
		at = same +
		     send_frames(same < s->sent_count ? s->sent[same].slot : 0, frames + same, n - same);
		while (at < n)
			at += send_frames(0, frames + at, n - at);
	}
	remember_entries(s, same, frames + same, n - same);
}

void nm_call_stack_tell(ThreadId thread, Addr top, Addr lowest)
{
	static struct entry *kept;
	static UInt kept_room;
	struct stack *s = &stacks[thread];
	const struct entry *first = bottom_of(s), *end = (const struct entry *)top;

	if (end < first)
		end = first;
	if (!all_are_calls(s, end, lowest)) {
		UInt n = (UInt)(end - first);

		if (n > kept_room) {
			kept_room = 2 * n;
			kept = VG_(realloc)("nm.kept", kept, kept_room * sizeof *kept);
		}
		first = filter_stale(s, end, lowest, kept + n);
		end = kept + n;
	}
	replace_frames(s, first, (UInt)(end - first));
}

static Addr top_of_running(ThreadId thread)
{
	Addr top;

	VG_(get_shadow_regs_area)
	(thread, (UChar *)&top, 1, offsetof(struct nm_sampled_thread, calls), sizeof top);
	return top;
}

void nm_call_stack_tell_now(void)
{
	ThreadId thread = VG_(get_running_tid)();

	if (nm_sampling && thread != VG_INVALID_THREADID && stacks != NULL && stacks[thread].memory != NULL)
		nm_call_stack_tell(thread, top_of_running(thread), VG_(get_SP)(thread));
}

void nm_call_stack_tell_return(Addr slot)
{
	ThreadId thread = VG_(get_running_tid)();
	struct stack *s = &stacks[thread];

	if (!nm_sampling)
		return;
	nm_call_stack_tell(thread, top_of_running(thread), slot);
	if (s->sent_count > 0 && s->sent[s->sent_count - 1].slot == slot) {
		send_frames(slot, NULL, 0);
		s->sent_count--;
	}
}
