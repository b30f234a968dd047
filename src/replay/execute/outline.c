/* SPDX-License-Identifier: MIT */
#include "outline.h"

#include <string.h>

#include "user_calls.h"

/* ---- the outline ---- */

static int append(struct nm_outline *o, const uint64_t *words, size_t count)
{
	if (nm_vec_reserve(&o->words, count))
		return NM_ENOMEM;
	memcpy(o->words.at + o->words.count, words, count * sizeof *words);
	o->words.count += count;
	return 0;
}

/* Appends an execution of which only the call's or return's slot is needed. */
static int append_block(struct nm_outline *o, const uint64_t *words, size_t count)
{
	if (nm_vec_reserve(&o->words, count))
		return NM_ENOMEM;
	memset(o->words.at + o->words.count, 0, count * sizeof *words);
	o->words.at[o->words.count] = words[0];
	o->words.at[o->words.count + count - 1] = words[count - 1];
	o->words.count += count;
	return 0;
}

int nm_outline_flush(struct nm_outline *o)
{
	const struct nm_wire_ran ran = {o->dropped - o->held.instructions};
	int status = ran.instructions ? nm_wire_ran_encode(&o->words, &ran) : 0;

	if (!status && o->held.count)
		status = append_block(o, o->held.words, o->held.count);
	o->dropped = o->held.count = o->held.instructions = 0;
	return status;
}

int nm_outline_record(struct nm_outline *o, const uint64_t *words, size_t count)
{
	if (nm_wire_kind(*words) == NM_WIRE_RAN) {
		o->dropped += words[1];
		return 0;
	}
	return nm_outline_flush(o) ? NM_ENOMEM : append(o, words, count);
}

/* Leaves out the execution of n addresses that has just been. */
static void leave_out(struct nm_outline *o, const struct nm_replay *r, const uint64_t *header, size_t n,
		      uint32_t instructions)
{
	o->dropped += instructions;
	o->held.count = o->held.instructions = 0;
	if (nm_may_tail_call(r->running.last)) {
		o->held.words = header;
		o->held.count = n + 1;
		o->held.instructions = instructions;
	}
}

/* ---- executions ---- */

static int is_watched(const struct nm_replay *r)
{
	const struct nm_thread *t = r->running.thread;

	return t && (t->probe.context || t->signals.list.count);
}

static int changes_frame(const struct nm_decoded_block *decoded, size_t n)
{
	return n == nm_tables_of(decoded)->words && decoded->end != NM_WIRE_JUMP;
}

/* What may decode the block, find it for another call, or is watched. */
static int follow_slowly(struct nm_replay *r, const uint64_t *header, size_t n,
			 const struct nm_decoded_block *decoded, struct nm_error *err)
{
	const int needs_last = decoded == &nm_undecoded_block || nm_is_of_other_call(&r->running, decoded);
	const int watched = is_watched(r);
	const size_t known = r->decoder.decoded.count;
	const uint64_t clock = r->clock;
	struct nm_outline *o = r->outline;
	int status = nm_replay_single_step(r, header, n, err);

	if (status || !o)
		return status;
	decoded = r->decoded_blocks[nm_wire_arg(*header)];
	if (!needs_last && !watched && !is_watched(r) && known == r->decoder.decoded.count &&
	    !changes_frame(decoded, n)) {
		leave_out(o, r, header, n, (uint32_t)(r->clock - clock));
		return 0;
	}
	if (!needs_last)
		o->held.count = o->held.instructions = 0;
	status = nm_outline_flush(o);
	if (!status)
		status = watched ? append(o, header, n + 1) : append_block(o, header, n + 1);
	return status ? nm_fail_memory(err) : 0;
}

int nm_replay_follow(struct nm_replay *r, const uint64_t *header, size_t n, struct nm_error *err)
{
	const uint32_t id = nm_wire_arg(*header);
	struct nm_decoded_block *decoded = id < r->decoded_room ? r->decoded_blocks[id] : &nm_undecoded_block;
	struct nm_outline *o = r->outline;

	if (n + 1 != decoded->words || nm_is_of_other_call(&r->running, decoded) || is_watched(r))
		return follow_slowly(r, header, n, decoded, err);
	r->clock += decoded->instructions;
	if (!r->measuring)
		nm_replay_pass_over(r, decoded->instructions);
	r->running.last = decoded;
	if (decoded->end == NM_WIRE_JUMP) {
		if (o)
			leave_out(o, r, header, n, decoded->instructions);
		return 0;
	}
	if (o) {
		o->held.count = o->held.instructions = 0;
		if (nm_outline_flush(o) || append_block(o, header, n + 1))
			return nm_fail_memory(err);
	}
	return nm_replay_change_frame(r, decoded, header[n] + decoded->frame) ? nm_fail_memory(err) : 0;
}
