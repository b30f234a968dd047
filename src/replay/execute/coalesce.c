/* SPDX-License-Identifier: MIT
 *
 * coalesce.c - makes coalesced accesses (coalesced.h) of accesses that share an address word
 * (decoded_block.h). Each object, or combination of objects, that they reach gets one, which lists the
 * attribution key of each member. Its count is distributed over these keys at the end.
 *
 * Members nearly always lie in one object, so a hash from access site and object finds the coalesced access,
 * with a small direct-mapped cache in front, as for attribution keys.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "resolver.h"

int nm_resolver_init(struct nm_resolver *r)
{
	r->coalesced = nm_coalesced_table_new();
	r->coalesced_recent = calloc(1u << NM_RECENT_ATTRS_BITS, sizeof *r->coalesced_recent);
	return r->coalesced && r->coalesced_recent ? 0 : NM_ENOMEM;
}

void nm_resolver_done(struct nm_resolver *r)
{
	nm_coalesced_table_free(r->coalesced);
	nm_map_done(&r->coalesced_of);
	free(r->coalesced_recent);
}

uint32_t nm_resolver_attribute(struct nm_resolver *r, uint32_t access_site, uint32_t object)
{
	assert(access_site < r->decoder->access_sites.count);
	return nm_attributions_get(
	    r->attrs, r->running->thread->lane->number,
	    r->attrs->instructions.at[r->decoder->access_instructions.at[access_site]].site, object);
}

/* Lists the members, each with its attribution key; returns their number, 0 if out of memory. objects: one
 * for each member (step 1), or one for all (step 0). */
static unsigned list_members(struct nm_resolver *r, uint32_t access_site, const uint32_t *objects,
			     unsigned step, struct nm_coalesced_member *ret_members)
{
	const struct nm_access_site *a = &r->decoder->access_sites.at[access_site];
	const struct nm_decoded_tables *t = nm_tables_of(a->decoded);
	const struct nm_access_range s = nm_word_accesses(t, a->access);
	unsigned n = 0;

	for (uint32_t i = s.first; i < s.end; i++) {
		uint32_t single = a->decoded->first_access_site + t->single[i].entry;
		uint64_t word = nm_entry_of(&r->decoder->access_sites.at[single], word);

		ret_members[n] =
		    (struct nm_coalesced_member){.attr = nm_resolver_attribute(r, single, objects[n * step]),
						 .distance = t->single[i].distance,
						 .size = (uint8_t)nm_word_size(word),
						 .kind = (uint8_t)nm_word_kind(word)};
		if (!ret_members[n++].attr)
			return 0;
	}
	return n;
}

uint32_t nm_resolver_coalesced(struct nm_resolver *r, uint32_t access_site, uint32_t object)
{
	struct nm_coalesced_member members[NM_COALESCED_MAX];
	uint64_t key = (uint64_t)access_site << 26 | (object < NM_OBJECT_MAX ? object : NM_OBJECT_MAX);
	struct nm_recent_attr *recent = &r->coalesced_recent[nm_mix64(key) >> (64 - NM_RECENT_ATTRS_BITS)];
	unsigned n;

	assert(access_site < r->decoder->access_sites.count);
	if (recent->attr && recent->key == key)
		return recent->attr;
	*recent = (struct nm_recent_attr){key, (uint32_t)nm_map_get(&r->coalesced_of, key, 0)};
	if (!recent->attr && (n = list_members(r, access_site, &object, 0, members))) {
		recent->attr = nm_coalesced_add(r->coalesced, members, n);
		if (recent->attr && nm_map_put(&r->coalesced_of, key, recent->attr))
			recent->attr = 0;
	}
	return recent->attr;
}

uint32_t nm_resolver_mixed_coalesced(struct nm_resolver *r, uint32_t access_site, const uint32_t *objects)
{
	struct nm_coalesced_member members[NM_COALESCED_MAX];
	unsigned n = list_members(r, access_site, objects, 1, members);
	uint64_t key = n;
	uint32_t group;

	assert(access_site < r->decoder->access_sites.count);
	for (unsigned i = 0; i < n; i++)
		key = nm_mix64(key ^ members[i].attr);
	for (key |= 1ull << 63; (group = (uint32_t)nm_map_get(&r->coalesced_of, key, 0)); key++) {
		const struct nm_coalesced *c = nm_coalesced_at(r->coalesced, group);

		if (c->members == n && !memcmp(c->member, members, n * sizeof *members))
			return group;
	}
	group = n ? nm_coalesced_add(r->coalesced, members, n) : 0;
	return group && nm_map_put(&r->coalesced_of, key, group) ? 0 : group;
}

void nm_resolver_credit_members(struct nm_resolver *r)
{
	for (uint32_t i = 1; i < r->coalesced->count; i++) {
		struct nm_coalesced *c = nm_coalesced_at(r->coalesced, i);

		for (uint32_t k = 0; k < c->members; k++)
			r->attrs->references[c->member[k].attr].count[c->member[k].kind] += c->count;
		c->count = 0;
	}
}
