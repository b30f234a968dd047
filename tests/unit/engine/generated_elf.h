/* SPDX-License-Identifier: MIT
 *
 * generated_elf.h - random programs: ELF files in the layouts that linkers make, and who lies where in them.
 *
 * Several segments from one page of the file or of memory (-n), gaps, large pages, segments without bytes in
 * the file, padding of relro, prelinked addresses. The parts of each segment are its symbols: "v0", "v1", ...
 * up to the end of its pages. symbol_at is the twin: it knows them all by their addresses.
 */
#ifndef GENERATED_ELF_H
#define GENERATED_ELF_H

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "numbers.h"
#include "symbol.h"

enum { MAX_SEGMENTS = 6, VARIABLES = 4, MAX_SYMBOLS = MAX_SEGMENTS * VARIABLES, NO_SYMBOL = -1 };

#define PAGE 4096ull
#define DOWN(x) ((x) & ~(PAGE - 1))
#define UP(x) DOWN((x) + PAGE - 1)

struct program {
	struct segment {
		uint64_t vaddr, offset, file_bytes, bytes, relro; /* relro: bytes that become read-only */
		unsigned flags;
	} at[MAX_SEGMENTS];
	unsigned count, symbols;
	struct {
		uint64_t low, end;
		const struct segment *in;
	} symbol[MAX_SYMBOLS];
	uint64_t file_end;
	int is_fixed; /* ET_EXEC: at its own addresses */
	char path[64];
	const char *interned;
	struct nm_module *module;
};

static inline int is_code(const struct program *p, int symbol)
{
	return (p->symbol[symbol].in->flags & PF_X) != 0;
}

static inline uint64_t low_of(const struct program *p) { return DOWN(p->at[0].vaddr); }

static inline uint64_t end_of(const struct program *p)
{
	return UP(p->at[p->count - 1].vaddr + p->at[p->count - 1].bytes);
}

/* The symbol that an address of the program belongs to. */
static inline int symbol_at(const struct program *p, uint64_t vaddr)
{
	for (unsigned i = 0; i < p->symbols; i++)
		if (p->symbol[i].low <= vaddr && vaddr < p->symbol[i].end)
			return (int)i;
	return NO_SYMBOL;
}

/* Whether a byte of the file, seen in a page, may be one of the symbol's. */
static inline int is_byte_of(const struct program *p, int symbol, uint64_t offset)
{
	const struct segment *s = p->symbol[symbol].in;

	return symbol_at(p, s->vaddr + offset - s->offset) == symbol;
}

/* The next segment: how linkers place it behind the last. */
static inline struct segment next_segment(const struct segment *last, unsigned flags)
{
	static const uint64_t aligns[] = {PAGE, PAGE, PAGE, 16 * PAGE, 512 * PAGE};
	const uint64_t align = aligns[below(5)], vaddr = last->vaddr + last->bytes,
		       offset = last->offset + last->file_bytes;
	struct segment s = {.flags = flags, .bytes = 64 + below(3 * PAGE)};

	if (below(
		2)) /* its first bytes share a page of the file with the last segment's (bfd, gold, lld, mold) */
		s.offset = (offset + 15) & ~15ull;
	else /* -z separate-code */
		s.offset = UP(offset) + (below(4) ? 0 : 64 * below(60));
	if (last->file_bytes == last->bytes && last->flags == flags &&
	    !below(3)) /* -n: in the same page of memory */
		s.vaddr = vaddr + s.offset - offset;
	else
		s.vaddr = (UP(vaddr) + below(3) * PAGE + align - 1) / align * align + s.offset % PAGE;
	s.file_bytes = s.bytes;
	if (flags & PF_W) {
		switch (below(4)) {
		case 0: s.file_bytes = 0; break;                          /* .bss alone */
		case 1: s.bytes += below(3 * PAGE); break;                /* .data and .bss */
		case 2: s.bytes = UP(s.vaddr + s.bytes) - s.vaddr; break; /* .relro_padding */
		default: break;
		}
		s.relro = below(2) ? 0 : below(s.bytes + 1);
	}
	return s;
}

static inline void lay_out(struct program *p)
{
	static const unsigned kinds[] = {PF_R, PF_R | PF_X, PF_R | PF_W, PF_R | PF_W};
	struct segment first = {.vaddr = below(3) ? 0 : below(2) ? 0x400000 : 0x3e2a400000};

	first.bytes = first.file_bytes = 64 + below(3 * PAGE); /* the file's head is in it */
	first.flags = kinds[below(2)];
	p->is_fixed = first.vaddr && below(2);
	p->count = 1 + (unsigned)below(MAX_SEGMENTS);
	p->symbols = 0;
	for (unsigned i = 0; i < p->count; i++) {
		struct segment *s = &p->at[i];

		*s = i ? next_segment(s - 1, kinds[below(4)]) : first;
		for (unsigned k = 0; k < VARIABLES; k++) {
			const uint64_t low = s->vaddr + k * s->bytes / VARIABLES;
			const uint64_t bytes =
			    below(3) ? 1 + below(s->bytes / VARIABLES) : s->bytes / VARIABLES;

			p->symbol[p->symbols].low = low;
			p->symbol[p->symbols].end = low + bytes;
			p->symbol[p->symbols++].in = s;
		}
		p->file_end = s->offset + s->file_bytes;
	}
}

static inline void write_segments(const struct program *p, FILE *f)
{
	for (unsigned i = 0; i < p->count; i++) {
		const struct segment *s = &p->at[i];
		Elf64_Phdr h = {PT_LOAD,  s->flags,      s->offset, s->vaddr,
				s->vaddr, s->file_bytes, s->bytes,  PAGE};

		fwrite(&h, sizeof h, 1, f);
	}
}

/* Behind the segments, in pages of their own: program headers, section headers, symbols with names of 8 bytes. */
static inline int write_file(const struct program *p)
{
	static const char section_names[] = "\0.symtab\0.strtab\0.shstrtab";
	Elf64_Sym symbols[1 + MAX_SYMBOLS] = {{0}};
	char names[8 * (1 + MAX_SYMBOLS)] = {0};
	const uint64_t at = UP(p->file_end), symbols_at = at + 2 * PAGE,
		       names_at = symbols_at + sizeof symbols, texts_at = names_at + sizeof names;
	const Elf64_Shdr sections[4] = {{0},
					{1, SHT_SYMTAB, 0, 0, symbols_at,
					 sizeof symbols[0] * (p->symbols + 1), 2, 1, 8, sizeof symbols[0]},
					{9, SHT_STRTAB, 0, 0, names_at, sizeof names, 0, 0, 1, 0},
					{17, SHT_STRTAB, 0, 0, texts_at, sizeof section_names, 0, 0, 1, 0}};
	const Elf64_Ehdr head = {
	    .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	    .e_type = p->is_fixed ? ET_EXEC : ET_DYN,
	    .e_machine = EM_X86_64,
	    .e_version = EV_CURRENT,
	    .e_ehsize = sizeof head,
	    .e_phoff = at,
	    .e_phentsize = sizeof(Elf64_Phdr),
	    .e_phnum = (Elf64_Half)p->count,
	    .e_shoff = at + PAGE,
	    .e_shentsize = sizeof(Elf64_Shdr),
	    .e_shnum = 4,
	    .e_shstrndx = 3};
	FILE *f = fopen(p->path, "wb");

	if (!f)
		return 0;
	for (unsigned i = 0; i < p->symbols; i++) {
		snprintf(names + 8 * (i + 1), 8, "v%u", i);
		symbols[i + 1].st_name = 8 * (i + 1);
		symbols[i + 1].st_info =
		    ELF64_ST_INFO(STB_GLOBAL, is_code(p, (int)i) ? STT_FUNC : STT_OBJECT);
		symbols[i + 1].st_shndx = 1;
		symbols[i + 1].st_value = p->symbol[i].low;
		symbols[i + 1].st_size = p->symbol[i].end - p->symbol[i].low;
	}
	fwrite(&head, sizeof head, 1, f);
	fseek(f, (long)at, SEEK_SET);
	write_segments(p, f);
	fseek(f, (long)(at + PAGE), SEEK_SET);
	fwrite(sections, sizeof sections, 1, f);
	fseek(f, (long)symbols_at, SEEK_SET);
	fwrite(symbols, sizeof symbols, 1, f);
	fwrite(names, sizeof names, 1, f);
	fwrite(section_names, sizeof section_names, 1, f);
	return fclose(f) == 0;
}

#endif
