/* SPDX-License-Identifier: MIT
 *
 * segments.c - opening an ELF file, its build-id, and what its program headers say.
 *
 * Only program headers and notes are read.  The file is mapped, so the size of its debug information
 * costs nothing until it is used.  If the program's own file is not to be had but its debug file is
 * (found by build-id), the debug file's program headers serve: they carry the same addresses, but not
 * the same file offsets, so such a module answers every question but that for its bias.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol_priv.h"

static const uint64_t PAGE = 4096;

static void read_build_id(struct elf_file *file, const GElf_Phdr *header)
{
	Elf_Data *data = elf_getdata_rawchunk(file->elf, (int64_t)header->p_offset, header->p_filesz,
					      header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, name_at, id_at;
	GElf_Nhdr note;
	while (data && (at = gelf_getnote(data, at, &note, &name_at, &id_at)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || note.n_descsz > BUILD_ID_MAX ||
		    memcmp((const char *)data->d_buf + name_at, "GNU", 4))
			continue;
		file->build_id_bytes = note.n_descsz;
		memcpy(file->build_id, (const char *)data->d_buf + id_at, note.n_descsz);
		return;
	}
}

/* Stripping to a debug file leaves PT_NOTE pointing at nothing: there the section has the id. */
static void read_build_id_section(struct elf_file *file)
{
	Elf_Scn *section;
	GElf_Shdr header;
	if (!elf_find_section(file->elf, ".note.gnu.build-id", &section, &header) ||
	    header.sh_type != SHT_NOTE)
		return;
	GElf_Phdr as_segment = {
	    .p_offset = header.sh_offset, .p_filesz = header.sh_size, .p_align = header.sh_addralign};
	read_build_id(file, &as_segment);
}

int elf_file_open(struct elf_file *file, const char *path)
{
	*file = (struct elf_file){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
	struct stat status;
	if (file->fd < 0)
		return 0;
	GElf_Ehdr header;
	if (fstat(file->fd, &status) == 0 && S_ISREG(status.st_mode))
		file->elf = elf_begin(file->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN)) {
		elf_file_close(file);
		return 0;
	}
	file->modified = status.st_mtime;
	size_t count = 0;
	elf_getphdrnum(file->elf, &count);
	for (size_t i = 0; i < count && !file->build_id_bytes; i++) {
		GElf_Phdr segment;
		if (gelf_getphdr(file->elf, (int)i, &segment) && segment.p_type == PT_NOTE)
			read_build_id(file, &segment);
	}
	if (!file->build_id_bytes)
		read_build_id_section(file);
	return 1;
}

void elf_file_close(struct elf_file *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct elf_file){.fd = -1};
}

int elf_find_section(Elf *elf, const char *name, Elf_Scn **ret_section, GElf_Shdr *ret_header)
{
	size_t names;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return 0;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		const char *found =
		    gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		if (!found || strcmp(found, name))
			continue;
		*ret_section = section;
		*ret_header = header;
		return 1;
	}
	return 0;
}

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
		if (header.p_type != PT_LOAD || header.p_vaddr + header.p_memsz < header.p_vaddr ||
		    header.p_offset + header.p_filesz < header.p_offset)
			continue;
		struct segment segment = {header.p_offset, header.p_vaddr, header.p_filesz, header.p_memsz,
					  (header.p_flags & PF_X) != 0};
		if (elf == module->debug.elf)
			segment.file_bytes = 0;
		if (nm_vec_push(&module->segments, segment))
			return;
	}
}

static int holds(const struct nm_module *module, uint64_t vaddr, int executable)
{
	for (size_t i = 0; i < module->segments.count; i++) {
		const struct segment *segment = &module->segments.at[i];
		if (vaddr - segment->vaddr < segment->bytes && (!executable || segment->executable))
			return 1;
	}
	return 0;
}

int module_holds_code(const struct nm_module *module, uint64_t vaddr) { return holds(module, vaddr, 1); }

int module_holds(const struct nm_module *module, uint64_t vaddr) { return holds(module, vaddr, 0); }

/* Segments may share a page of the file; the one whose first page is asked for is meant. */
int nm_module_bias(struct nm_module *module, uint64_t address, uint64_t file_offset, int executable,
		   uint64_t *ret_bias)
{
	const struct segment *best = NULL;
	for (size_t i = 0; i < module->segments.count; i++) {
		const struct segment *segment = &module->segments.at[i];
		uint64_t first = segment->offset & ~(PAGE - 1);
		uint64_t end = (segment->offset + segment->file_bytes + PAGE - 1) & ~(PAGE - 1);
		if ((executable && !segment->executable) || file_offset < first || file_offset >= end)
			continue;
		if (!best || first == (file_offset & ~(PAGE - 1)))
			best = segment;
	}
	if (!best)
		return 0;
	*ret_bias = address - (best->vaddr + (file_offset - best->offset));
	return 1;
}

int nm_module_segment_at(const struct nm_module *module, size_t i, struct nm_module_segment *ret_segment)
{
	if (i >= module->segments.count)
		return 0;
	const struct segment *s = &module->segments.at[i];
	*ret_segment = (struct nm_module_segment){s->offset, s->vaddr, s->bytes, s->executable};
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
