/* SPDX-License-Identifier: MIT
 *
 * book_test.c - answers outlive the files: a store that has learned the notes of another gives the same names
 * where there is no file any more. And they outlive the run: one that recalls them asks the files for others
 * only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	assert_int_equal(a->alignment, b->alignment);
	assert_int_equal(a->field_count, b->field_count);
	for (uint32_t i = 0; i < a->field_count; i++) {
		const struct nm_field *f = &a->fields[i], *g = &b->fields[i];

		same_text(f->name, g->name);
		same_text(f->type, g->type);
		assert_true(f->offset == g->offset && f->bytes == g->bytes && f->stride == g->stride &&
			    f->count == g->count);
	}
}

static void same_locals(const struct nm_locals *a, const struct nm_locals *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (!a)
		return;
	assert_int_equal(a->count, b->count);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct nm_local *l = &a->at[i], *m = &b->at[i];

		same_text(l->name, m->name);
		same_text(l->type, m->type);
		same_text(l->file, m->file);
		assert_true(l->line == m->line && l->below == m->below && l->bytes == m->bytes);
		same_type(l->structure, m->structure);
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
	struct nm_source_position p[CHAIN], q[CHAIN];
	struct nm_function f, g;
	size_t n = nm_module_source_positions(a, at, p, CHAIN);

	assert_int_equal(nm_module_source_positions(b, at, q, CHAIN), n);
	for (size_t i = 0; i < n; i++) {
		same_text(p[i].function, q[i].function);
		same_text(p[i].file, q[i].file);
		assert_int_equal(p[i].line, q[i].line);
	}
	same_locals(nm_module_locals(a, at), nm_module_locals(b, at));
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
		assert_true(v.line == w.line && v.kind == w.kind && v.low == w.low && v.end == w.end &&
			    v.alignment == w.alignment);
	}
}

/* Asks both the same, about one of so many addresses. The first time the answers of `b` are noted, or
 * known. */
static void compare_some(struct nm_module *a, struct nm_module *b, uint64_t step)
{
	struct nm_module_segment segment, segment_of_b;
	uint64_t low, end, low_of_b, end_of_b;

	assert_int_equal(nm_module_extent(a, &low, &end), 1);
	assert_int_equal(nm_module_extent(b, &low_of_b, &end_of_b), 1);
	assert_true(low == low_of_b && end == end_of_b);
	assert_int_equal(nm_module_debug_level(a), nm_module_debug_level(b));
	for (size_t i = 0; nm_module_segment_at(a, i, &segment); i++) {
		assert_int_equal(nm_module_segment_at(b, i, &segment_of_b), 1);
		assert_true(segment.offset == segment_of_b.offset && segment.vaddr == segment_of_b.vaddr &&
			    segment.file_bytes == segment_of_b.file_bytes &&
			    segment.bytes == segment_of_b.bytes &&
			    segment.executable == segment_of_b.executable);
	}
	for (uint64_t at = low; at < end; at += step) {
		same_code(a, b, at);
		same_allocation(a, b, at);
		same_variable(a, b, at);
	}
	for (uint64_t at = 0; at < 4096; at += step)
		same_variable(a, b, at);
}

static void compare(struct nm_module *a, struct nm_module *b) { compare_some(a, b, STEP); }

static void learn(struct nm_symbols *from, struct nm_symbols *to, int last)
{
	const uint8_t *bytes;
	size_t count;

	assert_int_equal(nm_symbols_take_encoded(from, last, &bytes, &count, NULL), 0);
	assert_int_equal(nm_symbols_decode(to, bytes, count, NULL), 0);
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
	assert_int_equal(nm_symbols_start_encoding(keeping, NULL), 0);
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
	assert_int_equal(nm_symbols_start_encoding(keeping, NULL), 0);
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
		assert_int_equal(nm_symbols_decode(symbols, wrong[i], 4, NULL), NM_EFORMAT);
		nm_symbols_free(symbols);
	}
}

/* ---- recalled by a later run ---- */

struct place {
	char folder[32], cache[64], program[64], debug[64], kept[256];
};

static void shell(const char *format, const char *a, const char *b)
{
	char command[8300];

	snprintf(command, sizeof command, format, a, b);
	assert_int_equal(system(command), 0);
}

/* A program in a folder, and where its debug information would be if that is a file of its own. */
static void set_up(struct place *p, const char *name)
{
	char path[4096];

	snprintf(path, sizeof path, PROGRAMS "symbols-%s", name);
	if (access(path, R_OK))
		skip();
	strcpy(p->folder, "/tmp/book_test.XXXXXX");
	assert_non_null(mkdtemp(p->folder));
	snprintf(p->cache, sizeof p->cache, "%s/a/b", p->folder);
	snprintf(p->program, sizeof p->program, "%s/program", p->folder);
	snprintf(p->debug, sizeof p->debug, "%s/symbols-%s.debug", p->folder, name);
	shell("cp -p %s %s", path, p->program);
	snprintf(p->kept, sizeof p->kept, "%s/%s.names", p->cache, p->program);
	for (char *c = p->kept + strlen(p->cache) + 1; *c; c++)
		*c = *c == '/' ? '%' : *c;
}

static void tear_down(const struct place *p) { shell("rm -r %s%s", p->folder, ""); }

/* A run that asks about one of so many addresses, and gets the answers of one that recalls nothing. Whether
 * it recalled any itself. */
static int run(const struct place *p, uint64_t step)
{
	struct nm_symbols *plain, *recalling;
	struct nm_module *a, *b;
	int recalled;

	nm_symbols_new(&plain, NULL);
	nm_symbols_new(&recalling, NULL);
	recalled = nm_symbols_load_cache(recalling, p->cache, p->program, NULL);
	assert_int_equal(nm_symbols_module(plain, p->program, NULL, 0, &a, NULL), 0);
	assert_int_equal(nm_symbols_module(recalling, p->program, NULL, 0, &b, NULL), 0);
	compare_some(a, b, step);
	nm_symbols_save_cache(recalling, p->cache, p->program);
	nm_symbols_free(plain);
	nm_symbols_free(recalling);
	return recalled;
}

/* Of the file that is kept, which is another each time it is written. */
static ino_t identity(const struct place *p)
{
	struct stat s;

	return stat(p->kept, &s) ? 0 : s.st_ino;
}

static void check_recalled(const char *name)
{
	struct place p;
	ino_t first, second;

	set_up(&p, name);
	assert_int_equal(run(&p, 31 * STEP), 0);
	first = identity(&p);
	assert_true(first);
	assert_int_equal(run(&p, STEP), 1); /* asks more */
	second = identity(&p);
	assert_true(second && second != first);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(run(&p, STEP), 1);
		assert_int_equal(identity(&p), second);
	}
	tear_down(&p);
}

static void test_recalled(void **state)
{
	(void)state;
	check_recalled("c");
}

static void test_recalled_cxx(void **state)
{
	(void)state;
	check_recalled("cxx");
}

static void test_recalled_without_debug_information(void **state)
{
	(void)state;
	check_recalled("c-stripped");
}

static void test_nothing_is_recalled_of_a_file_that_changed(void **state)
{
	struct place p;

	(void)state;
	set_up(&p, "c");
	assert_int_equal(run(&p, STEP), 0);
	assert_int_equal(run(&p, STEP), 1);
	shell("touch %s%s", p.program, "");
	assert_int_equal(run(&p, STEP), 0);
	assert_int_equal(run(&p, STEP), 1);
	tear_down(&p);
}

/* The answers get better when debug information is installed, and worse when it is removed. */
static void test_debug_information_comes_and_goes(void **state)
{
	struct place p;

	(void)state;
	set_up(&p, "c-linked");
	assert_int_equal(run(&p, STEP), 0);
	assert_int_equal(run(&p, STEP), 1);
	shell("cp %s %s", PROGRAMS "symbols-c-linked.debug", p.debug);
	assert_int_equal(run(&p, STEP), 0);
	assert_int_equal(run(&p, STEP), 1);
	unlink(p.debug);
	assert_int_equal(run(&p, STEP), 0);
	tear_down(&p);
}

/* Its units are in files that have no stamps. */
static void test_split_units_are_not_kept(void **state)
{
	struct place p;

	(void)state;
	set_up(&p, "c-split-dwarf");
	assert_int_equal(run(&p, STEP), 0);
	assert_int_equal(run(&p, STEP), 0);
	tear_down(&p);
}

static void flip_a_bit(const char *path, long at)
{
	FILE *file = fopen(path, "r+");
	int byte;

	assert_non_null(file);
	fseek(file, at, SEEK_SET);
	byte = fgetc(file);
	fseek(file, at, SEEK_SET);
	fputc(byte ^ 1, file);
	fclose(file);
}

static void test_damaged_file_is_not_recalled(void **state)
{
	struct place p;
	struct stat s;

	(void)state;
	set_up(&p, "c");
	for (unsigned part = 0; part < 8; part++) {
		assert_int_equal(run(&p, 31 * STEP), 0);
		assert_int_equal(stat(p.kept, &s), 0);
		flip_a_bit(p.kept, s.st_size * part / 8);
	}
	assert_int_equal(run(&p, 31 * STEP), 0);
	assert_int_equal(truncate(p.kept, s.st_size / 2), 0);
	assert_int_equal(run(&p, 31 * STEP), 0);
	tear_down(&p);
}

static void test_the_oldest_file_leaves(void **state)
{
	struct place p;
	char path[128];

	(void)state;
	set_up(&p, "c");
	shell("mkdir -p %s%s", p.cache, "");
	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof path, "%s/%d.names", p.cache, i);
		shell("touch -d @%s %s", i == 42 ? "1000" : "2000", path);
	}
	run(&p, 31 * STEP);
	assert_true(identity(&p));
	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof path, "%s/%d.names", p.cache, i);
		assert_int_equal(access(path, F_OK), i == 42 ? -1 : 0);
	}
	tear_down(&p);
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
	    cmocka_unit_test(test_recalled),
	    cmocka_unit_test(test_recalled_cxx),
	    cmocka_unit_test(test_recalled_without_debug_information),
	    cmocka_unit_test(test_nothing_is_recalled_of_a_file_that_changed),
	    cmocka_unit_test(test_debug_information_comes_and_goes),
	    cmocka_unit_test(test_split_units_are_not_kept),
	    cmocka_unit_test(test_damaged_file_is_not_recalled),
	    cmocka_unit_test(test_the_oldest_file_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
