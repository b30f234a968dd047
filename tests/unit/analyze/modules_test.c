/* SPDX-License-Identifier: MIT
 *
 * modules_test.c - which variable an address is, in random programs that random loaders have mapped.
 *
 * The twin is the generator: it lays segments out as linkers do (several from one page of the file, gaps,
 * segments without bytes in the file, padding of relro, large pages, prelinked addresses), gives each its
 * variables, and maps them as the kernel or the dynamic linker does. So it knows each variable's address. Data
 * mappings of the same file, a second copy of the library and memory in the gaps are there to mislead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <elf.h>

#include "numbers.h"
#include "space.h"
#include "temporary_folder.h"

enum { MAX_SEGMENTS = 6, VARIABLES = 4, MAX_SYMBOLS = MAX_SEGMENTS * VARIABLES, ROUNDS = 1500 };

#define PAGE 4096ull
#define DOWN(x) ((x) & ~(PAGE - 1))
#define UP(x) DOWN((x) + PAGE - 1)
#define ELSEWHERE 0x7f0000000000ull /* data mappings go there */

struct program {
	struct segment {
		uint64_t vaddr, offset, file_bytes, bytes;
		unsigned flags;
	} at[MAX_SEGMENTS];
	unsigned count, symbols;
	struct {
		uint64_t low, end;
		int is_code;
	} symbol[MAX_SYMBOLS];
	uint64_t end; /* of the file */
	char path[64];
	const char *interned;
	struct nm_module *module;
};

/* The next segment: how linkers place it behind the last. */
static struct segment next_segment(uint64_t vaddr, uint64_t offset, unsigned flags)
{
	static const uint64_t aligns[] = {PAGE, PAGE, PAGE, 16 * PAGE, 512 * PAGE};
	const uint64_t align = aligns[below(5)];
	struct segment s = {.flags = flags, .bytes = 64 + below(3 * PAGE)};

	if (below(
		2)) /* its first bytes share a page of the file with the last segment's (bfd, gold, lld, mold) */
		s.offset = (offset + 15) & ~15ull;
	else /* -z separate-code */
		s.offset = UP(offset) + (below(4) ? 0 : 64 * below(60));
	s.vaddr = (UP(vaddr) + below(3) * PAGE + align - 1) / align * align + s.offset % PAGE;
	s.file_bytes = s.bytes;
	if (flags & PF_W) {
		switch (below(4)) {
		case 0: s.file_bytes = 0; break;                          /* .bss alone */
		case 1: s.bytes += below(3 * PAGE); break;                /* .data and .bss */
		case 2: s.bytes = UP(s.vaddr + s.bytes) - s.vaddr; break; /* .relro_padding */
		default: break;
		}
	}
	return s;
}

static void lay_out(struct program *p)
{
	static const unsigned kinds[] = {PF_R, PF_R | PF_X, PF_R | PF_W, PF_R | PF_W};
	uint64_t vaddr = below(3) ? 0 : below(2) ? 0x400000 : 0x3e2a400000, offset = 0;

	p->count = 1 + (unsigned)below(MAX_SEGMENTS);
	p->symbols = 0;
	for (unsigned i = 0; i < p->count; i++) {
		struct segment *s = &p->at[i];

		*s = next_segment(vaddr, offset, i ? kinds[below(4)] : kinds[below(2)]);
		if (!i) { /* the file's head is in the first */
			s->vaddr = vaddr;
			s->offset = 0;
		}
		vaddr = s->vaddr + s->bytes;
		offset = s->offset + s->file_bytes;
		for (unsigned k = 0; k < VARIABLES; k++) {
			const uint64_t low = s->vaddr + k * s->bytes / VARIABLES;

			p->symbol[p->symbols].low = low;
			p->symbol[p->symbols].end = low + 1 + below(s->bytes / VARIABLES);
			p->symbol[p->symbols++].is_code = (s->flags & PF_X) != 0;
		}
	}
	p->end = offset;
}

/* "v0", "v1", ... one after the other, each in 8 bytes. */
static void write_file(struct program *p)
{
	static const char section_names[] = "\0.symtab\0.strtab\0.shstrtab";
	Elf64_Ehdr head = {.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT};
	Elf64_Sym symbols[1 + MAX_SYMBOLS] = {0};
	char names[8 * (1 + MAX_SYMBOLS)] = {0};
	const uint64_t at = UP(p->end);
	FILE *f = fopen(p->path, "wb");

	assert_non_null(f);
	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	head.e_ident[EI_VERSION] = EV_CURRENT;
	head.e_ehsize = sizeof head;
	head.e_phoff = at;
	head.e_phentsize = sizeof(Elf64_Phdr);
	head.e_phnum = (Elf64_Half)p->count;
	head.e_shoff = at + PAGE;
	head.e_shentsize = sizeof(Elf64_Shdr);
	head.e_shnum = 4;
	head.e_shstrndx = 3;
	fwrite(&head, sizeof head, 1, f);
	fseek(f, (long)at, SEEK_SET);
	for (unsigned i = 0; i < p->count; i++) {
		const struct segment *s = &p->at[i];
		Elf64_Phdr h = {PT_LOAD,  s->flags,      s->offset, s->vaddr,
				s->vaddr, s->file_bytes, s->bytes,  PAGE};

		fwrite(&h, sizeof h, 1, f);
	}
	for (unsigned i = 0; i < p->symbols; i++) {
		snprintf(names + 8 * (i + 1), 8, "v%u", i);
		symbols[i + 1] =
		    (Elf64_Sym){8 * (i + 1),
				ELF64_ST_INFO(STB_GLOBAL, p->symbol[i].is_code ? STT_FUNC : STT_OBJECT),
				0,
				1,
				p->symbol[i].low,
				p->symbol[i].end - p->symbol[i].low};
	}
	const uint64_t symbols_at = at + 2 * PAGE, names_at = symbols_at + sizeof symbols,
		       texts_at = names_at + sizeof names;
	const Elf64_Shdr sections[4] = {{0},
					{1, SHT_SYMTAB, 0, 0, symbols_at,
					 sizeof symbols[0] * (p->symbols + 1), 2, 1, 8, sizeof symbols[0]},
					{9, SHT_STRTAB, 0, 0, names_at, sizeof names, 0, 0, 1, 0},
					{17, SHT_STRTAB, 0, 0, texts_at, sizeof section_names, 0, 0, 1, 0}};
	fseek(f, (long)head.e_shoff, SEEK_SET);
	fwrite(sections, sizeof sections, 1, f);
	fseek(f, (long)symbols_at, SEEK_SET);
	fwrite(symbols, sizeof symbols, 1, f);
	fwrite(names, sizeof names, 1, f);
	fwrite(section_names, sizeof section_names, 1, f);
	assert_int_equal(fclose(f), 0);
}

/* ---- loaders ---- */

static void map(struct nm_space *space, const struct program *p, uint64_t low, uint64_t end, uint64_t offset,
		unsigned flags, int of_file)
{
	struct nm_mapping m = {.address = low,
			       .end = end,
			       .offset = of_file ? offset : 0,
			       .path = of_file ? p->interned : "",
			       .file = of_file ? p->module : NULL,
			       .executable = of_file && (flags & PF_X) != 0};

	assert_int_equal(nm_space_map(space, &m), 0);
}

struct piece {
	uint64_t low, end, offset;
	unsigned flags;
	int of_file;
};

/* As the kernel does; told in order of address, pieces that continue each other as one (Valgrind). */
static void start_program(struct nm_space *space, const struct program *p, uint64_t bias)
{
	struct piece list[2 * MAX_SEGMENTS];
	size_t count = 0;

	for (unsigned i = 0; i < p->count; i++) {
		const struct segment *s = &p->at[i];
		const uint64_t low = DOWN(s->vaddr) + bias;
		const uint64_t middle = s->file_bytes ? UP(s->vaddr + s->file_bytes) + bias : low;
		const uint64_t end = UP(s->vaddr + s->bytes) + bias;

		if (middle > low)
			list[count++] = (struct piece){low, middle, DOWN(s->offset), s->flags, 1};
		if (end > middle)
			list[count++] = (struct piece){middle, end, 0, s->flags, 0};
	}
	for (size_t i = 0, next; i < count; i = next) {
		struct piece m = list[i];

		for (next = i + 1; next < count && list[next].low == m.end && list[next].flags == m.flags &&
				   list[next].of_file == m.of_file &&
				   (!m.of_file || list[next].offset == m.offset + m.end - m.low);
		     next++)
			m.end = list[next].end;
		map(space, p, m.low, m.end, m.offset, m.flags, m.of_file);
	}
}

/* As the dynamic linker does: the first mapping reserves all, later ones replace parts. */
static void load_library(struct nm_space *space, const struct program *p, uint64_t bias)
{
	const struct segment *last = &p->at[p->count - 1];

	for (unsigned i = 0; i < p->count; i++) {
		const struct segment *s = &p->at[i];
		const uint64_t low = DOWN(s->vaddr) + bias;
		uint64_t middle = s->file_bytes ? UP(s->vaddr + s->file_bytes) + bias : low;
		const uint64_t end = UP(s->vaddr + s->bytes) + bias;

		if (!i)
			map(space, p, low, UP(last->vaddr + last->bytes) + bias, DOWN(s->offset), s->flags,
			    1);
		else if (middle > low)
			map(space, p, low, middle, DOWN(s->offset), s->flags, 1);
		if (end > middle)
			map(space, p, middle, end, 0, s->flags, 0);
	}
}

/* ---- checks ---- */

static const char *name_at(struct nm_space *space, uint64_t address)
{
	struct nm_location location;

	nm_space_forget(space);
	assert_int_equal(nm_space_find(space, address, &location), 0);
	return space->objects.at[location.object].kind == NM_OBJECT_GLOBAL
		   ? space->objects.at[location.object].name
		   : NULL;
}

static void check_symbols(struct nm_space *space, const struct program *p, uint64_t bias)
{
	for (unsigned i = 0; i < p->symbols; i++) {
		const uint64_t at = p->symbol[i].low + below(p->symbol[i].end - p->symbol[i].low);
		const struct nm_mapping *m = nm_space_mapping(space, at + bias);
		struct nm_function f;
		char name[8];

		snprintf(name, sizeof name, "v%u", i);
		assert_non_null(m);
		assert_ptr_equal(m->module, p->module);
		assert_int_equal(m->bias, bias);
		if (p->symbol[i].is_code) {
			assert_int_equal(nm_module_function(m->module, at, &f), 1);
			assert_string_equal(f.name, name);
		} else {
			assert_string_equal(name_at(space, at + bias), name);
		}
	}
}

/* Memory that the program maps in a gap between segments has no variables. */
static void check_gaps(struct nm_space *space, const struct program *p, uint64_t bias)
{
	for (unsigned i = 0; i + 1 < p->count; i++) {
		const uint64_t low = UP(p->at[i].vaddr + p->at[i].bytes) + bias;
		const uint64_t end = DOWN(p->at[i + 1].vaddr) + bias;

		if (low == end)
			continue;
		map(space, p, low, end, 0, PF_R | PF_W, 0);
		for (uint64_t at = low; at < end && at < low + 8 * PAGE; at += PAGE)
			assert_null(name_at(space, at + below(PAGE)));
		map(space, p, low, end, DOWN(p->at[i].offset), PF_R, 1);
		assert_null(name_at(space, low + below(end - low)));
	}
}

/* Reads the file through a mapping: unless a loader could have made it, its bytes are no variables. */
static void check_reader(struct nm_space *space, const struct program *p)
{
	const uint64_t pages = UP(p->end) / PAGE + 3, first = below(pages),
		       end = first + 1 + below(pages - first);
	int has_code = 0;

	for (unsigned i = 0; i < p->count; i++)
		has_code |= (p->at[i].flags & PF_X) && p->at[i].file_bytes;
	map(space, p, ELSEWHERE, ELSEWHERE + (end - first) * PAGE, first * PAGE, PF_R, 1);
	for (uint64_t at = 0; at < (end - first) * PAGE && has_code; at += 512)
		assert_null(name_at(space, ELSEWHERE + at));
	assert_int_equal(nm_space_unmap(space, ELSEWHERE, (end - first) * PAGE), 0);
}

static void names_are_right_in_any_layout(void **state)
{
	struct nm_symbols *symbols;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		const uint64_t bias = below(4) ? (1 + below(1 << 20)) * PAGE : 0, second = 0x600000000000;
		struct nm_space space;
		struct program p;

		assert_int_equal(nm_symbols_new(&symbols, NULL), 0);
		lay_out(&p);
		snprintf(p.path, sizeof p.path, "%s/program", temporary_folder);
		write_file(&p);
		assert_int_equal(nm_symbols_module(symbols, p.path, NULL, 0, &p.module, NULL), 0);
		p.interned = nm_symbols_intern(symbols, p.path);
		assert_int_equal(nm_space_init(&space, symbols), 0);
		check_reader(&space, &p);
		if (below(2))
			start_program(&space, &p, bias);
		else
			load_library(&space, &p, bias);
		check_symbols(&space, &p, bias);
		check_reader(&space, &p);
		load_library(&space, &p, second);
		check_gaps(&space, &p, bias);
		check_symbols(&space, &p, bias);
		check_symbols(&space, &p, second);
		assert_true(nm_space_is_valid(&space));
		assert_int_equal(nm_space_unmap(&space, second, 1ull << 40),
				 0); /* dlclose, and its memory again */
		map(&space, &p, second, second + (64 << 20), 0, PF_R | PF_W, 0);
		assert_null(name_at(&space, second + p.symbol[p.symbols - 1].low % (64 << 20)));
		nm_space_done(&space);
		nm_symbols_free(symbols);
		unlink(p.path);
	}
}

/* The mappings of this very process, as the kernel tells them. */
int a_variable = 1;
static int a_hole[5000];

static void own_names_are_right(void **state)
{
	struct nm_symbols *symbols;
	struct nm_function f;
	struct nm_space space;
	char line[4600], path[4096];
	FILE *maps = fopen("/proc/self/maps", "r");

	(void)state;
	assert_non_null(maps);
	assert_int_equal(nm_symbols_new(&symbols, NULL), 0);
	assert_int_equal(nm_space_init(&space, symbols), 0);
	while (fgets(line, sizeof line, maps)) {
		struct nm_mapping m = {.path = ""};
		unsigned long long low, end, offset;
		char mode[8];
		int n = sscanf(line, "%llx-%llx %7s %llx %*s %*s %4095s", &low, &end, mode, &offset, path);

		if (n < 4)
			continue;
		m.address = low;
		m.end = end;
		if (n == 5 && path[0] == '/') {
			m.offset = offset;
			m.executable = mode[2] == 'x';
			m.path = nm_symbols_intern(symbols, path);
			assert_int_equal(nm_symbols_module(symbols, path, NULL, 0, &m.file, NULL), 0);
		}
		assert_int_equal(nm_space_map(&space, &m), 0);
	}
	fclose(maps);
	assert_string_equal(name_at(&space, (uintptr_t)&a_variable), "a_variable");
	const struct nm_mapping *m = nm_space_mapping(&space, (uintptr_t)own_names_are_right);
	assert_true(m && m->module);
	assert_int_equal(nm_module_function(m->module, (uintptr_t)own_names_are_right - m->bias, &f), 1);
	assert_string_equal(f.name, "own_names_are_right");
	m = nm_space_mapping(&space, (uintptr_t)&a_hole[4000]);
	assert_true(m && m->module && !m->path[0]);
	nm_space_done(&space);
	nm_symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_right_in_any_layout),
	    cmocka_unit_test(own_names_are_right),
	};

	return cmocka_run_group_tests_name("modules", tests, enter_temporary_folder, remove_temporary_folder);
}
