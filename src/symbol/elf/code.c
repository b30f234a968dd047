/* SPDX-License-Identifier: MIT
 *
 * code.c - the machine code of a module, from its file.
 */
#include <string.h>

#include "symbol_priv.h"

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
