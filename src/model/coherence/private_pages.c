/* SPDX-License-Identifier: MIT */
#include "private_pages.h"

#include "cache.h"
#include "vector.h"

enum nm_copy_state private_state(const struct nm_coherence *x, unsigned core, uint64_t block)
{
	const struct nm_cache *c = x->core[core].data;
	const uint32_t slot = nm_cache_find(c, block);

	if (slot == NM_NO_SLOT)
		return NM_COPY_NONE;
	return c->coherent->written[slot] ? NM_COPY_MODIFIED : NM_COPY_EXCLUSIVE;
}

/* Makes a copy for the block, if the owner has it. */
static void make_copy(struct nm_coherence *x, unsigned owner, uint64_t block)
{
	struct nm_cache *c = x->core[owner].data;
	const enum nm_copy_state state = private_state(x, owner, block);
	struct nm_copy *copy = state ? nm_directory_add(&x->directory, owner, block) : NULL;
	uint32_t slot;

	if (!copy) {
		x->failed |= state != NM_COPY_NONE;
		return;
	}
	slot = nm_cache_find(c, block);
	copy->attr = c->residencies[slot].attr;
	copy->cleared = 1;
	nm_coherence_unclear(x, copy);
	nm_coherence_list(x, copy, state);
}

static void share_page(struct nm_coherence *c, unsigned owner, uint64_t block)
{
	const uint64_t first = block & ~(uint64_t)(NM_PAGE_BLOCKS - 1);

	nm_directory_release_page(&c->directory, owner, block);
	for (unsigned i = 0; i < NM_PAGE_BLOCKS; i++)
		make_copy(c, owner, first + i);
}

void private_end(struct nm_coherence *c, uint64_t block)
{
	const unsigned owner = nm_directory_owner(&c->directory, block);

	if (owner != NM_NO_OWNER)
		share_page(c, owner, block);
}

void private_end_all(struct nm_coherence *c)
{
	struct nm_vec(uint64_t) pages = {0};
	uint64_t page, value;

	for (size_t i = 0; nm_map_next(&c->directory.page_of, &i, &page, &value);)
		c->failed |= nm_vec_push(&pages, page) != 0;
	for (size_t i = 0; i < pages.count; i++)
		private_end(c, pages.at[i] * NM_PAGE_BLOCKS);
	nm_vec_free(&pages);
}

void private_end_of_other(struct nm_coherence *c, unsigned core, uint64_t block)
{
	const unsigned owner = nm_directory_owner(&c->directory, block);

	if (owner != NM_NO_OWNER && owner != core && private_state(c, owner, block))
		share_page(c, owner, block);
}

/* Whether another core has the block (if `modified`: as MODIFIED). */
static int others_have(struct nm_coherence *c, unsigned core, uint64_t block, int modified)
{
	const struct nm_copy *copy;

	private_end_of_other(c, core, block);
	copy = nm_directory_copies(&c->directory, core, block);
	while (copy && (copy->core == core || (modified && copy->state != NM_COPY_MODIFIED)))
		copy = copy->next;
	return copy != NULL;
}

/* The first and the last block of a page have neighbours in others. */
static int is_at_edge(uint64_t block) { return (block + 1) % NM_PAGE_BLOCKS <= 1; }

/* Whether a reference to a block at an edge may begin latent false sharing, since another core has the
 * neighbour of the block. */
static int concerns_neighbour(struct nm_coherence *c, unsigned core, uint64_t block, int write)
{
	const enum nm_copy_state state = private_state(c, core, block);
	const uint64_t beside = block % NM_PAGE_BLOCKS ? block + 1 : block - 1;

	if (state == NM_COPY_MODIFIED || (state && !write))
		return 0;
	return others_have(c, core, beside, !write);
}

int private_acquire(struct nm_coherence *x, struct nm_cache *c, uint64_t block, int write)
{
	const unsigned core = c->core - 1u;

	if (!nm_directory_claim(&x->directory, core, block, &x->failed)) {
		if (nm_directory_owner(&x->directory, block) == NM_NO_OWNER)
			return 0;
		private_end(x, block);
		if (!nm_directory_claim(&x->directory, core, block, &x->failed))
			return 0;
	}
	if (!is_at_edge(block) || !concerns_neighbour(x, core, block, write))
		return 1;
	private_end(x, block);
	return 0;
}

void private_touch(struct nm_coherence *x, struct nm_cache *c, uint32_t slot, int write)
{
	struct nm_coherent_level *as = c->coherent;

	if (write)
		nm_coherence_mark(x, &as->written[slot]);
	as->is_private[slot] = 1;
	nm_coherence_clear(c, slot, 1, as->written[slot] || !is_at_edge(c->tags[slot]));
}
