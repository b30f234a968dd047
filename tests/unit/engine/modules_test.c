/* SPDX-License-Identifier: MIT
 *
 * modules_test.c - which variable an address is, in random programs (generated_elf.h) that random loaders map.
 *
 * The loaders map segments as the kernel or the dynamic linker does, so the twin knows what each address is.
 * Mappings that read the same file, a second copy beside the first and memory in the gaps are there to mislead.
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

#include "generated_elf.h"
#include "space.h"
#include "temporary_folder.h"

enum { ROUNDS = 3000, MAX_PAGES = 1 << 13 };

#define ELSEWHERE 0x7f0000000000ull /* data mappings go there */

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

/* The end of the pages that a segment has from the file. A .bss alone may begin in the middle of one. */
static uint64_t file_pages_end(const struct segment *s) { return UP(s->vaddr + s->file_bytes); }

/* As the kernel does, and the dynamic linker, which makes relro read-only; told at last, in order of address,
 * pages that continue each other as one mapping. */
static void start_program(struct nm_space *space, const struct program *p, uint64_t bias)
{
	static struct page {
		uint64_t offset;
		unsigned flags;
		int is_mapped, of_file;
	} pages[MAX_PAGES];
	const size_t count = (end_of(p) - low_of(p)) / PAGE;

	assert_true(count < MAX_PAGES);
	memset(pages, 0, sizeof pages[0] * (count + 1));
	for (unsigned i = 0; i < p->count; i++) {
		const struct segment *s = &p->at[i];

		for (uint64_t at = DOWN(s->vaddr); at < s->vaddr + s->bytes; at += PAGE)
			pages[(at - low_of(p)) / PAGE] = (struct page){
			    at < file_pages_end(s) ? DOWN(s->offset) + at - DOWN(s->vaddr) : 0,
			    at + PAGE <= s->vaddr + s->relro ? PF_R : s->flags, 1, at < file_pages_end(s)};
	}
	for (size_t i = 0, next; i < count; i = next) {
		const struct page *m = &pages[i];

		for (next = i + 1; next < count && pages[next].is_mapped == m->is_mapped &&
				   pages[next].flags == m->flags && pages[next].of_file == m->of_file &&
				   (!m->of_file || pages[next].offset == m->offset + (next - i) * PAGE);
		     next++)
			;
		if (m->is_mapped)
			map(space, p, low_of(p) + i * PAGE + bias, low_of(p) + next * PAGE + bias, m->offset,
			    m->flags, m->of_file);
	}
}

/* As the dynamic linker does: the first mapping reserves all, later ones replace parts. */
static void load_library(struct nm_space *space, const struct program *p, uint64_t bias)
{
	for (unsigned i = 0; i < p->count; i++) {
		const struct segment *s = &p->at[i];
		const uint64_t low = DOWN(s->vaddr), middle = file_pages_end(s),
			       end = UP(s->vaddr + s->bytes);

		if (!i)
			map(space, p, low + bias, end_of(p) + bias, DOWN(s->offset), s->flags, 1);
		else if (middle > low)
			map(space, p, low + bias, middle + bias, DOWN(s->offset), s->flags, 1);
		if (end > middle)
			map(space, p, middle + bias, end + bias, 0, s->flags, 0);
	}
}

/* ---- checks ---- */

/* The symbol that nearmiss finds at an address, and the end of the range for which that is the answer. */
static int found_at(struct nm_space *space, uint64_t address, uint64_t *ret_end)
{
	struct nm_location location;
	const struct nm_mapping *m = nm_space_mapping(space, address);
	struct nm_function f;
	const struct nm_object *o;

	assert_int_equal(nm_space_find(space, address, &location), 0);
	assert_true(location.low <= address && address < location.end);
	*ret_end = location.end;
	o = &space->objects.at[location.object];
	if (o->kind == NM_OBJECT_GLOBAL)
		return atoi(o->name + 1);
	*ret_end = address + 1;
	if (!m || !m->module || !nm_module_function(m->module, address - m->bias, &f))
		return NO_SYMBOL;
	*ret_end = f.end + m->bias;
	return atoi(f.name + 1);
}

/* Every address of every symbol: no range of an answer reaches beyond it. */
static void check_symbols(struct nm_space *space, const struct program *p, uint64_t bias)
{
	for (unsigned i = 0; i < p->symbols; i++) {
		const uint64_t end = p->symbol[i].end + bias;

		for (uint64_t at = p->symbol[i].low + bias, next; at < end; at = next) {
			assert_int_equal(found_at(space, at, &next), i);
			assert_true(next <= end);
			assert_int_equal(nm_space_mapping(space, at)->bias, bias);
			assert_int_equal(nm_space_mapping(space, next - 1)->bias, bias);
		}
		if (end < end_of(p) + bias && symbol_at(p, p->symbol[i].end) == NO_SYMBOL &&
		    nm_space_mapping(space, end))
			assert_int_equal(found_at(space, end, &(uint64_t){0}), NO_SYMBOL);
	}
}

/* Memory that the program maps in a gap between segments has no variables. */
static void check_gaps(struct nm_space *space, const struct program *p, uint64_t bias)
{
	uint64_t next;

	for (unsigned i = 0; i + 1 < p->count; i++) {
		const uint64_t low = UP(p->at[i].vaddr + p->at[i].bytes) + bias;
		const uint64_t end = DOWN(p->at[i + 1].vaddr) + bias;

		if (low >= end)
			continue;
		map(space, p, low, end, 0, PF_R | PF_W, 0);
		for (uint64_t at = low; at < end && at < low + 8 * PAGE; at += PAGE)
			assert_int_equal(found_at(space, at + below(PAGE), &next), NO_SYMBOL);
		map(space, p, low, end, DOWN(p->at[i].offset), PF_R, 1);
		assert_int_equal(found_at(space, low + below(end - low), &next), NO_SYMBOL);
	}
}

/* Reads the file through a mapping: as far as a loader could have made it, its bytes are what they are in the
 * file, and else they have no name. */
static void check_reader(struct nm_space *space, const struct program *p)
{
	const uint64_t pages = UP(p->file_end) / PAGE + 3, first = below(pages),
		       end = first + 1 + below(pages - first);
	const unsigned flags = below(2) ? PF_R : PF_R | PF_X;
	int has_code = 0;

	for (unsigned i = 0; i < p->count; i++)
		has_code |= (p->at[i].flags & PF_X) && p->at[i].file_bytes;
	map(space, p, ELSEWHERE, ELSEWHERE + (end - first) * PAGE, first * PAGE, flags, 1);
	for (uint64_t at = 0, next; at < (end - first) * PAGE; at += 64) {
		const int found = found_at(space, ELSEWHERE + at, &next);

		assert_true(found == NO_SYMBOL || is_byte_of(p, found, first * PAGE + at));
		assert_true(found == NO_SYMBOL || !has_code || (flags & PF_X));
	}
	assert_int_equal(nm_space_unmap(space, ELSEWHERE, (end - first) * PAGE), 0);
}

/* Where the first copy is loaded: below or above its own addresses. */
static uint64_t some_bias(const struct program *p)
{
	return p->is_fixed || !below(4) ? 0 : (1 + below(1 << 20)) * PAGE - (below(2) ? low_of(p) : 0);
}

static void check_program(struct nm_space *space, struct program *p)
{
	const uint64_t bias = some_bias(p), bytes = end_of(p) - low_of(p),
		       second = below(2) ? bias + bytes : 0x600000000000 - low_of(p);
	uint64_t next;

	check_reader(space, p);
	if (below(2))
		start_program(space, p, bias);
	else
		load_library(space, p, bias);
	check_symbols(space, p, bias);
	check_reader(space, p);
	load_library(space, p, second);
	check_gaps(space, p, bias);
	check_symbols(space, p, bias);
	check_symbols(space, p, second);
	assert_true(nm_space_is_valid(space));
	assert_int_equal(nm_space_unmap(space, low_of(p) + second, bytes),
			 0); /* dlclose, and its memory again */
	map(space, p, low_of(p) + second, end_of(p) + second, 0, PF_R | PF_W, 0);
	for (unsigned i = 0; i < p->symbols; i++)
		assert_int_equal(found_at(space, p->symbol[i].low + second, &next), NO_SYMBOL);
}

static void names_are_right_in_any_layout(void **state)
{
	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct nm_symbols *symbols;
		struct nm_space space;
		struct program p;

		assert_int_equal(nm_symbols_new(&symbols, NULL), 0);
		lay_out(&p);
		snprintf(p.path, sizeof p.path, "%s/program", temporary_folder);
		assert_true(write_file(&p));
		assert_int_equal(nm_symbols_module(symbols, p.path, NULL, 0, &p.module, NULL), 0);
		p.interned = nm_symbols_intern(symbols, p.path);
		assert_int_equal(nm_space_init(&space, symbols), 0);
		check_program(&space, &p);
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
	struct nm_location found;
	assert_int_equal(nm_space_find(&space, (uintptr_t)&a_variable, &found), 0);
	assert_string_equal(space.objects.at[found.object].name, "a_variable");
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
