/* SPDX-License-Identifier: MIT
 *
 * elf_file.c - opens an ELF file, reads its build-id, and finds its sections.
 *
 * The file is mapped, so its debug information costs nothing until it is used.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol_priv.h"

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
