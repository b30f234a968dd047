/* SPDX-License-Identifier: MIT
 *
 * prefetch_stream.c - streams of lines, up or down, whichever code makes the requests (as described in
 * Srinath, Mutlu, Kim and Patt, "Feedback Directed Prefetching", HPCA 2007, section 2.1, after Tendler et
 * al., "POWER4 System Microarchitecture", 2002).
 *
 * Rules. A miss that belongs to no stream begins one, in place of the least recently touched. A further miss
 * within NEAR lines of its latest gives it a direction, one more in that direction starts to prefetch, and a
 * miss the other way reverses it. An active stream reaches from the line requested last to the farthest line
 * named. A request for a line in between, hit or miss, moves its begin there, and its end by up to `degree`
 * lines, within `distance` lines of the begin and within the page.
 *
 * In the paper the begin moves by `degree` lines at a time; here it follows the program, which needs no rule
 * for lines that are skipped.
 */
#include "prefetch.h"

enum { NEAR = 16 };

enum state { FREE, BEGUN, DIRECTED, FOLLOWED };

struct stream {
	enum state state;
	int down;
	uint64_t begin, end; /* lines; before the stream is active, begin is the latest miss */
	uint64_t touched;
};

/* How many lines `to` is ahead of `from` in the stream's direction; a huge number: it is behind. */
static uint64_t lines_ahead(const struct stream *s, uint64_t from, uint64_t to)
{
	return s->down ? from - to : to - from;
}

static void extend_stream(struct nm_prefetch *p, struct stream *s, const struct nm_demand *d)
{
	for (uint32_t i = 0; i < p->degree; i++) {
		uint64_t line = s->down ? s->end - 1 : s->end + 1;

		if (lines_ahead(s, s->begin, line) > p->distance || !nm_prefetch_name(p, d, line))
			break;
		s->end = line;
	}
}

/* A miss near a stream that is not active yet. */
static void train_stream(struct nm_prefetch *p, struct stream *s, const struct nm_demand *d, uint64_t line)
{
	const int down = line < s->begin;

	if (line == s->begin)
		return;
	s->state = s->state == DIRECTED && down == s->down ? FOLLOWED : DIRECTED;
	s->down = down;
	s->begin = s->end = line;
	if (s->state == FOLLOWED)
		extend_stream(p, s, d);
}

static int is_near(const struct stream *s, uint64_t line)
{
	return s->state != FREE && s->state != FOLLOWED && line - s->begin + NEAR <= 2 * NEAR;
}

static void stream_train(struct nm_prefetch *p, const struct nm_demand *d)
{
	struct stream *s = p->table, *oldest = s;
	const uint64_t line = d->address >> p->line_shift;

	p->clock++;
	for (uint32_t i = 0; i < p->entries; i++)
		if (s[i].state == FOLLOWED &&
		    lines_ahead(&s[i], s[i].begin, line) <= lines_ahead(&s[i], s[i].begin, s[i].end)) {
			s[i].touched = p->clock;
			s[i].begin = line;
			extend_stream(p, &s[i], d);
			return;
		}
	if (!d->missed)
		return;
	for (uint32_t i = 0; i < p->entries; i++) {
		if (is_near(&s[i], line)) {
			s[i].touched = p->clock;
			train_stream(p, &s[i], d, line);
			return;
		}
		if (s[i].touched < oldest->touched)
			oldest = &s[i];
	}
	*oldest = (struct stream){.state = BEGUN, .begin = line, .touched = p->clock};
}

const struct nm_prefetcher nm_prefetcher_stream = {.name = "stream",
						   .summary = "lines of streams up or down",
						   .degree = 2,
						   .distance = 16,
						   .entries = 32,
						   .entry_bytes = sizeof(struct stream),
						   .see = stream_train};
