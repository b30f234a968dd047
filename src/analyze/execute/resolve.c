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

#include "engine_priv.h"

enum {
	ALLOCATOR_DEPTH = 4,   /* calls between an allocator's entry and what fills a block for it */
	MIN_HOLDERS = 1 << 14, /* beside two for each access, before those that are out of date are dropped */
	VISITS_TO_KEEP = 6,    /* of an access to one heap block, before it keeps the block's range */
	DRAIN_REFERENCES = 1 << 30 /* between drains of the entries' counters */
};

/* ---- kept ranges ---- */

static void forget_range(struct nm_engine *e, uint32_t access_site)
{
	struct nm_access_site *o = &e->decoder.access_sites.at[access_site];

	if (nm_entry_of(o, low) != NM_LOW_OF_FRAME)
		nm_entry_of(o, length) = NM_NO_LENGTH;
}

void nm_engine_forget_mapped_ranges(struct nm_engine *e)
{
	for (size_t i = 0; i < e->resolver.listed.count; i++) {
		forget_range(e, e->resolver.listed.at[i]);
		e->decoder.access_sites.at[e->resolver.listed.at[i]].listed = 0;
	}
	e->resolver.listed.count = 0;
	nm_space_forget(&e->space);
}

void nm_engine_forget_released_blocks(struct nm_engine *e)
{
	for (size_t i = 0; i < e->space.heap.released_holders.count; i++)
		for (uint32_t c = e->space.heap.released_holders.at[i], next; c; c = next) {
			struct nm_range_holder *holder = &e->resolver.range_holders.at[c];

			forget_range(e, holder->access_site);
			next = holder->next;
			*holder = (struct nm_range_holder){.next = e->resolver.free_holder};
			e->resolver.free_holder = c;
		}
	e->space.heap.released_holders.count = 0;
}

void nm_engine_forget_ranges(struct nm_engine *e)
{
	nm_engine_forget_mapped_ranges(e);
	for (uint32_t i = 0; i < e->decoder.access_sites.count; i++)
		forget_range(e, i);
}

/* The entry serves this attribution key from now on. Returns by how many bytes a coalesced access is longer
 * than its first member. */
static uint64_t turn(struct nm_access_site *o, uint32_t attr)
{
	uint64_t *word = &nm_entry_of(o, word);

	*word = *word >> 32 << 32 | attr;
	return nm_word_is_coalesced(*word) ? nm_word_size(*word) - 1u : 0;
}

/* The entry turns to the running function's frame. */
static void hold_frame(struct nm_access_site *o, uint32_t attr)
{
	const uint64_t excess = turn(o, attr);

	nm_entry_of(o, low) = NM_LOW_OF_FRAME;
	nm_entry_of(o, length) = NM_BIAS + NM_SPARE - excess;
}

/* The entry turns to a range. */
static void hold_range(struct nm_access_site *o, uint64_t low, uint64_t length, uint32_t attr)
{
	const uint64_t excess = turn(o, attr);

	nm_entry_of(o, low) = NM_BIAS + low;
	nm_entry_of(o, length) = NM_BIAS + (length > excess ? length - excess : 0);
}

/* Keeps a lasting range with the access. */
static int keep_mapping(struct nm_engine *e, uint32_t access_site, const struct nm_location *location,
			uint32_t attr)
{
	struct nm_access_site *o = &e->decoder.access_sites.at[access_site];

	if (!o->listed && nm_vec_push(&e->resolver.listed, access_site))
		return NM_ENOMEM;
	o->listed = 1;
	hold_range(o, location->low, location->end - location->low, attr);
	return 0;
}

/* Whether the access still keeps the range of the block. */
static int keeps(const struct nm_engine *e, uint32_t access_site, const struct nm_large_block *b)
{
	const struct nm_access_site *o = &e->decoder.access_sites.at[access_site];

	return nm_entry_of(o, low) == NM_BIAS + b->address && nm_entry_of(o, length) != NM_NO_LENGTH;
}

/* Drops the range holders of accesses that have turned to something else since, and all but one of each
 * other: no more are left than there are accesses. */
static __attribute__((noinline)) void drop_stale_holders(struct nm_engine *e)
{
	struct nm_range_holder *const all = e->resolver.range_holders.at;
	struct nm_large_block *const blocks = e->space.heap.large.at;
	uint32_t left = 1;

	for (size_t i = 1; i < e->resolver.range_holders.count; i++)
		blocks[all[i].block].range_holders = 0;
	for (size_t i = 1; i < e->resolver.range_holders.count; i++) {
		const uint32_t access_site = all[i].access_site, block = all[i].block;

		if (!block || e->decoder.access_sites.at[access_site].cached ||
		    !keeps(e, access_site, &blocks[block]))
			continue;
		e->decoder.access_sites.at[access_site].cached = 1;
		all[left] = (struct nm_range_holder){access_site, blocks[block].range_holders, block};
		blocks[block].range_holders = left++;
	}
	for (size_t i = 1; i < left; i++)
		e->decoder.access_sites.at[all[i].access_site].cached = 0;
	e->resolver.range_holders.count = left;
	e->resolver.free_holder = 0;
}

/* A range holder in nobody's list; 0: memory is exhausted. */
static uint32_t new_holder(struct nm_engine *e)
{
	const uint32_t c = e->resolver.free_holder;

	if (c) {
		e->resolver.free_holder = e->resolver.range_holders.at[c].next;
		return c;
	}
	if (e->resolver.range_holders.count >= MIN_HOLDERS + 2 * e->decoder.access_sites.count)
		drop_stale_holders(e);
	if (!e->resolver.range_holders.count &&
	    nm_vec_push(&e->resolver.range_holders, (struct nm_range_holder){0}))
		return 0;
	return nm_vec_push(&e->resolver.range_holders, (struct nm_range_holder){0})
		   ? 0
		   : (uint32_t)e->resolver.range_holders.count - 1;
}

/* Keeps a heap block's range with the access. */
static int keep_block(struct nm_engine *e, uint32_t access_site, uint32_t id, uint32_t attr)
{
	struct nm_large_block *block = &e->space.heap.large.at[id];
	const uint32_t c = new_holder(e);

	if (!c)
		return NM_ENOMEM;
	e->resolver.range_holders.at[c] = (struct nm_range_holder){access_site, block->range_holders, id};
	block->range_holders = c;
	hold_range(&e->decoder.access_sites.at[access_site], block->address, block->size, attr);
	return 0;
}

/* An access comes to a heap block once more: keeps its range if that was often enough. */
static inline int visit(struct nm_engine *e, uint32_t access_site, uint32_t block, uint32_t attr)
{
	struct nm_access_site *o = &e->decoder.access_sites.at[access_site];

	o->again = o->block == block ? (uint8_t)(o->again + 1) : 0;
	o->block = block;
	if (__builtin_expect(o->again < VISITS_TO_KEEP, 1))
		return 0;
	o->again = 0;
	return keep_block(e, access_site, block, attr);
}

/* Keeps the place's range, if it may be and is worth it. */
static inline int keep(struct nm_engine *e, uint32_t access_site, const struct nm_location *location,
		       uint32_t attr)
{
	if (location->large)
		return visit(e, access_site, location->large, attr);
	return location->lasting ? keep_mapping(e, access_site, location, attr) : 0;
}

/* ---- objects ---- */

/* The bucket of blocks that are allocated by the oldest `frames` frames of a stack, which is the next to be
 * filled. */
static __attribute__((noinline)) int begin_filling(struct nm_engine *e, const struct nm_stack *s,
						   size_t frames, uint32_t *ret_object)
{
	struct nm_filling *f = &e->resolver.filling;
	struct nm_chain calls = {0};
	uint32_t context, chain;

	nm_chain_add_stack(&calls, s, frames, e->space.objects.at);
	chain = e->options.heap_chains ? s->frames.at[frames - 1].context + 1 : 0;
	if (nm_contexts_get(&e->contexts, calls.pcs, calls.count, &context) ||
	    nm_space_bucket(&e->space, context, chain, ret_object))
		return NM_ENOMEM;
	if (frames <= NM_FILLING_DEPTH) {
		memcpy(f->frames, s->frames.at, frames * sizeof *f->frames);
		f->count = frames;
		f->object = *ret_object;
	}
	return 0;
}

/* The same, which may be the one that is being filled. */
static int find_bucket(struct nm_engine *e, const struct nm_stack *s, size_t frames, uint32_t *ret_object)
{
	const struct nm_filling *f = &e->resolver.filling;

	if (!f->object || f->count != frames ||
	    memcmp(f->frames, s->frames.at, frames * sizeof *f->frames) != 0)
		return begin_filling(e, s, frames, ret_object);
	*ret_object = f->object;
	return 0;
}

/* The bucket of a block that is not handed out yet: calloc has it cleared and realloc has the old contents
 * copied to it, by a function that they call, before the stream can report the block. calloc leaves by a jump
 * to memset, so a function that clears heap that no block covers is taken for calloc's last step. 0: none of
 * this. */
static int find_unreported_block(struct nm_engine *e, const struct nm_decoded_block *decoded, int in_heap,
				 uint32_t *ret_object)
{
	const struct nm_object *objects = e->space.objects.at;
	const struct nm_stack *s = nm_frames_stack(&e->thread->frames);
	size_t n = s->frames.count, outermost = n;

	*ret_object = 0;
	if (!decoded->fills)
		return 0;
	for (size_t k = n; k-- > 0 && n - k <= ALLOCATOR_DEPTH;)
		if (objects[s->frames.at[k].caller].is_allocator)
			outermost = k;
	if (outermost == n && !(in_heap && objects[decoded->stack_object].clears))
		return 0;
	return outermost ? find_bucket(e, s, outermost, ret_object) : 0;
}

/* The frame of another thread that holds the address, or 0. */
static uint32_t find_foreign_frame(const struct nm_engine *e, uint64_t address)
{
	uint32_t owner = 0;

	for (size_t i = 0; i < e->threads.count && !owner; i++)
		owner = nm_frames_owner(&e->threads.at[i]->frames, address);
	return owner;
}

/* Takes the stacks out of the place's range: whose they are changes with every call. */
static void leave_stacks_out(const struct nm_engine *e, uint64_t address, struct nm_location *location)
{
	for (size_t i = 0; i < e->threads.count; i++) {
		const struct nm_frames *frames = &e->threads.at[i]->frames;

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

/* The object at an address that is not in the running function's frame. decoded block: of the block; may be
 * NULL unless its function copies or clears memory. */
static int find_object(struct nm_engine *e, const struct nm_decoded_block *decoded, uint64_t address,
		       struct nm_location *location)
{
	enum nm_object_kind kind;
	uint32_t other = 0;

	*location = (struct nm_location){.object = nm_frames_owner(&e->thread->frames, address)};
	if (location->object)
		return 0;
	if (nm_space_find(&e->space, address, location))
		return NM_ENOMEM;
	kind = e->space.objects.at[location->object].kind;
	if (kind == NM_OBJECT_ANONYMOUS || kind == NM_OBJECT_STACK || kind == NM_OBJECT_UNKNOWN) {
		if (kind == NM_OBJECT_ANONYMOUS && decoded &&
		    find_unreported_block(e, decoded, location->object == e->space.bookkeeping, &other))
			return NM_ENOMEM;
		if (!other)
			other = find_foreign_frame(e, address);
		if (other)
			*location = (struct nm_location){.object = other};
		else if (location->lasting || location->page)
			leave_stacks_out(e, address, location);
	}
	nm_space_remember(&e->space, address, location);
	return 0;
}

/* Whether pending references can be looked up in the heap's blocks alone: nothing is named, no stack lies
 * there. */
static inline int is_plain_heap(const struct nm_engine *e)
{
	return !e->space.named.live && e->thread->frames.stacks.count <= 1;
}

/* The index of a large heap block; 0: it is a small one. */
static inline uint32_t large_of(uint32_t owner)
{
	return owner & NM_OWNER_LARGE ? owner & ~NM_OWNER_LARGE : 0;
}

/* The object at the address of a reference that waited. */
static int find_late(struct nm_engine *e, uint64_t address, struct nm_location *location)
{
	uint32_t owner;

	if (!is_plain_heap(e))
		return find_object(e, NULL, address, location);
	owner = nm_blocks_owner(&e->space.heap, address);
	if (owner) {
		*location = (struct nm_location){
		    .object = nm_blocks_object(&e->space.heap, owner), .heap = 1, .large = large_of(owner)};
		return 0;
	}
	if (nm_space_recent(&e->space, address, location))
		return 0;
	return find_object(e, NULL, address, location);
}

int nm_engine_object_at(struct nm_engine *e, uint64_t address, uint32_t *ret_object)
{
	struct nm_location location;

	if (find_late(e, address, &location))
		return NM_ENOMEM;
	*ret_object = location.object;
	return 0;
}

/* ---- attribution keys ---- */

/* The access comes to another object: its attribution key. */
static __attribute__((noinline)) uint32_t change_object(struct nm_engine *e, uint32_t access_site,
							uint32_t object)
{
	struct nm_access_site *o = &e->decoder.access_sites.at[access_site];

	o->object = object;
	o->attr = o->grouped ? nm_engine_coalesced(e, access_site, object)
			     : nm_engine_attribute(e, access_site, object);
	return o->attr;
}

/* The attribution key of an access to an object. */
static inline uint32_t find_key(struct nm_engine *e, uint32_t access_site, uint32_t object)
{
	struct nm_access_site *o = &e->decoder.access_sites.at[access_site];

	return o->object == object && o->attr ? o->attr : change_object(e, access_site, object);
}

/* The object at an address. */
static int find_any(struct nm_engine *e, const struct nm_decoded_block *decoded, uint64_t address,
		    uint32_t *ret_object)
{
	struct nm_location location;

	*ret_object = 0;
	if (decoded && address - e->window.low < e->window.own)
		*ret_object = decoded->stack_object;
	else if (decoded && nm_stack_holds(e->stack, address))
		*ret_object = nm_stack_owner(e->stack, address);
	if (*ret_object)
		return 0;
	if (decoded ? find_object(e, decoded, address, &location) : find_late(e, address, &location))
		return NM_ENOMEM;
	*ret_object = location.object;
	return 0;
}

/* The same of a group that may lie in more than one object. */
static uint32_t find_keys_apart(struct nm_engine *e, const struct nm_decoded_block *decoded,
				uint32_t access_site, uint64_t address)
{
	const struct nm_access_site *o = &e->decoder.access_sites.at[access_site];
	const struct nm_decoded_tables *t = &e->decoder.tables.at[o->decoded->tables];
	const struct nm_access_range s = nm_word_accesses(t, o->access);
	uint32_t objects[NM_COALESCED_MAX] = {0}, n = 0;
	int mixed = 0;

	for (uint32_t i = s.first; i < s.end; i++) {
		if (find_any(e, decoded, address + t->single[i].distance, &objects[n]))
			return 0;
		mixed |= objects[n++] != objects[0];
	}
	if (!mixed)
		return find_key(e, access_site, objects[0]);
	return nm_engine_mixed_coalesced(e, access_site, objects);
}

/* Whether an access, or all of a group, is to the object that was found at its address, as far as the place
 * tells. */
static inline int is_within(const struct nm_engine *e, uint32_t access_site, uint64_t address,
			    const struct nm_location *location)
{
	const uint64_t word = nm_entry_of(&e->decoder.access_sites.at[access_site], word);

	if (!nm_word_is_coalesced(word))
		return 1;
	if (location->heap)
		return nm_blocks_hold(&e->space.heap, address, nm_word_size(word));
	return location->lasting && address + nm_word_size(word) <= location->end;
}

uint32_t nm_engine_resolve(struct nm_engine *e, const struct nm_decoded_block *decoded, uint32_t access_site,
			   uint64_t address)
{
	struct nm_access_site *o = &e->decoder.access_sites.at[access_site];
	const uint64_t word = nm_entry_of(o, word);
	const uint64_t last = nm_word_is_coalesced(word) ? address + nm_word_size(word) - 1 : address;
	struct nm_location location;
	uint32_t attr;

	if (nm_engine_resolve_pending(e))
		return 0;
	if (address - e->window.low < e->window.own) {
		if (last - e->window.low >= e->window.own)
			return find_keys_apart(e, decoded, access_site, address);
		attr = find_key(e, access_site, decoded->stack_object);
		if (attr)
			hold_frame(o, attr);
		return attr;
	}
	if (find_object(e, decoded, address, &location))
		return 0;
	if (!is_within(e, access_site, address, &location))
		return find_keys_apart(e, decoded, access_site, address);
	attr = find_key(e, access_site, location.object);
	return attr && keep(e, access_site, &location, attr) ? 0 : attr;
}

/* Whose frame an access, or all of a group, is to, on the running stack; 0: it is not known, or is more than
 * one. */
static uint32_t stack_owner(const struct nm_engine *e, uint32_t access_site, uint64_t address)
{
	const struct nm_access_site *o = &e->decoder.access_sites.at[access_site];
	const struct nm_decoded_tables *t = &e->decoder.tables.at[o->decoded->tables];
	uint32_t object = nm_stack_owner(e->stack, address);
	struct nm_access_range s;

	if (!nm_word_is_coalesced(nm_entry_of(o, word)))
		return object;
	s = nm_word_accesses(t, o->access);
	for (uint32_t i = s.first; i < s.end; i++) {
		const uint64_t at = address + t->single[i].distance;

		if (!nm_stack_holds(e->stack, at) || nm_stack_owner(e->stack, at) != object)
			return 0;
	}
	return object;
}

/* A reference of the batch: its attribution key, unless that can wait. */
static int defer_one(struct nm_engine *e, const struct nm_decoded_block *decoded, uint32_t access_site,
		     uint32_t index)
{
	uint64_t address = e->builder.refs[index].address, depth = address - e->window.low;
	uint32_t object = 0;

	if (depth >= e->window.own && depth < e->window.length)
		object = stack_owner(e, access_site, address);
	if (object || (depth >= e->window.length && depth < -(uint64_t)NM_BELOW && !decoded->fills)) {
		e->builder.refs[index].attr = object;
		e->resolver.pending[e->resolver.pending_count++] =
		    (uint64_t)access_site << 32 | (object ? NM_KNOWN : 0) | index;
		return 0;
	}
	e->builder.refs[index].attr = nm_engine_resolve(e, decoded, access_site, address);
	return e->builder.refs[index].attr ? 0 : NM_ENOMEM;
}

int nm_engine_defer(struct nm_engine *e, const struct nm_decoded_block *decoded, size_t at, unsigned entries)
{
	uint32_t access_site = decoded->first_access_site + (uint32_t)at, index = (uint32_t)e->builder.count;
	int status = 0;

	for (unsigned left = entries; left && !status; left &= left - 1) {
		unsigned entry = (unsigned)__builtin_ctz(left);

		status = defer_one(e, decoded, access_site + entry, index + entry);
	}
	return status;
}

/* A reference that waited, wherever it is. */
static __attribute__((noinline)) uint32_t resolve_any(struct nm_engine *e, uint32_t access_site,
						      uint64_t address)
{
	struct nm_location location;
	uint32_t attr;

	if (find_late(e, address, &location))
		return 0;
	if (!is_within(e, access_site, address, &location))
		return find_keys_apart(e, NULL, access_site, address);
	attr = find_key(e, access_site, location.object);
	return attr && keep(e, access_site, &location, attr) ? 0 : attr;
}

/* The same where it is to a heap block, as most are; plain: is_plain_heap. */
static inline uint32_t resolve_late(struct nm_engine *e, uint32_t access_site, uint64_t address, int plain)
{
	const uint32_t owner = plain ? nm_blocks_owner(&e->space.heap, address) : 0;
	uint32_t attr;

	if (!owner || e->decoder.access_sites.at[access_site].grouped)
		return resolve_any(e, access_site, address);
	attr = find_key(e, access_site, nm_blocks_object(&e->space.heap, owner));
	return attr && large_of(owner) && visit(e, access_site, large_of(owner), attr) ? 0 : attr;
}

/* References of a burst have their attributions: the passes see them. */
static int sample_references(struct nm_engine *e)
{
	struct nm_bursts *b = &e->builder.bursts;
	const struct nm_pass_sample sample = {.refs = e->builder.refs,
					      .from = b->taken,
					      .end = e->builder.count,
					      .access = b->access,
					      .instructions = e->decoder.access_instructions.at,
					      .chases = e->decoder.access_chases.at,
					      .frame_end = b->frame_end,
					      .burst = b->burst,
					      .batch = b->batch,
					      .left = b->until - b->batch};

	b->taken = e->builder.count;
	return nm_passes_sample(&e->feed.passes, e, &sample);
}

int nm_engine_resolve_list(struct nm_engine *e)
{
	const int plain = is_plain_heap(e);

	for (size_t i = 0; i < e->resolver.pending_count; i++) {
		const uint32_t index = (uint32_t)e->resolver.pending[i],
			       access_site = (uint32_t)(e->resolver.pending[i] >> 32);
		struct nm_ref *r = &e->builder.refs[index & (NM_KNOWN - 1)];

		r->attr = index & NM_KNOWN ? find_key(e, access_site, r->attr)
					   : resolve_late(e, access_site, r->address, plain);
		if (!r->attr)
			return NM_ENOMEM;
	}
	e->resolver.pending_count = 0;
	if (e->builder.bursts.taken >= e->builder.count)
		return 0;
	return sample_references(e);
}
