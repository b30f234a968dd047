/* SPDX-License-Identifier: MIT
 *
 * monitor.c - assembles events for a monitor; see monitor.h.
 */
#include "monitor.h"

#include "general.h"
#include "pages.h"

const char *const nm_event_names[] = {"hit", "miss", "load", "replace", "invalidate", "prefetch", NULL};
const char *const nm_cause_names[NM_CAUSES] = {"",     "inclusion",       "write",
					       "read", "synchronisation", "non-temporal"};

void nm_event_sink_begin(struct nm_event_sink *s, const struct nm_ref *r, uint64_t address, uint32_t bytes)
{
	s->asked.address = address;
	s->asked.bytes = bytes;
	s->asked.attr = r->attr;
	s->uncounted = !r->weight;
}

void nm_event_sink_emit(const struct nm_cache *c, enum nm_event_kind kind, uint64_t line, uint32_t times,
			uint32_t victim)
{
	struct nm_event e = c->sink->asked;

	if (c->sink->uncounted && !c->sink->watches_uncounted)
		return;
	e.line = line << c->line_shift;
	if (c->spec.pages) {
		e.line = page_origin(e.line);
		e.address = page_origin(e.address);
	}
	e.set = c->general ? nm_general_set(c, line) : nm_cache_set(c, line);
	e.times = c->sink->uncounted ? 0 : times;
	e.victim = victim;
	e.kind = (uint8_t)kind;
	e.level = c->level;
	e.core = c->core;
	e.last = !c->next;
	c->sink->monitor.event(c->sink->monitor.self, &e);
}
