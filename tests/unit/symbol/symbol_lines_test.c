/* SPDX-License-Identifier: MIT
 *
 * symbol_lines_test.c - files, lines and inlined calls of programs that gcc, clang and g++ compiled, in
 * several forms; at every address of some functions they are those of addr2line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol_fixture.h"

/* The line of symbols.c that carries a comment "line of <what>". */
static uint32_t line_of(const char *what)
{
	char line[256], mark[64];
	uint32_t number = 0;
	FILE *source = fopen(SYMBOLS_C, "r");
	assert_non_null(source);
	snprintf(mark, sizeof mark, "line of %s */", what);
	while (fgets(line, sizeof line, source)) {
		number++;
		if (strstr(line, mark))
			break;
	}
	fclose(source);
	return number;
}

/* Some instruction of work() is leaf's, inlined into middle, inlined into work. */
static void test_inlined_chain(void **state)
{
	static const char *const forms[] = {"c", "c4", "c-split-dwarf", "c-static", "c-linked", "clang"};
	static const char *const chain[] = {"leaf", "middle", "work"};
	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct nm_module *module = program(forms[i]);
		struct nm_function work;
		struct nm_source_position at[8];
		int found = 0;
		assert_int_equal(find_function(module, "work", &work), 1);
		for (uint64_t vaddr = work.low; vaddr < work.end && !found; vaddr++)
			found = nm_module_source_positions(module, vaddr, at, 8) == 3 &&
				at[0].line == line_of("leaf");
		assert_true(found);
		for (size_t k = 0; k < 3; k++) {
			assert_string_equal(at[k].function, chain[k]);
			assert_int_equal(at[k].line, line_of(chain[k]));
			assert_non_null(strstr(at[k].file, "programs/symbols.c"));
			assert_int_equal(at[k].file[0], '/');
		}
		assert_int_equal(nm_module_source_positions(module, work.low, at, 1), 1);
		assert_int_equal(nm_module_source_positions(module, work.low, at, 0), 0);
	}
}

/* clang leaves line 0 on instructions that it moved; they take the line before them in the function. */
static void test_no_line_is_zero(void **state)
{
	(void)state;
	struct nm_module *module = program("clang");
	struct nm_function work;
	struct nm_source_position at[8];
	assert_int_equal(find_function(module, "work", &work), 1);
	for (uint64_t vaddr = work.low; vaddr < work.end; vaddr++) {
		size_t n = nm_module_source_positions(module, vaddr, at, 8);
		assert_true(n > 0);
		assert_true(at[0].line >= line_of("leaf") && at[0].line <= line_of("work") + 2);
		assert_string_equal(at[n - 1].function, "work");
	}
}

/* Our positions of vaddr against what addr2line -f -i prints, its "?" with nothing. */
static void compare_block(struct nm_module *module, uint64_t vaddr, char lines[][512], size_t count,
			  int names)
{
	struct nm_source_position at[16];
	size_t n = nm_module_source_positions(module, vaddr, at, 16);
	assert_int_equal(n, count / 2);
	for (size_t i = 0; i < n; i++) {
		char *colon = strrchr(lines[2 * i + 1], ':');
		assert_non_null(colon);
		if (names)
			assert_string_equal(at[i].function, lines[2 * i]);
		unsigned long line = strtoul(colon + 1, NULL, 10);
		if (line == 0)
			continue;
		*colon = 0;
		assert_int_equal(at[i].line, line);
		assert_string_equal(at[i].file, lines[2 * i + 1]);
	}
}

static void compare_function(struct nm_module *module, const char *name, int names)
{
	struct nm_function function;
	char command[32768], lines[32][512], text[512];
	assert_int_equal(find_function(module, name, &function), 1);
	size_t used =
	    (size_t)snprintf(command, sizeof command, "addr2line -a -f -i -e '%s'", nm_module_path(module));
	uint64_t vaddr = function.low;
	for (; vaddr < function.end && used + 32 < sizeof command; vaddr++)
		used += (size_t)snprintf(command + used, sizeof command - used, " %llx",
					 (unsigned long long)vaddr);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	uint64_t current = 0, compared = 0;
	size_t count = 0;
	while (fgets(text, sizeof text, pipe)) {
		text[strcspn(text, "\n")] = 0;
		if (strstr(text, " (discriminator"))
			*strstr(text, " (discriminator") = 0;
		if (strncmp(text, "0x", 2)) {
			assert_true(count < 32);
			strcpy(lines[count++], text);
			continue;
		}
		if (count)
			compare_block(module, current, lines, count, names);
		compared += count != 0;
		current = strtoull(text, NULL, 16);
		count = 0;
	}
	pclose(pipe);
	compare_block(module, current, lines, count, names);
	assert_int_equal(compared + 1, vaddr - function.low);
}

static void test_positions_as_addr2line(void **state)
{
	/* binutils 2.40 misses inlined calls that clang describes by DW_FORM_rnglistx: not compared. */
	static const char *const forms[] = {"c", "c4", "c-static"};
	(void)state;
	if (system("addr2line --version >/dev/null 2>&1") != 0)
		skip();
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct nm_module *module = program(forms[i]);
		compare_function(module, "work", 1);
		compare_function(module, "main", 1);
	}
	/* C++: it prints mangled names. gcc puts a lambda's function inside classes and abstract
	 * functions. */
	struct nm_module *module = program("cxx");
	compare_function(module, "app::sum(int)::{lambda(int)#1}::operator()(int) const", 0);
	compare_function(module, "app::use(int)", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_inlined_chain),
	    cmocka_unit_test(test_no_line_is_zero),
	    cmocka_unit_test(test_positions_as_addr2line),
	};

	return cmocka_run_group_tests_name("symbol_lines", tests, open_store, close_store);
}
