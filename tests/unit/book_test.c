/* SPDX-License-Identifier: MIT
 *
 * book_test.c - answers outlive the files: a store that has learned the notes of another gives the same names where
 * there is no file any more.
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

#include "symbol.h"

enum { STEP = 7, CHAIN = 8 };

static void same_text(const char *a, const char *b)
{
	if (!a || !b)
		assert_ptr_equal(a, b);
	else
		assert_string_equal(a, b);
}

static void same_type(const struct nm_type *a, const struct nm_type *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (!a)
		return;
	same_text(a->name, b->name);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->field_count, b->field_count);
	for (uint32_t i = 0; i < a->field_count; i++) {
		const struct nm_field *f = &a->fields[i], *g = &b->fields[i];

		same_text(f->name, g->name);
		assert_true(f->offset == g->offset && f->bytes == g->bytes && f->stride == g->stride &&
			    f->count == g->count);
		same_text(f->type, g->type);
		assert_true(f->type_bytes == g->type_bytes && f->type_offset == g->type_offset);
	}
}

/* What a block of 16 bytes is, if there is a call. */
static void same_allocation(struct nm_module *a, struct nm_module *b, uint64_t at)
{
	const struct nm_type *s, *t;
	enum nm_allocated what = nm_module_allocated(a, at, 16, &s);

	assert_int_equal(nm_module_allocated(b, at, 16, &t), what);
	same_type(s, t);
}

static void same_code(struct nm_module *a, struct nm_module *b, uint64_t at)
{
	struct nm_position p[CHAIN], q[CHAIN];
	struct nm_function f, g;
	size_t n = nm_module_positions(a, at, p, CHAIN);

	assert_int_equal(nm_module_positions(b, at, q, CHAIN), n);
	for (size_t i = 0; i < n; i++) {
		same_text(p[i].function, q[i].function);
		same_text(p[i].file, q[i].file);
		assert_int_equal(p[i].line, q[i].line);
	}
	same_type(nm_module_frame_type(a, at), nm_module_frame_type(b, at));
	assert_int_equal(nm_module_function(a, at, &f), nm_module_function(b, at, &g));
	if (nm_module_function(a, at, &f)) {
		same_text(f.name, g.name);
		same_text(f.linkage_name, g.linkage_name);
		assert_true(f.low == g.low && f.end == g.end);
	}
}

static void same_variable(struct nm_module *a, struct nm_module *b, uint64_t at)
{
	struct nm_variable v, w;

	for (int tls = 0; tls < 2; tls++) {
		int found = tls ? nm_module_tls_variable(a, at, &v) : nm_module_variable(a, at, &v);

		assert_int_equal(tls ? nm_module_tls_variable(b, at, &w) : nm_module_variable(b, at, &w),
				 found);
		if (!found)
			continue;
		same_type(nm_module_variable_type(a, v.low, tls), nm_module_variable_type(b, w.low, tls));
		same_text(v.name, w.name);
		same_text(v.type, w.type);
		same_text(v.file, w.file);
		assert_true(v.line == w.line && v.kind == w.kind && v.low == w.low && v.end == w.end);
	}
}

/* Asks both the same.  The first time the answers of `b` are noted, or known. */
static void compare(struct nm_module *a, struct nm_module *b)
{
	uint64_t low, end, low_of_b, end_of_b, bias, bias_of_b;

	assert_int_equal(nm_module_extent(a, &low, &end), 1);
	assert_int_equal(nm_module_extent(b, &low_of_b, &end_of_b), 1);
	assert_true(low == low_of_b && end == end_of_b);
	assert_int_equal(nm_module_debug_level(a), nm_module_debug_level(b));
	assert_int_equal(nm_module_bias(a, 0x400000, 0x1000, 1, &bias),
			 nm_module_bias(b, 0x400000, 0x1000, 1, &bias_of_b));
	for (uint64_t at = low; at < end; at += STEP) {
		same_code(a, b, at);
		same_allocation(a, b, at);
		same_variable(a, b, at);
	}
	for (uint64_t at = 0; at < 4096; at += STEP)
		same_variable(a, b, at);
}

static void learn(struct nm_symbols *from, struct nm_symbols *to, int last)
{
	const uint8_t *bytes;
	size_t count;

	assert_int_equal(nm_symbols_noted(from, last, &bytes, &count, NULL), 0);
	assert_int_equal(nm_symbols_learn(to, bytes, count, NULL), 0);
}

static void check(const char *name)
{
	struct nm_symbols *plain, *keeping, *learning;
	struct nm_module *a, *b, *c;
	char path[4096], command[8300], gone[] = "/tmp/book_test.XXXXXX";

	snprintf(path, sizeof path, PROGRAMS "symbols-%s", name);
	if (access(path, R_OK))
		skip();
	close(mkstemp(gone));
	snprintf(command, sizeof command, "cp %s %s", path, gone);
	assert_int_equal(system(command), 0);
	nm_symbols_new(&plain, NULL);
	nm_symbols_new(&keeping, NULL);
	nm_symbols_new(&learning, NULL);
	assert_int_equal(nm_symbols_keep(keeping, NULL), 0);
	assert_int_equal(nm_symbols_module(plain, gone, NULL, 0, &a, NULL), 0);
	assert_int_equal(nm_symbols_module(keeping, gone, NULL, 0, &b, NULL), 0);
	compare(a, b);
	unlink(gone);
	learn(keeping, learning, 0);
	learn(keeping, learning, 1);
	assert_int_equal(nm_symbols_module(learning, gone, NULL, 0, &c, NULL), 0);
	compare(a, c);
	nm_symbols_free(plain);
	nm_symbols_free(keeping);
	nm_symbols_free(learning);
}

static void test_c(void **state)
{
	(void)state;
	check("c");
}

static void test_cxx(void **state)
{
	(void)state;
	check("cxx");
}

static void test_fortran(void **state)
{
	(void)state;
	check("fortran");
}

static void test_stripped(void **state)
{
	(void)state;
	check("c-stripped");
}

/* Only a function was asked for; all its lines come along. */
static void test_lines_come_with_their_function(void **state)
{
	struct nm_symbols *keeping, *learning;
	struct nm_module *a, *b;
	struct nm_function f = {0};
	uint64_t low, end;

	(void)state;
	if (access(PROGRAMS "symbols-c", R_OK))
		skip();
	nm_symbols_new(&keeping, NULL);
	nm_symbols_new(&learning, NULL);
	assert_int_equal(nm_symbols_keep(keeping, NULL), 0);
	assert_int_equal(nm_symbols_module(keeping, PROGRAMS "symbols-c", NULL, 0, &a, NULL), 0);
	assert_int_equal(nm_module_extent(a, &low, &end), 1);
	while (low < end && !(nm_module_function(a, low, &f) && !strcmp(f.name, "main")))
		low++;
	assert_string_equal(f.name, "main");
	learn(keeping, learning, 1);
	assert_int_equal(nm_symbols_module(learning, PROGRAMS "symbols-c", NULL, 0, &b, NULL), 0);
	for (uint64_t at = f.low; at < f.end; at++)
		same_code(a, b, at);
	nm_symbols_free(keeping);
	nm_symbols_free(learning);
}

static void test_damaged_notes(void **state)
{
	static const uint8_t wrong[][4] = {{99}, {1, 200, 1}, {2, 1}, {4, 1, 0, 0}};
	struct nm_symbols *symbols;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		nm_symbols_new(&symbols, NULL);
		assert_int_equal(nm_symbols_learn(symbols, wrong[i], 4, NULL), NM_EFORMAT);
		nm_symbols_free(symbols);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_c),
	    cmocka_unit_test(test_cxx),
	    cmocka_unit_test(test_fortran),
	    cmocka_unit_test(test_stripped),
	    cmocka_unit_test(test_lines_come_with_their_function),
	    cmocka_unit_test(test_damaged_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
