/* SPDX-License-Identifier: MIT
 *
 * plt.c - names for the stubs of the procedure linkage table: "memcpy@plt".
 *
 * No symbol names them. On x86-64 a stub is an indirect jump through a slot (jmp *disp(%rip), perhaps after
 * endbr64 and with a bnd prefix), and a relocation names the symbol of the slot. A lazy stub under IBT
 * instead pushes the index of its relocation in .rela.plt. So stubs are decoded, not counted, which is
 * correct for .plt, .plt.sec and .plt.got of every linker. Slots of IFUNCs without a symbol (static
 * programs) are named by the resolver. On other machines stubs have no name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol_priv.h"

struct slot {
	uint64_t vaddr;
	const char *symbol;
};

struct slots {
	struct nm_vec(struct slot) all;  /* sorted by vaddr */
	struct nm_vec(struct slot) lazy; /* .rela.plt in file order */
};

static int by_vaddr(const void *left, const void *right)
{
	const struct slot *s = left, *b = right;
	return s->vaddr < b->vaddr ? -1 : s->vaddr > b->vaddr;
}

/* The function that an IRELATIVE relocation resolves.  The list is sorted already. */
static const char *resolver_name(const struct nm_module *module, uint64_t vaddr)
{
	size_t low = 0, end = module->functions.count;
	while (low < end) {
		size_t middle = low + (end - low) / 2;
		if (module->functions.at[middle].low < vaddr)
			low = middle + 1;
		else
			end = middle;
	}
	return low < module->functions.count && module->functions.at[low].low == vaddr
		   ? module->functions.at[low].raw
		   : NULL;
}

static void read_relocations(struct nm_module *module, Elf *elf, const char *table, struct slots *slots)
{
	Elf_Scn *section, *symbols;
	GElf_Shdr header, symbol_header = {0};
	if (!elf_find_section(elf, table, &section, &header) || header.sh_type != SHT_RELA ||
	    !header.sh_entsize)
		return;
	Elf_Data *data = elf_getdata(section, NULL), *names = NULL;
	symbols = elf_getscn(elf, header.sh_link);
	if (symbols && gelf_getshdr(symbols, &symbol_header) && symbol_header.sh_type == SHT_DYNSYM)
		names = elf_getdata(symbols, NULL);
	int is_plt = !strcmp(table, ".rela.plt");
	size_t count = data ? data->d_size / header.sh_entsize : 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Rela relocation;
		GElf_Sym symbol;
		const char *name = NULL;
		if (!gelf_getrela(data, (int)i, &relocation))
			break;
		uint64_t type = GELF_R_TYPE(relocation.r_info);
		if (type == R_X86_64_IRELATIVE && is_plt)
			name = resolver_name(module, (uint64_t)relocation.r_addend);
		else if (names && gelf_getsym(names, (int)GELF_R_SYM(relocation.r_info), &symbol))
			name = elf_strptr(elf, symbol_header.sh_link, symbol.st_name);
		struct slot slot = {relocation.r_offset, name};
		if (is_plt && nm_vec_push(&slots->lazy, slot))
			return;
		if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || (is_plt && name)) && name &&
		    *name && nm_vec_push(&slots->all, slot))
			return;
	}
}

static const char *slot_at(const struct slots *slots, uint64_t vaddr)
{
	struct slot key = {.vaddr = vaddr};
	const struct slot *found =
	    slots->all.count ? bsearch(&key, slots->all.at, slots->all.count, sizeof key, by_vaddr) : NULL;
	return found ? found->symbol : NULL;
}

/* The symbol that the stub of `size` bytes at vaddr jumps to, or NULL. */
static const char *stub_target(const struct slots *slots, const uint8_t *code, size_t size, uint64_t vaddr)
{
	size_t at = 0;
	if (size >= 4 && !memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		at = 4;
	if (at + 5 <= size && code[at] == 0x68) { /* push $index */
		uint32_t index;
		memcpy(&index, code + at + 1, sizeof index);
		return index < slots->lazy.count ? slots->lazy.at[index].symbol : NULL;
	}
	if (at + 6 <= size && code[at] == 0x41 && code[at + 1] == 0xbb) /* mov $index, %r11d (mold) */
		at += 6;
	at += at < size && code[at] == 0xf2;
	if (at + 6 > size || code[at] != 0xff || code[at + 1] != 0x25)
		return NULL;
	int32_t displacement;
	memcpy(&displacement, code + at + 2, sizeof displacement);
	return slot_at(slots, vaddr + at + 6 + (uint64_t)(int64_t)displacement);
}

static void read_stubs(struct nm_module *module, Elf *elf, const char *name, const struct slots *slots)
{
	Elf_Scn *section;
	GElf_Shdr header;
	if (!elf_find_section(elf, name, &section, &header) || header.sh_type != SHT_PROGBITS)
		return;
	Elf_Data *data = elf_getdata(section, NULL);
	size_t step = header.sh_entsize == 8 ? 8 : 16;
	for (size_t at = 0; data && data->d_buf && at + step <= data->d_size; at += step) {
		const char *target =
		    stub_target(slots, (const uint8_t *)data->d_buf + at, step, header.sh_addr + at);
		char text[512];
		if (!target) /* the table's head, or a slot without a symbol */
			target = "<linkage table>";
		if ((size_t)snprintf(text, sizeof text, "%s@plt", target) >= sizeof text)
			continue;
		const char *raw = nm_intern(module_pool(module), text);
		uint64_t vaddr = header.sh_addr + at;
		if (!raw ||
		    nm_vec_push(&module->functions, (struct elf_symbol){vaddr, vaddr + step, raw, NULL, 0}))
			return;
	}
}

void plt_read(struct nm_module *module)
{
	Elf *elf = module->file.elf;
	GElf_Ehdr header;
	if (!elf || !gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64)
		return;
	struct slots slots = {0};
	read_relocations(module, elf, ".rela.plt", &slots);
	read_relocations(module, elf, ".rela.dyn", &slots);
	if (slots.all.count)
		qsort(slots.all.at, slots.all.count, sizeof *slots.all.at, by_vaddr);
	read_stubs(module, elf, ".plt", &slots);
	read_stubs(module, elf, ".plt.sec", &slots);
	read_stubs(module, elf, ".plt.got", &slots);
	nm_vec_free(&slots.all);
	nm_vec_free(&slots.lazy);
}
