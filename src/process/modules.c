/* SPDX-License-Identifier: MIT
 *
 * modules.c - which mappings are segments of a loaded program or library (space.h).
 *
 * A loader maps all segments of a file with one bias. A page of the file may belong to several segments, and
 * a program may map a file only to read it, so neither the offset nor the first segment that fits tells the
 * bias. A file is loaded with a bias if every segment that holds code (without code: every segment) is mapped
 * there: at its address, from its offset, as a whole, executable, and not by an earlier copy. The part of a
 * mapping is a segment's that lies in the pages of its file's bytes and agrees with it in address and offset
 * under the bias of the file. Anonymous memory in the pages of a segment is the module's too: its .bss, or
 * code that the program has moved to larger pages. All else has no module, and so no names.
 */
#include <assert.h>

#include "space.h"

static const uint64_t PAGE = 4096;

/* The pages of a segment, in the process: of what the file holds, or of all. */
struct pages {
	uint64_t low, end;
};

static struct pages pages_of(const struct nm_module_segment *s, uint64_t bias, uint64_t bytes)
{
	const uint64_t low = (s->vaddr & ~(PAGE - 1)) + bias;

	return (struct pages){low, bytes ? ((s->vaddr + bytes + PAGE - 1) & ~(PAGE - 1)) + bias : low};
}

/* Do the mapping's bytes come from where the segment has them? */
static int agrees_with_segment(const struct nm_mapping *m, const struct nm_module_segment *s, uint64_t bias)
{
	return m->offset - m->address == s->offset - s->vaddr - bias;
}

/* Are all bytes that the file has for the segment mapped? */
static int maps_segment(struct nm_space *space, const struct nm_mapping *like,
			const struct nm_module_segment *s, uint64_t bias, int is_code)
{
	const struct pages pages = pages_of(s, bias, s->file_bytes);

	for (uint64_t at = pages.low; at < pages.end;) {
		const struct nm_mapping *m = nm_space_mapping(space, at);

		if (!m || m->path != like->path || (m->module && m->bias != bias) ||
		    !agrees_with_segment(m, s, bias) || (s->executable && !m->executable && !is_code))
			return 0;
		at = m->end;
	}
	return 1;
}

static int has_code(const struct nm_module *module)
{
	struct nm_module_segment s;

	for (size_t i = 0; nm_module_segment_at(module, i, &s); i++)
		if (s.executable && s.file_bytes)
			return 1;
	return 0;
}

static int is_loaded(struct nm_space *space, const struct nm_mapping *like, uint64_t bias, int is_code)
{
	const int only_code = has_code(like->file);
	struct nm_module_segment s;

	for (size_t i = 0; nm_module_segment_at(like->file, i, &s); i++)
		if ((s.executable || !only_code) && !maps_segment(space, like, &s, bias, is_code))
			return 0;
	return 1;
}

/* Gives the parts of a mapping of the file that agree with its segments the module. */
static int give_module(struct nm_space *space, struct nm_mapping m, struct nm_module *module, uint64_t bias)
{
	struct nm_module_segment s;

	for (size_t i = 0; nm_module_segment_at(module, i, &s); i++) {
		const uint64_t low = (s.vaddr & ~(PAGE - 1)) + bias;
		const uint64_t end = ((s.vaddr + s.file_bytes + PAGE - 1) & ~(PAGE - 1)) + bias;
		struct nm_mapping part = m;

		part.address = m.address > low ? m.address : low;
		part.end = m.end < end ? m.end : end;
		part.offset += part.address - m.address;
		part.module = module;
		part.bias = bias;
		if (part.address < part.end && agrees_with_segment(&m, &s, bias) &&
		    nm_space_replace(space, &part))
			return NM_ENOMEM;
	}
	return 0;
}

/* The loaded file, around the address, that a mapping is of. 1 if there is one. */
static int loaded_around(const struct nm_space *space, const struct nm_mapping *m,
			 struct nm_module **ret_module, uint64_t *ret_bias)
{
	for (size_t i = 0; i < space->mappings.count; i++) {
		const struct nm_mapping *other = &space->mappings.at[i];
		uint64_t low, end;

		if (other->module && other->path == m->path && nm_module_extent(other->module, &low, &end) &&
		    m->address - (low & ~(PAGE - 1)) - other->bias < end - (low & ~(PAGE - 1))) {
			*ret_module = other->module;
			*ret_bias = other->bias;
			return 1;
		}
	}
	return 0;
}

/* The file is loaded: its segments, and the memory behind them that was mapped before this was known. */
static int place_file(struct nm_space *space, const char *path, struct nm_module *module, uint64_t bias)
{
	uint64_t low, end;

	nm_module_extent(module, &low, &end);
	for (size_t i = 0; i < space->mappings.count; i++) {
		struct nm_mapping m = space->mappings.at[i];

		if (m.module || m.address >= end + bias || m.end <= low + bias)
			continue;
		if (m.path == path ? give_module(space, m, module, bias)
				   : !m.path[0] && nm_space_map(space, &m))
			return NM_ENOMEM;
	}
	return 0;
}

int nm_space_place_module(struct nm_space *space, uint64_t address, int is_code)
{
	struct nm_mapping *fresh = nm_space_mapping(space, address);
	struct nm_module_segment s;
	struct nm_module *module;
	uint64_t bias;

	assert(fresh && fresh->file && !fresh->module);
	if (loaded_around(space, fresh, &module, &bias))
		return give_module(space, *fresh, module, bias);
	module = fresh->file;
	for (size_t i = 0; nm_module_segment_at(module, i, &s); i++) {
		bias = fresh->address - fresh->offset + s.offset - s.vaddr;
		if (s.file_bytes && is_loaded(space, fresh, bias, is_code))
			return place_file(space, fresh->path, module, bias);
	}
	return 0;
}

void nm_space_adopt(const struct nm_space *space, struct nm_mapping *part)
{
	const struct nm_mapping *before = NULL;
	struct nm_module_segment s;

	for (size_t i = 0; i < space->mappings.count; i++) {
		const struct nm_mapping *m = &space->mappings.at[i];

		if (!m->module || (before && before->module == m->module && before->bias == m->bias))
			continue;
		before = m;
		for (size_t k = 0; nm_module_segment_at(m->module, k, &s); k++) {
			const struct pages pages = pages_of(&s, m->bias, s.bytes);

			if (pages.low > part->address && pages.low < part->end) {
				part->end = pages.low;
			} else if (pages.low <= part->address && part->address < pages.end) {
				part->module = m->module;
				part->bias = m->bias;
				part->end = part->end < pages.end ? part->end : pages.end;
				return;
			}
		}
	}
}
