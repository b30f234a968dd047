/* SPDX-License-Identifier: MIT
 *
 * validate.c - what holds between batches: for tests, and in builds with checks. A level has each line once, in
 * its set, and as many as were filled and have not left; a directory has each valid copy once.
 */
#include "general.h"
#include "hierarchy_priv.h"
#include "protocol.h"

/* ---- levels ---- */

/* A resident line's timestamp has passed; if the shadow cache holds the line, that is its entry in the log. */
static int timestamp_is_valid(const struct nm_cache *c, uint32_t slot)
{
	const uint64_t time = c->timestamps[slot];

	return time < c->shadow.now && (time < c->shadow.head || c->shadow.log[time] == slot);
}

/* Whether no way of a set before this one has its line or its timestamp. */
static int is_first_of_set(const struct nm_cache *c, uint64_t first, uint64_t slot)
{
	for (uint64_t i = first; i < slot; i++)
		if (c->tags[i] == c->tags[slot] || c->timestamps[i] == c->timestamps[slot])
			return 0;
	return 1;
}

/* Each line is in its set, once; the timestamps order the lines. Ways that pad the set stay so. */
static int fast_set_is_valid(const struct nm_cache *c, uint64_t set)
{
	const uint64_t first = set * c->ways;

	for (uint64_t slot = first; slot < first + c->ways; slot++) {
		const uint64_t line = c->tags[slot], time = c->timestamps[slot];

		if (slot >= first + c->spec.ways) {
			if (line != NM_NO_VICTIM || time != NM_NO_TIMESTAMP)
				return 0;
		} else if (line == NM_NO_LINE) {
			if (time)
				return 0;
		} else if (!time || nm_cache_set(c, line) != set || !is_first_of_set(c, first, slot) ||
			   !timestamp_is_valid(c, (uint32_t)slot)) {
			return 0;
		}
	}
	return 1;
}

/* The sectors of a way are those of its line; a way without a line has none. Returns whether there are any, or
 * -1 if they are not. */
static int sectors_of(const struct nm_cache *c, uint64_t way)
{
	const struct nm_general *g = c->general;
	int count = 0;

	for (uint64_t s = 0; s < 1ull << g->sector_shift; s++) {
		const uint32_t slot = (uint32_t)(way << g->sector_shift | s);

		if (c->tags[slot] == NM_NO_LINE)
			continue;
		if (c->tags[slot] != (g->lines[way] << g->sector_shift | s) ||
		    nm_general_find(c, c->tags[slot]) != slot || !timestamp_is_valid(c, slot))
			return -1;
		count = 1;
	}
	return count;
}

static int general_set_is_valid(const struct nm_cache *c, uint64_t set)
{
	const struct nm_general *g = c->general;
	const struct nm_policy *policy = g->replacement.policy;
	uint32_t free = 0;

	for (uint32_t way = 0; way < c->ways; way++) {
		const uint64_t at = set * c->ways + way, line = g->lines[at];
		const int is_free = g->free_ways[set * g->free_words + way / 64] >> way % 64 & 1;

		if (way >= c->spec.ways) { /* it pads what was a fast level (take_hints.c) */
			if (is_free || line != NM_NO_VICTIM)
				return 0;
			continue;
		}
		if (is_free != (line == NM_NO_LINE) || sectors_of(c, at) != !is_free ||
		    (!is_free && g->set(&g->placement, line) != set))
			return 0;
		free += (uint32_t)is_free;
	}
	return free == g->free_count[set] && (!policy->is_valid || policy->is_valid(&g->replacement, set));
}

/* A plug-in places lines anywhere, but each where it is found. */
static int placed_set_is_valid(const struct nm_cache *c, uint64_t set)
{
	for (uint64_t slot = set * c->ways; slot < (set + 1) * c->ways; slot++)
		if (c->tags[slot] != NM_NO_LINE && nm_general_find(c, c->tags[slot]) != slot)
			return 0;
	return 1;
}

/* Of an exclusive level: the slots for lines that are above, if free, hold none. */
static int reserved_slots_are_valid(const struct nm_cache *c)
{
	const struct nm_general *g = c->general;
	const uint64_t first = c->spec.sets * c->ways << g->sector_shift;
	uint64_t held = 0;

	for (uint32_t i = 0; i < g->reserved_free; i++)
		if (g->reserved_slots[i] < first || c->tags[g->reserved_slots[i]] != NM_NO_LINE)
			return 0;
	for (uint64_t slot = first; slot < c->slots; slot++)
		held += c->tags[slot] != NM_NO_LINE;
	return held + g->reserved_free == c->slots - first;
}

/* What was filled or prefetched has been evicted, or is here; each fill has one class. In an exclusive level
 * two residencies of a line may have become one. */
static int counts_are_valid(const struct nm_cache *c)
{
	const int merges = c->spec.inclusion == NM_EXCLUSIVE;
	uint64_t came = 0, left = 0, classed = 0, resident = 0, fills = 0;

	for (size_t i = 0; i < c->counters.attr_count; i++) {
		const struct nm_loads *l = &c->counters.loads[i];
		const struct nm_extras *extras = c->counters.extras ? &c->counters.extras[i] : NULL;

		fills += l->fills[0] + l->fills[1];
		for (unsigned k = 0; k < NM_MISS_COUNTED; k++)
			classed += l->of_class[k];
		classed += extras ? extras->coherence : 0;
		came += extras ? extras->prefetches : 0;
		left += c->counters.residencies[i].evictions;
	}
	came += fills;
	for (uint64_t slot = 0; (slot = nm_cache_next_resident(c, slot)) != NM_NO_SLOT; slot++)
		resident++;
	return classed == fills && (merges ? left + resident <= came : left + resident == came);
}

/* A core may access without coherence what is at the slot, if anything. */
static int cleared_is_valid(const struct nm_cache *c)
{
	for (uint64_t slot = 0; slot < c->slots; slot++)
		for (unsigned write = 0; write < 2; write++) {
			const uint64_t line = c->coherent->cleared[slot][write];

			if (line != NM_NO_LINE && line != c->tags[slot])
				return 0;
		}
	return 1;
}

int nm_cache_is_valid(const struct nm_cache *c)
{
	for (uint64_t set = 0; set < c->spec.sets; set++) {
		if (!c->general && !c->laid[set >> NM_CHUNK_BITS])
			set |= (1 << NM_CHUNK_BITS) - 1; /* no line was looked up in this chunk */
		else if (!(!c->general               ? fast_set_is_valid(c, set)
			   : c->general->plugin.self ? placed_set_is_valid(c, set)
						     : general_set_is_valid(c, set)))
			return 0;
	}
	return !c->miss_count && (!c->general || reserved_slots_are_valid(c)) &&
	       (!c->coherent || !c->coherent->cleared || cleared_is_valid(c)) &&
	       (c->slice || counts_are_valid(c)) && nm_shadow_is_valid(&c->shadow);
}

/* ---- directories ---- */

/* Of each block the copies are of this page, and each core has one at most. */
static int page_is_valid(const struct nm_directory_page *page, uint64_t number, unsigned cores)
{
	uint32_t live = 0;

	for (unsigned i = 0; i < NM_PAGE_BLOCKS; i++) {
		live += page->copies[i] != NULL;
		for (const struct nm_copy *copy = page->copies[i]; copy; copy = copy->next) {
			if (copy->page != page || copy->block != number * NM_PAGE_BLOCKS + i ||
			    copy->core >= cores)
				return 0;
			for (const struct nm_copy *other = copy->next; other; other = other->next)
				if (other->core == copy->core)
					return 0;
		}
	}
	return page->number == number && live == page->live && (live || page->contended || page->watched);
}

int nm_directory_is_valid(const struct nm_directory *d, unsigned cores)
{
	uint64_t number, value;

	for (size_t i = 0; nm_map_next(&d->page_of, &i, &number, &value);)
		if (value & 1 ? value >> 1 >= cores
			      : !page_is_valid((const void *)(uintptr_t)value, number, cores))
			return 0;
	for (size_t i = 0; i < (size_t)cores * NM_RECENT_PAGES; i++) {
		const uint64_t recent = d->recent_private[i];

		if (recent && nm_map_get(&d->page_of, recent - 1, 0) != i / NM_RECENT_PAGES * 2 + 1)
			return 0;
	}
	for (const struct nm_directory_page *page = d->free_pages; page; page = page->next_free)
		if (page->number != UINT64_MAX)
			return 0;
	return 1;
}

/* Protocols with one writer: who may write, or could silently, is the only one with a valid copy. Returns the
 * number of valid copies of the block, or -1. */
static int valid_copies(const struct nm_coherence *x, const struct nm_copy *first)
{
	const int single = x->protocol->write == nm_protocol_invalidate_others;
	int valid = 0, alone = 0;

	for (const struct nm_copy *copy = first; copy; copy = copy->next) {
		valid += copy->state != NM_COPY_NONE;
		alone += copy->state == NM_COPY_MODIFIED || copy->state == NM_COPY_EXCLUSIVE;
		if (copy->state != NM_COPY_NONE && *copy->link != copy)
			return -1;
	}
	return single && alone && valid > 1 ? -1 : valid;
}

/* The lists of the cores have all valid copies. */
int nm_coherence_is_valid(const struct nm_coherence *x)
{
	uint64_t number, value, listed = 0, valid = 0;

	if (!nm_directory_is_valid(&x->directory, x->cores))
		return 0;
	for (size_t i = 0; nm_map_next(&x->directory.page_of, &i, &number, &value);) {
		const struct nm_directory_page *page = (const void *)(uintptr_t)value;

		for (unsigned k = 0; !(value & 1) && k < NM_PAGE_BLOCKS; k++) {
			const int copies = valid_copies(x, page->copies[k]);

			if (copies < 0)
				return 0;
			valid += (unsigned)copies;
		}
	}
	for (unsigned core = 0; core < x->cores; core++)
		for (const struct nm_copy *copy = nm_copy_first(x, core); copy; copy = nm_copy_after(copy)) {
			if (copy->core != core || copy->state == NM_COPY_NONE || ++listed > valid)
				return 0;
		}
	return listed == valid;
}

int nm_hierarchy_is_valid(const struct nm_hierarchy *h)
{
	for (unsigned u = 0; u < unit_count(h); u++)
		if (!nm_cache_is_valid(&h->units[u]))
			return 0;
	for (unsigned i = 0; i < h->coherent_count; i++)
		if (!nm_coherence_is_valid(h->coherent[i].coherence))
			return 0;
	return 1;
}
