/* SPDX-License-Identifier: MIT
 *
 * expand.c - unpacks sections that are compressed with zstd (ELFCOMPRESS_ZSTD), which elfutils before 0.189 cannot:
 * a copy of the file in memory, where unpacked sections lie behind its end.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "symbol_priv.h"

enum { TYPE_ZSTD = 2 }; /* ELFCOMPRESS_ZSTD of newer headers */

/* The header of a section that zstd has packed; 0: it is none. */
static int is_packed(const char *image, size_t bytes, const Elf64_Shdr *section, Elf64_Chdr *ret_header)
{
	if (!(section->sh_flags & SHF_COMPRESSED) || section->sh_size < sizeof *ret_header ||
	    section->sh_offset > bytes || section->sh_size > bytes - section->sh_offset)
		return 0;
	memcpy(ret_header, image + section->sh_offset, sizeof *ret_header);
	return ret_header->ch_type == TYPE_ZSTD;
}

/* The table of sections, or NULL. */
static const Elf64_Shdr *sections_of(const char *image, size_t bytes, size_t *ret_count)
{
	Elf64_Ehdr header;

	if (bytes < sizeof header)
		return NULL;
	memcpy(&header, image, sizeof header);
	*ret_count = header.e_shnum;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr) ||
	    header.e_shoff > bytes || header.e_shoff % 8 ||
	    *ret_count > (bytes - header.e_shoff) / sizeof(Elf64_Shdr))
		return NULL;
	return (const Elf64_Shdr *)(const void *)(image + header.e_shoff);
}

/* Bytes of the copy; 0 if nothing is packed, or what headers say is absurd. */
static size_t expanded_bytes(const char *image, size_t bytes, const Elf64_Shdr *sections, size_t count)
{
	enum { MOST_TIMES = 4096, ALIGNED = 16 };
	size_t sum = (bytes + ALIGNED - 1) / ALIGNED * ALIGNED, packed = 0;
	Elf64_Chdr header;

	for (size_t i = 0; i < count; i++) {
		if (!is_packed(image, bytes, &sections[i], &header))
			continue;
		if (header.ch_size / MOST_TIMES > sections[i].sh_size || header.ch_size > SIZE_MAX / 4 - sum)
			return 0;
		sum += (header.ch_size + ALIGNED - 1) / ALIGNED * ALIGNED;
		packed++;
	}
	return packed ? sum : 0;
}

/* Unpacks section i to the end of the copy. 1 if it could be. */
static int expand_section(char *copy, size_t bytes, size_t *end, size_t total, Elf64_Shdr *section)
{
	Elf64_Chdr header;
	size_t n;

	if (!is_packed(copy, bytes, section, &header))
		return 1;
	if (header.ch_size > total - *end)
		return 0;
	n = ZSTD_decompress(copy + *end, header.ch_size, copy + section->sh_offset + sizeof header,
			    section->sh_size - sizeof header);
	if (ZSTD_isError(n) || n != header.ch_size)
		return 0;
	section->sh_offset = *end;
	section->sh_size = n;
	section->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	section->sh_addralign = header.ch_addralign;
	*end += (n + 15) / 16 * 16;
	return 1;
}

Elf *elf_expand(Elf *elf, char **ret_image)
{
	size_t bytes, count, total, end;
	char *image = elf_rawfile(elf, &bytes), *copy;
	const Elf64_Shdr *sections = image ? sections_of(image, bytes, &count) : NULL;
	Elf *expanded = NULL;
	int good = 1;

	total = sections ? expanded_bytes(image, bytes, sections, count) : 0;
	copy = total ? calloc(total, 1) : NULL;
	if (!copy)
		return NULL;
	memcpy(copy, image, bytes);
	end = (bytes + 15) / 16 * 16;
	for (size_t i = 0; i < count && good; i++) {
		Elf64_Shdr *to = (Elf64_Shdr *)(void *)(copy + ((const char *)&sections[i] - image));

		good = expand_section(copy, bytes, &end, total, to);
	}
	if (good)
		expanded = elf_memory(copy, total);
	if (!expanded)
		free(copy);
	else
		*ret_image = copy;
	return expanded;
}
