/* SPDX-License-Identifier: MIT
 *
 * resolve.c - finds the attribution keys of references that miss their inline cache entries, and updates the
 * entries.
 *
 * An entry may hold a range only if events tell when it becomes invalid. Entries with ranges of variables and
 * mappings are in one list, which any change of mappings clears; those with ranges of a heap block are in a
 * list of the block, cleared when it is released. An entry takes a block's range only after repeated accesses
 * to it: most small blocks do not live long enough. An entry that changes to another range remains in the
 * block's list, and is added again whenever it returns, so long lists are cleaned.
 *
 * Dropped, no faster: prefetching what pending references will need; finding all objects before any key.
 */
#include <string.h>

#include "resolver.h"

enum {
	/* calls between an allocator's entry and the function that fills a block for it */
	ALLOCATOR_DEPTH = 4,
	MIN_HOLDERS = 1 << 14, /* plus two for each access: at more, stale ones are dropped */
	FRAMED_MOST = 4096,    /* items of the list of kept frames; at more, all are forgotten */
	VISITS_TO_KEEP = 6     /* consecutive accesses to one heap block before the entry keeps its range */
};

/* ---- kept ranges ---- */

static void forget_range(struct nm_resolver *r, uint32_t access_site)
{
	struct nm_access_site *s = &r->decoder->access_sites.at[access_site];

	if (!nm_low_is_of_frame(nm_entry_of(s, low)))
		nm_entry_of(s, length) = NM_NO_LENGTH;
}

void nm_resolver_forget_mappings(struct nm_resolver *r)
{
	for (size_t i = 0; i < r->listed.count; i++) {
		forget_range(r, r->listed.at[i]);
		r->decoder->access_sites.at[r->listed.at[i]].listed = 0;
	}
	r->listed.count = 0;
	nm_space_forget(r->space);
}

void nm_resolver_forget_frames(struct nm_resolver *r, uint64_t slot)
{
	while (r->framed.count && r->framed.at[r->framed.count - 1].slot <= slot)
		forget_range(r, r->framed.at[--r->framed.count].access_site);
	r->running->kept_frames = r->framed.count ? r->framed.at[r->framed.count - 1].slot : UINT64_MAX;
}

void nm_resolver_forget_released_blocks(struct nm_resolver *r)
{
	for (size_t i = 0; i < r->space->heap.released_holders.count; i++)
		for (uint32_t c = r->space->heap.released_holders.at[i], next; c; c = next) {
			struct nm_range_holder *holder = &r->range_holders.at[c];

			forget_range(r, holder->access_site);
			next = holder->next;
			*holder = (struct nm_range_holder){.next = r->free_holder};
			r->free_holder = c;
		}
	r->space->heap.released_holders.count = 0;
}

void nm_resolver_forget_ranges(struct nm_resolver *r)
{
	nm_resolver_forget_mappings(r);
	for (uint32_t i = 0; i < r->decoder->access_sites.count; i++)
		forget_range(r, i);
}

/* Counts the references that the entry has made since it was last counted, under the key that it has. */
static void count_runs(struct nm_resolver *r, struct nm_access_site *s)
{
	if (s->access + 1 < s->decoded->words)
		nm_resolver_count(r, nm_entry_of(s, word), s->decoded->runs - s->counted);
	s->counted = s->decoded->runs;
}

void nm_resolver_count_runs(struct nm_resolver *r)
{
	for (size_t i = 0; i < r->decoder->access_sites.count; i++) {
		count_runs(r, &r->decoder->access_sites.at[i]);
		r->decoder->access_sites.at[i].counted = 0;
	}
	for (size_t i = 0; i < r->decoder->decoded.count; i++)
		r->decoder->decoded.at[i]->runs = 0;
}

/* Sets the attribution key that the entry serves. Returns the bytes of a coalesced access beyond its
 * first. */
static uint64_t set_entry_key(struct nm_resolver *r, struct nm_access_site *s, uint32_t attr)
{
	uint64_t *word = &nm_entry_of(s, word);

	count_runs(r, s);
	*word = *word >> 32 << 32 | attr;
	return nm_word_is_coalesced(*word) ? nm_word_size(*word) - 1u : 0;
}

static uint64_t fixed_length(uint64_t length, uint64_t excess)
{
	return NM_BIAS + (length > excess ? length - excess : 0);
}

/* The entry turns to a part of the running function's frame. Distances fall as addresses rise, so it is the
 * last byte of a group that is nearest to the frame's end. */
static void hold_frame(struct nm_resolver *r, struct nm_access_site *s, const struct nm_frame_part *part,
		       uint32_t attr)
{
	const uint64_t excess = set_entry_key(r, s, attr);

	nm_entry_of(s, low) = part->low + excess;
	nm_entry_of(s, length) = part->end == UINT64_MAX ? NM_TO_STACK_END + NM_SPARE - excess - part->low
							 : fixed_length(part->end - part->low, excess);
}

/* Sets the entry to a range. */
static void hold_range(struct nm_resolver *r, struct nm_access_site *s, uint64_t low, uint64_t length,
		       uint32_t attr)
{
	const uint64_t excess = set_entry_key(r, s, attr);

	nm_entry_of(s, low) = NM_BIAS + low;
	nm_entry_of(s, length) = fixed_length(length, excess);
}

/* Keeps the range of a mapping or variable in the entry. */
static int keep_mapping(struct nm_resolver *r, uint32_t access_site, const struct nm_location *location,
			uint32_t attr)
{
	struct nm_access_site *s = &r->decoder->access_sites.at[access_site];

	if (!s->listed && nm_vec_push(&r->listed, access_site))
		return NM_ENOMEM;
	s->listed = 1;
	hold_range(r, s, location->low, location->end - location->low, attr);
	return 0;
}

/* Whether the entry still keeps the range of the block. */
static int keeps_range(const struct nm_resolver *r, uint32_t access_site, const struct nm_large_block *b)
{
	const struct nm_access_site *s = &r->decoder->access_sites.at[access_site];

	return nm_entry_of(s, low) == NM_BIAS + b->address && nm_entry_of(s, length) != NM_NO_LENGTH;
}

/* Drops range holders whose entries keep another range by now, and duplicates: at most one for each access is
 * left. */
static __attribute__((noinline)) void drop_stale_holders(struct nm_resolver *r)
{
	struct nm_range_holder *const all = r->range_holders.at;
	struct nm_large_block *const blocks = r->space->heap.large.at;
	uint32_t left = 1;

	for (size_t i = 1; i < r->range_holders.count; i++)
		blocks[all[i].block].range_holders = 0;
	for (size_t i = 1; i < r->range_holders.count; i++) {
		const uint32_t access_site = all[i].access_site, block = all[i].block;

		if (!block || r->decoder->access_sites.at[access_site].cached ||
		    !keeps_range(r, access_site, &blocks[block]))
			continue;
		r->decoder->access_sites.at[access_site].cached = 1;
		all[left] = (struct nm_range_holder){access_site, blocks[block].range_holders, block};
		blocks[block].range_holders = left++;
	}
	for (size_t i = 1; i < left; i++)
		r->decoder->access_sites.at[all[i].access_site].cached = 0;
	r->range_holders.count = left;
	r->free_holder = 0;
}

/* A range holder that is in no list; 0: out of memory. */
static uint32_t new_holder(struct nm_resolver *r)
{
	const uint32_t c = r->free_holder;

	if (c) {
		r->free_holder = r->range_holders.at[c].next;
		return c;
	}
	if (r->range_holders.count >= MIN_HOLDERS + 2 * r->decoder->access_sites.count)
		drop_stale_holders(r);
	if (!r->range_holders.count && nm_vec_push(&r->range_holders, (struct nm_range_holder){0}))
		return 0;
	return nm_vec_push(&r->range_holders, (struct nm_range_holder){0})
		   ? 0
		   : (uint32_t)r->range_holders.count - 1;
}

/* Keeps a heap block's range in the entry. */
static int keep_block(struct nm_resolver *r, uint32_t access_site, uint32_t id, uint32_t attr)
{
	struct nm_large_block *block = &r->space->heap.large.at[id];
	const uint32_t c = new_holder(r);

	if (!c)
		return NM_ENOMEM;
	r->range_holders.at[c] = (struct nm_range_holder){access_site, block->range_holders, id};
	block->range_holders = c;
	hold_range(r, &r->decoder->access_sites.at[access_site], block->address, block->size, attr);
	return 0;
}

/* Counts consecutive accesses to a heap block or frame: 1 after enough of them to keep its range. */
static inline int has_visited(struct nm_access_site *s, uint32_t block)
{
	s->again = s->block == block ? (uint8_t)(s->again + 1) : 0;
	s->block = block;
	if (__builtin_expect(s->again < VISITS_TO_KEEP, 1))
		return 0;
	s->again = 0;
	return 1;
}

static inline int visit_block(struct nm_resolver *r, uint32_t access_site, uint32_t block, uint32_t attr)
{
	return has_visited(&r->decoder->access_sites.at[access_site], block)
		   ? keep_block(r, access_site, block, attr)
		   : 0;
}

/* Notes that the entry of an access site will keep a part of a frame. */
static int note_framed(struct nm_resolver *r, struct nm_framed framed)
{
	size_t i;

	if (r->framed.count == FRAMED_MOST)
		nm_resolver_forget_frames(r, UINT64_MAX);
	if (nm_vec_push(&r->framed, framed))
		return NM_ENOMEM;
	for (i = r->framed.count - 1; i > 0 && r->framed.at[i - 1].slot < framed.slot; i--)
		r->framed.at[i] = r->framed.at[i - 1];
	r->framed.at[i] = framed;
	r->running->kept_frames = r->framed.at[r->framed.count - 1].slot;
	return 0;
}

/* Keeps a part of a caller's frame, that around an address, after repeated accesses. Whose the slots at both ends of
 * a frame are depends on which function runs: they are left out. */
static int keep_frame(struct nm_resolver *r, uint32_t access_site, uint64_t address,
		      const struct nm_frame_place *frame, const struct nm_frame_part *part, uint32_t attr)
{
	struct nm_access_site *s = &r->decoder->access_sites.at[access_site];
	uint64_t low = frame->slot + 8, end = frame->end - (part->low > 8 ? part->low : 8);

	if (part->end < frame->end - low)
		low = frame->end - part->end;
	if (address < low || address >= end || !has_visited(s, NM_OWNER_LARGE | part->object))
		return 0;
	if (note_framed(r, (struct nm_framed){frame->slot, access_site}))
		return NM_ENOMEM;
	hold_range(r, s, low, end - low, attr);
	return 0;
}

/* Keeps the location's range, if it is valid for long enough. */
static inline int keep_range(struct nm_resolver *r, uint32_t access_site, const struct nm_location *location,
			     uint32_t attr)
{
	if (location->large)
		return visit_block(r, access_site, location->large, attr);
	return location->lasting ? keep_mapping(r, access_site, location, attr) : 0;
}

/* ---- objects ---- */

/* Finds the bucket of blocks that the oldest `frames` frames of a stack allocate, and remembers it. */
static __attribute__((noinline)) int begin_filling(struct nm_resolver *r, const struct nm_stack *s,
						   size_t frames, uint32_t *ret_object)
{
	struct nm_filling *f = &r->filling;
	struct nm_chain calls = {0};
	uint32_t context, chain;

	nm_chain_add_stack(&calls, s, frames, r->space->objects.at);
	chain = r->heap_chains ? s->frames.at[frames - 1].context + 1 : 0;
	if (nm_contexts_get(r->contexts, calls.pcs, calls.count, &context) ||
	    nm_space_bucket(r->space, context, chain, ret_object))
		return NM_ENOMEM;
	if (frames <= NM_FILLING_DEPTH) {
		memcpy(f->frames, s->frames.at, frames * sizeof *f->frames);
		f->count = frames;
		f->object = *ret_object;
	}
	return 0;
}

/* The same, unless it is the one that was found last. */
static int find_bucket(struct nm_resolver *r, const struct nm_stack *s, size_t frames, uint32_t *ret_object)
{
	const struct nm_filling *f = &r->filling;

	if (!f->object || f->count != frames ||
	    memcmp(f->frames, s->frames.at, frames * sizeof *f->frames) != 0)
		return begin_filling(r, s, frames, ret_object);
	*ret_object = f->object;
	return 0;
}

/* The bucket of a block that the stream has not reported yet: calloc clears it, and realloc copies the old
 * contents to it, through a function that they call. calloc ends with a jump to memset, so a function that
 * clears heap memory outside of any block is taken for that. 0: it is no such block. */
static int find_unreported_block(struct nm_resolver *r, const struct nm_decoded_block *decoded, int in_heap,
				 uint32_t *ret_object)
{
	const struct nm_object *objects = r->space->objects.at;
	const struct nm_stack *s = nm_frames_stack(&r->running->thread->frames);
	size_t n = s->frames.count, outermost = n;

	*ret_object = 0;
	if (!decoded->fills)
		return 0;
	for (size_t k = n; k-- > 0 && n - k <= ALLOCATOR_DEPTH;)
		if (objects[s->frames.at[k].caller].is_allocator)
			outermost = k;
	if (outermost == n && !(in_heap && objects[decoded->stack_object].clears))
		return 0;
	return outermost ? find_bucket(r, s, outermost, ret_object) : 0;
}

/* What another thread's frame has at the address, or 0. */
static uint32_t find_foreign_frame(const struct nm_resolver *r, uint64_t address)
{
	struct nm_frame_place owner = {0};

	for (size_t i = 0; i < r->threads->count && !owner.object; i++)
		owner = nm_frames_owner(&r->threads->at[i]->frames, address);
	return nm_space_object_in_frame(r->space, owner, address);
}

/* Cuts stacks out of the location's range: their owners change with every call. */
static void leave_stacks_out(const struct nm_resolver *r, uint64_t address, struct nm_location *location)
{
	for (size_t i = 0; i < r->threads->count; i++) {
		const struct nm_frames *frames = &r->threads->at[i]->frames;

		for (size_t k = 0; k < frames->stacks.count; k++) {
			const struct nm_stack *s = &frames->stacks.at[k];

			if (nm_stack_holds(s, address))
				location->lasting = location->page = 0;
			else if (s->end <= address && s->end > location->low)
				location->low = s->end;
			else if (s->low > address && s->low < location->end)
				location->end = s->low;
		}
	}
}

/* Whether addresses can be looked up in the heap's blocks alone: the program has named no ranges,
 * and no stack lies in the heap. */
static inline int is_plain_heap(const struct nm_resolver *r)
{
	return !r->space->named.live && r->running->thread->frames.stacks.count <= 1;
}

static int is_anonymous(enum nm_object_kind kind)
{
	return kind == NM_OBJECT_ANONYMOUS || kind == NM_OBJECT_STACK || kind == NM_OBJECT_UNKNOWN;
}

/* What lies at an address, apart from frames. */
static int find_place(struct nm_resolver *r, uint64_t address, struct nm_location *location)
{
	if (is_plain_heap(r) && !nm_blocks_owner(&r->space->heap, address) &&
	    nm_space_recent(r->space, address, location))
		return 0;
	if (nm_space_find(r->space, address, location))
		return NM_ENOMEM;
	if (is_anonymous(r->space->objects.at[location->object].kind) &&
	    (location->lasting || location->page))
		leave_stacks_out(r, address, location);
	nm_space_remember(r->space, address, location);
	return 0;
}

/* The object at an address outside of the running function's frame. decoded: the block; may be NULL unless
 * its function copies or clears memory. */
static int find_object(struct nm_resolver *r, const struct nm_decoded_block *decoded, uint64_t address,
		       struct nm_location *location)
{
	const struct nm_frame_place frame = nm_frames_owner(&r->running->thread->frames, address);
	enum nm_object_kind kind;
	uint32_t other = 0;

	*location = (struct nm_location){.object = nm_space_object_in_frame(r->space, frame, address)};
	if (location->object)
		return 0;
	if (find_place(r, address, location))
		return NM_ENOMEM;
	kind = r->space->objects.at[location->object].kind;
	if (kind == NM_OBJECT_ANONYMOUS && decoded &&
	    find_unreported_block(r, decoded, location->object == r->space->bookkeeping, &other))
		return NM_ENOMEM;
	if (!other && is_anonymous(kind))
		other = find_foreign_frame(r, address);
	if (other)
		*location = (struct nm_location){.object = other};
	return 0;
}

/* The index of a large heap block; 0: the block is small. */
static inline uint32_t large_of(uint32_t owner)
{
	return owner & NM_OWNER_LARGE ? owner & ~NM_OWNER_LARGE : 0;
}

/* The object at the address of a pending reference. */
static int find_late(struct nm_resolver *r, uint64_t address, struct nm_location *location)
{
	uint32_t owner;

	if (!is_plain_heap(r))
		return find_object(r, NULL, address, location);
	owner = nm_blocks_owner(&r->space->heap, address);
	if (owner) {
		*location = (struct nm_location){
		    .object = nm_blocks_object(&r->space->heap, owner), .heap = 1, .large = large_of(owner)};
		return 0;
	}
	if (nm_space_recent(r->space, address, location))
		return 0;
	return find_object(r, NULL, address, location);
}

int nm_resolver_object_at(struct nm_resolver *r, uint64_t address, uint32_t *ret_object)
{
	struct nm_location location;

	if (find_late(r, address, &location))
		return NM_ENOMEM;
	*ret_object = location.object;
	return 0;
}

/* ---- attribution keys ---- */

/* The attribution key of an access whose object has changed. */
static __attribute__((noinline)) uint32_t change_object(struct nm_resolver *r, uint32_t access_site,
							uint32_t object)
{
	struct nm_access_site *s = &r->decoder->access_sites.at[access_site];

	s->object = object;
	s->attr = s->grouped ? nm_resolver_coalesced(r, access_site, object)
			     : nm_resolver_attribute(r, access_site, object);
	return s->attr;
}

/* The attribution key of an access to an object. */
static inline uint32_t find_key(struct nm_resolver *r, uint32_t access_site, uint32_t object)
{
	struct nm_access_site *s = &r->decoder->access_sites.at[access_site];

	return s->object == object && s->attr ? s->attr : change_object(r, access_site, object);
}

/* The object at an address. */
static int find_any(struct nm_resolver *r, const struct nm_decoded_block *decoded, uint64_t address,
		    uint32_t *ret_object)
{
	const struct nm_stack_window *window = &r->running->window;
	struct nm_frame_place frame = {0};
	struct nm_location location;

	if (decoded && address - window->low < window->own)
		frame =
		    (struct nm_frame_place){decoded->stack_object, window->low, window->low + window->own};
	else if (decoded && nm_stack_holds(r->running->stack, address))
		frame = nm_stack_owner(r->running->stack, address);
	*ret_object = nm_space_object_in_frame(r->space, frame, address);
	if (*ret_object)
		return 0;
	if (decoded ? find_object(r, decoded, address, &location) : find_late(r, address, &location))
		return NM_ENOMEM;
	*ret_object = location.object;
	return 0;
}

/* The same for a coalesced access that may lie in more than one object. */
static uint32_t find_keys_apart(struct nm_resolver *r, const struct nm_decoded_block *decoded,
				uint32_t access_site, uint64_t address)
{
	const struct nm_access_site *a = &r->decoder->access_sites.at[access_site];
	const struct nm_decoded_tables *t = nm_tables_of(a->decoded);
	const struct nm_access_range s = nm_word_accesses(t, a->access);
	uint32_t objects[NM_COALESCED_MAX] = {0}, n = 0;
	int mixed = 0;

	for (uint32_t i = s.first; i < s.end; i++) {
		if (find_any(r, decoded, address + t->single[i].distance, &objects[n]))
			return 0;
		mixed |= objects[n++] != objects[0];
	}
	if (!mixed)
		return find_key(r, access_site, objects[0]);
	return nm_resolver_mixed_coalesced(r, access_site, objects);
}

/* Whether all bytes of an access are in the object found at its first, as far as the location shows. */
static inline int is_within(const struct nm_resolver *r, uint32_t access_site, uint64_t address,
			    const struct nm_location *location)
{
	const uint64_t word = nm_entry_of(&r->decoder->access_sites.at[access_site], word);

	if (!nm_word_is_coalesced(word))
		return 1;
	if (location->heap)
		return nm_blocks_hold(&r->space->heap, address, nm_word_size(word));
	return location->lasting && address + nm_word_size(word) <= location->end;
}

/* The key of an access, or group up to its last byte, in the running function's own frame. */
static uint32_t find_in_own_frame(struct nm_resolver *r, const struct nm_decoded_block *decoded,
				  uint32_t access_site, uint64_t address, uint64_t last)
{
	const uint64_t distance = r->running->window.low + r->running->window.own - 1 - address;
	const struct nm_frame_part part = nm_space_frame_part(r->space, decoded->stack_object, distance);
	uint32_t attr;

	if (last - address > distance - part.low)
		return find_keys_apart(r, decoded, access_site, address);
	attr = find_key(r, access_site, part.object);
	if (attr)
		hold_frame(r, &r->decoder->access_sites.at[access_site], &part, attr);
	return attr;
}

/* The same in the frame of a caller. */
static uint32_t find_in_frame(struct nm_resolver *r, const struct nm_decoded_block *decoded,
			      uint32_t access_site, uint64_t address, uint64_t last,
			      const struct nm_frame_place *frame)
{
	const struct nm_frame_part part =
	    nm_space_frame_part(r->space, frame->object, frame->end - 1 - address);
	uint32_t attr;

	if (last != address && last >= frame->end - (part.low > 8 ? part.low : 8))
		return find_keys_apart(r, decoded, access_site, address);
	attr = find_key(r, access_site, part.object);
	return attr && keep_frame(r, access_site, address, frame, &part, attr) ? 0 : attr;
}

uint32_t nm_resolver_find(struct nm_resolver *r, const struct nm_decoded_block *decoded, uint32_t access_site,
			  uint64_t address)
{
	const uint64_t word = nm_entry_of(&r->decoder->access_sites.at[access_site], word);
	const uint64_t last = nm_word_is_coalesced(word) ? address + nm_word_size(word) - 1 : address;
	struct nm_frame_place frame = {0};
	struct nm_location location;
	uint32_t attr;

	if (address - r->running->window.low < r->running->window.own)
		return find_in_own_frame(r, decoded, access_site, address, last);
	if (nm_stack_holds(r->running->stack, address))
		frame = nm_stack_owner(r->running->stack, address);
	if (frame.object)
		return find_in_frame(r, decoded, access_site, address, last, &frame);
	if (find_object(r, decoded, address, &location))
		return 0;
	if (!is_within(r, access_site, address, &location))
		return find_keys_apart(r, decoded, access_site, address);
	attr = find_key(r, access_site, location.object);
	return attr && keep_range(r, access_site, &location, attr) ? 0 : attr;
}

/* The attribution key of a pending reference. */
static __attribute__((noinline)) uint32_t resolve_any(struct nm_resolver *r, uint32_t access_site,
						      uint64_t address)
{
	struct nm_location location;
	uint32_t attr;

	if (find_late(r, address, &location))
		return 0;
	if (!is_within(r, access_site, address, &location))
		return find_keys_apart(r, NULL, access_site, address);
	attr = find_key(r, access_site, location.object);
	return attr && keep_range(r, access_site, &location, attr) ? 0 : attr;
}

/* The same, short for heap blocks, which most are; plain: is_plain_heap. */
static inline uint32_t resolve_late(struct nm_resolver *r, uint32_t access_site, uint64_t address, int plain)
{
	const uint32_t owner = plain ? nm_blocks_owner(&r->space->heap, address) : 0;
	uint32_t attr;

	if (!owner || r->decoder->access_sites.at[access_site].grouped)
		return resolve_any(r, access_site, address);
	attr = find_key(r, access_site, nm_blocks_object(&r->space->heap, owner));
	return attr && large_of(owner) && visit_block(r, access_site, large_of(owner), attr) ? 0 : attr;
}

int nm_resolver_find_all(struct nm_resolver *r, struct nm_ref *refs, const uint64_t *pending, size_t count)
{
	const int plain = is_plain_heap(r);

	for (size_t i = 0; i < count; i++) {
		const uint32_t index = (uint32_t)pending[i], access_site = (uint32_t)(pending[i] >> 32);
		const uint32_t attr = resolve_late(r, access_site, refs[index].address, plain);

		if (!attr)
			return NM_ENOMEM;
		nm_resolver_recount(r, &refs[index], attr);
	}
	return 0;
}
