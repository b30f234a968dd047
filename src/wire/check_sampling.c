/* SPDX-License-Identifier: MIT */
#include "check_sampling.h"

static int begin_thread(struct wire_sampling_check *c, const struct nm_wire_record *r, uint32_t thread,
			struct nm_error *err)
{
	struct nm_wire_sampling s;
	int status = nm_wire_sampling_decode(r, &s, err);

	if (status)
		return status;
	if (c->options.rate || thread)
		return nm_wire_fault(r, err, "late or second start of sampling");
	c->options = s;
	return 0;
}

static int advance_clock(struct wire_sampling_check *c, uint64_t clock, const struct nm_wire_record *r,
			 struct nm_error *err)
{
	if (clock < c->clock)
		return nm_wire_fault(r, err, "clock that runs backwards");
	c->clock = clock;
	return 0;
}

static int take_sample(struct wire_sampling_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_sample s;
	int status = nm_wire_sample_decode(r, &s, err);

	if (status || (status = advance_clock(c, s.clock, r, err)))
		return status;
	if (s.clock < c->next_sample)
		return nm_wire_fault(r, err, "second sample of a reference");
	c->next_sample = s.clock + 1;
	return nm_map_put(&c->open, s.clock, s.address / c->options.line) ? nm_fail_memory(err) : 0;
}

static int end_sample(struct wire_sampling_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_reuse u;
	int status = nm_wire_reuse_decode(r, &u, err);
	uint64_t line, first, last;

	if (status || (status = advance_clock(c, u.clock, r, err)))
		return status;
	line = nm_map_get(&c->open, u.sample, UINT64_MAX);
	first = u.address / c->options.line;
	last = (u.address + u.code.bytes - 1) / c->options.line;
	if (line == UINT64_MAX)
		return nm_wire_fault(r, err, "no such open sample");
	if (line < first || line > last)
		return nm_wire_fault(r, err, "another line than the sample's");
	nm_map_remove(&c->open, u.sample);
	return 0;
}

static int tell_time(struct wire_sampling_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_clock t;
	int status = nm_wire_clock_decode(r, &t, err);

	return status ? status : advance_clock(c, t.references, r, err);
}

int wire_sampling_check(struct wire_sampling_check *c, const struct nm_wire_record *r, uint32_t thread,
			struct nm_error *err)
{
	struct nm_wire_frames frames;

	if (r->kind == NM_WIRE_SAMPLING)
		return begin_thread(c, r, thread, err);
	if (!c->options.rate)
		return nm_wire_fault(r, err, "no start of sampling");
	if (!thread && r->kind != NM_WIRE_CLOCK)
		return nm_wire_fault(r, err, "no thread runs");
	switch (r->kind) {
	case NM_WIRE_SAMPLE: return take_sample(c, r, err);
	case NM_WIRE_REUSE: return end_sample(c, r, err);
	case NM_WIRE_FRAMES: return nm_wire_frames_decode(r, &frames, err);
	default: return tell_time(c, r, err);
	}
}

void wire_sampling_check_done(struct wire_sampling_check *c) { nm_map_done(&c->open); }
