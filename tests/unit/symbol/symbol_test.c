/* SPDX-License-Identifier: MIT
 *
 * symbol_test.c - names and types of variables and functions of programs in tests/programs, compiled by gcc,
 * clang, g++ and gfortran in several forms (DWARF 4 and 5, split, linked, stripped, static); damaged and
 * missing files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "spans.h"
#include "symbol_fixture.h"

struct expected {
	const char *name, *type;
	enum nm_variable_kind kind;
	uint64_t bytes;
	const char *file;
};

static void expect_variables(struct nm_module *module, const struct expected *expected, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct nm_variable found;
		const struct expected *want = &expected[i];
		int is_there = want->kind == NM_VAR_THREAD_LOCAL ? find_tls(module, want->name, &found)
								 : find_variable(module, want->name, &found);
		if (!is_there)
			fail_msg("%s: no variable %s", nm_module_name(module), want->name);
		if (want->type && (!found.type || strcmp(found.type, want->type)))
			fail_msg("%s: type of %s is %s", nm_module_name(module), want->name, found.type);
		assert_int_equal(found.kind, want->kind);
		assert_int_equal(found.end - found.low, want->bytes);
		if (!want->file)
			continue;
		assert_non_null(found.file);
		assert_non_null(strstr(found.file, want->file));
		assert_int_equal(found.file[0], '/');
		assert_true(found.line > 0);
	}
}

static const struct expected c_variables[] = {
    {"matrix", "int[1000][1000]", NM_VAR_GLOBAL, 4000000, "programs/symbols.c"},
    {"heads", "struct node *[512]", NM_VAR_GLOBAL, 4096, "programs/symbols.c"},
    {"table", "double (*)[100]", NM_VAR_GLOBAL, 8, "programs/symbols.c"},
    {"callbacks", "int (*[4])(int, struct node *)", NM_VAR_GLOBAL, 32, "programs/symbols.c"},
    {"words", "const char *const[2]", NM_VAR_GLOBAL, 16, "programs/symbols.c"},
    {"bits", NULL, NM_VAR_STATIC, 24, "programs/symbols.c"},
    {"work()::calls", "int", NM_VAR_STATIC, 4, "programs/symbols.c"},
    {"work()::seen", NULL, NM_VAR_STATIC, 128, "programs/symbols.c"},
    {"depth", "int", NM_VAR_THREAD_LOCAL, 4, "programs/symbols.c"},
    {"history", NULL, NM_VAR_THREAD_LOCAL, 56, "programs/symbols.c"},
};

enum { C_VARIABLES = sizeof c_variables / sizeof *c_variables, C_THREAD_LOCALS = 2 };

static void test_c_variables(void **state)
{
	static const char *const forms[] = {"c", "c4", "c-static", "c-nopie", "c-linked"};
	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct nm_module *module = program(forms[i]);
		assert_int_equal(nm_module_debug_level(module), NM_DEBUG_DWARF);
		expect_variables(module, c_variables, C_VARIABLES);
	}
}

/* A variable that the linker left out lies at address 0 in the debug information, under which the program's
 * headers and symbol tables are. */
static void test_left_out_variables(void **state)
{
	struct nm_module *module = program("c-collected");
	uint64_t low, end;
	(void)state;
	assert_int_equal(nm_module_debug_level(module), NM_DEBUG_DWARF);
	assert_int_equal(nm_module_extent(module, &low, &end), 1);
	assert_int_equal(low, 0);
	for (uint64_t vaddr = 0; vaddr < end; vaddr += 8) {
		struct nm_variable found;
		if (nm_module_variable(module, vaddr, &found))
			assert_string_not_equal(found.name, "unused");
	}
}

/* gcc 12 describes thread-locals in split units by a bare DW_OP_addrx, which says nothing. */
static void test_split_dwarf_variables(void **state)
{
	(void)state;
	expect_variables(program("c-split-dwarf"), c_variables, C_VARIABLES - C_THREAD_LOCALS);
}

static void test_clang_variables(void **state)
{
	(void)state;
	struct nm_module *module = program("clang");
	assert_int_equal(nm_module_debug_level(module), NM_DEBUG_DWARF);
	expect_variables(module, c_variables, C_VARIABLES);
}

/* Without DWARF the symbol table still has names and sizes. */
static void test_without_dwarf(void **state)
{
	static const struct expected plain[] = {
	    {"matrix", NULL, NM_VAR_GLOBAL, 4000000, NULL},
	    {"bits", NULL, NM_VAR_STATIC, 24, NULL},
	    {"depth", NULL, NM_VAR_THREAD_LOCAL, 4, NULL},
	    {"stdout", NULL, NM_VAR_GLOBAL, 8, NULL},
	};
	(void)state;
	struct nm_module *module = program("c-plain");
	struct nm_function work;
	struct nm_source_position at[4];
	assert_int_equal(nm_module_debug_level(module), NM_DEBUG_SYMBOLS);
	expect_variables(module, plain, sizeof plain / sizeof *plain);
	assert_int_equal(find_function(module, "work", &work), 1);
	assert_int_equal(nm_module_source_positions(module, work.low, at, 4), 1);
	assert_string_equal(at[0].function, "work");
	assert_null(at[0].file);
}

static void test_stripped(void **state)
{
	static const char *const expected[] = {".bss", ".rodata", "stdout"};
	(void)state;
	struct nm_module *module = program("c-stripped");
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		struct nm_variable found;
		assert_int_equal(find_variable(module, expected[i], &found), 1);
	}
	struct nm_function stub;
	assert_int_equal(find_function(module, "malloc@plt", &stub), 1);
	assert_int_equal(stub.end - stub.low, 16);
}

static void test_cxx_variables(void **state)
{
	static const struct expected expected[] = {
	    {"app::cloud", "std::vector<app::point, std::allocator<app::point> >", NM_VAR_GLOBAL, 24,
	     "symbols.cpp"},
	    {"app::point::origin", "app::point", NM_VAR_GLOBAL, 16, "symbols.cpp"},
	    {"app::(anonymous namespace)::hidden", "int[10]", NM_VAR_STATIC, 40, "symbols.cpp"},
	    {"app::pool<app::point>::slots", "app::point[64]", NM_VAR_GLOBAL, 1024, "symbols.cpp"},
	    {"app::pool<int>::get(int)::hits", "int", NM_VAR_STATIC, 4, "symbols.cpp"},
	    {"app::use(int)::depth", "int", NM_VAR_THREAD_LOCAL, 4, "symbols.cpp"},
	    {"vtable for app::derived", NULL, NM_VAR_GLOBAL, 40, NULL},
	};
	static const char *const forms[] = {"cxx", "cxx-clang"};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct nm_module *module = program(forms[i]);
		struct nm_function use;
		expect_variables(module, expected, sizeof expected / sizeof *expected);
		assert_int_equal(find_function(module, "app::use(int)", &use), 1);
		assert_int_equal(strncmp(use.linkage_name, "_ZN3app3useEi", 13), 0); /* or its part .cold */
	}
}

static void test_fortran_variables(void **state)
{
	static const struct expected expected[] = {
	    {"grid::field", "real(kind=4)(100,100)", NM_VAR_MODULE, 40000, "symbols.f90"},
	    {"grid::swarm", "type(particle)(50)", NM_VAR_MODULE, 1600, "symbols.f90"},
	    {"grid::heat", "real(kind=8)(:,:)", NM_VAR_MODULE, 88, "symbols.f90"},
	    {"sweep()::calls", "integer(kind=4)", NM_VAR_STATIC, 4, "symbols.f90"},
	    {"field/a", "real(kind=8)(100,20)", NM_VAR_COMMON_MEMBER, 16000, "symbols.f90"},
	    {"field/b", "real(kind=8)(0:9)", NM_VAR_COMMON_MEMBER, 80, "symbols.f90"},
	    {"(blank)/z", "integer(kind=4)(7)", NM_VAR_COMMON_MEMBER, 28, "symbols.f90"},
	};
	struct nm_variable second;
	(void)state;
	struct nm_module *module = program("fortran");
	expect_variables(module, expected, sizeof expected / sizeof *expected);
	assert_int_equal(find_variable(module, "field/c", &second), 0);
	assert_int_equal(find_variable(module, "field/d", &second), 0);
}

/* A wrong build-id means that the file was replaced; what is no program answers nothing. */
static void test_unusable_files(void **state)
{
	static const uint8_t wrong[20] = {1, 2, 3};
	static const char *const paths[] = {"/", "/dev/null", "/nowhere/at/all", "", "[vdso]", "/etc/passwd"};
	struct nm_module *module, *same;
	struct nm_function function;
	struct nm_variable variable;
	struct nm_source_position at;
	uint64_t low, end;
	(void)state;
	module = program("c-nopie");
	assert_int_equal(nm_symbols_module(store, nm_module_path(module), wrong, 20, &same, NULL), 0);
	assert_ptr_not_equal(module, same);
	assert_int_equal(nm_module_extent(same, &low, &end), 0);
	assert_int_equal(nm_symbols_module(store, nm_module_path(module), NULL, 0, &same, NULL), 0);
	assert_ptr_equal(module, same);
	assert_int_equal(nm_symbols_module(store, "/proc/self/exe", wrong, 20, &module, NULL), 0);
	assert_int_equal(nm_symbols_module(store, "/proc/self/exe", NULL, 0, &same, NULL), 0);
	assert_ptr_not_equal(module, same);
	assert_int_equal(nm_module_extent(same, &low, &end), 1);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		assert_int_equal(nm_symbols_module(store, paths[i], NULL, 0, &module, NULL), 0);
		assert_int_equal(nm_module_debug_level(module), NM_DEBUG_NONE);
		assert_int_equal(nm_module_extent(module, &low, &end), 0);
		assert_int_equal(nm_module_tls(module, &low, &end), 0);
		assert_int_equal(nm_module_tls_variable(module, 0, &variable), 0);
		assert_int_equal(nm_module_variable(module, 0x1000, &variable), 0);
		assert_int_equal(nm_module_function(module, 0x1000, &function), 0);
		assert_int_equal(nm_module_source_positions(module, 0x1000, &at, 1), 0);
	}
}

/* Asks everything about a file that holds these bytes. */
static void ask_damaged(const char *bytes, size_t count)
{
	char path[64];
	struct nm_symbols *symbols;
	struct nm_module *module;
	struct nm_function function;
	struct nm_variable variable;
	struct nm_source_position at[8];
	uint64_t low = 0, end = 0;
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	assert_int_equal(write(fd, bytes, count), count);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	assert_int_equal(nm_symbols_new(&symbols, NULL), 0);
	assert_int_equal(nm_symbols_module(symbols, path, NULL, 0, &module, NULL), 0);
	nm_module_extent(module, &low, &end);
	for (uint64_t i = 0, vaddr = low; i < 64; i++, vaddr += (end - low) / 64 + 1) {
		size_t n = nm_module_source_positions(module, vaddr, at, 8);
		for (size_t k = 0; k < n; k++)
			assert_true(at[k].function || at[k].file);
		if (nm_module_function(module, vaddr, &function))
			assert_true(function.name && function.low <= vaddr && vaddr < function.end);
		if (nm_module_variable(module, vaddr, &variable))
			assert_true(variable.name && variable.low <= vaddr && vaddr < variable.end);
		nm_module_tls_variable(module, i, &variable);
	}
	nm_symbols_free(symbols);
	close(fd);
}

/* A program cut off at many places, and with bytes overwritten all over it. */
static void test_damaged_files(void **state)
{
	(void)state;
	static char bytes[1 << 17], damaged[1 << 17];
	FILE *file = fopen(nm_module_path(program("c4")), "rb");
	assert_non_null(file);
	size_t count = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	assert_true(count > 1000 && count < sizeof bytes);
	for (size_t cut = 0; cut < count; cut += 211)
		ask_damaged(bytes, cut);
	srand(11);
	for (int round = 0; round < 300; round++) {
		memcpy(damaged, bytes, count);
		for (int change = 0; change < 1 + round / 10; change++)
			damaged[(size_t)rand() % count] = (char)rand();
		ask_damaged(damaged, count);
	}
}

/* The innermost range of those that contain x, searched one by one. */
static uint32_t innermost(const struct span *all, size_t count, uint64_t x)
{
	const struct span *best = NULL;
	for (size_t i = 0; i < count; i++) {
		if (x < all[i].low || x >= all[i].end)
			continue;
		if (!best || all[i].low > best->low || (all[i].low == best->low && all[i].end <= best->end))
			best = &all[i];
	}
	return best ? best->id : UINT32_MAX;
}

static void test_spans_as_slow_twin(void **state)
{
	(void)state;
	srand(7);
	for (int round = 0; round < 300; round++) {
		struct span all[40];
		struct spans spans = {0};
		size_t count = (size_t)rand() % 40;
		for (size_t i = 0; i < count; i++) {
			uint64_t low = (uint64_t)rand() % 64;
			all[i] = (struct span){low, low + (uint64_t)rand() % 24, (uint32_t)i};
			assert_int_equal(nm_vec_push(&spans, all[i]), 0);
		}
		assert_int_equal(spans_flatten(&spans), 0);
		for (uint64_t x = 0; x < 100; x++) {
			const struct span *found = spans_find(&spans, x);
			assert_int_equal(found ? found->id : UINT32_MAX, innermost(all, count, x));
		}
		nm_vec_free(&spans);
	}
}

/* Prepared or not, the answers are the same, and the module is; what is no ELF file is not prepared. */
static void test_prepared(void **state)
{
	struct nm_module *module = program("c-split-dwarf"), *mine;
	struct nm_symbols *prepared;
	uint64_t at, end;

	(void)state;
	assert_int_equal(nm_symbols_new(&prepared, NULL), 0);
	nm_symbols_preload(prepared, "/dev/null");
	nm_symbols_preload(prepared, "/no/such/file");
	nm_symbols_preload(prepared, nm_module_path(module));
	assert_int_equal(nm_symbols_module(prepared, nm_module_path(module), NULL, 0, &mine, NULL), 0);
	assert_int_equal(nm_module_debug_level(mine), NM_DEBUG_DWARF);
	assert_int_equal(nm_module_extent(module, &at, &end), 1);
	for (; at < end; at += 4) {
		struct nm_variable v = {.name = "-"}, w = {.name = "-"};
		struct nm_source_position p = {.line = 0}, q = {.line = 0};

		assert_int_equal(nm_module_variable(mine, at, &v), nm_module_variable(module, at, &w));
		assert_string_equal(v.name, w.name);
		assert_int_equal(nm_module_source_positions(mine, at, &p, 1),
				 nm_module_source_positions(module, at, &q, 1));
		assert_int_equal(p.line, q.line);
	}
	nm_symbols_free(prepared);
}

/* main() allocates a node for one of an array of pointers; work() allocates nothing, and knows no
 * structure. */
static void test_allocated(void **state)
{
	struct nm_module *module = program("c-split-dwarf");
	const struct nm_type *type;
	struct nm_function f;
	uint64_t at, end;
	unsigned nodes = 0;

	(void)state;
	assert_int_equal(nm_module_extent(module, &at, &end), 1);
	for (; at < end; at++) {
		if (!nm_module_function(module, at, &f) || strcmp(f.name, "main"))
			continue;
		if (nm_module_allocated(module, at, 16, &type) == NM_ALLOCATED_STRUCTURE) {
			nodes++;
			assert_string_equal(type->name, "struct node");
			assert_int_equal(type->bytes, 16);
			assert_int_equal(type->field_count, 2);
			assert_string_equal(type->fields[1].name, "value");
			assert_int_equal(type->fields[1].offset, 8);
			assert_int_equal(nm_type_field(type, 3), 0);
			assert_int_equal(nm_type_field(type, 11), 1);
			assert_int_equal(nm_type_field(type, 12), NM_NO_FIELD);
		}
		assert_int_not_equal(nm_module_allocated(module, at, 17, &type), NM_ALLOCATED_STRUCTURE);
	}
	assert_true(nodes > 0);
}

/* What the source asks for: of a member, which is that of its structure, and of a variable. */
static void test_alignment(void **state)
{
	static const char *const forms[] = {"c", "c4", "clang"};

	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct nm_module *module = program(forms[i]);
		const struct nm_type *type;
		struct nm_variable v = {0};

		assert_true(find_variable(module, "sums", &v));
		assert_int_equal(v.alignment, 128);
		assert_true(find_variable(module, "matrix", &v));
		assert_int_equal(v.alignment, 0);
		assert_true(find_variable(module, "paddeds", &v));
		type = nm_module_variable_type(module, v.low, 0);
		assert_non_null(type);
		assert_int_equal(type->alignment, 64);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_c_variables),        cmocka_unit_test(test_alignment),
	    cmocka_unit_test(test_left_out_variables), cmocka_unit_test(test_split_dwarf_variables),
	    cmocka_unit_test(test_clang_variables),    cmocka_unit_test(test_without_dwarf),
	    cmocka_unit_test(test_stripped),           cmocka_unit_test(test_cxx_variables),
	    cmocka_unit_test(test_fortran_variables),  cmocka_unit_test(test_unusable_files),
	    cmocka_unit_test(test_damaged_files),      cmocka_unit_test(test_spans_as_slow_twin),
	    cmocka_unit_test(test_prepared),           cmocka_unit_test(test_allocated),
	};

	return cmocka_run_group_tests_name("symbol", tests, open_store, close_store);
}
