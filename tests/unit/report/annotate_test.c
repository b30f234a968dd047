/* SPDX-License-Identifier: MIT
 *
 * annotate_test.c - which files and functions are meant, where sources are found, which columns there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "annotate_priv.h"

static void test_files(void **state)
{
	static const struct {
		const char *file, *name;
		int fits;
	} cases[] = {
	    {"/src/solver/solver.c", "solver.c", 1},   {"/src/solver/solver.c", "solver/solver.c", 1},
	    {"/src/solver/solver.c", "./solver.c", 1}, {"/src/solver/solver.c", "../solver/solver.c", 1},
	    {"/src/solver/solver.c", "olver.c", 0},    {"/src/solver/solver.c", "/src/solver/solver.c", 1},
	    {"/src/solver/solver.c", "/solver.c", 1},  {"/src/solver/solver.c", "solver", 0},
	    {"/src/solver/solver.c", "", 0},           {"/src/solver/solver.c", "./", 0},
	    {"solver.c", "/long/path/to/solver.c", 0}, {"solver.c", "solver.c", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (nm_is_file(cases[i].file, cases[i].name) != cases[i].fits)
			fail_msg("%s is%s meant by %s", cases[i].file, cases[i].fits ? " not" : "",
				 cases[i].name);
}

static void test_functions(void **state)
{
	static const struct {
		const char *function, *name;
		int fits;
	} cases[] = {
	    {"main", "main", 1},
	    {"domain", "main", 0},
	    {"main", "", 0},
	    {"app::use(int)", "use", 1},
	    {"app::use(int)", "app::use", 1},
	    {"app::use(int)", "app::use(int)", 1},
	    {"app::use(int)", "int", 0},
	    {"std::vector<std::pair<int, long> >::push_back(std::pair<int, long> const&)", "push_back", 1},
	    {"std::vector<std::pair<int, long> >::push_back(std::pair<int, long> const&)",
	     "vector::push_back", 1},
	    {"std::vector<std::pair<int, long> >::push_back(std::pair<int, long> const&)", "pair", 0},
	    {"std::vector<int>::size() const", "size", 1},
	    {"void sort<int*>(int*, int*)", "sort", 1},
	    {"(anonymous namespace)::helper(char)", "helper", 1},
	    {"std::ostream& operator<< <char>(std::ostream&, char)", "operator<<", 1},
	    {"list::operator()(int) const", "operator()", 1},
	    {"list::operator->() const", "operator->", 1},
	    {"cooperator<int>::run()", "run", 1},
	    {"unbalanced<(name", "name", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (nm_is_function(cases[i].function, cases[i].name) != cases[i].fits)
			fail_msg("%s is%s meant by %s", cases[i].function, cases[i].fits ? " not" : "",
				 cases[i].name);
}

static char folder[] = "/tmp/annotate-test-XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[100];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_folder(void **state)
{
	char path[100];

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/deep", folder);
	return mkdir(path, 0700);
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"deep/x.c", "x.c", "y.c", "deep", ""};
	char path[100];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		remove(path);
	}
	return 0;
}

/* The first line of what is found for a path, or NULL. */
static const char *found(const char *path, const char *map, const char *dir)
{
	static char line[100];
	struct nm_source_search search = {&map, map != NULL, &dir, dir != NULL};
	struct nm_source source = {0};
	int status = nm_source_find(&source, path, &search, 1);

	snprintf(line, sizeof line, "%s", status ? "" : nm_source_line(&source, 1));
	assert_true(status == 0 || status == NM_ENOENT);
	nm_source_done(&source);
	return status ? NULL : line;
}

static void test_search(void **state)
{
	char map[100], path[100];

	(void)state;
	write_file("x.c", "shallow\n");
	write_file("deep/x.c", "deep\n");
	assert_string_equal(found("/gone/deep/x.c", NULL, folder), "deep"); /* the longest end first */
	assert_string_equal(found("/gone/shallow/x.c", NULL, folder), "shallow");
	assert_null(found("/gone/y.c", NULL, folder));
	assert_null(found("/gone/deep/x.c", NULL, NULL));
	snprintf(map, sizeof map, "/gone=%s", folder);
	assert_string_equal(found("/gone/deep/x.c", map, NULL), "deep");
	assert_null(found("/gone2/deep/x.c", map, NULL)); /* OLD ends with a component */
	snprintf(map, sizeof map, "/gone/=%s", folder);
	assert_string_equal(found("/gone/x.c", map, NULL), "shallow");
	snprintf(map, sizeof map, "/gone/z.c=%s/x.c", folder);
	assert_string_equal(found("/gone/z.c", map, NULL), "shallow");
	snprintf(path, sizeof path, "%s/x.c", folder);
	assert_string_equal(found(path, NULL, NULL), "shallow");
	assert_null(found(folder, NULL, NULL)); /* no regular file */
	assert_null(found("/dev/zero", NULL, NULL));
}

static void test_maps(void **state)
{
	(void)state;
	assert_true(nm_source_map_is_valid("a=b"));
	assert_false(nm_source_map_is_valid("a="));
	assert_false(nm_source_map_is_valid("=b"));
	assert_false(nm_source_map_is_valid("a"));
}

static void test_lines(void **state)
{
	static const char text[] = "one\r\n\nthree\0 and more\nlast";
	char *copy = malloc(sizeof text);
	struct nm_source source;

	(void)state;
	memcpy(copy, text, sizeof text);
	assert_int_equal(nm_source_take(&source, "x", copy, sizeof text - 1), 0);
	assert_int_equal(source.line_count, 4);
	assert_string_equal(nm_source_line(&source, 1), "one");
	assert_string_equal(nm_source_line(&source, 2), "");
	assert_string_equal(nm_source_line(&source, 3), "three\1 and more");
	assert_string_equal(nm_source_line(&source, 4), "last");
	assert_null(nm_source_line(&source, 5));
	assert_null(nm_source_line(&source, 0));
	nm_source_done(&source);
	assert_int_equal(nm_source_take(&source, "x", calloc(1, 1), 0), 0);
	assert_int_equal(source.line_count, 0);
	nm_source_done(&source);
}

static void test_disassembly(void **state)
{
	static const uint8_t code[] = {0x48, 0x63, 0x08, 0x75, 0xfb, 0x06, 0xe8,
				       0x02, 0x00, 0x00, 0x00, 0xff, 0xd0};
	static const struct {
		uint64_t address, target;
		unsigned size;
		const char *att, *intel;
	} expected[] = {{0x1000, 0, 3, "movslq (%rax), %rcx", "movsxd rcx, dword ptr [rax]"},
			{0x1003, 0x1000, 2, "jne 0x1000", "jne 0x1000"},
			{0x1005, 0, 1, ".byte 0x06", ".byte 0x06"},
			{0x1006, 0x100d, 5, "callq 0x100d", "call 0x100d"},
			{0x100b, 0, 2, "callq *%rax", "call rax"}};

	(void)state;
	for (int syntax = NM_SYNTAX_ATT; syntax <= NM_SYNTAX_INTEL; syntax++) {
		struct nm_instructions list = {0};

		assert_int_equal(
		    nm_disassemble(code, sizeof code, 0x1000, (enum nm_syntax)syntax, &list, NULL), 0);
		assert_int_equal(list.count, 5);
		for (size_t i = 0; i < list.count; i++) {
			assert_int_equal(list.at[i].address, expected[i].address);
			assert_int_equal(list.at[i].target, expected[i].target);
			assert_int_equal(list.at[i].size, expected[i].size);
			assert_string_equal(list.at[i].text,
					    syntax == NM_SYNTAX_ATT ? expected[i].att : expected[i].intel);
		}
		nm_vec_free(&list);
	}
}

/* 8 loads of 64 bytes of which 128 in all were used, 4 of the misses cold. */
static const struct nm_metric_sums one = {.reads = 90,
					  .writes = 10,
					  .read_misses = 6,
					  .write_misses = 2,
					  .cold = 4,
					  .capacity = 4,
					  .loads = 8,
					  .reuse = 20,
					  .used_bytes = 128,
					  .loaded_bytes = 512};

static void test_figures(void **state)
{
	static const struct {
		const char *name;
		double value;
		int64_t weight;
	} cases[] = {{"references", 100, 100}, {"misses", 8, 8},           {"share", 50, 8},
		     {"mpki", 0.5, 8},         {"miss_ratio", 8, 8},       {"reuse", 2.5, 8},
		     {"waste", 75, 8},         {"wasted_bytes", 384, 384}, {"writes", 10, 10},
		     {"cold", 4, 4},           {"used_bytes", 128, 128}};
	struct nm_metric_total whole = {.sum = one, .instructions = 16000};
	struct nm_error err;

	(void)state;
	nm_sums_add(&whole.sum, &one);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct nm_value value;
		unsigned index;

		assert_int_equal(nm_sum_column_named(cases[i].name, &index, &err), 0);
		value = nm_sum_column_value(nm_sum_column_at(index), &one, &whole);
		assert_float_equal(value.type == NM_VALUE_REAL ? value.real : (double)value.integer,
				   cases[i].value, 1e-9);
		assert_int_equal(nm_sum_column_weight(nm_sum_column_at(index), &one), cases[i].weight);
	}
}

static void test_no_figures(void **state)
{
	static const struct nm_metric_sums none;
	struct nm_metric_total whole = {.instructions = 0};

	(void)state;
	for (unsigned i = 0; i < nm_sum_column_count(); i++) {
		struct nm_value value = nm_sum_column_value(nm_sum_column_at(i), &none, &whole);

		assert_true(value.type == NM_VALUE_NULL ||
			    (value.type == NM_VALUE_INTEGER && value.integer == 0));
	}
}

static void test_choice(void **state)
{
	unsigned chosen[3], count;
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_sum_columns_chosen("waste,misses", chosen, 3, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_string_equal(nm_sum_column_at(chosen[0])->name, "waste");
	assert_int_equal(nm_sum_columns_chosen("waste,,misses", chosen, 3, &count, &err), NM_EINVAL);
	assert_int_equal(nm_sum_columns_chosen("waste,", chosen, 3, &count, &err), NM_EINVAL);
	assert_int_equal(nm_sum_columns_chosen("miss", chosen, 3, &count, &err), NM_EINVAL);
	assert_int_equal(nm_sum_columns_chosen("reads,writes,misses,cold", chosen, 3, &count, &err),
			 NM_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_files),      cmocka_unit_test(test_functions),
	    cmocka_unit_test(test_search),     cmocka_unit_test(test_maps),
	    cmocka_unit_test(test_lines),      cmocka_unit_test(test_figures),
	    cmocka_unit_test(test_no_figures), cmocka_unit_test(test_disassembly),
	    cmocka_unit_test(test_choice),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
