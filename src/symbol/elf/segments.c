/* SPDX-License-Identifier: MIT
 *
 * segments.c - a module's program headers: its segments.
 *
 * If the program's own file is missing but its debug file was found by build-id, the program headers of the
 * debug file are used. They have the same addresses, but not the same file offsets: such segments have no
 * bytes in the file.
 */
#include <string.h>

#include "symbol_priv.h"

static const uint64_t HIGHEST = 1ull << 47; /* no process has addresses beyond, so sums do not overflow */

void module_read_segments(struct nm_module *module)
{
	if (!module->file.elf)
		module_find_debug(module);
	Elf *elf = module->file.elf ? module->file.elf : module->debug.elf;
	size_t count = 0;
	if (elf)
		elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(elf, (int)i, &header))
			break;
		if (header.p_type == PT_TLS) {
			module->tls_image_bytes =
			    header.p_filesz < header.p_memsz ? header.p_filesz : header.p_memsz;
			module->tls_bytes = header.p_memsz;
			module->tls_align = header.p_align;
		}
		if (header.p_type != PT_LOAD || header.p_vaddr > HIGHEST || header.p_memsz > HIGHEST ||
		    header.p_offset > HIGHEST || header.p_filesz > header.p_memsz)
			continue;
		struct segment segment = {header.p_offset, header.p_vaddr, header.p_filesz, header.p_memsz,
					  (header.p_flags & PF_X) != 0};
		if (elf == module->debug.elf)
			segment.file_bytes = 0;
		if (nm_vec_push(&module->segments, segment))
			return;
	}
}

static int segment_holds(const struct nm_module *module, uint64_t vaddr, int executable)
{
	for (size_t i = 0; i < module->segments.count; i++) {
		const struct segment *segment = &module->segments.at[i];
		if (vaddr - segment->vaddr < segment->bytes && (!executable || segment->executable))
			return 1;
	}
	return 0;
}

int module_holds_code(const struct nm_module *module, uint64_t vaddr)
{
	return segment_holds(module, vaddr, 1);
}

int module_holds(const struct nm_module *module, uint64_t vaddr) { return segment_holds(module, vaddr, 0); }

int nm_module_segment_at(const struct nm_module *module, size_t i, struct nm_module_segment *ret_segment)
{
	if (i >= module->segments.count)
		return 0;
	const struct segment *s = &module->segments.at[i];
	*ret_segment =
	    (struct nm_module_segment){s->offset, s->vaddr, s->file_bytes, s->bytes, s->executable};
	return 1;
}

int nm_module_extent(struct nm_module *module, uint64_t *ret_low, uint64_t *ret_end)
{
	uint64_t low = UINT64_MAX, end = 0;
	for (size_t i = 0; i < module->segments.count; i++) {
		const struct segment *segment = &module->segments.at[i];
		low = segment->vaddr < low ? segment->vaddr : low;
		end = segment->vaddr + segment->bytes > end ? segment->vaddr + segment->bytes : end;
	}
	if (low >= end)
		return 0;
	*ret_low = low;
	*ret_end = end;
	return 1;
}

int nm_module_tls(struct nm_module *module, uint64_t *ret_bytes, uint64_t *ret_align)
{
	*ret_bytes = module->tls_bytes;
	*ret_align = module->tls_bytes ? module->tls_align : 0;
	return module->tls_bytes != 0;
}

/* ---- code: the machine code of a module, from its file ---- */

size_t module_code(struct nm_module *module, uint64_t vaddr, uint8_t *ret_bytes, size_t room)
{
	module_seek_file(module);
	if (!module->file.elf)
		return 0;
	for (size_t i = 0; i < module->segments.count; i++) {
		const struct segment *segment = &module->segments.at[i];
		uint64_t at = vaddr - segment->vaddr;
		if (!segment->executable || vaddr < segment->vaddr || at >= segment->file_bytes)
			continue;
		if (room > segment->file_bytes - at)
			room = segment->file_bytes - at;
		Elf_Data *data =
		    elf_getdata_rawchunk(module->file.elf, (int64_t)(segment->offset + at), room, ELF_T_BYTE);
		if (!data || !data->d_buf || data->d_size < room)
			return 0;
		memcpy(ret_bytes, data->d_buf, room);
		return room;
	}
	return 0;
}
