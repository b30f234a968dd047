/* SPDX-License-Identifier: MIT
 *
 * assigned_test.c - what a call's result is assigned to, by the text of its statement. The place of the call
 * is marked by @, where compilers put it: at a name, an opening parenthesis, or the end of a new-expression.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "source/assigned.h"

static void expect(const char *marked, const char *callee, unsigned order, const char *wanted)
{
	char text[STATEMENT_ROOM], name[ASSIGNED_ROOM] = "";
	const char *mark = strchr(marked, '@');
	struct statement_call call = {.text = text, .callee = callee, .order = order};
	int found;

	assert_true(strlen(marked) < sizeof text);
	strcpy(text, marked);
	if (mark) {
		call.column = (uint32_t)(mark - marked) + 1;
		memmove(text + (mark - marked), mark + 1, strlen(mark));
	}
	found = statement_assigned(&call, name);
	if (!wanted && found)
		fail_msg("\"%s\" gives %s", marked, name);
	if (wanted && (!found || strcmp(name, wanted)))
		fail_msg("\"%s\" gives %s, not %s", marked, found ? name : "nothing", wanted);
}

/* The name and how many steps lead from it to the block: "name 1". */
static void points(const char *marked, const char *wanted)
{
	char text[STATEMENT_ROOM], word[ASSIGNED_ROOM], found[ASSIGNED_ROOM + 16] = "nothing";
	const char *mark = strchr(marked, '@');
	struct statement_call call = {.text = text};
	unsigned steps;

	strcpy(text, marked);
	if (mark) {
		call.column = (uint32_t)(mark - marked) + 1;
		memmove(text + (mark - marked), mark + 1, strlen(mark));
	}
	if (statement_pointer(&call, word, &steps))
		snprintf(found, sizeof found, "%s %u", word, steps);
	if (strcmp(found, wanted))
		fail_msg("\"%s\" gives %s, not %s", marked, found, wanted);
}

static void test_pointers(void **state)
{
	(void)state;
	points("t->rows[i] = @malloc(n);", "rows 1");
	points("*out = @malloc(n);", "out 1");
	points("**out = malloc(n);", "out 2");
	points("struct a *f = calloc(1, n); double *g = @malloc(n);", "g 0");
	points("struct a *f = @calloc(1, n); double *g = malloc(n);", "f 0");
	points("double *f = malloc(n), *g = @malloc(n);", "g 0");
	points("if (!(a = malloc(n)) || !(*b = @malloc(n)))", "b 1");
	points("all = join(one, @malloc(n));", "all 0");
	points("use(i = 3, @malloc(n));", "nothing");
	points("Leaf *l = new Leaf[9@];", "l 0");
	points("T *p = static_cast<pair<int, T> *>(@malloc(n));", "p 0");
	points("n = a < b ? 1 : 2, @malloc(n);", "nothing");
	points("for (i = 0; i < n; i++) list = @malloc(n);", "list 0");
}

static void counts(const char *text, int wanted)
{
	const struct statement_call call = {.text = text};

	if (statement_counts(&call) != wanted)
		fail_msg("\"%s\" asks%s for elements alone", text, wanted ? " not" : "");
}

static void test_elements(void **state)
{
	(void)state;
	counts("p = mmap(0, n * sizeof *p, 3, 34, -1, 0);", 1);
	counts("p = mmap(0, sizeof *p + n, 3, 34, -1, 0);", 0);
	counts("p = mmap(0, bytes, 3, 34, -1, 0);", 0);
}

static void returns(const char *text, const char *callee, int is_rust, int wanted)
{
	const struct statement_call call = {.text = text, .callee = callee};

	if (statement_returns(&call, is_rust) != wanted)
		fail_msg("\"%s\" is%s returned", text, wanted ? " not" : "");
}

static void test_returned(void **state)
{
	(void)state;
	returns("return make(n);", "make", 0, 1);
	returns("return use(make(n));", "make", 0, 0);
	returns("make(n);", "make", 0, 0);
	returns("  }", "make", 1, 0);
	returns("(0..9).map(|i| i).collect()\n}\n", "core::iter::Iterator::collect", 1, 1);
	returns("(0..9).map(|i| [i; 2]).collect()\n}\n", "core::iter::Iterator::collect", 1, 1);
	returns("(0..9).map(|i| i).collect()\n}\n", "core::iter::Iterator::collect", 0, 0);
	returns("let n = v.iter().collect(); n\n}\n", "core::iter::Iterator::collect", 1, 0);
}

static void test_c(void **state)
{
	(void)state;
	expect("double *a = @malloc(n);", NULL, 0, "a");
	expect("hot = malloc(8), cold = @malloc(8);", NULL, 0, "cold");
	expect("SD.grid = (double *)@malloc(n * sizeof(double));", NULL, 0, "SD.grid");
	expect("nodes[i] = @malloc(8); nodes[i]->next = malloc(8);", NULL, 0, "nodes[i]");
	expect("nodes[i] = malloc(8); nodes[ i ]->next = @malloc(8);", NULL, 0, "nodes[i]->next");
	expect("if ((p = @malloc(n)) == NULL)", NULL, 0, "p");
	expect("p = n ? @malloc(n) : calloc(1, 1);", NULL, 0, "p");
	expect("p = n ? malloc(n) : @calloc(1, 1);", NULL, 0, "p");
	expect("p = check(@malloc(n));", NULL, 0, "p");
	expect("s->buf = state->zalloc@(opaque, n);", NULL, 0, "s->buf");
	expect("return @malloc(n);", NULL, 0, NULL);
	expect("while (@getline(&line, &room, f) > 0)", "getline", 0, "line");
	expect("status = @posix_memalign((void **)&s->grid, 64, n);", "posix_memalign", 0, "s->grid");
	expect("p = @make(&pool, n);", "make", 0, "p");
	expect("free(@malloc(n));", NULL, 0, NULL);
	expect("if (a == b) use(@malloc(n));", NULL, 0, NULL);
	expect("a = make_grid(n);", "make_grid", 0, "a"); /* no column: by the name */
}

static void test_cpp(void **state)
{
	static const char push[] = "std::vector<int, std::allocator<int> >::push_back(int&&)";
	static const char constructor[] =
	    "std::vector<double, std::allocator<double> >::vector(unsigned long)";

	(void)state;
	expect("while (std::@getline(input, line))",
	       "std::getline<char, std::char_traits<char> >(std::istream&)", 0, "line");
	expect("this->buf = new double[n@];", NULL, 0, "buf");
	expect("auto *x = new Solver(3@);", NULL, 0, "x");
	expect("all.grid = static_cast<double *>(std::malloc@(n));", NULL, 0, "all.grid");
	expect("auto *x = new Solver@(3);", NULL, 0, "x");
	expect("char *s = static_cast<char *>(texts.allocate@(n, 1));",
	       "std::pmr::memory_resource::allocate(unsigned long, unsigned long)", 0, "s"); /* no Fortran */
	expect("assigns.push@(i);", "vec<int>::push(int const&)", 0, "assigns");
	expect("g->rows[i].push_back@(i);", push, 0, "g->rows[i]");
	expect("std::vector<double> @a(n), b(n);", constructor, 0, "a");
	expect("std::vector<double> a(n), @b(n);", constructor, 0, "b");
	expect("Grid(int n) : @u(n), v(n) {", constructor, 0, "u");
	expect("v.push_back(std::make_unique<Rec>@());", "std::make_unique<Rec>()", 0, "v[]");
	expect("std::unique_ptr<T> p(new T(3@));", NULL, 0, "p");
	expect("p.reset(new T(3@));", NULL, 0, "p");
	expect("table[i@] = 3;", "std::map<int, int>::operator[](int const&)", 0, "table");
	expect("sum = table[i] + 3;", "std::map<int, int>::operator+=(int const&)", 0, NULL);
	expect("name += s@;", "std::string::operator+=(char const*)", 0, "name");
}

static void test_fortran(void **state)
{
	static const char both[] = "  ALLOCATE (u(n,n), grid%v(m,0:n), stat=i)";

	(void)state;
	expect(both, NULL, 0, "u");
	expect(both, NULL, 1, "grid%v");
	expect("if (n > 0) allocate(w(n))", NULL, 0, "w");
	expect(both, NULL, 2, NULL);
	expect("x = y + z", NULL, 0, "x");
}

static void test_rust(void **state)
{
	(void)state;
	expect("let mut v: Vec<f64> = @vec![0.0; n];", "alloc::vec::from_elem", 0, "v");
	expect("io::stdin().lock().@read_to_string(&mut input)?;", "std::io::Read::read_to_string", 0,
	       "input");
	expect("@io::stdin().lock().read_to_string(&mut self.input)?;", "std::io::Read::read_to_string", 0,
	       "input");
	expect("let (orders, parts) = (@grown(), made());", "app::grown", 0, "orders");
	expect("let (orders, mut parts, rest) = (grown(1, 2), @made(), all());", "app::made", 0, "parts");
	expect("let (orders, parts) = (grown(), f(1, @made()));", "app::made", 0, "parts");
	expect("let n = file.@read_until(b',', &mut part).unwrap();", "std::io::BufRead::read_until", 0,
	       "part");
	expect("let text = std::fs::@read_to_string(path)?;", "std::fs::read_to_string", 0, "text");
	expect("Grid { cells: @vec![0.0; n * n], n }", "alloc::vec::from_elem", 0, "cells");
	expect("self.cells.@push(x);", "alloc::vec::Vec<T,A>::push", 0, "cells");
	expect("@self.cells.push(x);", "alloc::vec::Vec<T,A>::push", 0, "cells"); /* the receiver's column */
	expect("let v: Vec<u8> = @a.iter().collect::<Vec<_>>();", "core::iter::Iterator::collect", 0, "v");
	expect("head = Some(Box::@new(Node { next: head }));", "alloc::boxed::Box<T>::new", 0, "head");
	expect("let h: Vec<u32> = (0..n).map(f).@collect();", "core::iter::Iterator::collect", 0, "h");
	expect("let h: Vec<P> = (0..n).map(|i| P { x: i, y: 0 }).@collect();",
	       "core::iter::Iterator::collect", 0, "h");
	expect("let b: Vec<Box<P>> = ps.iter().map(|p| Box::@new(*p)).collect();",
	       "alloc::boxed::Box<T>::new", 0, "b[]");
	expect("list.push_all(ps.iter().map(move |p| Box::@new(*p)));", "alloc::boxed::Box<T>::new", 0,
	       "list[]");
}

/* "ra.alloc(n)" returns an index. */
static void test_numbers(void **state)
{
	struct statement_call call = {.text = "CRef cid = ra.alloc(n);",
				      .column = sizeof "CRef cid = ra.",
				      .callee = "Region<unsigned>::alloc(int)"};
	char name[ASSIGNED_ROOM];

	(void)state;
	assert_true(statement_assigned(&call, name));
	assert_string_equal(name, "cid");
	call.is_number = 1;
	assert_true(statement_assigned(&call, name));
	assert_string_equal(name, "ra");
	call = (struct statement_call){.text = "n = fill(m);", .column = 5, .callee = "fill", .is_number = 1};
	assert_false(statement_assigned(&call, name));
}

static void test_copies(void **state)
{
	char name[ASSIGNED_ROOM];

	(void)state;
	assert_true(text_copied("if (!p)\n\treturn -1;\nt->room = p;\n", "p", name));
	assert_string_equal(name, "t->room");
	assert_true(text_copied("all.grid = (double *)q;", "q", name));
	assert_string_equal(name, "all.grid");
	assert_false(text_copied("t->room = p + 1; up = pp; p == q; x->p = r;", "p", name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_c),        cmocka_unit_test(test_cpp),      cmocka_unit_test(test_fortran),
	    cmocka_unit_test(test_pointers), cmocka_unit_test(test_elements), cmocka_unit_test(test_returned),
	    cmocka_unit_test(test_rust),     cmocka_unit_test(test_copies),   cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
